package kernel

import (
	"context"
	"math"
	"os"
	"slices"
	"strconv"
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

// The comparison of levels agrees with evaluating them. Levels drawn here add at most 5 to a parameter. A term p+k of one
// side that the other does not keep up with shows where p is at most 7 and the others at most 1, and a constant where
// all are at most 1: values up to 7 tell any two levels apart.
func TestLevelOrderIsArithmetic(t *testing.T) {
	const most = 7
	rapid.Check(t, func(t *rapid.T) {
		s := term.NewStore()
		params := []term.Name{s.InternDotted("u"), s.InternDotted("v"), s.InternDotted("w"), s.InternDotted("x")}
		params = params[:rapid.IntRange(1, len(params)).Draw(t, "parameters")]
		depth := rapid.IntRange(1, 5).Draw(t, "depth")
		a, b := drawLevel(t, s, params, depth), drawLevel(t, s, params, depth)
		if rapid.Bool().Draw(t, "one more") {
			b = s.Max(a, b)
		}
		atMost, atLeast := true, true
		values := map[term.Name]int{}
		for i := range int(math.Pow(most+1, float64(len(params)))) {
			for _, p := range params {
				values[p], i = i%(most+1), i/(most+1)
			}
			x, y := evaluate(s, a, values), evaluate(s, b, values)
			atMost, atLeast = atMost && x <= y, atLeast && x >= y
		}
		o := newLevelOrder(s, func() {})
		if got := o.leq(a, b); got != atMost {
			t.Fatalf("%s ≤ %s: %v, by evaluation %v", s.DescribeLevel(a), s.DescribeLevel(b), got, atMost)
		}
		if got := o.leq(b, a); got != atLeast {
			t.Fatalf("%s ≤ %s: %v, by evaluation %v", s.DescribeLevel(b), s.DescribeLevel(a), got, atLeast)
		}
		zero := true
		for i := range 1 << len(params) {
			for k, p := range params {
				values[p] = i >> k & 1
			}
			zero = zero && evaluate(s, a, values) == 0
		}
		if got := o.alwaysZero(a); got != zero {
			t.Fatalf("%s = 0: %v, by evaluation %v", s.DescribeLevel(a), got, zero)
		}
		i, m := s.SimplifiedIMax(a, b), s.IMax(a, b)
		if !o.equal(i, m) {
			t.Fatalf("%s simplifies to %s", s.DescribeLevel(m), s.DescribeLevel(i))
		}
	})
}

// Guards of one side that follow from those of the other only together need a search. Random levels seldom have them.
func TestLevelGuardsThatFollowTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := term.NewStore()
		params := make([]term.Level, 4)
		names := make([]term.Name, 4)
		for i := range params {
			names[i] = s.InternDotted(string(rune('u' + i)))
			params[i] = s.Param(names[i])
		}
		guarded := func(label string) term.Level { // [clause ∧ … ∧ clause] 9
			l := s.Succ(term.Zero)
			for range rapid.IntRange(0, 3).Draw(t, label) {
				c := term.Zero
				for i := range params {
					if rapid.Bool().Draw(t, label) {
						c = s.Max(c, params[i])
					}
				}
				l = s.IMax(s.Succ(l), c)
			}
			return l
		}
		a, b := guarded("a"), guarded("b")
		for range rapid.IntRange(0, 3).Draw(t, "alternatives") {
			b = s.Max(b, guarded("c"))
		}
		want := true
		values := map[term.Name]int{}
		for i := range 7 * 7 * 7 * 7 {
			for _, p := range names {
				values[p], i = i%7, i/7
			}
			want = want && evaluate(s, a, values) <= evaluate(s, b, values)
		}
		if got := newLevelOrder(s, func() {}).leq(a, b); got != want {
			t.Fatalf("%s ≤ %s: %v, by evaluation %v", s.DescribeLevel(a), s.DescribeLevel(b), got, want)
		}
	})
}

