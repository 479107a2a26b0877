package kernel

import (
	"context"
	"math"
	"math/big"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"reckon/domain/lean/term"
)

// drawNatural draws a number of up to about that many words: some sparse, some with zeros at the end, some small.
func drawNatural(t *rapid.T, most int) *big.Int {
	seed := rapid.SliceOfN(rapid.Uint64(), 1, 4).Draw(t, "seed")
	x := new(big.Int)
	count := rapid.IntRange(0, most).Draw(t, "words")
	for i := range count {
		seed[i%len(seed)] = seed[i%len(seed)]*6364136223846793005 + 1442695040888963407
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(seed[i%len(seed)]))
	}
	return x.Lsh(x, uint(rapid.SampledFrom([]int{0, 0, 1, 63, 64, 5000}).Draw(t, "zeros")))
}

// blocks builds a number of exactly count words quickly.
func blocks(seed uint64, count int) *big.Int {
	w := make([]big.Word, count)
	for i := range w {
		seed = seed*6364136223846793005 + 1442695040888963407
		w[i] = big.Word(seed)
	}
	w[count-1] |= 1 << 63
	return new(big.Int).SetBits(w)
}

func TestArithmeticAgreesWithTheStandardLibrary(t *testing.T) {
	var spent int
	exact := arithmetic{countWork: func(words int) { spent += words }}
	compare := func(t interface {
		Fatalf(string, ...any)
	}, x, y *big.Int) {
		keptX, keptY := new(big.Int).Set(x), new(big.Int).Set(y)
		if got := exact.mul(x, y); got.Cmp(new(big.Int).Mul(x, y)) != 0 {
			t.Fatalf("product of %d and %d words", wordCount(x), wordCount(y))
		}
		if y.Sign() > 0 {
			q, r := exact.quoRem(x, y)
			wantQ, wantR := new(big.Int).QuoRem(x, y, new(big.Int))
			if q.Cmp(wantQ) != 0 || r.Cmp(wantR) != 0 {
				t.Fatalf("quotient of %d and %d words", wordCount(x), wordCount(y))
			}
		}
		if wordCount(x)*wordCount(y) < 1<<25 {
			if got := exact.gcd(x, y); got.Cmp(new(big.Int).GCD(nil, nil, x, y)) != 0 {
				t.Fatalf("divisor of %d and %d words", wordCount(x), wordCount(y))
			}
		}
		if x.Cmp(keptX) != 0 || y.Cmp(keptY) != 0 {
			t.Fatalf("an operand was changed")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawNatural(t, 60), drawNatural(t, 60)
		compare(t, x, y)
		if n := rapid.Uint64Range(0, 40).Draw(t, "exponent"); exact.pow(x, n).Cmp(new(big.Int).Exp(x, new(big.Int).SetUint64(n), nil)) != 0 {
			t.Fatalf("power %d of %d words", n, wordCount(x))
		}
	})
	// Sizes around those at which the way of computing changes.
	for _, sizes := range [][2]int{{blockWords + 1, 3}, {blockWords + 1, blockWords/2 + 1}, {2*blockWords + 3, 2*blockWords + 1},
		{2*divideWords + 1, 1}, {2*divideWords + 1, 5}, {3*divideWords + 7, divideWords + 3}, {2*divideWords + 1, 2*divideWords + 1},
		{gcdWords + 1, gcdWords}, {gcdWords + 50, gcdWords + 40}} {
		x, y := blocks(1, sizes[0]), blocks(2, sizes[1])
		compare(t, x, y)
		compare(t, new(big.Int).Lsh(x, 12345), new(big.Int).Lsh(y, 777))
		compare(t, new(big.Int).Mul(x, y), y)
	}
	if spent == 0 {
		t.Fatal("no work was counted")
	}
}

// Work on numbers counts before it is done: arithmetic that takes long stops at a cancelled deadline, however few steps
// the checker takes.
func TestArithmeticLooksAtTheDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := term.NewStore()
	var refused atomic.Int64
	refused.Store(math.MaxInt64)
	c := newChecker(ctx, newFoundation(s, nil), s, nil, DefaultMaxDepth, &refused)
	x, y := blocks(1, 1<<17), blocks(2, 1<<16)
	cancel()
	for name, op := range map[string]natOp{"mul": opMul, "div": opDiv, "mod": opMod, "gcd": opGcd} {
		func() {
			defer func() {
				if r := recover(); r != outOfTime {
					t.Errorf("%s of large numbers does not look at the deadline: %v", name, r)
				}
			}()
			c.computeNat(op, x, y)
		}()
	}
}

// Interning and forgetting numbers leaves the store as it was.
func TestNumbersAreForgottenWithTheirExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := term.NewStore()
		kept := map[string]term.Expr{}
		enter := func(many int) {
			for range many {
				v := drawNatural(t, 3)
				e := s.Nat(v)
				if known, ok := kept[v.String()]; ok && known != e {
					t.Fatalf("%s has two expressions", v)
				}
				kept[v.String()] = e
				if s.NatValue(e).Cmp(v) != 0 {
					t.Fatalf("%s became %s", v, s.NatValue(e))
				}
			}
		}
		enter(rapid.IntRange(0, 10).Draw(t, "before"))
		own := s
		if rapid.Bool().Draw(t, "clone") {
			own = s.Clone(nil)
		}
		count, before := own.ExprCount(), map[string]term.Expr{}
		for text, e := range kept {
			before[text] = e
		}
		s = own
		enter(rapid.IntRange(0, 10).Draw(t, "after"))
		own.Truncate(count)
		kept = before
		for text, e := range before {
			v, _ := new(big.Int).SetString(text, 10)
			if own.Nat(v) != e {
				t.Fatalf("%s was forgotten", text)
			}
		}
		if own.ExprCount() != count {
			t.Fatal("a number that stays was entered again")
		}
		enter(5)
	})
}
