package portfolio_test

import (
	"context"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/runners/portfolio"
	"reckon/runners/portfolio/portfoliotest"
)

// counted is an engine that counts what it is asked.
type counted struct {
	portfolio.Other
	questions atomic.Int64
}

func (c *counted) Answers(ctx context.Context, question *expression.Expr, processor time.Duration) iter.Seq2[*expression.Expr, error] {
	c.questions.Add(1)
	return c.Other.Answers(ctx, question, processor)
}

// open returns the engines and the second of them, counted.
func open(t *testing.T) (portfolio.Engine, *counted) {
	t.Helper()
	e, _ := portfoliotest.Start(t, portfolio.Default)
	second := &counted{Other: e.Others[0]}
	e.Others[0] = second
	return e, second
}

func request(t *testing.T, code, session string) commands.EngineRequest {
	t.Helper()
	tree, err := expression.Parse(code)
	if err != nil {
		t.Fatal(code, err)
	}
	return commands.EngineRequest{Code: code, Tree: tree, Account: "a", Session: session, Budget: 3 * time.Second, QueueWait: time.Minute}
}

// asked are the outcomes of all engines that were asked.
func asked(o commands.EngineOutcome) string {
	var all []string
	for _, a := range o.Asked {
		all = append(all, a.Name+" "+string(a.Outcome))
	}
	return strings.Join(all, ", ")
}

// TestWhoAnswers: the first engine where it can, the second where that has no answer, a wrong one, or no end.
func TestWhoAnswers(t *testing.T) {
	t.Parallel()
	e, second := open(t)
	for _, test := range []struct {
		name, code, answer, asked string
		verdict                   run.Verdict
	}{
		{"the first", "Integrate[x^2 Sin[x], x]", "2*x*Sin[x] - (-2 + x^2)*Cos[x]", "", "verified"},
		{"left", "Integrate[Sqrt[1 - x^2], x]", "x*Sqrt[1 - x^2]/2 + ArcSin[x]/2", "woxi unevaluated, giac answered", "verified"},
		{"left in a formula", "1 + Integrate[Tan[x]^4, x]", "1 + x - Tan[x] + Tan[x]^3/3", "woxi unevaluated, giac answered", ""},
		{"wrong", "Solve[2^x == 7, x, Reals]", "{{x -> Log[7]/Log[2]}}", "woxi refuted, giac answered", "verified"},
		{"an extraneous root", "Solve[Sqrt[x + 3] == x - 3, x]", "{{x -> 6}}", "woxi refuted, giac answered", "verified"},
		{"half of it", "Reduce[1/x < 1, x, Reals]", "x < 0 || x > 1", "woxi refuted, giac answered", "verified"},
		{"no end", "Sum[1/(k (k + 1)), {k, 1, 10^7}]", "10000000/10000001", "woxi timeout, giac answered", "inconclusive"},
		{"of nobody", "Integrate[x^x, x]", "Integrate[x^x, x]", "woxi unevaluated, giac unevaluated", ""},
		{"not in the table", "Integrate[BesselK[2, x^2], x]", "Integrate[BesselK[2, x^2], x]", "woxi unevaluated, giac not_asked", ""},
		{"a large number", "N[200!]", "7.886578673647905*^374", "woxi refuted, mpmath answered", "verified"},
		{"beyond machine numbers", "Exp[1000.]", "1.970071114017047*^434", "woxi refuted, mpmath answered", ""},
		{"digits", "N[Zeta[3], 20]", "1.2020569031595942854", "woxi refuted, mpmath answered", "verified"},
		{"a slow sum", "NSum[1/k^(3/2), {k, 1, Infinity}]", "2.612375348685488", "woxi refuted, mpmath answered", "verified"},
		{"waves", "NIntegrate[Sin[x]/x, {x, 0, Infinity}]", "1.570796326794897", "woxi refuted, mpmath answered", "verified"},
		{"of which nothing is known", "DSolve[{y'[x] == y[x] (1 - y[x]), y[0] == 1/2}, y[x], x]", "{{y[x] -> 1/(1 + E^(-x))}}", "woxi overruled, giac answered", "verified"},
		{"a system", "DSolve[{x'[t] == y[t], y'[t] == -x[t]}, {x[t], y[t]}, t]", "{{x[t] -> C[1]*Cos[t] + C[2]*Sin[t], y[t] -> C[2]*Cos[t] - C[1]*Sin[t]}}", "woxi unevaluated, giac answered", "verified"},
		{"divergent", "Integrate[1/x, {x, -1, 1}]", "-I*Pi", "woxi answered, giac refuted", "refuted"},
		{"an initial value", "DSolve[{y'[x] == y[x]^2, y[0] == 1}, y[x], x]", "{{y[x] -> 1/(1 - x)}}", "woxi unevaluated, giac answered", "verified"},
	} {
		before := second.questions.Load()
		o, err := e.Evaluate(t.Context(), request(t, test.code, ""))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := asked(o); got != test.asked || test.asked == "" && second.questions.Load() != before {
			t.Errorf("%s: asked %q, want %q", test.name, got, test.asked)
		}
		if test.asked != "" && test.verdict != "refuted" && o.InputForm != test.answer || o.Result != o.InputForm {
			t.Errorf("%s: %s, want %s", test.name, o.InputForm, test.answer)
		}
		if o.Check != nil && o.Check.Verdict != test.verdict && test.verdict != "" || o.Check == nil && test.verdict != "" {
			t.Errorf("%s: check %+v, want %s", test.name, o.Check, test.verdict)
		}
		if strings.HasSuffix(test.asked, "giac answered") && (o.By.Name != "giac" || o.By.Revision == "" || o.Unevaluated) {
			t.Errorf("%s: by %+v", test.name, o.By)
		}
		if answered := strings.Count(asked(o), "answered"); len(o.Asked) > 0 && (answered == 1) == o.Unevaluated {
			t.Errorf("%s: %d of %s answered, unevaluated %t", test.name, answered, asked(o), o.Unevaluated)
		}
		if overruled := strings.HasPrefix(test.asked, "woxi refuted") || strings.HasPrefix(test.asked, "woxi overruled"); overruled != (len(o.Messages) == 1 && strings.HasPrefix(o.Messages[0], "woxi answered ")) {
			t.Errorf("%s: messages %q", test.name, o.Messages)
		}
	}
}

