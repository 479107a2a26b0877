// Package engine keeps read models in step with the log: it follows the log and applies
// each event to the tables of the projections that have a handler for it.
//
// It promises that a projection's rows and its checkpoint commit in one
// transaction, that a process moves a checkpoint only from the position where it left it
// (so that of two processes on one database one steps down), that an event which cannot be
// applied halts its projection or is parked, without effect on the other projections, and
// that every table can be dropped and built again from the log.
//
// It orders nothing by time, writes no clock into a row, and skips no event: a projection
// that cannot apply an event halts at it or parks it.
package engine
