package attack

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"reckon/domain/lean/check"
	"reckon/domain/lean/kernel"
	"reckon/test/sweep"
)

// huntOptions bound one check: what does not finish is not accepted.
var huntOptions = kernel.Options{Workers: 1, MaxDepth: 2_000, MaxExprs: 1 << 16}

// Environments are built from seed 0 on. On a checker that lets a string literal's parts be
// declared after it, False is found within the first thousand.
func TestHunterFindsNoFalse(t *testing.T) {
	seeds := sweep.Size(t, "HUNT_SEEDS", 60, 2000)
	start := time.Now()
	accepted, probes, kinds := 0, 0, map[string]int{}
	for seed := range uint64(seeds) {
		h := hunt(seed, huntOptions)
		if h.Accepted {
			accepted++
			kinds[h.Kind]++
		}
		probes += h.Probes
		for _, w := range h.Wrong {
			t.Errorf("seed %d after %v: %s", seed, time.Since(start), w)
		}
		if h.False != nil {
			t.Fatalf("seed %d, environment %d after %v: False without axioms\n%s", seed, seed+1, time.Since(start), h.False)
		}
	}
	t.Logf("%d environments, %d accepted (%v), %d probes, %v", seeds, accepted, kinds, probes, time.Since(start))
	if accepted < seeds/10 || len(kinds) < 5 {
		t.Errorf("only %d of %d environments are accepted: the hunter does not hunt", accepted, seeds)
	}
}

// Files the hunter found are judged for ever: none is verified, and none stops the checker.
func TestHuntedFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/hunted/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hunted files: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := judge(string(text), "boom")
			if err != nil {
				t.Fatal(err)
			}
			if statementOf(r.Declarations[0]) == "False" && r.Kernel != check.Refused {
				t.Errorf("False is not refused: %s", describe(r))
			}
		})
	}
}

func FuzzFalse(f *testing.F) {
	for _, seed := range []uint64{0, 1, 2, 3, 30, 63, 784} { // 63 and 784 were the first to stop a checker and to prove False
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		h := hunt(seed, huntOptions)
		if h.False != nil {
			t.Fatalf("False without axioms\n%s", h.False)
		}
		for _, w := range h.Wrong {
			t.Error(w)
		}
	})
}
