// Package builtin lists the constants that a checker of Lean proofs treats specially: those that literals abbreviate, the
// operations computed with big numbers, quotients, and the logical constants that the core axioms and printed statements
// mention.
//
// The kernel, the search for axioms and the printer of statements all use this list. For a literal it names every constant
// of the expression that the literal abbreviates. A row says how a constant is recognised, not that a file's constant of
// that name is Lean's.
package builtin
