package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/kernel"
)

// Attacks on soundness that other kernels fell for, and good declarations that other kernels refused, as small files of
// our own. They leave recursor records out: the kernel generates them, and says that they are missing only when nothing
// else is wrong.

func expectComplete(t *testing.T, b *leantest.Builder) {
	t.Helper()
	_, r := checkText(t, t.Name(), []byte(b.Text()), kernel.Options{})
	if !r.Accepted() && (r.Refusal == nil || r.Refusal.Class != kernel.RecursorMismatch || !strings.HasSuffix(r.Refusal.Message, "is missing")) {
		t.Fatalf("not accepted: %v %v", r.Refusal, r.Exhausted)
	}
}

// logic declares Two, Eq and Acc.
func logic() (b *leantest.Builder, prop, typ, two int) {
	b = leantest.NewBuilder()
	prop, typ = b.Sort(0), b.Sort(b.Succ(0))
	two = b.Const("Two")
	b.Inductive("Two", typ, 0, 0, false, leantest.Ctor{Name: "Two.zero", Type: two}, leantest.Ctor{Name: "Two.one", Type: two})

	u := b.Param("u")
	sort := b.Sort(u)
	eq := b.Pi("α", sort, b.Pi("a", b.BVar(0), b.Pi("b", b.BVar(1), prop)))
	refl := b.Pi("α", sort, b.Pi("a", b.BVar(0), b.App(b.Const("Eq", u), b.BVar(1), b.BVar(0), b.BVar(0))))
	b.Types(leantest.Type{Name: "Eq", Type: eq, Params: 2, Indices: 1, Levels: []string{"u"}, Ctors: []leantest.Ctor{{Name: "Eq.refl", Type: refl}}})

	relation := b.Pi("a", b.BVar(0), b.Pi("b", b.BVar(1), prop))
	acc := b.Pi("α", sort, b.Pi("r", relation, b.Pi("x", b.BVar(1), prop)))
	below := b.Pi("y", b.BVar(2), b.Pi("h", b.App(b.BVar(2), b.BVar(0), b.BVar(1)),
		b.App(b.Const("Acc", u), b.BVar(4), b.BVar(3), b.BVar(1))))
	intro := b.Pi("α", sort, b.Pi("r", relation, b.Pi("x", b.BVar(1), b.Pi("h", below,
		b.App(b.Const("Acc", u), b.BVar(3), b.BVar(2), b.BVar(1))))))
	b.Types(leantest.Type{Name: "Acc", Type: acc, Params: 2, Indices: 1, Rec: true, Reflexive: true, Levels: []string{"u"},
		Ctors: []leantest.Ctor{{Name: "Acc.intro", Type: intro, Fields: 2}}})
	return b, prop, typ, two
}

// intransitive declares a, b and c : Two with a ≡ b and b ≡ c, but not a ≡ c: run n h recurses over the proof
// h : Acc r n; a is stuck on an axiom, b is run on a constructor application in that axiom's place, which proof
// irrelevance allows, and c is what b computes to.
func intransitive() (b *leantest.Builder, prop, typ, two int) {
	b, prop, typ, two = logic()
	one := b.Succ(0)
	zeroC, oneC := b.Const("Two.zero"), b.Const("Two.one")
	b.Axiom("r", b.Pi("x", two, b.Pi("y", two, prop)))
	b.Axiom("less", b.App(b.Const("r"), zeroC, oneC))
	accR := b.App(b.Const("Acc", one), two, b.Const("r"))
	b.Axiom("seed", b.App(accR, oneC))
	smaller := func(n int) int { return b.Pi("h", b.App(b.Const("r"), b.BVar(0), n), b.App(accR, b.BVar(1))) }
	b.Axiom("inv", b.Pi("y", two, smaller(oneC)))

	// step n : (∀ y, r y n → Two) → Two
	ih := func(n int) int { return b.Pi("y", two, b.Pi("h", b.App(b.Const("r"), b.BVar(0), n), two)) }
	motive := b.Lam("n", two, b.Pi("ih", ih(b.BVar(1)), two))
	b.RegularDef("step", b.Pi("n", two, b.Pi("ih", ih(b.BVar(1)), two)), b.Lam("n", two, b.App(b.Const("Two.rec", one), motive,
		b.Lam("ih", ih(zeroC), zeroC), b.Lam("ih", ih(oneC), b.App(b.BVar(0), zeroC, b.Const("less"))), b.BVar(0))))
	constant := b.Lam("x", two, b.Lam("h", b.App(accR, b.BVar(0)), two))
	run := b.App(b.Const("Acc.rec", one, one), two, b.Const("r"), constant,
		b.Lam("x", two, b.Lam("h", b.Pi("y", two, b.Pi("h", b.App(b.Const("r"), b.BVar(0), b.BVar(1)), b.App(accR, b.BVar(1)))),
			b.App(b.Const("step"), b.BVar(1)))), b.BVar(1), b.BVar(0))
	b.RegularDef("run", b.Pi("n", two, b.Pi("h", b.App(accR, b.BVar(0)), two)),
		b.Lam("n", two, b.Lam("h", b.App(accR, b.BVar(0)), run)))
	runs := func(n, h int) int { return b.App(b.Const("run"), n, h) }
	b.RegularDef("a", two, runs(oneC, b.Const("seed")))
	b.RegularDef("b", two, runs(oneC, b.App(b.Const("Acc.intro", one), two, b.Const("r"), oneC, b.Const("inv"))))
	b.RegularDef("c", two, runs(zeroC, b.App(b.Const("inv"), zeroC, b.Const("less"))))
	return b, prop, typ, two
}

