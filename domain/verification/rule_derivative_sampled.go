package verification

import (
	"slices"
	"strconv"
	"strings"

	"reckon/domain/expression"
)

// derivativeSampled: a derivative against differences at high precision.
func derivativeSampled() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "derivative_sampled",
			Heads: []string{"D", "Dt", "Derivative", "Grad", "Div", "Curl", "Laplacian"},
			Shows: "The derivative by the rules of calculus has another value at a point, by disjoint enclosures. Fixed smooth functions, which the residual names, replace " +
				"undefined ones; 1, 2, 3 and 5 replace a symbolic order.",
			Silent: "Whether the formula holds everywhere.",
			Examples: []Example{
				{"D[x^k, {x, n}]", "x^(k - n) FactorialPower[k, n]"},
				{"D[f[x] g[x], x]", "f'[x] g[x] - f[x] g'[x]"},
			},
		},
		plan:  planDerivativeSampled,
		proof: derivativeIdentity(),
	}
}

// derivativeIdentity: a derivative against that of the checker's own rules of calculus.
func derivativeIdentity() ProofRule {
	return ProofRule{Declaration{
		Slug:  "derivative_identity",
		Heads: []string{"D", "Dt", "Derivative", "Grad", "Div", "Curl", "Laplacian"},
		Shows: "The answer equals the derivative by the rules of calculus, applied anew, wherever both are defined: exactly, by a normal form, or by enclosures that " +
			"agree to 60 digits in every region. Undefined functions: by the normal form alone, so for every one of them. A symbolic order n: by induction; the answer is right for n = 1, and its derivative is the formula for n + 1.",
		Silent: "Functions that have no complex derivative, such as Abs, or jump; whether the form is the simplest one.",
		Examples: []Example{
			{"D[Sin[x^2], x]", "2 x Cos[x^2]"},
			{"D[f[x] g[x], x]", "f'[x] g[x] + f[x] g'[x]"},
			{"D[Exp[a x], {x, n}]", "a^n Exp[a x]"},
		},
	}}
}

func planDerivativeSampled(c Call) (Task, error) {
	if c.Head == "Dt" {
		c = partialDerivative(c)
	}
	left, err := derivativeOf(c)
	if err != nil {
		return Task{}, err
	}
	claims, each := derivativeClaims(c, left)
	task := identities(difference(left, c.Answer), claims, c.Assumptions, map[string]any{"each": each})
	switch {
	case mentionsAny(c.Args[0], withoutDerivative...): // there is none off the reals, or at the jumps
		task.Kind = "identities_sampled"
	case each != nil: // some orders are not all
		task.Kind = "orders"
		spec := c.Args[1].Args
		task.Fields["function"], task.Fields["answer"] = c.Args[0], c.Answer
		task.Fields["variable"], task.Fields["order"] = spec[0], spec[1]
		if len(c.Args) > 2 || spec[0].Kind != expression.Symbol {
			task.Kind = "identities_sampled"
		}
	}
	return task, nil
}

// withoutDerivative are functions that have no complex derivative, or none at some places.
var withoutDerivative = strings.Fields(`Abs RealAbs Sign RealSign UnitStep HeavisideTheta HeavisidePi HeavisideLambda DiracDelta Ramp Max Min Floor Ceiling
	Round IntegerPart FractionalPart Mod Quotient Clip UnitBox UnitTriangle Piecewise If Which Switch Boole ConditionalExpression KroneckerDelta
	DiscreteDelta Re Im ReIm Arg AbsArg Conjugate CubeRoot Surd SquareWave TriangleWave SawtoothWave`)

// partialDerivative turns a total derivative into a partial one: every other symbol becomes a function of the variable.
func partialDerivative(c Call) Call {
	if c.Args[1].Kind != expression.Symbol {
		return c
	}
	variable := c.Args[1]
	var constants []*expression.Expr
	if given := c.Options["Constants"]; given != nil {
		constants = elementsOf(given)
	}
	free := freeSymbols(call("List", c.Args[0], c.Answer))
	dependent := func(n *expression.Expr) (*expression.Expr, bool) {
		if n.Kind != expression.Symbol || !slices.Contains(free, n.Text) || n.Equal(variable) || slices.ContainsFunc(constants, n.Equal) {
			return nil, false
		}
		return call(n.Text, variable), true
	}
	answer := c.Answer.Map(func(n *expression.Expr) (*expression.Expr, bool) {
		if n.IsCall("Dt") && len(n.Args) == 2 && n.Args[1].Equal(variable) {
			return call("D", n.Args[0].Map(dependent), variable), true
		}
		return dependent(n)
	})
	c.Args, c.Answer = []*expression.Expr{c.Args[0].Map(dependent), variable}, answer
	return c
}

// derivativeClaims are the claims to look at: one, or for D[f, {x, n}] those of several orders n.
func derivativeClaims(c Call, left *expression.Expr) (claims [][2]*expression.Expr, each []string) {
	for _, spec := range c.Args[1:] {
		parts, ok := list(spec)
		if !ok || c.Head != "D" || len(parts) != 2 || parts[1].Kind != expression.Symbol {
			continue
		}
		for _, n := range []int64{1, 2, 3, 5} {
			claims = append(claims, [2]*expression.Expr{left.Replace(parts[1], expression.Int(n)), c.Answer.Replace(parts[1], expression.Int(n))})
			each = append(each, parts[1].Text+" = "+strconv.FormatInt(n, 10))
		}
		return claims, each
	}
	return [][2]*expression.Expr{{left, c.Answer}}, nil
}

func derivativeOf(c Call) (*expression.Expr, error) {
	if c.Head == "Derivative" {
		return c.Whole, nil
	}
	switch c.Head {
	case "D":
		return call("D", c.Args...), nil
	case "Dt":
		if c.Args[1].Kind != expression.Symbol {
			return nil, noShape("only total derivatives by one variable are checked")
		}
		return call("D", c.Args...), nil
	}
	variables, ok := list(c.Args[1])
	if !ok {
		return nil, noShape("only Cartesian coordinates are checked")
	}
	return vectorCalculus(c.Head, c.Args[0], variables)
}

func vectorCalculus(head string, f *expression.Expr, variables []*expression.Expr) (*expression.Expr, error) {
	fields, isVector := list(f)
	if slices.ContainsFunc(fields, func(field *expression.Expr) bool { return field.IsCall("List") }) {
		return nil, noShape("fields of matrices are not checked")
	}
	by := func(i, j int) *expression.Expr { return call("D", fields[i], variables[j]) }
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
			parts = append(parts, by(i, i))
		}
		return call("Plus", parts...), nil
	case head == "Curl" && isVector && len(fields) == 3 && len(variables) == 3:
		return call("List", difference(by(2, 1), by(1, 2)), difference(by(0, 2), by(2, 0)), difference(by(1, 0), by(0, 1))), nil
	}
	return nil, noShape("this shape of " + head + " is not checked")
}
