package mathml

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"reckon/domain/expression"
)

// Digits of a number beyond which its middle is left out, and how many of each end then stand.
const (
	mostDigits = 60
	endDigits  = 20
)

// number is a number of the language: an integer, or canonical digits with a point, a mark of precision and an exponent.
func number(text string) box {
	magnitude, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, scaled := strings.Cut(magnitude, "*^")
	digits, mark, marked := strings.Cut(mantissa, "`")
	b := box{markup: numeral(digits), binds: bindsAtom, digit: true}
	if marked {
		b.markup = element("msub", b.markup, element("mtext", escape("`"+mark)))
	}
	if scaled {
		b.markup = row(b.markup, operator("×"), element("msup", element("mn", "10"), signedNumeral(exponent)))
		b.binds = bindsProduct
	}
	if negative {
		b.markup, b.binds, b.digit = row(operator("−"), b.markup), bindsSum, false
	}
	return b
}

func signedNumeral(text string) string {
	if magnitude, negative := strings.CutPrefix(text, "-"); negative {
		return row(operator("−"), numeral(magnitude))
	}
	return numeral(text)
}

// numeral is digits, of a long number the ends with how many there are.
func numeral(digits string) string {
	if len(digits) <= mostDigits {
		return element("mn", escape(digits))
	}
	ends := digits[:endDigits] + "…" + digits[len(digits)-endDigits:]
	count := len(digits) - strings.Count(digits, ".")
	return element("munder", element("mn", escape(ends)), element("mtext", strconv.Itoa(count)+"\u00a0digits"))
}

// upright is a name that is not set in italics, as those of constants.
func upright(name string) string { return `<mi mathvariant="normal">` + name + `</mi>` }

// constants are the symbols with a sign of their own.
var constants = map[string]string{
	"Pi": upright("π"), "E": upright("e"), "I": upright("i"), "Infinity": upright("∞"), "EulerGamma": upright("γ"), "GoldenRatio": upright("φ"),
	"ComplexInfinity": `<mover accent="true">` + upright("∞") + `<mo>~</mo></mover>`, "Degree": upright("°"),
	"Reals": upright("ℝ"), "Integers": upright("ℤ"), "Rationals": upright("ℚ"), "Complexes": upright("ℂ"), "Primes": upright("ℙ"),
}

// Code points of the formal letters of the language, a to z and A to Z.
const (
	formalSmall    = 0xF800
	formalCapital  = 0xF81A
	formalEnd      = 0xF834
	combiningBelow = "\u0323" // a dot below
)

func symbol(name string) box {
	if sign, ok := constants[name]; ok {
		return box{markup: sign, binds: bindsAtom}
	}
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && formalSmall <= r && r < formalEnd {
		letter := 'a' + r - formalSmall
		if r >= formalCapital {
			letter = 'A' + r - formalCapital
		}
		return box{markup: element("mi", string(letter)+combiningBelow), binds: bindsAtom}
	}
	return box{markup: element("mi", escape(name)), binds: bindsAtom, word: utf8.RuneCountInString(name) > 1}
}

// negated is an expression without its minus sign, if one stands in front when it is written.
func negated(e *expression.Expr) (*expression.Expr, bool) {
	switch {
	case (e.Kind == expression.Integer || e.Kind == expression.Real) && strings.HasPrefix(e.Text, "-"):
		return &expression.Expr{Kind: e.Kind, Text: e.Text[1:]}, true
	case e.IsCall("Times") && len(e.Args) > 0:
		first, negative := negated(e.Args[0])
		if !negative {
			return nil, false
		}
		factors := append([]*expression.Expr{first}, e.Args[1:]...)
		return expression.NewCall("Times", factors...), true
	case e.IsCall("Rational") && len(e.Args) == 2:
		if numerator, negative := negated(e.Args[0]); negative {
			return expression.NewCall("Rational", numerator, e.Args[1]), true
		}
	}
	return nil, false
}
