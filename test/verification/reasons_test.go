package verification

import (
	"strings"
	"testing"

	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
)

// Every reason of section 2.5, reached through the real rules and the real checker.
func TestReasons(t *testing.T) {
	c := checkertest.Start(t, checker.Options{Idle: 1})
	for _, test := range []struct {
		name, input, answer string
		reason              verification.Reason
		steps               verification.Steps
	}{
		{"a sampled route agrees", "Integrate[1/(1 + Tan[x]^Sqrt[2]), {x, 0, Pi/2}]", "Pi/4", verification.ReasonCrossCheckAgrees, checkSteps},
		{"no rule for the head", "Plot[x, {x, 0, 1}]", "3", verification.ReasonNoHead, checkSteps},
		{"a text that is none", "StringLength[x]", "3", verification.ReasonNoShape, checkSteps},
		{"an atom", "x", "x", verification.ReasonNoHead, checkSteps},
		{"a program given back", "Map[EvenQ, {1, 2}]", "Map[EvenQ, {1, 2}]", verification.ReasonAnswerNotUsable, checkSteps},
		{"several expressions", "Print[a]; Solve[x^2 == 2, x]", "{{x -> 1}}", verification.ReasonNoShape, checkSteps},
		{"units of measure", "Solve[x == 2 Quantity[3, \"Meters\"], x]", "{{x -> 6}}", verification.ReasonNoShape, checkSteps},
		{"a function the checker does not know", "Simplify[MathieuC[1, 2, x] + 0]", "2 x", verification.ReasonNoShape, checkSteps},
		{"units in the answer", "Solve[x == 2, x]", "{{x -> Quantity[2, \"Meters\"]}}", verification.ReasonAnswerNotUsable, checkSteps},
		{"an unevaluated answer", "Integrate[Sin[Sin[x]], x]", "Integrate[Sin[Sin[x]], x]", verification.ReasonAnswerNotUsable, checkSteps},
		{"not a list of solutions", "Solve[x == 2, x]", "2", verification.ReasonAnswerNotUsable, checkSteps},
		{"an implicit solution", "DSolve[y'[x] == y[x], y[x], x]", "{{y[x] -> InverseFunction[f][x]}}", verification.ReasonAnswerNotUsable, checkSteps},
		{"right for positive a only", "Integrate[1/Sqrt[a^2 - x^2], x]", "ArcSin[x/a]", verification.ReasonNotReduced, checkSteps},
		{"something that reaches outside", "Simplify[Run[x]]", "x", verification.ReasonNotPermitted, checkSteps},
		{"a read in the answer", "Solve[x == 2, x]", "{{x -> ReadString[f]}}", verification.ReasonNotPermitted, checkSteps},
		{"no steps", "Integrate[Sin[x^2] Exp[Cos[x]]/Log[x + 2], {x, 0, 30}]", "1", verification.ReasonTimedOut, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := outcome(t, c, test.input, test.answer, test.steps)
			if result.Verdict != verification.VerdictInconclusive || result.Reason != test.reason {
				t.Errorf("%s with %s: %+v, want inconclusive for %s", test.input, test.answer, result, test.reason)
			}
		})
	}
}

// The wrong answers that the engine in force is known to give.
func TestKnownWrongAnswers(t *testing.T) {
	c := checkertest.Start(t, checker.Options{Idle: 1})
	for _, test := range []struct{ input, answer string }{
		{"Solve[Sqrt[x+3]==x-3,x]", "{{x -> 1}, {x -> 6}}"},
		{"Solve[Sqrt[x+3]==x-3,x]", "{{x -> 3}}"},
		{"Integrate[1/x,{x,-1,1}]", "(-I)*Pi"},
		{"NIntegrate[Sin[x]/x,{x,0,Infinity}]", "-8.904489328583295*^6"},
		{"N[Zeta[3],20]", "1.2020569031595938"},
		{"Reduce[1/(x-1)>2,x]", "False"},
		{"Solve[Sqrt[x]==x-2,x]", "{{x -> 2}}"},
		{"FullSimplify[Sin[x]^4-Cos[x]^4]", "Sin[2*x]"},
		{"DSolve[y''''[x]-y[x]==0,y[x],x]", "{{y[x] -> E^x*C[1] + C[2]/E^x + C[3] + C[4]}}"},
		{"Limit[n!^(1/n)/n,n->Infinity]", "0"},
		{"NSum[1/k^1.5,{k,1,Infinity}]", "2.5828578822629926"},
	} {
		if result := outcome(t, c, test.input, test.answer, checkSteps); result.Verdict != verification.VerdictRefuted {
			t.Errorf("%s with %s: %+v, want refuted", test.input, test.answer, result)
		}
	}
}

// What is hostile ends as a reason of its own, and the checker goes on.
func TestHostile(t *testing.T) {
	c := checkertest.Start(t, checker.Options{Idle: 1})
	nested := strings.Repeat("Sin[", 200) + "x" + strings.Repeat("]", 200)
	terms := make([]string, 15000)
	roots := make([]string, 1500)
	for i := range terms {
		terms[i] = "x"
	}
	for i := range roots {
		roots[i] = "{x->1}"
	}
	for _, test := range []struct{ name, input, answer string }{
		{"a long sum", "Expand[" + strings.Join(terms[:6000], "+") + "]", "x"},
		{"too many terms", "Expand[" + strings.Join(terms, "+") + "]", "x"},
		{"deep nesting", "Simplify[" + nested + "]", "x"},
		{"too many roots", "Solve[x^2 == 1, x]", "{" + strings.Join(roots, ",") + "}"},
		{"a huge power", "Expand[(x + 1)^(10^9)]", "x"},
		{"a tower", "Simplify[10^(10^(10^10))]", "1"},
		{"a huge factorial", "Simplify[(10^9)!]", "1"},
		{"a long loop", "Sum[Sin[k], {k, 1, 10^9}]", "1"},
		{"a large degree", "Solve[x^5000 == 1, x]", "{{x -> 1}}"},
		{"a large index", "Prime[10^12]", "3"},
		{"a large number", "PrimeQ[10^5000 + 1]", "True"},
		{"many digits", "N[Pi, 10^9]", "3.14"},
		{"a large matrix", "Det[IdentityMatrix[10^6]]", "1"},
		{"a deep derivative", "D[Sin[x], {x, 10^6}]", "Sin[x]"},
		{"a polynomial to multiply out", "PolynomialGCD[(x + y + z)^1000, x - 1]", "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := outcome(t, c, test.input, test.answer, checkSteps)
			if result.Verdict == verification.VerdictVerified {
				t.Errorf("%+v", result)
			}
			if after := outcome(t, c, "Expand[(x + 1)^2]", "x^2 + 2 x + 1", checkSteps); after.Verdict != verification.VerdictVerified {
				t.Errorf("the next check: %+v", after)
			}
		})
	}
}

// The same plan gives the same outcome: sample points are drawn from the plan.
func TestDeterministic(t *testing.T) {
	c := checkertest.Start(t, checker.Options{Idle: 1})
	for _, test := range [][2]string{{"Integrate[Tan[x], x]", "-Log[Cos[x]]"}, {"Simplify[Sqrt[x^2]]", "x"}, {"Limit[Sin[x]/x, x -> 0]", "0"}} {
		first := outcome(t, c, test[0], test[1], checkSteps)
		for range 3 {
			if again := outcome(t, c, test[0], test[1], checkSteps); again != first {
				t.Errorf("%s: %+v, then %+v", test[0], first, again)
			}
		}
	}
}
