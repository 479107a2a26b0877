// Package cluster is what the processes of an installation know of each other:
// one subscription to the log per process, the heartbeat it writes, who of the
// others is alive, evaluations forwarded to the process that owns a session, and
// the recovery of jobs and sessions of processes that are gone (docs/architecture.md#protocols).
//
// It promises that a process which cannot report kills its work before anybody
// may take it over, and that nothing is decided by comparing clocks: who is alive
// is measured from when a beat was seen. Nothing here asks again and again
// whether there is something to do.
package cluster
