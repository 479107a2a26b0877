package plain

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leansource"
	fast "reckon/domain/lean/kernel"
	"reckon/domain/lean/term"
)

func source(t testing.TB, text string) *export.File {
	t.Helper()
	var out bytes.Buffer
	if err := leansource.Write(&out, text); err != nil {
		t.Fatal(err)
	}
	return readText(t, out.Bytes())
}

func checkSource(t testing.TB, text string) (*export.File, Report) {
	t.Helper()
	file := source(t, text)
	return file, Check(context.Background(), file.Store, file.Declarations, Budget{})
}

// oneWayBase declares D p, a type that is U by reduction for I, which is a pair, and stuck for a variable p; D p and D I
// are equal because p and I are proofs of one proposition. The functions fun (z : D p) => u and fun (z : D I) => z are
// equal, since U has one element. A procedure sees this only where it takes z to have the type D I: it answers yes or no
// by the side whose domain it takes.
const oneWayBase = `
inductive large True : Prop | intro : True
inductive large And (a b : Prop) : Prop | intro (left : a) (right : b) : And a b
inductive large Eq.{u} (α : Sort u) (a : α) : α -> Prop | refl : Eq.{u} α a a
inductive Bool : Type | false : Bool | true : Bool
inductive U : Type | u : U
def I : And True True := And.intro True True True.intro True.intro
def D (p : And True True) : Type := And.rec.{2} True True (fun (q : And True True) => Type) (fun (a b : True) => U) p
opaque p0 : And True True := I
opaque p1 : And True True := I
opaque W : (D p0 -> U) -> Type := fun (f : D p0 -> U) => U
`

// oneWay writes the two functions at p, left first, and what is made of them.
type oneWay struct {
	left, right string
	taken       bool // what is asked when the field y is typed is swapped
}

func (o oneWay) at(text, p string) string { return strings.ReplaceAll(text, "P", p) }

// equation states that the left function at p is the right one; swapped, the other way round.
func (o oneWay) equation(p string, swapped bool) string {
	a, b := o.at(o.left, p), o.at(o.right, p)
	if swapped {
		a, b = b, a
	}
	return "(Eq.{1} (D " + p + " -> U) " + a + " " + b + ")"
}

// rec is Eq.rec over a proof of the equation, with a constant motive: it reduces to body by K where the sides are found
// equal.
func (o oneWay) rec(universe, motive, body, proof, p string, swapped bool) string {
	a, b := o.at(o.left, p), o.at(o.right, p)
	if swapped {
		a, b = b, a
	}
	return "(Eq.rec.{" + universe + ", 1} (D " + p + " -> U) " + a + " (fun (f : D " + p + " -> U) (e : Eq.{1} (D " + p + " -> U) " + a + " f) => " +
		motive + ") " + body + " " + b + " " + proof + ")"
}

// twoRecursives is a type with a constructor whose fields x1 and x2 have types that reduce to T by K, if at all. x0 and x3
// reduce to U; their types make a procedure that remembers answers for the swapped question find x1 equal to T first, and
// x2 when it looks again.
func (o oneWay) twoRecursives() (fields, arrows, names string) {
	given, wanted := o.right, o.left
	if o.taken {
		given, wanted = wanted, given
	}
	list := [][2]string{
		{"w", "W " + o.at(given, "p0")},
		{"y", "(fun (e : W " + o.at(wanted, "p0") + ") => U) w"},
		{"q1", "And True True"}, {"q2", "And True True"},
		{"h0", o.equation("p0", false)}, {"h1", o.equation("p1", false)}, {"r1", o.equation("p1", true)},
		{"s1", o.equation("q1", false)}, {"g1", o.equation("q1", true)},
		{"s2", o.equation("q2", false)}, {"g2", o.equation("q2", true)},
		{"x0", o.rec("2", "Type", o.rec("2", "Type", o.rec("2", "Type", "U", "g2", "q2", true), "g1", "q1", true),
			o.rec("0", o.equation("p0", false), o.rec("0", o.equation("p0", false), "h0", "g2", "q2", true),
				o.rec("0", o.equation("p1", false), "h1", "g1", "q1", true), "p1", false), "p0", false)},
		{"x1", o.rec("2", "Type", "T", "s1", "q1", false)},
		{"x2", o.rec("2", "Type", "T", "s2", "q2", false)},
		{"x3", o.rec("2", "Type", "U", "r1", "p1", true)},
	}
	for _, f := range list {
		fields += " (" + f[0] + " : " + f[1] + ")"
		arrows += "(" + f[0] + " : " + f[1] + ") -> "
		names += " " + f[0]
	}
	return fields, arrows, names
}

