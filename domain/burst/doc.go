// Package burst groups what an account did into bursts: one agent's activity without
// a gap of more than five minutes.
//
// It promises that the bursts are a function of the log alone: events in, bursts out,
// whatever order the times have and however often it is done. It reads no clock: which
// bursts are recent is the caller's question.
package burst
