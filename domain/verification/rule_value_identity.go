package verification

import (
	"strings"

	"reckon/domain/expression"
)

// valueIdentity: a function of given values, computed again.
func valueIdentity() Rule {
	return ResidualRule{
		Declaration: Declaration{
			Slug: "value_identity",
			Heads: strings.Fields("Binomial Factorial Factorial2 FactorialPower Pochhammer CatalanNumber Fibonacci LucasL BernoulliB EulerE BellB PartitionsP " +
				"StirlingS1 StirlingS2 HarmonicNumber EvenQ OddQ IntegerQ Floor Ceiling Round IntegerPart FractionalPart Max Min Clip UnitStep Abs Sign Re Im Arg " +
				"ReIm AbsArg Conjugate Total Table Sqrt CubeRoot Surd Exp Log Log2 Log10 Sin Cos Tan Cot Sec Csc ArcSin ArcCos ArcTan ArcCot ArcSec ArcCsc Sinh " +
				"Cosh Tanh Coth Sech Csch ArcSinh ArcCosh ArcTanh ArcCoth ArcSech ArcCsch Sinc Gamma LogGamma Beta PolyGamma Zeta HurwitzZeta PolyLog ProductLog " +
				"Erf Erfc Erfi InverseErf BesselI BesselJ BesselK BesselY AiryAi AiryBi EllipticE EllipticK ChebyshevT ChebyshevU LegendreP HermiteH LaguerreL " +
				"GegenbauerC JacobiP Hypergeometric0F1 Hypergeometric1F1 Hypergeometric2F1"),
			Shows: "The answer equals the function of its arguments, for all complex values of the variables that the assumptions allow: exactly, or by enclosures that agree " +
				"to 60 digits in every region. Refuted at one point.",
			Silent: "Whether the form is the simplest one.",
			Examples: []Example{
				{"Binomial[50, 25]", "126410606437752"},
				{"Sin[Pi/5]", "Sqrt[10 - 2 Sqrt[5]]/4"},
				{"Floor[-7/2]", "-3"},
			},
		},
		plan: func(c Call) (Task, error) {
			if len(c.Options) > 0 {
				return Task{}, noShape("options are not checked")
			}
			whole := call(c.Head, c.Args...)
			if isLogical(c.Answer) {
				return logicalTask(call("Equivalent", whole, c.Answer), whole, c.Answer, c.Assumptions)
			}
			return identities(minus(whole, c.Answer), [][2]*expression.Expr{{whole, c.Answer}}, c.Assumptions, nil), nil
		},
	}
}
