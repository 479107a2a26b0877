package attack

import "reckon/domain/lean/kernel"

const textPair = `
inductive Pair : Type | Pair.mk : Bool → Bool → Pair
`

// differ proves False when the kernel takes two terms of type Bool for one.
func differ(isTrue, isFalse string) string {
	return "\ntheorem one : Eq.{1} Bool (" + isTrue + ") (" + isFalse + ") := Eq.refl.{1} Bool (" + isTrue + ")" +
		"\ntheorem boom : True := True.intro"
}

// structures attack projections and the eta rules.
var structures = []Recipe{
	{Name: "a projection out of a proposition", Attack: "The witness of an existence projected: all proofs are equal, witnesses are not.",
		Text: textLogic + textExists + `
def witness : Exists.{1} Bool (fun (b : Bool) => True) → Bool := fun (h : Exists.{1} Bool (fun (b : Bool) => True)) => proj Exists 0 h
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (witness (Exists.intro.{1} Bool (fun (b : Bool) => True) Bool.true True.intro)))`,
		Want: refused(kernel.InvalidProjection)},
	{Name: "a projection out of a proposition by another name", Attack: "The proposition's universe is Sort (imax 1 0).",
		Text: textLogic + `
@[norec] inductive P : Sort (imax 1 0) | P.mk : Bool → P
def out : P → Bool := fun (p : P) => proj P 0 p` + holdsTrue, MayMismatch: true, Want: refused()},
	{Name: "a projection that depends on data in a proposition", Attack: "The second field's type mentions the hidden witness.",
		Text: textLogic + textExists + `
def property : ∀ (h : Exists.{1} Bool (fun (b : Bool) => Eq.{1} Bool b b)), True := fun (h : Exists.{1} Bool (fun (b : Bool) => Eq.{1} Bool b b)) => (fun (e : Prop) => True.intro) (Eq.{0} True True.intro True.intro)
theorem second : ∀ (h : Exists.{1} Bool (fun (b : Bool) => Eq.{1} Bool b b)), Eq.{1} Bool (proj Exists 0 h) (proj Exists 0 h) := fun (h : Exists.{1} Bool (fun (b : Bool) => Eq.{1} Bool b b)) => proj Exists 1 h` + holdsTrue,
		Want: refused(kernel.InvalidProjection)},
	{Name: "a projection beyond the fields", Attack: "The third field of a pair.",
		Text: textLogic + textPair + `
def out : Pair → Bool := fun (p : Pair) => proj Pair 2 p` + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection far beyond the fields", Attack: "An index that is 0 modulo 2^32.",
		Text: textLogic + textPair + `
def out : Pair → Bool := fun (p : Pair) => proj Pair 4294967296 p` + holdsTrue, Want: notVerified},
	{Name: "a projection from a type with two constructors", Attack: "Or's proof projected: a proof of either side.",
		Text: textLogic + textOr + `
theorem boom : False := proj Or 0 (Or.inr False True True.intro)`, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection from a type without constructors", Attack: "A field of nothing.",
		Text: textLogic + `
def out : False → Bool := fun (h : False) => proj False 0 h` + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection by another structure's name", Attack: "Two structures with one field: the projection of one applied to the other.",
		Text: textLogic + `
inductive A : Type | A.mk : Bool → A
inductive B : Type | B.mk : Bool → B
def out : A → Bool := fun (a : A) => proj B 0 a` + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection from a definition", Attack: "The structure named is a definition that unfolds to one.",
		Text: textLogic + textPair + `
def Couple : Type := Pair
def out : Couple → Bool := fun (p : Couple) => proj Couple 0 p` + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection from a quotient", Attack: "The element of a quotient projected: it would not respect the relation.",
		Text: textLogic + textQuot + `
def out : Quot.{1} Bool (fun (a b : Bool) => True) → Bool := fun (q : Quot.{1} Bool (fun (a b : Bool) => True)) => proj Quot 0 q` + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection from Nat", Attack: "The predecessor as a projection.",
		Text: textLogic + textNat + `
def out : Nat := proj Nat 0 1` + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection of a partly applied constructor", Attack: "The constructor lacks a field.",
		Text: textLogic + textPair + `
def out : Bool := proj Pair 0 (Pair.mk Bool.true)` + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "a projection from an undeclared structure", Attack: "The structure comes later.",
		Text: textLogic + `
def out : Bool := proj Pair 0 Bool.true
` + textPair + holdsTrue, Want: refused(kernel.InvalidProjection)},
	{Name: "fields swapped", Attack: "The first field is the second.",
		Text: textLogic + textPair + differ("proj Pair 0 (Pair.mk Bool.false Bool.true)", "Bool.true"), Want: refused(kernel.TypeMismatch)},
	{Name: "eta of two different values", Attack: "Pair.mk a b equals p only when its fields are p's.",
		Text: textLogic + textPair + `
theorem one : ∀ (p : Pair), Eq.{1} Pair p (Pair.mk (proj Pair 1 p) (proj Pair 0 p)) := fun (p : Pair) => Eq.refl.{1} Pair p` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "eta of a recursive structure", Attack: "A structure that holds itself has no eta.",
		Text: textLogic + `
inductive R : Type | R.mk : R → R
theorem one : ∀ (r : R), Eq.{1} R r (R.mk (proj R 0 r)) := fun (r : R) => Eq.refl.{1} R r` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "eta of an indexed structure", Attack: "A structure with an index has no eta: its constructor does not make every index.",
		Text: textLogic + `
inductive At : Bool → Type | At.mk : At Bool.true
theorem one : ∀ (b : Bool) (x y : At b), Eq.{1} (At b) x y := fun (b : Bool) (x y : At b) => Eq.refl.{1} (At b) x` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "eta of a type with two constructors", Attack: "Bool is no structure: two variables differ.",
		Text: textLogic + `
theorem one : ∀ (x y : Bool), Eq.{1} Bool x y := fun (x y : Bool) => Eq.refl.{1} Bool x` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "unit eta of a type with a field", Attack: "A structure with a field is not a unit.",
		Text: textLogic + `
inductive W : Type | W.mk : Bool → W
theorem one : ∀ (x y : W), Eq.{1} W x y := fun (x y : W) => Eq.refl.{1} W x` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "unit eta across two units", Attack: "The values of two unit types are not of one type.",
		Text: textLogic + `
inductive U : Type | U.mk : U
inductive V : Type | V.mk : V
theorem one : ∀ (u : U), Eq.{1} V V.mk u := fun (u : U) => Eq.refl.{1} V V.mk` + holdsTrue, Want: refused(kernel.ArgumentMismatch)},
	{Name: "unit eta of a definition", Attack: "An opaque type that is a unit inside: outside nobody knows.",
		Text: textLogic + `
inductive U : Type | U.mk : U
opaque T : Type := U
theorem one : ∀ (x y : T), Eq.{1} T x y := fun (x y : T) => Eq.refl.{1} T x` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "proof irrelevance for data", Attack: "Two values of a type that is no proposition.",
		Text: textLogic + `
axiom T : Type
theorem one : ∀ (x y : T), Eq.{1} T x y := fun (x y : T) => Eq.refl.{1} T x` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "proof irrelevance in Sort u", Attack: "Sort u is Prop for u = 0 only.",
		Text: textLogic + `
theorem one.{u} : ∀ (α : Sort u) (x y : α), Eq.{u} α x y := fun (α : Sort u) (x y : α) => Eq.refl.{u} α x` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "proof irrelevance behind a stuck type", Attack: "A type that a recursor chooses between Prop's and Type's members.",
		Text: textLogic + `
opaque which : Bool := Bool.true
def T : Type := Bool.rec.{2} (fun (b : Bool) => Type) Bool Bool which
theorem one : ∀ (x y : T), Eq.{1} T x y := fun (x y : T) => Eq.refl.{1} T x` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "propositions are not proofs", Attack: "Two propositions are no proofs of one thing: True is not False.",
		Text: textLogic + `
theorem one : Eq.{1} Prop True False := Eq.refl.{1} Prop True
theorem boom : False := Eq.rec.{0, 1} Prop True (fun (p : Prop) (h : Eq.{1} Prop True p) => p) True.intro False one`, Want: refused(kernel.TypeMismatch)},
	{Name: "eta of a function that is none", Attack: "fun x => f x equals f; fun x => f true does not.",
		Text: textLogic + `
theorem one : ∀ (f : Bool → Bool), Eq.{1} (Bool → Bool) f (fun (x : Bool) => f Bool.true) := fun (f : Bool → Bool) => Eq.refl.{1} (Bool → Bool) f` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "eta with a captured variable", Attack: "fun x => g x x is not g applied.",
		Text: textLogic + `
theorem one : ∀ (g : Bool → Bool → Bool) (y : Bool), Eq.{1} (Bool → Bool) (g y) (fun (x : Bool) => g x x) := fun (g : Bool → Bool → Bool) (y : Bool) => Eq.refl.{1} (Bool → Bool) (g y)` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "functions of different domains", Attack: "Two constant functions with different domains are of different types.",
		Text: textLogic + `
theorem one : Eq.{2} (Type 0) (True → Bool) (Bool → Bool) := Eq.refl.{2} (Type 0) (True → Bool)` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "K at indices that differ", Attack: "A proof of a = b does not become refl.",
		Text: textLogic + `
def cast : ∀ (a b : Bool), Eq.{1} Bool a b → Bool := fun (a b : Bool) (h : Eq.{1} Bool a b) => Eq.rec.{1, 1} Bool a (fun (c : Bool) (h : Eq.{1} Bool a c) => Bool) Bool.true b h
theorem one : ∀ (a b : Bool) (h : Eq.{1} Bool a b), Eq.{1} Bool (cast a b h) Bool.true := fun (a b : Bool) (h : Eq.{1} Bool a b) => Eq.refl.{1} Bool Bool.true` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "K from an inconsistent hypothesis", Attack: "From h : true = false a cast of types must stay stuck: it would turn a Bool into a function.",
		Text: textLogic + `
def choose : Bool → Type := fun (b : Bool) => Bool.rec.{2} (fun (b : Bool) => Type) Bool (Bool → Bool) b
def cast : Eq.{1} Bool Bool.true Bool.false → (Bool → Bool) → Bool := fun (h : Eq.{1} Bool Bool.true Bool.false) (f : Bool → Bool) =>
  Eq.rec.{1, 1} Bool Bool.true (fun (c : Bool) (h : Eq.{1} Bool Bool.true c) => choose c) f Bool.false h
theorem one : ∀ (h : Eq.{1} Bool Bool.true Bool.false) (f : Bool → Bool), Eq.{1} Bool (cast h f) Bool.true := fun (h : Eq.{1} Bool Bool.true Bool.false) (f : Bool → Bool) => Eq.refl.{1} Bool (cast h f)` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "a theorem of a type that is no proposition", Attack: "A theorem whose type is Bool: unfolding and irrelevance would clash.",
		Text: textLogic + `
theorem boom : Bool := Bool.true`, Want: refused(kernel.TheoremNotProp)},
}

