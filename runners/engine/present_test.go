package engine

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPrecisionAsDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"3.1415926535897932384626433832795028841971693993751058209749`30.": "3.14159265358979323846264338328",
		"{1.5`20., x}":                     "{1.5, x}",
		"-2.7182818284590452354`5.":        "-2.7183",
		"1.2345678`3.*^40":                 "1.23*^40",
		"0.0012345678`3.":                  "0.00123",
		"9.9999`3.":                        "10.00",
		"123456.789`4.":                    "123500.",
		"123456.789`15.954589770191003":    "123456.789",
		"\"3.14159`3.\"":                   "\"3.14159`3.\"",
		"Global`x + 1.23456`3.":            "Global`x + 1.23",
		"f[\"a\\\"1.2345`2.\", 1.2345`2.]": "f[\"a\\\"1.2345`2.\", 1.2]",
		"0.`":                              "0.`",
		"x":                                "x",
	} {
		if got := precisionAsDigits(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Rounding changes a number by at most half a unit of its last kept digit.
func TestToDigitsRounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`[1-9][0-9]{0,20}\.[0-9]{1,40}`).Draw(t, "number")
		precision := rapid.StringMatching(`[1-9][0-9]?\.`).Draw(t, "precision")
		read := func(text string) *big.Rat {
			value, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "."))
			if !ok {
				t.Fatalf("%q is not a number", text)
			}
			return value
		}
		exact, rounded := read(number), read(toDigits(number, precision))
		off := new(big.Rat).Sub(exact, rounded)
		off.Abs(off)
		limit := read(strings.TrimSuffix(precision, "."))
		power := new(big.Int).Exp(big.NewInt(10), new(big.Int).Sub(limit.Num(), big.NewInt(1)), nil)
		bound := new(big.Rat).Quo(exact, new(big.Rat).SetInt(power)) // a unit in the last digit is at most value/10^(p-1)
		if off.Cmp(bound.Mul(bound, big.NewRat(1, 2))) > 0 {
			t.Fatalf("%s to %s digits: %s", number, precision, toDigits(number, precision))
		}
	})
}

func FuzzPrecisionAsDigits(f *testing.F) {
	f.Add("3.1415926535897932384626433832795028841971693993751058209749`30.")
	f.Add("\"a`\\\"`1.`")
	f.Add("1`999999999999999999999.")
	f.Fuzz(func(t *testing.T, text string) {
		if got := precisionAsDigits(text); len(got) > 2*len(text)+2 {
			t.Errorf("%d bytes become %d", len(text), len(got))
		}
	})
}

func TestFormsOnOneLine(t *testing.T) {
	t.Parallel()
	for drawn, want := range map[string]string{
		"           4\n1.2345 × 10":                           "1.2345 × 10^4",
		"            4         -5\n{1.2345 × 10 , 1. × 10  }": "{1.2345 × 10^4, 1. × 10^(-5)}",
		"a\nb": "a\nb", "3.14": "3.14", "": "", "1\n99": "1\n99",
	} {
		if got := onOneLine(drawn); got != want {
			t.Errorf("%q: %q, want %q", drawn, got, want)
		}
	}
}

func TestUnevaluated(t *testing.T) {
	t.Parallel()
	warned := func(message string) []string { return []string{message} }
	for _, c := range []struct {
		code, answer string
		messages     []string
		want         bool
	}{
		{"Sin[1,2]", "Sin[1, 2]", warned("Sin::argx: Sin called with 2 arguments; 1 argument is expected."), true},
		{"LambertW[1.]", "LambertW[1.]", nil, true},
		{"LambertW[x]", "LambertW[x]", nil, false},
		{"Integrate[1/x^x,x]", "Integrate[x^(-x), x]", nil, true},
		{"Integrate[1/x^x,x]+1", "1 + Integrate[x^(-x), x]", nil, true},
		{"Simplify[Integrate[1/x^x,x]]", "Integrate[x^(-x), x]", nil, true},
		{"Integrate[1/x^x,x]//N", "Integrate[x^(-x), x]", nil, true},
		{"y=Integrate[1/x^x,x]", "Integrate[x^(-x), x]", nil, true},
		{"a=1;Integrate[1/x^x,x]", "Integrate[x^(-x), x]", nil, true},
		{"a=1\nIntegrate[1/x^x,x]", "Integrate[x^(-x), x]", nil, true},
		{"Integrate[1/x^x,x];", "Null", nil, false},
		{"Sum[1/k,{k,1,Infinity}]", "Sum[k^(-1), {k, 1, Infinity}]", warned("Sum::div: Sum does not converge."), true},
		{"{1,2}[[3]]", "{1, 2}[[3]]", warned("Part::partw: Part 3 of {1, 2} does not exist."), true},
		{"First[{}]", "First[{}]", warned("First::nofirst: {} has zero length and no first element."), true},
		{"Speak[\"a\"]", "Speak[\"a\"]", warned("Speak[\"a\"] is a built-in Wolfram Language function not yet implemented in Woxi."), true},
		{"{1,2}+{1,2,3}", "{1, 2} + {1, 2, 3}", warned("Thread::tdlen: Objects of unequal length in {1, 2} + {1, 2, 3} cannot be combined."), true},
		{"Simplfy[x]", "Simplfy[x]", nil, true}, // a capitalised word that nothing knows
		{"NSolve[Cos[x]==x,x]", "Solve[Cos[x] == x, x]", nil, true},
		{"N[Solve[Cos[x]==x,x]]", "NSolve[Cos[x] == x, x]", nil, true},
		{"Sum[f[k],k]", "Sum[f[$sum_indef_k_$], {$sum_indef_k_$, 1, -1 + k}] + f[0]", nil, true},
		{"\"$sum_k_$\"", "\"$sum_k_$\"", nil, false},
		{"ToExpression[\"1+\"]", "$Failed", nil, true},
		{"$x", "$x", nil, false},
		{"Hold[Solve[x==1,x]]", "Hold[Solve[x == 1, x]]", nil, false},
		{"5", "5", nil, false},
		{"x", "x", nil, false},
		{"{1,2}", "{1, 2}", nil, false},
		{"x+y", "x + y", nil, false},
		{"f[x]", "f[x]", nil, false},
		{"F[x]", "F[x]", nil, false},
		{"C[1]", "C[1]", nil, false},
		{"x1[2]", "x1[2]", nil, false},
		{"Sin[x]", "Sin[x]", nil, false},
		{"Sqrt[2]", "Sqrt[2]", nil, false},
		{"\"abc\"", "\"abc\"", nil, false},
		{"a->b", "a -> b", nil, false},
		{"x==y", "x == y", nil, false},
		{"Hold[1+1]", "Hold[1 + 1]", nil, false},
		{"BaseForm[255,16]", "BaseForm[255, 16]", nil, false},
		{"NormalDistribution[0,1]", "NormalDistribution[0, 1]", nil, false},
		{"Integrate[x,x]", "x^2/2", nil, false},
		{"Factor[x^2-1]", "(-1 + x)*(1 + x)", nil, false},
		{"1/0", "ComplexInfinity", warned("Power::infy: Infinite expression 1/0 encountered."), false},
		{"ListPlot[{1,2}]", "-Graphics-", nil, false},
		{"((", "((", nil, false},
	} {
		if got := unevaluated(readExchange(c.code, c.answer, c.messages)); got != c.want {
			t.Errorf("%s → %s: %t", c.code, c.answer, got)
		}
	}
}
