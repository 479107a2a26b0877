package giac

import "reckon/domain/expression"

// A translation says how one function of numbers is written for the other side. Its templates hold #1, #2 … for the arguments.
// TestTranslations evaluates every one on both sides at random points of its domain: what differs is not in the table.
type translation struct {
	name     string // of the function that is translated
	args     int    // how many it has
	template string // what stands for it on the other side
	domain   domain // where both sides are compared, and are the same
}

// domain is where the arguments of a translation are drawn from.
type domain int

const (
	complexes domain = iota // |Re|, |Im| < 3
	reals                   // -3 < x < 3
	positives               // 0 < x < 3
	naturals                // 1 … 9, the first not smaller than the others
)

// toGiac has the functions of the language that Giac is given. ArcCot and its kin are written by what defines them: Giac's own have other branches.
var toGiac = []translation{
	{"Sqrt", 1, "sqrt(#1)", complexes}, {"Exp", 1, "exp(#1)", complexes}, {"Log", 1, "ln(#1)", complexes}, {"Log", 2, "ln(#2)/ln(#1)", complexes},
	{"Log2", 1, "ln(#1)/ln(2)", complexes}, {"Log10", 1, "ln(#1)/ln(10)", complexes},
	{"Sin", 1, "sin(#1)", complexes}, {"Cos", 1, "cos(#1)", complexes}, {"Tan", 1, "tan(#1)", complexes},
	{"Cot", 1, "1/tan(#1)", complexes}, {"Sec", 1, "1/cos(#1)", complexes}, {"Csc", 1, "1/sin(#1)", complexes}, {"Sinc", 1, "sin(#1)/#1", complexes},
	{"ArcSin", 1, "asin(#1)", complexes}, {"ArcCos", 1, "acos(#1)", complexes}, {"ArcTan", 1, "atan(#1)", complexes},
	{"ArcCot", 1, "atan(1/#1)", complexes}, {"ArcSec", 1, "acos(1/#1)", complexes}, {"ArcCsc", 1, "asin(1/#1)", complexes},
	{"Sinh", 1, "sinh(#1)", complexes}, {"Cosh", 1, "cosh(#1)", complexes}, {"Tanh", 1, "tanh(#1)", complexes},
	{"Coth", 1, "1/tanh(#1)", complexes}, {"Sech", 1, "1/cosh(#1)", complexes}, {"Csch", 1, "1/sinh(#1)", complexes},
	{"ArcSinh", 1, "asinh(#1)", complexes}, {"ArcCosh", 1, "acosh(#1)", complexes}, {"ArcTanh", 1, "atanh(#1)", complexes},
	{"ArcCoth", 1, "atanh(1/#1)", complexes}, {"ArcSech", 1, "acosh(1/#1)", complexes}, {"ArcCsch", 1, "asinh(1/#1)", complexes},
	{"Abs", 1, "abs(#1)", complexes}, {"Sign", 1, "sign(#1)", reals}, {"Re", 1, "re(#1)", complexes}, {"Im", 1, "im(#1)", complexes},
	{"Conjugate", 1, "conj(#1)", complexes}, {"Arg", 1, "arg(#1)", complexes},
	{"Floor", 1, "floor(#1)", reals}, {"Ceiling", 1, "ceil(#1)", reals}, {"Max", 2, "max(#1,#2)", reals}, {"Min", 2, "min(#1,#2)", reals},
	{"Gamma", 1, "Gamma(#1)", reals}, {"Beta", 2, "Beta(#1,#2)", positives}, {"Factorial", 1, "(#1)!", naturals}, {"Binomial", 2, "binomial(#1,#2)", naturals},
	{"PolyGamma", 1, "Psi(#1)", positives}, {"HarmonicNumber", 1, "Psi(#1+1)+euler_gamma", positives}, {"Zeta", 1, "Zeta(#1)", naturals},
	{"Erf", 1, "erf(#1)", reals}, {"Erfc", 1, "erfc(#1)", reals}, {"SinIntegral", 1, "Si(#1)", reals}, {"CosIntegral", 1, "Ci(#1)", positives},
	{"ExpIntegralEi", 1, "Ei(#1)", reals}, {"LogIntegral", 1, "Ei(ln(#1))", positives},
	{"BesselJ", 2, "BesselJ(#1,#2)", naturals}, {"BesselY", 2, "BesselY(#1,#2)", naturals},
	{"AiryAi", 1, "Airy_Ai(#1)", reals}, {"AiryBi", 1, "Airy_Bi(#1)", reals},
}

