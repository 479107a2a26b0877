package mathml

import (
	"reckon/domain/expression"
)

// sum is a + b − c. Terms that are sums themselves keep their parentheses.
func sum(e *expression.Expr) (box, bool) {
	if len(e.Args) < 2 {
		return box{}, false
	}
	var parts []string
	first := box{}
	for i, term := range e.Args {
		magnitude, negative := negated(term)
		switch {
		case negative && i == 0:
			parts = append(parts, operator("−"))
			term = magnitude
		case negative:
			parts = append(parts, operator("−"))
			term = magnitude
		case i > 0:
			parts = append(parts, operator("+"))
		}
		b := display(term).at(bindsDot)
		if i == 0 && !negative {
			first = b
		}
		parts = append(parts, b.markup)
	}
	return box{markup: row(parts...), binds: bindsSum, digit: first.digit}, true
}

// factors are those of a product and of the products in it.
func factors(e *expression.Expr, found []*expression.Expr) []*expression.Expr {
	if !e.IsCall("Times") || len(e.Args) == 0 {
		return append(found, e)
	}
	for _, arg := range e.Args {
		found = factors(arg, found)
	}
	return found
}

// product is a fraction, or factors side by side.
func product(e *expression.Expr) (box, bool) {
	if len(e.Args) < 1 {
		return box{}, false
	}
	if magnitude, negative := negated(e); negative {
		b := display(magnitude).at(bindsLargeOperator)
		return box{markup: row(operator("−"), b.markup), binds: bindsSum}, true
	}
	var above, below []*expression.Expr
	for _, factor := range factors(e, nil) {
		switch divisor, is := divisorOf(factor); {
		case is:
			below = append(below, divisor)
		case factor.IsCall("Rational") && len(factor.Args) == 2 && !isNegative(factor.Args[0]):
			above, below = append(above, factor.Args[0]), append(below, factor.Args[1])
		default:
			above = append(above, factor)
		}
	}
	if len(below) == 0 {
		return sideBySide(above), true
	}
	return fraction(sideBySide(above), sideBySide(below)), true
}

func isNegative(e *expression.Expr) bool { _, is := negated(e); return is }

func fraction(above, below box) box {
	return box{markup: element("mfrac", above.in(anything), below.in(anything)), binds: bindsProduct, digit: true}
}

// divisorOf is the divisor that a power with a negative exponent stands for.
func divisorOf(e *expression.Expr) (*expression.Expr, bool) {
	if !e.IsCall("Power") || len(e.Args) != 2 || !isNumeric(e.Args[1]) {
		return nil, false
	}
	exponent, negative := negated(e.Args[1])
	switch {
	case !negative:
		return nil, false
	case exponent.IsInt(1):
		return e.Args[0], true
	}
	return expression.NewCall("Power", e.Args[0], exponent), true
}

// isNumeric tells whether an expression is a number or a quotient of integers.
func isNumeric(e *expression.Expr) bool {
	if e.Kind == expression.Integer || e.Kind == expression.Real {
		return true
	}
	_, _, is := quotient(e)
	return is
}

// quotient are the two integers of p/q, as the language reads it, or of Rational[p, q]; p may be negative, q not.
func quotient(e *expression.Expr) (p, q *expression.Expr, is bool) {
	switch {
	case e.IsCall("Rational") && len(e.Args) == 2:
		p, q = e.Args[0], e.Args[1]
	case e.IsCall("Times") && len(e.Args) == 2 && e.Args[1].IsCall("Power") && len(e.Args[1].Args) == 2 && e.Args[1].Args[1].IsInt(-1):
		p, q = e.Args[0], e.Args[1].Args[0]
	case e.IsCall("Power") && len(e.Args) == 2 && e.Args[1].IsInt(-1):
		p, q = expression.Int(1), e.Args[0]
	case e.IsCall("Times") && len(e.Args) == 3 && e.Args[0].IsInt(-1) && e.Args[1].Kind == expression.Integer && !isNegative(e.Args[1]):
		_, q, is = quotient(expression.NewCall("Times", e.Args[1], e.Args[2]))
		return &expression.Expr{Kind: expression.Integer, Text: "-" + e.Args[1].Text}, q, is
	case e.IsCall("Times") && len(e.Args) == 2 && e.Args[0].IsInt(-1):
		one, q, is := quotient(e.Args[1])
		if !is || !one.IsInt(1) {
			return nil, nil, false
		}
		return expression.Int(-1), q, true
	default:
		return nil, nil, false
	}
	return p, q, p.Kind == expression.Integer && q.Kind == expression.Integer && !isNegative(q)
}

