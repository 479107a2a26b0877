// Package migration copies a whole log to an empty server and hands the installation over to it (ADR 48, docs/migrating.md).
//
// It promises that the copy has every event of the source at its revision, with its id and its bytes, in the source's order; that this
// was compared once more, from the first event to the last, before anybody may write to the copy; that at no moment both may be
// written; and that it can be killed at any moment and called again.
package migration
