// Package readapi is the half of the HTTP API that changes nothing: one file per
// group of GET routes, added by a method of Services named registerX, which
// `go generate` lists in list.go. One run, receipt or plot is folded from its stream
// and is always current; a list reads a read model and first waits, for at most half
// a second, for the caller's own last write.
//
// It promises that another account's id is answered exactly as one that does not
// exist. It never appends and knows no command.
package readapi
