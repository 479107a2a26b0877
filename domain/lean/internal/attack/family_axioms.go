package attack

// hidden reaches the axiom evil, which proves everything, in a place that a checker may overlook.
const textEvil = `
axiom evil : Bool
`

var axioms = []Recipe{
	{Name: "in the value of List.nil", Attack: "Only a string literal speaks of List.nil, whose value is the axiom (the issue's finding 2).",
		Text: textLogic + textNat + textEvil + constantList + anyChar + textString + constantCons + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => evil
theorem boom : Eq.{1} String "" "" := Eq.refl.{1} String ""`, Want: reaches("evil")},
	{Name: "in the value of List.cons", Attack: "Only a string literal speaks of List.cons, whose value is the axiom.",
		Text: textLogic + textNat + textEvil + constantList + anyChar + textString + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
def List.cons.{u} : ∀ (α : Type u), α → List.{u} α → List.{u} α := fun (α : Type u) (a : α) (l : List.{u} α) => evil
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("evil")},
	{Name: "List.nil itself", Attack: "List.nil is the axiom.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
axiom List.nil.{u} : ∀ (α : Type u), List.{u} α
theorem boom : Eq.{1} String "" "" := Eq.refl.{1} String ""`, Want: reaches("List.nil")},
	{Name: "List.cons itself", Attack: "List.cons is the axiom.",
		Text: textLogic + textNat + constantList + anyChar + textString + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
axiom List.cons.{u} : ∀ (α : Type u), α → List.{u} α → List.{u} α
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("List.cons")},
	{Name: "in a proof about a literal", Attack: `List.nil's value is an axiom of False applied; a projection of "" reaches it.`,
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
axiom wrong : False
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => False.rec.{1} (fun (h : False) => Bool) wrong
theorem boom : Eq.{1} Bool (proj String 0 "") (proj String 0 "") := Eq.refl.{1} Bool (proj String 0 "")`, Want: reaches("wrong")},
	{Name: "in the value of Char.ofNat", Attack: "Char.ofNat's value holds the axiom.",
		Text: textLogic + textNat + textEvil + textList + `inductive Char : Type | Char.mk : Bool → Char
def Char.ofNat : Nat → Char := fun (n : Nat) => Char.mk evil
` + textString + `
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("evil")},
	{Name: "Char itself", Attack: "Char is an axiom, and so is Char.ofNat.",
		Text: textLogic + textNat + textList + `axiom Char : Type
axiom Char.ofNat : Nat → Char
` + textString + `
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("Char", "Char.ofNat")},
	{Name: "in the type of String", Attack: "String's constructor takes a further hypothesis about the axiom; the maker is a definition.",
		Text: textLogic + textNat + textEvil + textList + textChar + `
inductive String : Type | String.own : Eq.{1} Bool evil evil → String
def String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => String.own (Eq.refl.{1} Bool evil)
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("evil")},
	{Name: "in the maker", Attack: "String.mk's value holds the axiom.",
		Text: textLogic + textNat + textEvil + textList + textChar + ownString + `
def String.mk : List.{0} Char → String := fun (l : List.{0} Char) => String.own evil
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("evil")},
	{Name: "in the type of a literal's statement only", Attack: "The literal stands in the type, the proof is another theorem.",
		Text: textLogic + textNat + textEvil + constantList + anyChar + textString + constantCons + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => evil
theorem self : ∀ (s : String), Eq.{1} String s s := fun (s : String) => Eq.refl.{1} String s
theorem boom : Eq.{1} String "" "" := self ""`, Want: reaches("evil")},
	{Name: "in an operation that is computed", Attack: "Nat.add carries the axiom as an argument nothing depends on; its equations hold, so it is computed without looking inside.",
		Text: textArithmetic + textEvil + `
def Nat.add : Nat → Nat → Nat := fun (x y : Nat) => (fun (b : Bool) => plainAdd x y) evil
theorem boom : Eq.{1} Nat (Nat.add 2 2) 4 := Eq.refl.{1} Nat 4`, Want: reaches("evil")},
	{Name: "in an opaque value", Attack: "An opaque constant's value is never seen, but it is why the constant exists.",
		Text: textLogic + textEvil + `
opaque hidden : Bool := evil
theorem boom : Eq.{1} Bool hidden hidden := Eq.refl.{1} Bool hidden`, Want: reaches("evil")},
	{Name: "in an opaque proof", Attack: "A proof of False is an opaque constant.",
		Text: textLogic + `
axiom wrong : False
opaque hidden : False := wrong
theorem boom : False := hidden`, Want: reaches("wrong")},
	{Name: "in a constructor's type", Attack: "A type's constructor mentions the axiom; only the type is used.",
		Text: textLogic + textEvil + `
inductive S : Type | S.mk : Eq.{1} Bool evil Bool.true → S
theorem boom : ∀ (s : S), Eq.{1} S s s := fun (s : S) => Eq.refl.{1} S s`, Want: reaches("evil")},
	{Name: "in another type of the block", Attack: "The axiom is in the constructor of the other type of a mutual block.",
		Text: textLogic + textEvil + `
mutual
inductive S : Type | S.mk : S
inductive R : Type | R.mk : Eq.{1} Bool evil Bool.true → S → R
end
theorem boom : Eq.{1} S S.mk S.mk := Eq.refl.{1} S S.mk`, Want: reaches("evil")},
	{Name: "in the index of a type", Attack: "An inductive type's own type mentions the axiom.",
		Text: textLogic + textEvil + `
inductive S : Eq.{1} Bool evil evil → Type | S.mk : ∀ (h : Eq.{1} Bool evil evil), S h
theorem boom : True := (fun (f : ∀ (h : Bool), Bool) => True.intro) (fun (h : Bool) => (fun (T : Type) => h) (∀ (e : Eq.{1} Bool evil evil), S e))`, Want: reaches("evil")},
	{Name: "in the type of a projection's structure", Attack: "A projection names its structure and nothing else does.",
		Text: textLogic + textEvil + `
inductive S : Type | S.mk : ∀ (b : Bool), Eq.{1} Bool evil evil → S
opaque s : S := S.mk Bool.true (Eq.refl.{1} Bool evil)
theorem boom : Eq.{1} Bool (proj S 0 s) (proj S 0 s) := Eq.refl.{1} Bool (proj S 0 s)`, Want: reaches("evil")},
	{Name: "in a binder's type", Attack: "The axiom stands in the type of a binder that is not used.",
		Text: textLogic + textEvil + `
theorem boom : True := (fun (h : Eq.{1} Bool evil evil) => True.intro) (Eq.refl.{1} Bool evil)`, Want: reaches("evil")},
	{Name: "in the value of a let", Attack: "The axiom is bound by a let that is not used.",
		Text: textLogic + textEvil + `
theorem boom : True := let b : Bool := evil; True.intro`, Want: reaches("evil")},
	{Name: "in the type of a let", Attack: "The axiom is in the type of a let that is not used.",
		Text: textLogic + textEvil + `
theorem boom : True := let h : Eq.{1} Bool evil evil := Eq.refl.{1} Bool evil; True.intro`, Want: reaches("evil")},
	{Name: "in the body of a let, three deep", Attack: "The axiom is several lets and binders deep.",
		Text: textLogic + textEvil + `
theorem boom : True := let a : Bool := Bool.true; (fun (x : Bool) => let c : Bool := (let d : Bool := evil; x); True.intro) a`, Want: reaches("evil")},
	{Name: "in a statement only", Attack: "The axiom stands in the theorem's type, not in its proof.",
		Text: textLogic + textEvil + `
theorem all : ∀ (b : Bool), Eq.{1} Bool b b := fun (b : Bool) => Eq.refl.{1} Bool b
theorem boom : Eq.{1} Bool evil evil := all evil`, Want: reaches("evil")},
	{Name: "by way of a theorem", Attack: "The proof uses a theorem whose proof uses a theorem that uses the axiom.",
		Text: textLogic + `
axiom wrong : False
theorem one : False := wrong
theorem two : True → False := fun (t : True) => one
theorem boom : False := two True.intro`, Want: reaches("wrong")},
	{Name: "by way of a recursor", Attack: "Only the recursor of a type whose constructor mentions the axiom is used.",
		Text: textLogic + textEvil + `
inductive S : Type | S.mk : Eq.{1} Bool evil evil → S
opaque s : S := S.mk (Eq.refl.{1} Bool evil)
theorem boom : Eq.{1} Bool (S.rec.{1} (fun (s : S) => Bool) (fun (h : Eq.{1} Bool evil evil) => Bool.true) s) Bool.true := Eq.refl.{1} Bool Bool.true`, Want: reaches("evil")},
	{Name: "in a definition that is ignored", Attack: "A definition takes the axiom as an argument and drops it.",
		Text: textLogic + textEvil + `
def drop : Bool → True := fun (b : Bool) => True.intro
def kept : True := drop evil
theorem boom : True := kept`, Want: reaches("evil")},
	{Name: "an axiom called like a theorem of the core", Attack: "Eq.symm is an axiom: known names are no licence.",
		Text: textLogic + `
axiom Eq.symm.{u} : ∀ (α : Sort u) (a b : α), Eq.{u} α a b → Eq.{u} α b a
theorem boom : Eq.{1} Bool Bool.true Bool.true := Eq.symm.{1} Bool Bool.true Bool.true (Eq.refl.{1} Bool Bool.true)`, Want: allOf(reaches("Eq.symm"), notVerified)},
	{Name: "an axiom with an empty name", Attack: "The axiom's name is one empty component.",
		Text: textLogic + `
axiom «» : False
theorem boom : False := «»`, Want: allOf(reaches("«»"), notVerified)},
	{Name: "an axiom with an invisible name", Attack: "The axiom is called like the core's, with a zero-width space.",
		Text: textLogic + textIff + `
axiom «propext\u200b» : False
theorem boom : False := «propext\u200b»`, Want: notVerified},
	{Name: "an axiom that is unsafe", Attack: "An unsafe axiom is not to be used by what is safe.",
		Text: textLogic + `
@[unsafe] axiom evil : False
theorem boom : False := evil`, Want: notVerified},
	{Name: "sorryAx", Attack: "The axiom behind sorry.",
		Text: textLogic + `
axiom sorryAx.{u} : ∀ (α : Sort u), Bool → α
theorem boom : False := sorryAx.{0} False Bool.true`, Want: allOf(reaches("sorryAx"), notVerified)},
	{Name: "sorryAx as a definition", Attack: "sorryAx is a theorem of another type: it is no sorry, and nothing is wrong with it but its name.",
		Text: textLogic + `
theorem sorryAx : True := True.intro
theorem boom : False := sorryAx`, Want: refused()},
}

