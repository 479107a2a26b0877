package verification

// numericValue: N of an exact expression, computed again with more digits.
func numericValue() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "numeric_value",
			Heads: []string{"N"},
			Shows: "The enclosure of the value is disjoint from the answer: by more than 10^(1-n) of its size, where N was asked for n digits (a unit of the last digit of 1.00, ten of 9.99), or, for machine numbers, by " +
				"more than 64 times what arithmetic with 53 bits may lose.",
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
		Slug:   "numeric_enclosure",
		Heads:  []string{"N"},
		Shows:  "Every digit that was asked for is right: the value lies in an enclosure that is off the answer by half a unit of the n-th digit at most; of machine numbers by four units of the 53rd bit.",
		Silent: "Numbers that show fewer digits than they hold, and what decimals in the question stand for.",
		Examples: []Example{
			{"N[Zeta[3], 20]", "1.2020569031595942854"},
			{"N[Pi]", "3.141592653589793"},
		},
	}}
}
