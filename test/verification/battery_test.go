package verification

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/test/sweep"
)

// checkSteps is what POST /api/verify grants.
const checkSteps verification.Steps = 500_000

// outcome runs one check from texts to the outcome of section 2.5.
func outcome(t testing.TB, c *checker.Checker, input, answer string, steps verification.Steps) verification.Outcome {
	t.Helper()
	result, _ := measured(t, c, input, answer, steps)
	return result
}

// measured is an outcome and the checker's processor time for it.
func measured(t testing.TB, c *checker.Checker, input, answer string, steps verification.Steps) (verification.Outcome, time.Duration) {
	t.Helper()
	in, err := expression.Parse(input)
	if err != nil {
		t.Errorf("%s: %v", input, err)
		return verification.Outcome{}, 0
	}
	out, err := expression.Parse(answer)
	if err != nil {
		t.Errorf("%s: %v", answer, err)
		return verification.Outcome{}, 0
	}
	plan, err := verification.Derive(in, out)
	var none *verification.NoPlanError
	if errors.As(err, &none) {
		return verification.OutcomeOf(none), 0
	}
	if err != nil {
		t.Errorf("%s: %v", input, err)
		return verification.Outcome{}, 0
	}
	finding, err := c.Check(t.Context(), plan, steps)
	if err != nil {
		t.Errorf("%s: %v", input, err)
		return verification.Outcome{}, 0
	}
	return verification.Conclude(plan, finding), time.Duration(finding.CPUMicros) * time.Microsecond
}

// part takes every tenth pair of each group in make test, all in make soak.
func part(t testing.TB, battery func() ([]Pair, error)) []Pair {
	t.Helper()
	pairs, err := battery()
	if err != nil {
		t.Fatal(err)
	}
	return Every(sweep.Size(t, "RECKON_BATTERY_EVERY", 30, 1), pairs)
}

// outcomes checks every pair, a few at a time; the order is the pairs'.
func outcomes(t testing.TB, c *checker.Checker, pairs []Pair) []verification.Outcome {
	results := make([]verification.Outcome, len(pairs))
	var next atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(pairs)); i = next.Add(1) - 1 {
				results[i] = outcome(t, c, pairs[i].Input, pairs[i].Answer, checkSteps)
			}
		})
	}
	group.Wait()
	return results
}

type tally struct{ right, rightVerified, rightRefuted, wrong, wrongRefuted, wrongVerified, noCheck int }

// The goals of the verification issue, with the pairs the rules were developed against.
// Every one of them has a check.
func TestBattery(t *testing.T) { meetsGoals(t, Battery, 0) }

// The same goals, with pairs written by another hand: one in a hundred may be of a form no rule takes.
func TestIndependent(t *testing.T) { meetsGoals(t, Independent, 1) }

