// Package eventlog is the storage of the embedded node: one totally ordered log of
// events, an index by stream, and the rules by which a write is accepted.
//
// It promises:
//   - One writer. Every write is decided and numbered by a single goroutine; writes
//     that wait together are made durable by one fsync (group commit).
//   - Durable before acknowledged, durable before visible. A View is a snapshot taken
//     after the fsync, so no reader or subscriber ever sees an event a crash can undo.
//   - Positions are 1, 2, 3 … without gaps; revisions of a stream are 0, 1, 2 … without
//     gaps (a tombstone has revision 2^63-1). Stamps of creation never decrease.
//   - A SHA-256 chain over every record from position 1. It covers the header and a
//     salted hash of the payload, so a payload can be taken out later and the chain
//     still verifies (Verify).
//   - Damage is a *CorruptError that names the position and says what to do; the log
//     never repairs itself by dropping data.
//
// It never deletes or rewrites a record: soft deletion, $maxCount, $maxAge and $tb only
// decide which events a read of a stream shows. When the disk refuses a write of the
// write-ahead log the process exits at once (see Options.Logger), because after a failed
// fsync it is not known which unacknowledged records are stored; every acknowledged one is.
package eventlog
