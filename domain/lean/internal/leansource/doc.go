// Package leansource writes lean4export files from a small text in which every argument and universe level is
// explicit. Tests and the generator of large environments use it: nothing in it is elaborated or checked, except that
// the recursors of inductive types are derived, by other code than the kernel's.
//
//	def id.{u} (α : Sort u) (a : α) : α := a
//	theorem one : Eq.{1} Nat 1 1 := Eq.refl.{1} Nat 1
//	inductive List.{u} (α : Type u) : Type u
//	| nil : List.{u} α
//	| cons (head : α) (tail : List.{u} α) : List.{u} α
//	mutual inductive A : Type | a : B -> A inductive B : Type | b : B end
//	quotients
//
// Other declarations are abbrev (unfolded first), irreducible (unfolded last), opaque, axiom, and unsafe before def.
// Expressions are
//
//	fun (x y : T) => e   (x : T) -> e   T -> e   let x : T := v; e   f a   c.{u, 1}   Sort u   Type u   Prop
//	proj S 0 e   12   "text"   #3 (a loose variable)
//	share x := e; f x x (e in two places, once in the file)
//
// An inductive type that may be in Prop eliminates into Prop unless its name is followed by the word large. Comments run
// from -- to the end of the line.
package leansource
