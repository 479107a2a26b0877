package kernel_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leansource"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/kernel"
)

// The traps that other checkers fell into, as small files of our own. Those the arena has files for are in
// TestRefusesEveryBadExport; the file that avoids each is named in docs/bench/kernel.md.

func expectRefusal(t *testing.T, b *leantest.Builder, declaration string, class kernel.Class) {
	t.Helper()
	compare(t, t.Name(), []byte(b.Text()))
	file, r := checkText(t, t.Name(), []byte(b.Text()), kernel.Options{})
	if r.Refusal == nil {
		t.Fatalf("not refused: %+v", r)
	}
	if got := file.Store.NameString(r.Refusal.Declaration); got != declaration || r.Refusal.Class != class {
		t.Fatalf("refused %s: %v; want %s: %s", got, r.Refusal, declaration, class)
	}
}

func expectAccepted(t *testing.T, b *leantest.Builder) {
	t.Helper()
	compare(t, t.Name(), []byte(b.Text()))
	if _, r := checkText(t, t.Name(), []byte(b.Text()), kernel.Options{}); !r.Accepted() {
		t.Fatalf("not accepted: %v %v", r.Refusal, r.Exhausted)
	}
}

// level cases: the value Sort l has the type Sort (l+1), so declaring Sort r for it asks whether l+1 = r.
func TestTrapImaxOffset(t *testing.T) {
	cases := []struct {
		name  string
		equal bool
		sides func(b *leantest.Builder, u, v int) (value, typ int)
	}{
		{"imax (u+1) (v+1) is not (imax u v)+1", false, func(b *leantest.Builder, u, v int) (int, int) {
			return b.IMax(b.Succ(u), b.Succ(v)), b.Succ(b.Succ(b.IMax(u, v)))
		}},
		{"imax (u+1) (v+1) is max (u+1) (v+1)", true, func(b *leantest.Builder, u, v int) (int, int) {
			return b.IMax(b.Succ(u), b.Succ(v)), b.Succ(b.Max(b.Succ(u), b.Succ(v)))
		}},
		{"imax u 0 is 0", true, func(b *leantest.Builder, u, _ int) (int, int) { return b.IMax(u, 0), b.Succ(0) }},
		{"imax u v is not max u v", false, func(b *leantest.Builder, u, v int) (int, int) {
			return b.IMax(u, v), b.Succ(b.Max(u, v))
		}},
		{"imax u (imax v u) is imax (max u v) u", true, func(b *leantest.Builder, u, v int) (int, int) {
			return b.IMax(u, b.IMax(v, u)), b.Succ(b.IMax(b.Max(u, v), u))
		}},
		{"max u v is max v u", true, func(b *leantest.Builder, u, v int) (int, int) { return b.Max(u, v), b.Succ(b.Max(v, u)) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := leantest.NewBuilder()
			u, v := b.Param("u"), b.Param("v")
			value, typ := c.sides(b, u, v)
			b.Def("d", b.Sort(typ), b.Sort(value), "u", "v")
			if c.equal {
				expectAccepted(t, b)
			} else {
				expectRefusal(t, b, "d", kernel.TypeMismatch)
			}
		})
	}
}

// A constant takes as many universe arguments as it declares, wherever it stands: also where nothing looks at its type.
func TestTrapUniverseCount(t *testing.T) {
	for _, levels := range [][]int{{}, {0, 0}} {
		b := leantest.NewBuilder()
		u := b.Param("u")
		sort := b.Sort(u)
		b.Def("id", b.Pi("α", sort, sort), b.Lam("α", sort, b.BVar(0)), "u")
		prop, typ := b.Sort(0), b.Sort(b.Succ(0))
		b.Def("unused", typ, b.App(b.Lam("f", b.Pi("α", prop, prop), prop), b.Const("id", levels...)))
		expectRefusal(t, b, "unused", kernel.UniverseCount)
	}
}

func TestTrapUndefinedUniverse(t *testing.T) {
	b := leantest.NewBuilder()
	u := b.Param("u")
	b.Axiom("a", b.Sort(u))
	expectRefusal(t, b, "a", kernel.UndefinedUniverse)
}