// Equality of a, b and c is asked in every order: what follows from earlier answers is no answer.
func TestTrapEqualityIsNotClosedTransitively(t *testing.T) {
	equation := func(b *leantest.Builder, two int, x, y string) int {
		return b.App(b.Const("Eq", b.Succ(0)), two, b.Const(x), b.Const(y))
	}
	proof := func(b *leantest.Builder, two int, x string) int {
		return b.App(b.Const("Eq.refl", b.Succ(0)), two, b.Const(x))
	}
	for _, c := range []struct {
		x, y  string
		equal bool
	}{{"a", "b", true}, {"b", "c", true}, {"a", "c", false}} {
		b, _, _, two := intransitive()
		b.Theorem("same", equation(b, two, c.x, c.y), proof(b, two, c.x))
		if c.equal {
			expectComplete(t, b)
		} else {
			expectRefusal(t, b, "same", kernel.TypeMismatch)
		}
	}
	b, _, _, two := intransitive()
	b.Theorem("same", equation(b, two, "a", "c"), b.Let("first", equation(b, two, "a", "b"), proof(b, two, "a"),
		b.Let("second", equation(b, two, "b", "c"), proof(b, two, "b"), proof(b, two, "a"))))
	expectRefusal(t, b, "same", kernel.TypeMismatch)
}

// gated declares the family Owner : (h : a = b) → gate h, where gate h is Prop when h can be taken for Eq.refl a: for
// a variable it can, for a proof of a = c, which is an equal proposition, it cannot.
func gated() (b *leantest.Builder, two int) {
	b, prop, typ, two := intransitive()
	one := b.Succ(0)
	eq := func(x, y string) int { return b.App(b.Const("Eq", one), two, b.Const(x), b.Const(y)) }
	p := eq("a", "b")
	motive := b.Lam("y", two, b.Lam("h", b.App(b.Const("Eq", one), two, b.Const("a"), b.BVar(0)), typ))
	b.RegularDef("gate", b.Pi("h", p, typ), b.Lam("h", p,
		b.App(b.Const("Eq.rec", b.Succ(one), one), two, b.Const("a"), motive, prop, b.Const("b"), b.BVar(0))))
	mk := b.Pi("h", p, b.Pi("bit", two, b.App(b.Const("Owner"), b.BVar(1))))
	b.Inductive("Owner", b.Pi("h", p, b.App(b.Const("gate"), b.BVar(0))), 1, 0, false, leantest.Ctor{Name: "Owner.mk", Type: mk, Fields: 1})
	b.Def("asProp", b.Pi("h", p, prop), b.Lam("h", p, b.App(b.Const("Owner"), b.BVar(0))))
	b.Axiom("witness", eq("a", "c"))
	b.Def("proposition", prop, b.App(b.Const("asProp"), b.Const("witness")))
	return b, two
}

