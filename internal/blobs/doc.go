// Package blobs keeps large bytes under the SHA-256 of their content.
//
// It promises that a blob is durable when Put or Stream returns, that a crash
// leaves either the whole blob or none, and that what Get returns hashes to the
// name it was asked for. A blob is never changed and never deleted here: events
// name it for ever.
package blobs
