package expression

import (
	"math"
	"strconv"
	"strings"
)

// Canonical brings trees that differ only in how a reader writes the same expression down to one form, for comparing our
// tree with the engine's. It is not an evaluation: nothing is added, multiplied out or sorted. It
//   - makes one call of nested calls of an associative operator: Plus[Plus[a, b], c] is Plus[a, b, c];
//   - takes the signs of number factors out of a product: Times[2, -1, x] and Times[-2, x] are Times[-1, 2, x], and the
//     product of -1 and one number is the negative number;
//   - drops a factor 1, and Plus or Times around a single argument;
//   - writes Rational, Complex and DirectedInfinity of the simple directions as the operators they stand for, and works out
//     sums and products of complex integers, which the engine does while it reads;
//   - gives implied precisions explicitly, rounded to six decimals;
//   - reads Pattern[Null, p] as p, which is how the engine prints a pattern without a name.
func Canonical(e *Expr) *Expr {
	if e == nil {
		return nil
	}
	switch e.Kind {
	case Real:
		return &Expr{Kind: Real, Text: canonicalPrecision(e.Text), Pos: e.Pos}
	case Call:
		made := &Expr{Kind: Call, Head: Canonical(e.Head), Args: make([]*Expr, 0, len(e.Args)), Pos: e.Pos}
		flat := associative[made.HeadName()]
		for _, arg := range e.Args {
			arg = Canonical(arg)
			if flat && arg.IsCall(made.Head.Text) {
				made.Args = append(made.Args, arg.Args...)
				continue
			}
			made.Args = append(made.Args, arg)
		}
		return canonicalCall(made)
	}
	return e
}

// associative are the operators whose nested calls mean the same as one call.
var associative = map[string]bool{
	"Plus": true, "Times": true, "And": true, "Or": true, "Xor": true, "Dot": true, "StringJoin": true,
	"StringExpression": true, "NonCommutativeMultiply": true, "Alternatives": true, "Composition": true,
	"RightComposition": true, "Union": true, "Intersection": true,
}

// canonicalCall rewrites one call whose parts are canonical.
func canonicalCall(e *Expr) *Expr {
	if number, ok := gaussianCall(e); ok {
		return number
	}
	switch name := e.HeadName(); {
	case name == "Times":
		return canonicalProduct(e)
	case name == "Plus" && len(e.Args) == 1:
		return e.Args[0]
	case name == "Rational" && len(e.Args) == 2 && e.Args[0].Kind == Integer && e.Args[1].Kind == Integer:
		return canonicalProduct(NewCall("Times", e.Args[0], NewCall("Power", e.Args[1], Int(-1))))
	case name == "Complex" && len(e.Args) == 2 && isRealNumber(e.Args[0]) && isRealNumber(e.Args[1]):
		return canonicalComplex(e.Args[0], e.Args[1])
	case name == "DirectedInfinity" && len(e.Args) == 0:
		return Sym("ComplexInfinity")
	case name == "DirectedInfinity" && len(e.Args) == 1 && e.Args[0].IsInt(1):
		return Sym("Infinity")
	case name == "DirectedInfinity" && len(e.Args) == 1 && e.Args[0].IsInt(-1):
		return NewCall("Times", Int(-1), Sym("Infinity"))
	case name == "Pattern" && len(e.Args) == 2 && e.Args[0].IsSymbol("Null"):
		return e.Args[1]
	}
	return e
}

// canonicalComplex writes Complex[re, im] as re + im I.
func canonicalComplex(re, im *Expr) *Expr {
	factors := []*Expr{im, Sym("I")}
	if im.IsCall("Times") {
		factors = append(append([]*Expr{}, im.Args...), Sym("I"))
	}
	imaginary := canonicalProduct(NewCall("Times", factors...))
	switch {
	case re.IsInt(0), re.Kind == Real && re.Text == "0.":
		return imaginary
	case im.IsInt(0):
		return re
	}
	return NewCall("Plus", re, imaginary)
}

