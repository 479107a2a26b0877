package reference

import (
	"math/big"
	"strings"

	"reckon/domain/expression"
)

// maxExponent bounds powers of ten, and maxBits the size of an exact power, that are worked out to compare numbers.
const (
	maxExponent = 10_000
	maxBits     = 1 << 16
)

// exactNumber is the value of a real number written with digits and + * / ^, as a fraction. The digits of an inexact number are taken as they
// stand.
func exactNumber(e *expression.Expr) (*big.Rat, bool) {
	re, im, ok := complexNumber(e)
	if !ok || im.Sign() != 0 {
		return nil, false
	}
	return re, true
}

// complexNumber is exactNumber for numbers with I in them.
func complexNumber(e *expression.Expr) (re, im *big.Rat, ok bool) {
	switch {
	case e.Kind == expression.Integer, e.Kind == expression.Real:
		re, ok = digits(e.Text)
		return re, new(big.Rat), ok
	case e.IsSymbol("I"):
		return new(big.Rat), big.NewRat(1, 1), true
	case e.IsCall("Plus"), e.IsCall("Times"):
		return combined(e)
	case e.IsCall("Complex") && len(e.Args) == 2:
		a, okA := exactNumber(e.Args[0])
		b, okB := exactNumber(e.Args[1])
		return a, b, okA && okB
	case e.IsCall("Rational") && len(e.Args) == 2:
		return combined(expression.NewCall("Times", e.Args[0], expression.NewCall("Power", e.Args[1], expression.Int(-1))))
	case e.IsCall("Power") && len(e.Args) == 2 && e.Args[1].Kind == expression.Integer:
		base, okBase := exactNumber(e.Args[0])
		if !okBase {
			return nil, nil, false
		}
		power, okPower := rationalPower(base, e.Args[1].Text)
		return power, new(big.Rat), okPower
	}
	return nil, nil, false
}

// combined is the value of a sum or a product of numbers.
func combined(e *expression.Expr) (re, im *big.Rat, ok bool) {
	re, im = new(big.Rat), new(big.Rat)
	product := e.IsCall("Times")
	if product {
		re.SetInt64(1)
	}
	for _, arg := range e.Args {
		a, b, ok := complexNumber(arg)
		if !ok {
			return nil, nil, false
		}
		if !product {
			re.Add(re, a)
			im.Add(im, b)
			continue
		}
		ac, bd := new(big.Rat).Mul(re, a), new(big.Rat).Mul(im, b)
		ad, bc := new(big.Rat).Mul(re, b), new(big.Rat).Mul(im, a)
		re, im = ac.Sub(ac, bd), ad.Add(ad, bc)
		if size(re)+size(im) > maxBits {
			return nil, nil, false
		}
	}
	return re, im, true
}

func size(r *big.Rat) int { return r.Num().BitLen() + r.Denom().BitLen() }

// digits reads 123, 1.5, 1.5`20.*^-3.
func digits(text string) (*big.Rat, bool) {
	mantissa, power, scaled := strings.Cut(text, "*^")
	mantissa, _, _ = strings.Cut(mantissa, "`")
	value, ok := new(big.Rat).SetString(strings.TrimSuffix(mantissa, "."))
	if !ok || !scaled {
		return value, ok
	}
	ten, ok := rationalPower(big.NewRat(10, 1), power)
	if !ok {
		return nil, false
	}
	return value.Mul(value, ten), true
}

// rationalPower is base^exponent for a whole exponent.
func rationalPower(base *big.Rat, exponent string) (*big.Rat, bool) {
	n, ok := new(big.Int).SetString(exponent, 10)
	if !ok || n.CmpAbs(big.NewInt(maxExponent)) > 0 || base.Sign() == 0 && n.Sign() <= 0 {
		return nil, false
	}
	magnitude := new(big.Int).Abs(n)
	if int64(size(base))*magnitude.Int64() > maxBits {
		return nil, false
	}
	over, under := new(big.Int).Exp(base.Num(), magnitude, nil), new(big.Int).Exp(base.Denom(), magnitude, nil)
	if n.Sign() < 0 {
		over, under = under, over
	}
	return new(big.Rat).SetFrac(over, under), true
}
