// Package term holds the syntax Lean's kernel works on: hierarchical names, universe levels and expressions.
//
// Everything is hash-consed into a Store and named by a 32-bit handle, so structural equality (binder names and
// binder annotations ignored) is equality of handles, and a store is a handful of flat slices without pointers.
// Expressions are locally nameless: BVar is a de Bruijn index, Local a free variable that carries its own type.
//
// A Store is not safe for concurrent use. Clone gives every worker its own; terms of the original keep their handles
// in the clone. Nothing here reduces, infers or trusts anything: the rules live in package kernel.
package term
