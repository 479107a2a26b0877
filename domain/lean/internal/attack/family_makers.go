package attack

import "reckon/domain/lean/kernel"

// byTransitivity proves "a" = "b" where both equal what mid is.
func byTransitivity(makerOfA, makerOfB string) string {
	return `
theorem first : Eq.{1} String "a" (` + makerOfA + `) := Eq.refl.{1} String "a"
theorem second : Eq.{1} String (` + makerOfA + `) "b" := Eq.refl.{1} String (` + makerOfB + `)
theorem boom : Eq.{1} String "a" "b" := Eq.rec.{0, 1} String (` + makerOfA + `)
  (fun (s : String) (h : Eq.{1} String (` + makerOfA + `) s) => Eq.{1} String "a" s) first "b" second`
}

// charList is the list a one-character literal stands for.
func charList(code string) string {
	return `(List.cons.{0} Char (Char.ofNat ` + code + `) (List.nil.{0} Char))`
}

const ownString = `
inductive String : Type | String.own : Bool → String
`

// makers attack the function from lists of characters to strings, which has one name in old versions of Lean and another
// in new ones.
var makers = []Recipe{
	{Name: "String.mk instead of String.ofList",
		Attack: `The file leaves out String.ofList and defines the older maker to forget its argument: "a" = "b" is true of these strings, and says so of no others (the issue's finding 4).`,
		Text: textLogic + textNat + textList + textChar + ownString + `
def String.mk : List.{0} Char → String := fun (l : List.{0} Char) => String.own Bool.true` +
			byTransitivity("String.mk "+charList("97"), "String.mk "+charList("98")),
		Want: shown("String.mk")},
	{Name: "String.ofList that forgets",
		Attack: "The same with the newer maker.",
		Text: textLogic + textNat + textList + textChar + ownString + `
def String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => String.own Bool.true` +
			byTransitivity("String.ofList "+charList("97"), "String.ofList "+charList("98")),
		Want: shown("String.ofList")},
	{Name: "both makers, one forgets",
		Attack: "String.ofList is the constructor and String.mk a definition that forgets; the literal may be read through one of them only.",
		Text: textLogic + textNat + textList + textChar + textString + `
def String.mk : List.{0} Char → String := fun (l : List.{0} Char) => String.ofList (List.nil.{0} Char)
theorem boom : Eq.{1} String "a" (String.mk ` + charList("97") + `) := Eq.refl.{1} String "a"`,
		Want: refused(kernel.TypeMismatch)},
	{Name: "both makers, the newer one forgets",
		Attack: "String.mk is the constructor and String.ofList a definition that forgets.",
		Text: textLogic + textNat + textList + textChar + `
inductive String : Type | String.mk : List.{0} Char → String
def String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => String.mk (List.nil.{0} Char)` +
			byTransitivity("String.ofList "+charList("97"), "String.ofList "+charList("98")),
		Want: shown("String.ofList")},
	{Name: "the maker changes in the middle of the file",
		Attack: "A literal is read through String.mk before String.ofList is declared and through String.ofList after: it would have two values.",
		Text: textLogic + textNat + textList + textChar + ownString + `
def String.mk : List.{0} Char → String := fun (l : List.{0} Char) => String.own Bool.true
@[hints=regular] def early : String := ""
theorem one : Eq.{1} String early (String.own Bool.true) := Eq.refl.{1} String early
def String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => String.own Bool.false
theorem two : Eq.{1} String early (String.own Bool.false) := Eq.refl.{1} String early
theorem boom : False := trueNotFalse (Eq.rec.{0, 1} String early (fun (s : String) (h : Eq.{1} String early s) => Eq.{1} Bool (proj String 0 s) Bool.false)
  (Eq.rec.{0, 1} String early (fun (s : String) (h : Eq.{1} String early s) => Eq.{1} Bool (proj String 0 early) (proj String 0 s)) (Eq.refl.{1} Bool (proj String 0 early)) (String.own Bool.false) two)
  (String.own Bool.true) one)`,
		Want: refused()},
	{Name: "no maker", Attack: "There is none: a literal has no meaning.",
		Text: textLogic + textNat + textList + textChar + ownString + `
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: refused(kernel.InvalidLiteral)},
	{Name: "a maker of another argument", Attack: "The maker takes a list of numbers.",
		Text: textLogic + textNat + textList + textChar + `
inductive String : Type | String.ofList : List.{0} Nat → String
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: refused(kernel.InvalidLiteral)},
	{Name: "a maker of another result", Attack: "The maker makes Bools.",
		Text: textLogic + textNat + textList + textChar + ownString + `
def String.ofList : List.{0} Char → Bool := fun (l : List.{0} Char) => Bool.true
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: refused(kernel.InvalidLiteral)},
	{Name: "a maker with a universe parameter", Attack: "The maker needs a level that no literal has.",
		Text: textLogic + textNat + textList + textChar + ownString + `
def String.ofList.{u} : List.{0} Char → String := fun (l : List.{0} Char) => String.own Bool.true
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: refused(kernel.InvalidLiteral)},
	{Name: "a maker that is an axiom", Attack: "The maker is an axiom: whatever holds a literal rests on it.",
		Text: textLogic + textNat + textList + textChar + ownString + `
axiom String.ofList : List.{0} Char → String
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("String.ofList")},
	{Name: "a maker that is an axiom, older", Attack: "The same with String.mk.",
		Text: textLogic + textNat + textList + textChar + ownString + `
axiom String.mk : List.{0} Char → String
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: reaches("String.mk")},
	{Name: "a maker that is a theorem", Attack: "String is a proposition, its maker a theorem: all literals are equal by proof irrelevance.",
		Text: textLogic + textNat + textList + textChar + `
@[large] inductive String : Prop | String.own : String
theorem String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => String.own
theorem boom : Eq.{0} String "a" "b" := Eq.refl.{0} String "a"`, Want: shown("String", "String.ofList")},
	{Name: "a maker that is opaque", Attack: "The maker's value is hidden; literals that are not the same text are not equal.",
		Text: textLogic + textNat + textList + textChar + ownString + `
opaque String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => String.own Bool.true
theorem boom : Eq.{1} String "a" "b" := Eq.refl.{1} String "a"`, Want: refused(kernel.TypeMismatch)},
	{Name: "two constructors that make strings", Attack: "String.ofList and String.mk are both constructors: the recursor tells them apart, the literal may be one of them only.",
		Text: textLogic + textNat + textList + textChar + `
inductive String : Type | String.ofList : List.{0} Char → String | String.mk : List.{0} Char → String
theorem boom : False := trueNotFalse (Eq.refl.{1} Bool (String.rec.{1} (fun (s : String) => Bool) (fun (l : List.{0} Char) => Bool.true) (fun (l : List.{0} Char) => Bool.false) ""))`,
		Want: refused()},
	{Name: "a maker that is unsafe", Attack: "The maker is a partial definition: nothing safe may rest on it.",
		Text: textLogic + textNat + textList + textChar + ownString + `
@[safety=partial] def String.ofList : List.{0} Char → String := fun (l : List.{0} Char) => String.own Bool.true
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: notVerified},
	{Name: "Char.ofNat that forgets", Attack: `All characters are one: "a" = "b" holds of these characters and of no others.`,
		Text: textLogic + textNat + textList + anyChar + textString +
			byTransitivity("String.ofList "+charList("97"), "String.ofList "+charList("98")),
		Want: shown("Char.ofNat")},
	{Name: "List.cons that forgets", Attack: "List is genuine in name only: List.cons drops its head.",
		Text: textLogic + textNat + textChar + `
inductive Stack.{u} (α : Type u) : Type u | Stack.nil : Stack.{u} α
def List.{u} : Type u → Type u := Stack.{u}
def List.nil.{u} : ∀ (α : Type u), List.{u} α := Stack.nil.{u}
def List.cons.{u} : ∀ (α : Type u), α → List.{u} α → List.{u} α := fun (α : Type u) (a : α) (l : List.{u} α) => l
` + textString + byTransitivity("String.ofList "+charList("97"), "String.ofList "+charList("98")),
		Want: shown("List")},
	{Name: "a surrogate", Attack: "Char.ofNat of a surrogate is the character of no text: no literal equals it.",
		Text: textLogic + textNat + textList + textChar + textString + `
theorem boom : Eq.{1} String "\ufffd" (String.ofList (List.cons.{0} Char (Char.ofNat 55296) (List.nil.{0} Char))) := Eq.refl.{1} String "\ufffd"`,
		Want: refused(kernel.TypeMismatch)},
	{Name: "a character beyond the first plane", Attack: "A literal is made of scalar values, not of UTF-16 units or bytes.",
		Text: textLogic + textNat + textList + textChar + textString + `
theorem boom : Eq.{1} String "𝔸" (String.ofList (List.cons.{0} Char (Char.ofNat 55349) (List.cons.{0} Char (Char.ofNat 56632) (List.nil.{0} Char)))) := Eq.refl.{1} String "𝔸"`,
		Want: refused(kernel.TypeMismatch)},
	{Name: "composed and decomposed", Attack: "Two texts that look alike are different strings.",
		Text: textLogic + textNat + textList + textChar + textString + `
theorem boom : Eq.{1} String "\u00e9" "e\u0301" := Eq.refl.{1} String "\u00e9"`,
		Want: refused(kernel.TypeMismatch)},
}