// inductive Neg (α : Type) | mk : (α → α) → Neg α is fine; inductive Bad | mk : Neg Bad → Bad is not: inside Neg, Bad
// stands to the left of an arrow.
func TestTrapNestedPositivity(t *testing.T) {
	for _, positive := range []bool{true, false} {
		b := leantest.NewBuilder()
		typ := b.Sort(b.Succ(0))
		argument := b.BVar(0)
		if !positive {
			argument = b.Pi("x", b.BVar(0), b.BVar(1))
		}
		mk := b.Pi("α", typ, b.Pi("f", argument, b.App(b.Const("Box"), b.BVar(1))))
		b.Inductive("Box", b.Pi("α", typ, typ), 1, 0, false, leantest.Ctor{Name: "Box.mk", Type: mk, Fields: 1})
		bad := b.Pi("x", b.App(b.Const("Box"), b.Const("Tree")), b.Const("Tree"))
		b.Inductive("Tree", typ, 0, 1, true, leantest.Ctor{Name: "Tree.mk", Type: bad, Fields: 1})
		if positive {
			expectRefusal(t, b, "Box", kernel.RecursorMismatch) // only the recursor records are missing
		} else {
			expectRefusal(t, b, "Tree", kernel.NonPositiveOccurrence)
		}
	}
}

// A nested type whose parameters depend on a constructor's own arguments has no fixed auxiliary type.
func TestTrapNestedLocalParameter(t *testing.T) {
	b := leantest.NewBuilder()
	typ := b.Sort(b.Succ(0))
	mk := b.Pi("α", typ, b.Pi("β", typ, b.Pi("x", b.BVar(1), b.App(b.Const("Pair"), b.BVar(2), b.BVar(1)))))
	b.Inductive("Pair", b.Pi("α", typ, b.Pi("β", typ, typ)), 2, 0, false, leantest.Ctor{Name: "Pair.mk", Type: mk, Fields: 1})
	bad := b.Pi("γ", typ, b.Pi("x", b.App(b.Const("Pair"), b.Const("T"), b.BVar(0)), b.Const("T")))
	b.Inductive("T", typ, 0, 0, true, leantest.Ctor{Name: "T.mk", Type: bad, Fields: 2})
	expectRefusal(t, b, "T", kernel.InvalidNested)
}

// A proof term that is cut off from what it needs: forward references, self references, loose variables.
func TestTrapVisibility(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	b.Theorem("self", b.Pi("p", prop, b.BVar(0)), b.Const("self"))
	expectRefusal(t, b, "self", kernel.UnknownConstant)

	b = leantest.NewBuilder()
	prop = b.Sort(0)
	b.Theorem("early", b.Pi("p", prop, b.BVar(0)), b.Const("late"))
	b.Axiom("late", b.Pi("p", prop, b.BVar(0)))
	expectRefusal(t, b, "early", kernel.UnknownConstant)

	b = leantest.NewBuilder()
	b.Axiom("loose", b.BVar(0))
	expectRefusal(t, b, "loose", kernel.LooseVariable)
}

// An opaque constant equals nothing but itself: with o := Prop, a proof p : o is no proposition.
func TestTrapOpaqueUnfolds(t *testing.T) {
	for _, opaque := range []bool{false, true} {
		b := leantest.NewBuilder()
		prop, typ := b.Sort(0), b.Sort(b.Succ(0))
		b.Axiom("p", prop)
		if opaque {
			n := b.Name("o")
			b.Line(`{"opaque":{"name":%d,"levelParams":[],"type":%d,"value":%d,"all":[%d],"isUnsafe":false}}`, n, typ, prop, n)
		} else {
			b.Def("o", typ, prop)
		}
		b.Def("uses", b.Const("o"), b.Const("p"))
		if opaque {
			expectRefusal(t, b, "uses", kernel.TypeMismatch)
		} else {
			expectAccepted(t, b)
		}
	}
}

// natPrelude starts a file with the declaration of Nat.
func natPrelude(t *testing.T) *leantest.Builder {
	t.Helper()
	var text strings.Builder
	if err := leansource.Write(&text, "inductive Nat : Type | zero : Nat | succ (n : Nat) : Nat"); err != nil {
		t.Fatal(err)
	}
	b := leantest.NewBuilder(strings.Split(strings.TrimSpace(text.String()), "\n")...)
	for line := range strings.SplitSeq(text.String(), "\n") {
		var name struct {
			In  int
			Str struct{ Str string }
		}
		if json.Unmarshal([]byte(line), &name) != nil {
			continue
		}
		switch name.Str.Str {
		case "Nat":
			b.ReuseName("Nat", name.In)
		case "zero", "succ", "rec":
			b.ReuseName("Nat."+name.Str.Str, name.In)
		}
	}
	return b
}

