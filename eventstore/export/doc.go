// Package export writes and reads events as lines of JSON (docs/node.md#exports), from and to
// the folder of a log and any EventStoreDB.
//
// It promises that an export that was cut, changed or reordered is refused, that the bytes of
// an event come back as they were, and that an unfiltered export of our log carries its hash
// chain, which the reader verifies.
package export
