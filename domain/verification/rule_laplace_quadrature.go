package verification

import (
	"slices"

	"reckon/domain/expression"
)

// laplaceQuadrature: a Laplace transform as the integral that defines it.
func laplaceQuadrature() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "laplace_quadrature",
			Heads: []string{"LaplaceTransform", "InverseLaplaceTransform"},
			Shows: "An enclosure of the integral of f E^(-s t) from 0 to Infinity is disjoint from the transform, for some real s beyond every rate at which f grows, and real values of the parameters.",
			Silent: "That the transform is right. Functions that grow otherwise than as sums of products of powers, waves, logarithms and exponentials with real rates; DiracDelta; transforms in several " +
				"variables.",
			Examples: []Example{
				{"LaplaceTransform[1/(1 + t), t, s]", "Exp[s] ExpIntegralE[1, s]"},
				{"InverseLaplaceTransform[1/(s^2 + 4), s, t]", "Sin[2 t]"},
			},
		},
		plan:  planLaplace,
		proof: laplaceCertificate(),
	}
}

// laplaceCertificate: the defining integral by an antiderivative.
func laplaceCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "laplace_certificate",
		Heads: []string{"LaplaceTransform", "InverseLaplaceTransform"},
		Shows: "The integral of f E^(-s t) from 0 to Infinity is the transform, for all real s beyond every rate at which f grows and all real parameters, as integrate_certificate shows it; so the two are equal wherever both " +
			"are analytic in s. Of an inverse transform: the answer's transform is the function given, which determines the answer but for single values of t.",
		Silent: "Functions other than polynomials times exponentials and waves; values at negative t.",
		Examples: []Example{
			{"LaplaceTransform[t Exp[-t], t, s]", "1/(1 + s)^2"},
			{"InverseLaplaceTransform[1/(s^2 + 4), s, t]", "Sin[2 t]/2"},
		},
	}}
}

// planLaplace is the work order for the defining integral.
func planLaplace(c Call) (Task, error) {
	if len(c.Args) != 3 || c.Args[1].Kind != expression.Symbol || c.Args[2].Kind != expression.Symbol || c.Args[1].Text == c.Args[2].Text {
		return Task{}, noShape("a transform is of one variable, to another symbol")
	}
	f, transform, t, s := c.Args[0], c.Answer, c.Args[1], c.Args[2]
	if c.Head == "InverseLaplaceTransform" {
		f, transform, t, s = c.Answer, c.Args[0], c.Args[2], c.Args[1]
	}
	if mentionsAny(f, s.Text) || mentionsAny(transform, t.Text, "Integrate", c.Head) {
		return Task{}, noShape("the variable of one side stands in the other")
	}
	rates, ok := growth(f, t)
	if !ok || len(rates) > maxRates {
		return Task{}, noShape("how fast the function grows is not known")
	}
	integral := Call{Head: "Integrate", Answer: transform, Assumptions: slices.Clone(c.Assumptions), Args: []*expression.Expr{
		call("Times", f, call("Exp", call("Times", expression.Int(-1), s, t))), call("List", t, expression.Int(0), expression.Sym("Infinity")),
	}}
	for _, name := range freeSymbols(call("List", f, transform)) {
		if name != t.Text {
			integral.Assumptions = append(integral.Assumptions, call("Element", expression.Sym(name), expression.Sym("Reals")))
		}
	}
	for _, rate := range sumsOf(rates) {
		integral.Assumptions = append(integral.Assumptions, call("Greater", s, rate))
	}
	return planIntegrateQuadrature(integral)
}

// maxRates bounds the exponentials of a function whose products are considered.
const maxRates = 4

// sumsOf is 0 and the sum of each choice of rates: products of exponentials grow at no other.
func sumsOf(rates []*expression.Expr) []*expression.Expr {
	sums := []*expression.Expr{expression.Int(0)}
	for choice := 1; choice < 1<<len(rates); choice++ {
		var chosen []*expression.Expr
		for i, rate := range rates {
			if choice&(1<<i) != 0 {
				chosen = append(chosen, rate)
			}
		}
		if len(chosen) == 1 {
			sums = append(sums, chosen[0])
		} else {
			sums = append(sums, call("Plus", chosen...))
		}
	}
	return sums
}

// growth lists the real rates r of the exponentials E^(r t) in a function that otherwise grows as a power of t at most; false where that is not known.
func growth(f, t *expression.Expr) (rates []*expression.Expr, known bool) {
	if !mentionsAny(f, t.Text) {
		return nil, !mentionsAny(f, "I", "Complex")
	}
	if f.Kind == expression.Symbol {
		return nil, true
	}
	var exponents, inside []*expression.Expr
	switch name := f.HeadName(); {
	case slices.Contains([]string{"Plus", "Times", "Sqrt", "Log", "Sin", "Cos", "UnitStep", "HeavisideTheta"}, name):
		inside = f.Args
	case name == "Exp" && len(f.Args) == 1:
		exponents = f.Args
	case (name == "Sinh" || name == "Cosh") && len(f.Args) == 1:
		exponents = []*expression.Expr{f.Args[0], call("Times", expression.Int(-1), f.Args[0])}
	case name == "Power" && len(f.Args) == 2 && f.Args[0].IsSymbol("E"):
		exponents = f.Args[1:]
	case name == "Power" && len(f.Args) == 2 && (f.Args[1].Kind == expression.Integer || f.Args[1].IsCall("Rational")) && !mentionsAny(f.Args[0], "E", "Exp", "Sinh", "Cosh"):
		inside = f.Args[:1]
	default:
		return nil, false
	}
	for _, exponent := range exponents {
		rate, linear := slope(exponent, t)
		if !linear || mentionsAny(exponent, "I", "Complex") {
			return nil, false
		}
		rates = append(rates, rate)
	}
	for _, part := range inside {
		of, ok := growth(part, t)
		if !ok || len(of) > 0 && !slices.Contains([]string{"Plus", "Times"}, f.HeadName()) {
			return nil, false
		}
		rates = append(rates, of...)
	}
	return rates, true
}

// slope is the factor of t in an expression of first degree in it.
func slope(e, t *expression.Expr) (rate *expression.Expr, linear bool) {
	switch {
	case !mentionsAny(e, t.Text):
		return expression.Int(0), true
	case e.IsSymbol(t.Text):
		return expression.Int(1), true
	case e.IsCall("Plus"):
		var terms []*expression.Expr
		for _, part := range e.Args {
			one, ok := slope(part, t)
			if !ok {
				return nil, false
			}
			terms = append(terms, one)
		}
		return call("Plus", terms...), true
	case e.IsCall("Times"):
		factors := slices.Clone(e.Args)
		at := slices.IndexFunc(factors, func(part *expression.Expr) bool { return mentionsAny(part, t.Text) })
		one, ok := slope(factors[at], t)
		if !ok || slices.ContainsFunc(factors[at+1:], func(part *expression.Expr) bool { return mentionsAny(part, t.Text) }) {
			return nil, false
		}
		factors[at] = one
		return call("Times", factors...), true
	}
	return nil, false
}