// meetsGoals asserts that no verdict is wrong and, of the whole battery, the goals; RECKON_BATTERY_RULE=slug,slug looks at these rules only.
func meetsGoals(t *testing.T, battery func() ([]Pair, error), noCheckPercent int) {
	t.Parallel()
	pairs := part(t, battery)
	c := checkertest.Start(t, checker.Options{Idle: 1})
	only := os.Getenv("RECKON_BATTERY_RULE")
	byRule := map[string]*tally{}
	total := &tally{}
	slugs := map[string]bool{}
	residual := map[string]bool{}
	proofs := map[string]string{} // of sampled rules, by which others say what they prove
	for _, rule := range verification.Rules() {
		slugs[rule.Declare().Slug] = true
		_, isResidual := rule.(verification.ResidualRule)
		residual[rule.Declare().Slug] = isResidual
		if sampled, ok := rule.(verification.SampledRule); ok {
			proofs[rule.Declare().Slug] = sampled.Proof()
		}
	}
	residualRight, residualVerified := 0, 0
	pairs = slices.DeleteFunc(pairs, func(pair Pair) bool { return only != "" && !strings.Contains(","+only+",", ","+pair.Rule+",") })
	for i, result := range outcomes(t, c, pairs) {
		pair := pairs[i]
		if !slugs[pair.Rule] {
			t.Errorf("the battery names a rule that is not there: %s", pair.Rule)
		}
		if byRule[pair.Rule] == nil {
			byRule[pair.Rule] = &tally{}
		}
		line := fmt.Sprintf("%s | %s | %s: %s %s %s %s", pair.Rule, pair.Input, pair.Answer, result.Verdict, result.Reason, result.Method, result.Residual)
		for _, tally := range []*tally{byRule[pair.Rule], total} {
			tally.add(pair, result)
		}
		requireTrueSentence(t, line, result.Residual)
		switch {
		case pair.Right && result.Verdict == verification.VerdictRefuted:
			t.Errorf("RIGHT REFUTED %s", line)
		case !pair.Right && result.Verdict == verification.VerdictVerified:
			t.Errorf("WRONG VERIFIED %s", line)
		case strings.HasPrefix(string(result.Reason), "no_check"):
			t.Logf("NO CHECK %s", line)
		case result.Method != "" && result.Method != pair.Rule && (result.Verdict != verification.VerdictVerified || result.Method != proofs[pair.Rule]):
			t.Errorf("ANOTHER RULE %s", line)
		case !pair.Right && result.Verdict != verification.VerdictRefuted:
			t.Logf("missed %s", line)
		case pair.Right && residual[pair.Rule] && result.Verdict != verification.VerdictVerified:
			t.Logf("not verified %s", line)
		case pair.Right && !residual[pair.Rule] && result.Verdict != verification.VerdictVerified && result.Reason != verification.ReasonCrossCheckAgrees:
			t.Logf("not agreed %s", line)
		}
		if residual[pair.Rule] && pair.Right {
			residualRight++
			if result.Verdict == verification.VerdictVerified {
				residualVerified++
			}
		}
	}
	rules := make([]string, 0, len(byRule))
	for rule := range byRule {
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, cmp.Compare[string])
	for _, rule := range rules {
		t.Logf("%-26s %s", rule, byRule[rule])
	}
	t.Logf("%-26s %s; residual rules verify %d of %d right answers", "all", total, residualVerified, residualRight)
	if !sweep.Whole() {
		return // the goals are of the whole
	}
	for _, rule := range rules {
		if n := byRule[rule].right + byRule[rule].wrong; n < 12 {
			t.Errorf("%s has %d pairs, 12 are wanted", rule, n)
		}
	}
	if total.noCheck*100 > noCheckPercent*(total.right+total.wrong) {
		t.Errorf("%d of %d pairs have no check, %d %% may", total.noCheck, total.right+total.wrong, noCheckPercent)
	}
	if total.wrongRefuted*100 < total.wrong*95 {
		t.Errorf("%d of %d wrong answers refuted, 95 %% are wanted", total.wrongRefuted, total.wrong)
	}
	if residualVerified*100 < residualRight*80 {
		t.Errorf("%d of %d right answers verified under residual rules, 80 %% are wanted", residualVerified, residualRight)
	}
}

// Each rule of proofs verifies what it can prove, under its own name, and none of the near misses is verified by any rule.
func TestProofs(t *testing.T) {
	t.Parallel()
	pairs := part(t, Proofs)
	for i, result := range outcomes(t, checkertest.Start(t, checker.Options{Idle: 1}), pairs) {
		pair, verified := pairs[i], result.Verdict == verification.VerdictVerified
		if verified != pair.Right || verified && result.Method != pair.Rule {
			t.Errorf("%s | %s | %s: %+v", pair.Rule, pair.Input, pair.Answer, result)
		}
	}
}

