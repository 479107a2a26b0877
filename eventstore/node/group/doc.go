// Package group decides for one group of consumers (a persistent subscription) which event
// goes to which consumer, which are delivered again, which are parked, and how far the group is.
//
// A Group is a state machine: it reads no log, writes nothing and has no clock. Its caller
// feeds it the numbers and ids of events in log order, hands out what Take returns, makes
// durable what Parking, Checkpoint and Truncation return, and passes the time to every call.
// It holds no event's content, so that its memory is a fixed size for each event that is not settled.
//
// An event is settled when it was acknowledged, skipped, or is durable in the stream of parked
// events. The checkpoint is always below every event that is not settled: a Group made from it
// delivers again what was not settled, and nothing is lost.
package group
