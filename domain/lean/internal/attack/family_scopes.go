package attack

import (
	"fmt"

	"reckon/domain/lean/kernel"
)

// level asks whether two universe levels are one: the value Sort l has type Sort (l+1).
func levelClaim(left, right string) string {
	return textTrue + fmt.Sprintf("\ndef same.{u, v, w} : Sort ((%s)+1) := Sort (%s)", right, left) + holdsTrue
}

// universes attack the comparison of levels and the counting of parameters.
var universes = func() (out []Recipe) {
	for _, pair := range [][2]string{
		{"u", "v"}, {"u", "u+1"}, {"0", "u"}, {"1", "u+1"}, {"imax u v", "max u v"}, {"imax 1 u", "u+1"}, {"imax 1 u", "max 1 u"},
		{"imax (u+1) (v+1)", "(imax u v)+1"}, {"imax u (v+1)", "(max u v)+1"}, {"max u v", "u"}, {"imax u 0", "u"}, {"max u (v+1)", "(max u v)+1"},
		{"imax u (imax v w)", "imax (imax u v) w"}, {"imax (max u v) w", "max (imax u w) v"}, {"imax u u", "u+1"},
	} {
		out = append(out, Recipe{Name: pair[0] + " is not " + pair[1], Attack: "Two levels that differ for some values of their parameters are taken for one.",
			Text: levelClaim(pair[0], pair[1]), Want: refused(kernel.TypeMismatch)})
	}
	for _, pair := range [][2]string{
		{"max u v", "max v u"}, {"imax u 0", "0"}, {"imax u (v+1)", "max u (v+1)"}, {"imax u u", "u"}, {"max (max u v) w", "max u (max v w)"}, {"imax 0 u", "u"}, {"imax 1 u", "u"},
		{"max (imax u v) v", "imax u v"}, {"imax u (imax v w)", "imax (max u v) w"}, {"imax u (max v w)", "max (imax u v) (imax u w)"},
		{"max (imax u v) (imax v u)", "max u v"},
	} {
		out = append(out, Recipe{Name: pair[0] + " is " + pair[1], Attack: "Nothing: two levels that are one are taken for one.",
			Text: levelClaim(pair[0], pair[1]), Want: accepted})
	}
	return append(out,
		Recipe{Name: "a parameter that is not declared", Attack: "A level parameter out of nowhere.", Text: textTrue + "\naxiom a : Sort u" + holdsTrue, Want: refused(kernel.UndefinedUniverse)},
		Recipe{Name: "a parameter of another declaration", Attack: "The parameter belongs to the declaration before.", Text: textTrue + "\naxiom a.{u} : Sort u\naxiom b : Sort u" + holdsTrue, Want: refused(kernel.UndefinedUniverse)},
		Recipe{Name: "a parameter in the value only", Attack: "The value uses a parameter that the type does not declare.", Text: textTrue + "\ndef d : True := (fun (α : Sort (u+1)) => True.intro) (Sort u)" + holdsTrue, Want: refused(kernel.UndefinedUniverse)},
		Recipe{Name: "a parameter twice", Attack: "Two parameters of one name: which is instantiated?", Text: textTrue + "\ndef d.{u, u} : Sort (u+1) := Sort u" + holdsTrue, Want: refused(kernel.DuplicateUniverse)},
		Recipe{Name: "a parameter of an inductive type twice", Attack: "The same in an inductive type.", MayMismatch: true, Text: textTrue + "\n@[norec] inductive D.{u, u} : Sort (u+1) | D.mk : D.{u, u}" + holdsTrue, Want: refused(kernel.DuplicateUniverse)},
		Recipe{Name: "too few levels", Attack: "A constant without its levels.", Text: textTrue + textEq + "\ntheorem one : Eq True True.intro True.intro := Eq.refl.{0} True True.intro" + holdsTrue, Want: refused(kernel.UniverseCount)},
		Recipe{Name: "too many levels", Attack: "A constant with a level too many.", Text: textTrue + textEq + "\ntheorem one : Eq.{0, 0} True True.intro True.intro := Eq.refl.{0} True True.intro" + holdsTrue, Want: refused(kernel.UniverseCount)},
		Recipe{Name: "levels where nobody looks", Attack: "A constant with a level too many as an argument that is dropped.", Text: textTrue + textEq + "\ntheorem one : True := (fun (f : ∀ (α : Prop), α → α → Prop) => True.intro) Eq.{0, 1}" + holdsTrue, Want: refused(kernel.UniverseCount)},
		Recipe{Name: "Type in Type", Attack: "Type has type Type 1.", Text: textTrue + "\ndef d : Type 0 := Type 0" + holdsTrue, Want: refused(kernel.TypeMismatch)},
		Recipe{Name: "a function into Prop that is large", Attack: "∀ (α : Type), Prop is in Type 1, not in Prop.", Text: textTrue + "\ndef d : Prop := ∀ (α : Type 0), Prop" + holdsTrue, Want: refused(kernel.TypeMismatch)},
		Recipe{Name: "a large function space", Attack: "Type → Bool is in Type 1, not in Type.", Text: textTrue + textBool + "\ndef d : Type 0 := Type 0 → Bool" + holdsTrue, Want: refused(kernel.TypeMismatch)},
		Recipe{Name: "cumulativity", Attack: "A type in Type is not in Type 1: Lean is not cumulative.", Text: textTrue + textBool + "\ndef d : Type 1 := Bool" + holdsTrue, Want: refused(kernel.TypeMismatch)},
		Recipe{Name: "False at another level", Attack: "A parameterised proposition's level argument does not change what it says.", Text: textTrue + textEq + textBool + "\ntheorem one.{u} : Eq.{u} Bool Bool.true Bool.true := Eq.refl.{u} Bool Bool.true" + holdsTrue, Want: refused(kernel.ArgumentMismatch)},
	)
}()

