package fricas

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"reckon/domain/expression"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
)

// point is an argument for a translation, drawn from its domain, as the language and as FriCAS has it.
func point(d domain, random *rand.Rand) (tree *expression.Expr, text string) {
	fraction := func(low, high int64) (*expression.Expr, string) {
		n := low*16 + 1 + random.Int64N((high-low)*16-1)
		return expression.NewCall("Times", expression.Int(n), expression.NewCall("Power", expression.Int(16), expression.Int(-1))), "((" + strconv.FormatInt(n, 10) + ")/16)::Float"
	}
	switch d {
	case complexes:
		re, reText := fraction(-3, 3)
		im, imText := fraction(-3, 3)
		return expression.NewCall("Plus", re, expression.NewCall("Times", expression.Sym("I"), im)), "complex(" + reText + "," + imText + ")"
	case reals:
		tree, text = fraction(-3, 3)
	case positives:
		tree, text = fraction(0, 3)
	case units:
		tree, text = fraction(0, 1)
	case aboveOne:
		tree, text = fraction(1, 4)
	}
	return tree, "(" + text + ")"
}

// TestTranslations: every entry of the table, in both directions, has on both sides the same value at random points of its domain, by the
// checker's enclosures.
func TestTranslations(t *testing.T) {
	t.Parallel()
	e := start(t)
	checks := checkertest.Start(t, checker.Options{})
	compare := func(t *testing.T, formula *expression.Expr, value string) verification.Outcome {
		t.Helper()
		answer, err := expression.Parse(value)
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
	// valuesOf are what FriCAS computes of texts, as numbers of the language with 12 digits. What has no value makes all have none, so that halves are tried.
	var valuesOf func(texts []string) []string
	valuesOf = func(texts []string) []string {
		printed, err := e.evaluate(t.Context(), "[("+strings.Join(texts, ")::InputForm,(")+")::InputForm]", patient)
		values := list.FindAllString(strings.TrimPrefix(printed, "(construct"), -1)
		switch {
		case err == nil && len(values) == len(texts):
			for i := range values {
				values[i] = decimals(values[i])
			}
			return values
		case len(texts) == 1:
			return []string{"none: " + printed}
		}
		return append(valuesOf(texts[:len(texts)/2]), valuesOf(texts[len(texts)/2:])...)
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret
	for direction, table := range map[string][]translation{"to": toFricas, "from": fromFricas} {
		const points = 3
		var formulas []*expression.Expr
		var texts []string
		for _, entry := range table {
			for range points {
				args, written := make([]*expression.Expr, entry.args), make([]string, entry.args)
				for k := range args {
					args[k], written[k] = point(entry.domain, random)
				}
				text, formula := entry.name+"("+strings.Join(written, ",")+")", expression.NewCall(entry.name, args...)
				if direction == "to" {
					text = entry.template
					for k := range written {
						text = strings.ReplaceAll(text, "#"+strconv.Itoa(k+1), written[k])
					}
				} else {
					formula = filledTree(reading[signature{entry.name, entry.args}], args)
				}
				formulas, texts = append(formulas, formula), append(texts, text)
			}
		}
		values := valuesOf(texts)
		for i, entry := range table {
			agreed := 0
			for k := i * points; k < (i+1)*points; k++ {
				switch found := compare(t, formulas[k], values[k]); {
				case found.Verdict == verification.VerdictRefuted:
					t.Errorf("%s %s/%d: %s is %s by FriCAS: %s", direction, entry.name, entry.args, formulas[k].Source(), values[k], found.Residual)
				case found.Reason == verification.ReasonCrossCheckAgrees || found.Verdict == verification.VerdictVerified:
					agreed++
				default:
					t.Logf("%s %s/%d: %s is %s by FriCAS: %s", direction, entry.name, entry.args, formulas[k].Source(), values[k], found.Reason)
				}
			}
			if agreed < 2 {
				t.Errorf("%s %s/%d: values could be compared at %d points only", direction, entry.name, entry.args, agreed)
			}
		}
	}
	if found := compare(t, mustParse(t, "ArcCot[-2]"), valuesOf([]string{"acot((-2)::Float)"})[0]); found.Verdict != verification.VerdictRefuted {
		t.Errorf("another branch is not found: %+v", found)
	}
}

// list finds the values of a list: numbers, whole, binary or complex.
var list = regexp.MustCompile(`\(complex \([^()]*\) \([^()]*\)\)|\(float [^()]*\)`)

var binary = regexp.MustCompile(`\(float (-?\d+) (-?\d+) 2\)`)

// decimals writes FriCAS's binary numbers with 12 digits, and its complex numbers as sums.
func decimals(printed string) string {
	printed = binary.ReplaceAllStringFunc(printed, func(text string) string {
		parts := binary.FindStringSubmatch(text)
		mantissa, _ := strconv.ParseFloat(parts[1], 64)
		exponent, _ := strconv.Atoi(parts[2])
		for ; exponent < 0; exponent++ {
			mantissa /= 2
		}
		for ; exponent > 0; exponent-- {
			mantissa *= 2
		}
		return strings.Replace(strconv.FormatFloat(mantissa, 'e', 11, 64), "e", "*10^", 1)
	})
	printed = regexp.MustCompile(`10\^([+-]\d+)`).ReplaceAllString(printed, "10^($1)")
	return regexp.MustCompile(`^\(complex (\S+) (\S+)\)$`).ReplaceAllString(printed, "($1)+($2)*I")
}
