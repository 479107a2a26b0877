package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"reckon/domain/lean/term"
	"reckon/test/sweep"
)

// levelDrawer draws levels over a few parameters, and levels that are nearly those.
type levelDrawer struct {
	*rand.Rand
	store  *term.Store
	params []term.Name
}

func (d *levelDrawer) draw(depth int) term.Level {
	if depth == 0 || d.IntN(12) == 0 {
		if d.IntN(6) == 0 {
			return term.Zero
		}
		return d.store.Param(d.params[d.IntN(len(d.params))])
	}
	switch d.IntN(7) {
	case 0:
		return d.store.Succ(d.draw(depth - 1))
	case 1, 2:
		return d.store.Max(d.draw(depth-1), d.draw(depth-1))
	}
	return d.store.IMax(d.draw(depth-1), d.draw(depth-1))
}

// near is l with one part replaced, by something equal or not. The offset of no parameter grows by more than 1.
func (d *levelDrawer) near(l term.Level) term.Level {
	s, n := d.store, d.store.LevelNode(l)
	a, b := term.Level(n.A), term.Level(n.B)
	binary := n.Kind == term.LevelMax || n.Kind == term.LevelIMax
	if binary && d.IntN(3) > 0 {
		build := s.Max
		if n.Kind == term.LevelIMax {
			build = s.IMax
		}
		if d.IntN(2) == 0 {
			return build(d.near(a), b)
		}
		return build(a, d.near(b))
	}
	if n.Kind == term.LevelSucc && d.IntN(3) > 0 {
		return s.Succ(d.near(a))
	}
	na := term.LevelNode{}
	if binary || n.Kind == term.LevelSucc {
		na = s.LevelNode(a)
	}
	switch d.IntN(9) {
	case 0:
		if binary {
			return s.Max(a, b)
		}
	case 1:
		if binary {
			return s.IMax(b, a)
		}
	case 2:
		if binary {
			return b
		}
	case 3: // imax (imax x y) z = max (imax x z) (imax y z) where y > 0
		if n.Kind == term.LevelIMax && na.Kind == term.LevelIMax {
			return s.Max(s.IMax(term.Level(na.A), b), s.IMax(term.Level(na.B), b))
		}
	case 4: // imax x (max y z) = max (imax x y) (imax x z)
		if nb := s.LevelNode(b); n.Kind == term.LevelIMax && (nb.Kind == term.LevelMax || nb.Kind == term.LevelIMax) {
			return s.Max(s.IMax(a, term.Level(nb.A)), s.IMax(a, term.Level(nb.B)))
		}
	case 5: // the trap: a successor goes through imax
		if n.Kind == term.LevelSucc && na.Kind == term.LevelIMax {
			return s.IMax(s.Succ(term.Level(na.A)), s.Succ(term.Level(na.B)))
		}
	case 6:
		return s.Max(l, d.draw(2))
	case 7:
		return s.IMax(d.draw(1), l)
	}
	return s.IMax(l, d.draw(1))
}

// highest is the most that a level adds to a parameter or to zero.
func highest(s *term.Store, l term.Level) int {
	switch n := s.LevelNode(l); n.Kind {
	case term.LevelSucc:
		return 1 + highest(s, term.Level(n.A))
	case term.LevelMax, term.LevelIMax:
		return max(highest(s, term.Level(n.A)), highest(s, term.Level(n.B)))
	}
	return 0
}

