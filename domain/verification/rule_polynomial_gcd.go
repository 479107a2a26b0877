package verification

import "reckon/domain/expression"

// polynomialGCD: divisors, multiples and remainders of polynomials, computed again.
func polynomialGCD() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug: "polynomial_gcd",
			Heads: []string{
				"PolynomialGCD", "PolynomialLCM", "PolynomialQuotient", "PolynomialRemainder", "PolynomialQuotientRemainder", "PolynomialExtendedGCD",
				"Resultant", "Discriminant", "PolynomialMod", "CoefficientList",
			},
			Shows: "Exact polynomial arithmetic over the rationals, or modulo a prime, gives the same, or another, polynomial. The sign of a divisor is a " +
				"convention and refutes nothing. Another kind of answer is held against the polynomial by its values.",
			Silent: "Polynomials with decimal or algebraic coefficients.",
			Examples: []Example{
				{"PolynomialGCD[x^2 - 1, x^3 - 1]", "-1 + x"},
				{"PolynomialRemainder[x^3 + 2 x + 1, x^2 + 1, x]", "1 - x"},
			},
		},
		plan: planPolynomialGCD,
	}
}

func planPolynomialGCD(c Call) (Task, error) {
	modulus := c.Options["Modulus"]
	if len(c.Options) > 1 || len(c.Options) == 1 && modulus == nil {
		return Task{}, noShape("extensions are not checked")
	}
	args := c.Args
	fields := map[string]any{"what": c.Head, "answer": c.Answer}
	if modulus != nil {
		fields["modulus"] = modulus
	}
	if c.Head != "PolynomialGCD" && c.Head != "PolynomialLCM" && c.Head != "PolynomialMod" {
		last := args[len(args)-1]
		if last.Kind != expression.Symbol {
			return Task{}, noShape("the variable is not a symbol")
		}
		fields["variable"], args = last, args[:len(args)-1]
	}
	if len(args) > 10 {
		return Task{}, noShape("more than ten polynomials are not checked")
	}
	fields["args"] = args
	return Task{Kind: "polynomial", Check: difference(call(c.Head, c.Args...), c.Answer), Fields: fields}, nil
}
