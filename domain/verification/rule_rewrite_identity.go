package verification

import (
	"slices"

	"reckon/domain/expression"
)

// rewritingHeads rewrite an expression without changing its value.
var rewritingHeads = []string{
	"Simplify", "FullSimplify", "Expand", "ExpandAll", "ExpandNumerator", "ExpandDenominator", "Factor", "FactorTerms", "FactorSquareFree", "Together",
	"Apart", "ApartSquareFree", "Cancel", "Collect", "TrigExpand", "TrigReduce", "TrigFactor", "TrigToExp", "ExpToTrig", "PowerExpand", "ComplexExpand",
	"FunctionExpand", "LogicalExpand", "Refine", "RootReduce", "ToRadicals", "PiecewiseExpand", "HornerForm", "BooleanMinimize", "BooleanConvert",
}

var inverseFunctions = []string{
	"ArcSin", "ArcCos", "ArcTan", "ArcCot", "ArcSec", "ArcCsc", "ArcSinh", "ArcCosh", "ArcTanh", "ArcCoth", "ArcSech", "ArcCsch", "ProductLog",
}

// rewriteIdentity: a rewritten expression has the value of the original.
func rewriteIdentity() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug:  "rewrite_identity",
			Heads: rewritingHeads,
			Shows: "The answer equals the original expression wherever both are defined, for all complex values of the variables that the assumptions allow, for " +
				"PowerExpand all positive ones and for ComplexExpand all real ones, as the check says: exactly, by a normal form, or numerically, by enclosures that " +
				"agree to 60 digits in every region. Decimals count as the numbers they print, where that makes the identity exact. Refuted at one point where they " +
				"differ. Support only where the form is visibly another one: products of sums after Expand, factors that are not irreducible after Factor, sums of " +
				"fractions after Together, common divisors after Cancel, several factors in one denominator after Apart, sines of multiples and the like after the " +
				"functions of Trig.",
			Silent: "Whether the form is the shortest one or without radicals, and the form that further arguments choose. With options such as Extension and Modulus only " +
				"factors of first degree, or modulo a prime in one symbol, are known to be irreducible; others are support only.",
			Examples: []Example{
				{"Factor[x^4 + 4]", "(2 - 2 x + x^2) (2 + 2 x + x^2)"},
				{"TrigReduce[Sin[x]^2]", "(1 + Cos[2 x])/2"},
				{"Simplify[Sqrt[x^2]]", "x"},
			},
		},
		plan: planRewriteIdentity,
	}
}

func planRewriteIdentity(c Call) (Task, error) {
	original := c.Args[0]
	if modulus := c.Options["Modulus"]; modulus != nil {
		return Task{Kind: "polynomial", Check: difference(original, c.Answer), Fields: map[string]any{
			"what": "Congruent", "args": []*expression.Expr{original}, "answer": c.Answer, "modulus": modulus, "form": c.Head,
		}}, nil
	}
	assumptions := c.Assumptions
	more := map[string]any{}
	var only []*expression.Expr // for which values of the variables the answer is meant
	switch c.Head {
	case "Simplify", "FullSimplify", "Refine", "FunctionExpand", "PiecewiseExpand":
		if len(c.Args) > 1 {
			assumptions = append(assumptions, c.Args[1])
		}
	case "Collect":
		// The third argument is a function of each coefficient: a rewriting one leaves the value as it is.
		if len(c.Args) == 3 && !slices.Contains(rewritingHeads, c.Args[2].Text) {
			return Task{}, noShape("Collect with a function that changes values is not checked")
		}
	case "BooleanMinimize", "BooleanConvert":
		if len(c.Args) == 2 && c.Args[1].Kind != expression.String {
			return Task{}, noShape(c.Head + " under a condition is not checked")
		}
	case "PowerExpand":
		// It rewrites as if every variable were positive, and inverse functions as if they undid the functions; assumptions take the place of both.
		if len(c.Args) > 1 {
			return Task{}, noShape("PowerExpand of some variables only is not checked")
		}
		if len(assumptions) == 0 {
			if mentionsAny(original, inverseFunctions...) {
				return Task{}, noShape("PowerExpand of inverse functions, without Assumptions, is not checked")
			}
			more["positive"] = true
			for _, name := range freeSymbols(call("List", original, c.Answer)) {
				only = append(only, call("Greater", expression.Sym(name), expression.Int(0)))
			}
		}
	case "ComplexExpand":
		// Variables are real but for those named in the second argument.
		var complexOnes []string
		if len(c.Args) == 1 {
			more["real"] = true
		} else {
			complexOnes, _ = symbolNames(elementsOf(c.Args[1]))
		}
		for _, name := range freeSymbols(call("List", original, c.Answer)) {
			if !slices.Contains(complexOnes, name) {
				only = append(only, call("Element", expression.Sym(name), expression.Sym("Reals")))
			}
		}
		if len(c.Args) > 1 {
			assumptions = append(assumptions, only...)
		}
	}
	if len(c.Args) == 1 {
		more["form"] = c.Head // of some heads it is looked at; further arguments change it
		more["options"] = len(c.Options) > 0
	}
	if original.IsCall("Equal") && len(original.Args) == 2 && c.Answer.IsSymbol("True") {
		return identities(original, [][2]*expression.Expr{{original.Args[0], original.Args[1]}}, assumptions, map[string]any{"sides": true}), nil
	}
	if isLogical(original) || isLogical(c.Answer) {
		return logicalTask(call("Equivalent", original, c.Answer), original, c.Answer, assumptions)
	}
	return identities(onlyWhere(difference(original, c.Answer), only), [][2]*expression.Expr{{original, c.Answer}}, assumptions, more), nil
}

// onlyWhere is an expression that is meant under conditions.
func onlyWhere(e *expression.Expr, conditions []*expression.Expr) *expression.Expr {
	switch len(conditions) {
	case 0:
		return e
	case 1:
		return call("ConditionalExpression", e, conditions[0])
	}
	return call("ConditionalExpression", e, call("And", conditions...))
}

// isLogical recognises formulas whose value is a truth value.
func isLogical(e *expression.Expr) bool {
	switch e.HeadName() {
	case "And", "Or", "Not", "Implies", "Xor", "Nand", "Nor", "Equivalent", "Equal", "Unequal", "Less", "LessEqual", "Greater", "GreaterEqual", "Inequality", "Element":
		return true
	}
	return e.IsSymbol("True") || e.IsSymbol("False")
}

// logicalTask compares two formulas as truth functions.
func logicalTask(check, left, right *expression.Expr, assumptions []*expression.Expr) (Task, error) {
	return Task{Kind: "truth", Check: check, Fields: map[string]any{
		"left": left, "right": right, "assumptions": assumptions, "propositional": isPropositional(left) && isPropositional(right),
	}}, nil
}

// isPropositional reports whether a formula is made of connectives and symbols only.
func isPropositional(e *expression.Expr) bool {
	if e.Kind == expression.Symbol {
		return true
	}
	switch e.HeadName() {
	case "And", "Or", "Not", "Implies", "Xor", "Nand", "Nor", "Equivalent":
		for _, arg := range e.Args {
			if !isPropositional(arg) {
				return false
			}
		}
		return true
	}
	return false
}
