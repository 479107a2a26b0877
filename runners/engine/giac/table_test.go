package giac

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/domain/tidy"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
)

// points are arguments for a translation, drawn from its domain.
func points(t translation, random *rand.Rand) []*expression.Expr {
	args := make([]*expression.Expr, t.args)
	fraction := func(low, high int64) *expression.Expr {
		return expression.NewCall("Times", expression.Int(low*16+random.Int64N((high-low)*16)), expression.NewCall("Power", expression.Int(16), expression.Int(-1)))
	}
	largest := int64(9)
	for i := range args {
		switch t.domain {
		case complexes:
			args[i] = expression.NewCall("Plus", fraction(-3, 3), expression.NewCall("Times", expression.Sym("I"), fraction(-3, 3)))
		case reals:
			args[i] = fraction(-3, 3)
		case positives:
			args[i] = expression.NewCall("Plus", expression.NewCall("Power", expression.Int(7), expression.Int(-1)), fraction(0, 3))
		case naturals:
			largest = 2 + random.Int64N(largest-1)
			args[i] = expression.Int(largest)
		}
	}
	return args
}

// filledTree is a template of the language with arguments in it.
func filledTree(template *expression.Expr, args []*expression.Expr) *expression.Expr {
	return template.Map(func(e *expression.Expr) (*expression.Expr, bool) {
		if e.IsCall("Slot") && len(e.Args) == 1 {
			i, _ := strconv.Atoi(e.Args[0].Text)
			return args[i-1], true
		}
		return nil, false
	})
}

// valueOf is what Giac computes of a text, as the language writes a number with twelve digits.
func valueOf(t *testing.T, e *Engine, text string) string {
	t.Helper()
	printed, err := e.evaluate(t.Context(), nil, "evalf("+text+",12)", 10*time.Second)
	if err != nil {
		t.Fatal(text, err)
	}
	printed = regexp.MustCompile(`(\d)e([+-]?\d+)`).ReplaceAllString(printed, "$1*10^($2)")
	return strings.ReplaceAll(printed, "i", "I")
}

// TestTranslations: every entry of the table, in both directions, has on both sides the same value at random points of its domain, by the
// checker's enclosures.
func TestTranslations(t *testing.T) {
	t.Parallel()
	e := start(t)
	checks := checkertest.Start(t, checker.Options{})
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
	// compare says of a value of Giac's whether it is the formula's: refuted, agrees, or why neither.
	compare := func(formula *expression.Expr, giacs string) verification.Outcome {
		answer, err := expression.Parse(giacs)
		if err != nil {
			return verification.Outcome{Reason: "unreadable"}
		}
		plan, err := verification.Derive(expression.NewCall("N", formula, expression.Int(10)), answer)
		if err != nil {
			return verification.Outcome{Reason: verification.Reason(err.Error())}
		}
		finding, err := checks.Check(t.Context(), plan, 500_000)
		if err != nil {
			t.Fatal(err)
		}
		return verification.Conclude(plan, finding)
	}
	for direction, table := range map[string][]translation{"to": toGiac, "from": fromGiac} {
		for _, entry := range table {
			agreed := 0
			for range 4 {
				args := points(entry, random)
				written := make([]string, len(args))
				for i, arg := range args {
					text, err := (&writer{}).write(arg)
					if err != nil {
						t.Fatal(err)
					}
					written[i] = text
				}
				text, formula := entry.name+"("+strings.Join(written, ",")+")", expression.NewCall(entry.name, args...)
				if direction == "to" {
					text = entry.template
					for i := range written {
						text = strings.ReplaceAll(text, "#"+strconv.Itoa(i+1), written[i])
					}
				} else {
					formula = filledTree(reading[signature{entry.name, entry.args}], args)
				}
				value := valueOf(t, e, text)
				switch found := compare(formula, value); {
				case found.Verdict == verification.VerdictRefuted:
					t.Errorf("%s %s/%d: %s is %s by Giac: %s", direction, entry.name, entry.args, formula.Source(), value, found.Residual)
				case found.Reason == verification.ReasonCrossCheckAgrees || found.Verdict == verification.VerdictVerified:
					agreed++
				default:
					t.Logf("%s %s/%d: %s is %s by Giac: %s", direction, entry.name, entry.args, formula.Source(), value, found.Reason)
				}
			}
			if agreed < 2 {
				t.Errorf("%s %s/%d: values could be compared at %d points only", direction, entry.name, entry.args, agreed)
			}
		}
	}
	if found := compare(mustParse(t, "ArcCot[-2]"), valueOf(t, e, "acos(0)-atan(-2)")); found.Verdict != verification.VerdictRefuted {
		t.Errorf("another branch is not found: %+v", found)
	}
}

func mustParse(t testing.TB, text string) *expression.Expr {
	t.Helper()
	e, err := expression.Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return e
}

// TestConstants: the names of numbers are those of the same numbers on both sides.
func TestConstants(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, c := range constants {
		printed, err := e.evaluate(t.Context(), nil, fmt.Sprintf("evalf(%s,12)", c[1]), 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"Pi": "3.14159265359", "E": "2.71828182846", "I": "i", "EulerGamma": "0.577215664902", "GoldenRatio": "1.61803398875", "Degree": "0.0174532925199"}[c[0]]
		if !strings.HasPrefix(printed, want) {
			t.Errorf("%s: %s", c[0], printed)
		}
	}
}

// TestTidiedIsTheSame: what package tidy makes of an answer of Giac's is the same function, by the checker.
func TestTidiedIsTheSame(t *testing.T) {
	t.Parallel()
	e := start(t)
	checks := checkertest.Start(t, checker.Options{})
	changed, proved := 0, 0
	for _, text := range []string{
		"Integrate[Sqrt[1 - x^2], x]", "Integrate[Tan[x]^4, x]", "Integrate[1/(x^4 + 1), x]", "Integrate[x^3 Exp[-2 x] Sin[3 x], x]", "Integrate[Sqrt[x^2 + 4 x + 8], x]", "Integrate[1/(1 + Exp[x]), x]",
		"Integrate[Log[x]^3/x^2, x]", "Integrate[x^5/(x^2 + 2)^3, x]", "Integrate[1/(3 + 2 Cos[x]), x]", "Integrate[Sinh[x]^3, x]", "Sum[k 2^k, {k, 0, n}]", "Sum[k^2 Binomial[n, k], {k, 0, n}]",
	} {
		ways, err := waysOf(mustParse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range ways {
			raw, err := e.ask(t.Context(), w, 10*time.Second)
			if err != nil {
				continue
			}
			for _, answer := range raw {
				tidied := tidy.Formula(answer)
				if tidied.Equal(answer) {
					continue
				}
				changed++
				plan, err := verification.Derive(expression.NewCall("FullSimplify", answer), tidied)
				if err != nil {
					t.Errorf("%s: %v", answer.Source(), err)
					continue
				}
				finding, err := checks.Check(t.Context(), plan, 500_000)
				if err != nil {
					t.Fatal(err)
				}
				switch outcome := verification.Conclude(plan, finding); outcome.Verdict {
				case verification.VerdictRefuted:
					t.Errorf("%s is not %s: %s", tidied.Source(), answer.Source(), outcome.Residual)
				case verification.VerdictVerified:
					proved++
				default:
					t.Logf("%s: %s", answer.Source(), outcome.Reason)
				}
			}
		}
	}
	if changed < 15 || proved*10 < changed*8 {
		t.Errorf("of %d that were changed %d are proved to be the same", changed, proved)
	}
}