// quotients attack the four built-in constants.
var quotients = []Recipe{
	{Name: "Quot without Eq", Attack: "Quot.lift speaks of an Eq that is not there.", Text: textTrue + textQuot + holdsTrue, Want: refused()},
	{Name: "Quot before Eq", Attack: "Eq is declared after Quot.", Text: textTrue + textQuot + textEq + holdsTrue, Want: refused()},
	{Name: "Quot over an Eq of everything", Attack: "Eq.refl proves any equation: lift would respect nothing.",
		Text: textTrue + `
@[large] inductive Eq.{u} (α : Sort u) (a : α) : α → Prop | Eq.refl : ∀ (b : α), Eq.{u} α a b
` + textQuot + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "Quot over a defined Eq", Attack: "Eq is a definition.",
		Text: textTrue + `
def Eq.{u} : ∀ (α : Sort u), α → α → Prop := fun (α : Sort u) (a b : α) => True
` + textQuot + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "Quot over an Eq with two constructors", Attack: "Eq has one constructor more.",
		Text: textTrue + `
inductive Eq.{u} (α : Sort u) (a : α) : α → Prop | Eq.refl : Eq.{u} α a a | Eq.any : ∀ (b : α), Eq.{u} α a b
` + textQuot + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "Quot over an axiomatic Eq", Attack: "Eq is an axiom.",
		Text: textTrue + `
axiom Eq.{u} : ∀ (α : Sort u), α → α → Prop
` + textQuot + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "lift without a proof", Attack: "Quot.lift needs no proof that the function respects the relation.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
quot ctor Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r
quot lift Quot.lift.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), True → Quot.{u} α r → β` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "lift with a proof of less", Attack: "Quot.lift's hypothesis is about one argument.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
quot ctor Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r
quot lift Quot.lift.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), (∀ (a b : α), r a b → Eq.{v} β (f a) (f a)) → Quot.{u} α r → β` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "kinds swapped", Attack: "Quot is recorded as the constructor and Quot.mk as the type.",
		Text: textLogic + `
quot ctor Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
quot type Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "another name", Attack: "The record's kind is lift and its name is another's.",
		Text: textLogic + `
quot lift cast.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), α → β` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "twice", Attack: "Quot is declared twice.", Text: textLogic + textQuot + textQuot + holdsTrue, Want: refused(kernel.DuplicateDeclaration)},
	{Name: "mk a definition", Attack: "Quot.mk is a definition: the choice of one element for all.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
axiom any.{u} : ∀ (α : Sort u) (r : α → α → Prop), Quot.{u} α r
def Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r := fun (α : Sort u) (r : α → α → Prop) (a : α) => any.{u} α r
quot lift Quot.lift.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), (∀ (a b : α), r a b → Eq.{v} β (f a) (f b)) → Quot.{u} α r → β` + holdsTrue, Want: notVerified},
	{Name: "an inductive Quot with lift of the built-in one", Attack: "Quot is an inductive type, its eliminator the built-in one.",
		Text: textLogic + `
inductive Quot (α : Type) (r : α → α → Prop) : Type | Quot.mk : α → Quot α r
quot lift Quot.lift.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), (∀ (a b : α), r a b → Eq.{v} β (f a) (f b)) → Quot.{u} α r → β` + holdsTrue, Want: refused()},
	{Name: "Quot a definition", Attack: "Quot unfolds to a type of one value; mk, lift and ind are the built-in ones: everything is lifted.",
		Text: textLogic + `
inductive PUnit.{u} : Sort u | PUnit.unit : PUnit.{u}
def Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u := fun (α : Sort u) (r : α → α → Prop) => PUnit.{u}
quot ctor Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r
quot lift Quot.lift.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), (∀ (a b : α), r a b → Eq.{v} β (f a) (f b)) → Quot.{u} α r → β
quot ind Quot.ind.{u} : ∀ (α : Sort u) (r : α → α → Prop) (β : Quot.{u} α r → Prop), (∀ (a : α), β (Quot.mk.{u} α r a)) → ∀ (q : Quot.{u} α r), β q
def anything : ∀ (a b : Bool), False → Eq.{1} Bool a b := fun (a b : Bool) (h : False) => False.rec.{0} (fun (h : False) => Eq.{1} Bool a b) h
def of : Bool → Bool := fun (b : Bool) => Quot.lift.{1, 1} Bool (fun (a b : Bool) => False) Bool (fun (b : Bool) => b) anything (Quot.mk.{1} Bool (fun (a b : Bool) => False) b)
theorem boom : False := trueNotFalse (Eq.rec.{0, 1} (Quot.{1} Bool (fun (a b : Bool) => False)) (Quot.mk.{1} Bool (fun (a b : Bool) => False) Bool.true)
  (fun (q : Quot.{1} Bool (fun (a b : Bool) => False)) (h : Eq.{1} (Quot.{1} Bool (fun (a b : Bool) => False)) (Quot.mk.{1} Bool (fun (a b : Bool) => False) Bool.true) q) => Eq.{1} Bool Bool.true (Quot.lift.{1, 1} Bool (fun (a b : Bool) => False) Bool (fun (b : Bool) => b) anything q))
  (Eq.refl.{1} Bool Bool.true) (Quot.mk.{1} Bool (fun (a b : Bool) => False) Bool.false) (Eq.refl.{1} (Quot.{1} Bool (fun (a b : Bool) => False)) (Quot.mk.{1} Bool (fun (a b : Bool) => False) Bool.true)))`,
		Want: refused(kernel.InvalidQuotient)},
	{Name: "mk a definition, lift and ind built in", Attack: "Quot.mk chooses one element for all.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
axiom any.{u} : ∀ (α : Sort u) (r : α → α → Prop), Quot.{u} α r
def Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r := fun (α : Sort u) (r : α → α → Prop) (a : α) => any.{u} α r
quot ind Quot.ind.{u} : ∀ (α : Sort u) (r : α → α → Prop) (β : Quot.{u} α r → Prop), (∀ (a : α), β (Quot.mk.{u} α r a)) → ∀ (q : Quot.{u} α r), β q` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "a part of the group", Attack: "Quot and Quot.mk without their eliminators: another's Quot.lift may follow.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
quot ctor Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "lift an axiom", Attack: "The group's Quot.lift is an axiom of another type.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
quot ctor Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r
axiom Quot.lift.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v), (α → β) → Quot.{u} α r → β
quot ind Quot.ind.{u} : ∀ (α : Sort u) (r : α → α → Prop) (β : Quot.{u} α r → Prop), (∀ (a : α), β (Quot.mk.{u} α r a)) → ∀ (q : Quot.{u} α r), β q` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "lift computes without mk", Attack: "Quot.lift f h q is stuck on a variable.",
		Text: textLogic + textQuot + `
theorem one : ∀ (q : Quot.{1} Bool (Eq.{1} Bool)), Eq.{1} Bool (Quot.lift.{1, 1} Bool (Eq.{1} Bool) Bool (fun (b : Bool) => Bool.true) (fun (a b : Bool) (h : Eq.{1} Bool a b) => Eq.refl.{1} Bool Bool.true) q) Bool.true :=
  fun (q : Quot.{1} Bool (Eq.{1} Bool)) => Eq.refl.{1} Bool Bool.true` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "two elements of a quotient", Attack: "Related elements are equal by Quot.sound, not by definition.",
		Text: textLogic + textQuot + `
theorem one : Eq.{1} (Quot.{1} Bool (fun (a b : Bool) => True)) (Quot.mk.{1} Bool (fun (a b : Bool) => True) Bool.true) (Quot.mk.{1} Bool (fun (a b : Bool) => True) Bool.false) :=
  Eq.refl.{1} (Quot.{1} Bool (fun (a b : Bool) => True)) (Quot.mk.{1} Bool (fun (a b : Bool) => True) Bool.true)` + holdsTrue, Want: refused(kernel.TypeMismatch)},
	{Name: "universe parameters swapped", Attack: "Quot.lift's parameters are in the other order: a Prop would be lifted to a type.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
quot ctor Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r
quot lift Quot.lift.{v, u} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), (∀ (a b : α), r a b → Eq.{v} β (f a) (f b)) → Quot.{u} α r → β` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
	{Name: "one universe too small", Attack: "Quot of a type in Sort u lives in Prop.",
		Text: textLogic + `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Prop` + holdsTrue, Want: refused(kernel.InvalidQuotient)},
}
