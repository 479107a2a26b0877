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
			Shows: "The answer's derivative equals the integrand wherever both are defined: exactly, or by enclosures to 60 digits in every region; or, where " +
				"the answer is a formula for real values such as Log[Abs[x]], at all real values, at those at which the integrand is real, or at those at which the answer's root is, as the residual says. Along the real line the " +
				"answer is proved not to jump where the integrand can be integrated: by composition, since what its roots, logarithms and inverse functions are taken of keeps off their cuts, but for places at which the integrand has no finite integral, for generic real parameters; or every place at which a function of it changes its branch is found exactly and both sides are compared there. Where that is proved for the real values at which the integrand is real, the residual says so; or a jump is told in it. Refuted where they differ by more than the choice of a root, where the integrand is real, and where the answer to an integrand that is a sum of products of whole powers, exponentials and waves of first degree is proved to jump. A constant of integration may be there or not; what the answer adds must be a finite number, a parameter or C[k].",
			Silent: "Jumps off the real line and for complex parameters. Where a jump comes of terms that add up to a step, or where not every place is found, nothing is verified. Whether it is real or the simplest one; one that is real and wrong on some branches is neither verified nor refuted.",
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
