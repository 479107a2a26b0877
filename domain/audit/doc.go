// Package audit derives again, from the stored events alone, what an installation's log must say, and reports where it does
// not: receipts, slots, jobs and what they publish, proofs, invoices, keys, and that every event could have been decided.
//
// It promises to trust nothing that the log says of itself: a receipt's record is built from the run and not read from the
// receipt, a balance is counted and not taken over, and every name of another thing must lead to it. The rules are written
// here from docs/ a second time; shared are the event types, the deciders where the question is just whether one of them can
// have written an event, and hash and signature functions of the standard library. It reads no file and no clock: events and
// blobs are handed to it (auditor/ does that).
package audit