// file is the export with the record of T's recursor made by hand: the minor premise has the hypothesis of x1, the rule
// passes that of x2.
func (o oneWay) file(t *testing.T) *export.File {
	fields, arrows, names := o.twoRecursives()
	minor := arrows + "(ih : C x1) -> C (T.mk" + names + ")"
	file := source(t, oneWayBase+"inductive T : Type | mk"+fields+" : T\n"+
		"axiom typ.{u} : (C : T -> Sort u) -> (m : "+minor+") -> (t : T) -> C t\n"+
		"def value.{u} : U := fun (C : T -> Sort u) => fun (m : "+minor+") => fun"+fields+" => m"+names+" (T.rec.{u} C m x2)\n")
	var typ, value *term.Declaration
	last := len(file.Declarations) - 1
	typ, value = &file.Declarations[last-1], &file.Declarations[last]
	r := &file.Declarations[last-2].Block.Recursors[0]
	file.Declarations[last-2].Block.Types[0].IsRec = true
	r.LevelParams, r.Type, r.Rules[0].Value = typ.LevelParams, typ.Type, value.Value
	file.Declarations = file.Declarations[:last-1]
	return file
}

// An equality that holds one way only for the procedure, asked in both directions, must not decide which fields are
// recursive differently for the minor premise and for the rule.
func TestRecursiveFieldsAreFoundOnce(t *testing.T) {
	t.Parallel()
	a, b := "(fun (z : D P) => U.u)", "(fun (z : D I) => z)"
	for _, o := range []oneWay{{a, b, false}, {b, a, false}, {a, b, true}, {b, a, true}} {
		file := o.file(t)
		r := Check(context.Background(), file.Store, file.Declarations, Budget{})
		if r.Refusal == nil || file.Store.NameString(r.Refusal.Declaration) != "T" {
			t.Errorf("the minor premise's hypothesis is of x1, the rule's of x2: %s", describe(file, r))
		}
		other := fast.Check(context.Background(), file.Store, file.Declarations, fast.Options{Workers: 1})
		t.Logf("left %s: plain: %s; the other kernel: %v %v", o.left, describe(file, r), other.Accepted(), other.Refusal)
	}
}

// Quot is the quotient record itself: a definition of that name has no quotient's constants.
func TestQuotIsTheRecord(t *testing.T) {
	t.Parallel()
	text := `
inductive large Eq.{u} (α : Sort u) (a : α) : α -> Prop | refl : Eq.{u} α a a
inductive large PUnit.{u} : Sort u | unit : PUnit.{u}
def point.{u} (α : Sort u) (r : α -> α -> Prop) : Sort u := PUnit.{u}
quotients`
	file := source(t, text)
	if r := Check(context.Background(), file.Store, file.Declarations, Budget{}); !r.Accepted() {
		t.Fatal(describe(file, r))
	}
	point, quot := &file.Declarations[2], &file.Declarations[3]
	quot.Kind, quot.Value, quot.LevelParams, quot.Type = term.Definition, point.Value, point.LevelParams, point.Type
	if r := Check(context.Background(), file.Store, file.Declarations, Budget{}); r.Refusal == nil || r.Refusal.Class != invalidQuotient {
		t.Errorf("Quot as a definition: %s", describe(file, r))
	}
	for _, count := range []int{4, 5, 6} {
		file := source(t, text)
		if r := Check(context.Background(), file.Store, file.Declarations[:count], Budget{}); r.Refusal == nil || r.Refusal.Class != invalidQuotient {
			t.Errorf("%d of the four: %s", count-3, describe(file, r))
		}
	}
}

// The two answers for a pair that is equal one way only are the same whatever was asked before.
func TestEqualityHasNoHistory(t *testing.T) {
	t.Parallel()
	o := oneWay{left: "(fun (z : D P) => U.u)", right: "(fun (z : D I) => z)"}
	question := func(left, right string) string {
		return "theorem ask" + left + right + " : (p : And True True) -> (C : (D p -> U) -> Prop) -> (h : C " + o.at(map[string]string{"l": o.left, "r": o.right}[left], "p") +
			") -> C " + o.at(map[string]string{"l": o.left, "r": o.right}[right], "p") + " := fun (p : And True True) (C : (D p -> U) -> Prop) (h : C " +
			o.at(map[string]string{"l": o.left, "r": o.right}[left], "p") + ") => h\n"
	}
	alone := map[string]bool{}
	for _, q := range []string{"lr", "rl"} {
		_, r := checkSource(t, oneWayBase+question(q[:1], q[1:]))
		alone[q] = r.Accepted()
	}
	if alone["lr"] == alone["rl"] {
		t.Fatalf("the pair is equal both ways or neither: %v", alone)
	}
	// In one declaration, the question that fails is asked after the one that succeeds, and must still fail.
	good, bad := "lr", "rl"
	if !alone[good] {
		good, bad = bad, good
	}
	side := map[byte]string{'l': o.at(o.left, "p"), 'r': o.at(o.right, "p")}
	text := func(first, second string) string {
		binders := "(p : And True True) (C : (D p -> U) -> Prop) (g : C " + side[first[1]] + ") (h : C " + side[second[1]] + ")"
		return oneWayBase + "theorem both " + binders + " : And (C " + side[first[0]] + ") (C " + side[second[0]] + ") := And.intro (C " + side[first[0]] + ") (C " + side[second[0]] + ") g h\n"
	}
	if file, r := checkSource(t, text(good, good)); !r.Accepted() {
		t.Errorf("the question that succeeds, twice: %s", describe(file, r))
	}
	if file, r := checkSource(t, text(good, bad)); r.Refusal == nil {
		t.Errorf("the question that fails is answered by the other: %s", describe(file, r))
	}
}

