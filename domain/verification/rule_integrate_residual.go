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
			Shows: "The answer's derivative equals the integrand wherever both are defined: exactly, or by enclosures to 60 digits in every region; or, where the answer is " +
				"a formula for real values such as Log[Abs[x]], at all real values, at those at which the integrand is real, or at those at which the answer's root is, " +
				"as the residual says. Along the real line, for generic real parameters, the answer does not jump where the integrand can be integrated. Either the " +
				"arguments of its roots, logarithms and inverse functions keep off their cuts; or the checker finds every place at which one of them changes its branch " +
				"exactly, and compares both sides there. The residual says where that is proved only for the real values at which the integrand is real, or that there " +
				"is a jump. Refuted where answer and integrand differ by more than the choice of a root, where the integrand is real; and where an answer is proved to " +
				"jump whose integrand is a sum of products of whole powers, exponentials and waves of first degree. The answer may add a constant: a finite number, a " +
				"parameter or C[k].",
			Silent: "Jumps off the real line and for complex parameters. Whether the answer is real or the simplest one; one that is real and wrong on some branches is " +
				"neither verified nor refuted. Nothing is verified where a jump comes of terms that add up to a step, or where not every place is found.",
			Examples: []Example{
				{"Integrate[x^2 Sin[x], x]", "2 x Sin[x] - (x^2 - 2) Cos[x]"},
				{"Integrate[x^2 Sin[x], x]", "2 x Sin[x] + (x^2 - 2) Cos[x]"},
			},
		},
		form: func(c Call) bool { return !c.definite() },
		plan: planIntegrateResidual,
	}
}

func planIntegrateResidual(c Call) (Task, error) {
	variables := c.Args[1:]
	natural, ok := symbolNames(variables)
	if !ok {
		return Task{}, noShape("the integration variable is not a symbol")
	}
	integrand := c.Args[0]
	derivative := call("D", append([]*expression.Expr{c.Answer}, variables...)...)
	task := identities(difference(derivative, integrand), [][2]*expression.Expr{{integrand, derivative}}, c.Assumptions, map[string]any{"variables": natural})
	task.Kind = "antiderivative"
	return task, nil
}

func isIterator(e *expression.Expr) bool { return e.IsCall("List") && len(e.Args) >= 3 }

// definite tells whether the call has an iterator {x, a, b}.
func (c Call) definite() bool { return len(c.Args) > 1 && slices.ContainsFunc(c.Args[1:], isIterator) }