// isRealNumber reports whether e is a number, or the canonical form of Rational[p, q].
func isRealNumber(e *Expr) bool {
	switch {
	case e.Kind == Integer, e.Kind == Real:
		return true
	case isReciprocal(e):
		return e.Args[0].Kind == Integer
	case e.IsCall("Times") && len(e.Args) <= 3:
		for _, factor := range e.Args {
			if factor.Kind != Integer && !(isReciprocal(factor) && factor.Args[0].Kind == Integer) {
				return false
			}
		}
		return true
	}
	return false
}

// canonicalProduct puts the sign of all number factors in front and drops the factors 1.
func canonicalProduct(e *Expr) *Expr {
	negative := false
	factors := make([]*Expr, 0, len(e.Args)+1)
	for _, factor := range e.Args {
		if magnitude, signed := strings.CutPrefix(factor.Text, "-"); signed && (factor.Kind == Integer || factor.Kind == Real) {
			negative = !negative
			factor = &Expr{Kind: factor.Kind, Text: magnitude, Pos: factor.Pos}
		}
		if !factor.IsInt(1) {
			factors = append(factors, factor)
		}
	}
	switch {
	case len(factors) == 0 && negative:
		return Int(-1)
	case len(factors) == 0 && len(e.Args) > 0:
		return Int(1)
	case len(factors) == 1 && !negative:
		return factors[0]
	case len(factors) == 1 && (factors[0].Kind == Integer || factors[0].Kind == Real):
		return &Expr{Kind: factors[0].Kind, Text: negated(factors[0].Text), Pos: factors[0].Pos}
	case negative:
		factors = append([]*Expr{Int(-1)}, factors...)
	}
	return &Expr{Kind: Call, Head: e.Head, Args: factors, Pos: e.Pos}
}

// canonicalPrecision writes a Real that is no machine number as d.ddd`precision*^exponent, the precision rounded to six
// decimals so that readers which computed it with another rounding agree. Machine numbers stay as they are.
func canonicalPrecision(text string) string {
	mantissa, power, _ := strings.Cut(text, "*^")
	digits, mark, marked := strings.Cut(mantissa, "`")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(digits, "-"), ".")
	significant := strings.TrimLeft(whole+fraction, "0")
	if significant == "" || !marked && len(significant) <= machineDigits || marked && mark == "" {
		return text
	}
	leading, _ := strconv.ParseFloat("0."+significant[:min(machineDigits, len(significant))], 64)
	// The value is 0.ddd times ten to the power magnitude; an accuracy counts digits after the point, a precision all.
	magnitude := len(significant) - len(fraction)
	precision := float64(len(significant)) + math.Log10(leading)
	if marked {
		accuracy, isAccuracy := strings.CutPrefix(mark, "`")
		given, err := strconv.ParseFloat(accuracy, 64)
		if err != nil {
			return text
		}
		precision = given
		if isAccuracy {
			precision += float64(magnitude) + math.Log10(leading)
		}
	}
	exponent, _ := strconv.Atoi(power)
	sign := text[:len(text)-len(strings.TrimPrefix(text, "-"))]
	return sign + significant[:1] + "." + strings.TrimRight(significant[1:], "0") +
		"`" + strconv.FormatFloat(math.Round(precision*1e6)/1e6, 'f', -1, 64) + "*^" + strconv.Itoa(exponent+magnitude-1)
}

// ParseFullForm reads what the engine prints for ToString[FullForm[expr]]: the language itself, except that strings stand
// between \" and \" with nothing escaped.
func ParseFullForm(text string) (*Expr, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	p.lex.engineFmt = true
	all, err := p.expressions()
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return nil, refuse(ReasonSeveral, all[1].Pos, "a second expression begins here")
	}
	return all[0], nil
}

// SameAsEngine reports whether the engine, which printed engineText for ToString[FullForm[Hold[...]]], read the same
// expression as e. Where it did not, or printed something that cannot be read back, nothing may be concluded about e.
func SameAsEngine(e *Expr, engineText string) bool {
	theirs, err := ParseFullForm(engineText)
	if err != nil || !theirs.IsCall("Hold") || len(theirs.Args) != 1 {
		return false
	}
	return Canonical(e).Equal(Canonical(theirs.Args[0]))
}
