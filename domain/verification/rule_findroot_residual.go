package verification

import (
	"slices"

	"reckon/domain/expression"
)

// findrootResidual: a decimal root against the Newton step that would correct it.
func findrootResidual() Rule {
	return SampledRule{
		Declaration: Declaration{
			Slug:   "findroot_residual",
			Heads:  []string{"FindRoot"},
			Shows:  "The box around the answer, of six digits or half of those that are shown, is proved to hold no root.",
			Silent: "That an exact root is near, and which of several roots was wanted.",
			Examples: []Example{
				{"FindRoot[Cos[x] == x, {x, 1}]", "{x -> 0.739085}"},
				{"FindRoot[Cos[x] == x, {x, 1}]", "{x -> 0.8390851332151607}"},
			},
		},
		plan:  planFindRootResidual,
		proof: findrootEnclosure(),
	}
}

func planFindRootResidual(c Call) (Task, error) {
	specs := c.Args[1:]
	if inner, ok := list(c.Args[1]); ok && len(inner) > 0 && inner[0].IsCall("List") {
		specs = inner
	}
	var unknowns []*expression.Expr
	var regions []any // {symbol, start, low, high}: the root is to lie between the last two
	for _, spec := range specs {
		if parts, ok := list(spec); ok {
			if len(parts) == 0 {
				return Task{}, noShape("a starting point is {symbol, number}")
			}
			if len(parts) == 4 {
				regions = append(regions, []any{parts[0].Text, wireForm(parts[2]), wireForm(parts[3])})
			}
			spec = parts[0]
		}
		unknowns = append(unknowns, spec)
	}
	if _, ok := symbolNames(unknowns); !ok {
		return Task{}, noShape("an unknown is not a symbol")
	}
	// An expression without == is to vanish.
	equations := slices.Clone(elementsOf(c.Args[0]))
	for i, e := range equations {
		if !e.IsCall("Equal") {
			equations[i] = equation(e, expression.Int(0))
		}
	}
	c.Args = []*expression.Expr{call("List", equations...), call("List", unknowns...)}
	task, err := solutionsTask(c, false, true)
	if err == nil && regions != nil {
		task.Fields["regions"] = regions
	}
	return task, err
}

// findrootEnclosure: a decimal root with an exact one within its digits.
func findrootEnclosure() ProofRule {
	return ProofRule{Declaration{
		Slug:   "findroot_enclosure",
		Heads:  []string{"FindRoot"},
		Shows:  "A box of the width that the digits leave open is proved to hold a root (Krawczyk), or all roots are isolated and one of them lies there, or the decimals are exactly a root; it lies in the region that the question gives.",
		Silent: "Which of several roots was wanted.",
		Examples: []Example{
			{"FindRoot[Cos[x] == x, {x, 1}]", "{x -> 0.7390851332151607}"},
			{"FindRoot[{x^2 + y^2 == 4, x y == 1}, {{x, 2}, {y, 0.5}}]", "{x -> 1.9318516525781366, y -> 0.5176380902050415}"},
		},
	}}
}
