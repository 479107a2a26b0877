package verification

import "reckon/domain/expression"

// nsolveResidual: decimal roots against the Newton step that would correct them.
func nsolveResidual() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "nsolve_residual",
			Heads: []string{"NSolve", "NRoots", "Solve", "Roots", "NSolveValues"},
			Shows: "No true solution lies as near to a decimal one as its digits promise (for a root of one polynomial by its condition number, else half of " +
				"the digits), or a true solution is missing: all of them are isolated, or the box around the decimal is proved to hold none.",
			Silent: "That a nearby exact solution exists: a decimal number solves nothing exactly.",
			Examples: []Example{
				{"NSolve[x^3 - x - 1 == 0, x, Reals]", "{{x -> 1.32472}}"},
				{"NSolve[x^3 - x - 1 == 0, x, Reals]", "{{x -> -1.324717957244746}}"},
			},
		},
		form:  func(c Call) bool { return c.Approximate || c.Head != "Solve" && c.Head != "Roots" },
		plan:  planNSolveResidual,
		proof: nsolveEnclosure(),
	}
}

func planNSolveResidual(c Call) (Task, error) {
	if c.Head == "NRoots" || c.Head == "Roots" {
		rules, err := rootsAsRules(c)
		if err != nil {
			return Task{}, err
		}
		c.Answer = rules
	}
	return solutionsTask(c, true, true)
}

// rootsAsRules turns x == a || x == b into {{x -> a}, {x -> b}}.
func rootsAsRules(c Call) (*expression.Expr, error) {
	if c.Args[1].Kind != expression.Symbol {
		return nil, noShape("Roots needs an equation and a symbol")
	}
	unknown := c.Args[1]
	parts := []*expression.Expr{c.Answer}
	if c.Answer.IsCall("Or") {
		parts = c.Answer.Args
	}
	if c.Answer.IsSymbol("False") {
		parts = nil
	}
	var solutions []*expression.Expr
	for _, part := range parts {
		if !part.IsCall("Equal") || len(part.Args) != 2 || !part.Args[0].Equal(unknown) {
			return nil, noAnswer("the answer is not a disjunction of equations for the unknown")
		}
		solutions = append(solutions, call("List", call("Rule", unknown, part.Args[1])))
	}
	return call("List", solutions...), nil
}

// nsolveEnclosure: decimal solutions that are exact ones to their digits.
func nsolveEnclosure() ProofRule {
	return ProofRule{Declaration{
		Slug:   "nsolve_enclosure",
		Heads:  []string{"NSolve", "NRoots", "Solve", "Roots", "NSolveValues"},
		Shows:  "The equations are algebraic: all exact solutions are isolated, and each decimal one is another of them to its digits, four units of the 53rd bit for machine numbers; none is left over.",
		Silent: "Equations that are not algebraic, of which not all solutions are known.",
		Examples: []Example{
			{"NSolve[x^3 - x - 1 == 0, x, Reals]", "{{x -> 1.324717957244746}}"},
			{"NSolve[x^2 == 2, x]", "{{x -> -1.4142135623730951}, {x -> 1.4142135623730951}}"},
		},
	}}
}
