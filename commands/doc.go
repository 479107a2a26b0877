// Package commands holds one file per intention. A command loads one stream,
// folds it, decides with a pure function and appends at the revision it read;
// handle.go is the only place where that loop exists.
//
// It promises that whatever a command answers is durable, and that a refusal
// has appended nothing. It never reads a read model, and it never logs: errors
// are typed and go to the caller. Its ports (Store, Clock, IDs, Blobs, Engine,
// Checker) are declared where they are used.
package commands
