package kernel

import (
	"context"
	"math"
	"os"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/lean/export"
	"reckon/domain/lean/internal/leantest"
	"reckon/domain/lean/term"
)

// drawLevel draws a level over two parameters.
func drawLevel(t *rapid.T, s *term.Store, params []term.Name, depth int) term.Level {
	if depth == 0 {
		if i := rapid.IntRange(-1, len(params)-1).Draw(t, "leaf"); i >= 0 {
			return s.Param(params[i])
		}
		return term.Zero
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return s.Succ(drawLevel(t, s, params, depth-1))
	case 1:
		return s.Max(drawLevel(t, s, params, depth-1), drawLevel(t, s, params, depth-1))
	case 2:
		return s.IMax(drawLevel(t, s, params, depth-1), drawLevel(t, s, params, depth-1))
	default:
		return drawLevel(t, s, params, 0)
	}
}

func evaluate(s *term.Store, l term.Level, values map[term.Name]int) int {
	n := s.LevelNode(l)
	switch n.Kind {
	case term.LevelSucc:
		return evaluate(s, term.Level(n.A), values) + 1
	case term.LevelMax:
		return max(evaluate(s, term.Level(n.A), values), evaluate(s, term.Level(n.B), values))
	case term.LevelIMax:
		if b := evaluate(s, term.Level(n.B), values); b > 0 {
			return max(evaluate(s, term.Level(n.A), values), b)
		}
		return 0
	case term.LevelParam:
		return values[term.Name(n.A)]
	}
	return 0
}

// The comparison of levels agrees with evaluating them. Levels drawn here add at most 4 to a parameter, so values
// up to 6 tell any two apart.
func TestLevelOrderIsArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := term.NewStore()
		params := []term.Name{s.InternDotted("u"), s.InternDotted("v")}
		a, b := drawLevel(t, s, params, 4), drawLevel(t, s, params, 4)
		want := true
		for u := range 7 {
			for v := range 7 {
				values := map[term.Name]int{params[0]: u, params[1]: v}
				want = want && evaluate(s, a, values) <= evaluate(s, b, values)
			}
		}
		if got := newLevelOrder(s, func() {}).leq(a, b); got != want {
			t.Fatalf("%s ≤ %s: %v, by evaluation %v", s.DescribeLevel(a), s.DescribeLevel(b), got, want)
		}
		i, m := s.SimplifiedIMax(a, b), s.IMax(a, b)
		if !newLevelOrder(s, func() {}).equal(i, m) {
			t.Fatalf("%s simplifies to %s", s.DescribeLevel(m), s.DescribeLevel(i))
		}
	})
}

// visitSamples opens the binders of definitions of Lean's prelude and shows well-typed expressions without loose
// variables, from the checker that is to be asked about them.
func visitSamples(t *testing.T, most int, visit func(c *checker, samples []term.Expr)) {
	f, err := os.Open(leantest.Prelude(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	file, err := export.Read(context.Background(), f, export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	env := newEnvironment(file.Store, file.Declarations)
	var refused atomic.Int64
	refused.Store(math.MaxInt64)
	c := newChecker(context.Background(), env, file.Store, DefaultMaxDepth, &refused)
	c.findPrimitives()
	for unit := 0; unit < len(env.declarations); unit += 2 {
		d := &env.declarations[unit]
		if d.Kind != term.Definition && d.Kind != term.Theorem {
			continue
		}
		c.begin(unit)
		c.params = d.LevelParams
		body := d.Value
		var locals, samples []term.Expr
		for c.store.Kind(body) == term.KindLam {
			n := c.store.Node(body)
			locals = append(locals, c.local(c.store.Instantiate(term.Expr(n.A), locals)))
			body = term.Expr(n.B)
		}
		stack := []term.Expr{c.store.Instantiate(body, locals)}
		for len(stack) > 0 && len(samples) < most {
			e := stack[0]
			stack = stack[1:]
			if c.store.Node(e).Loose > 0 {
				continue
			}
			samples = append(samples, e)
			children, count := c.store.Node(e).Children()
			stack = append(stack, children[:count]...)
		}
		visit(c, samples)
	}
}

func TestReductionKeepsTypes(t *testing.T) {
	visitSamples(t, 40, func(c *checker, samples []term.Expr) {
		for _, e := range samples {
			typ := c.typeOf(e)
			for _, reduced := range []term.Expr{c.whnf(e), c.core(e, false), c.core(e, true)} {
				if !c.defEq(c.typeOf(reduced), typ) {
					t.Errorf("%s has type %s, reduced %s", c.store.Describe(e), c.store.Describe(typ), c.store.Describe(c.typeOf(reduced)))
				}
				if !c.defEq(e, reduced) {
					t.Errorf("%s is not equal to its reduct %s", c.store.Describe(e), c.store.Describe(reduced))
				}
			}
		}
	})
}

// Definitional equality of samples of one type is an equivalence. Every question is asked of emptied caches, so that
// no answer follows from an earlier one.
func TestEqualityIsAnEquivalence(t *testing.T) {
	visitSamples(t, 24, func(c *checker, samples []term.Expr) {
		groups := map[term.Expr][]term.Expr{}
		for _, e := range samples {
			typ := c.whnf(c.typeOf(e))
			groups[typ] = append(groups[typ], e)
		}
		ask := func(a, b term.Expr) bool {
			c.forget()
			return c.defEq(a, b)
		}
		for _, group := range groups {
			group = group[:min(len(group), 6)]
			for _, a := range group {
				if !ask(a, a) {
					t.Errorf("%s differs from itself", c.store.Describe(a))
				}
				for _, b := range group {
					ab := ask(a, b)
					if ab != ask(b, a) {
						t.Errorf("not symmetric: %s and %s", c.store.Describe(a), c.store.Describe(b))
					}
					for _, d := range group {
						if ab && ask(b, d) && !ask(a, d) {
							t.Errorf("not transitive: %s, %s, %s", c.store.Describe(a), c.store.Describe(b), c.store.Describe(d))
						}
					}
				}
			}
		}
	})
}
