package check_test

import (
	"bytes"
	"testing"

	"reckon/domain/lean/check"
	"reckon/domain/lean/internal/leansource"
)

const witnessBase = `
inductive large False : Prop
inductive large True : Prop | intro : True
inductive large And (a b : Prop) : Prop | intro (left : a) (right : b) : And a b
inductive large Eq.{u} (α : Sort u) (a : α) : α -> Prop | refl : Eq.{u} α a a
inductive Exists.{u} (α : Sort u) (p : α -> Prop) : Prop | intro (w : α) (h : p w) : Exists.{u} α p
inductive Bool : Type | false : Bool | true : Bool
`

// What a hostile reader of both kernels tried where a rule has an edge. Each is on one side of it, and both kernels must put it there; what is wrong
// is refused by the first, so that the second is not asked.
func TestEdgesOfTheRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want check.Class // of the refusal; empty: verified
	}{
		"a box in Sort u, projected at 0": {`
inductive Box.{u} (α : Sort u) : Sort u | mk (a : α) : Box.{u} α
def out.{u} : (α : Sort u) -> Box.{u} α -> α := fun (α : Sort u) (b : Box.{u} α) => proj Box 0 b
theorem goal : (p : Prop) -> (b : Box.{0} p) -> p := fun (p : Prop) (b : Box.{0} p) => out.{0} p b`, ""},
		"data in a box whose universe may be Prop": {`
inductive Box.{u} : Sort u | mk (b : Bool) : Box.{u}
theorem goal : True := True.intro`, "universe_too_big"},
		"data in Sort (imax 1 u)": {`
inductive I.{u} : Sort (imax 1 u) | mk (b : Bool) : I.{u}
theorem goal : True := True.intro`, "universe_too_big"},
		"data in Sort (max 1 u)": {`
inductive I.{u} : Sort (max 1 u) | mk (b : Bool) : I.{u}
theorem goal : True := True.intro`, ""},
		"large elimination, data inside an index": {`
inductive large Hid (f : Bool -> Bool) : Bool -> Prop | mk (b : Bool) : Hid f (f b)
theorem goal : True := True.intro`, "recursor_mismatch"},
		"large elimination, data as an index": {`
inductive large Hid : Bool -> Prop | mk (b : Bool) : Hid b
theorem goal : True := True.intro`, ""},
		"the witness out of a proposition": {`
theorem goal : (e : Exists.{1} Bool (fun (b : Bool) => True)) -> Eq.{1} Bool (proj Exists 0 e) (proj Exists 0 e) := fun (e : Exists.{1} Bool (fun (b : Bool) => True)) => Eq.refl.{1} Bool (proj Exists 0 e)`, "invalid_projection"},
		"the witness out of a proposition over Sort u": {`
def out.{u} : (α : Sort u) -> (e : Exists.{u} α (fun (x : α) => True)) -> α := fun (α : Sort u) (e : Exists.{u} α (fun (x : α) => True)) => proj Exists 0 e
theorem goal : True := True.intro`, "invalid_projection"},
		"negative through a definition": {`
def Neg : Type -> Type := fun (a : Type) => a -> Bool
inductive Bad : Type | mk (f : Neg Bad) : Bad
theorem goal : True := True.intro`, "non_positive_occurrence"},
		"negative through a let": {`
inductive Bad : Type | mk (f : let N : Type -> Type := fun (a : Type) => a -> Bool; N Bad) : Bad
theorem goal : True := True.intro`, "non_positive_occurrence"},
		"negative in a nested wrapper": {`
inductive Wrap (a : Type) : Type | mk (f : a -> Bool) : Wrap a
inductive Bad : Type | mk (w : Wrap Bad) : Bad
theorem goal : True := True.intro`, "non_positive_occurrence"},
		"a unit-like type for another": {`
inductive U : Type | u : U
inductive V : Type | v : V
theorem goal : (C : U -> Prop) -> (c : C U.u) -> (x : V) -> C U.u := fun (C : U -> Prop) (c : C U.u) (x : V) => (fun (k : (y : V) -> C U.u) => k) c`, "argument_mismatch"},
		"values of a unit-like type": {`
inductive U : Type | u : U
theorem goal : (C : U -> Prop) -> (c : C U.u) -> (x : U) -> C x := fun (C : U -> Prop) (c : C U.u) (x : U) => c`, ""},
		"values of an empty type family that looks unit-like": {`
inductive E (a : Bool) : Type | mk (e : False) : E a
theorem goal : (C : E Bool.true -> Prop) -> (x y : E Bool.true) -> (c : C x) -> C y := fun (C : E Bool.true -> Prop) (x y : E Bool.true) (c : C x) => c`, "type_mismatch"},
		"eta for a structure in Sort u": {`
inductive S.{u} (α : Sort u) : Sort u | mk (a : α) (b : α) : S.{u} α
theorem goal : (α : Type) -> (C : S.{1} α -> Prop) -> (s : S.{1} α) -> (c : C s) -> C (S.mk.{1} α (proj S 0 s) (proj S 1 s)) := fun (α : Type) (C : S.{1} α -> Prop) (s : S.{1} α) (c : C s) => c`, ""},
		"eta for a structure with its fields exchanged": {`
inductive S.{u} (α : Sort u) : Sort u | mk (a : α) (b : α) : S.{u} α
theorem goal : (α : Type) -> (C : S.{1} α -> Prop) -> (s : S.{1} α) -> (c : C s) -> C (S.mk.{1} α (proj S 1 s) (proj S 0 s)) := fun (α : Type) (C : S.{1} α -> Prop) (s : S.{1} α) (c : C s) => c`, "type_mismatch"},
		"eta for a type of one constructor that contains itself": {`
inductive L : Type | mk (b : Bool) (f : Bool -> L) : L
theorem goal : (C : L -> Prop) -> (s : L) -> (c : C s) -> C (L.mk (proj L 0 s) (proj L 1 s)) := fun (C : L -> Prop) (s : L) (c : C s) => c`, "type_mismatch"},
		"a cast along an equality of types": {`
theorem goal : True := (fun (cast : (a b : Type) -> (h : Eq.{2} Type a b) -> (x : a) -> b) => True.intro) (fun (a b : Type) (h : Eq.{2} Type a b) (x : a) => Eq.rec.{1, 2} Type a (fun (c : Type) (e : Eq.{2} Type a c) => c) x b h)`, ""},
		"K where the indices differ": {`
theorem goal : (h : Eq.{1} Bool Bool.true Bool.false) -> Eq.{1} Bool (Eq.rec.{1, 1} Bool Bool.true (fun (c : Bool) (e : Eq.{1} Bool Bool.true c) => Bool) Bool.true Bool.false h) Bool.true := fun (h : Eq.{1} Bool Bool.true Bool.false) => Eq.refl.{1} Bool Bool.true`, "type_mismatch"},
		"K where the indices agree": {`
theorem goal : (h : Eq.{1} Bool Bool.true Bool.true) -> Eq.{1} Bool (Eq.rec.{1, 1} Bool Bool.true (fun (c : Bool) (e : Eq.{1} Bool Bool.true c) => Bool) Bool.false Bool.true h) Bool.false := fun (h : Eq.{1} Bool Bool.true Bool.true) => Eq.refl.{1} Bool Bool.false`, ""},
		"proofs of two propositions": {`
theorem goal : (p q : Prop) -> (C : p -> Prop) -> (h : p) -> (k : q) -> (c : C h) -> C h := fun (p q : Prop) (C : p -> Prop) (h : p) (k : q) (c : C h) => (fun (x : C h) => x) ((fun (y : q) => c) h)`, "argument_mismatch"},
		"an opaque constant and its value": {`
opaque hidden : Bool := Bool.true
theorem goal : (C : Bool -> Prop) -> (c : C hidden) -> C Bool.true := fun (C : Bool -> Prop) (c : C hidden) => c`, "type_mismatch"},
		"a function type over Prop taken for data": {`
theorem goal : (C : Prop -> Prop) -> (c : C ((x : Bool) -> True)) -> C True := fun (C : Prop -> Prop) (c : C ((x : Bool) -> True)) => c`, "type_mismatch"},
		"a proposition over all types": {`
theorem goal : (C : Prop -> Prop) -> (c : C ((α : Type) -> True)) -> C ((α : Type) -> True) := fun (C : Prop -> Prop) (c : C ((α : Type) -> True)) => c`, ""},
		"nested in a proposition": {`
inductive T : Type | leaf : T | node (h : And (Exists.{1} T (fun (t : T) => True)) True) : T
theorem goal : True := True.intro`, "invalid_inductive"},
	} {
		var out bytes.Buffer
		if err := leansource.Write(&out, witnessBase+c.text); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := judge(t, out.String(), named("goal"))
		got := check.Class("")
		if r.Refusal != nil {
			got = r.Refusal.Class
		}
		if got != c.want || (c.want == "") != (r.Verdict == check.Verified) || c.want == "" && !bothAccept(r) {
			t.Errorf("%s: %s %+v, kernels %v; want %q", name, r.Verdict, r.Refusal, answers(r), c.want)
		}
	}
}