// A file's own Nat.add gets no arithmetic but its own: Nat.add 2 3 is 5 when it is addition, and whatever the file
// says when it is not.
func TestTrapRedefinedNatOperation(t *testing.T) {
	for name, add := range map[string]struct {
		value func(b *leantest.Builder, nat int) int
		sum   string
	}{
		"addition": {func(b *leantest.Builder, nat int) int {
			motive := b.Lam("x", nat, nat)
			step := b.Lam("n", nat, b.Lam("ih", nat, b.App(b.Const("Nat.succ"), b.BVar(0))))
			return b.Lam("x", nat, b.Lam("y", nat, b.App(b.Const("Nat.rec", b.Succ(0)), motive, b.BVar(1), step, b.BVar(0))))
		}, "5"},
		"left":  {func(b *leantest.Builder, nat int) int { return b.Lam("x", nat, b.Lam("y", nat, b.BVar(1))) }, "2"},
		"right": {func(b *leantest.Builder, nat int) int { return b.Lam("x", nat, b.Lam("y", nat, b.BVar(0))) }, "3"},
	} {
		for _, claimed := range []string{"2", "3", "5"} {
			t.Run(name+"="+claimed, func(t *testing.T) {
				b := natPrelude(t)
				nat := b.Const("Nat")
				b.Def("Nat.add", b.Pi("x", nat, b.Pi("y", nat, nat)), add.value(b, nat))
				b.Axiom("P", b.Pi("x", nat, b.Sort(0)))
				b.Axiom("p", b.App(b.Const("P"), b.App(b.Const("Nat.add"), b.Nat("2"), b.Nat("3"))))
				b.Def("claim", b.App(b.Const("P"), b.Nat(claimed)), b.Const("p"))
				if claimed == add.sum {
					expectAccepted(t, b)
				} else {
					expectRefusal(t, b, "claim", kernel.TypeMismatch)
				}
			})
		}
	}
}

// A literal needs the type it stands for.
func TestTrapLiteralWithoutType(t *testing.T) {
	b := leantest.NewBuilder()
	b.Axiom("Nat", b.Sort(b.Succ(0)))
	b.Def("seven", b.Const("Nat"), b.Nat("7"))
	expectRefusal(t, b, "seven", kernel.InvalidLiteral)

	b = leantest.NewBuilder()
	b.Axiom("String", b.Sort(b.Succ(0)))
	b.Def("text", b.Const("String"), b.Str("text"))
	expectRefusal(t, b, "text", kernel.InvalidLiteral)
}

// Unsafe and partial declarations are not judged, and nothing safe may use them.
func TestTrapUnsafe(t *testing.T) {
	b := leantest.NewBuilder()
	prop, typ := b.Sort(0), b.Sort(b.Succ(0))
	n := b.Name("d")
	b.Line(`{"def":{"name":%d,"levelParams":[],"type":%d,"value":%d,"all":[%d],"hints":"abbrev","safety":"partial"}}`, n, typ, prop, n)
	expectRefusal(t, b, "d", kernel.UnsafeDeclaration)
	b.Def("uses", typ, b.Const("d"))
	expectRefusal(t, b, "uses", kernel.UnsafeReference)
}

// Out of time, depth or room is no verdict.
func TestExhaustionIsNoVerdict(t *testing.T) {
	b := leantest.NewBuilder()
	prop := b.Sort(0)
	deep := prop
	for range 1000 {
		deep = b.Pi("x", deep, prop)
	}
	b.Def("deep", b.Sort(b.Succ(0)), deep)
	file, r := checkText(t, t.Name(), []byte(b.Text()), kernel.Options{MaxDepth: 100})
	if r.Exhausted == nil || file.Store.NameString(r.Exhausted.Declaration) != "deep" {
		t.Errorf("depth: %+v", r)
	}
	if _, r := checkText(t, t.Name(), []byte(b.Text()), kernel.Options{MaxExprs: 1200}); r.Exhausted == nil {
		t.Errorf("room: %+v", r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	file, err := export.Read(context.Background(), strings.NewReader(b.Text()), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if r := kernel.Check(ctx, file.Store, file.Declarations, kernel.Options{}); r.Exhausted == nil {
		t.Errorf("time: %+v", r)
	}
	expectAccepted(t, b)
}
