package kernel_test

import (
	"testing"

	"reckon/domain/lean/internal/leantest"
)

// Declarations that are small as graphs and grow without bound for a kernel that forgets what is shared, compares what
// it need not, or copies what it need not. The problems are those of the arena's perf tests, several from Courant and
// Leroy, "A Lazy, Concurrent Convertibility Checker", POPL 2026, section 10. Each ends at once or practically never.

// unary declares inductive N | O | S, N.add by recursion on its first argument, and count m = m, counted one by one.
func unary() (b *leantest.Builder, n int) {
	b, _, typ, _ := logic()
	one := b.Succ(0)
	n = b.Const("N")
	b.Inductive("N", typ, 0, 0, true, leantest.Ctor{Name: "N.O", Type: n}, leantest.Ctor{Name: "N.S", Type: b.Pi("n", n, n), Fields: 1})
	rec := func(zero, succ, major int) int {
		return b.App(b.Const("N.rec", one), b.Lam("n", n, n), zero, b.Lam("n", n, b.Lam("ih", n, succ)), major)
	}
	b.RegularDef("N.add", b.Pi("a", n, b.Pi("b", n, n)), b.Lam("a", n, b.Lam("b", n, rec(b.BVar(0), b.App(b.Const("N.S"), b.BVar(0)), b.BVar(1)))))
	b.RegularDef("count", b.Pi("m", n, n), b.Lam("m", n,
		rec(b.Const("N.O"), b.App(b.Const("N.add"), b.BVar(0), b.App(b.Const("N.S"), b.Const("N.O"))), b.BVar(0))))
	return b, n
}

func numeral(b *leantest.Builder, k int) int {
	e := b.Const("N.O")
	for range k {
		e = b.App(b.Const("N.S"), e)
	}
	return e
}

// proveEqual states x = y : typ and proves it by reflexivity.
func proveEqual(b *leantest.Builder, typ, x, y int) {
	one := b.Succ(0)
	b.Theorem("same", b.App(b.Const("Eq", one), typ, x, y), b.App(b.Const("Eq.refl", one), typ, x))
}

func TestHardEqualities(t *testing.T) {
	for name, sides := range map[string]func(b *leantest.Builder, n int) (typ, x, y int){
		"arguments before unfolding": func(b *leantest.Builder, n int) (int, int, int) {
			return n, b.App(b.Const("count"), numeral(b, 1000)), b.App(b.Const("count"), b.App(b.Const("N.add"), numeral(b, 999), numeral(b, 1)))
		},
		"one step of unrolling": func(b *leantest.Builder, n int) (int, int, int) {
			k := numeral(b, 1000)
			return n, b.App(b.Const("count"), b.App(b.Const("N.S"), k)), b.App(b.Const("N.add"), b.App(b.Const("count"), k), numeral(b, 1))
		},
		"discarded argument": func(b *leantest.Builder, n int) (int, int, int) {
			b.RegularDef("drop", b.Pi("m", n, n), b.Lam("m", n, b.Const("N.O")))
			count := func(k int) int { return b.App(b.Const("drop"), b.App(b.Const("count"), numeral(b, k))) }
			return n, count(200), count(201)
		},
		"identical nesting": func(b *leantest.Builder, n int) (int, int, int) {
			b.RegularDef("f0", b.Pi("x", n, n), b.Lam("x", n, b.BVar(0)))
			f := b.Const("f0")
			for _, name := range []string{"f1", "f2", "f3", "f4"} {
				b.RegularDef(name, b.Pi("x", n, n), b.Lam("x", n, b.App(f, b.App(f, b.BVar(0)))))
				f = b.Const(name)
			}
			nest := b.Const("N.O")
			for range 30 {
				nest = b.App(f, nest)
			}
			return n, nest, nest
		},
		"one subproblem 2²⁰ times": func(b *leantest.Builder, _ int) (int, int, int) {
			tree := trees(b)
			leaf := b.Const("Tr.leaf")
			return tree, b.App(b.Const("perfect"), numeral(b, 20), leaf),
				b.App(b.Const("perfect"), numeral(b, 19), b.App(b.Const("Tr.node"), leaf, leaf))
		},
		"2³⁰⁰ nodes, 300 kept": func(b *leantest.Builder, n int) (int, int, int) {
			tree := trees(b)
			whole := b.App(b.Const("perfect"), numeral(b, 300), b.Const("Tr.leaf"))
			depth := func(name string, step int) int {
				b.RegularDef(name, b.Pi("t", tree, n), b.Lam("t", tree, b.App(b.Const("Tr.rec", b.Succ(0)), b.Lam("t", tree, n), b.Const("N.O"),
					b.Lam("l", tree, b.Lam("r", tree, b.Lam("i", n, b.Lam("j", n, step)))), b.BVar(0))))
				return b.App(b.Const(name), whole)
			}
			return n, depth("depth", b.App(b.Const("N.S"), b.BVar(1))), depth("depth2", b.App(b.Const("N.add"), b.BVar(1), numeral(b, 1)))
		},
		"ladder of redexes": func(b *leantest.Builder, n int) (int, int, int) {
			const rungs = 2000
			e := b.Const("N.O")
			for i := range rungs {
				e = b.App(b.Const("N.add"), b.BVar(i), e)
			}
			for range rungs {
				e = b.App(b.Lam("x", n, e), b.Const("N.O"))
			}
			return n, e, b.Const("N.O")
		},
		"ladder of lets": func(b *leantest.Builder, n int) (int, int, int) {
			const rungs = 2000
			e := b.Const("N.O")
			for i := range rungs {
				e = b.App(b.Const("N.add"), b.BVar(i), e)
			}
			for range rungs {
				e = b.Let("x", n, b.Const("N.O"), e)
			}
			return n, e, b.Const("N.O")
		},
		"Church numerals": func(b *leantest.Builder, n int) (int, int, int) {
			typ := b.Pi("s", b.Pi("x", n, n), b.Pi("z", n, n))
			b.RegularDef("mul", b.Pi("a", typ, b.Pi("b", typ, typ)),
				b.Lam("a", typ, b.Lam("b", typ, b.Lam("s", b.Pi("x", n, n), b.App(b.BVar(2), b.App(b.BVar(1), b.BVar(0)))))))
			church := func(k int) int {
				e := b.BVar(0)
				for range k {
					e = b.App(b.BVar(1), e)
				}
				return b.Lam("s", b.Pi("x", n, n), b.Lam("z", n, e))
			}
			return typ, b.App(b.Const("mul"), church(60), church(61)), b.App(b.Const("mul"), church(61), church(60))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, n := unary()
			typ, x, y := sides(b, n)
			proveEqual(b, typ, x, y)
			expectComplete(t, b)
		})
	}
}

