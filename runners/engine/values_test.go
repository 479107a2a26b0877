package engine_test

import (
	"regexp"
	"testing"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
)

// TestValuesThatAreDrawn: what the engine draws where it shows it comes back as a text too, wherever it came from.
func TestValuesThatAreDrawn(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for code, want := range map[string][2]string{ // the result and what it reads back as
		`DateObject[{2020, 2, 29}]`:                     {"Sat 29 Feb 2020", `DateObject[{2020, 2, 29}, "Day"]`},
		`d = DateObject[{2020, 2, 29}]`:                 {"Sat 29 Feb 2020", `DateObject[{2020, 2, 29}, "Day"]`},
		`DatePlus[DateObject[{2020, 2, 28}], 2]`:        {"Sun 1 Mar 2020", `DateObject[{2020, 3, 1}, "Day"]`},
		`DateObject[{2020}]`:                            {`DateObject[{2020}, "Year"]`, ""},
		`If[True, Grid[{{1, 2}}]]`:                      {`Grid[{{1, 2}}]`, ""},
		`m = {{1, 2}, {3, 4}}; m // MatrixForm (* a *)`: {`MatrixForm[{{1, 2}, {3, 4}}]`, ""},
		`Red`:                              {`RGBColor[1, 0, 0]`, ""},
		`Dataset[{1, 2}]`:                  {`Dataset[{1, 2}, TypeSystem` + "`" + `Vector[TypeSystem` + "`" + `Atom[Integer], 2], <||>]`, ""},
		`Plot[x, {x, 0, 1}]`:               {"-Graphics-", ""},
		`Graphics[{Circle[]}]`:             {"-Graphics-", ""},
		`p = ListPlot[{1, 4, 9}]; Show[p]`: {"-Graphics-", ""},
	} {
		if want[1] == "" {
			want[1] = want[0]
		}
		outcome, err := evaluate(t, e, code)
		if err != nil || outcome.Result != want[0] || outcome.InputForm != want[1] || len(outcome.SVG) == 0 || outcome.Unevaluated {
			t.Errorf("%s: %s, %s, %d bytes of drawing, %v", code, outcome.Result, outcome.InputForm, len(outcome.SVG), err)
		}
	}
	for code, want := range map[string]string{
		"Now": `DateObject\[\{20..,.*"Instant".*`, "Today": `DateObject\[\{20..,.*"Day"\]`, "Tomorrow": `DateObject\[.*"Day"\]`, "Yesterday": `DateObject\[.*"Day"\]`,
	} {
		outcome, err := evaluate(t, e, code)
		if err != nil || !regexp.MustCompile("^"+want+"$").MatchString(outcome.InputForm) || !regexp.MustCompile(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [0-9]+ \w+ 20`).MatchString(outcome.Result) {
			t.Errorf("%s: %s %s, %d bytes of drawing, %v", code, outcome.Result, outcome.InputForm, len(outcome.SVG), err)
		}
	}
}

// TestWithoutValue: definitions and evaluations that were ended are not answered with what was there before them.
func TestWithoutValue(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for _, line := range [][2]string{
		{"7", "7"}, {"f[x_] := x^2", "Null"}, {"%", "Null"}, {"7", "7"}, {"Abort[]", "$Aborted"}, {"7", "7"}, {"g := 3;", "Null"}, {"{%, %%}", "{Null, 7}"},
		{"Sequence[1, 2]", "Sequence[1, 2]"}, {"x; (* end *)", "Null"}, {"%", "x"}, {"Throw[1]", ""}, {"%", "$Failed"},
	} {
		if outcome, err := inSession(t, e, "ann/values", line[0]); err != nil || outcome.Result != line[1] {
			t.Errorf("%s: %+v, %v", line[0], outcome, err)
		}
	}
}

// TestInformation: what is known of a name is text.
func TestInformation(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{})
	for code, want := range map[string]string{
		"?Sin":              "Sin: Returns the sine of a number.\nAttributes: Listable, NumericFunction, Protected",
		"??Sin":             "Sin: Returns the sine of a number.\nAttributes: Listable, NumericFunction, Protected",
		"Information[Plot]": "Plot: Plots a function over a range.",
		"?nosuch":           "nosuch: no function of this name is known here.",
		"?Sin*":             "Sin, SinDegrees, SinIntegral, Sinc, SinghMaddalaDistribution, SingleLetterItalics, SingularValueDecomposition, SingularValueList, Sinh, SinhIntegral",
		"?nosuch*":          "No name here is like this.",
		"g[y_] := y^2; ?g":  "g: a symbol of yours.\ng[y_] :> y^2",
		"h = 5; ?h":         "h: a symbol of yours.\nh -> 5",
	} {
		outcome, err := evaluate(t, e, code)
		if err != nil || outcome.Result != want || outcome.Unevaluated || outcome.SVG != nil {
			t.Errorf("%s: %s %s, %d bytes of drawing, %v", code, outcome.Result, outcome.InputForm, len(outcome.SVG), err)
		}
	}
}