// Data cannot be projected out of a proposition whose being one cannot be told (lean4#14807).
func TestTrapProjectionOutOfAStuckSort(t *testing.T) {
	b, _ := gated()
	expectComplete(t, b)
	b, two := gated()
	b.Def("observe", b.Pi("p", b.Const("proposition"), two), b.Lam("p", b.Const("proposition"), b.Proj("Owner", 0, b.BVar(0))))
	expectRefusal(t, b, "observe", kernel.TypeExpected)
}

// Sort (imax 1 0) is Prop, however it is written: in projections, in large elimination, and in the universes of fields.
func TestTrapPropByAnotherName(t *testing.T) {
	start := func() (b *leantest.Builder, two, odd int) {
		b, _, _, two = logic()
		return b, two, b.Sort(b.IMax(b.Succ(0), 0))
	}
	b, two, odd := start()
	b.Inductive("P", odd, 0, 0, false, leantest.Ctor{Name: "P.mk", Type: b.Pi("x", two, b.Const("P")), Fields: 1})
	expectComplete(t, b) // a proposition may have fields of any universe
	b.Def("out", b.Pi("p", b.Const("P"), two), b.Lam("p", b.Const("P"), b.Proj("P", 0, b.BVar(0))))
	expectRefusal(t, b, "out", kernel.InvalidProjection)

	b, two, odd = start()
	p := b.Const("P")
	b.Inductive("P", odd, 0, 0, false, leantest.Ctor{Name: "P.a", Type: p}, leantest.Ctor{Name: "P.b", Type: p})
	b.Def("tell", b.Pi("p", p, two), b.App(b.Const("P.rec", b.Succ(0)), b.Lam("p", p, two), b.Const("Two.zero"), b.Const("Two.one")))
	expectRefusal(t, b, "tell", kernel.UniverseCount)

	b, _, _ = start()
	typ := b.Sort(b.Succ(0))
	field := b.Sort(b.IMax(b.Succ(0), b.Succ(0)))
	b.Inductive("T", typ, 0, 0, false, leantest.Ctor{Name: "T.mk", Type: b.Pi("x", field, b.Const("T")), Fields: 1})
	expectRefusal(t, b, "T", kernel.UniverseTooBig)
}

// Fields of a structure that is a proposition only for some universes can be projected: where it is one, so is the
// type of the field.
func TestProjectsOutOfSortMax(t *testing.T) {
	b := leantest.NewBuilder()
	u, v := b.Param("u"), b.Param("v")
	su, sv := b.Sort(u), b.Sort(v)
	pair := func(alpha, beta int) int { return b.App(b.Const("Pair", u, v), alpha, beta) }
	mk := b.Pi("α", su, b.Pi("β", sv, b.Pi("fst", b.BVar(1), b.Pi("snd", b.BVar(1), pair(b.BVar(3), b.BVar(2))))))
	levels := []string{"u", "v"}
	b.Types(leantest.Type{Name: "Pair", Type: b.Pi("α", su, b.Pi("β", sv, b.Sort(b.Max(u, v)))), Params: 2, Levels: levels,
		Ctors: []leantest.Ctor{{Name: "Pair.mk", Type: mk, Fields: 2}}})
	b.Def("fst", b.Pi("α", su, b.Pi("β", sv, b.Pi("p", pair(b.BVar(1), b.BVar(0)), b.BVar(2)))),
		b.Lam("α", su, b.Lam("β", sv, b.Lam("p", pair(b.BVar(1), b.BVar(0)), b.Proj("Pair", 0, b.BVar(0))))), levels...)
	expectComplete(t, b)
}

