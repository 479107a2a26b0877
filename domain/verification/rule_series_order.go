package verification

import (
	"slices"
	"strconv"

	"reckon/domain/expression"
)

// seriesOrder: the order of what an expansion leaves out.
func seriesOrder() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "series_order",
			Heads: []string{"Series"},
			Shows: "The function less the answer has a term of a requested order, or of a power below the one in the answer's own O term: an enclosure of its coefficient " +
				"excludes zero.",
			Silent: "Whether every coefficient is right for all values of the parameters.",
			Examples: []Example{
				{"Series[Sin[a x], {x, 0, 3}]", "a x - a^3 x^3/6 + O[x]^4"},
				{"Series[Sin[x], {x, 0, 5}]", "x + x^3/6 + x^5/120 + O[x]^6"},
			},
		},
		form:  func(c Call) bool { return !c.Normal },
		plan:  planSeries,
		proof: seriesCertificate(),
	}
}

// seriesCertificate: an expansion by one with a bounded remainder.
func seriesCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "series_certificate",
		Heads: []string{"Series"},
		Shows: "The answer has no term beyond the requested order, its O term lies beyond that order, and on either side of the point the function less the answer is " +
			"of the order of the O term: by an expansion in powers with exact coefficients and a bounded remainder. Every part of the function has such an " +
			"expansion, so that nothing is hidden in logarithms or essential singularities.",
		Silent: "Expansions with parameters or in several variables, and those with logarithms.",
		Examples: []Example{
			{"Series[Sin[x], {x, 0, 5}]", "x - x^3/6 + x^5/120 + O[x]^6"},
			{"Series[Sqrt[1 + x^2], {x, Infinity, 2}]", "x + 1/(2 x) + O[1/x]^3"},
		},
	}}
}

// seriesTruncation: an expansion without its O term.
func seriesTruncation() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "series_truncation",
			Heads:  []string{"Series", "SeriesCoefficient", "Residue"},
			Shows:  "The function less the answer has a term of a requested order; or a single coefficient, or the residue of a meromorphic function, is another one.",
			Silent: "Terms beyond the requested order.",
			Examples: []Example{
				{"Normal[Series[Cos[a x], {x, 0, 2}]]", "1 - a^2 x^2/2"},
				{"SeriesCoefficient[Exp[x], {x, 0, 5}]", "1/24"},
			},
		},
		form:  func(c Call) bool { return c.Normal || c.Head != "Series" },
		plan:  planSeries,
		proof: coefficientCertificate(),
	}
}

// coefficientCertificate: coefficients of an expansion with a bounded remainder.
func coefficientCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "coefficient_certificate",
		Heads: []string{"Series", "SeriesCoefficient", "Residue"},
		Shows: "The answer has no term beyond the requested order, and on either side of the point the function less the answer is smaller than that order; or the " +
			"answer is exactly the single coefficient. Both by an expansion in powers with exact coefficients and a bounded remainder, which every part of the " +
			"function has. Or, for a symbol n as index, the coefficients c(n) x^n add up to the function, by the proof of sum_certificate for a power series.",
		Silent: "Coefficients with parameters or in several variables.",
		Examples: []Example{
			{"Normal[Series[Cos[x], {x, 0, 4}]]", "1 - x^2/2 + x^4/24"},
			{"SeriesCoefficient[Exp[x], {x, 0, 5}]", "1/120"},
		},
	}}
}

func planSeries(c Call) (Task, error) {
	if c.Head == "Residue" {
		return residueTask(c)
	}
	var variables []map[string]any
	index := "" // of the coefficient, where it is a symbol
	for _, spec := range c.Args[1:] {
		parts, ok := list(spec)
		if !ok || len(parts) != 3 || parts[0].Kind != expression.Symbol {
			return Task{}, noShape("an expansion is {symbol, point, order}")
		}
		if c.Head == "SeriesCoefficient" && len(c.Args) == 2 && parts[2].Kind == expression.Symbol {
			index, parts = parts[2].Text, []*expression.Expr{parts[0], parts[1], expression.Int(0)}
		}
		order, err := strconv.Atoi(integerText(parts[2]))
		if err != nil || order < -20 || order > 40 {
			return Task{}, noShape("the order is not a small integer")
		}
		variables = append(variables, map[string]any{"name": parts[0].Text, "point": parts[1], "order": order})
	}
	if mentionsAny(c.Args[0], "List") {
		return Task{}, noShape("expansions of lists are not checked")
	}
	fields := map[string]any{"function": c.Args[0], "answer": c.Answer, "assumptions": c.Assumptions}
	if c.Head == "SeriesCoefficient" {
		if len(variables) > 2 {
			return Task{}, noShape("coefficients in more than two variables are not checked")
		}
		fields["coefficient"], fields["index"] = variables, index
		return Task{Kind: "series", Check: difference(call("SeriesCoefficient", c.Args...), c.Answer), Fields: fields}, nil
	}
	if len(variables) > 2 {
		return Task{}, noShape("expansions in more than two variables are not checked")
	}
	fields["variables"], fields["normal"] = variables, c.Normal
	return Task{Kind: "series", Check: difference(c.Args[0], call("Normal", c.Answer)), Fields: fields}, nil
}

