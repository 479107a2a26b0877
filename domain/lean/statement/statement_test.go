package statement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/term"
)

// core are the names that notation is used for, with their universe parameters; the tests declare them as axioms.
var core = []struct {
	name   string
	params []string
}{
	{"Nat", nil}, {"And", nil}, {"Or", nil}, {"Iff", nil}, {"Not", nil}, {"Eq", []string{"u"}}, {"Ne", []string{"u"}}, {"Exists", []string{"u"}},
	{"OfNat.ofNat", []string{"u"}}, {"instOfNatNat", nil}, {"HAdd.hAdd", []string{"u", "v", "w"}}, {"instHAdd", []string{"u"}}, {"instAddNat", nil},
	{"LE.le", []string{"u"}}, {"instLENat", nil},
}

// world is an export under construction that declares the core.
type world struct {
	*leantest.Builder
	components map[string]int // indices of names by prefix and component
	next       int
}

func newWorld() *world {
	w := &world{Builder: leantest.NewBuilder(), components: map[string]int{}}
	prop, u := w.Sort(0), w.Param("u")
	one := w.Sort(w.Succ(0))
	implicit := func(typ, body int) int { return w.pi("α", typ, body, "implicit") }
	arrow := func(typ, body int) int { return w.Pi("a", typ, body) }
	nat := w.Const("Nat")
	types := map[string]int{
		"Nat": one, "And": arrow(prop, arrow(prop, prop)), "Or": arrow(prop, arrow(prop, prop)), "Iff": arrow(prop, arrow(prop, prop)),
		"Not": arrow(prop, prop), "Exists": implicit(w.Sort(u), arrow(arrow(w.BVar(0), prop), prop)),
		"Eq": implicit(w.Sort(u), arrow(w.BVar(0), arrow(w.BVar(1), prop))), "Ne": implicit(w.Sort(u), arrow(w.BVar(0), arrow(w.BVar(1), prop))),
		"OfNat.ofNat":  implicit(w.Sort(w.Succ(u)), arrow(nat, arrow(prop, w.BVar(2)))),
		"HAdd.hAdd":    implicit(one, implicit(one, implicit(one, arrow(prop, arrow(w.BVar(3), arrow(w.BVar(3), w.BVar(3))))))),
		"instOfNatNat": arrow(nat, prop), "instHAdd": arrow(one, arrow(prop, prop)), "instAddNat": prop,
		"LE.le": implicit(one, arrow(prop, arrow(w.BVar(1), arrow(w.BVar(2), prop)))), "instLENat": prop,
	}
	for _, c := range core {
		w.Axiom(c.name, types[c.name], c.params...)
	}
	return w
}

func (w *world) pi(name string, typ, body int, binder string) int {
	return w.binding("forallE", w.Name(name), typ, body, binder)
}

func (w *world) binding(kind string, name, typ, body int, binder string) int {
	w.next++
	w.Line(`{"ie":%d,%q:{"name":%d,"type":%d,"body":%d,"binderInfo":%q}}`, 1000+w.next, kind, name, typ, body, binder)
	return 1000 + w.next
}

// at is the index of the name with one more component; a numeric one is written as its digits behind "#".
func (w *world) at(prefix int, part string) int {
	key := fmt.Sprintf("%d %s", prefix, part)
	if i, ok := w.components[key]; ok {
		return i
	}
	w.next++
	i := 1000 + w.next
	if digits, ok := strings.CutPrefix(part, "#"); ok && isDigits(digits) {
		w.Line(`{"in":%d,"num":{"pre":%d,"i":%s}}`, i, prefix, digits)
	} else {
		text, _ := json.Marshal(part)
		w.Line(`{"in":%d,"str":{"pre":%d,"str":%s}}`, i, prefix, text)
	}
	w.components[key] = i
	return i
}

// named lets the builder use a name of these components under a label.
func (w *world) named(label string, parts ...string) string {
	i := 0
	for _, part := range parts {
		i = w.at(i, part)
	}
	w.ReuseName(label, i)
	return label
}

func (w *world) numeral(digits string) int {
	literal := w.Nat(digits)
	return w.App(w.Const("OfNat.ofNat", 0), w.Const("Nat"), literal, w.App(w.Const("instOfNatNat"), literal))
}