// inductive P : Prop | mk (aProof : True) (data : Two) (aboutData : data = data) (last : True): proofs can be
// projected up to the first field that depends on data, and nothing after it.
func TestTrapProjectionsOfAProposition(t *testing.T) {
	for index, class := range []kernel.Class{"", kernel.InvalidProjection, kernel.InvalidProjection, kernel.InvalidProjection, kernel.InvalidProjection} {
		b, prop, _, two := logic()
		yes := b.Const("Yes")
		b.Inductive("Yes", prop, 0, 0, false, leantest.Ctor{Name: "Yes.intro", Type: yes})
		self := func(of int) int { return b.App(b.Const("Eq", b.Succ(0)), two, of, of) }
		mk := b.Pi("h", yes, b.Pi("data", two, b.Pi("about", self(b.BVar(0)), b.Pi("last", yes, b.Const("P")))))
		b.Inductive("P", prop, 0, 0, false, leantest.Ctor{Name: "P.mk", Type: mk, Fields: 4})
		field := func(i int) int { return b.Proj("P", i, b.BVar(0)) }
		result := []func() int{func() int { return yes }, func() int { return two }, func() int { return self(field(1)) },
			func() int { return yes }, func() int { return yes }}[index]()
		b.Def("out", b.Pi("p", b.Const("P"), result), b.Lam("p", b.Const("P"), field(index)))
		if class == "" {
			expectComplete(t, b)
		} else {
			expectRefusal(t, b, "out", class)
		}
	}
}

// A type with two constructors, or with none, is no structure, nor is an index of 2³²+1 the index 1.
func TestTrapProjectionOfNoStructure(t *testing.T) {
	for _, ctors := range []int{0, 2} {
		b, prop, _, _ := logic()
		p := b.Const("P")
		b.Axiom("no", prop)
		var all []leantest.Ctor
		for i := range ctors {
			all = append(all, leantest.Ctor{Name: fmt.Sprintf("P.c%d", i), Type: b.Pi("h", b.Const("no"), p), Fields: 1})
		}
		b.Inductive("P", prop, 0, 0, false, all...)
		b.Theorem("bad", b.Pi("p", p, b.Const("no")), b.Lam("p", p, b.Proj("P", 0, b.BVar(0))))
		expectRefusal(t, b, "bad", kernel.InvalidProjection)
	}
	b, _, typ, two := logic()
	p := b.Const("P")
	b.Inductive("P", typ, 0, 0, false, leantest.Ctor{Name: "P.mk", Type: b.Pi("x", two, b.Pi("y", two, p)), Fields: 2})
	b.Def("far", b.Pi("p", p, two), b.Lam("p", p, b.Proj("P", 1<<32+1, b.BVar(0))))
	expectRefusal(t, b, "far", kernel.InvalidProjection)
}

// A structure's projection compares equal to that of another structure only by what they project (lean4#14631).
func TestTrapProjectionsOfTwoStructures(t *testing.T) {
	b, _, typ, two := logic()
	for _, name := range []string{"A", "B"} {
		b.Inductive(name, typ, 0, 0, false, leantest.Ctor{Name: name + ".mk", Type: b.Pi("x", two, b.Const(name)), Fields: 1})
	}
	b.Axiom("x", b.Const("A"))
	b.Def("wrong", two, b.Proj("B", 0, b.Const("x")))
	expectRefusal(t, b, "wrong", kernel.InvalidProjection)
}

// Acc has neither K nor eta: its recursor is stuck on a variable, and reduces on the constructor.
func TestTrapAccHasNoK(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		b, prop, _, two := logic()
		one := b.Succ(0)
		b.Axiom("r", b.Pi("x", two, b.Pi("y", two, prop)))
		accR := b.App(b.Const("Acc", one), two, b.Const("r"))
		z := b.Const("Two.zero")
		smaller := func(x int) int {
			return b.Pi("y", two, b.Pi("h", b.App(b.Const("r"), b.BVar(0), x), b.App(accR, b.BVar(1))))
		}
		b.Axiom("seed", b.App(accR, z))
		b.Axiom("all", smaller(z))
		major := b.Const("seed")
		if !stuck {
			major = b.App(b.Const("Acc.intro", one), two, b.Const("r"), z, b.Const("all"))
		}
		ih := b.Pi("y", two, b.Pi("h", b.App(b.Const("r"), b.BVar(0), b.BVar(2)), two))
		minor := b.Lam("x", two, b.Lam("h", smaller(b.BVar(1)), b.Lam("ih", ih, z)))
		value := b.App(b.Const("Acc.rec", one, one), two, b.Const("r"), b.Lam("x", two, b.Lam("h", b.App(accR, b.BVar(0)), two)), minor, z, major)
		b.Theorem("reduces", b.App(b.Const("Eq", one), two, value, z), b.App(b.Const("Eq.refl", one), two, z))
		if stuck {
			expectRefusal(t, b, "reduces", kernel.TypeMismatch)
		} else {
			expectComplete(t, b)
		}
	}
}

