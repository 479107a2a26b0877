package verification

import (
	"strings"

	"reckon/domain/expression"
)

const distributionSlug = "distribution_identity"

// distributionHeads are the functions of a probability distribution; some of them are functions of data too.
var distributionHeads = strings.Fields("PDF CDF SurvivalFunction HazardFunction InverseCDF Quantile Median Mean Variance StandardDeviation Skewness Kurtosis Moment CentralMoment Probability Expectation")

// isOfDistribution recognises a function of a distribution, and Probability and Expectation of one variable.
func isOfDistribution(c Call) bool {
	switch {
	case c.Approximate || len(c.Args) == 0:
		return false
	case c.Head == "Probability" || c.Head == "Expectation":
		return len(c.Args) == 2 && c.Args[1].IsCall("Distributed")
	}
	return c.Args[0].Kind == expression.Call && strings.HasSuffix(c.Args[0].HeadName(), "Distribution")
}

// distributionIdentity: what a distribution's own formulas give.
func distributionIdentity() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  distributionSlug,
			Heads: distributionHeads,
			Shows: "The answer equals what the definition of the distribution gives, for all real values of its parameters and places: its density or probability at a place, its distribution function, the moments and what is made of them, " +
				"the probability of a comparison with numbers, the expectation of a polynomial; a quantile put into the distribution function gives its order. Known are the normal, uniform, exponential, gamma, chi-square, beta, Cauchy, Student's t, " +
				"Weibull, log-normal, Bernoulli, binomial, Poisson, geometric, negative binomial, discrete uniform and hypergeometric distribution, by the NIST/SEMATECH Handbook of Statistical Methods.",
			Silent: "Decimals, parameters that are no numbers of the kind that the distribution has, densities at the ends of a distribution, places given by a symbol but where the density has one formula everywhere, and quantiles of discrete distributions.",
			Examples: []Example{
				{"PDF[NormalDistribution[m, s], x]", "Exp[-(x - m)^2/(2 s^2)]/(s Sqrt[2 Pi])"},
				{"Variance[BinomialDistribution[n, p]]", "n p (1 - p)"},
				{"Probability[x >= 8, Distributed[x, BinomialDistribution[10, 1/2]]]", "7/128"},
				{"Mean[GammaDistribution[a, b]]", "a/b"},
			},
		},
		form: isOfDistribution,
		plan: func(c Call) (Task, error) {
			if len(c.Options) > 0 {
				return Task{}, noShape("options are not checked")
			}
			whole := call(c.Head, c.Args...)
			return Task{Kind: "distribution", Check: difference(whole, c.Answer), Fields: map[string]any{
				"what": c.Head, "args": c.Args, "answer": c.Answer, "assumptions": c.Assumptions,
			}}, nil
		},
	}
}
