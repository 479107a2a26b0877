package engine_test

import (
	"strings"
	"testing"

	"reckon/domain/run"
	"reckon/runners/engine/enginetest"

	"reckon/runners/engine"
)

// A line that is not known is no value, also inside a function that answers about the call that names it.
func TestUnknownLinesInsideFunctions(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, code := range []string{"Length[%]", "D[%,x]", "NumberQ[%7]", "Head[Out[99]]", "ToString[In[3]]"} {
		outcome, err := evaluate(t, e, code)
		if err != nil || !outcome.Unevaluated || !strings.Contains(strings.Join(outcome.Messages, " "), "evaluate in a session") {
			t.Errorf("%s: %v, %+v", code, err, outcome)
		}
	}
	for _, code := range []string{"Hold[%]", "Length[{1,2}]"} {
		if outcome, err := evaluate(t, e, code); err != nil || outcome.Unevaluated {
			t.Errorf("%s: %v, %+v", code, err, outcome)
		}
	}
	for _, c := range []struct {
		code    string
		unknown bool
	}{{"{1,2,3}", false}, {"Length[%1]", false}, {"Length[%]", false}, {"Length[%99]", true}, {"Length[Out[-9]]", true}, {"Length[Out[-4]]", false}, {"1+Length[%%]", false}} {
		outcome, err := inSession(t, e, "ann/unknown", c.code)
		if err != nil || outcome.Unevaluated != c.unknown {
			t.Errorf("%s: %v, %+v", c.code, err, outcome)
		}
	}
}

func TestExponentsTheEngineCannotReadAreRefused(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, code := range []string{"3*^2147483648", "2+1*^99999999999999999999", "7*^-99999999999999999999", "1.5*^99999999999999999999"} {
		if _, err := evaluate(t, e, code); failure(err) != run.FailureRefused {
			t.Errorf("%s: %v", code, err)
		}
	}
	for code, want := range map[string]string{"3*^2": "300", `StringLength["3*^2147483648"]`: "13", "1*^0000000000002": "100"} {
		if outcome, err := evaluate(t, e, code); err != nil || outcome.Result != want {
			t.Errorf("%s: %v, %s", code, err, outcome.Result)
		}
	}
}
