package verification

// numericValue: N of an exact expression, computed again with more digits.
func numericValue() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "numeric_value",
			Heads: []string{"N"},
			Shows: "The enclosure of the value is disjoint from the answer, and by more than the answer's own inaccuracy: for n requested digits 10^(1-n) of its size (a " +
				"unit of the last digit of 1.00, ten of 9.99), for machine numbers 64 times the possible loss of arithmetic with 53 bits.",
			Silent: "Digits that machine arithmetic may lose.",
			Examples: []Example{
				{"N[Zeta[3]]", "1.20206"},
				{"N[Zeta[3], 20]", "1.2020569031595938"},
			},
		},
		plan: func(c Call) (Task, error) {
			fields := map[string]any{"expression": c.Args[0], "answer": c.Answer}
			if len(c.Args) == 2 && !c.Args[1].IsSymbol("MachinePrecision") {
				fields["digits"] = c.Args[1]
			}
			return Task{Kind: "value", Check: difference(call("N", c.Args...), c.Answer), Fields: fields}, nil
		},
		proof: numericEnclosure(),
	}
}

// numericEnclosure: the digits of a value, by an enclosure.
func numericEnclosure() ProofRule {
	return ProofRule{Declaration{
		Slug:  "numeric_enclosure",
		Heads: []string{"N"},
		Shows: "Every requested digit is right: an enclosure of the value lies within half a unit of the n-th digit of the answer; of machine numbers within four units " +
			"of the 53rd bit.",
		Silent: "Numbers that show fewer digits than they hold; the meaning of decimals in the question.",
		Examples: []Example{
			{"N[Zeta[3], 20]", "1.2020569031595942854"},
			{"N[Pi]", "3.141592653589793"},
		},
	}}
}