// Further forms of call and answers that are easily misjudged: none is judged the wrong way, and none goes unchecked.
func TestForms(t *testing.T) {
	t.Parallel()
	pairs := part(t, Forms)
	c := checkertest.Start(t, checker.Options{Idle: 1})
	total := &tally{}
	for i, result := range outcomes(t, c, pairs) {
		total.add(pairs[i], result)
		right, verdict := pairs[i].Right, result.Verdict
		if right && verdict == verification.VerdictRefuted || !right && verdict == verification.VerdictVerified || strings.HasPrefix(string(result.Reason), "no_check") {
			t.Errorf("%s | %s: %+v", pairs[i].Input, pairs[i].Answer, result)
		}
	}
	t.Log(total)
	if total.wrongRefuted*100 < total.wrong*90 {
		t.Errorf("%d of %d wrong answers refuted, 90 %% are wanted", total.wrongRefuted, total.wrong)
	}
}

// What verdicts were once wrong about, with neighbours: "rule" names the class.
func TestClasses(t *testing.T) { neverWrong(t, Classes) }

// Pairs made to mislead, by a hand that did not see the rules: "rule" names what misleads.
func TestStranger(t *testing.T) { neverWrong(t, Stranger) }

// collapsed is the share of wrong answers, in percent, below which a battery fails although no verdict is wrong: so little is
// decided then that the checker is broken. How much is decided is a figure to measure (docs/bench), not an assertion.
// The classes hold many pairs that are wrong at places which no rule looks for; these are to stay undecided.
const collapsed = 60

// neverWrong asserts soundness: no right answer is refuted and no wrong one verified.
func neverWrong(t *testing.T, battery func() ([]Pair, error)) {
	t.Parallel()
	pairs := part(t, battery)
	byClass, total := map[string]*tally{}, &tally{}
	for i, result := range outcomes(t, checkertest.Start(t, checker.Options{Idle: 1}), pairs) {
		pair := pairs[i]
		if byClass[pair.Rule] == nil {
			byClass[pair.Rule] = &tally{}
		}
		byClass[pair.Rule].add(pair, result)
		total.add(pair, result)
		line := fmt.Sprintf("%s | %s ## %s: %s %s %s %s", pair.Input, pair.Answer, pair.Origin, result.Verdict, result.Reason, result.Method, result.Residual)
		requireTrueSentence(t, line, result.Residual)
		switch {
		case pair.Right && result.Verdict == verification.VerdictRefuted:
			t.Errorf("RIGHT REFUTED %s", line)
		case !pair.Right && result.Verdict == verification.VerdictVerified:
			t.Errorf("WRONG VERIFIED %s", line)
		case !pair.Right && result.Verdict != verification.VerdictRefuted:
			t.Logf("missed %s", line)
		case pair.Right && result.Verdict != verification.VerdictVerified && result.Reason != verification.ReasonCrossCheckAgrees:
			t.Logf("not verified %s", line)
		}
	}
	for _, class := range sorted(byClass) {
		t.Logf("%-42s %s", class, byClass[class])
	}
	t.Logf("%-42s %s", "all", total)
	if total.wrongRefuted*100 < total.wrong*collapsed {
		t.Errorf("%d of %d wrong answers refuted, fewer than %d %%", total.wrongRefuted, total.wrong, collapsed)
	}
}

func (t *tally) add(pair Pair, result verification.Outcome) {
	if pair.Right {
		t.right++
	} else {
		t.wrong++
	}
	switch {
	case strings.HasPrefix(string(result.Reason), "no_check"):
		t.noCheck++
	case pair.Right && result.Verdict == verification.VerdictVerified:
		t.rightVerified++
	case pair.Right && result.Verdict == verification.VerdictRefuted:
		t.rightRefuted++
	case !pair.Right && result.Verdict == verification.VerdictRefuted:
		t.wrongRefuted++
	case !pair.Right && result.Verdict == verification.VerdictVerified:
		t.wrongVerified++
	}
}

func (t *tally) String() string {
	return fmt.Sprintf("right %d (verified %d, refuted %d), wrong %d (refuted %d, verified %d), no check %d",
		t.right, t.rightVerified, t.rightRefuted, t.wrong, t.wrongRefuted, t.wrongVerified, t.noCheck)
}

// root is the repository's folder.
func root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			t.Fatal("no go.mod above the test")
		}
		folder = parent
	}
}
