package term

import (
	"math/rand"
	"testing"
)

// Equal expressions have one handle, whether they were made before Freeze, after it, or again after Truncate.
func TestEachExpressionHasOneHandle(t *testing.T) {
	for seed := range int64(20) {
		random := rand.New(rand.NewSource(seed))
		s := NewStore()
		grow(s, random, 200)
		s.Freeze()
		frozen := s.ExprCount()
		clone := s.Clone(nil)
		for round := range 4 {
			for _, store := range []*Store{s, clone} {
				count := []int{100, 5000, 60_000, 100}[round] // also more than the small table holds
				grow(store, random, count)
				distinct(t, store)
				store.Truncate(frozen + store.ExprCount()%7)
				distinct(t, store)
				store.Truncate(0)
				if store.ExprCount() != frozen {
					t.Fatalf("seed %d: %d expressions are left of %d frozen ones", seed, store.ExprCount(), frozen)
				}
			}
		}
	}
}

// grow makes random expressions of those there are.
func grow(s *Store, random *rand.Rand, count int) {
	for range count {
		pick := func() Expr {
			if s.ExprCount() == 0 {
				return s.BVar(0)
			}
			return Expr(random.Intn(s.ExprCount()))
		}
		switch random.Intn(6) {
		case 0:
			s.BVar(uint32(random.Intn(5)))
		case 1:
			s.Local(uint32(random.Intn(3)), pick())
		case 2:
			s.Lam(pick(), pick())
		case 3:
			s.Let(pick(), pick(), pick())
		default:
			s.App(pick(), pick())
		}
	}
}

func distinct(t *testing.T, s *Store) {
	t.Helper()
	type key struct {
		a, b, c uint32
		kind    Kind
	}
	seen := map[key]bool{}
	for id := range s.ExprCount() {
		n := s.Node(Expr(id))
		k := key{n.A, n.B, n.C, n.Kind}
		if seen[k] {
			t.Fatalf("the expression %+v has two handles", k)
		}
		seen[k] = true
		if again := s.intern(n, newestPart(n)); again != Expr(id) {
			t.Fatalf("the expression %+v is %d and then %d", k, id, again)
		}
	}
}

func newestPart(n Node) Expr {
	children, count := n.Children()
	newest := Expr(0)
	for _, c := range children[:count] {
		newest = max(newest, c)
	}
	if n.Kind == KindLocal {
		newest = Expr(n.B)
	}
	return newest
}
