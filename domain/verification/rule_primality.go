package verification

import (
	"slices"

	"reckon/domain/expression"
)

// primality: statements about primes, counted again.
func primality() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug: "primality",
			Heads: []string{
				"PrimeQ", "CompositeQ", "PrimePowerQ", "CoprimeQ", "SquareFreeQ", "Prime", "NextPrime", "PrimePi", "EulerPhi", "MoebiusMu", "PrimeNu",
				"PrimeOmega", "LiouvilleLambda", "Divisors", "DivisorSigma", "RandomPrime", "GCD", "LCM", "ExtendedGCD", "PowerMod", "PrimitiveRoot", "ModularInverse", "Mod", "Quotient",
			},
			Shows: "An independent computation gives the same, or another, answer: by proof below 2^320, above by a strong pseudoprime test (basis numeric). ExtendedGCD: " +
				"the greatest common divisor, and factors that give it as their sum; PrimitiveRoot: a residue that generates; PowerMod with a root: the root where there " +
				"is only one.",
			Silent: "Functions of symbols; of fractions, except GCD, LCM and Mod; of decimals, except Mod; Prime and PrimePi beyond twenty million; which of the small " +
				"remainders of a Gaussian integer the answer takes.",
			Examples: []Example{
				{"PrimeQ[2^61 - 1]", "True"},
				{"Prime[1000]", "7907"},
			},
		},
		plan: func(c Call) (Task, error) {
			if len(c.Args) > 50 || !onlyGaussian(c) {
				return Task{}, noShape("only whole numbers are checked")
			}
			if len(c.Args) > 1 && slices.ContainsFunc(c.Args, func(arg *expression.Expr) bool { return arg.IsCall("List") }) {
				return Task{}, noShape("lists beside other arguments are not checked")
			}
			return Task{Kind: "primes", Check: call("SameQ", call(c.Head, c.Args...), c.Answer), Fields: map[string]any{
				"what": c.Head, "args": append([]*expression.Expr{}, c.Args...), "answer": c.Answer, "gaussian": isGaussian(c),
			}}, nil
		},
	}
}
