package numerics

import (
	"errors"
	"testing"
	"time"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

// TestNumbers: of any size and precision, each with the digits that the checker's enclosures have; and what there is no number of.
func TestNumbers(t *testing.T) {
	t.Parallel()
	e, err := Start(t.Context(), enginetest.Of(t, Packages), engine.SandboxRequired)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	checks := checkertest.Start(t, checker.Options{})
	for text, want := range map[string]string{
		"N[200!]": "7.886578673647905*^374", "N[2^5000]": "1.412467032139426*^1505", "N[Exp[1000]]": "1.970071114017047*^434", "N[Exp[1000.]]": "1.970071114017047*^434",
		"N[Zeta[3], 20]": "1.2020569031595942854", "N[Sqrt[-2], 20]": "1.4142135623730950488*I", "N[1/8, 20]": "0.12500000000000000000", "N[Pi 10^-30]": "3.141592653589793*^-30",
		"N[(1 + 2 I)^(1/3), 25]": "1.219616507971757622571497 + 0.4717112677893890047819389*I", "N[Gamma[1/3] BesselJ[0, 5/2]]": "", "N[PolyLog[2, 1/3] + Erf[1/2]]": "", "N[Binomial[1000, 500]]": "",
		"NSum[1/k^(3/2), {k, 1, Infinity}]": "2.612375348685488", "NSum[(-1)^k/(2 k + 1), {k, 0, Infinity}]": "0.7853981633974483",
		"NIntegrate[Sin[x]/x, {x, 0, Infinity}]": "1.570796326794897", "NIntegrate[Exp[-x^2], {x, -Infinity, Infinity}]": "1.772453850905516", "NIntegrate[Log[x], {x, 0, 1}]": "-1.",
		"N[x]": "refused", "N[1/0]": "refused", "N[f[2]]": "refused", "N[\"read\"]": "refused", "N[Pi, 100000]": "refused", "NIntegrate[1/x, {x, 0, 1}]": "refused", "NSum[1/k, {k, 1, Infinity}]": "refused",
		"N[(10^9)!]": "refused", "N[1.5`20]": "refused", "NSum[k, k]": "refused", "N[Infinity]": "refused",
	} {
		question, err := expression.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for answer, err := range e.Answers(t.Context(), question, 10*time.Second) {
			var untranslatable *engine.UntranslatableError
			if isRefused := errors.Is(err, engine.ErrNoAnswer) || errors.As(err, &untranslatable); isRefused != (want == "refused") {
				t.Errorf("%s: %v, %v", text, answer, err)
			}
			if err != nil {
				continue
			}
			if got := answer.Source(); want != "" && got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
			plan, err := verification.Derive(question, answer)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			finding, err := checks.Check(t.Context(), plan, 500_000)
			if err != nil {
				t.Fatal(err)
			}
			if found := verification.Conclude(plan, finding); found.Reason != verification.ReasonCrossCheckAgrees && found.Verdict != verification.VerdictVerified {
				t.Errorf("%s: %s: %+v", text, answer.Source(), found)
			}
		}
	}
}
