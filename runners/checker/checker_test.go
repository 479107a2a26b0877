package checker

import (
	"context"
	"errors"
	"testing"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/engine/enginetest"
)

func start(t *testing.T, options Options) *Checker {
	t.Helper()
	c, err := New(t.Context(), enginetest.Environment(t), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func plan(t *testing.T, input, answer string) verification.Plan {
	t.Helper()
	in, err := expression.Parse(input)
	if err != nil {
		t.Fatal(err)
	}
	out, err := expression.Parse(answer)
	if err != nil {
		t.Fatal(err)
	}
	p, err := verification.Derive(in, out)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCheck(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	if info := c.Info(); info["name"] != "python-flint" || info["revision"] == "" {
		t.Errorf("%v", info)
	}
	ctx := t.Context()
	for _, test := range []struct {
		name, input, answer string
		status              verification.Status
		exact               bool
		steps               verification.Steps
	}{
		{"by algebra", "Expand[(x + y)^2]", "x^2 + 2 x y + y^2", verification.StatusProved, true, 500_000},
		{"by numbers", "FullSimplify[Gamma[x] Gamma[1 - x]]", "Pi/Sin[Pi x]", verification.StatusProved, false, 500_000},
		{"wrong", "Expand[(x + y)^2]", "x^2 + x y + y^2", verification.StatusRefuted, true, 500_000},
		{"no steps", "Expand[(x + y)^2]", "x^2 + 2 x y + y^2", verification.StatusTimedOut, false, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			finding, err := c.Check(ctx, plan(t, test.input, test.answer), test.steps)
			if err != nil {
				t.Fatal(err)
			}
			if finding.Status != test.status || finding.Exact != test.exact {
				t.Errorf("%+v", finding)
			}
		})
	}
}

// A caller that gives up and a checker that is closed are errors, not findings.
func TestCheckGivenUp(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Check(ctx, plan(t, "Expand[x + x]", "2 x"), 500_000); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A checker process that dies of its memory limit is a finding of its own, and the next check is not harmed.
func TestCrash(t *testing.T) {
	t.Parallel()
	c := start(t, Options{MemoryBytes: 8 << 20})
	heavy := plan(t, "MatrixPower[{{1, 1}, {1, 0}}, 9999]", "{{1, 1}, {1, 0}}")
	heavy.Task.Fields["claims"] = make([]string, 1<<19)
	finding, err := c.Check(t.Context(), heavy, 500_000)
	if err != nil || finding.Status != verification.StatusFailed {
		t.Fatalf("%+v, %v", finding, err)
	}
	if outcome := verification.Conclude(heavy, finding); outcome.Reason != verification.ReasonEngineError {
		t.Errorf("%+v", outcome)
	}
	finding, err = c.Check(t.Context(), plan(t, "Expand[x + x]", "2 x"), 500_000)
	if err != nil || finding.Status != verification.StatusProved {
		t.Errorf("the next check: %+v, %v", finding, err)
	}
}

// Checks run behind the same walls as evaluations.
func TestBoundaries(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	boundaries := c.Boundaries()
	if len(boundaries) == 0 {
		t.Error("no boundary is reported")
	}
	for _, boundary := range boundaries {
		if !boundary.InForce {
			t.Errorf("%s is open", boundary.Name)
		}
	}
}

// What is counted does not depend on the process: the same steps suffice, or do not, in checkers started one after the other,
// and the budget ends checks that the processor would have had time for.
func TestSteps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := plan(t, "Integrate[x^2 Sin[x], x]", "2 x Sin[x] - (x^2 - 2) Cos[x]")
	least := map[verification.Steps]bool{}
	for range 2 {
		c := start(t, Options{})
		low, high := verification.Steps(0), verification.Steps(1<<14) // not enough, enough
		for high-low > 1 {
			middle := (low + high) / 2
			finding, err := c.Check(ctx, p, middle)
			if err != nil {
				t.Fatal(err)
			}
			if finding.Status == verification.StatusTimedOut {
				low = middle
			} else {
				high = middle
			}
		}
		least[high] = true
	}
	if len(least) != 1 || least[1<<14] || least[1] {
		t.Errorf("steps that the check needs: %v", least)
	}
}
