package verification

// nintegrateTruncation: a numerical integral against another quadrature.
func nintegrateTruncation() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "nintegrate_truncation",
			Heads:  []string{"NIntegrate", "Integrate"},
			Shows:  "An enclosure of the integral is disjoint from the answer by more than 10^-8 of its size, or the integral is proved to diverge.",
			Silent: "The last digits of the answer.",
			Examples: []Example{
				{"NIntegrate[Sin[x]/x, {x, 0, Infinity}]", "-8.904489328583295*^6"},
				{"NIntegrate[Sin[x]/x, {x, 0, Infinity}]", "1.570796"},
			},
		},
		form:  func(c Call) bool { return c.definite() && (c.Approximate || c.Head == "NIntegrate") },
		plan:  func(c Call) (Task, error) { return integralTask(c, true) },
		proof: nintegrateEnclosure(),
	}
}

// nintegrateEnclosure: the digits of a numerical integral, by an enclosure.
func nintegrateEnclosure() ProofRule {
	return ProofRule{Declaration{
		Slug:   "nintegrate_enclosure",
		Heads:  []string{"NIntegrate", "Integrate"},
		Shows:  "Every digit that machine numbers hold, up to four units of the 53rd bit, or that was asked for, up to half a unit of the last, is right: quadrature with proved bounds inside and expansions with bounded remainders at singular and infinite ends enclose the integral that closely.",
		Silent: "Integrals with parameters and over several variables.",
		Examples: []Example{
			{"NIntegrate[Exp[-x^2], {x, 0, 1}]", "0.7468241328124271"},
			{"NIntegrate[1/(1 + x^2), {x, 0, 1}]", "0.7853981633974483"},
		},
	}}
}
