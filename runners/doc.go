// Package runners runs jobs: it claims them, computes them, ends them, and takes
// them from runners that stopped reporting (ARCHITECTURE.md §5).
//
// It promises that a job is computed for the runner whose claim stands in the
// job's stream and for no other, that a process which cannot report kills its
// work before anybody may take it over, and that nothing is decided by comparing
// clocks: who is alive is measured from when a beat was seen. Every process
// follows the log once (Hub); nothing here asks again and again whether there
// is something to do.
//
// It never decides who may have a job — the append does — and never computes
// anything itself: the kinds of job are in packages of their own.
package runners
