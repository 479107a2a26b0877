// Package builtin is the one list of constants that mean more to a checker of Lean proofs than their declarations say:
// those that literals stand for, the operations computed with big numbers, quotients, and the logical constants that
// the core axioms and printed statements speak of.
//
// The kernel, the walk over axioms and the printed statements read this list and no other. It promises that what a
// literal stands for is listed whole. It never says that a constant is genuine: each row says how that is found out.
package builtin
