package attack

import (
	"fmt"
	"strings"

	"reckon/domain/lean/kernel"
)

// isThree is what near misses of the operations go wrong on; the rest are operations in full by plain recursion.
const (
	textIsThree = `
def isThree : Nat → Bool := fun (n : Nat) => Nat.rec.{1} (fun (x : Nat) => Bool) Bool.false (fun (a : Nat) (i : Bool) =>
  Nat.rec.{1} (fun (x : Nat) => Bool) Bool.false (fun (b : Nat) (i : Bool) =>
  Nat.rec.{1} (fun (x : Nat) => Bool) Bool.false (fun (c : Nat) (i : Bool) =>
  Nat.rec.{1} (fun (x : Nat) => Bool) Bool.true (fun (d : Nat) (i : Bool) => Bool.false) c) b) a) n
`
	textPlain = `
def plainAdd : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) x (fun (n : Nat) (ih : Nat) => Nat.succ ih) y
def plainPred : Nat → Nat := fun (x : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) Nat.zero (fun (n : Nat) (ih : Nat) => n) x
def plainSub : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) x (fun (n : Nat) (ih : Nat) => plainPred ih) y
def plainMul : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) Nat.zero (fun (n : Nat) (ih : Nat) => plainAdd ih x) y
def plainPow : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) (Nat.succ Nat.zero) (fun (n : Nat) (ih : Nat) => plainMul ih x) y
def isZero : Nat → Bool := fun (x : Nat) => Nat.rec.{1} (fun (n : Nat) => Bool) Bool.true (fun (n : Nat) (ih : Bool) => Bool.false) x
def plainBle : Nat → Nat → Bool := fun (x y : Nat) => isZero (plainSub x y)
def both : Bool → Bool → Bool := fun (a b : Bool) => Bool.rec.{1} (fun (x : Bool) => Bool) Bool.false b a
def plainBeq : Nat → Nat → Bool := fun (x y : Nat) => both (plainBle x y) (plainBle y x)
def ifThenElse : Bool → Nat → Nat → Nat := fun (b : Bool) (x y : Nat) => Bool.rec.{1} (fun (x : Bool) => Nat) y x b
def cappedDiv : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat → Nat) (fun (x : Nat) => Nat.zero)
  (fun (n : Nat) (ih : Nat → Nat) (x : Nat) => ifThenElse (both (not (isZero y)) (plainBle y x)) (Nat.succ (ih (plainSub x y))) Nat.zero) 8 x
def cappedMod : Nat → Nat → Nat := fun (x y : Nat) => plainSub x (plainMul y (cappedDiv x y))
def cappedGcd : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat → Nat → Nat) (fun (x y : Nat) => Nat.zero)
  (fun (n : Nat) (ih : Nat → Nat → Nat) (x y : Nat) => ifThenElse (isZero x) y (ih (cappedMod y x) x)) 3 x y
def cappedLog : Nat → Nat := fun (x : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat → Nat) (fun (x : Nat) => Nat.zero)
  (fun (n : Nat) (ih : Nat → Nat) (x : Nat) => ifThenElse (plainBle 2 x) (Nat.succ (ih (cappedDiv x 2))) Nat.zero) 2 x
`
)

// operation is one of those a checker computes with big numbers.
type operation struct {
	name   string
	unary  bool
	truth  bool // the result is a Bool
	args   string
	result string // of the real operation on args
	plain  string // right except where the comment of nearMiss says
}

var operations = []operation{
	{"Nat.pred", true, false, "3", "2", "plainPred"},
	{"Nat.add", false, false, "2 3", "5", "plainAdd"},
	{"Nat.sub", false, false, "7 3", "4", "plainSub"},
	{"Nat.mul", false, false, "2 3", "6", "plainMul"},
	{"Nat.pow", false, false, "2 3", "8", "plainPow"},
	{"Nat.div", false, false, "9 3", "3", "cappedDiv"},
	{"Nat.mod", false, false, "8 3", "2", "cappedMod"},
	{"Nat.gcd", false, false, "6 3", "3", "cappedGcd"},
	{"Nat.log2", true, false, "3", "1", "cappedLog"},
	{"Nat.beq", false, true, "3 3", "Bool.true", "plainBeq"},
	{"Nat.ble", false, true, "2 3", "Bool.true", "plainBle"},
	{"Nat.land", false, false, "7 3", "3", "plainAdd"},
	{"Nat.lor", false, false, "4 3", "7", "plainAdd"},
	{"Nat.xor", false, false, "5 3", "6", "plainAdd"},
	{"Nat.shiftLeft", false, false, "1 3", "8", "fun (x y : Nat) => plainMul x (plainPow 2 y)"},
	{"Nat.shiftRight", false, false, "16 3", "2", "fun (x y : Nat) => cappedDiv x (plainPow 2 y)"},
}

