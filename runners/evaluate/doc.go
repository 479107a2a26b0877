// Package evaluate runs the jobs of kind evaluate: the expression is evaluated,
// checked and sealed as a request would be, within the job's own time budget.
//
// It promises that a job's run has the id that was promised at submission. It
// appends nothing but the ownership of a session: the run is part of the job's
// outcome, and published once the job's terminal event stands.
package evaluate
