package verification

import "slices"

// Rules lists every rule. Where two cover one head, the form of the call decides, which each rule
// declares; no call fits two, but that programs go before. Rules of proofs take no call.
func Rules() []Rule { return append(rulesOfMathematics(), programValue()) }

// rulesOfMathematics are all but that of programs.
func rulesOfMathematics() []Rule {
	rules := []Rule{
		integrateResidual(),
		solveResidual(),
		rewriteIdentity(),
		integrateQuadrature(),
		laplaceQuadrature(),
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
		interpolationIdentity(),
		eliminateResidual(),
		minimizeSampled(),
		numericValue(),
		distributionIdentity(),
		valueIdentity(),
	}
	for _, rule := range slices.Clone(rules) {
		if sampled, ok := rule.(SampledRule); ok {
			rules = append(rules, sampled.proof)
		}
	}
	return rules
}

// ruleFor picks the rule of a call: by its head, and by its form where a head has several rules. A program is one whatever its head.
func ruleFor(call Call) Rule {
	for _, rule := range append([]Rule{programValue()}, rulesOfMathematics()...) {
		if slices.Contains(rule.Declare().Heads, call.Head) && rule.appliesTo(call) {
			return rule
		}
	}
	return nil
}
