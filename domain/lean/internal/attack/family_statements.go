package attack

import "fmt"

// textSums is notation's constants for sums of numerals, with an addition of our own.
const textSums = textOfNat + textAddNat + `
inductive HAdd.{u, v, w} (α : Type u) (β : Type v) (γ : Type w) : Type (max (max u v) w) | HAdd.mk : (α → β → γ) → HAdd.{u, v, w} α β γ
def HAdd.hAdd.{u, v, w} : ∀ (α : Type u) (β : Type v) (γ : Type w), HAdd.{u, v, w} α β γ → α → β → γ :=
  fun (α : Type u) (β : Type v) (γ : Type w) (self : HAdd.{u, v, w} α β γ) => proj HAdd 0 self
inductive Add.{u} (α : Type u) : Type u | Add.mk : (α → α → α) → Add.{u} α
def Add.add.{u} : ∀ (α : Type u), Add.{u} α → α → α → α := fun (α : Type u) (self : Add.{u} α) => proj Add 0 self
def instHAdd.{u} : ∀ (α : Type u), Add.{u} α → HAdd.{u, u, u} α α α := fun (α : Type u) (i : Add.{u} α) => HAdd.mk.{u, u, u} α α α (fun (a b : α) => Add.add.{u} α i a b)
def instAddNat : Add.{0} Nat := Add.mk.{0} Nat Nat.add
`

func numeral(n string) string {
	return fmt.Sprintf("(OfNat.ofNat.{0} Nat %s (instOfNatNat %s))", n, n)
}

// alias declares name := what it is not, and states with it.
func alias(name, typ, value, statement, proof string) string {
	return textLogic + textOr + textIff + textExists + textNe + textNat + textOfNat + fmt.Sprintf("def %s : %s := %s\ntheorem boom : %s := %s", name, typ, value, statement, proof)
}

