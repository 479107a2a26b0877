package verification

import (
	"math/big"

	"reckon/domain/expression"
)

// maxPoints bounds the points of an interpolation.
const maxPoints = 40

// interpolationIdentity: the one polynomial of least degree through points.
func interpolationIdentity() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:   "interpolation_identity",
			Heads:  []string{"InterpolatingPolynomial"},
			Shows:  "The answer is a polynomial of a degree less than the number of points, and takes the given values at their different places: there is one such polynomial.",
			Silent: "Given derivatives, several variables, and places that are decimals or not numbers. Whether the polynomial is in Newton's form.",
			Examples: []Example{
				{"InterpolatingPolynomial[{1, 4, 9}, x]", "x^2"},
				{"InterpolatingPolynomial[{{0, 1}, {2, 5}}, x]", "2 x - 1"},
			},
		},
		plan: planInterpolation,
	}
}

func planInterpolation(c Call) (Task, error) {
	variable := c.Args[1]
	if !c.Args[0].IsCall("List") || variable.Kind != expression.Symbol || len(c.Args[0].Args) == 0 || len(c.Args[0].Args) > maxPoints {
		return Task{}, noShape("only lists of up to 40 points are checked, for a symbol")
	}
	if !isPolynomial(c.Answer, variable) {
		return Task{}, noShape("the answer is not written as a polynomial")
	}
	var claims [][2]*expression.Expr
	places := map[string]bool{}
	for i, value := range c.Args[0].Args {
		place := big.NewRat(int64(i+1), 1)
		if value.IsCall("List") {
			known, ok := rationalNumber(value.Args[0])
			if len(value.Args) != 2 || value.Args[1].IsCall("List") || !ok {
				return Task{}, noShape("only points {x, y} at rational places are checked")
			}
			place, value = known, value.Args[1]
		}
		if places[place.String()] || !value.FreeOf(variable) {
			return Task{}, noShape("two points at one place, and values that hold the variable, are not checked")
		}
		places[place.String()] = true
		claims = append(claims, [2]*expression.Expr{value, c.Answer.Replace(variable, expression.Fraction(place))})
	}
	bounded := call("D", c.Answer, call("List", variable, expression.Int(int64(len(claims)))))
	claims = append(claims, [2]*expression.Expr{expression.Int(0), bounded})
	return identities(difference(call(c.Head, c.Args...), c.Answer), claims, c.Assumptions, nil), nil
}

// rationalNumber reads an integer or a quotient of integers.
func rationalNumber(e *expression.Expr) (*big.Rat, bool) {
	e = expression.Canonical(e)
	if e.Kind == expression.Integer {
		return new(big.Rat).SetString(e.Text)
	}
	value := big.NewRat(1, 1)
	factors := []*expression.Expr{e}
	if e.IsCall("Times") {
		factors = e.Args
	}
	for _, factor := range factors {
		inverted := factor.IsCall("Power") && len(factor.Args) == 2 && factor.Args[1].IsInt(-1)
		if inverted {
			factor = factor.Args[0]
		}
		if factor.Kind != expression.Integer {
			return nil, false
		}
		known, ok := new(big.Rat).SetString(factor.Text)
		if !ok || known.Sign() == 0 {
			return nil, false
		}
		if inverted {
			known.Inv(known)
		}
		value.Mul(value, known)
	}
	return value, true
}