// Positivity looks at fields as they reduce; behind arrows, and to the left of them.
func TestTrapPositivity(t *testing.T) {
	for name, c := range map[string]struct {
		field func(b *leantest.Builder, two, i int) int
		class kernel.Class
		refl  bool
	}{
		"I → I":             {func(b *leantest.Builder, _, i int) int { return b.Pi("x", i, i) }, kernel.NonPositiveOccurrence, true},
		"Two → I → Two":     {func(b *leantest.Builder, two, i int) int { return b.Pi("x", two, b.Pi("y", i, two)) }, kernel.NonPositiveOccurrence, true},
		"(I → Two) → I":     {func(b *leantest.Builder, two, i int) int { return b.Pi("x", b.Pi("y", i, two), i) }, kernel.NonPositiveOccurrence, true},
		"Two → I":           {func(b *leantest.Builder, two, i int) int { return b.Pi("x", two, i) }, "", true},
		"Two → fst I I":     {func(b *leantest.Builder, two, i int) int { return b.Pi("x", two, b.App(b.Const("fst"), i, i)) }, "", true},
		"fst Two I":         {func(b *leantest.Builder, two, i int) int { return b.App(b.Const("fst"), two, i) }, "", false},
		"fst Two I → I":     {func(b *leantest.Builder, two, i int) int { return b.Pi("x", b.App(b.Const("fst"), two, i), i) }, kernel.NonPositiveOccurrence, true},
		"negated by a name": {func(b *leantest.Builder, _, i int) int { return b.App(b.Const("not"), i) }, kernel.NonPositiveOccurrence, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, _, typ, two := logic()
			b.Def("fst", b.Pi("α", typ, b.Pi("β", typ, typ)), b.Lam("α", typ, b.Lam("β", typ, b.BVar(1))))
			b.Def("not", b.Pi("α", typ, typ), b.Lam("α", typ, b.Pi("x", b.BVar(0), two)))
			i := b.Const("I")
			b.Types(leantest.Type{Name: "I", Type: typ, Rec: true, Reflexive: c.refl,
				Ctors: []leantest.Ctor{{Name: "I.mk", Type: b.Pi("f", c.field(b, two, i), i), Fields: 1}}})
			if c.class == "" {
				expectComplete(t, b)
			} else {
				expectRefusal(t, b, "I", c.class)
			}
		})
	}
}

// A type applied to anything but the parameters, in the parameter of a nested type that ignores it (lean4#14582); a
// parameter of a nested type that is ill-typed (lean4#14576); a name of Lean's auxiliary types (lean4#14616).
func TestTrapNestedOccurrences(t *testing.T) {
	box := func() (b *leantest.Builder, typ, two int) {
		b, _, typ, two = logic()
		mk := b.Pi("α", typ, b.App(b.Const("Ghost"), b.BVar(0)))
		b.Inductive("Ghost", b.Pi("α", typ, typ), 1, 0, false, leantest.Ctor{Name: "Ghost.mk", Type: mk})
		return b, typ, two
	}
	family := func(b *leantest.Builder, typ, two, argument int) {
		mk := b.Pi("w", two, b.Pi("x", b.App(b.Const("Ghost"), b.App(b.Const("E"), argument)), b.App(b.Const("E"), b.BVar(1))))
		b.Inductive("E", b.Pi("w", two, typ), 1, 1, true, leantest.Ctor{Name: "E.mk", Type: mk, Fields: 1})
	}
	b, typ, two := box()
	family(b, typ, two, b.BVar(0))
	expectComplete(t, b)

	b, typ, two = box()
	family(b, typ, two, b.Const("Two.one"))
	expectRefusal(t, b, "E", kernel.InvalidOccurrence)

	b, typ, two = box()
	family(b, typ, two, b.Proj("Ghost", 0, b.BVar(0)))
	expectRefusal(t, b, "E", kernel.InvalidProjection)

	b, _, _ = box()
	prop := b.Sort(0)
	b.Axiom("_nested.Host_1", prop)
	b.Inductive("K", prop, 0, 0, false, leantest.Ctor{Name: "K.mk", Type: b.Pi("x", b.Const("_nested.Host_1"), b.Const("K")), Fields: 1})
	expectRefusal(t, b, "K", kernel.InvalidInductive)
}