// sideBySide is a product without divisors. Factors 1 are left out.
func sideBySide(all []*expression.Expr) box {
	var kept []*expression.Expr
	for _, factor := range all {
		if !factor.IsInt(1) {
			kept = append(kept, factor)
		}
	}
	switch len(kept) {
	case 0:
		return number("1")
	case 1:
		return display(kept[0])
	}
	var parts []string
	var made, last box
	for i, factor := range kept {
		binding := bindsProduct
		if i == len(kept)-1 {
			binding = bindsLargeOperator // nothing follows that it could take with it
		}
		b := display(factor).at(binding)
		switch {
		case i == 0:
			made = b
		case b.digit, b.word, last.word, b.bracket && !last.bracket && !isNumeric(kept[i-1]):
			parts = append(parts, operator("·"))
		default:
			parts = append(parts, timesUnseen)
		}
		parts, last = append(parts, b.markup), b
	}
	binds := bindsProduct
	if last.binds == bindsLargeOperator {
		binds = bindsLargeOperator
	}
	return box{markup: row(parts...), binds: binds, digit: made.digit, bracket: made.bracket, word: made.word || last.word}
}

// powersOfNames are the functions whose powers are written at their names: sin²(x).
var powersOfNames = map[string]bool{
	"Sin": true, "Cos": true, "Tan": true, "Cot": true, "Sec": true, "Csc": true, "Sinh": true, "Cosh": true, "Tanh": true, "Coth": true, "Sech": true, "Csch": true, "Log": true,
}

// power is a root, a quotient or a power.
func power(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	base, exponent := e.Args[0], e.Args[1]
	if divisor, is := divisorOf(e); is {
		return fraction(number("1"), display(divisor)), true
	}
	if p, q, is := quotient(exponent); is && p.IsInt(1) && q.IsInt(2) {
		return root(base), true
	}
	if base.Kind == expression.Call && powersOfNames[base.HeadName()] && len(base.Args) == 1 && exponent.Kind == expression.Integer {
		name := element("msup", element("mi", functions[base.HeadName()]), numeral(exponent.Text))
		return box{markup: row(name, applyUnseen, list("(", base.Args, ")")), binds: bindsAtom}, true
	}
	b := display(base).at(bindsAtom)
	return box{markup: element("msup", b.markup, inScript(exponent)), binds: bindsPower, digit: b.digit, bracket: b.bracket, word: b.word}, true
}

// inScript is an expression at the small size of exponents and indices, where a quotient of integers is written on one line.
func inScript(e *expression.Expr) string {
	if p, q, is := quotient(e); is {
		return row(signedNumeral(p.Text), operator("/"), numeral(q.Text))
	}
	return display(e).markup
}

func root(of *expression.Expr) box {
	return box{markup: element("msqrt", display(of).markup), binds: bindsAtom}
}

func exponential(e *expression.Expr) (box, bool) {
	if len(e.Args) != 1 {
		return box{}, false
	}
	return power(expression.NewCall("Power", expression.Sym("E"), e.Args[0]))
}

func rational(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	if magnitude, negative := negated(e); negative {
		b, _ := rational(magnitude)
		return box{markup: row(operator("−"), b.markup), binds: bindsSum}, true
	}
	return fraction(display(e.Args[0]), display(e.Args[1])), true
}

// complexNumber is Complex[a, b] as a + b i.
func complexNumber(e *expression.Expr) (box, bool) {
	if len(e.Args) != 2 {
		return box{}, false
	}
	imaginary := expression.NewCall("Times", e.Args[1], expression.Sym("I"))
	if e.Args[0].IsInt(0) {
		return product(imaginary)
	}
	return sum(expression.NewCall("Plus", e.Args[0], imaginary))
}

// postfix is a part with a sign behind it.
func postfix(sign string) notation {
	return func(e *expression.Expr) (box, bool) {
		if len(e.Args) != 1 {
			return box{}, false
		}
		operand := display(e.Args[0]).at(bindsAtom)
		return box{markup: row(operand.markup, operator(sign)), binds: bindsPostfix, digit: operand.digit, bracket: operand.bracket, word: operand.word}, true
	}
}
