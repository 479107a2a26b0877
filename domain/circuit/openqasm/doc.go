// Package openqasm reads OpenQASM 2 and 3 programs and turns them into operations on numbered qubits and bits.
//
// It promises:
//
//   - Parse accepts a program only when all of it can be run as the language says. What is not supported is refused by
//     name, with line, column and the text; nothing is guessed or dropped.
//   - Size, nesting, statements, unrolled loops, expanded gate definitions, exponents and integers are bounded before or
//     while they are read. A refusal takes at most about a second.
//   - The result is a function of the text alone: the same operations and the same bits of every angle on every machine.
//
// The way of a program: lex.go makes tokens; parse*.go the syntax tree of ast.go; elaborate.go walks it with the values
// of every name known at that point (scope.go, evaluate.go, arithmetic.go, array.go), unrolls loops (control.go, loop.go), expands
// gate definitions (gates.go, library.go) and subroutines (routine.go) and applies modifiers (primitive.go, power.go). Values that depend on measurements
// become formulas over classical bits (formula.go, running.go); indexes and angles made of them become cases (select.go, linear.go). The result is a [Program].
//
// The language is that of the specification (openqasm.com, version 3.1, and arXiv:1707.03429 for version 2);
// docs/openqasm.md lists what is left out.
package openqasm