// Function eta does not start from a partial application (lean4#12520): Lean says no.
func TestEtaOfPartialApplications(t *testing.T) {
	b, _, _, two := logic()
	one := b.Succ(0)
	z := b.Const("Two.zero")
	self := b.App(b.Const("Eq", one), two, z, z)
	fn := b.Pi("h", self, two)
	motive := b.Lam("x", two, b.Lam("h", b.App(b.Const("Eq", one), two, z, b.BVar(0)), two))
	partial := b.App(b.Const("Eq.rec", one, one), two, z, motive, b.App(b.BVar(0), b.App(b.Const("Eq.refl", one), two, z)), z)
	b.Theorem("eta", b.Pi("a", fn, b.App(b.Const("Eq", one), fn, partial, b.BVar(0))),
		b.Lam("a", fn, b.App(b.Const("Eq.refl", one), fn, b.BVar(0))))
	expectRefusal(t, b, "eta", kernel.TypeMismatch)
}

// Proofs that are functions are irrelevant too: foo : ∀ h : A → P, Q (h b) proves ∀ h : A → P, Q (h a).
func TestProofIrrelevanceUnderApplication(t *testing.T) {
	b := leantest.NewBuilder()
	prop, typ := b.Sort(0), b.Sort(b.Succ(0))
	b.Axiom("A", typ)
	b.Axiom("a", b.Const("A"))
	b.Axiom("b", b.Const("A"))
	b.Axiom("P", prop)
	b.Axiom("Q", b.Pi("h", b.Const("P"), prop))
	all := func(x string) int {
		return b.Pi("h", b.Pi("x", b.Const("A"), b.Const("P")), b.App(b.Const("Q"), b.App(b.BVar(0), b.Const(x))))
	}
	b.Axiom("foo", all("b"))
	b.Theorem("bar", all("a"), b.Const("foo"))
	expectAccepted(t, b)
}

// A record that no type of the block calls for inhabits False, whatever it says it belongs to.
func TestTrapOrphanRecords(t *testing.T) {
	for name, extra := range map[string]struct{ ctors, recs string }{
		"recursor of False":      {"", `{"name":%[2]d,"levelParams":[],"type":%[3]d,"all":[%[1]d],"numParams":0,"numIndices":0,"numMotives":0,"numMinors":0,"rules":[],"k":false,"isUnsafe":false}`},
		"recursor of nothing":    {"", `{"name":%[2]d,"levelParams":[],"type":%[3]d,"all":[],"numParams":0,"numIndices":0,"numMotives":0,"numMinors":0,"rules":[],"k":false,"isUnsafe":false}`},
		"constructor of False":   {`{"name":%[2]d,"levelParams":[],"type":%[3]d,"induct":%[1]d,"cidx":0,"numParams":0,"numFields":0,"isUnsafe":false}`, ""},
		"constructor of nothing": {`{"name":%[2]d,"levelParams":[],"type":%[3]d,"induct":%[2]d,"cidx":0,"numParams":0,"numFields":0,"isUnsafe":false}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := leantest.NewBuilder()
			prop := b.Sort(0)
			falsehood, rogue, typ := b.Name("False"), b.Name("rogue"), b.Const("False")
			fill := func(record string) string {
				if record == "" {
					return ""
				}
				return fmt.Sprintf(record+"%[4]s", falsehood, rogue, typ, "")
			}
			b.Line(`{"inductive":{"types":[{"name":%d,"levelParams":[],"type":%d,"numParams":0,"numIndices":0,"all":[%d],"ctors":[],"numNested":0,"isRec":false,"isUnsafe":false,"isReflexive":false}],"ctors":[%s],"recs":[%s]}}`,
				falsehood, prop, falsehood, fill(extra.ctors), fill(extra.recs))
			b.Theorem("inconsistent", typ, b.Const("rogue"))
			class := kernel.RecursorMismatch
			if extra.ctors != "" {
				class = kernel.ConstructorMismatch
			}
			expectRefusal(t, b, "False", class)
		})
	}
}
