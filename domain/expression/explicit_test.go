package expression

import (
	"os"
	"testing"

	"reckon/test/need"
)

func TestExplicit(t *testing.T) {
	for text, want := range map[string]string{
		"-3!":                      "- 3!",
		"2^-3!":                    "2^- 3!",
		"a*-3.5!!":                 "a*- 3.5!!",
		"-x!":                      "-x!",
		"(-3)!":                    "(-3)!",
		"-(3!)":                    "-(3!)",
		"1/Sin[x] Cos[x]":          "1/Sin[x] *Cos[x]",
		"x/(a b) y":                "x/(a *b) *y",
		"2x^2^y":                   "2*x^2^y",
		"f[x] y[[1]]":              "f[x] *y[[1]]",
		"x_ y":                     "x_ *y",
		"n! == 120":                "(n!) == 120",
		"1 + n!! === 6":            "1 + (n!!) === 6",
		"(a + b)! == 6":            "((a + b)!) == 6",
		"f[x]! = 3":                "(f[x]!) = 3",
		"n! != 3":                  "n! != 3",
		"-3! == -6":                "- (3!) == -6",
		"a (* 2 b *) b":            "a (* 2 b *) *b",
		"\"2 x\" <> f[\"-3!\"]":    "\"2 x\" <> f[\"-3!\"]",
		"1/Sin[x] Cos[x]\n2 x^2^y": "1/Sin[x] *Cos[x]\n2 *x^2^y",
		"2 x +":                    "2 x +",
		"":                         "",
	} {
		if got := Explicit(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Every stored text is the same expression with its products written out.
func TestExplicitIsTheSame(t *testing.T) {
	changed := 0
	for _, file := range []string{goldenFile, differencesFile} {
		for _, c := range readComparisons(t, file) {
			text := Explicit(c.Input)
			if text != c.Input {
				changed++
			}
			if _, was := ours(c.Input); was != second(ours(text)) {
				t.Errorf("%s became %s", c.Input, text)
			}
		}
	}
	if changed < 100 {
		t.Errorf("only %d of the stored texts were written out", changed)
	}
}

func second(_ *Expr, tree string) string { return tree }

// TestEngineLiveExplicit asks the engine about every stored text with its products written out: those that it reads as we do
// stay so, and what users of mathematics write is read as we do too.
func TestEngineLiveExplicit(t *testing.T) {
	python := os.Getenv("RECKON_TEST_ENGINE_PYTHON")
	if python == "" {
		need.Skip(t, "a Python that has the engine", "RECKON_TEST_ENGINE_PYTHON=~/.cache/reckon/engine-…/bin/python go test ./domain/expression")
	}
	var texts []string
	for _, c := range readComparisons(t, goldenFile) {
		texts = append(texts, c.Input)
	}
	texts = append(texts, "-3!", "2^-3!", "1/Sin[x] Cos[x]", "1/f[x] y", "a/f[x] y", "2/Sqrt[x] y", "f[x] y[[1]]", "x/(a b) y", "1/(a b) f[y]", "2 x^2^y",
		"x_ y", "n! == 120", "1/(s Sqrt[2Pi]) Exp[-(x-m)^2/(2s^2)]", "Solve[n! == 6, n]", "1 + n! == 2", "n! === 6")
	written := make([]string, len(texts))
	for i, text := range texts {
		written[i] = Explicit(text)
	}
	for i, answer := range askEngine(t, python, written) {
		if !agrees(texts[i], answer) {
			t.Errorf("%s, written as %s\n engine %s", texts[i], written[i], answer)
		}
	}
}
