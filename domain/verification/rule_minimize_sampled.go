package verification

import (
	"slices"

	"reckon/domain/expression"
)

func optimumHeads() []string {
	return []string{
		"Minimize", "Maximize", "NMinimize", "NMaximize", "FindMinimum", "FindMaximum", "MinValue", "MaxValue", "NMinValue", "NMaxValue",
		"ArgMin", "ArgMax", "NArgMin", "NArgMax", "FindMinValue", "FindMaxValue", "FindArgMin", "FindArgMax",
	}
}

// minimizeSampled: an optimum against points that may be better.
func minimizeSampled() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "minimize_sampled",
			Heads: optimumHeads(),
			Shows: "The point is not feasible; the objective has another value there; another point is feasible and better; the value is better than all values of the " +
				"objective; or near a local optimum a derivative has the wrong sign.",
			Silent: "Whether a better point exists.",
			Examples: []Example{
				{"MaxValue[BesselJ[0, x], x]", "1"},
				{"Maximize[{x + y, x^2 + y^2 <= 1}, {x, y}]", "{2, {x -> 1, y -> 1}}"},
			},
		},
		plan:  planMinimizeSampled,
		proof: minimizeCertificate(),
	}
}

// minimizeCertificate: the optimum, of one unknown by exact cells or by enclosures on the whole line, of several by open cells.
func minimizeCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "minimize_certificate",
		Heads: optimumHeads(),
		Shows: "Of one unknown: the point meets the constraints and the objective has the value there, by a normal form, and no value is better in any cell of the real " +
			"line between the zeros of the objective less the value and those of the constraints' differences; of waves of one angle, and of exponentials, of the line of Tan[v/2] or E^v. Or the objective goes to the infinity that the answer " +
			"gives. Of decimals, without constraints: the infimum over the whole line, or for FindMinimum and the like the one minimum within 10^-6 of the point, " +
			"and the objective at the point, are the value to the digits that the answer shows. " +
			"Two or three unknowns, polynomials with rational coefficients: no value is better at a point of each open cell in which the constraints hold. The zeros of the objective less " +
			"the value and of the constraints divide the cells (leading coefficients, discriminants and resultants). The feasible set is convex, or has one closed constraint without a " +
			"singular point, so that every part of it has an inside. Unknowns that an equation of first degree gives are put in; other equations are weakened to an inequality.",
		Silent: "More unknowns; several unknowns whose optimum is an inexact decimal; infima that no point has; whether another point is as good; the digits of a decimal point beyond those that make the value right.",
		Examples: []Example{
			{"Minimize[x^2 + 2 x + 3, x]", "{2, {x -> -1}}"},
			{"FindMinimum[x^4 - 3 x^2 + x, {x, 1}]", "{-1.0702301817761541, {x -> 1.1309011226299859}}"},
			{"Maximize[{x y, x^2 + y^2 == 1}, {x, y}]", "{1/2, {x -> 1/Sqrt[2], y -> 1/Sqrt[2]}}"},
		},
	}}
}

func planMinimizeSampled(c Call) (Task, error) {
	objective, constraints := c.Args[0], []*expression.Expr{}
	if parts, ok := list(objective); ok {
		if len(parts) == 0 {
			return Task{}, noShape("there is no objective")
		}
		objective, constraints = parts[0], parts[1:]
	}
	domain := "Reals"
	if len(c.Args) > 2 {
		if c.Args[2].Kind != expression.Symbol || !isDomain(c.Args[2].Text) {
			return Task{}, noShape("this domain is not checked")
		}
		domain = c.Args[2].Text
	}
	local := slices.Contains([]string{"FindMinimum", "FindMaximum", "FindMinValue", "FindMaxValue", "FindArgMin", "FindArgMax"}, c.Head)
	unknowns, err := optimised(c.Args[1], local)
	if err != nil {
		return Task{}, err
	}
	fields := map[string]any{
		"objective": objective, "constraints": constraints, "names": unknowns, "domain": domain, "local": local,
		"maximise":    slices.Contains([]string{"Maximize", "NMaximize", "FindMaximum", "MaxValue", "NMaxValue", "ArgMax", "NArgMax", "FindMaxValue", "FindArgMax"}, c.Head),
		"approximate": c.Approximate || c.Head[0] == 'N' || local,
	}
	if err := optimum(c, unknowns, fields); err != nil {
		return Task{}, err
	}
	check := objective
	if point, ok := fields["point"].(map[string]any); ok {
		var rules []*expression.Expr
		for _, name := range unknowns {
			if value, ok := point[name].(*expression.Expr); ok {
				rules = append(rules, call("Rule", expression.Sym(name), value))
			}
		}
		check = call("ReplaceAll", objective, call("List", rules...))
	}
	return Task{Kind: "optimum", Check: check, Fields: fields}, nil
}

// optimised reads x, {x, y}, {x, x0} and {{x, x0}, {y, y0}}.
func optimised(e *expression.Expr, local bool) ([]string, error) {
	parts := elementsOf(e)
	if local && e.IsCall("List") && len(parts) > 1 && parts[1].Kind != expression.Symbol && !parts[0].IsCall("List") {
		parts = parts[:1]
	}
	var symbols []*expression.Expr
	for _, part := range parts {
		if inner, ok := list(part); ok && len(inner) > 0 {
			part = inner[0]
		}
		if part.IsCall("Element") {
			return nil, noShape("a domain given with a variable is not checked; give it as third argument")
		}
		symbols = append(symbols, part)
	}
	found, ok := symbolNames(symbols)
	if !ok || len(found) == 0 {
		return nil, noShape("a variable is not a symbol")
	}
	return found, nil
}

// optimum reads {value, {x -> …}}, a value alone, or a point alone, after the head.
func optimum(c Call, unknowns []string, fields map[string]any) error {
	switch {
	case slices.Contains([]string{"MinValue", "MaxValue", "NMinValue", "NMaxValue", "FindMinValue", "FindMaxValue"}, c.Head):
		fields["value"] = c.Answer
		return nil
	case slices.Contains([]string{"ArgMin", "ArgMax", "NArgMin", "NArgMax", "FindArgMin", "FindArgMax"}, c.Head):
		values := []*expression.Expr{c.Answer}
		if len(unknowns) > 1 || c.Answer.IsCall("List") {
			values = elementsOf(c.Answer)
		}
		if len(values) != len(unknowns) {
			return noAnswer("the answer is not a point")
		}
		point := map[string]any{}
		for i, name := range unknowns {
			point[name] = values[i]
		}
		fields["point"] = point
		return nil
	}
	parts, ok := list(c.Answer)
	if !ok || len(parts) != 2 || !parts[1].IsCall("List") {
		return noAnswer("the answer is not {value, {rules}}")
	}
	point := map[string]any{}
	for _, rule := range parts[1].Args {
		if !rule.IsCall("Rule") || len(rule.Args) != 2 || rule.Args[0].Kind != expression.Symbol || !slices.Contains(unknowns, rule.Args[0].Text) {
			return noAnswer("the point is not a list of rules for the variables")
		}
		point[rule.Args[0].Text] = rule.Args[1]
	}
	fields["value"], fields["point"] = parts[0], point
	return nil
}