func (o operation) typ() string {
	result := o.resultType()
	if o.unary {
		return "Nat → " + result
	}
	return "Nat → Nat → " + result
}

func (o operation) resultType() string {
	if o.truth {
		return "Bool"
	}
	return "Nat"
}

// wrong is a value the real operation does not have on args.
func (o operation) wrong() string {
	if o.truth {
		return "Bool.false"
	}
	return "77"
}

// params are the binders of a definition of the operation, and its last argument.
func (o operation) params() (binders, call string) {
	if o.unary {
		return "(y : Nat)", "y"
	}
	return "(x y : Nat)", "x y"
}

func (o operation) claim(result string) string {
	return fmt.Sprintf("theorem boom : Eq.{1} %s (%s %s) %s := Eq.refl.{1} %s %s", o.resultType(), o.name, o.args, result, o.resultType(), result)
}

const textArithmetic = textLogic + textNat + textIsThree + textPlain

// naturals attack Nat's operations, which checkers compute with big numbers where they are what they should be.
var naturals = naturalRecipes()

func naturalRecipes() (out []Recipe) {
	add := func(r Recipe) { out = append(out, r) }
	for _, o := range operations {
		binders, call := o.params()
		prelude := textArithmetic
		if o.name == "Nat.sub" {
			prelude += "def Nat.pred : Nat → Nat := plainPred\n"
		}
		near := fmt.Sprintf("def %s : %s := fun %s => Bool.rec.{1} (fun (b : Bool) => %s) ((%s) %s) %s (isThree y)\n",
			o.name, o.typ(), binders, o.resultType(), o.plain, call, o.wrong())
		constant := fmt.Sprintf("def %s : %s := fun %s => %s\n", o.name, o.typ(), binders, o.wrong())
		add(Recipe{Name: o.name + " right but on 3", Text: prelude + near + o.claim(o.result), Want: refused(kernel.TypeMismatch),
			Attack: "A near miss: the operation is right on 0, 1 and 2 and wrong on 3. Computing it as the real one proves what its definition contradicts."})
		add(Recipe{Name: o.name + " wrong on 3, shown", Text: prelude + near + o.claim(o.wrong()), Want: shown(o.name),
			Attack: "The near miss does have its wrong value; the statement speaks of it under the real one's name, so that is not Lean's has to be said."})
		add(Recipe{Name: o.name + " constant", Text: textLogic + textNat + constant + o.claim(o.wrong()), Want: shown(o.name),
			Attack: "The operation is a constant function (the issue's finding 5): a claim about it must not pass for one about the real operation."})
		add(Recipe{Name: o.name + " constant, computed as the real one", Text: textLogic + textNat + constant + o.claim(o.result), Want: refused(kernel.TypeMismatch),
			Attack: "The operation is a constant function, and the claim is what the real one computes."})
		opaque := fmt.Sprintf("opaque %s : %s := fun %s => %s\n", o.name, o.typ(), binders, o.wrong())
		add(Recipe{Name: o.name + " opaque", Text: textLogic + textNat + opaque + o.claim(o.result), Want: refused(kernel.TypeMismatch),
			Attack: "The operation is opaque: nothing is known of its values."})
		axiom := fmt.Sprintf("axiom %s : %s\n", o.name, o.typ())
		add(Recipe{Name: o.name + " an axiom", Text: textLogic + textNat + axiom + o.claim(o.result), Want: refused(kernel.TypeMismatch),
			Attack: "The operation is an axiom: computing it would turn it into a definition."})
		universe := strings.Replace(near, o.name+" :", o.name+".{u} :", 1)
		add(Recipe{Name: o.name + " with a universe parameter", Text: prelude + universe + strings.Replace(o.claim(o.result), o.name+" ", o.name+".{0} ", 1), Want: refused(kernel.TypeMismatch),
			Attack: "The operation has a universe parameter and is wrong on 3."})
	}
	add(Recipe{Name: "Nat.add with arguments swapped by declared types", Attack: "Nat.add takes Bools: two literals of Nat never fit.",
		Text: textLogic + textNat + `def Nat.add : Bool → Bool → Bool := fun (x y : Bool) => y
theorem boom : Eq.{1} Nat (Nat.add 2 2) 4 := Eq.refl.{1} Nat 4`, Want: refused(kernel.ArgumentMismatch)})
	add(Recipe{Name: "Nat.add with three arguments", Attack: "An operation that takes one more argument is applied to two.",
		Text: textLogic + textNat + `def Nat.add : Nat → Nat → Nat → Nat := fun (x y z : Nat) => z
theorem boom : Eq.{1} Nat (Nat.add 2 2 7) 4 := Eq.refl.{1} Nat 4`, Want: refused(kernel.TypeMismatch)})
	add(Recipe{Name: "Nat.sub before Nat.pred", Attack: "Nat.sub is recognised by way of Nat.pred, which is declared later and is wrong.",
		Text: textArithmetic + `def Nat.sub : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) x (fun (n : Nat) (ih : Nat) => Nat.zero) y
def Nat.pred : Nat → Nat := fun (n : Nat) => Nat.zero
theorem boom : Eq.{1} Nat (Nat.sub 7 3) 4 := Eq.refl.{1} Nat 4`, Want: refused(kernel.TypeMismatch)})
	add(Recipe{Name: "Nat.mul over a wrong Nat.add", Attack: "Nat.mul is right in terms of Nat.add, which is subtraction.",
		Text: textArithmetic + `def Nat.add : Nat → Nat → Nat := plainSub
def Nat.mul : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) Nat.zero (fun (n : Nat) (ih : Nat) => Nat.add ih x) y
theorem boom : Eq.{1} Nat (Nat.mul 2 3) 6 := Eq.refl.{1} Nat 6`, Want: refused(kernel.TypeMismatch)})
	add(Recipe{Name: "Nat.pow over a wrong Nat.mul", Attack: "Nat.pow is right in terms of Nat.mul, which is addition.",
		Text: textArithmetic + `def Nat.mul : Nat → Nat → Nat := plainAdd
def Nat.pow : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) (Nat.succ Nat.zero) (fun (n : Nat) (ih : Nat) => Nat.mul ih x) y
theorem boom : Eq.{1} Nat (Nat.pow 2 5) 32 := Eq.refl.{1} Nat 32`, Want: refused(kernel.TypeMismatch)})
	add(Recipe{Name: "Nat.land over a wrong Nat.bitwise", Attack: "Nat.land is Nat.bitwise of conjunction, and Nat.bitwise is constant.",
		Text: textArithmetic + `def Nat.bitwise : (Bool → Bool → Bool) → Nat → Nat → Nat := fun (f : Bool → Bool → Bool) (x y : Nat) => 9
def Nat.land : Nat → Nat → Nat := Nat.bitwise both
theorem boom : Eq.{1} Nat (Nat.land 6 3) 2 := Eq.refl.{1} Nat 2`, Want: refused(kernel.TypeMismatch)})
	add(Recipe{Name: "Nat.pow beyond what is computed", Attack: "An exponent too large to compute is not computed modulo anything.",
		Text: textArithmetic + `def Nat.add : Nat → Nat → Nat := plainAdd
def Nat.mul : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) Nat.zero (fun (n : Nat) (ih : Nat) => Nat.add ih x) y
def Nat.pow : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) (Nat.succ Nat.zero) (fun (n : Nat) (ih : Nat) => Nat.mul ih x) y
theorem boom : Eq.{1} Nat (Nat.pow 2 18446744073709551616) 1 := Eq.refl.{1} Nat 1`, Want: notVerified})
	add(Recipe{Name: "Nat.beq over swapped Bool", Attack: "Bool's constructors stand in the other order; a computed true must be Bool.true by name and by recursor.",
		Text: textFalse + textTrue + textNot + textEq + `inductive Bool : Type | Bool.true : Bool | Bool.false : Bool
` + textNat + `def Nat.beq : Nat → Nat → Bool := fun (x y : Nat) => Bool.false
theorem boom : Eq.{1} Bool (Nat.beq 2 2) Bool.true := Eq.refl.{1} Bool Bool.true`, Want: refused(kernel.TypeMismatch)})

	literal := "theorem boom : True := (fun (n : Nat) => True.intro) 2"
	for _, v := range []struct{ name, attack, text string }{
		{"constructors swapped", "Nat's constructors stand in the other order.", "inductive Nat : Type | Nat.succ : Nat → Nat | Nat.zero : Nat"},
		{"a third constructor", "Nat has one constructor more: numerals are not all its values.", "inductive Nat : Type | Nat.zero : Nat | Nat.succ : Nat → Nat | Nat.omega : Nat"},
		{"no zero", "Nat has no zero, so that it is empty: a numeral would be a proof of anything.", "inductive Nat : Type | Nat.succ : Nat → Nat"},
		{"a larger universe", "Nat lives in Type 1.", "inductive Nat : Type 1 | Nat.zero : Nat | Nat.succ : Nat → Nat"},
		{"a proposition", "Nat is a proposition: all numerals are equal.", "inductive Nat : Prop | Nat.zero : Nat | Nat.succ : Nat → Nat"},
		{"a universe parameter", "Nat has a universe parameter.", "inductive Nat.{u} : Type u | Nat.zero : Nat.{u} | Nat.succ : Nat.{u} → Nat.{u}"},
		{"a parameter", "Nat has a parameter.", "inductive Nat (α : Type) : Type | Nat.zero : Nat α | Nat.succ : Nat α → Nat α"},
		{"an index", "Nat is indexed.", "inductive Nat : Bool → Type | Nat.zero : Nat Bool.true | Nat.succ : Nat Bool.true → Nat Bool.true"},
		{"two successors of zero", "Nat.succ takes two predecessors.", "inductive Nat : Type | Nat.zero : Nat | Nat.succ : Nat → Nat → Nat"},
		{"a block of two", "Nat is declared together with another type.", "mutual inductive Nat : Type | Nat.zero : Nat | Nat.succ : Nat → Nat inductive Other : Type | Other.mk : Nat → Other end"},
		{"a successor that takes a function", "Nat.succ takes a function into Nat: the type is reflexive.", "inductive Nat : Type | Nat.zero : Nat | Nat.succ : (Bool → Nat) → Nat"},
		{"an axiom", "Nat and its constructors are axioms.", "axiom Nat : Type axiom Nat.zero : Nat axiom Nat.succ : Nat → Nat"},
		{"an opaque type", "Nat is opaque.", "opaque Nat : Type := Bool opaque Nat.zero : Nat := Bool.true"},
		{"a type without successors", "Nat has no Nat.succ but another constructor in its place.", "inductive Nat : Type | Nat.zero : Nat | Nat.next : Nat → Nat"},
	} {
		add(Recipe{Name: "Nat with " + v.name, Attack: v.attack, Text: textLogic + v.text + "\n" + literal, Want: refused()})
	}
	add(Recipe{Name: "Nat in a look-alike namespace", Attack: "The type is called Nat by one component, its constructors by one component with a dot in it.",
		Text: textLogic + "inductive Nat : Type | «Nat.zero» : Nat | «Nat.succ» : Nat → Nat\n" + literal, Want: refused()})
	add(Recipe{Name: "an unusual Nat without numerals", Attack: "A proposition about a Nat of the uploader's that no numeral occurs in.",
		Text: textLogic + "inductive Nat : Type | Nat.succ : Nat → Nat | Nat.zero : Nat\ntheorem boom : Eq.{1} Nat Nat.zero Nat.zero := Eq.refl.{1} Nat Nat.zero",
		Want: unsupported("Nat")})
	add(Recipe{Name: "the largest literal is not itself and one", Attack: "Literals around machine words differ from their successors.",
		Text: textLogic + textNat + "theorem boom : Eq.{1} Nat 18446744073709551616 (Nat.succ 18446744073709551616) := Eq.refl.{1} Nat 18446744073709551616",
		Want: refused(kernel.TypeMismatch)})
	add(Recipe{Name: "a literal modulo a machine word", Attack: "2^64 is not 0.",
		Text: textLogic + textNat + "theorem boom : Eq.{1} Nat 18446744073709551616 Nat.zero := Eq.refl.{1} Nat 0",
		Want: refused(kernel.TypeMismatch)})
	return out
}
