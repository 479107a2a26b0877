// Package runners runs jobs: a runner claims a job, computes it and ends it
// (docs/architecture.md#protocols).
//
// It promises that a job is computed only by the runner whose claim was appended to
// the job's stream. It does not decide who may have a job (the append of the claim
// does) and computes nothing itself: each kind of job is a package of its own. What
// the processes of an installation know of each other is package cluster.
package runners
