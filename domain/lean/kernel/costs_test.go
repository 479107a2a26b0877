package kernel

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files under testdata/cost")

// costly are good exports that were, or are elsewhere, out of all proportion to check. The benchmarks read them from
// testdata/cost.
var costly = map[string]string{
	// (2^2^24 * 2^2^24) % 1000007
	"large-numbers": shape("Nat.mod", fuelled("v", remainder, "x", "x")) + `
theorem computed : Eq.{1} Nat (Nat.mod (Nat.mul (Nat.pow 2 16777216) (Nat.pow 2 16777216)) 1000007) 158597 := Eq.refl.{1} Nat 158597`,
	// 1000000 % 7, by a definition of nobody's
	"remainder": shape("Nat.mod", fuelled("v", remainder, "x", "x")) + `
theorem computed : Eq.{1} Nat (Nat.mod 1000000 7) 1 := Eq.refl.{1} Nat 1`,
	"levels-22":  manyLevels(22),
	"levels-200": manyLevels(200),
}

// manyLevels states that a type at max over i of imax (u0+1) ui is one at the same maximum in reverse.
func manyLevels(n int) string {
	var params []string
	up, down := "", ""
	for i := range n {
		params = append(params, fmt.Sprintf("u%d", i))
		item, reversed := fmt.Sprintf("(imax (u0+1) u%d)", i), fmt.Sprintf("(imax (u0+1) u%d)", n-1-i)
		if i == 0 {
			up, down = item, reversed
		} else {
			up, down = "(max "+up+" "+item+")", "(max "+down+" "+reversed+")"
		}
	}
	all := ".{" + strings.Join(params, ", ") + "}"
	return "axiom T" + all + " : Sort " + up + "\ndef same" + all + " : Sort " + down + " := T" + all
}

func TestCostlyExports(t *testing.T) {
	for name, source := range costly {
		text := writeSource(t, source)
		path := filepath.Join("testdata", "cost", name+".ndjson")
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%s is not what the test makes; go test -run %s -update writes it: %v", path, t.Name(), err)
		}
		file := read(t, text)
		file.Store.SetExprLimit(file.Store.ExprCount() + 50_000)
		if r := Check(context.Background(), file.Store, file.Declarations, Options{Workers: 1}); !r.Accepted() {
			t.Errorf("%s: %v %v", name, r.Refusal, r.Exhausted)
		}
	}
}
