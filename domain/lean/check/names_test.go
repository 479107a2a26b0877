package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reckon/domain/lean/check"
	"reckon/domain/lean/internal/leantest"
)

// component adds a name of one more component to an export; digits stand for a numeric one.
func component(b *leantest.Builder, index int, prefix int, text string, digits string) int {
	if digits != "" {
		b.Line(`{"in":%d,"num":{"pre":%d,"i":%s}}`, index, prefix, digits)
	} else {
		quoted, _ := json.Marshal(text)
		b.Line(`{"in":%d,"str":{"pre":%d,"str":%s}}`, index, prefix, quoted)
	}
	return index
}

// foo is a real export that proves Nat.add 1 1 = 2, to which tests add.
func foo(t *testing.T) *leantest.Builder {
	t.Helper()
	return leantest.NewBuilder(strings.Split(strings.TrimSpace(file(t, "judge", "foo")), "\n")...)
}

func numeral(b *leantest.Builder, digits string) int {
	literal := b.Nat(digits)
	return b.App(b.Const("OfNat.ofNat", 0), b.Const("Nat"), literal, b.App(b.Const("instOfNatNat"), literal))
}

// A proposition that is proved cannot be printed as another one: neither by a constant whose name is a number, nor by
// one that has the name of a constant with notation in one component.
func TestForgedNumbersAreNotPrintedAsNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		want  string
		forge func(b *leantest.Builder) int // an expression that is 4
	}{
		"numeric component": {"Nat.add 2 2 = «#5»", func(b *leantest.Builder) int {
			b.ReuseName("five", component(b, 90001, 0, "", "5"))
			b.Def("five", b.Const("Nat"), numeral(b, "4"))
			return b.Const("five")
		}},
		"digits": {"Nat.add 2 2 = «5»", func(b *leantest.Builder) int {
			b.ReuseName("five", component(b, 90001, 0, "5", ""))
			b.Def("five", b.Const("Nat"), numeral(b, "4"))
			return b.Const("five")
		}},
		"one component": {"Nat.add 2 2 = «OfNat.ofNat».{0} Nat (nat_lit 5) (instOfNatNat (nat_lit 5))", func(b *leantest.Builder) int {
			b.ReuseName("forged", component(b, 90001, 0, "OfNat.ofNat", ""))
			u := b.Param("u")
			sort := b.Sort(b.Succ(u))
			instance := func(alpha, n int) int { return b.App(b.Const("OfNat", u), b.BVar(alpha), b.BVar(n)) }
			typ := b.Pi("α", sort, b.Pi("n", b.Const("Nat"), b.Pi("i", instance(1, 0), b.BVar(2))))
			b.Axiom("forged", typ, "u")
			literal := b.Nat("5")
			return b.App(b.Const("forged", 0), b.Const("Nat"), literal, b.App(b.Const("instOfNatNat"), literal))
		}},
	} {
		b := foo(t)
		five := c.forge(b)
		nat, one := b.Const("Nat"), b.Succ(0)
		sum := b.App(b.Const("Nat.add"), numeral(b, "2"), numeral(b, "2"))
		stated := b.App(b.Const("Eq", one), nat, sum, five)
		b.Theorem("two", stated, b.App(b.Const("Eq.refl", one), nat, numeral(b, "4")))
		b.Axiom("honest", b.App(b.Const("Eq", one), nat, sum, numeral(b, "5")))
		r := judge(t, b.Text(), named("two", "honest"))
		if len(r.Declarations) != 2 || *r.Declarations[0].Statement != c.want || *r.Declarations[1].Statement != "Nat.add 2 2 = 5" ||
			*r.Declarations[0].StatementSHA256 == *r.Declarations[1].StatementSHA256 {
			t.Errorf("%s: %+v, want %s", name, r.Declarations, c.want)
			for _, d := range r.Declarations {
				t.Log(*d.Statement)
			}
		}
	}
}