// trees declares inductive Tr | leaf | node, and perfect k t, the perfect tree of depth k over t.
func trees(b *leantest.Builder) int {
	n, tree := b.Const("N"), b.Const("Tr")
	b.Inductive("Tr", b.Sort(b.Succ(0)), 0, 0, true, leantest.Ctor{Name: "Tr.leaf", Type: tree},
		leantest.Ctor{Name: "Tr.node", Type: b.Pi("l", tree, b.Pi("r", tree, tree)), Fields: 2})
	fn := b.Pi("t", tree, tree)
	step := b.Lam("k", n, b.Lam("ih", fn, b.Lam("t", tree, b.App(b.BVar(1), b.App(b.Const("Tr.node"), b.BVar(0), b.BVar(0))))))
	b.RegularDef("perfect", b.Pi("k", n, fn), b.Lam("k", n,
		b.App(b.Const("N.rec", b.Succ(0)), b.Lam("k", n, fn), b.Lam("t", tree, b.BVar(0)), step, b.BVar(0))))
	return tree
}

// A body under n binders that occurs twice at every level is checked once at every level.
func TestSharedBodiesUnderBinders(t *testing.T) {
	const levels = 4000
	b, n := unary()
	fn := b.Pi("x", n, n)
	b.RegularDef("twice", b.Pi("f", fn, b.Pi("g", fn, n)),
		b.Lam("f", fn, b.Lam("g", fn, b.App(b.Const("N.add"), b.App(b.BVar(1), b.Const("N.O")), b.App(b.BVar(0), b.Const("N.O"))))))
	body := b.BVar(levels - 1)
	for i := 1; i < levels; i++ {
		body = b.App(b.Const("N.add"), body, b.BVar(levels-1-i))
	}
	for range levels {
		f := b.Lam("x", n, body)
		body = b.App(b.Const("twice"), f, f)
	}
	b.Def("shared", n, body)
	expectComplete(t, b)
}

// Long chains of binders, as an argument below a binder: neither recursion nor copies of the list of what is bound.
func TestLongChainsOfBinders(t *testing.T) {
	const length = 20_000
	b, n := unary()
	fn := n
	for range length {
		fn = b.Pi("x", n, fn)
	}
	b.Axiom("P", b.Pi("f", fn, b.Sort(0)))
	about := func(variable int) int { // P (fun … => the variable bound outside)
		chain := b.BVar(length + variable)
		for range length {
			chain = b.Lam("x", n, chain)
		}
		return b.App(b.Const("P"), chain)
	}
	b.Theorem("long", b.Pi("y", n, b.Pi("p", about(0), about(1))), b.Lam("y", n, b.Lam("p", about(0), b.BVar(0))))
	expectComplete(t, b)
}
