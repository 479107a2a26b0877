package verification

import (
	"slices"

	"reckon/domain/expression"
)

// dsolveResidual: a solution put into its differential equation.
func dsolveResidual() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  "dsolve_residual",
			Heads: []string{"DSolve", "DSolveValue"},
			Shows: "The functions, with any constants, satisfy the equations and the initial conditions, and do not jump except where the equations are singular. The " +
				"constants, whatever their names, are independent and as many as the orders less the conditions. Then all solutions are there in these cases: the " +
				"constants enter in the first degree; one constant of a linear equation reaches every value; with initial values, the derivatives of the right side are " +
				"bounded and the factor of the highest derivative does not vanish; a linear equation of second order with constant coefficients between two places, by " +
				"the determinant of its conditions; a transport equation with constant coefficients; the real solutions of an answer in amplitude and phase, C[1] Cos[x " +
				"+ C[2]], as the residual says. All but singular solutions are there in two more: one constant enters a nonlinear equation of first order through " +
				"rational or exponential functions (constant limits of the answer may be missing too); a polynomial equation of first order and higher degree, by " +
				"elimination of the constant. Refuted too where another real branch passes through a point. The variable is real, parameters are complex.",
			Silent: "Singular solutions of nonlinear equations. Nothing is verified of nonlinear equations of higher order, of other boundary problems and of other partial " +
				"equations, which may have further solutions.",
			Examples: []Example{
				{"DSolve[y''[x] + y[x] == 0, y[x], x]", "{{y[x] -> C[1] Cos[x] + C[2] Sin[x]}}"},
				{"DSolve[y''[x] + y[x] == 0, y[x], x]", "{{y[x] -> C[1] Cos[x]}}"},
			},
		},
		plan: func(c Call) (Task, error) { return functionsTask(c, false) },
	}
}

// rsolveSampled: a sequence put into its recurrence.
func rsolveSampled() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "rsolve_sampled",
			Heads:  []string{"RSolve", "RSolveValue"},
			Shows:  "The sequence fails the recurrence or an initial condition at a sampled index, or a general solution has too few constants.",
			Silent: "Whether the recurrence holds at every index.",
			Examples: []Example{
				{"RSolve[{a[n + 1] == a[n]/3., a[0] == 1}, a[n], n]", "{{a[n] -> 0.333333^n}}"},
				{"RSolve[{a[n + 1] == 2 a[n], a[0] == 1}, a[n], n]", "{{a[n] -> 2^(n + 1)}}"},
			},
		},
		plan:  func(c Call) (Task, error) { return functionsTask(c, true) },
		proof: rsolveIdentity(),
	}
}

// rsolveIdentity: a sequence put into its recurrence, for every index.
func rsolveIdentity() ProofRule {
	return ProofRule{Declaration{
		Slug:  "rsolve_identity",
		Heads: []string{"RSolve", "RSolveValue"},
		Shows: "The sequence satisfies the recurrence, as an identity in the index by a normal form, and every initial value. It is the only one: the recurrence gives " +
			"the highest shift by lower ones, and the question gives as many consecutive values as its order, from which on the formula has a value. Or it has all " +
			"solutions: the recurrence is linear, and the answer is of first degree in as many independent constants as its order.",
		Silent: "Values before the first given one; general solutions at indices at which the factor of the highest shift vanishes.",
		Examples: []Example{
			{"RSolve[{a[n + 1] == 2 a[n], a[0] == 1}, a[n], n]", "{{a[n] -> 2^n}}"},
			{"RSolve[a[n + 2] == a[n + 1] + a[n], a[n], n]", "{{a[n] -> C[1] Fibonacci[n] + C[2] LucasL[n]}}"},
		},
	}}
}

