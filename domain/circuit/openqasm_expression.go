package circuit

import (
	"math"
	"strconv"
	"strings"

	"reckon/domain/circuit/trig"
)

// maxExpressionDepth bounds nested parentheses and signs.
const maxExpressionDepth = 64

// expression reads a constant of numbers, pi, tau, euler, + - * / ** ( ), sin, cos, tan and sqrt. Trigonometry is this
// package's own, so that a program means the same circuit everywhere.
func (p *qasmParser) expression() (float64, error) {
	value, err := p.sum(0)
	if err != nil {
		return 0, err
	}
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return 0, p.fail(CodeAngleRange, "the value of an expression is not a finite number")
	}
	return value, nil
}

func (p *qasmParser) sum(depth int) (float64, error) {
	left, err := p.product(depth)
	for err == nil {
		var right float64
		switch {
		case p.accept("+"):
			right, err = p.product(depth)
			left = left + right
		case p.accept("-"):
			right, err = p.product(depth)
			left = left - right
		default:
			return left, nil
		}
	}
	return 0, err
}

func (p *qasmParser) product(depth int) (float64, error) {
	left, err := p.signed(depth)
	for err == nil {
		var right float64
		switch {
		case p.accept("*"):
			right, err = p.signed(depth)
			left = float64(left * right)
		case p.accept("/"):
			right, err = p.signed(depth)
			left = left / right
		default:
			return left, nil
		}
	}
	return 0, err
}

func (p *qasmParser) signed(depth int) (float64, error) {
	if depth > maxExpressionDepth {
		return 0, p.fail(CodeMalformed, "an expression is nested deeper than %d", maxExpressionDepth)
	}
	switch {
	case p.accept("-"):
		value, err := p.signed(depth + 1)
		return -value, err
	case p.accept("+"):
		return p.signed(depth + 1)
	}
	base, err := p.atom(depth)
	if err != nil || !p.accept("**") {
		return base, err
	}
	exponent, err := p.signed(depth + 1) // right-associative
	if err != nil {
		return 0, err
	}
	return p.power(base, exponent)
}

// power multiplies repeatedly: exponents are integers, so the value is the same on every machine.
func (p *qasmParser) power(base, exponent float64) (float64, error) {
	if exponent != math.Trunc(exponent) || math.Abs(exponent) > 1024 {
		return 0, p.fail(CodeUnsupported, "** takes an integer exponent of at most 1024")
	}
	value := 1.0
	for range int(math.Abs(exponent)) {
		value = float64(value * base)
	}
	if exponent < 0 {
		value = 1 / value
	}
	return value, nil
}

var constants = map[string]float64{
	"pi": math.Pi, "π": math.Pi, "tau": 2 * math.Pi, "τ": 2 * math.Pi, "euler": math.E, "ℇ": math.E,
}

func (p *qasmParser) atom(depth int) (float64, error) {
	t := p.next()
	switch t.kind {
	case tokenNumber:
		value, err := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
		if err != nil {
			return 0, p.fail(CodeAngleRange, "%s is not a finite double", clipText(t.text))
		}
		return value, nil
	case tokenName:
		if value, ok := constants[t.text]; ok {
			return value, nil
		}
		return p.function(t, depth)
	case tokenSymbol:
		if t.text == "(" {
			value, err := p.sum(depth + 1)
			if err != nil {
				return 0, err
			}
			return value, p.expect(")")
		}
	}
	return 0, p.fail(CodeMalformed, "expected a number, found %s", t.describe())
}

func (p *qasmParser) function(name token, depth int) (float64, error) {
	if p.peek().text != "(" {
		return 0, p.fail(CodeUnsupported, "%s is not a number; only pi, tau and euler are named", clipText(name.text))
	}
	p.next()
	x, err := p.sum(depth + 1)
	if err != nil {
		return 0, err
	}
	if err := p.expect(")"); err != nil {
		return 0, err
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, p.fail(CodeAngleRange, "the argument of %s is not a finite number", clipText(name.text))
	}
	s, c := trig.Sincos(x)
	switch name.text {
	case "sin":
		return s, nil
	case "cos":
		return c, nil
	case "tan":
		return s / c, nil
	case "sqrt":
		return math.Sqrt(x), nil
	}
	return 0, p.fail(CodeUnsupported, "function %s is not supported; sin, cos, tan and sqrt are", clipText(name.text))
}
