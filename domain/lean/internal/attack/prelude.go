package attack

// Texts that recipes are made of. Each is what the core library declares, in full.
const (
	textFalse = `
inductive False : Prop
`
	textTrue = `
inductive True : Prop | True.intro : True
`
	textNot = `
def Not : Prop → Prop := fun (a : Prop) => a → False
`
	textAnd = `
@[large] inductive And (a b : Prop) : Prop | And.intro : a → b → And a b
`
	textOr = `
inductive Or (a b : Prop) : Prop | Or.inl : a → Or a b | Or.inr : b → Or a b
`
	textIff = `
@[large] inductive Iff (a b : Prop) : Prop | Iff.intro : (a → b) → (b → a) → Iff a b
`
	textExists = `
inductive Exists.{u} (α : Sort u) (p : α → Prop) : Prop | Exists.intro : ∀ (w : α), p w → Exists.{u} α p
`
	textEq = `
inductive Eq.{u} (α : Sort u) (a : α) : α → Prop | Eq.refl : Eq.{u} α a a
`
	textNe = `
def Ne.{u} : ∀ (α : Sort u), α → α → Prop := fun (α : Sort u) (a b : α) => Not (Eq.{u} α a b)
`
	textNonempty = `
inductive Nonempty.{u} (α : Sort u) : Prop | Nonempty.intro : α → Nonempty.{u} α
`
	textBool = `
inductive Bool : Type | Bool.false : Bool | Bool.true : Bool
`
	textNat = `
inductive Nat : Type | Nat.zero : Nat | Nat.succ : Nat → Nat
`
	textDecidable = `
inductive Decidable (p : Prop) : Type | Decidable.isFalse : Not p → Decidable p | Decidable.isTrue : p → Decidable p
`
	textList = `
inductive List.{u} (α : Type u) : Type u | List.nil : List.{u} α | List.cons : α → List.{u} α → List.{u} α
`
	textOfNat = `
inductive OfNat.{u} (α : Type u) (n : Nat) : Type u | OfNat.mk : α → OfNat.{u} α n
def OfNat.ofNat.{u} : ∀ (α : Type u) (n : Nat), OfNat.{u} α n → α :=
  fun (α : Type u) (n : Nat) (self : OfNat.{u} α n) => proj OfNat 0 self
def instOfNatNat : ∀ (n : Nat), OfNat.{0} Nat n := fun (n : Nat) => OfNat.mk.{0} Nat n n
`
	// textChar is a Char of our own: a number. The core library's needs most of the prelude.
	textChar = `
inductive Char : Type | Char.mk : Nat → Char
def Char.ofNat : Nat → Char := fun (n : Nat) => Char.mk n
`
	textString = `
inductive String : Type | String.ofList : List.{0} Char → String
`

	// textLogic is what proofs of False are made with.
	textLogic = textFalse + textTrue + textNot + textAnd + textEq + textBool + `
@[hints=regular] def not : Bool → Bool := fun (b : Bool) => Bool.rec.{1} (fun (x : Bool) => Bool) Bool.true Bool.false b
theorem trueNotFalse : Eq.{1} Bool Bool.true Bool.false → False :=
  fun (h : Eq.{1} Bool Bool.true Bool.false) => Eq.rec.{0, 1} Bool Bool.true
    (fun (b : Bool) (h : Eq.{1} Bool Bool.true b) => Bool.rec.{1} (fun (x : Bool) => Prop) False True b) True.intro Bool.false h
theorem falseNotTrue : Eq.{1} Bool Bool.false Bool.true → False :=
  fun (h : Eq.{1} Bool Bool.false Bool.true) => Eq.rec.{0, 1} Bool Bool.false
    (fun (b : Bool) (h : Eq.{1} Bool Bool.false b) => Bool.rec.{1} (fun (x : Bool) => Prop) True False b) True.intro Bool.true h
theorem noFixpoint : ∀ (b : Bool), Eq.{1} Bool b (not b) → False :=
  fun (b : Bool) => Bool.rec.{0} (fun (b : Bool) => Eq.{1} Bool b (not b) → False) falseNotTrue trueNotFalse b
`
	textNatLogic = `
theorem zeroNotSucc : ∀ (n : Nat), Eq.{1} Nat Nat.zero (Nat.succ n) → False :=
  fun (n : Nat) (h : Eq.{1} Nat Nat.zero (Nat.succ n)) => Eq.rec.{0, 1} Nat Nat.zero
    (fun (m : Nat) (h : Eq.{1} Nat Nat.zero m) => Nat.rec.{1} (fun (x : Nat) => Prop) True (fun (k : Nat) (ih : Prop) => False) m)
    True.intro (Nat.succ n) h
`
	textQuot = `
quot type Quot.{u} : ∀ (α : Sort u), (α → α → Prop) → Sort u
quot ctor Quot.mk.{u} : ∀ (α : Sort u) (r : α → α → Prop), α → Quot.{u} α r
quot lift Quot.lift.{u, v} : ∀ (α : Sort u) (r : α → α → Prop) (β : Sort v) (f : α → β), (∀ (a b : α), r a b → Eq.{v} β (f a) (f b)) → Quot.{u} α r → β
quot ind Quot.ind.{u} : ∀ (α : Sort u) (r : α → α → Prop) (β : Quot.{u} α r → Prop), (∀ (a : α), β (Quot.mk.{u} α r a)) → ∀ (q : Quot.{u} α r), β q
`
	textAddNat = `
def Nat.add : Nat → Nat → Nat := fun (x y : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) x (fun (n : Nat) (ih : Nat) => Nat.succ ih) y
`
)
