// Package eventlog is the storage of the embedded node: one totally ordered log of
// events, an index by stream, and the rules by which a write is accepted.
//
// Records lie in append-only segment files (docs/log-format.md); the index, a merge tree,
// can be built from them at any time. The package promises:
//   - One writer. Every write is decided and numbered by a single goroutine; writes
//     that wait together are made durable by one fdatasync (group commit).
//   - Durable before acknowledged, durable before visible. A View is a snapshot taken
//     after the sync, so no reader or subscriber ever sees an event a crash can undo.
//   - Positions are 1, 2, 3 … without gaps; revisions of a stream are 0, 1, 2 … without
//     gaps (a tombstone has revision 2^63-1). Stamps of creation do not decrease (steadyClock).
//   - A SHA-256 chain over every record from position 1. It covers the header and a
//     salted hash of the payload, so a payload can be taken out later and the chain
//     still verifies.
//   - What is read is checked: a record by its checksum, its payload's hash and its place;
//     the index by the records that it leads to. Damage is a *CorruptError with position,
//     file and byte; a wrong index is an *IndexError, and is built again at the next start.
//   - No append after a doubt. A write or sync that the disk refuses, and damage that is
//     found, end the taking of appends (Err, Failed); reads go on, and Close returns.
//   - No append into a file that is gone: before each acknowledgement the newest segment and
//     the head file are looked for in the folder.
//
// Soft deletion, $maxCount, $maxAge and $tb decide which events a read of a stream shows; a
// scavenge (Scavenge) takes the payloads of the others out of the sealed segments.
package eventlog
