// Package verification decides how an answer can be checked without the engine that gave it.
//
// It promises: Derive turns an input and an answer into a Plan, or says in one of the documented reasons why there is
// none; Conclude turns what the independent checker found into the outcome of interface §2.5. A rule that
// only samples or compares approximately cannot conclude "verified": its conclusions have a type without that value.
//
// It never computes a check itself, never asks the engine, and never treats text as code: plans are trees. One file per
// rule, listed in rules.go; docs/verification.md is generated from the declarations.
package verification
