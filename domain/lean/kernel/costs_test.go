package kernel

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"reckon/domain/lean/internal/leantest"
)

var update = flag.Bool("update", false, "write the files under testdata/cost")

// costly are good exports that were, or are elsewhere, out of all proportion to check. The benchmarks read them from
// testdata/cost.
var costly = map[string]func(b *leantest.Builder){
	"large-numbers": func(b *leantest.Builder) { // (2^2^24 * 2^2^24) % 1000007
		b.Arithmetic()
		b.Unfold("Nat.mod", b.Term("(pi x Nat (pi y Nat Nat))"), b.Term("(lam x Nat (lam y Nat "+fuelled("v", remainder, "x", "x")+"))"))
		half := "(Nat.pow 2 16777216)"
		b.Theorem("computed", b.Term("(Eq@1 Nat (Nat.mod (Nat.mul "+half+" "+half+") 1000007) 158597)"), b.Term("(Eq.refl@1 Nat 158597)"))
	},
	"remainder": func(b *leantest.Builder) { // 1000000 % 7, by a definition of nobody's
		b.Arithmetic()
		b.Unfold("Nat.mod", b.Term("(pi x Nat (pi y Nat Nat))"), b.Term("(lam x Nat (lam y Nat "+fuelled("v", remainder, "x", "x")+"))"))
		b.Theorem("computed", b.Term("(Eq@1 Nat (Nat.mod 1000000 7) 1)"), b.Term("(Eq.refl@1 Nat 1)"))
	},
	"levels-22":  func(b *leantest.Builder) { manyLevels(b, 22) },
	"levels-200": func(b *leantest.Builder) { manyLevels(b, 200) },
}

// manyLevels states that a type at max over i of imax (u0+1) ui is one at the same maximum in reverse.
func manyLevels(b *leantest.Builder, n int) {
	var params []string
	var items []int
	for i := range n {
		params = append(params, fmt.Sprintf("u%d", i))
	}
	first := b.Succ(b.Param(params[0]))
	for _, p := range params {
		items = append(items, b.IMax(first, b.Param(p)))
	}
	up, down := items[0], items[n-1]
	for i := 1; i < n; i++ {
		up, down = b.Max(up, items[i]), b.Max(down, items[n-1-i])
	}
	b.Axiom("T", b.Sort(up), params...)
	var levels []int
	for _, p := range params {
		levels = append(levels, b.Param(p))
	}
	b.Def("same", b.Sort(down), b.Const("T", levels...), params...)
}

func TestCostlyExports(t *testing.T) {
	for name, write := range costly {
		b := leantest.NewBuilder()
		write(b)
		path := filepath.Join("testdata", "cost", name+".ndjson")
		if *update {
			if err := os.WriteFile(path, []byte(b.Text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != b.Text() {
			t.Errorf("%s is not what the test makes; go test -run %s -update writes it: %v", path, t.Name(), err)
		}
		file := read(t, b.Text())
		file.Store.SetExprLimit(file.Store.ExprCount() + 50_000)
		if r := Check(context.Background(), file.Store, file.Declarations, Options{Workers: 1}); !r.Accepted() {
			t.Errorf("%s: %v %v", name, r.Refusal, r.Exhausted)
		}
	}
}