// TestSessions: what a session defined is in the question because the first engine put it there; the second one is told nothing else.
func TestSessions(t *testing.T) {
	t.Parallel()
	e, _ := open(t)
	for _, line := range [][2]string{
		{"f[u_] := Sqrt[1 - u^2]", ""}, {"Integrate[f[t], t]", "t*Sqrt[1 - t^2]/2 + ArcSin[t]/2"}, {"% /. t -> 1", "Pi/4"}, {"t = 5; g = x; 1", "1"}, {"Integrate[f[g], g]", "x*Sqrt[1 - x^2]/2 + ArcSin[x]/2"},
	} {
		o, err := e.Evaluate(t.Context(), request(t, line[0], "a/session"))
		if err != nil {
			t.Fatal(line[0], err)
		}
		if line[1] != "" && o.InputForm != line[1] {
			t.Errorf("%s: %s, want %s", line[0], o.InputForm, line[1])
		}
		if o.By.Name == "giac" && o.Check != nil {
			t.Errorf("%s: a verdict on what the session may have given a meaning: %+v", line[0], o.Check)
		}
	}
	if o, err := e.Evaluate(t.Context(), request(t, "Integrate[f[t], t]", "")); err != nil || !o.Unevaluated {
		t.Errorf("outside of the session f is known: %+v, %v", o, err)
	}
}

// TestTheSameUnderLoad: which engine answers, what, and with which verdict, is the same while other work takes the processors eight times over.
func TestTheSameUnderLoad(t *testing.T) {
	t.Parallel()
	e, _ := open(t)
	codes := []string{
		"Integrate[Sqrt[1 - x^2], x]", "Integrate[1/(x^4 + 1), x]", "Solve[2^x == 7, x, Reals]", "Integrate[Sqrt[Tan[x]], x]", "Integrate[x^x, x]", "Sum[k 2^k, {k, 0, n}]",
		"Integrate[1/(x^5 + x + 1), x]", "Limit[(Sin[Tan[x]] - Tan[Sin[x]])/x^7, x -> 0]",
	}
	all := func() (said []string) {
		for _, code := range codes {
			o, err := e.Evaluate(t.Context(), request(t, code, ""))
			if err != nil {
				t.Fatal(code, err)
			}
			verdict := run.Verdict("none")
			if o.Check != nil {
				verdict = o.Check.Verdict
			}
			said = append(said, code+": "+o.InputForm+", "+asked(o)+", "+string(verdict))
		}
		return said
	}
	alone := all()
	stop := make(chan struct{})
	defer close(stop)
	for range 8 * runtime.GOMAXPROCS(0) {
		go func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
	}
	for i, said := range all() {
		if said != alone[i] {
			t.Errorf("alone %s\nunder load %s", alone[i], said)
		}
	}
}
