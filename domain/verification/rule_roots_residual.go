package verification

// rootsResidual: the roots of a polynomial put into it.
func rootsResidual() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:   "roots_residual",
			Heads:  []string{"Roots"},
			Shows:  "Every root makes the polynomial zero, and no root of the polynomial is missing.",
			Silent: "Whether a multiple root is given as often as it is one.",
			Examples: []Example{
				{"Roots[x^2 - x - 1 == 0, x]", "x == (1 - Sqrt[5])/2 || x == (1 + Sqrt[5])/2"},
				{"Roots[x^3 - 8 == 0, x]", "x == 2"},
			},
		},
		form: func(c Call) bool { return !c.Approximate },
		plan: func(c Call) (Task, error) {
			rules, err := rootsAsRules(c)
			if err != nil {
				return Task{}, err
			}
			c.Answer = rules
			return solutionsTask(c, true, false)
		},
	}
}
