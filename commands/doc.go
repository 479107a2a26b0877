// Package commands holds one file per intention. A command loads one stream,
// folds it, decides with a pure function and appends at the revision it read;
// handle.go is the only place where that loop exists.
//
// It promises that whatever a command answers is durable, and that a refusal
// has appended nothing (but for an upload that another job claims after the slot
// was spent: the slot is refunded). Its errors are those of the deciders, typed
// errors of its own, and StreamError, which names the stream that could not be
// read or appended to. It never reads a read model, and it never
// logs: errors are typed and go to the caller. Its ports (Store, Reserver, Clock,
// Blobs, Owners, Engine, Checker, Elaborator, ProofJudge) are declared where they
// are used.
package commands
