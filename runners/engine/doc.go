// Package engine evaluates expressions in processes of their own.
//
// It promises: every evaluation outside a session runs in a fresh process forked from a warmed one (the zygote), so
// nothing one caller defines can reach another; a worker that exceeds its budget is killed; on Linux a worker
// cannot open a file, a socket or a process, nor see or signal another process, and Start refuses to run where
// that is not observed to hold, unless SandboxOff was given; whatever a worker sends is bounded
// before it is read.
//
// It never looks inside an expression to decide whether it is safe, never evaluates in the server's own process,
// and never lets a worker outlive the server.
//
// Zygote and Program are generic: the checker runs its own program on them. Design: docs/engine.md.
package engine
