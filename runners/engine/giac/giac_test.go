package giac

import (
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/runners/engine/enginetest"
)

func start(t testing.TB) *Engine {
	t.Helper()
	e, err := Start(t.Context(), Options{Environment: enginetest.Of(t, Packages)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	return e
}

// TestAnswers: each question of the table gets an answer that reads as the language writes it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	e := start(t)
	for question, want := range map[string]string{
		"Integrate[Sqrt[1 - x^2], x]":          "x*Sqrt[1 - x^2]/2 + ArcSin[x]/2",
		"Integrate[Tan[x]^4, x]":               "x - Tan[x] + Tan[x]^3/3",
		"Integrate[1/x, x]":                    "Log[x]",
		"Integrate[(x^2 + 4 x + 8)^(-1/2), x]": "-Log[-2 - x + Sqrt[8 + 4*x + x^2]]",
		"Integrate[i e x, x]":                  "e*i*x^2/2",
		"Integrate[x^n, x]":                    "x^(1 + n)/(1 + n)",
		"Integrate[Exp[-a x^2], {x, 0, Infinity}, Assumptions -> a > 0]": "Sqrt[Pi/a]/2",
		"Integrate[x y, {x, 0, 1}, {y, 0, x}]":                           "1/8",
		"Sum[k 2^k, {k, 0, n}]":                                          "",
		"Product[k, {k, 1, n}]":                                          "n!",
		"Limit[1/x, x -> 0, Direction -> \"FromBelow\"]":                 "-Infinity",
		"Solve[2^x == 7, x, Reals]":                                      "{{x -> Log[7]/Log[2]}}",
		"Solve[Sqrt[x + 3] == x - 3, x]":                                 "{{x -> 6}}",
		"Solve[{x + y == 1, x - y == 3}, {x, y}]":                        "{{x -> 2, y -> -1}}",
		"Solve[Sin[x] == 1/2, x, Reals]":                                 "",
		"Reduce[1/x < 1, x, Reals]":                                      "x < 0 || x > 1",
		"Reduce[x^2 < 4, x]":                                             "-2 < x < 2",
		"DSolve[y''[x] + y[x] == 0, y[x], x]":                            "{{y[x] -> C[1]*Cos[x] + C[2]*Sin[x]}}",
		"DSolve[{y'[x] == y[x]^2, y[0] == 1}, y, x]":                     "",
		"DSolve[{x'[t] == y[t], y'[t] == -x[t]}, {x[t], y[t]}, t]":       "{{x[t] -> C[1]*Cos[t] + C[2]*Sin[t], y[t] -> C[2]*Cos[t] - C[1]*Sin[t]}}",
		"DSolve[{x'[t] == x[t] + 2 y[t], 2 x[t] + y[t] == y'[t], x[0] == 1, y[0] == a}, {x, y}, t]": "",
		"RSolve[{a[n] == a[n - 1] + n, a[0] == 0}, a[n], n]":                                        "{{a[n] -> n/2 + n^2/2}}",
		"LaplaceTransform[Sin[a t], t, s]":                                                          "a/(a^2 + s^2)",
		"InverseLaplaceTransform[1/(s^2 + 1), s, t]":                                                "Sin[t]",
	} {
		tree, err := expression.Parse(question)
		if err != nil {
			t.Fatal(question, err)
		}
		got := ""
		for answer, err := range e.Answers(t.Context(), tree, 10*time.Second) {
			if err != nil {
				t.Errorf("%s: %v", question, err)
				break
			}
			got = answer.Source()
			break
		}
		if want == "" {
			t.Log(question, got)
		} else if got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
	t.Log(e.Info())
	t.Log(e.Boundaries())
}