// functionsTask is the work order for equations whose unknowns are functions.
func functionsTask(c Call, recurrence bool) (Task, error) {
	independent := elementsOf(c.Args[2])
	if len(independent) == 3 && independent[1].Kind != expression.Symbol { // {x, a, b}
		independent = independent[:1]
	}
	variables, ok := symbolNames(independent)
	if !ok {
		return Task{}, noShape("an independent variable is not a symbol")
	}
	unknowns := elementsOf(c.Args[1])
	var functions []string
	for _, unknown := range unknowns {
		name := unknown
		if unknown.Kind == expression.Call {
			name = unknown.Head
		}
		if name.Kind != expression.Symbol {
			return Task{}, noShape("an unknown function is not a symbol")
		}
		functions = append(functions, name.Text)
	}
	equations := conjunction(c.Args[0])
	for _, equation := range equations {
		if !equation.IsCall("Equal") {
			return Task{}, noShape("only equations are checked")
		}
	}
	answer := c.Answer
	if c.Head == "DSolveValue" || c.Head == "RSolveValue" {
		answer = valueAsRule(answer, unknowns)
	}
	solutions, rules, err := functionSolutions(answer, functions, variables)
	if err != nil {
		return Task{}, err
	}
	check := call("ReplaceAll", call("List", equations...), rules)
	return Task{Kind: "equations", Check: check, Fields: map[string]any{
		"equations": equations, "functions": functions, "variables": variables, "solutions": solutions, "recurrence": recurrence,
		"assumptions": c.Assumptions,
	}}, nil
}

func valueAsRule(answer *expression.Expr, unknowns []*expression.Expr) *expression.Expr {
	values := []*expression.Expr{answer}
	if len(unknowns) > 1 {
		values = elementsOf(answer)
	}
	var rules []*expression.Expr
	for i, value := range values {
		if i < len(unknowns) {
			rules = append(rules, call("Rule", unknowns[i], value))
		}
	}
	return call("List", call("List", rules...))
}

// functionSolutions reads {{y[x] -> e}}, {{y -> Function[{x}, e]}} and {y[x] -> e} into functions; the rules are for people.
func functionSolutions(answer *expression.Expr, functions, variables []string) ([]any, *expression.Expr, error) {
	parts, ok := list(answer)
	if !ok {
		return nil, nil, noAnswer("the answer is not a list of solutions")
	}
	if len(parts) > 0 && parts[0].IsCall("Rule") {
		parts = []*expression.Expr{answer}
	}
	if len(parts) > MaxSolutions {
		return nil, nil, noAnswer("the answer has too many solutions to check")
	}
	var solutions []any
	var shown []*expression.Expr
	for _, part := range parts {
		var bindings []map[string]any
		var rules []*expression.Expr
		for _, rule := range elementsOf(part) {
			if !rule.IsCall("Rule") || len(rule.Args) != 2 {
				return nil, nil, noAnswer("a solution is not a list of rules")
			}
			name, function, err := bindingOf(rule.Args[0], rule.Args[1], variables)
			if err != nil {
				return nil, nil, err
			}
			if !slices.Contains(functions, name) {
				return nil, nil, noAnswer(name + " is not an unknown of the equations")
			}
			bindings = append(bindings, map[string]any{"name": name, "function": function})
			rules = append(rules, call("Rule", expression.Sym(name), function))
		}
		if len(bindings) != len(functions) {
			return nil, nil, noAnswer("a solution does not give every unknown")
		}
		solutions = append(solutions, wireForm(bindings))
		shown = append(shown, call("List", rules...))
	}
	if len(solutions) == 0 {
		return nil, nil, noAnswer("there is no solution")
	}
	if len(shown) == 1 {
		return solutions, shown[0], nil
	}
	return solutions, call("List", shown...), nil
}

// bindingOf reads one rule: y[x] -> e or y -> function.
func bindingOf(left, right *expression.Expr, variables []string) (string, *expression.Expr, error) {
	if left.Kind == expression.Symbol {
		if !right.IsCall("Function") || len(right.Args) < 1 || len(right.Args) > 2 {
			return "", nil, noAnswer("the value of a function is not a pure function")
		}
		return left.Text, right, nil
	}
	if left.Kind != expression.Call || left.Head.Kind != expression.Symbol {
		return "", nil, noAnswer("a rule is not for an unknown function")
	}
	if _, ok := symbolNames(left.Args); !ok {
		return "", nil, noAnswer("a function's arguments are not the variables")
	}
	if mentionsAny(right, "Solve", "InverseFunction", "RootSum", "Inactive") {
		return "", nil, noAnswer("implicit solutions are not checked")
	}
	for i, argument := range left.Args {
		if i >= len(variables) || argument.Kind != expression.Symbol || argument.Text != variables[i] {
			return "", nil, noAnswer("a solution gives a function of something else than the question's variable")
		}
	}
	return left.Head.Text, call("Function", call("List", left.Args...), right), nil
}
