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
				{"NIntegrate[Sin[x]/x, {x, 0, Infinity}]", "1.5707963267948966"},
			},
		},
		form: func(c Call) bool { return c.definite() && (c.Approximate || c.Head == "NIntegrate") },
		plan: func(c Call) (Task, error) { return integralTask(c, true) },
	}
}
