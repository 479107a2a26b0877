// Package kernel decides whether declarations of Lean 4 are well-typed, by the rules of Lean's own kernel.
//
// It promises: nothing a file says about itself is believed. Recursors, their rules, counts and flags, universe levels,
// quotient types, definitional heights and the meaning of numeric and string literals are derived again and compared.
// What is refused is refused for a reason with a class, and the same one whatever the number of workers.
//
// It never reads a clock or a file, never panics on foreign input, and never gives a verdict it did not reach: out of
// time, memory or stack is Exhausted.
//
// docs/kernel.md lists the rules with the file that implements each.
package kernel
