package verification

import "reckon/domain/expression"

// derivativeSampled: a derivative against differences at high precision.
func derivativeSampled() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "derivative_sampled",
			Heads:  []string{"D", "Dt", "Derivative", "Grad", "Div", "Curl", "Laplacian"},
			Shows:  "Differences at high precision give another derivative at the sample points. Undefined functions are stood for by smooth functions without special properties.",
			Silent: "That the formula holds everywhere.",
			Examples: []Example{
				{"D[x^x, x]", "x^x (1 + Log[x])"},
				{"D[f[x] g[x], x]", "f'[x] g[x] - f[x] g'[x]"},
			},
		},
		plan: planDerivativeSampled,
	}
}

func planDerivativeSampled(c Call) (Task, error) {
	left, err := derivativeOf(c)
	if err != nil {
		return Task{}, err
	}
	return identities(minus(left, c.Answer), [][2]*expression.Expr{{left, c.Answer}}, c.Assumptions,
		map[string]any{"regions": regions(left, c.Answer), "answer": c.Answer, "functions": undefinedFunctions(left)}), nil
}

func derivativeOf(c Call) (*expression.Expr, error) {
	if c.Head == "Derivative" {
		return c.Whole, nil
	}
	if len(c.Args) < 2 {
		return nil, noShape("there is no variable")
	}
	switch c.Head {
	case "D":
		return call("D", c.Args...), nil
	case "Dt":
		// A total derivative is a partial one where nothing else depends on the variable.
		variable := c.Args[1]
		if len(c.Args) != 2 || variable.Kind != expression.Symbol || len(freeSymbols(c.Args[0])) > 1 {
			return nil, noShape("only total derivatives of functions of one variable are checked")
		}
		return call("D", c.Args...), nil
	}
	variables, ok := list(c.Args[1])
	if !ok || len(c.Args) != 2 {
		return nil, noShape("only Cartesian coordinates are checked")
	}
	return vectorCalculus(c.Head, c.Args[0], variables)
}

func vectorCalculus(head string, f *expression.Expr, variables []*expression.Expr) (*expression.Expr, error) {
	fields, isVector := list(f)
	partial := func(i, j int) *expression.Expr { return call("D", fields[i], variables[j]) }
	switch {
	case head == "Grad" && !isVector:
		var parts []*expression.Expr
		for _, variable := range variables {
			parts = append(parts, call("D", f, variable))
		}
		return call("List", parts...), nil
	case head == "Laplacian" && !isVector:
		var parts []*expression.Expr
		for _, variable := range variables {
			parts = append(parts, call("D", f, call("List", variable, expression.Int(2))))
		}
		return call("Plus", parts...), nil
	case head == "Div" && isVector && len(fields) == len(variables):
		var parts []*expression.Expr
		for i := range variables {
			parts = append(parts, partial(i, i))
		}
		return call("Plus", parts...), nil
	case head == "Curl" && isVector && len(fields) == 3 && len(variables) == 3:
		return call("List", minus(partial(2, 1), partial(1, 2)), minus(partial(0, 2), partial(2, 0)), minus(partial(1, 0), partial(0, 1))), nil
	}
	return nil, noShape("this shape of " + head + " is not checked")
}

// undefinedFunctions lists the heads that are the user's own.
func undefinedFunctions(e *expression.Expr) []string {
	found := []string{}
	for _, name := range e.Heads() {
		if 'a' <= name[0] && name[0] <= 'z' {
			found = append(found, name)
		}
	}
	return found
}
