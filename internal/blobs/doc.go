// Package blobs keeps large bytes under the SHA-256 of their content.
//
// It promises that a blob is durable when Put or PutStream returns, that a crash
// leaves either the whole blob or none, and that what Get returns hashes to the
// name it was asked for. A blob is never changed. Collect removes those that no
// event of the log mentions, and no others. They lie in a folder or in a bucket
// of a service that speaks S3.
package blobs
