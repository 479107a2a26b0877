// Package auditor reads the log of an installation from wherever it lies and has domain/audit derive it again: events are
// decoded and signatures verified on all cores, and judged in the log's order by one goroutine.
//
// It promises to change nothing: a data folder is read beside a running server, a database in a transaction that only reads,
// and what is built for a comparison lies in a temporary folder that is removed.
package auditor
