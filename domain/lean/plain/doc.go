// Package plain is a second kernel for the same exports as package kernel: small, slow, and written to be read. The two
// share the syntax (package term) and the reader (package export) and nothing else, so that an error of one is not an
// error of the other.
//
// Every rule is a textbook rule and carries its source in a comment:
//
//	TTL   M. Carneiro, "The Type Theory of Lean", 2019, by section
//	C++   the kernel of Lean 4, src/kernel, by file and function
//	Ref   the Lean language reference, by section
//
// The files in the order of reading:
//
//	substitute.go  instantiation, abstraction, universe instantiation
//	level.go       when one universe level is at most another, for all values of the parameters
//	environment.go the constants declared so far
//	infer.go       the type of an expression
//	whnf.go        reduction: beta, zeta, projections, iota, K, structure eta, quotients, delta
//	equal.go       definitional equality
//	literal.go     what literals abbreviate; arithmetic on literals
//	inductive.go   which inductive declarations are well-formed
//	nested.go      nested occurrences become auxiliary types and back
//	recursor.go    the recursors and their rules, generated and then type-checked
//	record.go      the file's inductive records against what was generated
//	quotient.go    the four quotient constants
//	check.go       declarations, budget, report
//
// Three facts carry most of the argument that answers do not depend on history.
//
// An expression carries the types of its free variables, for a variable is the pair of a number and a type. Its type, its
// weak head normal form and its equality with another expression are therefore functions of the expressions and of the
// environment alone. The maps in memo hold values of these functions, by argument, in the order asked; they are emptied
// whenever the environment changes. With a map or without it, the answer is the same.
//
// A binder is opened with the smallest number that no free variable of the expressions at hand has. That number is a
// function of the expressions too: there is no counter whose state could matter.
//
// A budget that runs out ends the check of the declaration. It never becomes an answer.
package plain
