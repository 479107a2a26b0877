package verification

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reckon/domain/verification"
	"reckon/runners/engine"
	"reckon/runners/engine/checker"
	"reckon/runners/engine/enginetest"
)

// To measure: go test ./test/verification -run TestGenerated -v -pairs 100000 -seed 7
var (
	generatedPairs  = flag.Int("pairs", 2000, "pairs that TestGenerated checks")
	generatedSeed   = flag.Int64("seed", 1, "seed of the generated pairs")
	generatedFamily = flag.String("family", "", "generate pairs of these families only, by the names of their functions: a,b")
)

// Generated is a pair that test/verification/generator made: a right answer by construction, a wrong one with its proof.
type Generated struct {
	Family string `json:"family"`
	Input  string `json:"input"`
	Answer string `json:"answer"`
	Right  bool   `json:"right"`
	Origin string `json:"origin"`
	Why    string `json:"why"` // the proof that a wrong answer is wrong
}

// generate runs the generator with the engine's Python, whose python-flint computes the enclosures.
func generate(t testing.TB, seed int64, count int) []Generated {
	t.Helper()
	command := exec.CommandContext(t.Context(), engine.Python(enginetest.Environment(t)), "-I", "-B", "generator",
		"--seed", strconv.FormatInt(seed, 10), "--count", strconv.Itoa(count), "--only", *generatedFamily)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, complaint.String())
	}
	var pairs []Generated
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var pair Generated
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, pair)
	}
	if err := lines.Err(); err != nil || len(pairs) != count {
		t.Fatalf("%d pairs of %d: %v", len(pairs), count, err)
	}
	return pairs
}

// A few thousand pairs, the same ones each time: no right answer is refuted, no wrong one verified.
func TestGenerated(t *testing.T) {
	generated := generate(t, *generatedSeed, *generatedPairs)
	reportGenerated(t, generated, checkGenerated(t, start(t), generated))
}

// Every seed is another few pairs: make fuzz goes through seeds for as long as it is let.
func FuzzGenerated(f *testing.F) {
	c := start(f)
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) {
		generated := generate(t, seed, 25)
		pairs := make([]Pair, len(generated))
		for i, g := range generated {
			pairs[i] = g.pair()
		}
		for i, result := range outcomes(t, c, pairs) {
			if defect := generated[i].defect(result); defect != "" {
				t.Error(defect)
			}
		}
	})
}

func checkGenerated(t testing.TB, c *checker.Checker, generated []Generated) []verification.Outcome {
	pairs := make([]Pair, len(generated))
	for i, g := range generated {
		pairs[i] = g.pair()
	}
	return outcomes(t, c, pairs)
}

func (g Generated) pair() Pair {
	return Pair{Rule: g.Family, Input: g.Input, Answer: g.Answer, Right: g.Right, Origin: g.Origin}
}

// defect is what to say about a verdict that is wrong, with the pair as testdata/forms takes it; "" for any other.
func (g Generated) defect(result verification.Outcome) string {
	switch {
	case g.Right && result.Verdict == verification.VerdictRefuted:
		return fmt.Sprintf("RIGHT REFUTED by %s: %s\n%s\n + %s ## %s", result.Method, result.Residual, g.Input, g.Answer, g.Origin)
	case !g.Right && result.Verdict == verification.VerdictVerified:
		return fmt.Sprintf("WRONG VERIFIED by %s: %s\n%s\n - %s ## %s: %s", result.Method, result.Residual, g.Input, g.Answer, g.Origin, g.Why)
	}
	return ""
}

// reportGenerated logs a table by family and the defects; a defect fails the test.
func reportGenerated(t *testing.T, generated []Generated, results []verification.Outcome) {
	type counts struct{ right, rightVerified, rightRefuted, wrong, wrongRefuted, wrongVerified int }
	byFamily, total := map[string]*counts{}, &counts{}
	reasons := map[string]int{}
	for i, g := range generated {
		result := results[i]
		if defect := g.defect(result); defect != "" {
			t.Error(defect)
		}
		if byFamily[g.Family] == nil {
			byFamily[g.Family] = &counts{}
		}
		for _, c := range []*counts{byFamily[g.Family], total} {
			verified, refuted := result.Verdict == verification.VerdictVerified, result.Verdict == verification.VerdictRefuted
			if g.Right {
				c.right++
				c.rightVerified += one(verified)
				c.rightRefuted += one(refuted)
			} else {
				c.wrong++
				c.wrongRefuted += one(refuted)
				c.wrongVerified += one(verified)
			}
		}
		if result.Reason != "" {
			kind := "wrong"
			if g.Right {
				kind = "right"
			}
			reasons[fmt.Sprintf("%-20s %s %s", g.Family, kind, result.Reason)]++
		}
		if !g.Right && result.Verdict == verification.VerdictInconclusive {
			t.Logf("missed (%s) %s\n - %s ## %s: %s", result.Reason, g.Input, g.Answer, g.Origin, g.Why)
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-22s %7s %8s %8s %8s | %7s %8s %8s %8s\n", "", "right", "verified", "open", "REFUTED", "wrong", "refuted", "open", "VERIFIED")
	row := func(name string, c *counts) {
		fmt.Fprintf(&table, "%-22s %7d %8d %8d %8d | %7d %8d %8d %8d\n", name, c.right, c.rightVerified, c.right-c.rightVerified-c.rightRefuted, c.rightRefuted,
			c.wrong, c.wrongRefuted, c.wrong-c.wrongRefuted-c.wrongVerified, c.wrongVerified)
	}
	for _, family := range sorted(byFamily) {
		row(family, byFamily[family])
	}
	row("all", total)
	for _, reason := range sorted(reasons) {
		fmt.Fprintf(&table, "%6d %s\n", reasons[reason], reason)
	}
	t.Log(table.String())
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	return keys
}
