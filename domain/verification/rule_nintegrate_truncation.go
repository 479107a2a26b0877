package verification

// nintegrateTruncation: a numerical integral against another quadrature.
func nintegrateTruncation() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "nintegrate_truncation",
			Heads:  []string{"NIntegrate", "Integrate"},
			Shows:  "The enclosure of the integral is disjoint from the answer in its first six digits, or the integral diverges.",
			Silent: "The last digits of the answer.",
			Examples: []Example{
				{"NIntegrate[Sin[x]/x, {x, 0, Infinity}]", "-8.904489328583295*^6"},
				{"NIntegrate[Sin[x]/x, {x, 0, Infinity}]", "1.5707963267948966"},
			},
		},
		plan: func(c Call) (Task, error) { return integralTask(c, true) },
	}
}
