package verification

import "reckon/domain/expression"

// factorintegerProduct: the factors are prime and multiply to the number.
func factorintegerProduct() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  "factorinteger_product",
			Heads: []string{"FactorInteger"},
			Shows: "The factors, over the integers or the Gaussian integers, multiply to the number and each is prime: by proof below 2^320, above by the test of " +
				"Baillie, Pomerance, Selfridge and Wagstaff (basis numeric).",
			Silent: "Which of its associates stands for a Gaussian prime.",
			Examples: []Example{
				{"FactorInteger[2^67 - 1]", "{{193707721, 1}, {761838257287, 1}}"},
				{"FactorInteger[1001]", "{{7, 1}, {143, 1}}"},
			},
		},
		plan: planFactorIntegerProduct,
	}
}

func planFactorIntegerProduct(c Call) (Task, error) {
	if !onlyGaussian(c) {
		return Task{}, noShape("options are not checked")
	}
	rows, ok := list(c.Answer)
	if !ok {
		return Task{}, noAnswer("the answer is not a list of factors")
	}
	if len(rows) > MaxSolutions {
		return Task{}, noAnswer("the answer has too many factors to check")
	}
	var pairs []any
	var powers []*expression.Expr
	for _, row := range rows {
		pair, ok := list(row)
		if !ok || len(pair) != 2 {
			return Task{}, noAnswer("a factor is not {prime, exponent}")
		}
		pairs = append(pairs, []any{wireForm(pair[0]), wireForm(pair[1])})
		powers = append(powers, call("Power", pair[0], pair[1]))
	}
	if pairs == nil {
		return Task{}, noAnswer("there are no factors")
	}
	return Task{Kind: "factors", Check: call("Equal", c.Args[0], call("Times", powers...)), Fields: map[string]any{
		"number": c.Args[0], "pairs": pairs, "gaussian": isGaussian(c),
	}}, nil
}

// isGaussian reports whether the option GaussianIntegers is set.
func isGaussian(c Call) bool {
	option := c.Options["GaussianIntegers"]
	return option != nil && option.IsSymbol("True")
}

// onlyGaussian reports whether there is no option but GaussianIntegers.
func onlyGaussian(c Call) bool {
	return len(c.Options) == 0 || len(c.Options) == 1 && c.Options["GaussianIntegers"] != nil
}
