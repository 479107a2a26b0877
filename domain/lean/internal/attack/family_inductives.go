package attack

import (
	"fmt"

	"reckon/domain/lean/kernel"
)

// recursorOf returns the derived recursor of a type, to be changed.
func recursorOf(f *File, name string) *Recursor {
	d := f.Find(name)
	addRecursors(d)
	for _, r := range d.Recursors {
		if r.Name == name+".rec" {
			return r
		}
	}
	panic("no recursor of " + name)
}

func changeRecursor(name string, change func(r *Recursor)) func(f *File) {
	return func(f *File) { change(recursorOf(f, name)) }
}

const holdsTrue = `
theorem boom : True := True.intro`

const twoConstructors = textLogic + `
@[large] inductive Or (a b : Prop) : Prop | Or.inl : a → Or a b | Or.inr : b → Or a b
def side : Or True True → Bool := fun (h : Or True True) => Or.rec.{1} True True (fun (h : Or True True) => Bool) (fun (h : True) => Bool.true) (fun (h : True) => Bool.false) h
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (side (Or.inl True True True.intro)))`

var recursorRecipes = []Recipe{
	{Name: "Or eliminates into data", Attack: "With a recursor into every universe, proof irrelevance makes true of false.",
		Text: twoConstructors, MayMismatch: true, Want: refused(kernel.RecursorMismatch, kernel.UniverseCount)},
	{Name: "Exists eliminates into data", Attack: "A witness got out of a proof of Exists: all witnesses would be equal.",
		Text: textLogic + `
@[large] inductive Exists.{u} (α : Sort u) (p : α → Prop) : Prop | Exists.intro : ∀ (w : α), p w → Exists.{u} α p
def witness : Exists.{1} Bool (fun (b : Bool) => True) → Bool := fun (h : Exists.{1} Bool (fun (b : Bool) => True)) =>
  Exists.rec.{1, 1} Bool (fun (b : Bool) => True) (fun (h : Exists.{1} Bool (fun (b : Bool) => True)) => Bool) (fun (w : Bool) (t : True) => w) h
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (witness (Exists.intro.{1} Bool (fun (b : Bool) => True) Bool.true True.intro)))`,
		MayMismatch: true, Want: refused(kernel.RecursorMismatch, kernel.UniverseCount)},
	{Name: "Nonempty eliminates into data", Attack: "An element got out of a proof that there is one.",
		Text: textLogic + `
@[large] inductive Nonempty.{u} (α : Sort u) : Prop | Nonempty.intro : α → Nonempty.{u} α
def element : Nonempty.{1} Bool → Bool := fun (h : Nonempty.{1} Bool) => Nonempty.rec.{1, 1} Bool (fun (h : Nonempty.{1} Bool) => Bool) (fun (b : Bool) => b) h
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (element (Nonempty.intro.{1} Bool Bool.true)))`,
		MayMismatch: true, Want: refused(kernel.RecursorMismatch, kernel.UniverseCount)},
	{Name: "a mutual proposition eliminates into data", Attack: "Propositions declared together eliminate into propositions only.",
		Text: textLogic + `
@[large] mutual inductive P : Prop | P.mk : P inductive Q : Prop | Q.mk : Q end` + holdsTrue,
		MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "a Sort u that may be Prop eliminates into data", Attack: "A type in Sort u with two constructors may be a proposition.",
		Text: textLogic + `
@[large] inductive B.{u} : Sort u | B.one : B.{u} | B.two : B.{u}
def tell : B.{0} → Bool := fun (b : B.{0}) => B.rec.{1, 0} (fun (b : B.{0}) => Bool) Bool.true Bool.false b
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (tell B.one.{0}))`,
		MayMismatch: true, Want: refused(kernel.RecursorMismatch, kernel.UniverseCount)},
	{Name: "Nat's rules swapped", Attack: "The rules of Nat.rec stand at each other's constructors.",
		Text: textLogic + textNat + holdsTrue, MayMismatch: true,
		Edit: changeRecursor("Nat", func(r *Recursor) { r.Rules[0].Value, r.Rules[1].Value = r.Rules[1].Value, r.Rules[0].Value }), Want: refused()},
	{Name: "Bool's rules swapped", Attack: "The rule of true gives the premise of false.",
		Text: textLogic + holdsTrue, MayMismatch: true,
		Edit: changeRecursor("Bool", func(r *Recursor) { r.Rules[0].Value, r.Rules[1].Value = r.Rules[1].Value, r.Rules[0].Value }), Want: refused(kernel.RecursorMismatch)},
	{Name: "Bool's rules in another order", Attack: "The rules are right and stand in the other order.",
		Text: textLogic + holdsTrue, MayMismatch: true,
		Edit: changeRecursor("Bool", func(r *Recursor) { r.Rules[0], r.Rules[1] = r.Rules[1], r.Rules[0] }), Want: refused(kernel.RecursorMismatch)},
	{Name: "a rule is missing", Attack: "Bool.rec has no rule for true.",
		Text: textLogic + holdsTrue, MayMismatch: true,
		Edit: changeRecursor("Bool", func(r *Recursor) { r.Rules = r.Rules[:1] }), Want: refused(kernel.RecursorMismatch)},
	{Name: "a rule too many", Attack: "Bool.rec has a rule for Nat.zero.",
		Text: textLogic + textNat + holdsTrue, MayMismatch: true,
		Edit: changeRecursor("Bool", func(r *Recursor) { r.Rules = append(r.Rules, &Rule{"Nat.zero", 0, r.Rules[0].Value}) }), Want: refused(kernel.RecursorMismatch)},
	{Name: "a rule counts a field less", Attack: "The rule of Nat.succ takes no field.",
		Text: textLogic + textNat + holdsTrue, MayMismatch: true,
		Edit: changeRecursor("Nat", func(r *Recursor) { r.Rules[1].Fields = 0 }), Want: refused(kernel.RecursorMismatch)},
	{Name: "a rule without its induction hypothesis", Attack: "The rule of Nat.succ gives the predecessor in the place of the hypothesis.",
		Text: textLogic + textNat + holdsTrue, MayMismatch: true,
		Edit: changeRecursor("Nat", func(r *Recursor) { r.Rules[1].Value = r.Rules[0].Value }), Want: refused(kernel.RecursorMismatch)},
	{Name: "K for Bool", Attack: "Bool.rec claims K: a stuck value would become a constructor.",
		Text: "@[k=true] " + textBool[1:] + textTrue + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "K for And", Attack: "And.rec claims K although And.intro has fields.",
		Text: textTrue + `
@[large, k=true] inductive And (a b : Prop) : Prop | And.intro : a → b → And a b` + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "K for an indexed type in Type", Attack: "An equality in Type claims K: with it, unequal proofs are equal.",
		Text: textTrue + textBool + `
@[k=true] inductive Id (α : Type) (a : α) : α → Type | Id.refl : Id α a a` + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "no K for Eq", Attack: "Eq.rec denies K: harmless, and still not what its type gives.",
		Text: textTrue + "@[k=false] " + textEq[1:] + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "a recursor of another type", Attack: "False's block holds a recursor of True's type under False's name.",
		Text: textTrue + textFalse + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch),
		Edit: func(f *File) {
			stolen := *recursorOf(f, "True")
			stolen.Name = "False.rec"
			f.Find("False").Recursors = []*Recursor{&stolen}
		}},
	{Name: "a recursor under another name", Attack: "The recursor of Bool is called Bool.elim.",
		Text: textLogic + holdsTrue, MayMismatch: true, Edit: changeRecursor("Bool", func(r *Recursor) { r.Name = "Bool.elim" }), Want: refused()},
	{Name: "no recursor records", Attack: "The records are left out, and the recursor is used.",
		Text: textTrue + `
@[norec] inductive Bool : Type | Bool.false : Bool | Bool.true : Bool
def not : Bool → Bool := fun (b : Bool) => Bool.rec.{1} (fun (x : Bool) => Bool) Bool.true Bool.false b` + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
	{Name: "no recursor records, and a definition in their place", Attack: "Bool.rec is a definition that drops its argument.",
		Text: textTrue + `
@[norec] inductive Bool : Type | Bool.false : Bool | Bool.true : Bool
def Bool.rec : Bool → Bool := fun (b : Bool) => Bool.true` + holdsTrue, MayMismatch: true, Want: refused()},
	{Name: "a weaker motive", Attack: "The recursor's motive ignores the value.",
		Text: textLogic + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch),
		Edit: changeRecursor("Bool", func(r *Recursor) { locals, rest := telescope(r.Type); r.Type = pis(locals[:len(locals)-1], rest.a) })},
	{Name: "minor premises swapped in the type", Attack: "Nat.rec takes its premises in the other order, and its rules agree.",
		Text: textLogic + textNat + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch),
		Edit: changeRecursor("Nat", func(r *Recursor) {
			locals, rest := telescope(r.Type)
			r.Type = pis([]*Local{locals[0], locals[2], locals[1], locals[3]}, rest)
		})},
	{Name: "a universe parameter of the recursor twice", Attack: "The elimination level is the block's own parameter.",
		Text: textTrue + textEq + holdsTrue, MayMismatch: true, Want: refused(),
		Edit: changeRecursor("Eq", func(r *Recursor) { r.Params = []string{"u", "u"} })},
	{Name: "counts that lie", Attack: "Eq.rec counts its index as a parameter.",
		Text: textTrue + textEq + holdsTrue, MayMismatch: true, Want: refused(kernel.RecursorMismatch),
		Edit: changeRecursor("Eq", func(r *Recursor) { r.NumParams, r.NumIndices = 3, 0 })},
	{Name: "Acc with K", Attack: "Acc claims K: what is well-founded could be unfolded without a proof.",
		Text: textTrue + `
@[large, k=true] inductive Acc.{u} (α : Sort u) (r : α → α → Prop) : α → Prop | Acc.intro : ∀ (x : α), (∀ (y : α), r y x → Acc.{u} α r y) → Acc.{u} α r x` + holdsTrue,
		MayMismatch: true, Want: refused(kernel.RecursorMismatch)},
}

