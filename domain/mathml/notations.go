package mathml

import (
	"strconv"
	"strings"

	"reckon/domain/expression"
)

// notation writes calls of one head; false: not of this shape, which is then written as any call. It looks at the shape before it writes
// any part: parts that were written twice at each level would take a time that doubles with each.
type notation func(*expression.Expr) (box, bool)

// notationOf is the notation of a head; nil: it has none of its own.
func notationOf(name string) notation {
	switch name {
	case "Plus":
		return sum
	case "Times":
		return product
	case "Power":
		return power
	case "Exp":
		return exponential
	case "Rational":
		return rational
	case "Complex":
		return complexNumber
	case "Sqrt":
		return func(e *expression.Expr) (box, bool) { return ofOne(e, root) }
	case "CubeRoot":
		return func(e *expression.Expr) (box, bool) { return rootOf(e.Args, "3") }
	case "Surd":
		return surd
	case "Factorial":
		return postfix("!")
	case "Factorial2":
		return postfix("!!")
	case "Abs":
		return enclosed("|", "|")
	case "Norm":
		return enclosed("‖", "‖")
	case "Floor":
		return enclosed("⌊", "⌋")
	case "Ceiling":
		return enclosed("⌈", "⌉")
	case "Conjugate":
		return superscript("*")
	case "Transpose":
		return superscript("⊤")
	case "ConjugateTranspose":
		return superscript("†")
	case "List":
		return lists
	case "Association":
		return association
	case "Interval":
		return interval
	case "Part":
		return part
	case "MatrixForm":
		return alone
	case "HoldForm":
		return alone
	case "Rule":
		return infix("→", bindsRule, 2)
	case "RuleDelayed":
		return infix("⧴", bindsRule, 2)
	case "Equal":
		return infix("=", bindsComparison, 0)
	case "Unequal":
		return infix("≠", bindsComparison, 2)
	case "Less":
		return infix("<", bindsComparison, 0)
	case "LessEqual":
		return infix("≤", bindsComparison, 0)
	case "Greater":
		return infix(">", bindsComparison, 0)
	case "GreaterEqual":
		return infix("≥", bindsComparison, 0)
	case "SameQ":
		return infix("≡", bindsComparison, 2)
	case "UnsameQ":
		return infix("≢", bindsComparison, 2)
	case "Element":
		return infix("∈", bindsComparison, 2)
	case "NotElement":
		return infix("∉", bindsComparison, 2)
	case "Inequality":
		return inequality
	case "And":
		return infix("∧", bindsAnd, 0)
	case "Or":
		return infix("∨", bindsOr, 0)
	case "Not":
		return not
	case "Implies":
		return infix("⇒", bindsRule, 2)
	case "Equivalent":
		return infix("⇔", bindsRule, 2)
	case "Xor":
		return infix("⊻", bindsOr, 2)
	case "Union":
		return infix("∪", bindsUnion, 0)
	case "Intersection":
		return infix("∩", bindsIntersection, 0)
	case "Cross":
		return between("×", bindsDot, bindsPostfix, 2)
	case "Mod":
		return infix(modulo, bindsSum, 2)
	case "Binomial":
		return binomial
	case "Subscript":
		return subscript
	case "C":
		return indexedConstant
	case "Gamma":
		return named(upright("Γ"))
	case "Zeta":
		return named(upright("ζ"))
	case "Beta":
		return named(upright("Β"))
	case "DiracDelta":
		return named(upright("δ"))
	case "HeavisideTheta":
		return named(upright("θ"))
	case "PolyLog":
		return indexed("Li")
	case "BesselJ":
		return indexed("J")
	case "BesselY":
		return indexed("Y")
	case "BesselI":
		return indexed("I")
	case "BesselK":
		return indexed("K")
	case "LegendreP":
		return indexed("P")
	case "HermiteH":
		return indexed("H")
	case "ChebyshevT":
		return indexed("T")
	case "ChebyshevU":
		return indexed("U")
	case "LaguerreL":
		return indexed("L")
	case "Log":
		return logarithm
	case "Log2":
		return logarithmTo("2")
	case "Log10":
		return logarithmTo("10")
	case "PolyGamma":
		return polyGamma
	case "Integrate":
		return integral
	case "Sum":
		return large("∑")
	case "Product":
		return large("∏")
	case "Limit":
		return limit
	case "D":
		return derivative
	case "Piecewise":
		return piecewise
	case "ConditionalExpression":
		return conditional
	case "SeriesData":
		return series
	}
	return nil
}

