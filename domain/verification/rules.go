package verification

import "slices"

// Rules lists every rule. Where two cover one head, the form of the call decides (formFits); no call fits two.
func Rules() []Rule {
	return []Rule{
		integrateResidual(),
		solveResidual(),
		rewriteIdentity(),
		integrateQuadrature(),
		nintegrateTruncation(),
		nsolveResidual(),
		rootsResidual(),
		reduceSampled(),
		derivativeSampled(),
		limitApproach(),
		seriesOrder(),
		seriesTruncation(),
		sumPartial(),
		nsumTruncation(),
		productPartial(),
		findrootResidual(),
		dsolveResidual(),
		rsolveSampled(),
		linearAlgebraIdentity(),
		factorintegerProduct(),
		primality(),
		polynomialGCD(),
		eliminateResidual(),
		minimizeSampled(),
		numericValue(),
		valueIdentity(),
	}
}

// ruleFor picks the rule of a call: by its head, and by its form where a head has two rules.
func ruleFor(call Call) Rule {
	for _, rule := range Rules() {
		if slices.Contains(rule.Declare().Heads, call.Head) && formFits(rule.Declare().Slug, call) {
			return rule
		}
	}
	return nil
}

// formFits tells apart the rules that share a head.
func formFits(slug string, call Call) bool {
	definite := len(call.Args) > 1 && slices.ContainsFunc(call.Args[1:], isIterator)
	switch slug {
	case "integrate_residual":
		return !definite
	case "integrate_quadrature":
		return definite && !call.Approximate
	case "nintegrate_truncation":
		return definite && (call.Approximate || call.Head == "NIntegrate")
	case "solve_residual", "roots_residual":
		return !call.Approximate
	case "nsolve_residual":
		return call.Approximate || call.Head != "Solve" && call.Head != "Roots"
	case "sum_partial":
		return !call.Approximate
	case "nsum_truncation":
		return call.Approximate || call.Head == "NSum"
	case "series_order":
		return !call.Normal
	case "series_truncation":
		return call.Normal || call.Head != "Series"
	}
	return true
}
