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
			Shows: "The functions, with any constants, satisfy the equations and the initial conditions, and the constants, whatever they are called, are independent " +
				"and as many as the orders less the conditions: no solution is missing where they enter in the first degree, or where one of a linear equation reaches every value; where one enters a nonlinear equation of first order " +
				"through rational or exponential functions, none but singular ones and constant limits of the answer; of a polynomial equation of first order and higher degree, none but singular ones, by elimination of the constant. Initial values leave one solution, by bounded derivatives of the right side and a factor of the highest " +
				"derivative that does not vanish. The functions do not jump but where the equations are singular. A linear equation of second order with constant coefficients between two " +
				"places has one solution by the determinant of its conditions; an answer in amplitude and phase, C[1] Cos[x + C[2]], has every real solution, and the residual says so; of a transport equation with constant coefficients the answer is the general solution. Refuted too where " +
				"another real branch passes through a point. The variable is real, parameters are complex.",
			Silent: "Singular solutions of nonlinear equations; whether nonlinear equations of higher order, other boundary problems and other partial equations have further solutions: then nothing is verified.",
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
			Shows:  "The sequence fails the recurrence or an initial condition at some of the indices tried, or a general solution has too few constants.",
			Silent: "That the recurrence holds at every index.",
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
		Shows: "The sequence satisfies the recurrence, as an identity in the index by a normal form, and every initial value; it is the only one: the recurrence gives the highest shift by lower ones, and as many values as its order, one after the other, are given, " +
			"from which on the formula has a value; or all of them: the recurrence is linear, and the answer is of first degree in as many independent constants as its order.",
		Silent: "Values before the first one given; general solutions at indices at which the factor of the highest shift vanishes.",
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
