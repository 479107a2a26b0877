package fricas

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
	units                   // 0 < x < 1
	aboveOne                // 1 < x < 4
)

// toFricas has the functions of the language that FriCAS is given. ArcCot and its kin are written by what defines them: FriCAS's own have other branches.
var toFricas = []translation{
	{"Sqrt", 1, "sqrt(#1)", complexes}, {"Exp", 1, "exp(#1)", complexes}, {"Log", 1, "log(#1)", complexes}, {"Log", 2, "log(#2)/log(#1)", complexes},
	{"Sin", 1, "sin(#1)", complexes}, {"Cos", 1, "cos(#1)", complexes}, {"Tan", 1, "tan(#1)", complexes},
	{"Cot", 1, "cot(#1)", complexes}, {"Sec", 1, "sec(#1)", complexes}, {"Csc", 1, "csc(#1)", complexes}, {"Sinc", 1, "sin(#1)/#1", complexes},
	{"ArcSin", 1, "asin(#1)", complexes}, {"ArcCos", 1, "acos(#1)", complexes}, {"ArcTan", 1, "atan(#1)", complexes},
	{"ArcCot", 1, "atan(1/#1)", complexes}, {"ArcSec", 1, "acos(1/#1)", complexes}, {"ArcCsc", 1, "asin(1/#1)", complexes},
	{"Sinh", 1, "sinh(#1)", complexes}, {"Cosh", 1, "cosh(#1)", complexes}, {"Tanh", 1, "tanh(#1)", complexes},
	{"Coth", 1, "coth(#1)", complexes}, {"Sech", 1, "sech(#1)", complexes}, {"Csch", 1, "csch(#1)", complexes},
	{"ArcSinh", 1, "asinh(#1)", complexes}, {"ArcCosh", 1, "acosh(#1)", complexes}, {"ArcTanh", 1, "atanh(#1)", complexes},
	{"ArcCoth", 1, "atanh(1/#1)", complexes}, {"ArcSech", 1, "acosh(1/#1)", complexes}, {"ArcCsch", 1, "asinh(1/#1)", complexes},
	{"Gamma", 1, "Gamma(#1)", positives}, {"Erf", 1, "erf(#1)", reals}, {"ExpIntegralEi", 1, "Ei(#1)", positives},
	{"SinIntegral", 1, "Si(#1)", reals}, {"CosIntegral", 1, "Ci(#1)", positives}, {"LogIntegral", 1, "Ei(log(#1))", positives},
}

// fromFricas has the functions of FriCAS that the language is given.
var fromFricas = []translation{
	{"sqrt", 1, "Sqrt[#1]", complexes}, {"exp", 1, "E^(#1)", complexes}, {"log", 1, "Log[#1]", complexes},
	{"sin", 1, "Sin[#1]", complexes}, {"cos", 1, "Cos[#1]", complexes}, {"tan", 1, "Tan[#1]", complexes},
	{"cot", 1, "Cot[#1]", complexes}, {"sec", 1, "Sec[#1]", complexes}, {"csc", 1, "Csc[#1]", complexes},
	{"asin", 1, "ArcSin[#1]", complexes}, {"acos", 1, "ArcCos[#1]", complexes}, {"atan", 1, "ArcTan[#1]", complexes}, {"acot", 1, "Pi/2 - ArcTan[#1]", reals},
	{"sinh", 1, "Sinh[#1]", complexes}, {"cosh", 1, "Cosh[#1]", complexes}, {"tanh", 1, "Tanh[#1]", complexes},
	{"coth", 1, "Coth[#1]", complexes}, {"sech", 1, "Sech[#1]", complexes}, {"csch", 1, "Csch[#1]", complexes},
	{"asinh", 1, "ArcSinh[#1]", complexes}, {"acosh", 1, "ArcCosh[#1]", complexes}, {"atanh", 1, "ArcTanh[#1]", complexes},
	{"Gamma", 1, "Gamma[#1]", positives}, {"erf", 1, "Erf[#1]", reals}, {"erfi", 1, "Erfi[#1]", reals},
	{"Ei", 1, "ExpIntegralEi[#1]", positives}, {"Si", 1, "SinIntegral[#1]", reals}, {"Ci", 1, "CosIntegral[#1]", positives}, {"li", 1, "LogIntegral[#1]", aboveOne},
	{"dilog", 1, "PolyLog[2, 1 - #1]", positives},
	{"ellipticF", 2, "EllipticF[ArcSin[#1], #2]", units}, {"ellipticE", 2, "EllipticE[ArcSin[#1], #2]", units}, {"ellipticPi", 3, "EllipticPi[#2, ArcSin[#1], #3]", units},
}

type signature struct {
	name string
	args int
}

var (
	writing = func() map[signature]string {
		all := map[signature]string{}
		for _, t := range toFricas {
			all[signature{t.name, t.args}] = t.template
		}
		return all
	}()
	reading = func() map[signature]*expression.Expr {
		all := map[signature]*expression.Expr{}
		for _, t := range fromFricas {
			template, err := expression.Parse(t.template)
			if err != nil {
				panic("fricas: " + t.template + ": " + err.Error())
			}
			all[signature{t.name, t.args}] = template
		}
		return all
	}()
	// constants are the names of numbers, of the language and of FriCAS.
	constants = map[string]string{"Pi": "%pi", "E": "exp(1)", "GoldenRatio": "((1+sqrt(5))/2)", "Degree": "(%pi/180)"}
)
