// Package projections holds the read models: one file each, with its version,
// tables, handlers and queries. list.go lists them; it is written by `go generate`
// from the types that have a method Projection.
//
// It promises that every table here can be dropped and built again from the log with the
// same rows, byte for byte, on SQLite and on PostgreSQL alike, and that times in rows are
// those of event metadata. No command reads a table of this package.
package projections
