package verification

import "reckon/domain/expression"

// limitApproach: the function close to the point.
func limitApproach() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:  "limit_approach",
			Heads: []string{"Limit", "DiscreteLimit"},
			Shows: "The limit, from an expansion in powers, logarithms and exponentials whose remainder is bounded on a whole neighbourhood of the point, is " +
				"another one on every side that counts, or there is none. Parameters get sample values, also at the ends of what is assumed of them.",
			Silent: "That the answer is right for all values of the parameters, and anything about functions without such an expansion.",
			Examples: []Example{
				{"Limit[(1 + 1/n)^n, n -> Infinity]", "1"},
				{"Limit[(1 + a/n)^n, n -> Infinity]", "E^a"},
			},
		},
		plan:  planLimitApproach,
		proof: limitCertificate(),
	}
}

// limitCertificate: a limit by an expansion with a bounded remainder.
func limitCertificate() ProofRule {
	return ProofRule{Declaration{
		Slug:  "limit_certificate",
		Heads: []string{"Limit", "DiscreteLimit"},
		Shows: "The function has the limit that the answer gives from every side that counts, by an expansion in powers, logarithms and exponentials whose remainder is bounded on a whole neighbourhood of the point; " +
			"or there is proved to be none, because the function turns for ever or has another one from each side, which the answer says. The limit is the answer exactly, or by enclosures that agree to 60 digits.",
		Silent: "Limits with parameters, which are looked at for some values only.",
		Examples: []Example{
			{"Limit[Sin[x]/x, x -> 0]", "1"},
			{"Limit[(1 + 1/n)^n, n -> Infinity]", "E"},
		},
	}}
}

func planLimitApproach(c Call) (Task, error) {
	if !c.Args[1].IsCall("Rule") || len(c.Args[1].Args) != 2 || c.Args[1].Args[0].Kind != expression.Symbol {
		return Task{}, noShape("only limits of one variable are checked")
	}
	variable, point := c.Args[1].Args[0], c.Args[1].Args[1]
	side := 0
	if direction := c.Options["Direction"]; direction != nil {
		switch {
		case direction.IsInt(1) || isText(direction, "FromBelow"):
			side = -1
		case isMinusOne(direction) || isText(direction, "FromAbove"):
			side = 1
		case direction.IsSymbol("Reals") || isText(direction, "TwoSided") || direction.IsSymbol("Automatic"):
		default:
			return Task{}, noShape("this direction is not checked")
		}
	}
	check := call("ReplaceAll", c.Args[0], call("Rule", variable, call("Plus", point, expression.Sym("h"))))
	return Task{Kind: "limit", Check: check, Fields: map[string]any{
		"function": c.Args[0], "name": variable.Text, "point": point, "answer": c.Answer, "direction": side, "assumptions": c.Assumptions,
		"discrete": c.Head == "DiscreteLimit",
	}}, nil
}

func isText(e *expression.Expr, text string) bool {
	return e.Kind == expression.String && e.Text == text
}

func isMinusOne(e *expression.Expr) bool {
	return e.IsInt(-1) || e.IsCall("Times") && len(e.Args) == 2 && e.Args[0].IsInt(-1) && e.Args[1].IsInt(1)
}
