package attack

import "reckon/domain/lean/kernel"

// cyclic is List.nil (or another part) defined by the literal that stands for it.
const (
	constantList = `def List.{u} : Type u → Type := fun (α : Type u) => Bool
`
	anyChar = `inductive Char : Type | Char.mk : Char
def Char.ofNat : Nat → Char := fun (n : Nat) => Char.mk
`
	constantCons = `def List.cons.{u} : ∀ (α : Type u), α → List.{u} α → List.{u} α := fun (α : Type u) (a : α) (l : List.{u} α) => l
`
)

const fixpointOfNil = `
theorem boom : False := noFixpoint (List.nil.{0} Char) (Eq.refl.{1} Bool (List.nil.{0} Char))`

// stepwise proves False from nil, which is what the literal holds, and is the negation of what the literal holds: each
// step is one unfolding, so that the cycle is never run through.
func stepwise(nil, held string) string {
	return `
theorem holds : Eq.{1} Bool (` + held + `) (` + nil + `) := Eq.refl.{1} Bool (` + nil + `)
theorem unfolds : Eq.{1} Bool (` + nil + `) (not (` + held + `)) := Eq.refl.{1} Bool (not (` + held + `))
theorem boom : False := noFixpoint (` + nil + `) (Eq.rec.{0, 1} Bool (` + held + `)
  (fun (b : Bool) (h : Eq.{1} Bool (` + held + `) b) => Eq.{1} Bool (` + nil + `) (not b)) unfolds (` + nil + `) holds)`
}

