package engine

import (
	"strings"

	"reckon/domain/expression"
)

var (
	// plotters draw functions of one variable, and nothing else.
	plotters = wordSet(`Plot LogPlot LogLinearPlot LogLogPlot`)
	// continuous are the functions whose curves have no jump or pole between two points where they are real.
	continuous = wordSet(`List Plus Times Subtract Minus Sqrt Exp Log Log2 Log10 Sin Cos Sinh Cosh Tanh Sech ArcTan ArcSin ArcCos ArcSinh ArcCosh ArcTanh Abs RealAbs
		Erf Erfc Erfi SinIntegral CosIntegral FresnelS FresnelC BesselJ BesselI AiryAi AiryBi Sinc Max Min Ramp Haversine Rational Evaluate
		HermiteH LegendreP ChebyshevT ChebyshevU LaguerreL Style Tooltip Labeled Legended Cbrt CubeRoot`)
)

// mayJump tells whether the curves that the code draws may have poles or jumps: it draws functions and nothing else, one of them is not known
// to be continuous, and joining was not asked for by Exclusions -> None.
func mayJump(code []*expression.Expr) bool {
	functionsOnly, jumps := true, false
	for _, input := range code {
		input.Walk(func(e *expression.Expr) bool {
			head := e.HeadName()
			switch {
			case plotters[head] && len(e.Args) > 0:
				jumps = jumps || !isContinuous(e.Args[0])
			case strings.HasSuffix(head, "Plot"), strings.HasSuffix(head, "Plot3D"), strings.HasSuffix(head, "Chart"), head == "Line", head == "Import", head == "ToExpression":
				functionsOnly = false
			case e.IsCall("Rule") && len(e.Args) == 2 && e.Args[0].IsSymbol("Exclusions") && e.Args[1].IsSymbol("None"):
				functionsOnly = false
			}
			return functionsOnly
		})
	}
	return functionsOnly && jumps
}

// isContinuous tells whether an expression is made of continuous functions alone.
func isContinuous(e *expression.Expr) bool {
	if e.Kind != expression.Call {
		return true
	}
	if e.IsCall("Power") && len(e.Args) == 2 {
		exponent := e.Args[1]
		negative := strings.HasPrefix(exponent.Text, "-") || exponent.IsCall("Times") && strings.HasPrefix(exponent.Args[0].Text, "-")
		bare := exponent.Kind == expression.Integer || exponent.Kind == expression.Real || e.Args[0].IsSymbol("E") || exponent.IsCall("Times")
		constant := e.Args[0].Kind == expression.Integer // 2^x, and 1/2 in a quotient of numbers
		return (constant || bare && (!negative || e.Args[0].IsSymbol("E"))) && isContinuous(e.Args[0]) && isContinuous(exponent)
	}
	if !continuous[e.HeadName()] {
		return false
	}
	for _, argument := range e.Args {
		if !isContinuous(argument) {
			return false
		}
	}
	return true
}
