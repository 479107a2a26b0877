// Package engine keeps read models: it follows the log and lets projections
// turn events into rows.
//
// It promises that a projection's rows and its checkpoint commit in one
// transaction, that a checkpoint moves only from where this process left it (so
// that of two processes on one database one steps down), that an event which
// cannot be applied stops or parks its projection and no other, and that any
// table can be dropped and built again from the log.
//
// It never orders anything by time, never reads the store's clock into a row,
// and never loses an event: what is not applied is halted at or parked.
package engine