// functions are the names that mathematics has for functions of the language.
var functions = map[string]string{
	"Sin": "sin", "Cos": "cos", "Tan": "tan", "Cot": "cot", "Sec": "sec", "Csc": "csc", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Coth": "coth", "Sech": "sech", "Csch": "csch",
	"ArcSin": "arcsin", "ArcCos": "arccos", "ArcTan": "arctan", "ArcCot": "arccot", "ArcSec": "arcsec", "ArcCsc": "arccsc",
	"ArcSinh": "arsinh", "ArcCosh": "arcosh", "ArcTanh": "artanh", "ArcCoth": "arcoth", "ArcSech": "arsech", "ArcCsch": "arcsch",
	"Log": "log", "Max": "max", "Min": "min", "GCD": "gcd", "LCM": "lcm", "Det": "det", "Tr": "tr", "Re": "Re", "Im": "Im", "Arg": "arg", "Sign": "sgn",
	"Erf": "erf", "Erfc": "erfc", "Erfi": "erfi", "SinIntegral": "Si", "CosIntegral": "Ci", "ExpIntegralEi": "Ei", "LogIntegral": "li", "Sinc": "sinc",
	"Hypergeometric2F1": "₂F₁", "Hypergeometric1F1": "₁F₁", "Hypergeometric0F1": "₀F₁", "O": "O",
}

// sourceOnly are the heads of programs and patterns, which have no notation but their own.
var sourceOnly = names("Set SetDelayed Function Slot SlotSequence Pattern Blank BlankSequence BlankNullSequence Optional PatternTest Condition Alternatives ReplaceAll ReplaceRepeated CompoundExpression Span StringJoin StringExpression NonCommutativeMultiply Repeated RepeatedNull Out")

func names(all string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(all) {
		set[name] = true
	}
	return set
}

// call is f(x, y) for whatever has no notation of its own.
func call(e *expression.Expr) box {
	if b, ok := primed(e); ok {
		return b
	}
	head := display(e.Head).at(bindsAtom).markup
	if name, ok := functions[e.HeadName()]; ok && e.Head.Kind == expression.Symbol {
		head = element("mi", name)
	}
	return apply(head, e.Args)
}

func apply(head string, args []*expression.Expr) box {
	return box{markup: row(head, applyUnseen, list("(", args, ")")), binds: bindsAtom}
}

// primed is f′(x) for Derivative[1][f][x], and f^(1,0)(x, y).
func primed(e *expression.Expr) (box, bool) {
	if e.Head.Kind != expression.Call {
		return box{}, false
	}
	if e.Head.Head.IsCall("Derivative") && len(e.Head.Args) == 1 {
		if name, ok := derived(e.Head); ok {
			return apply(name, e.Args), true
		}
	}
	if e.Head.IsCall("Derivative") && len(e.Args) == 1 {
		if name, ok := derived(e); ok {
			return box{markup: name, binds: bindsPower}, true
		}
	}
	return box{}, false
}

// derived is f′ of Derivative[1][f].
func derived(e *expression.Expr) (string, bool) {
	orders := e.Head.Args
	if len(orders) == 0 {
		return "", false
	}
	f := display(e.Args[0]).in(bindsAtom)
	if n, err := strconv.Atoi(orders[0].Text); err == nil && len(orders) == 1 && 1 <= n && n <= 3 {
		return element("msup", f, operator(strings.Repeat("′", n))), true
	}
	return element("msup", f, list("(", orders, ")")), true
}

