package verification

import "reckon/domain/expression"

// reduceSampled: input and answer as conditions that must be true at the same points.
func reduceSampled() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "reduce_sampled",
			Heads: []string{"Reduce", "Resolve"},
			Shows: "At some point the input is true and the answer false, or the other way round. The checker compares conditions on one number in every cell between the " +
				"zeros of the compared functions and at each zero, answers that list solutions with all solutions, and other conditions along lines. Statements with " +
				"ForAll or Exists over one number are compared at values of the other symbols in every cell of their projection.",
			Silent: "Whether there is such a point elsewhere. Answers with an irrational end get no support where the statement cannot be evaluated there.",
			Examples: []Example{
				{"Reduce[x^2 > 4, x]", "x > 2"},
				{"Reduce[a x == b, x]", "(b == 0 && a == 0) || (a != 0 && x == b/a)"},
			},
		},
		plan:  planReduceSampled,
		proof: reduceCertificate(),
	}
}

// reduceCertificate: conditions on one number by exact cells, and lists of all solutions.
func reduceCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "reduce_certificate",
		Heads: []string{"Reduce", "Resolve"},
		Shows: "Input and answer are true at the same points. Conditions on one number: the checker isolates exactly all zeros of the compared functions; both " +
			"conditions are true or false together in every cell between them and at every zero. Answers that list solutions: these are all solutions, by the proof " +
			"of solve_residual. The answer gives the number's own order among real constants, or whole numbers one by one. Without a domain a number that stands " +
			"algebraically in an order is real. " +
			"Statements with quantifiers over one real number each and at most one other symbol, in polynomials: leading coefficients, discriminants and resultants divide the symbol's line " +
			"where zeros come, go or meet; statement and answer are true or false together in every cell and at every end, and all ends are rational.",
		Silent: "Conditions on several numbers that are no lists of solutions, other statements with quantifiers, and functions that are not algebraic.",
		Examples: []Example{
			{"Reduce[x^2 > 4, x]", "x < -2 || x > 2"},
			{"Reduce[1/x < 1, x, Reals]", "x < 0 || x > 1"},
			{"Reduce[ForAll[x, x^2 + b x + 1 > 0], b, Reals]", "-2 < b < 2"},
		},
	}}
}

func planReduceSampled(c Call) (Task, error) {
	if c.Options["Modulus"] != nil {
		if c.Answer.IsSymbol("False") {
			c.Answer = call("List")
		}
		return planSolveResidual(c)
	}
	args, domain := withoutDomain(c.Args)
	if len(args) > 2 || c.Head == "Resolve" && len(args) > 1 {
		return Task{}, noShape("an argument that is neither unknowns nor a domain is not checked")
	}
	var unknowns []string
	if len(args) > 1 {
		found, ok := symbolNames(unknownsOf(args[1]))
		if !ok {
			return Task{}, noShape("an unknown is not a symbol")
		}
		unknowns = found
	} else {
		unknowns = freeSymbols(args[0])
	}
	input := args[0]
	if input.IsCall("List") {
		input = call("And", input.Args...)
	}
	if mentionsAny(c.Answer, "Exists", "ForAll") {
		return Task{}, noAnswer("a quantifier is left in the answer")
	}
	answer := rulesAsCondition(c.Answer)
	if mentionsAny(input, "Exists", "ForAll") {
		return Task{Kind: "quantified", Check: call("Equivalent", input, answer), Fields: map[string]any{"left": input, "right": answer, "domain": domain}}, nil
	}
	return Task{Kind: "truth", Check: call("Equivalent", input, answer), Fields: map[string]any{
		"left": input, "right": answer, "unknowns": unknowns, "domain": domain, "assumptions": c.Assumptions,
	}}, nil
}

// rulesAsCondition reads {{x -> a}, …} as the condition it stands for; anything else stays.
func rulesAsCondition(answer *expression.Expr) *expression.Expr {
	solutions, ok := list(answer)
	if !ok {
		return answer
	}
	cases := []*expression.Expr{expression.Sym("False")}
	for _, solution := range solutions {
		parts := []*expression.Expr{expression.Sym("True")}
		for _, rule := range elementsOf(solution) {
			if !rule.IsCall("Rule") || len(rule.Args) != 2 {
				return answer
			}
			parts = append(parts, equation(rule.Args[0], rule.Args[1]))
		}
		cases = append(cases, call("And", parts...))
	}
	return call("Or", cases...)
}
