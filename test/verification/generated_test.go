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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/test/sweep"
)

// To measure: RECKON_PAIRS=100000 go test ./test/verification -run TestGenerated -v -seed 7
var (
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

// Pairs of a seed: no right answer is refuted, no wrong one verified.
func TestGenerated(t *testing.T) {
	t.Parallel()
	report(t, checkGenerated(t, checkertest.Start(t, checker.Options{Idle: 1}), generate(t, *generatedSeed, sweep.Size(t, "RECKON_PAIRS", 80, 3000))))
}

// Checked is a pair with its outcome and the checker's processor time.
type Checked struct {
	Generated
	verification.Outcome
	Processor time.Duration
}

// checkGenerated checks the pairs, a few at a time.
func checkGenerated(t testing.TB, c *checker.Checker, pairs []Generated) []Checked {
	checked := make([]Checked, len(pairs))
	var next atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := int(next.Add(1) - 1); i < len(pairs); i = int(next.Add(1) - 1) {
				result, processor := measured(t, c, pairs[i].Input, pairs[i].Answer, checkSteps)
				checked[i] = Checked{pairs[i], result, processor}
			}
		})
	}
	group.Wait()
	return checked
}

// defect is what to say about a verdict that is wrong, with the pair as testdata takes it; "" for any other.
func (c Checked) defect() string {
	switch {
	case c.Right && c.Verdict == verification.VerdictRefuted:
		return fmt.Sprintf("RIGHT REFUTED by %s: %s\n%s\n + %s ## %s", c.Method, c.Residual, c.Input, c.Answer, c.Origin)
	case !c.Right && c.Verdict == verification.VerdictVerified:
		return fmt.Sprintf("WRONG VERIFIED by %s: %s\n%s\n - %s ## %s: %s", c.Method, c.Residual, c.Input, c.Answer, c.Origin, c.Why)
	}
	return ""
}

// report logs a table by family, what is undecided and the processor time; a defect fails the test.
func report(t *testing.T, pairs []Checked) {
	byFamily, total := map[string]*tally{}, &tally{}
	reasons := map[string]int{}
	var times []time.Duration
	for _, pair := range pairs {
		if defect := pair.defect(); defect != "" {
			t.Error(defect)
		}
		if !pair.Right && pair.Verdict == verification.VerdictInconclusive {
			t.Logf("missed (%s) %s\n - %s ## %s: %s", pair.Reason, pair.Input, pair.Answer, pair.Origin, pair.Why)
		}
		if byFamily[pair.Family] == nil {
			byFamily[pair.Family] = &tally{}
		}
		as := Pair{Right: pair.Right}
		byFamily[pair.Family].add(as, pair.Outcome)
		total.add(as, pair.Outcome)
		if pair.Reason != "" {
			reasons[fmt.Sprintf("%-20s %-5s %s", pair.Family, map[bool]string{true: "right", false: "wrong"}[pair.Right], pair.Reason)]++
		}
		times = append(times, pair.Processor)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%d pairs\n%-20s %6s %8s %6s %7s | %6s %8s %6s %8s | %8s\n", len(pairs),
		"", "right", "verified", "open", "REFUTED", "wrong", "refuted", "open", "VERIFIED", "no check")
	row := func(name string, c *tally) {
		fmt.Fprintf(&table, "%-20s %6d %8d %6d %7d | %6d %8d %6d %8d | %8d\n", name, c.right, c.rightVerified, c.right-c.rightVerified-c.rightRefuted, c.rightRefuted,
			c.wrong, c.wrongRefuted, c.wrong-c.wrongRefuted-c.wrongVerified, c.wrongVerified, c.noCheck)
	}
	for _, family := range sorted(byFamily) {
		row(family, byFamily[family])
	}
	row("all", total)
	for _, reason := range sorted(reasons) {
		fmt.Fprintf(&table, "%6d %s\n", reasons[reason], reason)
	}
	slices.Sort(times)
	if n := len(times); n > 0 {
		fmt.Fprintf(&table, "processor time of a check: p50 %v, p95 %v, longest %v", times[n/2], times[n*95/100], times[n-1])
	}
	t.Log(table.String())
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	return keys
}
