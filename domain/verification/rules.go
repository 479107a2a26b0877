package verification

import "slices"

// Rules lists every rule. Where two cover one head, the first whose declaration fits the call's form is taken (ruleFor).
func Rules() []Rule {
	return []Rule{
		integrateResidual(),
		solveResidual(),
		rewriteIdentity(),
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
		return definite
	case "solve_residual":
		return !call.Approximate
	case "roots_residual":
		return !call.Approximate
	case "sum_partial", "product_partial":
		return !call.Approximate
	case "series_order":
		return !call.Normal
	case "series_truncation":
		return call.Normal || call.Head != "Series"
	}
	return true
}