// A universe parameter may have any name, the anonymous one too: Sort u is not Prop because of it.
func TestAParameterWithoutAName(t *testing.T) {
	t.Parallel()
	text := `inductive large Eq.{w} (α : Sort w) (a : α) : α -> Prop | refl : Eq.{w} α a a
theorem irrelevant.{v} (α : Sort v) (a b : α) : Eq.{v} α a b := Eq.refl.{v} α a`
	var out bytes.Buffer
	if err := leansource.Write(&out, text); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"in":(\d+),"str":\{"pre":0,"str":"v"\}`).FindSubmatch(out.Bytes())
	if found == nil {
		t.Fatalf("no parameter v:\n%s", out.String())
	}
	v := string(found[1])
	nameless := strings.NewReplacer(`"param":`+v+`}`, `"param":0}`, `"levelParams":[`+v+`]`, `"levelParams":[0]`).Replace(out.String())
	for _, text := range []string{out.String(), nameless} {
		file := readText(t, []byte(text))
		r := Check(context.Background(), file.Store, file.Declarations, Budget{})
		if r.Refusal == nil || r.Refusal.Class != typeMismatch {
			t.Errorf("any two elements of any type are equal: %s\n%s", describe(file, r), text)
		}
	}
}

// The indices of a type are found by reduction: Nat → Type may be a definition.
func TestIndicesByReduction(t *testing.T) {
	t.Parallel()
	file := source(t, `
inductive Nat : Type | zero : Nat | succ (n : Nat) : Nat
def F : Type 1 := Nat -> Type
def G : Type 1 := F
inductive T : Nat -> Type | mk : T Nat.zero`)
	file.Declarations[3].Block.Types[0].Type = file.Declarations[2].Value
	if r := Check(context.Background(), file.Store, file.Declarations, Budget{}); !r.Accepted() {
		t.Error(describe(file, r))
	}
}

// A declaration that is out of budget hides no later one: it is assumed as the file says, its recursors too.
func TestUndecidedDeclarationsHideNothing(t *testing.T) {
	t.Parallel()
	const params, steps = 14, 20_000
	var names, level []string
	for i := range params {
		names, level = append(names, fmt.Sprintf("u%d", i)), append(level, fmt.Sprintf("(max (imax 1 u%d) ", i))
	}
	one := strings.Join(level, "") + "0" + strings.Repeat(")", params) // each parameter doubles the cases that are looked at
	big := "inductive Big.{" + strings.Join(names, ", ") + "} : Type (max " + one + " 0) | mk (x : Sort " + one + ") : Big.{" + strings.Join(names, ", ") + "}\n"
	at := "Big.{" + strings.TrimSuffix(strings.Repeat("0, ", params), ", ") + "}"
	rec := func(value string) string {
		zeros := strings.TrimSuffix(strings.Repeat("0, ", params), ", ")
		return "Big.rec.{1, " + zeros + "} (fun (b : " + at + ") => U) (fun (x : Prop) => " + value + ") (Big.mk.{" + zeros + "} True)"
	}
	base := "inductive large True : Prop | intro : True\ninductive large Eq.{u} (α : Sort u) (a : α) : α -> Prop | refl : Eq.{u} α a a\n" +
		"inductive U : Type | u : U | v : U\n" + big
	right := base + "theorem right : Eq.{1} U (" + rec("U.u") + ") U.u := Eq.refl.{1} U U.u\n"
	wrong := right + "theorem wrong : Eq.{1} U (" + rec("U.u") + ") U.v := Eq.refl.{1} U U.u\n"
	for text, refused := range map[string]string{right: "", wrong: "wrong"} {
		file := source(t, text)
		if r := fast.Check(context.Background(), file.Store, file.Declarations, fast.Options{Workers: 1}); r.Accepted() != (refused == "") {
			t.Fatal(r.Refusal)
		}
		r := Check(context.Background(), file.Store, file.Declarations, Budget{Steps: steps})
		if r.OutOfBudget == nil || file.Store.NameString(r.OutOfBudget.Declaration) != "Big" {
			t.Fatalf("Big is decided in %d steps: %s", steps, describe(file, r))
		}
		if (r.Refusal != nil) != (refused != "") || r.Refusal != nil && file.Store.NameString(r.Refusal.Declaration) != refused {
			t.Errorf("refused: %s", describe(file, r))
		}
	}
}
