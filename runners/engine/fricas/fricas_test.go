package fricas

import (
	"errors"
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

func start(t testing.TB) *Engine {
	t.Helper()
	e, err := Start(t.Context(), enginetest.Of(t, Packages), engine.SandboxRequired)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	return e
}

func mustParse(t testing.TB, text string) *expression.Expr {
	t.Helper()
	e, err := expression.Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return e
}

// patient is processor time that no question of these tests uses up.
const patient = 20 * time.Second

// TestAnswers: integrals that the engines before it leave get an answer that reads as the language writes it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	e := start(t)
	for question, want := range map[string]string{
		"Integrate[Log[1 - x]/x, x]":     "-PolyLog[2, x]",
		"Integrate[x^x (1 + Log[x]), x]": "x^x",
		"Integrate[1/Sqrt[1 - x^4], x]":  "EllipticF[ArcSin[x], -1]",
		"Integrate[Sin[t]/t, t]":         "SinIntegral[t]",
		"Integrate[x/(x^2 - a), x]":      "Log[-a + x^2]/2",
	} {
		got := ""
		for answer, err := range e.Answers(t.Context(), mustParse(t, question), patient) {
			if err != nil {
				t.Errorf("%s: %v", question, err)
				break
			}
			got = answer.Source()
			break
		}
		if got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
	name, revision := e.Info()
	t.Log(name, revision, e.MemoryBytes(), e.Boundaries())
}

// TestProcessorTime: a question that needs more than its processor time is ended by the kernel, and the next one is answered.
func TestProcessorTime(t *testing.T) {
	t.Parallel()
	e := start(t)
	if _, err := e.evaluate(t.Context(), "integrate((vv0^4+1)^(3/4)/(vv0^4+2)^2,vv0)", time.Second); !errors.Is(err, engine.ErrBudgetExhausted) {
		t.Errorf("more than a second of processor time: %v", err)
	}
	if printed, err := e.evaluate(t.Context(), "1+1", patient); err != nil || printed != "2" {
		t.Errorf("after that: %q, %v", printed, err)
	}
}
