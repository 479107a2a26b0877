package mathml

import (
	"reckon/domain/expression"
)

// bounds are those of an iterator {x, a, b}, or of x alone, whose bounds are nil.
func bounds(e *expression.Expr) (variable, from, to *expression.Expr, is bool) {
	switch {
	case e.Kind == expression.Symbol:
		return e, nil, nil, true
	case e.IsCall("List") && len(e.Args) == 3:
		return e.Args[0], e.Args[1], e.Args[2], true
	}
	return nil, nil, nil, false
}

// iterated tells whether all arguments but the first are iterators of such a form.
func iterated(e *expression.Expr) bool {
	for _, iterator := range e.Args[1:] {
		if _, _, _, is := bounds(iterator); !is {
			return false
		}
	}
	return len(e.Args) > 1
}

// integral is ∫ f dx, with bounds or without, the outermost variable first.
func integral(e *expression.Expr) (box, bool) {
	if len(e.Args) == 0 || !iterated(e) {
		return box{}, false
	}
	signs, differentials := "", ""
	for _, iterator := range e.Args[1:] {
		variable, from, to, _ := bounds(iterator)
		sign := operator("∫")
		if from != nil {
			sign = element("msubsup", sign, inScript(from), inScript(to))
		}
		signs += sign
		differentials = `<mspace width="0.17em"></mspace>` + row(upright("d"), display(variable).in(bindsAtom)) + differentials
	}
	return box{markup: row(signs, display(e.Args[0]).in(bindsLargeOperator), differentials), binds: bindsLargeOperator}, true
}

// fromOne writes iterators {k, n} as {k, 1, n}.
func fromOne(e *expression.Expr) *expression.Expr {
	args := make([]*expression.Expr, len(e.Args))
	for i, arg := range e.Args {
		if args[i] = arg; i > 0 && arg.IsCall("List") && len(arg.Args) == 2 {
			args[i] = expression.NewCall("List", arg.Args[0], expression.Int(1), arg.Args[1])
		}
	}
	return expression.Apply(e.Head, args...)
}

// large is ∑ or ∏ over iterators of the forms {k, n} and {k, a, b}.
func large(sign string) notation {
	return func(e *expression.Expr) (box, bool) {
		e = fromOne(e)
		if len(e.Args) == 0 || !iterated(e) {
			return box{}, false
		}
		signs := ""
		for _, iterator := range e.Args[1:] {
			variable, from, to, _ := bounds(iterator)
			if from == nil {
				signs += element("munder", operator(sign), display(variable).markup)
			} else {
				below := row(display(variable).in(bindsComparison+1), operator("="), display(from).in(bindsComparison+1))
				signs += element("munderover", operator(sign), below, display(to).markup)
			}
		}
		return box{markup: row(signs, display(e.Args[0]).in(bindsLargeOperator)), binds: bindsLargeOperator}, true
	}
}

// limit is lim f for x → a. With further arguments it is written as any call.
func limit(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 || !e.Args[1].IsCall("Rule") || len(e.Args[1].Args) != 2 {
		return box{}, false
	}
	sign := element("munder", `<mo movablelimits="false" lspace="0" rspace="0.17em">lim</mo>`, display(e.Args[1]).markup)
	return box{markup: row(sign, display(e.Args[0]).in(bindsLargeOperator)), binds: bindsLargeOperator}, true
}

// derivative is ∂f/∂x, and ∂ⁿf/∂xⁿ for D[f, {x, n}].
func derivative(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	variable, above := e.Args[1], operator("∂")
	below := ""
	switch {
	case variable.IsCall("List") && len(variable.Args) == 2 && variable.Args[1].Kind != expression.Call: // it is written twice
		order := inScript(variable.Args[1])
		above = element("msup", above, order)
		below = element("msup", display(variable.Args[0]).in(bindsAtom), order)
	case variable.Kind == expression.Symbol:
		below = display(variable).markup
	default:
		return box{}, false
	}
	operator := element("mfrac", above, row(operator("∂"), below))
	return box{markup: row(operator, display(e.Args[0]).in(bindsLargeOperator)), binds: bindsLargeOperator}, true
}

