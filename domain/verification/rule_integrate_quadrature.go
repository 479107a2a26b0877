package verification

import "reckon/domain/expression"

// integrateQuadrature: a definite integral against quadrature.
func integrateQuadrature() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "integrate_quadrature",
			Heads: []string{"Integrate"},
			Shows: "An enclosure of the integral (quadrature with proved bounds inside, expansions with bounded remainders at singular and infinite ends) is disjoint from " +
				"the answer, or the integral diverges while the answer is finite or the other infinity. Parameters get sample values, also at and near the ends of the " +
				"conditions and cases that the answer states.",
			Silent: "Whether the answer is right: agreement to many digits is support.",
			Examples: []Example{
				{"Integrate[1/x, {x, -1, 1}]", "-I Pi"},
				{"Integrate[1/(1 + Tan[x]^Sqrt[2]), {x, 0, Pi/2}]", "Pi/4"},
			},
		},
		form:  func(c Call) bool { return c.definite() && !c.Approximate },
		plan:  planIntegrateQuadrature,
		proof: integrateCertificate(),
	}
}

func planIntegrateQuadrature(c Call) (Task, error) { return integralTask(c, false) }

// integralTask is the work order for definite integrals; approximate says that the answer is a decimal number.
func integralTask(c Call, approximate bool) (Task, error) {
	ranges, err := rangesOf(c.Args[1:], 3)
	if err != nil {
		return Task{}, err
	}
	if mentionsAny(c.Args[0], "List") || c.Answer.IsCall("List") {
		return Task{}, noShape("integrals of lists are not checked by quadrature")
	}
	principal := c.Options["PrincipalValue"]
	check := call("NIntegrate", c.Args...)
	return Task{Kind: "integral", Check: difference(check, c.Answer), Fields: map[string]any{
		"integrand": c.Args[0], "ranges": ranges, "answer": c.Answer, "assumptions": c.Assumptions, "approximate": approximate,
		"digits": digitsOf(c.Precision), "principal_value": principal != nil && principal.IsSymbol("True"),
	}}, nil
}

// rangesOf reads iterators {x, a, b} as [x, a, b], each with at least so many parts, a symbol first.
func rangesOf(iterators []*expression.Expr, least int) ([]any, error) {
	var ranges []any
	for _, iterator := range iterators {
		parts, ok := list(iterator)
		if !ok || len(parts) < least || parts[0].Kind != expression.Symbol {
			return nil, noShape("a range is not {symbol, from, to}")
		}
		one := []any{parts[0].Text}
		for _, part := range parts[1:] {
			one = append(one, wireForm(part))
		}
		ranges = append(ranges, one)
	}
	return ranges, nil
}

// integrateCertificate: a definite integral by an antiderivative.
func integrateCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "integrate_certificate",
		Heads: []string{"Integrate"},
		Shows: "An antiderivative grows by the integral: its derivative is the integrand by a normal form; the checker isolates exactly all places between the ends at " +
			"which it may not be analytic, and takes its limits at both sides of each. The sum equals the answer exactly, or by enclosures that agree to 60 digits. " +
			"Absolute values, steps, whole parts and cases are resolved between the exact places at which they change. Or the integral diverges to the infinity that " +
			"the answer gives. Or a theorem gives the integral, whose conditions are proved: Gamma and Beta integrals and those that come of them by a power, a logarithm or " +
			"1/(E^x + 1), waves over a power or over x^2 + 1, powers of Sin and Cos, Gaussians. With parameters: by these, or of polynomials times exponentials and waves.",
		Silent: "All other integrals.",
		Examples: []Example{
			{"Integrate[x^2, {x, 0, 1}]", "1/3"},
			{"Integrate[x^2 y, {x, 0, 1}, {y, 0, x}]", "1/10"},
		},
	}}
}
