package tidy

import (
	"math/big"
	"slices"

	"reckon/domain/expression"
)

// render writes a sum as a tree.
func render(s sum) *expression.Expr {
	if len(s) == 0 {
		return expression.Int(0)
	}
	terms := make([]*expression.Expr, len(s))
	for i, t := range s {
		terms[i] = renderTerm(t)
		if i > 0 {
			terms[i] = subtracted(terms[i])
		}
	}
	return joined("Plus", terms)
}

// subtracted writes Times[-2, x] as Times[-1, 2, x], which a sum shows as - 2*x.
func subtracted(e *expression.Expr) *expression.Expr {
	if !e.IsCall("Times") || e.Args[0].Kind != expression.Integer || e.Args[0].Text[0] != '-' || e.Args[0].IsInt(-1) {
		return e
	}
	positive := &expression.Expr{Kind: expression.Integer, Text: e.Args[0].Text[1:]}
	return expression.NewCall("Times", append([]*expression.Expr{expression.Int(-1), positive}, e.Args[1:]...)...)
}

// joined is the call of the parts, or the one part.
func joined(name string, parts []*expression.Expr) *expression.Expr {
	if len(parts) == 1 {
		return parts[0]
	}
	return expression.NewCall(name, parts...)
}

// renderTerm writes the number and the factors, then one fraction bar and what stands below it.
func renderTerm(t term) *expression.Expr {
	t = withSignInside(withRoots(withWholePowers(t)))
	ratio := t.coefficient.re
	var above, below []*expression.Expr
	switch {
	case t.coefficient.isReal():
	case ratio.Sign() == 0:
		ratio, above = t.coefficient.im, append(above, expression.Sym("I"))
	default:
		ratio, above = big.NewRat(1, 1), append(above, render(sum{{number{t.coefficient.re, new(big.Rat)}, nil, ""}, {number{new(big.Rat), t.coefficient.im}, nil, ""}}))
	}
	if denominator := ratio.Denom(); denominator.Cmp(big.NewInt(1)) != 0 {
		below = append(below, integer(denominator))
	}
	for _, f := range t.factors {
		if e, is := f.exponent.isConstant(); is && e.isReal() && e.re.Sign() < 0 {
			below = append(below, renderFactor(f.base, constant(e.times(minusOne))))
		} else {
			above = append(above, renderFactor(f.base, f.exponent))
		}
	}
	if n := ratio.Num(); n.Cmp(big.NewInt(1)) != 0 || len(above) == 0 {
		above = slices.Insert(above, 0, integer(n))
	}
	if len(below) > 0 {
		if above[0].IsCall("Times") {
			above = []*expression.Expr{joined("Times", above)}
		}
		above = append(above, expression.NewCall("Power", joined("Times", below), expression.Int(-1)))
	}
	return joined("Times", above)
}

func integer(n *big.Int) *expression.Expr {
	return &expression.Expr{Kind: expression.Integer, Text: n.String()}
}

func renderFactor(b base, exponent sum) *expression.Expr {
	e := renderBase(b)
	n, isNumber := exponent.isConstant()
	switch {
	case isNumber && n.is(1):
		return e
	case isNumber && n.isReal() && n.re.Cmp(big.NewRat(1, 2)) == 0:
		return expression.NewCall("Sqrt", e)
	}
	return expression.NewCall("Power", e, render(exponent))
}

func renderBase(b base) *expression.Expr {
	switch {
	case b.kind == formula:
		return render(b.parts[0])
	case b.atom != nil:
		return b.atom
	}
	args := make([]*expression.Expr, len(b.parts))
	for i, p := range b.parts {
		args[i] = render(p)
	}
	return expression.Apply(b.head, args...)
}

// withWholePowers writes 2*2^n as 2^(1 + n).
func withWholePowers(t term) term {
	if !t.coefficient.isReal() {
		return t
	}
	for i, f := range t.factors {
		if _, isNumber := f.exponent.isConstant(); isNumber || f.base.kind != whole {
			continue
		}
		n, _ := new(big.Int).SetString(f.base.atom.Text, 10)
		up := valuation(t.coefficient.re.Num(), n) - valuation(t.coefficient.re.Denom(), n)
		scale, fits := (number{new(big.Rat).SetInt(n), new(big.Rat)}).power(-up)
		if up == 0 || !fits {
			continue
		}
		t.factors = slices.Clone(t.factors)
		t.coefficient, t.factors[i].exponent = t.coefficient.times(scale), add(f.exponent, constant(real(up, 1)))
	}
	return t
}

// valuation is the number of times that n divides m; m is not zero.
func valuation(m, n *big.Int) int64 {
	count, quotient, rest := int64(0), new(big.Int).Set(m), new(big.Int)
	for next := new(big.Int); ; count++ {
		if next.QuoRem(quotient, n, rest); rest.Sign() != 0 {
			return count
		}
		quotient.Set(next)
	}
}

// withRoots writes Sqrt[2]/2 as 1/Sqrt[2].
func withRoots(t term) term {
	half := constant(real(1, 2)).key()
	for i, f := range t.factors {
		if f.base.kind != whole || f.exponent.key() != half || !t.coefficient.isReal() {
			continue
		}
		n, _ := new(big.Int).SetString(f.base.atom.Text, 10)
		if valuation(t.coefficient.re.Denom(), n) == 0 {
			continue
		}
		t.factors = slices.Clone(t.factors)
		t.coefficient = t.coefficient.times(number{new(big.Rat).SetInt(n), new(big.Rat)})
		t.factors[i].exponent = constant(real(-1, 2))
	}
	return t
}

// withSignInside writes -(-2 + x) as 2 - x.
func withSignInside(t term) term {
	if !t.coefficient.isReal() || t.coefficient.re.Sign() > 0 {
		return t
	}
	for i, f := range t.factors {
		if e, isNumber := f.exponent.isConstant(); f.base.kind == formula && isNumber && e.is(1) && len(f.base.parts[0]) > 1 && f.base.parts[0][0].coefficient.less(zero) {
			t.factors = slices.Clone(t.factors)
			t.factors[i].base.parts = []sum{multiplyTwo(constant(minusOne), f.base.parts[0])}
			t.coefficient = t.coefficient.times(minusOne)
			return t
		}
	}
	return t
}