// literals attack what a literal stands for: Nat, Char, List and the makers of strings.
var literals = []Recipe{
	{Name: "List.nil by a string literal",
		Attack: `List is a constant family, String.ofList a genuine constructor, and List.nil is the negation of what "" holds, which is List.nil: a definition of itself. The kernel has to refuse it.`,
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => not (proj String 0 "")` + fixpointOfNil,
		Want: refused()},
	{Name: "List.nil by a string literal, one step at a time",
		Attack: "The same with a proof that unfolds once on each side, so that no checker runs out of anything: the issue's finding 1.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
@[hints=regular] def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => not (proj String 0 "")` + stepwise("List.nil.{0} Char", `proj String 0 ""`),
		Want: refused()},
	{Name: "List.cons by a string literal, one step at a time",
		Attack: "The same with List.cons.",
		Text: textLogic + textNat + constantList + anyChar + textString + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
@[hints=regular] def List.cons.{u} : ∀ (α : Type u), α → List.{u} α → List.{u} α := fun (α : Type u) (a : α) (l : List.{u} α) => not (proj String 0 "a")` +
			stepwise("List.cons.{0} Char (Char.ofNat 97) (List.nil.{0} Char)", `proj String 0 "a"`),
		Want: refused()},
	{Name: "List.nil by a string literal, by String.mk",
		Attack: "The same with the maker of older versions.",
		Text: textLogic + textNat + constantList + anyChar + `
inductive String : Type | String.mk : List.{0} Char → String
` + constantCons + `
@[hints=regular] def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => not (proj String 0 "")` + stepwise("List.nil.{0} Char", `proj String 0 ""`),
		Want: refused()},
	{Name: "List.nil in a literal two definitions away",
		Attack: "The cycle goes through two further definitions.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
@[hints=regular] def text : String := ""
@[hints=regular] def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => not (proj String 0 text)` + stepwise("List.nil.{0} Char", `proj String 0 text`),
		Want: refused()},
	{Name: "List.nil by a string literal, recursor",
		Attack: "The same with the recursor of String in the place of the projection.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => String.rec.{1} (fun (s : String) => Bool) (fun (b : Bool) => not b) ""` + fixpointOfNil,
		Want: refused()},
	{Name: "List.nil by way of an earlier definition",
		Attack: "The literal stands in a definition before List.nil, which List.nil unfolds.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
def inside : Bool := proj String 0 ""
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => not inside` + fixpointOfNil,
		Want: refused()},
	{Name: "List.cons by a string literal",
		Attack: `List.cons is the negation of what "a" holds, which is List.cons applied.`,
		Text: textLogic + textNat + constantList + anyChar + textString + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
def List.cons.{u} : ∀ (α : Type u), α → List.{u} α → List.{u} α := fun (α : Type u) (a : α) (l : List.{u} α) => not (proj String 0 "a")
theorem boom : False := noFixpoint (proj String 0 "a") (Eq.refl.{1} Bool (proj String 0 "a"))`,
		Want: refused()},
	{Name: "Char.ofNat by a string literal",
		Attack: "Char.ofNat is defined by a literal that is made of its values.",
		Text: textLogic + textNat + `def Char : Type := Bool
` + constantList + textString + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
def List.cons.{u} : ∀ (α : Type u), α → List.{u} α → List.{u} α := fun (α : Type u) (a : α) (l : List.{u} α) => l
def Char.ofNat : Nat → Char := fun (n : Nat) => not (proj String 0 "a")
theorem boom : False := noFixpoint (Char.ofNat 97) (Eq.refl.{1} Bool (Char.ofNat 97))`,
		Want: refused()},
	{Name: "the maker by a string literal",
		Attack: "String.ofList is a definition whose body holds the literal it makes: String is Bool, and the maker negates its own value.",
		Text: textLogic + textNat + textList + textChar + `def String : Type := Bool
def String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => not ""
theorem boom : False := noFixpoint "" (Eq.refl.{1} Bool "")`,
		Want: refused()},
	{Name: "a literal in the constructor's type of String",
		Attack: "The maker of strings takes an argument whose type mentions a literal.",
		Text: textLogic + textNat + textList + textChar + `
inductive String : Type | String.ofList : Eq.{1} String "" "" → List.{0} Char → String
theorem boom : True := True.intro`,
		Want: refused()},
	{Name: "a literal before List.nil",
		Attack: "Everything but List.nil is declared: the literal stands for what comes later.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
theorem boom : Eq.{1} String "" "" := Eq.refl.{1} String ""
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true`,
		Want: refused(kernel.InvalidLiteral)},
	{Name: "a literal before List.cons",
		Attack: "Everything but List.cons is declared.",
		Text: textLogic + textNat + constantList + anyChar + textString + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"
` + constantCons,
		Want: refused(kernel.InvalidLiteral)},
	{Name: "a literal before Char.ofNat",
		Attack: "Everything but Char.ofNat is declared.",
		Text: textLogic + textNat + textList + `inductive Char : Type | Char.mk : Nat → Char
` + textString + `
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"
def Char.ofNat : Nat → Char := fun (n : Nat) => Char.mk n`,
		Want: refused(kernel.InvalidLiteral)},
	{Name: "a literal before String",
		Attack: "Everything but String is declared.",
		Text: textLogic + textNat + textList + textChar + `
def boom : Bool := let s : Bool := Bool.true; (fun (x : Nat) => Bool.true) (proj String 0 "a")
` + textString,
		Want: refused()},
	{Name: "a literal without Nat",
		Attack: "A string literal is made of numbers; there is no Nat.",
		Text: textLogic + textList + `inductive Char : Type | Char.mk : Bool → Char
axiom Char.ofNat : Bool → Char
` + textString + `
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`,
		Want: refused(kernel.InvalidLiteral)},
	{Name: "a numeral before Nat",
		Attack: "A numeral stands before the type it belongs to.",
		Text: textLogic + `
theorem boom : Eq.{1} Nat 1 1 := Eq.refl.{1} Nat 1
` + textNat, Want: refused()},
	{Name: "a numeral inside Nat",
		Attack: "A constructor of Nat has a type that mentions a numeral.",
		Text: textLogic + `
inductive Nat : Type | Nat.zero : Nat | Nat.succ : Nat → Nat | Nat.odd : Eq.{1} Nat 1 1 → Nat
theorem boom : True := True.intro`, Want: refused()},
	{Name: "numerals over Bool",
		Attack: "Nat is a definition: Bool by another name. 0 and 2 would be one value.",
		Text: textLogic + `def Nat : Type := Bool
def Nat.zero : Nat := Bool.false
def Nat.succ : Nat → Nat := not
theorem boom : Eq.{1} Nat 0 2 := Eq.refl.{1} Nat 0`, Want: refused(kernel.InvalidLiteral)},
	{Name: "Nat.zero defined by a numeral",
		Attack: "Nat is genuine but for its constructors, which are definitions; Nat.zero is the literal 0.",
		Text: textLogic + `inductive Nat : Type | Nat.nought : Nat | Nat.next : Nat → Nat
def Nat.zero : Nat := 0
def Nat.succ : Nat → Nat := fun (n : Nat) => n
theorem boom : Eq.{1} Nat 0 1 := Eq.refl.{1} Nat 0`, Want: refused(kernel.InvalidLiteral)},
	{Name: "a string literal in the recursor's universe",
		Attack: "A literal of a String with a universe parameter has no level to be at.",
		Text: textLogic + textNat + textList + textChar + `
inductive String.{u} : Type u | String.ofList : List.{0} Char → String.{u}
def boom : String.{0} := "a"`, Want: refused()},
	{Name: "two literals one value",
		Attack: "List.cons drops its argument, so what \"a\" and \"b\" stand for is equal although the literals differ. The kernel may say they are equal, or refuse; it never says True and False are.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
theorem boom : Eq.{1} String "a" "b" := Eq.refl.{1} String "a"`, Want: shown("List", "Char.ofNat")},
	{Name: "strings that hold Bool twice",
		Attack: "A string literal's List Char is a definition over Bool, and the literal is projected both before and after List.nil is known: the answers must agree.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
def before : Bool := proj String 0 ""
theorem boom : False := noFixpoint before (Eq.refl.{1} Bool before)`, Want: refused()},
	{Name: "Char.ofNat out of order",
		Attack: "String.ofList stands before Char.ofNat's own numerals are legal: Char.ofNat is declared before Nat.",
		Text: textLogic + `inductive Char : Type | Char.mk : Char
axiom Char.ofNat : Nat → Char
` + textNat + textList + textString + `
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: refused()},
	{Name: "a literal in the type that List.nil has",
		Attack: "List.nil's own type holds a literal.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
def List.nil.{u} : ∀ (α : Type u), (fun (s : String) => List.{u} α) "" := fun (α : Type u) => Bool.true
theorem boom : True := True.intro`, Want: refused()},
	{Name: "a literal in a theorem's proof before List.nil",
		Attack: "A proof is never unfolded, but it is checked: the literal in it is as illegal.",
		Text: textLogic + textNat + constantList + anyChar + textString + constantCons + `
theorem early : True := (fun (s : String) => True.intro) ""
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
theorem boom : True := early`, Want: refused(kernel.InvalidLiteral)},
	{Name: "parts of a literal that the file never names", Attack: "Char.ofNat, List.nil and List.cons are there and no expression of the file is Char, List Char or String: a checker that builds these itself must not mix them up with others, nor stop.",
		Text: textLogic + textNat + constantList + constantCons + `def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
def Char : Type := Nat
def Char.ofNat : Nat → Nat := fun (n : Nat) => n
def String : Type := Nat
def String.ofList : Bool → Nat := fun (b : Bool) => 7` + holdsTrue, Want: accepted},
	{Name: "parts of a literal that the file never names, without a maker", Attack: "The same without String.ofList.",
		Text: textLogic + textNat + constantList + constantCons + `def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
def Char : Type := Nat
def Char.ofNat : Nat → Nat := fun (n : Nat) => n
def String : Type := Nat` + holdsTrue, Want: accepted},
	{Name: "parts of a literal that the file never names, with a maker of Bools", Attack: "The maker's result is another type than String; the literal must not become one of the other.",
		Text: textLogic + textNat + constantList + constantCons + `def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Bool.true
def Char : Type := Nat
def Char.ofNat : Nat → Nat := fun (n : Nat) => n
def String : Type := Nat
def String.ofList : Bool → Bool := fun (b : Bool) => b
theorem boom : Eq.{1} Nat "a" 7 := Eq.refl.{1} Nat "a"`, Want: refused()},
	{Name: "parts of a literal that the file never names, no List.cons", Attack: "What a checker builds to look at List.cons is nowhere in the file, and neither is List.cons: it must not stop on its own handles (found by the hunter, seed 84).",
		Text: textTrue + textNat + `def List.{u} : Type u → Type := fun (α : Type u) => Nat
def List.nil.{u} : ∀ (α : Type u), List.{u} α := fun (α : Type u) => Nat.zero
inductive Char : Type | Char.mk : Nat → Char
def Char.ofNat : Nat → Char := fun (n : Nat) => Char.mk n` + holdsTrue, Want: accepted},
}
