package attack

// controls are right files: they show that the language, the derived recursors and the texts the attacks are made of are
// what they seem, so that an attack is refused for what is attacked.
var controls = []Recipe{
	{Name: "logic", Attack: "nothing: the texts of the core library are accepted and conform",
		Text: textLogic + textOr + textIff + textExists + textNe + textNonempty + textDecidable + textNat + textList + textOfNat + textNatLogic + textQuot + `
theorem boom : Eq.{1} Nat (OfNat.ofNat.{0} Nat 2 (instOfNatNat 2)) (OfNat.ofNat.{0} Nat 2 (instOfNatNat 2)) := Eq.refl.{1} Nat 2`,
		Want: verified("2 = 2")},
	{Name: "strings", Attack: "nothing: a literal equals what it stands for",
		Text: textLogic + textNat + textList + textChar + textString + `
theorem boom : Eq.{1} String "a" (String.ofList (List.cons.{0} Char (Char.ofNat 97) (List.nil.{0} Char))) := Eq.refl.{1} String "a"`,
		Want: accepted},
	{Name: "derived recursors", Attack: "nothing: indexed, reflexive, mutual and parameterised types have the recursors the kernel derives",
		Text: textLogic + `
inductive Vec.{u} (α : Type u) : Bool → Type u | Vec.nil : Vec.{u} α Bool.false | Vec.cons : ∀ (b : Bool), α → Vec.{u} α b → Vec.{u} α (not b)
inductive Tree (α : Type) : Type | Tree.leaf : Tree α | Tree.node : (α → Tree α) → Tree α
mutual
inductive Even (α : Type) : Type | Even.zero : Even α | Even.succ : Odd α → Even α
inductive Odd (α : Type) : Type | Odd.succ : α → Even α → Odd α
end
@[large] inductive Acc.{u} (α : Sort u) (r : α → α → Prop) : α → Prop
| Acc.intro : ∀ (x : α), (∀ (y : α), r y x → Acc.{u} α r y) → Acc.{u} α r x
theorem boom : True := True.intro`, Want: accepted},
	{Name: "noFixpoint", Attack: "nothing: the lemmas that turn two equal things into False hold",
		Text: textLogic, Ask: "noFixpoint", Want: accepted},
}
