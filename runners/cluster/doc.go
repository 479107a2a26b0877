// Package cluster is what the processes of an installation know of each other
// (docs/architecture.md#protocols): a process's one subscription to the log, the heartbeats it
// writes, the liveness of the other processes, the forwarding of evaluations to the
// process that owns a session, and the recovery of jobs and sessions of dead processes.
//
// It promises that a process which cannot write heartbeats kills its work before
// another process may take it over, and that no clocks of two processes are compared:
// liveness is measured from when a heartbeat was observed. Nothing here polls the
// log or the database.
package cluster
