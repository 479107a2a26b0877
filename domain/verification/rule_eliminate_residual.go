package verification

// eliminateResidual: the equations that are left are those that the given ones imply.
func eliminateResidual() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  "eliminate_residual",
			Heads: []string{"Eliminate"},
			Shows: "The answer and the elimination ideal of the equations, by a Groebner basis over the rationals, vanish at the same complex points; Sin and Cos of an " +
				"eliminated symbol count as two symbols on the unit circle.",
			Silent: "Equations that do not become polynomial; answers with inequations.",
			Examples: []Example{
				{"Eliminate[{x == t^2, y == t^3}, t]", "x^3 == y^2"},
				{"Eliminate[{x == t^2, y == t^3}, t]", "x^2 == y^3"},
			},
		},
		plan: planEliminateResidual,
	}
}

func planEliminateResidual(c Call) (Task, error) {
	if len(c.Options) > 0 {
		return Task{}, noShape("options are not checked")
	}
	eliminated, ok := symbolNames(elementsOf(c.Args[1]))
	if !ok {
		return Task{}, noShape("what is to be eliminated is not a symbol")
	}
	equations := conjunction(c.Args[0])
	input := call("And", equations...)
	return Task{Kind: "elimination", Check: call("Equivalent", call("Exists", c.Args[1], input), c.Answer), Fields: map[string]any{
		"equations": equations, "names": eliminated, "answer": c.Answer,
	}}, nil
}
