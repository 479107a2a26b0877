// Package runners runs jobs: it claims them, computes them and ends them
// (docs/architecture.md#protocols).
//
// It promises that a job is computed for the runner whose claim stands in the
// job's stream and for no other. It never decides who may have a job — the
// append does — and never computes anything itself: the kinds of job are in
// packages of their own. What the processes know of each other, and what they
// do for one that is gone, is package cluster.
package runners