// Levels whose comparison by cases takes 2ⁿ of them take a number of steps that is polynomial in n.
func TestLevelsOfManyParameters(t *testing.T) {
	fold := func(f func(a, b term.Level) term.Level, items []term.Level) term.Level {
		l := items[0]
		for _, item := range items[1:] {
			l = f(l, item)
		}
		return l
	}
	for name, build := range map[string]func(s *term.Store, u []term.Level) (a, b term.Level){
		"max of imax": func(s *term.Store, u []term.Level) (a, b term.Level) {
			var items []term.Level
			for _, p := range u {
				items = append(items, s.IMax(s.Succ(u[0]), p))
			}
			a = fold(s.Max, items)
			slices.Reverse(items)
			return a, fold(s.Max, items)
		},
		"imax nested to the left": func(s *term.Store, u []term.Level) (a, b term.Level) {
			a = fold(s.IMax, u)
			reversed := slices.Clone(u[:len(u)-1])
			slices.Reverse(reversed)
			return a, fold(s.IMax, append(reversed, u[len(u)-1]))
		},
		"imax nested to the right": func(s *term.Store, u []term.Level) (a, b term.Level) {
			a, b = u[0], u[0]
			for i := 1; i < len(u); i++ {
				a = s.IMax(u[i], a)
				b = s.IMax(u[len(u)-i], b)
			}
			return a, b
		},
		"successors of imax": func(s *term.Store, u []term.Level) (a, b term.Level) {
			var items []term.Level
			for i := range u {
				items = append(items, s.Succ(s.IMax(s.Succ(u[i]), s.Max(u[i], u[(i+1)%len(u)]))))
			}
			a = fold(s.Max, items)
			slices.Reverse(items)
			return a, fold(s.Max, items)
		},
	} {
		for _, n := range []int{22, 200} {
			s := term.NewStore()
			var u []term.Level
			for i := range n {
				u = append(u, s.Param(s.InternDotted("u"+strconv.Itoa(i))))
			}
			a, b := build(s, u)
			steps := 0
			o := newLevelOrder(s, func() { steps++ })
			// Left-nested imax of a permutation: both are 0 or the maximum of all up to the last zero.
			same, larger := o.equal(a, b), o.leq(s.Succ(a), b)
			if name == "imax nested to the left" {
				if same {
					t.Errorf("%s of %d: equal whatever the order", name, n)
				}
			} else if !same {
				t.Errorf("%s of %d: not equal to its reverse", name, n)
			}
			if larger {
				t.Errorf("%s of %d: as large as its successor", name, n)
			}
			if steps > 200*n*n {
				t.Errorf("%s of %d: %d steps", name, n, steps)
			}
		}
	}
}

// A comparison that cannot be done in the room there is ends as not finished, and never in an answer.
func TestLevelsTooLargeToCompare(t *testing.T) {
	s := term.NewStore()
	l := s.Param(s.InternDotted("u"))
	for i := range 40 { // every path is another guard
		p, q := s.Param(s.InternDotted("p"+strconv.Itoa(i))), s.Param(s.InternDotted("q"+strconv.Itoa(i)))
		l = s.Max(s.IMax(l, p), s.IMax(l, q))
	}
	defer func() {
		if r := recover(); r != levelTooLarge {
			t.Fatalf("recovered %v", r)
		}
	}()
	newLevelOrder(s, func() {}).leq(l, s.Param(s.InternDotted("v")))
	t.Fatal("compared")
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
	base := newFoundation(file.Store, file.Declarations)
	var refused atomic.Int64
	refused.Store(math.MaxInt64)
	c := newChecker(context.Background(), base, file.Store, nil, DefaultMaxDepth, &refused)
	c.recognise()
	for unit := 0; unit < base.env.Len(); unit += 2 {
		d := base.env.Declaration(unit)
		if d.Kind != term.Definition && d.Kind != term.Theorem {
			continue
		}
		c.begin(unit)
		c.params = d.LevelParams
		body := d.Value
		var locals, samples []term.Expr
		for c.store.Kind(body) == term.KindLam {
			n := c.store.Node(body)
			locals = append(locals, c.newLocal(c.store.Instantiate(term.Expr(n.A), locals)))
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
			for _, reduced := range []term.Expr{c.whnf(e), c.whnfCore(e, false), c.whnfCore(e, true)} {
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
