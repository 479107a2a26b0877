package verification

import (
	"strconv"

	"reckon/domain/expression"
)

// sumPartial: a closed form against the terms.
func sumPartial() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "sum_partial",
			Heads: []string{"Sum"},
			Shows: "The closed form of a sum of powers, or the terms added up one by one (symbolic ends get small integers), with a tail that is enclosed by zeta " +
				"functions, incomplete Gamma functions and a bounded remainder, come to another value. Or the series diverges while the answer is finite or the other " +
				"infinity, or the other way round.",
			Silent: "Whether the closed form holds for all ends.",
			Examples: []Example{
				{"Sum[1/k!, {k, 0, n}]", "E Gamma[n + 1, 1]/n!"},
				{"Sum[1/k^2, {k, 1, Infinity}]", "Pi^2/8"},
			},
		},
		form:  func(c Call) bool { return !c.Approximate },
		plan:  func(c Call) (Task, error) { return sumTask(c, false, false) },
		proof: sumCertificate(),
	}
}

// nsumTruncation: a decimal sum against the terms.
func nsumTruncation() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "nsum_truncation",
			Heads:  []string{"NSum", "Sum"},
			Shows:  "The terms added up and an enclosed tail come to a value that is off by more than 10^-8 of its size, or the series diverges.",
			Silent: "The last digits of the answer.",
			Examples: []Example{
				{"NSum[1/k^2, {k, 1, Infinity}]", "1.64493"},
				{"NSum[1/k, {k, 1, Infinity}]", "23953.66"},
			},
		},
		form:  func(c Call) bool { return c.Approximate || c.Head == "NSum" },
		plan:  func(c Call) (Task, error) { return sumTask(c, false, true) },
		proof: nsumEnclosure(),
	}
}

// productPartial: a closed form of a product against its factors.
func productPartial() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "product_partial",
			Heads: []string{"Product", "NProduct"},
			Shows: "The factors multiplied one by one, and the enclosed tail of their logarithms, come to another value; to 0 or an infinity where the sum of the " +
				"logarithms diverges.",
			Silent: "Whether the closed form holds for all ends.",
			Examples: []Example{
				{"Product[Exp[1/k^2], {k, 1, Infinity}]", "Exp[Pi^2/6]"},
				{"Product[1 - 1/k^2, {k, 2, Infinity}]", "1"},
			},
		},
		plan:  func(c Call) (Task, error) { return sumTask(c, true, c.Head == "NProduct" || c.Approximate) },
		proof: productCertificate(),
	}
}

func sumTask(c Call, product, approximate bool) (Task, error) {
	var ranges []any
	for _, iterator := range c.Args[1:] {
		if iterator.Kind == expression.Symbol {
			ranges = append(ranges, []any{iterator.Text})
			continue
		}
		if iterator.IsCall("List") && len(iterator.Args) == 2 && !iterator.Args[1].IsCall("List") { // {k, n} counts from 1
			iterator = call("List", iterator.Args[0], expression.Int(1), iterator.Args[1])
		}
		parsed, err := rangesOf([]*expression.Expr{iterator}, 2)
		if err != nil {
			return Task{}, err
		}
		ranges = append(ranges, parsed...)
	}
	if mentionsAny(c.Args[0], "List") {
		return Task{}, noShape("sums of lists are not checked")
	}
	if c.Args[0].IsCall("ReplaceAll") && len(c.Args[0].Args) != 2 {
		return Task{}, noShape("the term is not an expression")
	}
	name := "Sum"
	if product {
		name = "Product"
	}
	return Task{Kind: "sum", Check: difference(call(name, c.Args...), c.Answer), Fields: map[string]any{
		"term": c.Args[0], "ranges": ranges, "answer": c.Answer, "product": product, "approximate": approximate, "assumptions": c.Assumptions,
		"digits": digitsOf(c.Precision),
	}}, nil
}

// digitsOf reads the precision given to N: 0 where it is none or no plain number.
func digitsOf(precision *expression.Expr) int {
	if precision == nil {
		return 0
	}
	digits, err := strconv.Atoi(integerText(precision))
	if err != nil || digits < 1 || digits > 1000 {
		return 0
	}
	return digits
}

// sumCertificate: a closed form of a sum by induction, or by an antidifference.
func sumCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "sum_certificate",
		Heads: []string{"Sum"},
		Shows: "Up to a symbolic end: the closed form grows by the term at every index, as an identity by a normal form wherever both are defined, and is the first " +
			"term at the first index; terms that depend on the end n, from 0 on: by the binomial theorem or the sum of Chu and Vandermonde. To Infinity: the sum converges, and its value equals the answer exactly or by enclosures that agree to 60 digits. The value " +
			"comes from a hypergeometric antidifference (Gosper) and its limit, from partial fractions through the digamma and Hurwitz zeta functions, or from the " +
			"definition of a hypergeometric function or, for waves and powers, of a polylogarithm. Or the sum grows to the infinity that the answer gives. A power series in one parameter, wherever it " +
			"converges: the closed form satisfies the differential equation of the series, as an identity by a normal form, agrees with its terms at 0 up to every " +
			"exponent of the equation there, and has one analytic branch in the disc. The checker adds up sums of numbers, writes sums of polynomials by Bernoulli's " +
			"formula, and takes the difference of indefinite ones.",
		Silent: "Infinite sums with several parameters, or that are no power series; other terms that depend on the end, and terms that are not hypergeometric.",
		Examples: []Example{
			{"Sum[k^2, {k, 1, n}]", "n (1 + n) (1 + 2 n)/6"},
			{"Sum[1/k^2, {k, 1, Infinity}]", "Pi^2/6"},
		},
	}}
}

// nsumEnclosure: the digits of a numerical sum, by an enclosure.
func nsumEnclosure() ProofRule {
	return ProofRule{Declaration{
		Slug:  "nsum_enclosure",
		Heads: []string{"NSum", "Sum"},
		Shows: "Every digit of a machine number is right, up to four units of the 53rd bit, or every requested digit, up to half a unit of the last: the terms added up " +
			"and a tail with a proved bound enclose the sum that closely.",
		Silent: "Sums with parameters.",
		Examples: []Example{
			{"NSum[1/k^2, {k, 1, Infinity}]", "1.6449340668482264"},
			{"NSum[1/k^3, {k, 1, Infinity}]", "1.2020569031595942"},
		},
	}}
}

// productCertificate: a closed form of a product by induction, and the digits of a numerical one.
func productCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "product_certificate",
		Heads: []string{"Product", "NProduct"},
		Shows: "The closed form grows by the factor at every index, as an identity by a normal form, and is the first factor at the first index. Or the product of the " +
			"factors and of a tail with a proved bound encloses the answer to every digit of a machine number, or to every requested digit. To Infinity: the factor " +
			"is a quotient of polynomials of the same degree, and as many values of the Gamma function give a value that equals the answer, exactly or by enclosures " +
			"that agree to 60 digits.",
		Silent: "Infinite products of other factors in closed form.",
		Examples: []Example{
			{"Product[k, {k, 1, n}]", "n!"},
			{"Product[1 - 1/k^2, {k, 2, n}]", "(1 + n)/(2 n)"},
			{"Product[1 + 1/k^2, {k, 1, Infinity}]", "Sinh[Pi]/Pi"},
		},
	}}
}