// negative declares a type with a field and proves False from it when the kernel lets it through.
func negative(name, attack, before, field string, classes ...kernel.Class) Recipe {
	return Recipe{Name: name, Attack: attack, MayMismatch: true, Want: refused(classes...),
		Text: textLogic + textNat + before + `
@[norec] inductive Bad : Type | Bad.mk : ` + field + ` → Bad` + holdsTrue}
}

var inductives = append([]Recipe{
	negative("a negative occurrence", "Bad → False: the paradox in one line.", "", "(Bad → False)", kernel.NonPositiveOccurrence),
	negative("a double negation", "(Bad → Prop) → Prop is positive and not strictly so.", "", "((Bad → False) → False)", kernel.NonPositiveOccurrence),
	negative("behind a definition", "The arrow is hidden in a definition.", "def To : Type → Type := fun (α : Type) => α → Bool\n", "To Bad", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("behind a let", "The arrow is hidden in a let.", "", "(let α : Type := Bad; α → Bool)", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("behind a projection", "The arrow is hidden in a field of a structure of types.",
		"inductive Box : Type 1 | Box.mk : Type → Box\n", "(proj Box 0 (Box.mk (Bad → Bool)))", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("behind a recursor", "The arrow is what a recursor computes.", "",
		"(Bool.rec.{2} (fun (b : Bool) => Type) Bool (Bad → Bool) Bool.true)", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("behind a stuck recursor", "The occurrence is in a branch of a recursor that is stuck on an opaque value.", "opaque which : Bool := Bool.true\n",
		"(Bool.rec.{2} (fun (b : Bool) => Type) Bool (Bad → Bool) which)", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("behind an opaque type former", "An opaque function of types is applied to the type.", "opaque F : Type → Type := fun (α : Type) => α → Bool\n", "F Bad", kernel.InvalidOccurrence, kernel.NonPositiveOccurrence),
	negative("behind an axiom", "An axiom is applied to the type.", "axiom F : Type → Type\n", "F Bad", kernel.InvalidOccurrence, kernel.NonPositiveOccurrence),
	negative("nested in a redefined List", "List is a definition with an arrow in it.", "def List.{u} : Type → Type := fun (α : Type) => α → Bool\n", "List.{0} Bad", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("nested in a redefined Array", "Array is an inductive type whose field takes its parameter.", "inductive Array (α : Type) : Type | Array.mk : (α → Bool) → Array α\n", "Array Bad", kernel.NonPositiveOccurrence),
	negative("nested two deep", "The arrow is in the type that is nested in the nested type.", "inductive Neg (α : Type) : Type | Neg.mk : (α → Bool) → Neg α\ninductive Box (α : Type) : Type | Box.mk : Neg α → Box α\n", "Box Bad", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("nested in Eq", "The type occurs in a parameter and in an index of Eq.", "", "(Eq.{2} (Type 0) Bad Bool)", kernel.InvalidInductive),
	negative("nested in a function to a proposition", "Bad → Prop hidden in a set.", "def Set : Type → Type := fun (α : Type) => α → Prop\n", "Set Bad", kernel.NonPositiveOccurrence, kernel.InvalidOccurrence),
	negative("nested in Quot", "A quotient of the type is no inductive type.", textQuot, "Quot.{1} Bad (fun (a b : Bad) => True)", kernel.InvalidOccurrence, kernel.NonPositiveOccurrence),
	negative("in the domain of a dependent argument", "The type is an argument's type two arrows deep.", "", "(Bool → Bad → Bool)", kernel.NonPositiveOccurrence),
	negative("in a domain that reduces away", "The domain mentions the type and computes to Bool.", "def const : Type → Type → Type := fun (α β : Type) => α\n", "(const Bool Bad → Bool)"),
	{Name: "a universe too small", Attack: "A type of types in Type: Girard's paradox.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive U : Type | U.mk : Type → U` + holdsTrue, Want: refused(kernel.UniverseTooBig)},
	{Name: "a universe too small by a parameter", Attack: "A field in Sort u in a type in Sort v.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive U.{u, v} : Type v | U.mk : Type u → U.{u, v}` + holdsTrue, Want: refused(kernel.UniverseTooBig)},
	{Name: "a universe too small by imax", Attack: "A function space whose universe is imax, in the universe of the result alone.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive U.{u} : Type | U.mk : (Type u → Bool) → U.{u}` + holdsTrue, Want: refused(kernel.UniverseTooBig)},
	{Name: "a universe too small behind Sort (imax u v)", Attack: "The type lives in Sort (imax 1 u), which is Prop for u = 0, with a field of data.", MayMismatch: true,
		Text: textLogic + `
@[large] inductive U.{u} : Sort (imax 1 u) | U.mk : Bool → U.{u}
def out : U.{0} → Bool := fun (x : U.{0}) => U.rec.{1, 0} (fun (x : U.{0}) => Bool) (fun (b : Bool) => b) x
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (out (U.mk.{0} Bool.true)))`, Want: refused()},
	{Name: "data in Sort u", Attack: "A type in Sort u holds a Bool: for u = 0 it is a proposition and its values are equal.", MayMismatch: true,
		Text: textLogic + `
@[large] inductive U.{u} : Sort u | U.mk : Bool → U.{u}
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (proj U 0 (U.mk.{0} Bool.true)))`, Want: refused()},
	{Name: "a block in two universes", Attack: "The types of a block live in Type and Type 1.", MayMismatch: true,
		Text: textLogic + `
@[norec] mutual inductive A : Type | A.mk : B → A inductive B : Type 1 | B.mk : Type → B end` + holdsTrue, Want: refused(kernel.InvalidInductive)},
	{Name: "a block in Prop and Type", Attack: "A proposition and a type in one block: data through the proposition.", MayMismatch: true,
		Text: textLogic + `
@[norec] mutual inductive A : Type | A.mk : B → A inductive B : Prop | B.mk : A → B end` + holdsTrue, Want: refused(kernel.InvalidInductive)},
	{Name: "a block with different parameters", Attack: "The types of a block differ in the type of their parameter.", MayMismatch: true,
		Text: textLogic + `
@[norec] mutual inductive A (b : Bool) : Type | A.mk : A b inductive B (t : True) : Type | B.mk : B t end` + holdsTrue, Want: refused(kernel.InvalidInductive)},
	{Name: "a constructor of another type", Attack: "The constructor makes a Bool.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive A : Type | A.mk : Bool` + holdsTrue, Want: refused(kernel.InvalidConstructor)},
	{Name: "a constructor of False", Attack: "A type's constructor makes a proof of False.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive A : Type | A.mk : False
theorem boom : False := A.mk`, Want: refused(kernel.InvalidConstructor)},
	{Name: "a constructor at another parameter", Attack: "The constructor makes the type at Bool, whatever the parameter.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive A (α : Type) : Type | A.mk : A Bool` + holdsTrue, Want: refused()},
	{Name: "a constructor with the type in its index", Attack: "The result's index mentions the type itself.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive A : Type 1 → Type 1 | A.mk : A (A (Type 0))` + holdsTrue, Want: refused()},
	{Name: "a result that reduces to the type", Attack: "The constructor's result is a definition that unfolds to the type.", MayMismatch: true,
		Text: textLogic + `
def self : Type → Type := fun (α : Type) => α
@[norec] inductive A : Type | A.mk : self A` + holdsTrue, Want: refused(kernel.InvalidConstructor)},
	{Name: "a type that is no sort", Attack: "An inductive type whose type is Bool.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive A : Bool | A.mk : True` + holdsTrue, Want: refused()},
	{Name: "a type behind a definition", Attack: "The type's type is a definition that unfolds to a function into Prop: it is a family of propositions.", MayMismatch: true,
		Text: textLogic + `
def Family : Type 1 := Bool → Type
@[norec] inductive A : Family | A.mk : A Bool.true` + holdsTrue, Want: notVerified},
	{Name: "isRec denied", Attack: "A recursive structure says it is not: it would have eta.", MayMismatch: true,
		Text: textLogic + `
@[isRec=false] inductive A : Type | A.mk : A → A` + holdsTrue, Want: refused(kernel.InductiveMismatch)},
	{Name: "isReflexive denied", Attack: "A reflexive type says it is not.", MayMismatch: true,
		Text: textLogic + `
@[isReflexive=false] inductive A : Type | A.mk : (Bool → A) → A` + holdsTrue, Want: refused(kernel.InductiveMismatch)},
	{Name: "numNested invented", Attack: "A type says it has a nested occurrence.", MayMismatch: true,
		Text: textLogic + `
@[numNested=1] inductive A : Type | A.mk : A` + holdsTrue, Want: refused()},
	{Name: "numIndices invented", Attack: "A type says it has an index.", MayMismatch: true,
		Text: textLogic + `
@[numIndices=1] inductive A : Type | A.mk : A` + holdsTrue, Want: refused()},
	{Name: "an index counted as a parameter", Attack: "Eq's index is counted as a parameter: Eq would be proof of a = b for all b.", MayMismatch: true,
		Text: textTrue + `
@[params=3, norec] inductive Eq.{u} (α : Sort u) (a : α) : α → Prop | Eq.refl : Eq.{u} α a a` + holdsTrue, Want: refused()},
	{Name: "a parameter counted as an index", Attack: "The parameter of a type is counted as an index: recursors differ.", MayMismatch: true,
		Text: textTrue + `
@[params=0, norec] inductive Box (α : Type) : Type | Box.mk : α → Box α` + holdsTrue, Want: refused()},
	{Name: "an unsafe type", Attack: "An unsafe type may be negative; nothing safe may be proved with it.", MayMismatch: true,
		Text: textLogic + `
@[unsafe, norec] inductive Bad : Type | Bad.mk : (Bad → False) → Bad` + holdsTrue, Want: notVerified},
	{Name: "a type of the block outside its parameters", Attack: "A recursive occurrence at another parameter.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive A (α : Type) : Type | A.nil : A α | A.cons : A (α → Bool) → A α` + holdsTrue, Want: refused(kernel.InvalidOccurrence)},
	{Name: "a nested type at its own argument", Attack: "The nested type's parameter depends on a field.", MayMismatch: true,
		Text: textLogic + `
inductive Tag (b : Bool) (α : Type) : Type | Tag.mk : α → Tag b α
@[norec] inductive A : Type | A.mk : ∀ (b : Bool), Tag b A → A` + holdsTrue, Want: refused(kernel.InvalidNested)},
	{Name: "a literal nested", Attack: "A constructor's type holds a literal whose type is the type being declared.", MayMismatch: true,
		Text: textLogic + `
@[norec] inductive Nat : Type | Nat.zero : Nat | Nat.succ : (fun (x : Nat) => Nat) 0 → Nat` + holdsTrue, Want: refused()},
}, selfReference()...)

// selfReference declares things that use themselves or what comes later.
func selfReference() (out []Recipe) {
	for _, kind := range []string{"def", "theorem", "opaque"} {
		out = append(out, Recipe{Name: "a " + kind + " of False by itself", Attack: "The declaration's value is the declaration.",
			Text: textLogic + fmt.Sprintf("\n%s boom : False := boom", kind), Want: refused(kernel.UnknownConstant)})
	}
	out = append(out,
		Recipe{Name: "two theorems by each other", Attack: "Each is proved by the other.",
			Text: textLogic + "\ntheorem boom : False := other\ntheorem other : False := boom", Want: refused(kernel.UnknownConstant)},
		Recipe{Name: "a type of itself", Attack: "The declaration occurs in its own type.",
			Text: textLogic + "\naxiom boom : Eq.{1} Bool boom boom", Want: refused(kernel.UnknownConstant)},
		Recipe{Name: "a constructor in its own type", Attack: "A constructor's type mentions the constructor.", MayMismatch: true,
			Text: textLogic + "\n@[norec] inductive A : Type | A.mk : Eq.{1} A A.mk A.mk → A" + holdsTrue, Want: refused(kernel.UnknownConstant)},
		Recipe{Name: "a recursor in its own block", Attack: "A constructor's type mentions the block's recursor.", MayMismatch: true,
			Text: textLogic + "\n@[norec] inductive A : Type | A.mk : (∀ (a : A), A.rec.{1} (fun (a : A) => Type) Bool a) → A" + holdsTrue, Want: refused()})
	return out
}