// residueTask is the coefficient of (z - z0)^-1 of a function that is certainly meromorphic.
func residueTask(c Call) (Task, error) {
	spec, ok := list(c.Args[1])
	if !ok || len(spec) != 2 || spec[0].Kind != expression.Symbol || mentionsAny(spec[1], "Infinity", "ComplexInfinity", "DirectedInfinity") {
		return Task{}, noShape("a residue is at {symbol, point}")
	}
	if !isMeromorphic(c.Args[0], spec[0]) {
		return Task{}, noShape("only residues of meromorphic functions are checked")
	}
	return Task{Kind: "series", Check: difference(call("SeriesCoefficient", c.Args[0], call("List", spec[0], spec[1], expression.Int(-1))), c.Answer), Fields: map[string]any{
		"function": c.Args[0], "answer": c.Answer, "assumptions": c.Assumptions,
		"coefficient": []map[string]any{{"name": spec[0].Text, "point": spec[1], "order": -1}}, "index": "",
	}}, nil
}

// meromorphicHeads are functions that are meromorphic in the whole plane.
var meromorphicHeads = []string{"Exp", "Sin", "Cos", "Tan", "Cot", "Sec", "Csc", "Sinh", "Cosh", "Tanh", "Coth", "Sech", "Csch"}

// isMeromorphic reports whether an expression is certainly a meromorphic function of z, by its form: a rational one of z and of functions
// of polynomials in z. E^(1/z) has an essential singularity.
func isMeromorphic(e, z *expression.Expr) bool {
	all := func(is func(part, z *expression.Expr) bool) bool {
		return !slices.ContainsFunc(e.Args, func(part *expression.Expr) bool { return !is(part, z) })
	}
	switch {
	case e.Kind != expression.Call || e.FreeOf(z):
		return true
	case e.IsCall("Power") && len(e.Args) == 2 && e.Args[0].IsSymbol("E"):
		return isPolynomial(e.Args[1], z)
	case e.IsCall("Power") && len(e.Args) == 2:
		return isMeromorphic(e.Args[0], z) && integerText(e.Args[1]) != ""
	case e.IsCall("Plus") || e.IsCall("Times"):
		return all(isMeromorphic)
	}
	return slices.Contains(meromorphicHeads, e.HeadName()) && all(isPolynomial)
}

// isPolynomial tells whether an expression is written as a polynomial of a variable: sums, products and whole powers that are not
// negative, of it and of what does not hold it.
func isPolynomial(e, x *expression.Expr) bool {
	switch {
	case e.Equal(x) || e.FreeOf(x):
		return true
	case e.IsCall("Power"):
		return len(e.Args) == 2 && e.Args[1].Kind == expression.Integer && e.Args[1].Text[0] != '-' && isPolynomial(e.Args[0], x)
	case e.IsCall("Divide"):
		return len(e.Args) == 2 && e.Args[1].FreeOf(x) && isPolynomial(e.Args[0], x)
	case e.IsCall("Plus") || e.IsCall("Times") || e.IsCall("Subtract") || e.IsCall("Minus"):
		return !slices.ContainsFunc(e.Args, func(part *expression.Expr) bool { return !isPolynomial(part, x) })
	}
	return false
}

// integerText reads an integer, a minus sign before it included.
func integerText(e *expression.Expr) string {
	if e.IsCall("Times") && len(e.Args) == 2 && e.Args[0].IsInt(-1) && e.Args[1].Kind == expression.Integer {
		return "-" + e.Args[1].Text
	}
	if e.Kind == expression.Integer {
		return e.Text
	}
	return ""
}