// statements print as what they are not.
var statements = []Recipe{
	{Name: "a numeric component that prints as a numeral", Attack: "The definition called by the number 5 is 4: 2 + 2 = 5 with that constant (the issue's finding 3).",
		Text: textLogic + textNat + textOfNat + textAddNat + `
def «#5» : Nat := 4
theorem boom : Eq.{1} Nat (Nat.add 2 2) «#5» := Eq.refl.{1} Nat 4`, Want: printsUnlike("Nat.add (nat_lit 2) (nat_lit 2) = 5")},
	{Name: "a numeric component that prints as a numeral, notation", Attack: "The same against numerals in notation.",
		Text: alias("«#5»", "Nat", numeral("4"), "Eq.{1} Nat "+numeral("4")+" «#5»", "Eq.refl.{1} Nat 4"), Want: printsUnlike("4 = 5")},
	{Name: "a text component of digits", Attack: "The definition called by the text 5.",
		Text: alias("«5»", "Nat", numeral("4"), "Eq.{1} Nat "+numeral("4")+" «5»", "Eq.refl.{1} Nat 4"), Want: printsUnlike("4 = 5")},
	{Name: "a numeric universe parameter", Attack: "A universe parameter called by the number 3: Type 3 for every level.",
		Text: textLogic + `
theorem boom.{«#3»} : ∀ (α : Type «#3»), True := fun (α : Type «#3») => True.intro`, Want: printsUnlike("Type 3 → True", "∀ (α : Type 3), True")},
	{Name: "a universe parameter of digits", Attack: "A universe parameter called by the text 3.",
		Text: textLogic + `
theorem boom.{«3»} : ∀ (α : Type «3»), True := fun (α : Type «3») => True.intro`, Want: printsUnlike("Type 3 → True", "∀ (α : Type 3), True")},
	{Name: "a universe parameter called max u v", Attack: "A universe parameter whose text is a level.",
		Text: textLogic + `
theorem boom.{«max u v»} : ∀ (α : Type «max u v»), True := fun (α : Type «max u v») => True.intro`, Want: printsUnlike("Type (max u v) → True", "Type max u v → True")},
	{Name: "a universe parameter called u+1", Attack: "A universe parameter whose text is a successor.",
		Text: textLogic + `
theorem boom.{«u+1»} : ∀ (α : Sort «u+1»), True := fun (α : Sort «u+1») => True.intro`, Want: printsUnlike("Sort (u+1) → True", "Sort u+1 → True", "Type u → True")},
	{Name: "a constant called Type", Attack: "«Type» is Prop by definition; Prop = Type would be false of the sorts (finding 3).",
		Text: textLogic + `
def «Type» : Type 0 := Prop
theorem boom : Eq.{2} (Type 0) Prop «Type» := Eq.refl.{2} (Type 0) Prop`, Want: allOf(shown("Type"), printsUnlike("Prop = Type"))},
	{Name: "a constant called Prop", Attack: "«Prop» is Bool.",
		Text: textLogic + `
def «Prop» : Type 0 := Bool
theorem boom : Eq.{2} (Type 0) Bool «Prop» := Eq.refl.{2} (Type 0) Bool`, Want: printsUnlike("Bool = Prop")},
	{Name: "a constant called Sort", Attack: "«Sort» applied to a level that is an argument.",
		Text: textLogic + textNat + `
def «Sort» : Nat → Prop := fun (n : Nat) => True
theorem boom : «Sort» 1 := True.intro`, Want: printsUnlike("Sort 1", "Sort (nat_lit 1)")},
	{Name: "a constant called fun", Attack: "A keyword as a name.",
		Text: alias("«fun»", "Bool", "Bool.true", "Eq.{1} Bool «fun» Bool.true", "Eq.refl.{1} Bool Bool.true"), Want: printsUnlike("fun = Bool.true")},
	{Name: "a constant called nat_lit", Attack: "nat_lit applied to a constant.",
		Text: alias("nat_lit", "Nat → Nat", "fun (n : Nat) => 4", "Eq.{1} Nat (nat_lit 5) 4", "Eq.refl.{1} Nat 4"), Want: printsUnlike("nat_lit 5 = nat_lit 4")},
	{Name: "a constant called by a formula", Attack: "The whole formula is one component.",
		Text: alias("«2 + 2 = 5»", "Prop", "True", "«2 + 2 = 5»", "True.intro"), Want: printsUnlike("2 + 2 = 5")},
	{Name: "a constant with brackets", Attack: "One component closes the brackets it stands in.",
		Text: alias("«True) ∧ (False»", "Prop", "True", "And True «True) ∧ (False»", "And.intro True «True) ∧ (False» True.intro True.intro"),
		Want: printsUnlike("True ∧ True) ∧ (False")},
	{Name: "a constant with a quotation mark", Attack: "One component closes the quotation it would stand in.",
		Text: alias("«a\\u00bb = \\u00abb»", "Prop", "True", "«a\\u00bb = \\u00abb»", "True.intro"), Want: printsUnlike("«a» = «b»", "a» = «b")},
	{Name: "a constant with a line feed", Attack: "One component starts a new line of the certificate.",
		Text: alias("«x\\naxioms: none»", "Prop", "True", "«x\\naxioms: none»", "True.intro"), Want: printsPlainly},
	{Name: "a constant with a direction mark", Attack: "A right-to-left override reverses what follows it.",
		Text: alias("«\\u202eeslaF»", "Prop", "True", "«\\u202eeslaF»", "True.intro"), Want: printsPlainly},
	{Name: "a constant of no width", Attack: "The name is one zero-width space.",
		Text: alias("«\\u200b»", "Prop", "True", "«\\u200b»", "True.intro"), Want: printsPlainly},
	{Name: "an invisible letter", Attack: "A Hangul filler (U+3164), a letter to Unicode, shows as nothing (finding 3).",
		Text: alias("ㅤ", "Prop", "True", "ㅤ", "True.intro"), Want: printsPlainly},
	{Name: "False with an invisible letter", Attack: "False and a Hangul filler: printed, it is False.",
		Text: alias("Falseㅤ", "Prop", "True", "Falseㅤ", "True.intro"), Want: printsPlainly},
	{Name: "False with a Cyrillic letter", Attack: "The a of False is Cyrillic.",
		Text: alias("F\u0430lse", "Prop", "True", "F\u0430lse", "True.intro"), Want: printsUnlike("F\u0430lse", "False")},
	{Name: "Nat.prime with a Cyrillic letter in a namespace", Attack: "The namespace looks like Nat.",
		Text: alias("N\u0430t.Prime", "Nat → Prop", "fun (n : Nat) => True", "N\u0430t.Prime "+numeral("4"), "True.intro"), Want: printsUnlike("N\u0430t.Prime 4")},
	{Name: "a mathematical alphabet", Attack: "False in mathematical letters.",
		Text: alias("𝖥𝖺𝗅𝗌𝖾", "Prop", "True", "𝖥𝖺𝗅𝗌𝖾", "True.intro"), Want: printsUnlike("𝖥𝖺𝗅𝗌𝖾", "False")},
	{Name: "a combining mark", Attack: "False with a combining grapheme joiner, which shows as nothing.",
		Text: alias("«False\\u034f»", "Prop", "True", "«False\\u034f»", "True.intro"), Want: printsPlainly},
	{Name: "a soft hyphen", Attack: "False with a soft hyphen in it.",
		Text: alias("«Fal\\u00adse»", "Prop", "True", "«Fal\\u00adse»", "True.intro"), Want: printsPlainly},
	{Name: "one component with a dot: OfNat.ofNat", Attack: "The constant's name is one component with a dot; it takes the notation of the real one (finding 3).",
		Text: textLogic + textNat + textOfNat + `
def «OfNat.ofNat».{u} : ∀ (α : Type u) (n : Nat), OfNat.{0} Nat n → Nat := fun (α : Type u) (n : Nat) (i : OfNat.{0} Nat n) => 5
theorem boom : Eq.{1} Nat («OfNat.ofNat».{0} Nat 2 (instOfNatNat 2)) (OfNat.ofNat.{0} Nat 5 (instOfNatNat 5)) := Eq.refl.{1} Nat 5`,
		Want: printsUnlike("2 = 5")},
	{Name: "one component with a dot: Nat.add", Attack: "«Nat.add» adds one more.",
		Text: textLogic + textNat + textAddNat + `
def «Nat.add» : Nat → Nat → Nat := fun (x y : Nat) => Nat.succ (Nat.add x y)
theorem boom : Eq.{1} Nat («Nat.add» 2 2) 5 := Eq.refl.{1} Nat 5`, Want: printsUnlike("Nat.add (nat_lit 2) (nat_lit 2) = nat_lit 5")},
	{Name: "one component with a dot: Bool.true", Attack: "«Bool.true» is Bool.false.",
		Text: alias("«Bool.true»", "Bool", "Bool.false", "Eq.{1} Bool «Bool.true» Bool.false", "Eq.refl.{1} Bool Bool.false"), Want: printsUnlike("Bool.true = Bool.false")},
	{Name: "a root component", Attack: "_root_ is how Lean names what is not in a namespace.",
		Text: alias("_root_.False", "Prop", "True", "_root_.False", "True.intro"), Want: printsUnlike("_root_.False", "False")},
	{Name: "an empty component", Attack: "A name that begins with an empty component prints as one that begins with a dot.",
		Text: alias("«».False", "Prop", "True", "«».False", "True.intro"), Want: printsUnlike(".False", "False", "")},
	{Name: "a private prefix", Attack: "A private name whose last component is False.",
		Text: alias("_private.Init.«#0».False", "Prop", "True", "_private.Init.«#0».False", "True.intro"), Want: printsUnlike("False", "_private.Init.0.False")},
	{Name: "a numeric component inside", Attack: "List.«#1» against List.«1».",
		Text: alias("Bool.«#1»", "Bool", "Bool.false", "Eq.{1} Bool Bool.«#1» Bool.false", "Eq.refl.{1} Bool Bool.false"), Want: printsUnlike("Bool.«1» = Bool.false", "Bool.1 = Bool.false")},
	{Name: "a projection by name", Attack: "A constant whose last component is a number prints as a projection: p.1.",
		Text: textLogic + `
def p : Bool := Bool.true
def p.«#1» : Bool := Bool.false
theorem boom : Eq.{1} Bool p.«#1» Bool.false := Eq.refl.{1} Bool Bool.false`, Want: printsUnlike("p.1 = Bool.false")},
	{Name: "a binder called like a constant", Attack: "A bound variable is called False.",
		Text: textLogic + `
theorem boom : ∀ (False : Prop), False → False := fun (False : Prop) (h : False) => h`, Want: printsUnlike("False → False", "∀ (False : Prop), False → False → False")},
	{Name: "a binder called by a formula", Attack: "A bound variable's name is a formula.",
		Text: textLogic + `
theorem boom : ∀ («h : 2 + 2 = 5) (x» : Prop), «h : 2 + 2 = 5) (x» → «h : 2 + 2 = 5) (x» := fun («h : 2 + 2 = 5) (x» : Prop) (h : «h : 2 + 2 = 5) (x») => h`,
		Want: printsUnlike("∀ (h : 2 + 2 = 5) (x : Prop), h : 2 + 2 = 5) (x → h : 2 + 2 = 5) (x")},
	{Name: "a binder by a number", Attack: "A bound variable's name is the number 5.",
		Text: textLogic + textNat + `
theorem boom : ∀ («#5» : Nat), Eq.{1} Nat «#5» «#5» := fun («#5» : Nat) => Eq.refl.{1} Nat «#5»`, Want: printsUnlike("∀ (5 : Nat), 5 = 5")},
	{Name: "two binders called alike", Attack: "Two bound variables of one name: the statement must say which is meant.",
		Text: textLogic + `
theorem boom : ∀ (p : Prop) (p : Prop), p → p := fun (p : Prop) (q : Prop) (h : q) => h`, Want: printsUnlike("∀ (p p : Prop), p → p", "∀ (p : Prop) (p : Prop), p → p")},
	{Name: "two binders that differ by nothing visible", Attack: "The second is called p and a zero-width joiner.",
		Text: textLogic + `
theorem boom : ∀ (p : Prop) («p\u200d» : Prop), p → «p\u200d» → p := fun (p : Prop) («p\u200d» : Prop) (h : p) (k : «p\u200d») => h`, Want: printsPlainly},
	{Name: "a forged Nat.add behind +", Attack: "instAddNat is genuine, Nat.add is not Lean's: 2 + 2 = 5.",
		Text: textLogic + textNat + `def Nat.add : Nat → Nat → Nat := fun (x y : Nat) => 5
` + textOfNat + textSums[len(textOfNat+textAddNat):] + `
theorem boom : Eq.{1} Nat (HAdd.hAdd.{0, 0, 0} Nat Nat Nat (instHAdd.{0} Nat instAddNat) ` + numeral("2") + numeral("2") + `) ` + numeral("5") + ` := Eq.refl.{1} Nat 5`,
		Want: shown("Nat.add")},
	{Name: "a forged instAddNat behind +", Attack: "instAddNat adds by a function that says 5.",
		Text: textLogic + textNat + textOfNat + textSums[len(textOfNat):len(textSums)-len("def instAddNat : Add.{0} Nat := Add.mk.{0} Nat Nat.add\n")] + `
def instAddNat : Add.{0} Nat := Add.mk.{0} Nat (fun (x y : Nat) => 5)
theorem boom : Eq.{1} Nat (HAdd.hAdd.{0, 0, 0} Nat Nat Nat (instHAdd.{0} Nat instAddNat) ` + numeral("2") + numeral("2") + `) ` + numeral("5") + ` := Eq.refl.{1} Nat 5`,
		Want: allOf(shown("instAddNat"), printsUnlike("2 + 2 = 5"))},
	{Name: "a forged instOfNatNat", Attack: "The instance of numerals gives 5 for every numeral: 2 = 5.",
		Text: textLogic + textNat + textOfNat[:len(textOfNat)-len("def instOfNatNat : ∀ (n : Nat), OfNat.{0} Nat n := fun (n : Nat) => OfNat.mk.{0} Nat n n\n")] + `
def instOfNatNat : ∀ (n : Nat), OfNat.{0} Nat n := fun (n : Nat) => OfNat.mk.{0} Nat n 5
theorem boom : Eq.{1} Nat ` + numeral("2") + numeral("5") + ` := Eq.refl.{1} Nat 5`,
		Want: allOf(shown("instOfNatNat"), printsUnlike("2 = 5"))},
	{Name: "a forged OfNat", Attack: "OfNat holds no value: numerals are made by OfNat.ofNat alone.",
		Text: textLogic + textNat + `
inductive OfNat.{u} (α : Type u) (n : Nat) : Type u | OfNat.mk : OfNat.{u} α n
def OfNat.ofNat.{u} : ∀ (α : Type u) (n : Nat), OfNat.{u} α n → Nat := fun (α : Type u) (n : Nat) (self : OfNat.{u} α n) => 5
def instOfNatNat : ∀ (n : Nat), OfNat.{0} Nat n := fun (n : Nat) => OfNat.mk.{0} Nat n
theorem boom : Eq.{1} Nat ` + numeral("2") + numeral("5") + ` := Eq.refl.{1} Nat 5`,
		Want: allOf(shown("OfNat"), printsUnlike("2 = 5"))},
	{Name: "a forged LE.le", Attack: "LE.le holds of everything.",
		Text: textLogic + textNat + textOfNat + `
inductive LE.{u} (α : Type u) : Type u | LE.mk : (α → α → Prop) → LE.{u} α
def LE.le.{u} : ∀ (α : Type u), LE.{u} α → α → α → Prop := fun (α : Type u) (self : LE.{u} α) (a b : α) => True
def instLENat : LE.{0} Nat := LE.mk.{0} Nat (fun (a b : Nat) => False)
theorem boom : LE.le.{0} Nat instLENat ` + numeral("5") + numeral("2") + ` := True.intro`,
		Want: allOf(shown("LE.le", "instLENat"), printsUnlike("5 ≤ 2"))},
	{Name: "an instance for another type's numerals", Attack: "Numerals over a type that is Nat by definition, with an instance of its own.",
		Text: textLogic + textNat + textOfNat + `
def Number : Type := Nat
def instNumber : ∀ (n : Nat), OfNat.{0} Number n := fun (n : Nat) => OfNat.mk.{0} Number n 5
theorem boom : Eq.{1} Number (OfNat.ofNat.{0} Number 2 (instNumber 2)) (OfNat.ofNat.{0} Number 3 (instNumber 3)) := Eq.refl.{1} Nat 5`,
		Want: allOf(shown("Number", "instNumber"), printsUnlike("2 = 3"))},
	{Name: "a numeral that is not its literal", Attack: "OfNat.ofNat Nat 2 with the instance for 3.",
		Text: textLogic + textNat + textOfNat + `
theorem boom : Eq.{1} Nat (OfNat.ofNat.{0} Nat 3 (OfNat.mk.{0} Nat 3 2)) ` + numeral("2") + ` := Eq.refl.{1} Nat 2`,
		Want: printsUnlike("3 = 2")},
	{Name: "a numeral by way of an own instance", Attack: "An instance that is the usual one but for one numeral.",
		Text: textLogic + textNat + textOfNat + `
def myInst : OfNat.{0} Nat 3 := OfNat.mk.{0} Nat 3 2
theorem boom : Eq.{1} Nat (OfNat.ofNat.{0} Nat 3 myInst) ` + numeral("2") + ` := Eq.refl.{1} Nat 2`,
		Want: allOf(shown("myInst"), printsUnlike("3 = 2"))},
	{Name: "a definition that says what one likes", Attack: "IsPrime is the uploader's own: a reader must see what it was taken to mean.",
		Text: textLogic + textNat + textOfNat + `
def IsPrime : Nat → Prop := fun (n : Nat) => True
theorem boom : IsPrime ` + numeral("4") + ` := True.intro`, Want: shown("IsPrime")},
	{Name: "a definition behind a definition", Attack: "The statement's definition is built on another one that says what one likes.",
		Text: textLogic + textNat + textOfNat + `
def divides : Nat → Nat → Prop := fun (m n : Nat) => False
def IsPrime : Nat → Prop := fun (n : Nat) => Not (divides n n)
theorem boom : IsPrime ` + numeral("4") + ` := fun (h : False) => h`, Want: shown("IsPrime", "divides")},
	{Name: "an inductive predicate", Attack: "An inductive predicate of the uploader's has a constructor for everything.",
		Text: textLogic + textNat + textOfNat + `
@[large] inductive Even : Nat → Prop | Even.any : ∀ (n : Nat), Even n
theorem boom : Even ` + numeral("3") + ` := Even.any ` + numeral("3"), Want: shown("Even")},
	{Name: "an own type with familiar constructors", Attack: "A structure of the uploader's with a field of a type of the uploader's.",
		Text: textLogic + `
inductive Inner : Type | Inner.mk : Inner
inductive Outer : Type | Outer.mk : Inner → Outer
theorem boom : ∀ (x : Outer), Eq.{1} Outer x x := fun (x : Outer) => Eq.refl.{1} Outer x`, Want: shown("Outer", "Inner")},
	{Name: "a definition behind a literal", Attack: "The statement holds a string; what strings are is the uploader's own.",
		Text: textLogic + textNat + textList + textChar + textString + `
theorem boom : Eq.{1} String "a" "a" := Eq.refl.{1} String "a"`, Want: shown("String", "Char", "Char.ofNat")},
	{Name: "a definition behind a projection", Attack: "The statement projects from a structure that is named nowhere else.",
		Text: textLogic + `
inductive Pair : Type | Pair.mk : Bool → Bool → Pair
opaque pair : Pair := Pair.mk Bool.true Bool.false
theorem boom : Eq.{1} Bool (proj Pair 0 pair) (proj Pair 0 pair) := Eq.refl.{1} Bool (proj Pair 0 pair)`, Want: shown("Pair", "pair")},
	{Name: "an opaque constant in a statement", Attack: "What is said of an opaque constant rests on its type alone; the constant is the uploader's own.",
		Text: textLogic + `
opaque secret : Bool := Bool.true
theorem boom : Eq.{1} Bool secret secret := Eq.refl.{1} Bool secret`, Want: shown("secret")},
	{Name: "a theorem in a statement", Attack: "A theorem of the uploader's occurs in the statement.",
		Text: textLogic + `
theorem mine : True := True.intro
theorem boom : Eq.{0} True mine True.intro := Eq.refl.{0} True mine`, Want: shown("mine")},
	{Name: "an own definition under a name of the reference's", Attack: "id is Lean's; this one is constant.",
		Text: textLogic + `
def id.{u} : ∀ (α : Sort u), α → Prop := fun (α : Sort u) (a : α) => True
theorem boom : id.{1} Bool Bool.true := True.intro`, Want: unsupported("id")},
	{Name: "a tall tower that is cut", Attack: "A statement larger than what is printed must not print as a shorter one.",
		Text: textLogic + `
theorem boom : And False True → False := fun (h : And False True) => And.rec.{0} False True (fun (h : And False True) => False) (fun (f : False) (t : True) => f) h`,
		Edit: func(f *File) {
			d := f.Find("boom")
			t := d.Type
			for range 30_000 {
				t = arrow(constant("True"), t)
			}
			v := d.Value
			for range 30_000 {
				v = lam(&Local{"t", constant("True")}, v)
			}
			d.Type, d.Value = t, v
		}, Versions: []string{"4.29.1"}, Want: statementUncut},
}

// versionRecipes name versions that have no table, or look as if they had one.
var versionRecipes = func() (out []Recipe) {
	for _, v := range []string{"-", "", "4.29.1 ", " 4.29.1", "v4.29.1", "4.29.1-rc1", "4.29.01", "4.29.1.0", "4.29.10", "4.29", "4", "0.0.0", "4.30.0", "5.0.0", "999999999999999999999.0.0",
		"4.29.1\u0000", "４.29.1", "4.29.1+build", "lean4", "4.29.1\n", "-1.0.0", "latest", "../reference/basis"} {
		out = append(out, Recipe{Name: fmt.Sprintf("%q", v), Versions: []string{v},
			Attack: "The file names a version that has no table, and redefines Nat.add: 2 + 2 = 5 (finding 5).",
			Text: textLogic + textNat + `def Nat.add : Nat → Nat → Nat := fun (x y : Nat) => 5
theorem boom : Eq.{1} Nat (Nat.add 2 2) 5 := Eq.refl.{1} Nat 5`, Want: shown("Nat.add")})
	}
	return out
}()
