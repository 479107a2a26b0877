package verification

import "reckon/domain/expression"

// polynomialGCD: divisors, multiples and remainders of polynomials, computed again.
func polynomialGCD() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug: "polynomial_gcd",
			Heads: []string{
				"PolynomialGCD", "PolynomialLCM", "PolynomialQuotient", "PolynomialRemainder", "PolynomialQuotientRemainder", "PolynomialExtendedGCD",
				"Resultant", "Discriminant", "PolynomialMod", "CoefficientList", "Coefficient", "Exponent", "MinimalPolynomial", "GroebnerBasis",
			},
			Shows: "Exact polynomial arithmetic over the rationals, or modulo a prime, gives the same, or another, polynomial. The sign of a divisor is a convention and " +
				"refutes nothing. An answer of another kind is compared with the polynomial by its values. MinimalPolynomial: irreducible, without a common divisor, and " +
				"zero at the number. GroebnerBasis: the reduced lexicographic basis in the order of the variables.",
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
	switch c.Head {
	case "Coefficient":
		return coefficientTask(c)
	case "GroebnerBasis":
		return groebnerTask(c)
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

// coefficientTask reads Coefficient[p, x], Coefficient[p, x^k] and Coefficient[p, x, n].
func coefficientTask(c Call) (Task, error) {
	variable, power := c.Args[1], expression.Int(1)
	if variable.IsCall("Power") && len(variable.Args) == 2 && variable.Args[1].Kind == expression.Integer && len(c.Args) == 2 {
		variable, power = variable.Args[0], variable.Args[1]
	}
	if len(c.Args) == 3 {
		power = c.Args[2]
	}
	if variable.Kind != expression.Symbol || integerText(power) == "" || len(c.Options) > 0 {
		return Task{}, noShape("only coefficients of powers of one symbol are checked")
	}
	return Task{Kind: "polynomial", Check: difference(call(c.Head, c.Args...), c.Answer), Fields: map[string]any{
		"what": c.Head, "args": c.Args[:1], "variable": variable, "power": power, "answer": c.Answer,
	}}, nil
}

// groebnerTask reads GroebnerBasis[{p, q == 0, ...}, {x, y, ...}].
func groebnerTask(c Call) (Task, error) {
	variables := elementsOf(c.Args[1])
	if _, ok := symbolNames(variables); !ok || len(c.Options) > 0 {
		return Task{}, noShape("the variables are no symbols")
	}
	return Task{Kind: "polynomial", Check: call("SameQ", call(c.Head, c.Args...), c.Answer), Fields: map[string]any{
		"what": c.Head, "args": elementsOf(c.Args[0]), "variables": variables, "answer": c.Answer,
	}}, nil
}
