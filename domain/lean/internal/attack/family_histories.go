package attack

import (
	"strings"

	"reckon/domain/lean/kernel"
)

// Equality is incomplete, and it matters which side is named first. D p reduces to U when p is a constructor application
// and is stuck when p is a variable; all values of U are equal. So
//
//	fun (z : D p) => U.u   and   fun (z : D both) => z
//
// are equal in this order, where z is taken from the second function, and not in the other. What a checker remembers of
// one question must not answer the other.
const textHistory = textLogic + `
inductive U : Type | U.u : U
def T2 : Prop := And True True
def both : T2 := And.intro True True True.intro True.intro
@[hints=regular] def D : T2 → Type := fun (p : T2) => And.rec.{2} True True (fun (q : And True True) => Type) (fun (a b : True) => U) p
def F : T2 → Type := fun (p : T2) => D p → U
`

// stuckSide is the function that is equal to plainSide when it comes first.
func stuckSide(p string) string { return "(fun (z : D " + p + ") => U.u)" }

const plainSide = "(fun (z : D both) => z)"

// sameSides states that two functions of F p are equal.
func sameSides(p, left, right string) string {
	return "Eq.{1} (F " + p + ") " + left + " " + right
}

// castType is a type that reduces to result when a checker finds right and left equal, in this order: K turns the proof h
// of left = right into reflexivity.
func castType(p, left, right, h, result string) string {
	return "(Eq.rec.{2, 1} (F " + p + ") " + left + " (fun (x : F " + p + ") (e : " + sameSides(p, left, "x") + ") => Type) " + result + " " + right + " " + h + ")"
}

// warmed asks for the equality that holds, and then is result.
func warmed(p, result string) string {
	return "let c : " + sameSides(p, stuckSide(p), plainSide) + " := Eq.refl.{1} (F " + p + ") " + stuckSide(p) + "; " + result
}

// The type of twoPasses has a constructor T.mk with two fields, x and y, whose types reduce to T only if an equality is
// answered by the answer of the other order. A kernel numbers the free variables of a constructor from a place that
// differs between the passes over a block: in the pass that makes the minor premises, the q of T.mk is the p of
// T.shifted; in the pass that makes the rules, the p of T.mk is the p of T.level; and in the pass that looks for
// positivity, the q of T.mk is a variable of T.first, whose type was checked before. So the premise of T.mk gets an
// induction hypothesis of y, its rule passes that of x.
var (
	warmField  = "(h : " + sameSides("p", plainSide, stuckSide("p")) + ") (w : " + castType("p", plainSide, stuckSide("p"), "h", "U") + ")"
	deepField  = "∀ " + strings.Repeat("(t : True) ", 16) + "(p : T2) " + warmField + ", sink w"
	mkFields   = "(p q : T2) (h : " + sameSides("p", stuckSide("p"), plainSide) + ") (k : " + sameSides("q", stuckSide("q"), plainSide) + ") (x : " + castType("p", stuckSide("p"), plainSide, "h", "T") + ") (y : " + castType("q", stuckSide("q"), plainSide, "k", "T") + ")"
	levelArgs  = "(p : T2) " + warmField
	shiftArgs  = "(s t : True) " + levelArgs
	twoPasses  = textHistory + "def sink : U → Type := fun (u : U) => U\n" + passesType
	passesType = "inductive T : Type | T.yes : T | T.no : T | T.first : (" + deepField + ") → T | T.level : ∀ " + levelArgs + ", T | T.shifted : ∀ " + shiftArgs + ", T | T.mk : ∀ " + mkFields + ", T\n"
)

// recursorOfTwoPasses is the recursor in which premise and rule are of different fields.
func recursorOfTwoPasses(premise, rule string) func(f *File) {
	binders := "(motive : T → Sort w) (yes : motive T.yes) (no : motive T.no) (first : ∀ (g : " + deepField + "), motive (T.first g)) " +
		"(level : ∀ " + levelArgs + ", motive (T.level p h w)) (shifted : ∀ " + shiftArgs + ", motive (T.shifted s t p h w)) " +
		"(mk : ∀ " + mkFields + ", " + premise + "motive (T.mk p q h k x y)) "
	term := func(text string) *Term { return parse("axiom x.{w} : " + text)[0].Type }
	call := ""
	if rule != "" {
		call = " (T.rec.{w} motive yes no first level shifted mk " + rule + ")"
	}
	return func(f *File) {
		f.Find("T").Recursors = []*Recursor{{Name: "T.rec", Params: []string{"w"}, NumMotives: 1, NumMinors: 6,
			Type: term("∀ " + binders + "(t : T), motive t"),
			Rules: []*Rule{
				{"T.yes", 0, term("fun " + binders + " => yes")},
				{"T.no", 0, term("fun " + binders + " => no")},
				{"T.first", 1, term("fun " + binders + "(g : " + deepField + ") => first g")},
				{"T.level", 3, term("fun " + binders + levelArgs + " => level p h w")},
				{"T.shifted", 5, term("fun " + binders + shiftArgs + " => shifted s t p h w")},
				{"T.mk", 6, term("fun " + binders + mkFields + " => mk p q h k x y" + call)},
			}}}
	}
}

