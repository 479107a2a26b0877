// Package check turns an export and the names someone claims are proved into a report: what the kernel says, what the
// named declarations state, which axioms they reach, and whether the core they rest on is Lean's own.
//
// It promises: "verified" means that the first kernel accepted every declaration of the file and the second refused none, that each named one is there
// and reaches no axiom but the six of the core library, with their right types, and that the logical constants those
// types and statements speak of are Lean's, whatever version the file claims. Anything else has another verdict and a
// reason.
//
// It never reads a clock or a file; the time limit is the caller's context. What it cannot finish is inconclusive.
package check