// fakeLogic declares what the core axioms speak of, each part of it replaceable.
func fakeLogic(eq, iff, nonempty string) string {
	return textFalse + textTrue + textNot + textAnd + eq + textBool + iff + nonempty
}

const (
	trivialIff = `
inductive Iff (a b : Prop) : Prop | Iff.intro : Iff a b
`
	trivialNonempty = `
inductive Nonempty.{u} (α : Sort u) : Prop | Nonempty.intro : Nonempty.{u} α
`
	propext = `
axiom propext : ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b
`
	choice = `
axiom Classical.choice.{u} : ∀ (α : Sort u), Nonempty.{u} α → α
`
	quotSound = `
axiom Quot.sound.{u} : ∀ (α : Sort u) (r : α → α → Prop) (a b : α), r a b → Eq.{u} (Quot.{u} α r) (Quot.mk.{u} α r a) (Quot.mk.{u} α r b)
`
	falseByPropext = `
theorem boom : False := Eq.rec.{0, 1} Prop True (fun (p : Prop) (h : Eq.{1} Prop True p) => p) True.intro False (propext True False (Iff.intro True False))
`
)

// coreAxiomRecipes forge the six axioms of the core library, or what they speak of.
var coreAxiomRecipes = []Recipe{
	{Name: "propext over a trivial Iff", Attack: "Iff holds of any two propositions; propext has the core's type in words.",
		Text: fakeLogic(textEq, trivialIff, "") + propext + falseByPropext, Want: unsupported("Iff", "propext")},
	{Name: "propext over a defined Iff", Attack: "Iff is a definition that drops its arguments.",
		Text: fakeLogic(textEq, `
def Iff : Prop → Prop → Prop := fun (a b : Prop) => True
theorem Iff.intro : ∀ (a b : Prop), Iff a b := fun (a b : Prop) => True.intro
`, "") + propext + falseByPropext, Want: unsupported("Iff", "propext")},
	{Name: "propext over one direction", Attack: "Iff is implication: a proposition that follows from another would equal it.",
		Text: fakeLogic(textEq, `
@[large] inductive Iff (a b : Prop) : Prop | Iff.intro : (b → a) → Iff a b
`, "") + propext + `
theorem boom : False := Eq.rec.{0, 1} Prop True (fun (p : Prop) (h : Eq.{1} Prop True p) => p) True.intro False (propext True False (Iff.intro True False (fun (h : False) => True.intro)))`,
		Want: unsupported("Iff", "propext")},
	{Name: "propext of another type", Attack: "propext says that any two propositions are equal.",
		Text: fakeLogic(textEq, textIff, "") + `
axiom propext : ∀ (a b : Prop), Eq.{1} Prop a b
theorem boom : False := Eq.rec.{0, 1} Prop True (fun (p : Prop) (h : Eq.{1} Prop True p) => p) True.intro False (propext True False)`,
		Want: unsupported("propext")},
	{Name: "propext with a universe parameter", Attack: "propext has a parameter too many.",
		Text: fakeLogic(textEq, textIff, "") + `
axiom propext.{u} : ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b
theorem boom : True := (fun (h : ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b) => True.intro) propext.{0}`,
		Want: unsupported("propext")},
	{Name: "propext over another Eq", Attack: "Eq holds of any two things; propext then says nothing, and statements with = say nothing.",
		Text: textFalse + textTrue + textNot + textAnd + `
@[large] inductive Eq.{u} (α : Sort u) (a : α) : α → Prop | Eq.refl : ∀ (b : α), Eq.{u} α a b
` + textBool + `
theorem boom : Eq.{1} Bool Bool.true Bool.false := Eq.refl.{1} Bool Bool.true Bool.false`, Want: unsupported("Eq")},
	{Name: "Eq a definition", Attack: "Eq is a definition that holds of everything.",
		Text: textTrue + textBool + `
def Eq.{u} : ∀ (α : Sort u), α → α → Prop := fun (α : Sort u) (a b : α) => True
theorem boom : Eq.{1} Bool Bool.true Bool.false := True.intro`, Want: unsupported("Eq")},
	{Name: "False inhabited", Attack: "False has a constructor.",
		Text: `
inductive False : Prop | False.intro : False
theorem boom : False := False.intro`, Want: unsupported("False")},
	{Name: "False a definition", Attack: "False is True by definition.",
		Text: textTrue + `
def False : Prop := True
theorem boom : False := True.intro`, Want: unsupported("False")},
	{Name: "Not a definition that drops", Attack: "Not holds of everything.",
		Text: textTrue + `
def Not : Prop → Prop := fun (p : Prop) => True
theorem boom : Not True := True.intro`, Want: unsupported("Not")},
	{Name: "Not of another type", Attack: "Not takes two propositions.",
		Text: textTrue + `
def Not : Prop → Prop → Prop := fun (p q : Prop) => True
theorem boom : Not True True := True.intro`, Want: unsupported("Not")},
	{Name: "And with one part", Attack: "And is proved by its left part.",
		Text: textFalse + textTrue + `
@[large] inductive And (a b : Prop) : Prop | And.intro : a → And a b
theorem boom : And True False := And.intro True False True.intro`, Want: unsupported("And")},
	{Name: "Or with a third constructor", Attack: "Or is proved by nothing.",
		Text: textFalse + `
inductive Or (a b : Prop) : Prop | Or.inl : a → Or a b | Or.inr : b → Or a b | Or.both : Or a b
theorem boom : Or False False := Or.both False False`, Want: unsupported("Or")},
	{Name: "Exists without a proof", Attack: "Exists takes a witness of which nothing is known.",
		Text: textFalse + textBool + `
inductive Exists.{u} (α : Sort u) (p : α → Prop) : Prop | Exists.intro : α → Exists.{u} α p
theorem boom : Exists.{1} Bool (fun (b : Bool) => False) := Exists.intro.{1} Bool (fun (b : Bool) => False) Bool.true`, Want: unsupported("Exists")},
	{Name: "Exists without a witness", Attack: "Exists holds of all types.",
		Text: textFalse + `
inductive Exists.{u} (α : Sort u) (p : α → Prop) : Prop | Exists.intro : Exists.{u} α p
theorem boom : Exists.{0} False (fun (b : False) => False) := Exists.intro.{0} False (fun (b : False) => False)`, Want: unsupported("Exists")},
	{Name: "Ne a definition that drops", Attack: "Ne holds of everything.",
		Text: textLogic + `
def Ne.{u} : ∀ (α : Sort u), α → α → Prop := fun (α : Sort u) (a b : α) => True
theorem boom : Ne.{1} Bool Bool.true Bool.true := True.intro`, Want: unsupported("Ne")},
	{Name: "HEq that is Eq of types", Attack: "HEq holds where the types are equal.",
		Text: textLogic + `
inductive HEq.{u} (α : Sort u) (a : α) (β : Sort u) (b : β) : Prop | HEq.refl : HEq.{u} α a β b
theorem boom : HEq.{1} Bool Bool.true Bool Bool.false := HEq.refl.{1} Bool Bool.true Bool Bool.false`, Want: unsupported("HEq")},
	{Name: "choice over a trivial Nonempty", Attack: "Everything is Nonempty; Classical.choice has the core's type in words.",
		Text: fakeLogic(textEq, "", trivialNonempty) + choice + `
theorem boom : False := Classical.choice.{0} False (Nonempty.intro.{0} False)`, Want: unsupported("Nonempty", "Classical.choice")},
	{Name: "choice over a defined Nonempty", Attack: "Nonempty is a definition.",
		Text: textFalse + textTrue + `
def Nonempty.{u} : Sort u → Prop := fun (α : Sort u) => True
` + choice + `
theorem boom : False := Classical.choice.{0} False True.intro`, Want: unsupported("Nonempty", "Classical.choice")},
	{Name: "choice of another type", Attack: "Classical.choice gives an element of anything.",
		Text: textFalse + `
axiom Classical.choice.{u} : ∀ (α : Sort u), α
theorem boom : False := Classical.choice.{0} False`, Want: unsupported("Classical.choice")},
	{Name: "choice by one component", Attack: "The axiom's name is one component with a dot in it and prints as the core's.",
		Text: textFalse + `
axiom «Classical.choice».{u} : ∀ (α : Sort u), α
theorem boom : False := «Classical.choice».{0} False`, Want: notVerified},
	{Name: "choice by one component with the core's type", Attack: "The axiom has the core's type but is not the core's: its name is one component.",
		Text: textFalse + textNonempty + `
axiom «Classical.choice».{u} : ∀ (α : Sort u), Nonempty.{u} α → α
axiom given : Nonempty.{0} False
theorem boom : Nonempty.{0} False → False := fun (h : Nonempty.{0} False) => «Classical.choice».{0} False h`, Want: notVerified},
	{Name: "choice with another name's sum", Attack: "Classical.choice by a numeric component: Classical.«#5».",
		Text: textFalse + `
axiom Classical.«#5».{u} : ∀ (α : Sort u), α
theorem boom : False := Classical.«#5».{0} False`, Want: notVerified},
	{Name: "Quot.sound over an inductive Quot", Attack: "Quot is an inductive type whose constructor is injective: Quot.sound of the core's type proves False.",
		Text: textLogic + `
inductive Quot.{u} (α : Sort u) (r : α → α → Prop) : Sort (max 1 u) | Quot.mk : α → Quot.{u} α r
axiom Quot.sound : ∀ (α : Type) (r : α → α → Prop) (a b : α), r a b → Eq.{1} (Quot.{1} α r) (Quot.mk.{1} α r a) (Quot.mk.{1} α r b)
theorem boom : False := trueNotFalse (Eq.rec.{0, 1} (Quot.{1} Bool (fun (a b : Bool) => True)) (Quot.mk.{1} Bool (fun (a b : Bool) => True) Bool.true)
  (fun (q : Quot.{1} Bool (fun (a b : Bool) => True)) (h : Eq.{1} (Quot.{1} Bool (fun (a b : Bool) => True)) (Quot.mk.{1} Bool (fun (a b : Bool) => True) Bool.true) q) => Eq.{1} Bool Bool.true (proj Quot 0 q))
  (Eq.refl.{1} Bool Bool.true) (Quot.mk.{1} Bool (fun (a b : Bool) => True) Bool.false)
  (Quot.sound Bool (fun (a b : Bool) => True) Bool.true Bool.false True.intro))`, Want: unsupported("Quot", "Quot.mk", "Quot.sound")},
	{Name: "Quot.sound over a defined Quot", Attack: "Quot is a definition: the type itself.",
		Text: textLogic + `
def Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u := fun (α : Sort u) (r : α → α → Prop) => α
def Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r := fun (α : Sort u) (r : α → α → Prop) (a : α) => a
` + quotSound + `
theorem boom : False := trueNotFalse (Quot.sound.{1} Bool (fun (a b : Bool) => True) Bool.true Bool.false True.intro)`, Want: unsupported("Quot", "Quot.mk", "Quot.sound")},
	{Name: "Quot.sound without the relation", Attack: "Quot.sound needs no proof that the two are related.",
		Text: textLogic + textQuot + `
axiom Quot.sound.{u} : ∀ (α : Sort u) (r : α → α → Prop) (a b : α), Eq.{u} (Quot.{u} α r) (Quot.mk.{u} α r a) (Quot.mk.{u} α r b)
theorem boom : False := trueNotFalse (Eq.rec.{0, 1} (Quot.{1} Bool (Eq.{1} Bool)) (Quot.mk.{1} Bool (Eq.{1} Bool) Bool.true)
  (fun (q : Quot.{1} Bool (Eq.{1} Bool)) (h : Eq.{1} (Quot.{1} Bool (Eq.{1} Bool)) (Quot.mk.{1} Bool (Eq.{1} Bool) Bool.true) q) =>
    Eq.{1} Bool Bool.true (Quot.lift.{1, 1} Bool (Eq.{1} Bool) Bool (fun (b : Bool) => b) (fun (a b : Bool) (h : Eq.{1} Bool a b) => h) q))
  (Eq.refl.{1} Bool Bool.true) (Quot.mk.{1} Bool (Eq.{1} Bool) Bool.false) (Quot.sound.{1} Bool (Eq.{1} Bool) Bool.true Bool.false))`,
		Want: unsupported("Quot.sound")},
	{Name: "ofReduceBool over a definition", Attack: "Lean.reduceBool is a definition that says true.",
		Text: textLogic + `
def Lean.reduceBool : Bool → Bool := fun (b : Bool) => Bool.true
axiom Lean.ofReduceBool : ∀ (a b : Bool), Eq.{1} Bool (Lean.reduceBool a) b → Eq.{1} Bool a b
theorem boom : False := falseNotTrue (Lean.ofReduceBool Bool.false Bool.true (Eq.refl.{1} Bool Bool.true))`, Want: unsupported("Lean.reduceBool", "Lean.ofReduceBool")},
	{Name: "ofReduceBool over an axiom", Attack: "Lean.reduceBool is an axiom.",
		Text: textLogic + `
axiom Lean.reduceBool : Bool → Bool
axiom Lean.ofReduceBool : ∀ (a b : Bool), Eq.{1} Bool (Lean.reduceBool a) b → Eq.{1} Bool a b
theorem boom : Eq.{1} Bool Bool.true Bool.true := Eq.refl.{1} Bool (Lean.reduceBool Bool.true)`, Want: notVerified},
	{Name: "reduceBool of what is stuck", Attack: "Lean.reduceBool of an axiom is not computed.",
		Text: textLogic + textEvil + `
opaque Lean.reduceBool : Bool → Bool := fun (b : Bool) => b
theorem boom : Eq.{1} Bool (Lean.reduceBool evil) Bool.true := Eq.refl.{1} Bool Bool.true`, Want: refused()},
	{Name: "reduceBool that negates", Attack: "Lean.reduceBool is opaque with another value than the identity; it must not be computed as what it says it is not.",
		Text: textLogic + `
opaque Lean.reduceBool : Bool → Bool := not
theorem boom : Eq.{1} Bool (Lean.reduceBool Bool.true) Bool.false := Eq.refl.{1} Bool Bool.false`, Want: refused()},
	{Name: "reduceBool that negates, as the identity", Attack: "Lean.reduceBool is opaque with another value than the identity; it must not be computed as what it says it is not.",
		Text: textLogic + `
opaque Lean.reduceBool : Bool → Bool := not
def no : Bool := Bool.false
theorem boom : Eq.{1} Bool (Lean.reduceBool no) Bool.false := Eq.refl.{1} Bool Bool.false`, Want: refused()},
	{Name: "reduceBool over swapped Bool", Attack: "Bool has another order; Lean.reduceBool must not be computed by name.",
		Text: textFalse + textEq + `inductive Bool : Type | Bool.true : Bool | Bool.false : Bool
opaque Lean.reduceBool : Bool → Bool := fun (b : Bool) => Bool.true
def something : Bool := Bool.false
theorem boom : Eq.{1} Bool (Lean.reduceBool something) Bool.false := Eq.refl.{1} Bool Bool.false`, Want: notVerified},
	{Name: "reduceNat over own arithmetic", Attack: "Lean.reduceNat computes a definition that adds with the file's own Nat.add.",
		Text: textArithmetic + `
def Nat.add : Nat → Nat → Nat := fun (x y : Nat) => 5
def sum : Nat := Nat.add 2 2
opaque Lean.reduceNat : Nat → Nat := fun (n : Nat) => n
theorem boom : Eq.{1} Nat (Lean.reduceNat sum) 4 := Eq.refl.{1} Nat 4`, Want: refused()},
	{Name: "trustCompiler over a False True", Attack: "True has no constructor: the axiom that says it holds proves False.",
		Text: textFalse + `
inductive True : Prop
axiom Lean.trustCompiler : True
theorem boom : False := True.rec.{0} (fun (t : True) => False) Lean.trustCompiler`, Want: unsupported("True", "Lean.trustCompiler")},
	{Name: "trustCompiler of False", Attack: "The axiom says False.",
		Text: textFalse + `
axiom Lean.trustCompiler : False
theorem boom : False := Lean.trustCompiler`, Want: unsupported("Lean.trustCompiler")},
	{Name: "Decidable without proofs", Attack: "Decidable's constructors hold nothing: isTrue decides False.",
		Text: textLogic + `
inductive Decidable (p : Prop) : Type | Decidable.isFalse : Decidable p | Decidable.isTrue : Decidable p
def Decidable.decide : ∀ (p : Prop), Decidable p → Bool := fun (p : Prop) (d : Decidable p) => Decidable.rec.{1} p (fun (d : Decidable p) => Bool) Bool.false Bool.true d
theorem boom : Eq.{1} Bool (Decidable.decide False (Decidable.isTrue False)) Bool.true := Eq.refl.{1} Bool Bool.true`, Want: unsupported("Decidable", "Decidable.decide")},
	{Name: "Decidable swapped", Attack: "Decidable's constructors stand in the other order; the recursor's premises with them.",
		Text: textLogic + `
inductive Decidable (p : Prop) : Type | Decidable.isTrue : p → Decidable p | Decidable.isFalse : Not p → Decidable p
theorem boom : ∀ (p : Prop), p → Decidable p → True := fun (p : Prop) (h : p) (d : Decidable p) => True.intro`, Want: unsupported("Decidable")},
	{Name: "Decidable.decide forged", Attack: "decide says true of everything; decide p = true reads as a proof of p.",
		Text: textLogic + textDecidable + `
def Decidable.decide : ∀ (p : Prop), Decidable p → Bool := fun (p : Prop) (d : Decidable p) => Bool.true
def instDecidableFalse : Decidable False := Decidable.isFalse False (fun (h : False) => h)
theorem boom : Eq.{1} Bool (Decidable.decide False instDecidableFalse) Bool.true := Eq.refl.{1} Bool Bool.true`, Want: shown("Decidable.decide")},
	{Name: "of_decide_eq_true forged", Attack: "The theorem that turns decide p = true into p is an axiom.",
		Text: textLogic + textDecidable + `
axiom of_decide_eq_true : ∀ (p : Prop), Decidable p → True → p
theorem boom : False := of_decide_eq_true False (Decidable.isFalse False (fun (h : False) => h)) True.intro`, Want: allOf(reaches("of_decide_eq_true"), notVerified)},
	{Name: "of_decide_eq_true over a forged decide", Attack: "The theorem is a theorem whose type does not say p.",
		Text: textLogic + textDecidable + `
def Decidable.decide : ∀ (p : Prop), Decidable p → Bool := fun (p : Prop) (d : Decidable p) => Bool.true
theorem of_decide_eq_true : ∀ (p : Prop) (d : Decidable p), Eq.{1} Bool (Decidable.decide p d) Bool.true → p :=
  fun (p : Prop) (d : Decidable p) (h : Eq.{1} Bool (Decidable.decide p d) Bool.true) => Decidable.rec.{0} p (fun (d : Decidable p) => p) (fun (n : Not p) => n h) (fun (h : p) => h) d
theorem boom : False := of_decide_eq_true False (Decidable.isFalse False (fun (h : False) => h)) (Eq.refl.{1} Bool Bool.true)`, Want: refused()},
}