// fromGiac has the functions of Giac that the language is given.
var fromGiac = []translation{
	{"sqrt", 1, "Sqrt[#1]", complexes}, {"exp", 1, "E^(#1)", complexes}, {"ln", 1, "Log[#1]", complexes}, {"inv", 1, "1/(#1)", complexes},
	{"sin", 1, "Sin[#1]", complexes}, {"cos", 1, "Cos[#1]", complexes}, {"tan", 1, "Tan[#1]", complexes},
	{"cot", 1, "Cot[#1]", complexes}, {"sec", 1, "Sec[#1]", complexes}, {"csc", 1, "Csc[#1]", complexes},
	{"asin", 1, "ArcSin[#1]", complexes}, {"acos", 1, "ArcCos[#1]", complexes}, {"atan", 1, "ArcTan[#1]", complexes},
	{"sinh", 1, "Sinh[#1]", complexes}, {"cosh", 1, "Cosh[#1]", complexes}, {"tanh", 1, "Tanh[#1]", complexes},
	{"asinh", 1, "ArcSinh[#1]", complexes}, {"acosh", 1, "ArcCosh[#1]", complexes}, {"atanh", 1, "ArcTanh[#1]", complexes},
	{"abs", 1, "Abs[#1]", complexes}, {"sign", 1, "Sign[#1]", reals}, {"re", 1, "Re[#1]", complexes}, {"im", 1, "Im[#1]", complexes},
	{"conj", 1, "Conjugate[#1]", complexes}, {"arg", 1, "Arg[#1]", complexes},
	{"floor", 1, "Floor[#1]", reals}, {"ceil", 1, "Ceiling[#1]", reals}, {"max", 2, "Max[#1, #2]", reals}, {"min", 2, "Min[#1, #2]", reals},
	{"surd", 2, "Surd[#1, #2]", naturals},
	{"Gamma", 1, "Gamma[#1]", reals}, {"Beta", 2, "Beta[#1, #2]", positives}, {"binomial", 2, "Binomial[#1, #2]", naturals}, {"comb", 2, "Binomial[#1, #2]", naturals},
	{"Psi", 1, "PolyGamma[0, #1]", positives}, {"Zeta", 1, "Zeta[#1]", naturals},
	{"erf", 1, "Erf[#1]", reals}, {"erfc", 1, "Erfc[#1]", reals}, {"Si", 1, "SinIntegral[#1]", reals}, {"Ci", 1, "CosIntegral[#1]", positives},
	{"Ei", 1, "ExpIntegralEi[#1]", reals}, {"LambertW", 1, "ProductLog[#1]", positives},
	{"BesselJ", 2, "BesselJ[#1, #2]", naturals}, {"BesselY", 2, "BesselY[#1, #2]", naturals},
	{"Airy_Ai", 1, "AiryAi[#1]", reals}, {"Airy_Bi", 1, "AiryBi[#1]", reals},
}

// constants are the names of numbers, of the language and of Giac.
var constants = [][2]string{{"Pi", "pi"}, {"E", "exp(1)"}, {"I", "i"}, {"EulerGamma", "euler_gamma"}, {"GoldenRatio", "((1+sqrt(5))/2)"}, {"Degree", "(pi/180)"}}

// constantsBack are Giac's names of numbers and of what is none.
var constantsBack = map[string]string{"pi": "Pi", "i": "I", "e": "E", "euler_gamma": "EulerGamma"}

type signature struct {
	name string
	args int
}

var (
	writing = func() map[signature]string {
		all := map[signature]string{}
		for _, t := range toGiac {
			all[signature{t.name, t.args}] = t.template
		}
		return all
	}()
	reading = func() map[signature]*expression.Expr {
		all := map[signature]*expression.Expr{}
		for _, t := range fromGiac {
			template, err := expression.Parse(t.template)
			if err != nil {
				panic("giac: " + t.template + ": " + err.Error())
			}
			all[signature{t.name, t.args}] = template
		}
		return all
	}()
	writingConstants = func() map[string]string {
		all := map[string]string{}
		for _, c := range constants {
			all[c[0]] = c[1]
		}
		return all
	}()
)