// ofOne is a notation of one argument.
func ofOne(e *expression.Expr, write func(*expression.Expr) box) (box, bool) {
	if len(e.Args) != 1 {
		return box{}, false
	}
	return write(e.Args[0]), true
}

// alone writes the argument of a call that only wraps it.
func alone(e *expression.Expr) (box, bool) { return ofOne(e, display) }

func rootOf(args []*expression.Expr, degree string) (box, bool) {
	if len(args) != 1 {
		return box{}, false
	}
	return box{markup: element("mroot", display(args[0]).in(anything), element("mn", degree)), binds: bindsAtom}, true
}

// surd is the real root of Surd[x, n].
func surd(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	return box{markup: element("mroot", display(e.Args[0]).in(anything), inScript(e.Args[1])), binds: bindsAtom}, true
}

func enclosed(left, right string) notation {
	return func(e *expression.Expr) (box, bool) {
		return ofOne(e, func(arg *expression.Expr) box {
			inside, stretchy := display(arg).markup, ""
			if !taller.MatchString(inside) {
				stretchy = ` stretchy="false"`
			}
			return box{markup: row(`<mo fence="true" form="prefix"`+stretchy+`>`+left+"</mo>", inside, `<mo fence="true" form="postfix"`+stretchy+`>`+right+"</mo>"), binds: bindsAtom}
		})
	}
}

func superscript(sign string) notation {
	return func(e *expression.Expr) (box, bool) {
		return ofOne(e, func(arg *expression.Expr) box {
			b := display(arg).at(bindsAtom)
			return box{markup: element("msup", b.markup, operator(sign)), binds: bindsPower, digit: b.digit, bracket: b.bracket, word: b.word}
		})
	}
}

const modulo = "mod"

// infix is operands with a sign between them, most of them at most unless it is 0. Operands that bind no tighter are in parentheses.
func infix(sign string, binds, most int) notation {
	return between(sign, binds, binds+1, most)
}

func between(sign string, binds, operands, most int) notation {
	between := operator(sign)
	if sign == modulo {
		between = `<mo lspace="0.3em" rspace="0.3em">` + sign + `</mo>`
	}
	return func(e *expression.Expr) (box, bool) {
		if len(e.Args) < 2 || most > 0 && len(e.Args) > most {
			return box{}, false
		}
		var parts []string
		for i, arg := range e.Args {
			if i > 0 {
				parts = append(parts, between)
			}
			parts = append(parts, display(arg).in(operands))
		}
		return box{markup: row(parts...), binds: binds, digit: true}, true
	}
}

// comparisons are those that Inequality holds between its operands.
var comparisons = map[string]string{"Equal": "=", "Unequal": "≠", "Less": "<", "LessEqual": "≤", "Greater": ">", "GreaterEqual": "≥"}

func inequality(e *expression.Expr) (box, bool) {
	if len(e.Args) < 3 || len(e.Args)%2 == 0 {
		return box{}, false
	}
	for i := 1; i < len(e.Args); i += 2 {
		if comparisons[e.Args[i].Text] == "" || e.Args[i].Kind != expression.Symbol {
			return box{}, false
		}
	}
	var parts []string
	for i, arg := range e.Args {
		if i%2 == 0 {
			parts = append(parts, display(arg).in(bindsComparison+1))
		} else {
			parts = append(parts, operator(comparisons[arg.Text]))
		}
	}
	return box{markup: row(parts...), binds: bindsComparison}, true
}

func not(e *expression.Expr) (box, bool) {
	return ofOne(e, func(arg *expression.Expr) box {
		return box{markup: row(operator("¬"), display(arg).in(bindsAtom)), binds: bindsNot}
	})
}

