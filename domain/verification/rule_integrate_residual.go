package verification

import (
	"slices"

	"reckon/domain/expression"
)

// integrateResidual: the derivative of an antiderivative is the integrand.
func integrateResidual() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  "integrate_residual",
			Heads: []string{"Integrate"},
			Shows: "The answer's derivative equals the integrand, at least wherever that is real for positive parameters: the answer is an antiderivative. A " +
				"constant of integration may be there or not.",
			Silent: "Whether the antiderivative is continuous, real or the simplest one.",
			Examples: []Example{
				{"Integrate[x^2 Sin[x], x]", "2 x Sin[x] - (x^2 - 2) Cos[x]"},
				{"Integrate[x^2 Sin[x], x]", "2 x Sin[x] + (x^2 - 2) Cos[x]"},
			},
		},
		plan: planIntegrateResidual,
	}
}

func planIntegrateResidual(c Call) (Task, error) {
	if len(c.Args) < 2 {
		return Task{}, noShape("Integrate needs a variable")
	}
	variables := c.Args[1:]
	natural, ok := names(variables)
	if !ok {
		return Task{}, noShape("the integration variable is not a symbol")
	}
	integrand := c.Args[0]
	derivative := call("D", append([]*expression.Expr{c.Answer}, variables...)...)
	return identities(minus(derivative, integrand), [][2]*expression.Expr{{derivative, integrand}}, c.Assumptions,
		map[string]any{
			"regions": slices.Insert(regions(integrand, c.Answer), 1, "natural"), "natural": natural, "real_valued": integrand, "answer": c.Answer,
		}), nil
}

func isIterator(e *expression.Expr) bool { return e.IsCall("List") && len(e.Args) >= 3 }