// Deep nests of imax, and pairs that differ in little, compare as their values do.
func TestNearLevelsCompareAsTheirValues(t *testing.T) {
	pairs := sweep.Size(t, "LEVEL_PAIRS", 1500, 200_000)
	outcomes := map[[2]bool]int{}
	for seed := range uint64(pairs) {
		s := term.NewStore()
		d := &levelDrawer{Rand: rand.New(rand.NewPCG(seed, 12)), store: s}
		for _, name := range []string{"u", "v", "w", "x"}[:3+d.IntN(2)] {
			d.params = append(d.params, s.InternDotted(name))
		}
		a := d.draw(1 + d.IntN(7))
		b := a
		for range 1 + d.IntN(3) {
			b = d.near(b)
		}
		if d.IntN(4) == 0 {
			b = d.draw(1 + d.IntN(7))
		}
		// Where a term p+k is not reached, it shows at p above what the others reach, which are 0 or 1.
		large := 2 + max(highest(s, a), highest(s, b))
		values := map[term.Name]int{}
		less, greater := true, true
		count := 1
		for range d.params {
			count *= 3
		}
		for i := range count {
			for _, p := range d.params {
				values[p] = []int{0, 1, large}[i%3]
				i /= 3
			}
			x, y := evaluate(s, a, values), evaluate(s, b, values)
			less, greater = less && x <= y, greater && x >= y
		}
		outcomes[[2]bool{less, greater}]++
		o := newLevelOrder(s, func() {})
		if got := o.leq(a, b); got != less {
			t.Fatalf("seed %d: %s ≤ %s: %v, by values %v", seed, s.DescribeLevel(a), s.DescribeLevel(b), got, less)
		}
		if got := o.leq(b, a); got != greater {
			t.Fatalf("seed %d: %s ≤ %s: %v, by values %v", seed, s.DescribeLevel(b), s.DescribeLevel(a), got, greater)
		}
		if got := o.equal(a, b); got != (less && greater) {
			t.Fatalf("seed %d: %s = %s: %v", seed, s.DescribeLevel(a), s.DescribeLevel(b), got)
		}
	}
	t.Logf("%d pairs, by (≤, ≥): %v", pairs, outcomes)
	if len(outcomes) < 4 {
		t.Errorf("pairs of some kinds are missing: %v", outcomes)
	}
}

// Comparing levels is as hard as propositional logic: pigeons and holes as levels. What is too hard ends by the number of
// steps, and no answer is wrong.
func TestLevelsOfPigeonsAndHoles(t *testing.T) {
	for _, c := range []struct {
		pigeons, holes int
		ends           bool
	}{{2, 1, true}, {3, 2, true}, {4, 3, true}, {3, 3, true}, {5, 5, true}, {12, 11, false}} {
		t.Run(fmt.Sprintf("%d in %d", c.pigeons, c.holes), func(t *testing.T) {
			s := term.NewStore()
			sits := func(pigeon, hole int) term.Level { return s.Param(s.InternDotted(fmt.Sprintf("p%d_%d", pigeon, hole))) }
			nine := term.Zero
			for range 9 {
				nine = s.Succ(nine)
			}
			a, b := nine, term.Zero
			for i := range c.pigeons {
				somewhere := term.Zero
				for j := range c.holes {
					somewhere = s.Max(somewhere, sits(i, j))
					b = s.Max(b, sits(i, j))
					for k := range i {
						b = s.Max(b, s.IMax(s.IMax(nine, sits(i, j)), sits(k, j)))
					}
				}
				a = s.IMax(a, somewhere)
			}
			// Where every pigeon sits somewhere, a ≥ 9; where two sit in one hole, b ≥ 9. The others are at most 1 each.
			const most = 200_000
			steps := 0
			o := newLevelOrder(s, func() {
				if steps++; steps > most {
					panic(exhaustedPanic{"enough"})
				}
			})
			answered, got := func() (answered, got bool) {
				defer func() {
					if p := recover(); p != nil {
						if _, ok := p.(exhaustedPanic); !ok {
							panic(p)
						}
					}
				}()
				got = o.leq(a, b)
				return true, got
			}()
			if answered != c.ends {
				t.Fatalf("answered: %v, after %d steps", answered, steps)
			}
			if answered && got != (c.pigeons > c.holes) {
				t.Errorf("a ≤ b: %v", got)
			}
		})
	}
}
