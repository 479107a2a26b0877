package verification

import (
	"slices"
	"strings"

	"reckon/domain/expression"
)

// listHeads are the functions whose value is a list: its length counts too. Those of orderedHeads put symbols in an order of their
// own, so that numbers only are checked.
var (
	listHeads    = []string{"Table", "Range", "Accumulate", "Differences", "Reverse", "Subsets", "Permutations", "ContinuedFraction", "IntegerDigits"}
	orderedHeads = []string{"Sort", "Union"}
)

// ofIntegers reports whether an expression is made of integers, quotients and lists.
func ofIntegers(e *expression.Expr) bool {
	if e.Kind != expression.Call {
		return e.Kind == expression.Integer
	}
	return slices.Contains([]string{"List", "Rational", "Times", "Power", "Plus", "Minus", "Divide"}, e.HeadName()) && !slices.ContainsFunc(e.Args, func(part *expression.Expr) bool { return !ofIntegers(part) })
}

// isComparisonOfNumbers recognises comparisons without symbols; decimals are compared with a tolerance in the language.
func isComparisonOfNumbers(e *expression.Expr) bool {
	free := true
	e.Walk(func(n *expression.Expr) bool {
		free = free && n.Kind != expression.Real && n.Kind != expression.String && !n.IsCall("List")
		return free
	})
	return free && len(freeSymbols(e)) == 0
}

// valueIdentity: a function of given values, computed again.
func valueIdentity() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug: "value_identity",
			Heads: strings.Fields("Plus Times Power Equal Unequal Less LessEqual Greater GreaterEqual Binomial Factorial Factorial2 FactorialPower Pochhammer CatalanNumber Fibonacci LucasL BernoulliB EulerE BellB PartitionsP " +
				"StirlingS1 StirlingS2 HarmonicNumber EvenQ OddQ IntegerQ Floor Ceiling Round IntegerPart FractionalPart Max Min Clip UnitStep Abs Sign Re Im Arg " +
				"ReIm AbsArg Conjugate Total Sqrt CubeRoot Surd Exp Log Log2 Log10 Sin Cos Tan Cot Sec Csc ArcSin ArcCos ArcTan ArcCot ArcSec ArcCsc Sinh " +
				"Cosh Tanh Coth Sech Csch ArcSinh ArcCosh ArcTanh ArcCoth ArcSech ArcCsch Sinc Gamma LogGamma Beta PolyGamma Zeta HurwitzZeta PolyLog ProductLog " +
				"Erf Erfc Erfi InverseErf Cyclotomic BesselI BesselJ BesselK BesselY AiryAi AiryBi EllipticE EllipticK ChebyshevT ChebyshevU LegendreP HermiteH LaguerreL " +
				"GegenbauerC JacobiP Hypergeometric0F1 Hypergeometric1F1 Hypergeometric2F1 Multinomial IntegerLength IntegerExponent FromDigits DigitSum " +
				"ChineseRemainder MultiplicativeOrder JacobiSymbol CarmichaelLambda BitAnd BitOr BitXor Length Mean Median Variance StandardDeviation TautologyQ SatisfiableQ " +
				strings.Join(listHeads, " ") + " " + strings.Join(orderedHeads, " ")),
			Shows: "The answer equals the function of its arguments, for all complex values of the variables that the assumptions allow: exactly, or by enclosures that agree " +
				"to 60 digits in every region. Refuted at one point. Sums, products and powers are functions too, and expr /. x -> a of such functions is expr with the value in it.",
			Silent: "Whether the form is the simplest one, and the value of a test such as EvenQ for a symbol or a decimal. Decimals that 53 bits do not hold are verified " +
				"only where both of their readings are exactly right.",
			Examples: []Example{
				{"Binomial[50, 25]", "126410606437752"},
				{"Sin[Pi/5]", "Sqrt[10 - 2 Sqrt[5]]/4"},
				{"Floor[-7/2]", "-3"},
			},
		},
		form: func(c Call) bool { return !isOfDistribution(c) },
		plan: func(c Call) (Task, error) {
			if len(c.Options) > 0 {
				return Task{}, noShape("options are not checked")
			}
			whole := call(c.Head, c.Args...)
			if mentionsAny(whole, "SeriesData", "O") {
				return Task{}, noShape("arithmetic of expansions is not checked")
			}
			if isLogical(whole) && !isComparisonOfNumbers(whole) {
				return Task{}, noShape("only comparisons of exact numbers are checked")
			}
			if isLogical(c.Answer) {
				return logicalTask(call("Equivalent", whole, c.Answer), whole, c.Answer, c.Assumptions)
			}
			if slices.Contains(orderedHeads, c.Head) && slices.ContainsFunc(c.Args, func(part *expression.Expr) bool { return !ofIntegers(part) }) {
				return Task{}, noShape("only numbers are put in order")
			}
			claims := [][2]*expression.Expr{{whole, c.Answer}}
			if slices.Contains(listHeads, c.Head) || slices.Contains(orderedHeads, c.Head) {
				claims = append(claims, [2]*expression.Expr{call("Length", whole), call("Length", c.Answer)})
			}
			return identities(difference(whole, c.Answer), claims, c.Assumptions, map[string]any{"each": []string{"", "the length"}}), nil
		},
	}
}