// The names that reports have are written as in statements, and asked for like that or as exported.
func TestNamesInReports(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	identity, proof := b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1))), b.Lam("p", prop, b.Lam("h", b.BVar(0), b.BVar(0)))
	add := func(index int, text, digits string) {
		label := fmt.Sprint("label", index)
		b.ReuseName(label, component(b, index, 0, text, digits))
		b.Theorem(label, identity, proof)
	}
	add(90001, "a.b", "")
	add(90002, "", "5")
	add(90003, "N\u0430t", "")
	add(90004, "joined.only", "")
	b.Theorem("a.b", identity, proof)
	for asked, want := range map[string]string{
		"«a».«b»": "a.b", "a.«b»": "a.b", "«a.b»": "«a.b»", "«#5»": "«#5»", "5": "«#5»", "N\u0430t": `«N\u{430}t»`, `«N\u{430}t»`: `«N\u{430}t»`,
		"joined.only": "«joined.only»", "a.b": "", "«N\u0430t»": `«N\u{430}t»`, "«a».b.c": "", "«a": "",
	} {
		r := judge(t, b.Text(), named(asked))
		if want == "" {
			if r.Verdict != check.Unsupported || len(r.Declarations) != 0 {
				t.Errorf("%s: %s %+v", asked, r.Verdict, r.Declarations)
			}
			if asked == "a.b" && (r.Refusal.Class != check.AmbiguousDeclaration || !strings.Contains(r.Refusal.Message, "«a».«b»") || !strings.Contains(r.Refusal.Message, "«a.b»")) {
				t.Errorf("%+v", r.Refusal)
			}
			continue
		}
		if r.Verdict != check.Verified || len(r.Declarations) != 1 || r.Declarations[0].Name != want {
			t.Errorf("%s: %s %+v, want %s", asked, r.Verdict, r.Declarations, want)
		}
	}
}

// An axiom of one component is none of the core library, whatever it looks like.
func TestAxiomsOfOneComponent(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	b.Inductive("True", prop, 0, 0, false, leantest.Ctor{Name: "True.intro", Type: b.Const("True")})
	b.ReuseName("joined", component(b, 90001, 0, "Lean.trustCompiler", ""))
	b.Axiom("joined", b.Const("True"))
	b.Theorem("mine", b.Const("True"), b.Const("joined"))
	r, err := check.Inspect(context.Background(), strings.NewReader(b.Text()), named("mine"))
	if err != nil || r.Verdict != check.Unsupported || r.Refusal.Class != check.CustomAxiom || !slices.Equal(r.AxiomsUsed, []string{"«Lean.trustCompiler»"}) || r.Refusal.Line == 0 {
		t.Errorf("%s %v %+v %v", r.Verdict, r.AxiomsUsed, r.Refusal, err)
	}
}

// A statement that is too long is not shown in part. Where its name was asked for, that is no success.
func TestTooLongStatement(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	wide := b.Pi("p", prop, prop)
	for range 20 {
		wide = b.Pi("f", wide, wide)
	}
	b.Theorem("good", b.Pi("p", prop, b.Pi("h", b.BVar(0), b.BVar(1))), b.Lam("p", prop, b.Lam("h", b.BVar(0), b.BVar(0))))
	b.Axiom("wide", wide)
	r := judge(t, b.Text(), named("wide"))
	if r.Verdict != check.Unsupported || len(r.Declarations) != 1 || r.Declarations[0].Statement != nil || r.Declarations[0].StatementSHA256 != nil ||
		r.Refusal.Class != check.StatementTooLong || r.Refusal.Declaration != "wide" || r.Refusal.Line == 0 {
		t.Errorf("%+v %+v", r.Refusal, r.Declarations)
	}
	r = judge(t, b.Text(), check.Options{All: true})
	if len(r.Declarations) != 2 || r.Declarations[1].Statement != nil || r.Refusal.Class != check.CustomAxiom {
		t.Errorf("%+v %+v", r.Refusal, r.Declarations)
	}
}

// A universe parameter cannot pass for a number, nor a constant for a universe or for another constant.
func TestForgedSortsAndLookAlikes(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	b.ReuseName("three", component(b, 90001, 0, "", "3"))
	b.Axiom("numbered", b.Pi("x", b.Sort(b.Succ(b.Param("three"))), prop), "three")
	for i, name := range []string{"Type", "Nat\u3164", "N\u0430t", "Nat"} {
		label := fmt.Sprint("label", i)
		b.ReuseName(label, component(b, 90002+i, 0, name, ""))
		b.Axiom(label, prop)
		b.Axiom(fmt.Sprint("of", i), b.Const(label))
	}
	r := judge(t, b.Text(), named("numbered", "of0", "of1", "of2", "of3"))
	for i, want := range []string{"Type «#3» → Prop", "«Type»", `«Nat\u{3164}»`, `«N\u{430}t»`, "Nat"} {
		if got := *r.Declarations[i].Statement; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
