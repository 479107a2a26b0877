package verification

// numericValue: N of an exact expression, computed again with more digits.
func numericValue() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "numeric_value",
			Heads:  []string{"N"},
			Shows:  "Computed with twice the digits, the value differs from the answer within the digits that N was asked for.",
			Silent: "The last digit, and anything that arithmetic with machine numbers may lose.",
			Examples: []Example{
				{"N[Zeta[3], 20]", "1.2020569031595942854"},
				{"N[Zeta[3], 20]", "1.2020569031595938"},
			},
		},
		plan: func(c Call) (Task, error) {
			if len(c.Args) == 0 || len(c.Args) > 2 {
				return Task{}, noShape("N takes an expression and a precision")
			}
			fields := map[string]any{"expression": c.Args[0], "answer": c.Answer}
			if len(c.Args) == 2 && !c.Args[1].IsSymbol("MachinePrecision") {
				fields["digits"] = c.Args[1]
			}
			return Task{Kind: "value", Check: minus(call("N", c.Args...), c.Answer), Fields: fields}, nil
		},
	}
}
