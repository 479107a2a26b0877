package checker

import (
	"context"
	"errors"
	"testing"
	"time"

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
	c := start(t, Options{})
	if info := c.Info(); info["name"] != "python-flint" || info["revision"] == "" {
		t.Errorf("%v", info)
	}
	ctx := t.Context()
	for _, test := range []struct {
		name, input, answer string
		status              verification.Status
		exact               bool
		budget              time.Duration
	}{
		{"by algebra", "Expand[(x + y)^2]", "x^2 + 2 x y + y^2", verification.StatusProved, true, 20 * time.Second},
		{"by numbers", "FullSimplify[Gamma[x] Gamma[1 - x]]", "Pi/Sin[Pi x]", verification.StatusProved, false, 20 * time.Second},
		{"wrong", "Expand[(x + y)^2]", "x^2 + x y + y^2", verification.StatusRefuted, true, 20 * time.Second},
		{"no time", "Expand[(x + y)^2]", "x^2 + 2 x y + y^2", verification.StatusTimedOut, false, time.Nanosecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			finding, err := c.Check(ctx, plan(t, test.input, test.answer), test.budget)
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
	c := start(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Check(ctx, plan(t, "Expand[x + x]", "2 x"), time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A checker process that dies of its memory limit is a finding of its own, and the next check is not harmed.
func TestCrash(t *testing.T) {
	c := start(t, Options{MemoryBytes: 8 << 20})
	heavy := plan(t, "MatrixPower[{{1, 1}, {1, 0}}, 9999]", "{{1, 1}, {1, 0}}")
	heavy.Task.Fields["claims"] = make([]string, 1<<19)
	finding, err := c.Check(t.Context(), heavy, time.Minute)
	if err != nil || finding.Status != verification.StatusFailed {
		t.Fatalf("%+v, %v", finding, err)
	}
	if outcome := verification.Conclude(heavy, finding); outcome.Reason != verification.ReasonEngineError {
		t.Errorf("%+v", outcome)
	}
	finding, err = c.Check(t.Context(), plan(t, "Expand[x + x]", "2 x"), time.Minute)
	if err != nil || finding.Status != verification.StatusProved {
		t.Errorf("the next check: %+v, %v", finding, err)
	}
}

// Checks run behind the same walls as evaluations.
func TestBoundaries(t *testing.T) {
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