// piecewise is a brace with a value and its condition in each line.
func piecewise(e *expression.Expr) (box, bool) {
	if len(e.Args) < 1 || len(e.Args) > 2 || !e.Args[0].IsCall("List") || len(e.Args[0].Args) == 0 {
		return box{}, false
	}
	for _, each := range e.Args[0].Args {
		if !each.IsCall("List") || len(each.Args) != 2 {
			return box{}, false
		}
	}
	line := func(value string, condition ...string) string {
		return element("mtr", element("mtd", value), element("mtd", condition...))
	}
	lines := ""
	for _, each := range e.Args[0].Args {
		lines += line(display(each.Args[0]).markup, element("mtext", "if\u00a0"), display(each.Args[1]).markup)
	}
	otherwise := number("0")
	if len(e.Args) == 2 {
		otherwise = display(e.Args[1])
	}
	lines += line(otherwise.markup, element("mtext", "otherwise"))
	return box{markup: row(`<mo fence="true" form="prefix" stretchy="true">{</mo>`, element("mtable", lines)), binds: bindsRule}, true
}

// conditional is a value that holds under a condition.
func conditional(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	return box{markup: row(display(e.Args[0]).in(bindsIf+1), element("mtext", "\u00a0if\u00a0"), display(e.Args[1]).in(bindsIf+1)), binds: bindsIf}, true
}

// Bounds of a series that is written out: coefficients, and nodes of the point that it is about.
const (
	maxSeriesTerms = 200
	maxCenter      = 8
)

// series is SeriesData[x, x0, {a0, a1, …}, nmin, nmax, den]: a0 (x − x0)^(nmin/den) + … + O((x − x0)^(nmax/den)), for den 1.
func series(e *expression.Expr) (box, bool) {
	if len(e.Args) != 6 || !e.Args[2].IsCall("List") || len(e.Args[2].Args) > maxSeriesTerms || !e.Args[5].IsInt(1) {
		return box{}, false
	}
	// What is raised to each power is written in each term.
	if center := 0; e.Args[0].Kind != expression.Symbol || !within(e.Args[1], MaxLevels, &center) || center > maxCenter || !e.Args[1].FreeOf(expression.Sym("Infinity")) || !e.Args[1].FreeOf(expression.Sym("DirectedInfinity")) {
		return box{}, false
	}
	from, fromIs := small(e.Args[3])
	to, toIs := small(e.Args[4])
	if !fromIs || !toIs {
		return box{}, false
	}
	base := e.Args[0]
	if !e.Args[1].IsInt(0) {
		negative, is := negated(e.Args[1])
		if !is {
			negative = expression.NewCall("Times", expression.Int(-1), e.Args[1])
		}
		base = expression.NewCall("Plus", base, negative)
	}
	raised := func(n int64) *expression.Expr {
		switch n {
		case 0:
			return expression.Int(1)
		case 1:
			return base
		}
		return expression.NewCall("Power", base, expression.Int(n))
	}
	terms := []*expression.Expr{}
	for i, coefficient := range e.Args[2].Args {
		if !coefficient.IsInt(0) {
			terms = append(terms, expression.NewCall("Times", coefficient, raised(from+int64(i))))
		}
	}
	terms = append(terms, expression.NewCall("O", raised(to)))
	if len(terms) == 1 {
		return display(terms[0]), true
	}
	return sum(expression.NewCall("Plus", terms...))
}

// maxOrder bounds the exponents of a series.
const maxOrder = 1_000_000

func small(e *expression.Expr) (int64, bool) {
	var n int64
	magnitude, negative := negated(e)
	if negative {
		e = magnitude
	}
	if e.Kind != expression.Integer || len(e.Text) > 7 {
		return 0, false
	}
	for _, digit := range e.Text {
		n = 10*n + int64(digit-'0')
	}
	if negative {
		n = -n
	}
	return n, -maxOrder <= n && n <= maxOrder
}