// matrixOf are the rows of a list of lists of the same length; false: it is no matrix of what matrices are made of.
func matrixOf(e *expression.Expr) (rows [][]*expression.Expr, is bool) {
	for _, line := range e.Args {
		if !line.IsCall("List") || len(line.Args) == 0 || len(line.Args) != len(e.Args[0].Args) {
			return nil, false
		}
		for _, entry := range line.Args {
			if entry.IsCall("List") || entry.IsCall("Rule") || entry.IsCall("RuleDelayed") {
				return nil, false
			}
		}
		rows = append(rows, line.Args)
	}
	return rows, len(rows) > 1 || len(rows) == 1 && len(rows[0]) > 1
}

func lists(e *expression.Expr) (box, bool) {
	rows, is := matrixOf(e)
	if !is {
		return box{markup: list("{", e.Args, "}"), binds: bindsAtom}, true
	}
	var lines []string
	for _, entries := range rows {
		var cells []string
		for _, entry := range entries {
			cells = append(cells, element("mtd", display(entry).markup))
		}
		lines = append(lines, element("mtr", cells...))
	}
	return box{markup: row(operator("("), element("mtable", lines...), operator(")")), binds: bindsAtom}, true
}

func association(e *expression.Expr) (box, bool) {
	return box{markup: list("⟨", e.Args, "⟩"), binds: bindsAtom}, true
}

// interval is [a, b] of Interval[{a, b}].
func interval(e *expression.Expr) (box, bool) {
	if len(e.Args) != 1 || !e.Args[0].IsCall("List") || len(e.Args[0].Args) != 2 {
		return box{}, false
	}
	return box{markup: list("[", e.Args[0].Args, "]"), binds: bindsAtom}, true
}

func part(e *expression.Expr) (box, bool) {
	if len(e.Args) < 2 {
		return box{}, false
	}
	return box{markup: row(display(e.Args[0]).in(bindsAtom), list("⟦", e.Args[1:], "⟧")), binds: bindsAtom}, true
}

func binomial(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	above, below := display(e.Args[0]).markup, display(e.Args[1]).markup
	return box{markup: row(operator("("), `<mfrac linethickness="0">`+above+below+"</mfrac>", operator(")")), binds: bindsAtom}, true
}

func subscript(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	return box{markup: element("msub", display(e.Args[0]).in(bindsAtom), inScript(e.Args[1])), binds: bindsAtom}, true
}

// indexedConstant is C[1], a constant of a solution.
func indexedConstant(e *expression.Expr) (box, bool) {
	return ofOne(e, func(arg *expression.Expr) box {
		return box{markup: element("msub", element("mi", "C"), inScript(arg)), binds: bindsAtom}
	})
}

func named(sign string) notation {
	return func(e *expression.Expr) (box, bool) { return apply(sign, e.Args), len(e.Args) > 0 }
}

// indexed is a function whose first argument is written as an index.
func indexed(name string) notation {
	return func(e *expression.Expr) (box, bool) {
		if len(e.Args) != 2 {
			return box{}, false
		}
		return apply(element("msub", element("mi", name), inScript(e.Args[0])), e.Args[1:]), true
	}
}

func logarithm(e *expression.Expr) (box, bool) {
	if len(e.Args) == 2 {
		return apply(element("msub", element("mi", "log"), inScript(e.Args[0])), e.Args[1:]), true
	}
	return box{}, false
}

func logarithmTo(base string) notation {
	return func(e *expression.Expr) (box, bool) {
		return apply(element("msub", element("mi", "log"), element("mn", base)), e.Args), len(e.Args) == 1
	}
}

func polyGamma(e *expression.Expr) (box, bool) {
	switch len(e.Args) {
	case 1:
		return apply(upright("ψ"), e.Args), true
	case 2:
		return apply(element("msup", upright("ψ"), list("(", e.Args[:1], ")")), e.Args[1:]), true
	}
	return box{}, false
}