// scopes attack variables, names, and the fields of records that mean nothing.
var scopes = []Recipe{
	{Name: "a loose variable as a type", Attack: "A variable without a binder.", Text: textTrue + "\naxiom a : #0" + holdsTrue, Want: refused()},
	{Name: "a loose variable under a binder", Attack: "A variable one beyond its binders.", Text: textTrue + "\ntheorem one : ∀ (p : Prop), p → p := fun (p : Prop) (h : p) => #2" + holdsTrue, Want: refused()},
	{Name: "a loose variable in a let", Attack: "A let whose value refers to itself.", Text: textTrue + textFalse + "\ntheorem boom : False := let h : False := #0; h", Want: refused()},
	{Name: "a loose variable in a let that is dropped", Attack: "A loose variable in the value of a let nobody uses.", Text: textTrue + "\ntheorem boom : True := let h : Prop := #0; True.intro", Want: refused()},
	{Name: "a loose variable in a binder that is dropped", Attack: "A loose variable in the type of an argument.", Text: textTrue + "\ntheorem boom : True := (fun (x : Prop) => True.intro) (∀ (y : #5), True)", Want: refused()},
	{Name: "a loose variable in a projection", Attack: "A loose variable under a projection.", Text: textLogic + textPair + "\ndef d : Bool := proj Pair 0 (#0)" + holdsTrue, Want: refused()},
	{Name: "a loose variable in a constructor", Attack: "A constructor's type with a loose variable.", MayMismatch: true, Text: textTrue + "\n@[norec] inductive A : Type | A.mk : #3 → A" + holdsTrue, Want: refused()},
	{Name: "a very large variable", Attack: "An index that wraps around to one that is bound.", Text: textTrue + "\ntheorem one : ∀ (p : Prop), p → p := fun (p : Prop) (h : p) => #4294967296" + holdsTrue, Want: notVerified},
	{Name: "a name twice", Attack: "False is declared twice, the second time with a constructor.", Text: textTrue + textFalse + "\ndef False : Prop := True\ntheorem boom : False := True.intro", Want: refused()},
	{Name: "a theorem twice", Attack: "boom is declared as True's proof and again as False's axiom.", Text: textTrue + textFalse + "\ntheorem boom : True := True.intro\naxiom boom : False", Want: refused(kernel.DuplicateDeclaration)},
	{Name: "a constructor twice", Attack: "Two constructors of one name.", MayMismatch: true, Text: textTrue + "\n@[norec] inductive A : Type | A.mk : A | A.mk : A" + holdsTrue, Want: refused()},
	{Name: "a constructor called like its type", Attack: "The constructor's name is the type's.", MayMismatch: true, Text: textTrue + "\n@[norec] inductive A : Type | A : A" + holdsTrue, Want: refused()},
	{Name: "a constructor called like another type's recursor", Attack: "A constructor is called Bool.rec.", MayMismatch: true, Text: textTrue + textBool + "\n@[norec] inductive A : Type | Bool.rec : A" + holdsTrue, Want: refused(kernel.DuplicateDeclaration)},
	{Name: "a type called like a later recursor", Attack: "A definition takes the name of a recursor before the type is declared.", Text: textTrue + "\ndef Bool.rec : Prop := True" + textBool + holdsTrue, Want: refused(kernel.DuplicateDeclaration)},
	{Name: "two types of a block called alike", Attack: "A mutual block of two types of one name.", MayMismatch: true, Text: textTrue + "\n@[norec] mutual inductive A : Type | A.one : A inductive A : Type | A.two : A end" + holdsTrue, Want: refused()},
	{Name: "a constructor by one component", Attack: "The constructor's name is one component with a dot; the real one is declared after.", Text: textLogic + "\ninductive Unit : Type | «Unit.unit» : Unit\ndef Unit.unit : Unit := «Unit.unit»\ntheorem boom : Eq.{1} Unit Unit.unit «Unit.unit» := Eq.refl.{1} Unit Unit.unit", Want: accepted},
	{Name: "which of two that print alike", Attack: "Two theorems print alike; a verdict is asked on the text.", Text: textTrue + textFalse + "\ntheorem a.boom : True := True.intro\naxiom «a.boom» : False", Ask: "a.boom", Want: notVerified},
	{Name: "which of a number and a text", Attack: "boom.«#1» and boom.«1» print alike.", Text: textTrue + textFalse + "\ntheorem boom.«#1» : True := True.intro\naxiom boom.«1» : False", Ask: "boom.1", Want: notVerified},
	{Name: "asked with quotation marks", Attack: "The name asked for holds quotation marks that belong to it.", Text: textTrue + textFalse + "\ntheorem boom : True := True.intro\naxiom «\\u00abboom\\u00bb» : False", Ask: "«boom»", Want: printsUnlike("True")},
	{Name: "asked with an invisible letter", Attack: "boom with a zero-width space is declared; boom is asked for.", Text: textTrue + "\ntheorem «boom\\u200b» : True := True.intro", Want: notVerified},
	{Name: "an unsafe definition", Attack: "The definition says it is unsafe.", Text: textTrue + "\n@[safety=unsafe] def d : True := True.intro\ntheorem boom : True := d", Want: notVerified},
	{Name: "a partial definition", Attack: "The definition says it is partial.", Text: textTrue + textFalse + "\n@[safety=partial] def d : False := d\ntheorem boom : False := d", Want: notVerified},
	{Name: "a safety that is none", Attack: "The definition's safety is a word of the uploader's.", Text: textTrue + "\n@[safety=sound] def d : True := True.intro" + holdsTrue, Want: notVerified},
	{Name: "a hint that it is opaque", Attack: "The hint says opaque: still a definition, unfolding may not be refused nor prove more.", Text: textLogic + "\n@[hints=opaque] def d : Bool := Bool.true\ntheorem boom : Eq.{1} Bool d Bool.true := Eq.refl.{1} Bool Bool.true", Want: accepted},
	{Name: "a list of all that lies", Attack: "The field all names another declaration: it means nothing to a proof.", Text: textTrue + textFalse + "\n@[all=False] def d : True := True.intro\ntheorem boom : False := d", Want: refused(kernel.TypeMismatch)},
	{Name: "a let at the wrong type", Attack: "A let binds a proof of True at False.", Text: textTrue + textFalse + "\ntheorem boom : False := let h : False := True.intro; h", Want: refused(kernel.LetMismatch)},
	{Name: "a let at the wrong type, dropped", Attack: "The same, and the body does not use it.", Text: textTrue + textFalse + "\ntheorem boom : True := let h : False := True.intro; True.intro", Want: refused(kernel.LetMismatch)},
	{Name: "an ill-typed argument that is dropped", Attack: "A function drops an argument that has no type.", Text: textTrue + textFalse + "\ntheorem boom : True := (fun (h : False) => True.intro) True.intro", Want: refused(kernel.ArgumentMismatch)},
	{Name: "an ill-typed part of a type that reduces away", Attack: "The type of the theorem is a redex whose argument is ill-typed.", Text: textTrue + textFalse + "\ntheorem boom : (fun (h : False) => True) True.intro := True.intro", Want: refused(kernel.ArgumentMismatch)},
	{Name: "a type that is no type", Attack: "The theorem's type is a proof.", Text: textTrue + "\ntheorem boom : True.intro := True.intro", Want: refused(kernel.TypeExpected)},
	{Name: "a binder whose type is no type", Attack: "A binder's type is a value.", Text: textLogic + "\ntheorem boom : ∀ (x : Bool.true), True := fun (x : Bool.true) => True.intro", Want: refused(kernel.TypeExpected)},
	{Name: "an application of what is no function", Attack: "True.intro is applied.", Text: textTrue + "\ntheorem boom : True := True.intro True.intro", Want: refused(kernel.FunctionExpected)},
	{Name: "eagerReduce as a licence", Attack: "eagerReduce is the uploader's and changes its argument.", Text: textLogic + "\ndef eagerReduce.{u} : ∀ (α : Sort u), α → α := fun (α : Sort u) (a : α) => a\ntheorem boom : False := trueNotFalse (eagerReduce.{0} (Eq.{1} Bool Bool.true Bool.false) (Eq.refl.{1} Bool Bool.true))", Want: refused()},
	{Name: "outParam that is not the identity", Attack: "outParam is the uploader's and not the identity: it is no annotation, and recursors keep it.", Text: textLogic + "\ndef outParam.{u} : Sort u → Type 0 := fun (α : Sort u) => Bool\ninductive A (α : Type 0) : Type | A.mk : outParam.{1} α → A α\ntheorem boom : ∀ (a : A Bool), True := fun (a : A Bool) => True.intro", Want: accepted},
	{Name: "optParam that is not the identity", Attack: "optParam is a function space: it is no annotation.", Text: textLogic + "\ndef optParam.{u} : ∀ (α : Sort u), α → Sort u := fun (α : Sort u) (a : α) => α → α\ninductive A : Type | A.mk : optParam.{1} Bool Bool.true → A\ndef boom : Bool → A := fun (b : Bool) => A.mk b", Want: refused(kernel.ArgumentMismatch)},
}