// falseOfTwoPasses takes the value of T.no from T.yes.
var falseOfTwoPasses = func() string {
	same := "Eq.refl.{1} Bool "
	sub := func(b string) string { return "(Packed.mk Bool." + b + " Bool." + b + " (" + same + "Bool." + b + "))" }
	cases := func(motive, yes, no, other, mk string) string {
		return "T.rec.{1} (fun (t : T) => " + motive + ") " + yes + " " + no + " (fun (g : " + deepField + ") => " + other + ") (fun " + levelArgs + " => " + other +
			") (fun " + shiftArgs + " => " + other + ") (fun " + mkFields + " => " + mk + ") "
	}
	refl := "(Eq.refl.{1} (F both) " + stuckSide("both") + ")"
	built := "(T.mk both both " + refl + " " + refl + " T.yes T.no)"
	constantly := func(of string) string { return "fun (i : Packed (value " + of + ")) => " + sub("true") }
	byCases := "T.rec.{1} (fun (t : T) => Packed (value t) → Packed (shallow t)) (fun (i : Packed Bool.true) => i) (fun (i : Packed Bool.false) => i) (fun (g : " + deepField + ") => " + constantly("(T.first g)") +
		") (fun " + levelArgs + " => " + constantly("(T.level p h w)") + ") (fun " + shiftArgs + " => " + constantly("(T.shifted s t p h w)") +
		") (fun " + mkFields + " => " + warmed("q", "fun (ih : Packed (value y) → Packed (shallow y)) => "+constantly("(T.mk p q h k x y)")) + ") y ih"
	return `
inductive Packed (c : Bool) : Type | Packed.mk : ∀ (v : Bool), Eq.{1} Bool v c → Packed c
def shallow : T → Bool := fun (t : T) => ` + cases("Bool", "Bool.true", "Bool.false", "Bool.true", "fun (ih : Bool) => Bool.true") + `t
@[hints=regular] def value : T → Bool := fun (t : T) => ` + cases("Bool", "Bool.true", "Bool.false", "Bool.true", "fun (ih : Bool) => "+warmed("q", "shallow y")) + `t
def found : Packed (value ` + built + `) := ` + cases("Packed (value t)", sub("true"), sub("false"), sub("true"), warmed("q", "fun (ih : Packed (value y)) => "+byCases)) + built + `
theorem boom : False := trueNotFalse (proj Packed 1 found)`
}()

// reducing declares a type with a field whose type only reduces to it, with the recursor that has these hypotheses of it.
func reducing(premise, rule string) func(f *File) {
	binders := "(motive : R → Sort w) (leaf : motive R.leaf) (node : ∀ (x : Same R) (f : Bool → Same R), " + premise + "motive (R.node x f)) "
	term := func(text string) *Term { return parse("axiom x.{w} : " + text)[0].Type }
	return func(f *File) {
		f.Find("R").Recursors = []*Recursor{{Name: "R.rec", Params: []string{"w"}, NumMotives: 1, NumMinors: 2, Type: term("∀ " + binders + "(t : R), motive t"),
			Rules: []*Rule{{"R.leaf", 0, term("fun " + binders + "=> leaf")},
				{"R.node", 2, term("fun " + binders + "(x : Same R) (f : Bool → Same R) => node x f " + rule)}}}}
	}
}

const (
	textReducing = textLogic + `
def Same : Type → Type := fun (α : Type) => α
inductive R : Type | R.leaf : R | R.node : Same R → (Bool → Same R) → R` + holdsTrue
	callReducing = "R.rec.{w} motive leaf node "
)

var historyRecipes = []Recipe{
	{Name: "an equality that holds in one order only", Attack: "The functions are equal in one order; this asks for the other.",
		Text: textHistory + `
theorem boom : ∀ (p : T2), ` + sameSides("p", plainSide, stuckSide("p")) + ` := fun (p : T2) => Eq.refl.{1} (F p) ` + plainSide,
		Want: refused(kernel.TypeMismatch)},
	{Name: "an equality that the second kernel misses", Attack: "None: the first kernel finds it, as Lean's does; the second takes the variable's type from the other side.",
		Text: textHistory + `
theorem boom : ∀ (p : T2), ` + sameSides("p", stuckSide("p"), plainSide) + ` := fun (p : T2) => Eq.refl.{1} (F p) ` + stuckSide("p"),
		Want: disagreement},
	{Name: "an equality asked in one order, answered in the other", Attack: "The same after the order that holds.",
		Text: textHistory + `
theorem boom : ∀ (p : T2), ` + sameSides("p", plainSide, stuckSide("p")) + ` := fun (p : T2) => ` + warmed("p", "Eq.refl.{1} (F p) "+plainSide),
		Want: refused(kernel.TypeMismatch)},
	{Name: "fields whose types reduce to the type", Attack: "None: both fields are recursive, as in Lean.",
		Text: textReducing, Edit: reducing("motive x → (∀ (b : Bool), motive (f b)) → ", "("+callReducing+"x) (fun (b : Bool) => "+callReducing+"(f b))"),
		MayMismatch: true, Versions: []string{"4.99.0"}, Want: verified("True")},
	{Name: "fields whose types reduce to the type, without hypotheses", Attack: "The recursor of a kernel that does not reduce the types of fields.",
		Text: textReducing, Edit: reducing("", ""), MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "fields whose types reduce to the type, hypotheses exchanged", Attack: "The rule passes the hypotheses of the other field.",
		Text: textReducing, Edit: reducing("motive x → motive x → ", "("+callReducing+"x) ("+callReducing+"(f Bool.true))"), MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "False by a premise and a rule of different fields", Attack: "Two passes over the fields find different ones recursive.",
		Text: twoPasses + falseOfTwoPasses, Edit: recursorOfTwoPasses("motive y → ", "x"), MayMismatch: true, Want: refused(kernel.InvalidOccurrence)},
	{Name: "fields that are recursive by history, none derived", Attack: "The recursor as if no field were recursive.",
		Text: twoPasses + holdsTrue, Edit: recursorOfTwoPasses("", ""), MayMismatch: true, Want: refused(kernel.InvalidOccurrence)},
}
