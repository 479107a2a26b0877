package tidy_test

import (
	"testing"

	"reckon/domain/expression"
	"reckon/domain/tidy"
)

// TestFormula: what engines write, and how the language writes it.
func TestFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2/4*x*Sqrt[-x^2 + 1] + 1/2*ArcSin[x]": "x*Sqrt[1 - x^2]/2 + ArcSin[x]/2",
		"-(-x)":                                "x",
		"1/3 Tan[x]^3 - Tan[x] + x":            "x - Tan[x] + Tan[x]^3/3",
		"x x^2 Sqrt[x] y^-1":                   "x^(7/2)/y",
		"1/Sqrt[2] - Sqrt[2]/2":                "0",
		"Sqrt[12] + Sqrt[27]":                  "5*Sqrt[3]",
		"Sqrt[2]/2":                            "1/Sqrt[2]",
		"2 Sqrt[-4]":                           "4*I",
		"Exp[2 Log[x]] + E^(y + 3 Log[x])":     "x^2 + E^y*x^3",
		"Sin[-2 x] + Cos[-x]":                  "Cos[x] - Sin[2*x]",
		"2 2^n - 2^(n + 1)":                    "0",
		"2 2^n":                                "2^(1 + n)",
		"-(x - 1)":                             "1 - x",
		"-(x^2 - 2) Cos[x] + 2 x Sin[x]":       "(2 - x^2)*Cos[x] + 2*x*Sin[x]",
		"(4 x^2)^(1/2)":                        "2*Sqrt[x^2]",
		"(x y)^3 (x^a)^2":                      "x^(3 + 2*a)*y^3",
		"(x^2)^(1/2)":                          "Sqrt[x^2]",
		"(-8)^(1/3)":                           "(-8)^(1/3)",
		"(1 + I)^4":                            "-4",
		"(2 - 2 I)/4 x":                        "(1/2 - I/2)*x",
		"0^-1":                                 "0^(-1)",
		"x/x":                                  "1",
		"{{x -> 2/4, y -> Sqrt[4]}}":           "{{x -> 1/2, y -> 2}}",
		"2^(1/3) 2^(2/3)":                      "2",
		"a/(2 b c)":                            "a/(2*b*c)",
		"Sqrt[Pi] Erf[x]/2":                    "Sqrt[Pi]*Erf[x]/2",
		"1.50 x + x":                           "x + 1.5*x",
		"1 - 2 x - 3/4 x^2 - 2/x":              "1 - 2/x - 2*x - 3*x^2/4",
		"x^2 + y^2 + x y + 1":                  "1 + x^2 + x*y + y^2",
	} {
		e, err := expression.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		got := tidy.Formula(e)
		if got.Source() != want {
			t.Errorf("%s: %s, want %s", text, got.Source(), want)
		}
		back, err := expression.Parse(got.Source())
		if err != nil {
			t.Errorf("%s: %s does not read: %v", text, got.Source(), err)
		} else if again := tidy.Formula(back); !again.Equal(got) {
			t.Errorf("%s: %s, and tidied again %s", text, got.Source(), again.Source())
		}
	}
}