func (w *world) equal(a, b int) int {
	return w.App(w.Const("Eq", w.Succ(0)), w.Const("Nat"), a, b)
}

// failer is what testing.TB and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// language reads the export; the core declared by newWorld is Lean's own.
func (w *world) language(t failer) *Language {
	t.Helper()
	file, err := export.Read(context.Background(), strings.NewReader(w.Text()), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var dotted []string
	for _, c := range core {
		dotted = append(dotted, c.name)
	}
	reference := NewReference(dotted)
	own := reference.NamesIn(file.Store)
	return New(file, NewNames(file.Store, file.Declarations, reference), func(n term.Name) bool { _, ok := own[n]; return ok })
}

// states prints what the last declaration states and fails where the text does not read back with the notation.
func states(t failer, l *Language) string {
	t.Helper()
	d := l.file.Declarations[len(l.file.Declarations)-1]
	text, ok, err := attempt(l, d.Name, false)
	if !ok || err != nil {
		t.Fatalf("%q does not read back: %v", text, err)
	}
	return text
}

func TestStatements(t *testing.T) {
	cases := []struct {
		want  string
		build func(w *world) int
	}{
		{"2 = 5", func(w *world) int { return w.equal(w.numeral("2"), w.numeral("5")) }},
		{"2 = «#5»", func(w *world) int {
			w.Axiom(w.named("five", "#5"), w.Const("Nat"))
			return w.equal(w.numeral("2"), w.Const("five"))
		}},
		{"«5» = «#5»", func(w *world) int {
			w.Axiom(w.named("five", "#5"), w.Const("Nat"))
			w.Axiom(w.named("text", "5"), w.Const("Nat"))
			return w.equal(w.Const("text"), w.Const("five"))
		}},
		{"nat_lit 2 = 2", func(w *world) int { return w.equal(w.Nat("2"), w.numeral("2")) }},
		{"Type «#3» → Type 3", func(w *world) int {
			w.ReuseName("three", w.at(0, "#3"))
			return w.Pi("x", w.Sort(w.Succ(w.Param("three"))), w.Sort(w.Succ(w.Succ(w.Succ(w.Succ(0))))))
		}},
		{"Sort «max» → Sort «l» → Sort «3»", func(w *world) int {
			for _, name := range []string{"max", "l", "3"} {
				w.ReuseName(name, w.at(0, name))
			}
			return w.Pi("x", w.Sort(w.Param("max")), w.Pi("x", w.Sort(w.Param("l")), w.Sort(w.Param("3"))))
		}},
		{"@Eq.{1} «Type» Prop «Type»", func(w *world) int {
			w.Axiom(w.named("T", "Type"), w.Sort(w.Succ(0))) // the type of = is another than the operands have
			return w.App(w.Const("Eq", w.Succ(0)), w.Const("T"), w.Sort(0), w.Const("T"))
		}},
		{`«Nat\u{3164}» → «N\u{430}t» → Nat`, func(w *world) int {
			w.Axiom(w.named("filler", "Nat\u3164"), w.Sort(0))
			w.Axiom(w.named("cyrillic", "N\u0430t"), w.Sort(0))
			return w.Pi("x", w.Const("filler"), w.Pi("x", w.Const("cyrillic"), w.Const("Nat")))
		}},
		{`«N\u{3b1}t» → «lnstAddNat» → «\u{49}nstAddNat» → instAddNat`, func(w *world) int {
			w.Axiom(w.named("greek", "Nαt"), w.Sort(0))
			w.Axiom("lnstAddNat", w.Sort(0))
			w.Axiom("InstAddNat", w.Sort(0))
			return w.Pi("x", w.Const("greek"), w.Pi("x", w.Const("lnstAddNat"), w.Pi("x", w.Const("InstAddNat"), w.Const("instAddNat"))))
		}},
		{"теорема → «\\u{430}\\u{440}\\u{435}» → ℕ", func(w *world) int {
			for _, name := range []string{"теорема", "аре", "ℕ"} {
				w.Axiom(w.named(name, name), w.Sort(0))
			}
			return w.Pi("x", w.Const("теорема"), w.Pi("x", w.Const("аре"), w.Const("ℕ")))
		}},
		{"@«OfNat.ofNat».{0} Nat (nat_lit 5) (instOfNatNat (nat_lit 5)) = 5", func(w *world) int {
			w.Axiom(w.named("one", "OfNat.ofNat"), w.pi("α", w.Sort(w.Succ(0)), w.Pi("n", w.Const("Nat"), w.Pi("i", w.Sort(0), w.Const("Nat"))), "implicit"), "u")
			return w.equal(w.App(w.Const("one", 0), w.Const("Nat"), w.Nat("5"), w.App(w.Const("instOfNatNat"), w.Nat("5"))), w.numeral("5"))
		}},
		{"a.b → «a.b» → «» → «#»", func(w *world) int {
			w.Axiom("a.b", w.Sort(0))
			w.Axiom(w.named("joined", "a.b"), w.Sort(0))
			w.Axiom(w.named("empty", ""), w.Sort(0))
			w.ReuseName("anonymous", 0)
			w.Axiom("anonymous", w.Sort(0))
			return w.Pi("x", w.Const("a.b"), w.Pi("x", w.Const("joined"), w.Pi("x", w.Const("empty"), w.App(w.Const("anonymous")))))
		}},
		{"«fun» → Foo.«let» → Nat.max → «max» → «\\u{49}et» → «O»", func(w *world) int {
			e := -1
			for _, parts := range [][]string{{"O"}, {"Iet"}, {"max"}, {"Nat", "max"}, {"Foo", "let"}, {"fun"}} {
				label := w.named("label "+strings.Join(parts, " "), parts...)
				w.Axiom(label, w.Sort(0))
				if e < 0 {
					e = w.Const(label)
				} else {
					e = w.Pi("x", w.Const(label), e)
				}
			}
			return e
		}},
		{`"a\u{202e}b" = "\u{430}"`, func(w *world) int {
			w.Axiom("String", w.Sort(w.Succ(0)))
			text := func(s string) int {
				w.next++
				quoted, _ := json.Marshal(s)
				w.Line(`{"ie":%d,"strVal":%s}`, 1000+w.next, quoted)
				return 1000 + w.next
			}
			return w.App(w.Const("Eq", w.Succ(0)), w.Const("String"), text("a\u202eb"), text("\u0430"))
		}},
		{"∃ (n : Nat), ¬1 + n = n", func(w *world) int {
			sum := w.App(w.Const("HAdd.hAdd", 0, 0, 0), w.Const("Nat"), w.Const("Nat"), w.Const("Nat"),
				w.App(w.Const("instHAdd", 0), w.Const("Nat"), w.Const("instAddNat")), w.numeral("1"), w.BVar(0))
			return w.App(w.Const("Exists", w.Succ(0)), w.Const("Nat"), w.Lam("n", w.Const("Nat"), w.App(w.Const("Not"), w.equal(sum, w.BVar(0)))))
		}},
		// an annotation that ∃ does not show, a universe that = does not show
		{"@Exists.{1} Nat (fun {n : Nat} => n = n) → 1 =.{2} 1", func(w *world) int {
			f := w.binding("lam", w.Name("n"), w.Const("Nat"), w.equal(w.BVar(0), w.BVar(0)), "implicit")
			return w.Pi("x", w.App(w.Const("Exists", w.Succ(0)), w.Const("Nat"), f), w.App(w.Const("Eq", w.Succ(w.Succ(0))), w.Const("Nat"), w.numeral("1"), w.numeral("1")))
		}},
		// the variable is called like the constant it stands beside
		{"∀ (x_1 : Prop), «a b».«c.d» → x_1 → x", func(w *world) int {
			w.Axiom(w.named("odd", "a b", "c.d"), w.Sort(0))
			w.Axiom("x", w.Sort(0))
			return w.Pi("x", w.Sort(0), w.Pi("h", w.Const("odd"), w.Pi("k", w.BVar(1), w.Const("x"))))
		}},
		{"#proj Nat 2 (#7 Type Prop) → (Type) Prop", func(w *world) int {
			return w.Pi("x", w.Proj("Nat", 1, w.App(w.BVar(7), w.App(w.Sort(w.Succ(0))), w.Sort(0))), w.App(w.Sort(w.Succ(0)), w.Sort(0)))
		}},
	}
	for _, c := range cases {
		w := newWorld()
		w.Axiom("stated", c.build(w), "u")
		if got := states(t, w.language(t)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Everything explicit reads back as well, whatever the notation does.
func TestExplicitStatement(t *testing.T) {
	w := newWorld()
	w.Axiom("stated", w.Pi("n", w.Const("Nat"), w.equal(w.BVar(0), w.numeral("5"))))
	l := w.language(t)
	n, _ := l.file.Store.LookupDotted("stated")
	text, ok, err := attempt(l, n, true)
	want := "∀ (x : @«Nat»), @«Eq».{1} @«Nat» x (@«OfNat».«ofNat».{0} @«Nat» (nat_lit 5) (@«instOfNatNat» (nat_lit 5)))"
	if text != want || !ok || err != nil {
		t.Errorf("%v %v %s", ok, err, text)
	}
}

// What is too long is not printed at all.
func TestTooLongStatement(t *testing.T) {
	for name, build := range map[string]func(w *world) int{
		"wide": func(w *world) int {
			e := w.Const("Nat")
			for range 20 {
				e = w.App(e, e)
			}
			return e
		},
		"deep": func(w *world) int {
			e := w.Const("Nat")
			for range maxDepth {
				e = w.App(w.Const("Not"), e)
			}
			return e
		},
		"names": func(w *world) int {
			e := w.Const("Not")
			for i := range 8 {
				e = w.App(e, w.Const(strings.Repeat("x", MaxBytes/8)+strconv.Itoa(i)))
			}
			return e
		},
		"number": func(w *world) int { return w.Nat(strings.Repeat("9", MaxBytes)) },
		"universe": func(w *world) int {
			l := 0
			return w.Sort(func() int {
				for range maxOffset + 2 {
					l = w.Succ(l)
				}
				return l
			}())
		},
	} {
		w := newWorld()
		w.Axiom("stated", build(w))
		l := w.language(t)
		n, _ := l.file.Store.LookupDotted("stated")
		if text, err := l.Statement(n); !errors.Is(err, ErrTooLong) || text != "" {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	w := newWorld()
	w.Axiom("c", w.Const("Nat"))
	w.Axiom("stated", w.Const("Nat"), "u")
	l := w.language(t)
	for _, text := range []string{
		"", " ", "c c)", "(c", "Eq", "Nat = ", "c = c = c", "¬", "∀ (x : Nat)", "∀, c", "fun (c : Nat) (c : Nat) => c", "x", "@x", "05", "nat_lit", "nat_lit 01",
		"#0 = c = c", "∀ (x : Nat), #0", "c.0", "Sort", "Sort x", "Sort 10001", "Type (u", "c.{u", "Eq.{u} c", "«c", "«#05»", "«#»", "«\\u{6A}»", "«\\u{d800}»",
		"«\\x»", "\"", "\"\\u{g}\"", "\"\\", "fun", "c ∨", "c + ", "Nаt", "∃ (x y : Nat), x", "∃ {x : Nat}, x", "let x : Nat := c", "max", "c ↔ c ↔ c", "\xff", "«\xff»",
		strings.Repeat("(", 4*maxDepth+1), strings.Repeat("¬", 4*maxDepth+1) + "c", strings.Repeat(" ", MaxBytes+1),
	} {
		if e, err := l.newSession().read(text); err == nil {
			t.Errorf("%.40q reads as %+v", text, e)
		}
	}
	for _, text := range []string{"c", "«c»", "@c", "(c)", "1 + 1 + c ≤ 05"[:9], "Sort (max u 1)", "Type (u+1)", "∀ {x y : Nat}, x = y", "c = c → c = c", "\"\\\"\\u{1}é\"", "#7", "c.1"} {
		if _, err := l.newSession().read(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// pool are components that try to be taken for others.
var pool = []string{"a", "b", "x", "Nat", "Eq", "#5", "5", "#0", "0", "", "Type", "Prop", "fun", "max", "u", "l", "I", "1", "O", "m", "rn", "_",
	"N\u0430t", "Nat\u3164", "Nat\u200b", "a.b", "OfNat.ofNat", "«a»", "»", "«", "\\", "\\u{61}", "#5x", "##", "a b", " a", "a ", "α", "αb", "ο", "Σ", "é", "e\u0301",
	"\U000e0061", "\ue000", "\u0378", "→", "(", "\"", "\n", "теорема", "аре", "漢字", "ニ", "二", "𝕜", "ℕ", "K", "₁", "x₁", "x'", "x!", "\ufffd", "\x00", "Iet", "let"}

// random builds an export with three axioms of random types, often ill-typed, over a signature with such names.
func random(t *rapid.T) *world {
	w := newWorld()
	component := rapid.SampledFrom(pool)
	var labels []string
	for i := range rapid.IntRange(1, 5).Draw(t, "names") {
		label := w.named(fmt.Sprintf("label %d", i), rapid.SliceOfN(component, 1, 3).Draw(t, "name")...)
		labels = append(labels, label)
		if rapid.Bool().Draw(t, "declared") {
			typ := w.Const("Nat")
			if rapid.Bool().Draw(t, "implicit") {
				typ = w.pi("x", typ, typ, "implicit")
			}
			w.Axiom(label, typ)
		}
	}
	name := func() string {
		if rapid.Bool().Draw(t, "own") {
			return rapid.SampledFrom(labels).Draw(t, "label")
		}
		return core[rapid.IntRange(0, len(core)-1).Draw(t, "core")].name
	}
	var level func(size int) int
	level = func(size int) int {
		switch rapid.IntRange(0, 4).Draw(t, "level") * min(size, 1) {
		case 1:
			return w.Succ(level(size - 1))
		case 2:
			return w.Max(level(size/2), level(size/2))
		case 3:
			return w.IMax(level(size/2), level(size/2))
		case 4:
			return w.Param(rapid.SampledFrom(labels).Draw(t, "param"))
		}
		return 0
	}
	binder := rapid.SampledFrom([]string{"default", "implicit", "strictImplicit", "instImplicit"})
	var expr, number func(size, depth int) int
	number = func(size, depth int) int {
		switch rapid.IntRange(0, 3).Draw(t, "number") {
		case 0:
			return w.numeral(fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "value")))
		case 1:
			return w.App(w.Const("HAdd.hAdd", 0, 0, 0), w.Const("Nat"), w.Const("Nat"), w.Const("Nat"),
				w.App(w.Const("instHAdd", 0), w.Const("Nat"), w.Const("instAddNat")), expr(size/2, depth), expr(size/2, depth))
		}
		return expr(size-1, depth)
	}
	expr = func(size, depth int) int {
		if size <= 0 {
			switch rapid.IntRange(0, 4).Draw(t, "leaf") {
			case 0:
				return w.Sort(level(2))
			case 1:
				return w.Nat(fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "value")))
			case 2:
				return w.numeral("5")
			case 3:
				return w.BVar(rapid.IntRange(0, depth+1).Draw(t, "index"))
			}
			return w.Const(name())
		}
		bound := func() (int, int) { return w.at(0, component.Draw(t, "bound")), expr(size/2, depth) }
		switch rapid.IntRange(0, 12).Draw(t, "node") {
		case 0, 1:
			return w.App(expr(size/2, depth), expr(size/2, depth))
		case 2, 3:
			n, typ := bound()
			return w.binding("forallE", n, typ, expr(size/2, depth+1), binder.Draw(t, "binder"))
		case 4:
			n, typ := bound()
			return w.binding("lam", n, typ, expr(size/2, depth+1), binder.Draw(t, "binder"))
		case 5:
			w.ReuseName("bound", w.at(0, component.Draw(t, "bound")))
			return w.Let("bound", expr(size/3, depth), expr(size/3, depth), expr(size/3, depth+1))
		case 6:
			return w.Proj(name(), rapid.IntRange(0, 3).Draw(t, "field"), expr(size-1, depth))
		case 7:
			return w.Const(name(), level(3))
		case 8:
			return w.equal(number(size/2, depth), number(size/2, depth))
		case 9:
			n, typ := bound()
			return w.App(w.Const("Exists", level(2)), typ, w.binding("lam", n, typ, expr(size/2, depth+1), binder.Draw(t, "binder")))
		case 10:
			return w.App(w.Const(rapid.SampledFrom([]string{"And", "Or", "Iff"}).Draw(t, "connective")), expr(size/2, depth), expr(size/2, depth))
		case 11:
			return w.App(w.Const("Not"), expr(size-1, depth))
		}
		return number(size, depth)
	}
	for i := range 3 {
		w.Axiom(w.named(fmt.Sprintf("stated %d", i), "stated", fmt.Sprintf("#%d", i)), expr(rapid.IntRange(0, 24).Draw(t, "size"), 0))
	}
	return w
}

// roundTrip checks that every type of an export reads back, with notation and without, and that different ones and
// different names are different texts.
func roundTrip(t *rapid.T) {
	l := random(t).language(t)
	s := New(l.file, l.Names, l.isLeanConstant).newSession() // in whose arena all types stay
	statements := map[string]exprID{}
	for i := range l.file.Declarations {
		n := l.file.Declarations[i].Name
		for _, explicit := range []bool{false, true} {
			text, ok, err := attempt(l, n, explicit)
			if !ok || err != nil {
				t.Fatalf("%v: %q does not read back: %v", explicit, text, err)
			}
			if explicit {
				continue
			}
			handle, _ := l.file.WrittenType(n)
			e, _ := s.importer.expr(handle)
			if other, ok := statements[text]; ok && other != e {
				t.Fatalf("two types print as %q", text)
			}
			statements[text] = e
		}
	}
	constants, params := map[string]bool{}, map[string]bool{}
	for i := range l.file.Store.NameCount() {
		n := term.Name(i)
		constant, param := l.Text(n), l.Param(n)
		for _, text := range []string{constant, param, l.Quoted(n)} {
			if back, ok := l.Read(text); !ok || back != n {
				t.Fatalf("%q does not read back", text)
			}
			if strings.ContainsFunc(text, func(r rune) bool { return scriptOf(r) == noScript && r != '«' && r != '»' }) {
				t.Fatalf("%q has characters that cannot be seen", text)
			}
		}
		if constants[constant] || params[param] {
			t.Fatalf("two names print as %q or %q", constant, param)
		}
		constants[constant], params[param] = true, true
	}
}

func TestStatementsReadBack(t *testing.T) { rapid.Check(t, roundTrip) }

func FuzzStatementsReadBack(f *testing.F) { f.Fuzz(rapid.MakeFuzz(roundTrip)) }

// Declared names that look alike to the eye are different texts with different skeletons, or one has escapes.
func TestLookAlikesAreApart(t *testing.T) {
	w := newWorld()
	groups := [][]string{{"foo1", "fool", "fooI"}, {"form", "forrn"}, {"α", "a"}, {"x0", "xO"}}
	for _, group := range groups {
		for _, name := range group {
			w.Axiom(w.named(name, name), w.Sort(0))
		}
	}
	l := w.language(t)
	for _, group := range groups {
		var texts []string
		for _, name := range group {
			n, _ := l.file.Store.LookupStr(term.Anonymous, name)
			text := l.Text(n)
			if !strings.HasPrefix(text, "«") {
				t.Errorf("%s prints as %s", name, text)
			}
			texts = append(texts, skeleton(text))
		}
		slices.Sort(texts)
		if len(slices.Compact(texts)) != len(group) {
			t.Errorf("%q", texts)
		}
	}
}

func FuzzReader(f *testing.F) {
	w := newWorld()
	w.Axiom("c", w.Const("Nat"))
	w.Axiom("stated", w.Const("Nat"), "u")
	l := w.language(f)
	for _, seed := range []string{"∀ {x y : Nat}, 1 + x = y → ¬c ≤ 5", "∃ (x : Nat), x = c", "fun ⦃x : Sort (max u 1)⦄ [y : Type (u+1)] => #proj Nat 1 x", "let x : Nat := nat_lit 5; x.1 \"\\u{1}\"", "@«Eq».{1} «#5»"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := l.newSession()
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(tooLong); !ok {
					panic(r)
				}
			}
		}()
		_, _ = s.read(text)
	})
}

// attempt renders the type of n, and says whether it reads back.
func attempt(l *Language, n term.Name, explicit bool) (string, bool, error) {
	handle, ok := l.file.WrittenType(n)
	if !ok {
		return "", false, errUndeclared
	}
	return l.render(handle, explicit)
}
