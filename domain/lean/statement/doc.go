// Package statement writes what the declarations of a file state, in Lean's notation, and reads it back.
//
// A printed statement stands for exactly one expression, annotations of binders and universe levels included: it is
// read again before it is used, by a reader that knows the file's names, the types they are declared with and which
// of them are Lean's own. Notation stands only for constants and instances that are Lean's own; whatever else has
// implicit arguments or universe levels is written out with @ and .{…}. Left out are just the arguments that the ones
// written determine: type and level of = ≠ ∃, and types, levels and instances of arithmetic on Nat. Where that fails,
// everything is explicit: no notation, @ and «» at every constant.
//
// The grammar, with the strength at which each form binds; an operand that binds less stands in parentheses:
//
//	expr   = "∀" binder+ "," expr | "fun" binder+ "=>" expr | "∃" "(" var ":" expr ")" "," expr      0
//	       | "let" var ":" expr ":=" expr ";" expr                                                   0
//	       | expr "↔" expr                              20, not associative
//	       | expr "→" expr                              25, to the right, from 26 on the left
//	       | expr "∨" expr | expr "∧" expr              30 and 35, to the right
//	       | "¬" expr                                   40
//	       | expr ("=" | "≠" | "≤" | "<") expr          50, not associative
//	       | expr ("=" | "≠") ".{" level "}" expr       50, not associative
//	       | expr ("+" | "-") expr | expr "*" expr      65 and 70, to the left
//	       | expr "^" expr                              75, to the right
//	       | "Sort" latom | "Type" latom | "nat_lit" digits | "#proj" name digits atom | atom atom+   1024
//	       | atom                                       1025
//	atom   = "(" expr ")" | "Prop" | "Type" | digits | string | var | ["@"] name [".{" level {"," level} "}"]
//	       | "#" digits | atom "." digits
//	binder = "(" var+ ":" expr ")" | "{" … "}" | "⦃" … "⦄" | "[" … "]"
//	level  = ("max" | "imax") latom latom | latom ["+" digits]
//	latom  = digits | name | "(" level ")"
//	name   = component {"." component}
//	component = identifier | "«" {character | "\\" | "\u{" hex "}"} "»" | "«#" digits "»"
//
// A name of one component is the variable bound with it, if there is one; none is bound twice around one place. "@"
// always begins a constant, and is missing only where no argument is implicit. Digits in an expression are the numeral
// OfNat.ofNat Nat n (instOfNatNat n); nat_lit marks the literal itself, "#i" a variable that nothing binds. "e.i" is
// the field of the structure at the head of e's type, #proj names it. The level of = is left out where it is the one that
// inference finds.
//
// Names are written as described at Names. UTS #39 is Unicode Technical Standard 39, Unicode Security Mechanisms.
package statement
