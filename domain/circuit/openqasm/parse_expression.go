package openqasm

import (
	"math/big"
	"strconv"
	"strings"
)

// precedence of the binary operators of version 3, weakest first (the specification's "operator-precedence" table).
// ** binds tighter than a sign and is read by power.
var precedence = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
	"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// precedence2 is that of version 2, where ^ is the power.
var precedence2 = map[string]int{"==": 6, "+": 9, "-": 9, "*": 10, "/": 10}

func (p *parser) expression() expression { return p.operators(1) }

// operators reads operators of at least the given precedence, all of them left-associative.
func (p *parser) operators(weakest int) (left expression) {
	table := precedence
	if p.version == 2 {
		table = precedence2
	}
	p.nested(func() {
		left = p.signed()
		for {
			t := p.peek()
			strength, ok := table[t.text]
			if t.kind != tokenSymbol || !ok || strength < weakest {
				return
			}
			p.next()
			if p.chain++; p.chain > maxList {
				fail(CodeTooLarge, t.at, "an expression has more than %d operators", maxList)
			}
			left = &binary{p.node(t.at), t.text, left, p.operators(strength + 1)}
		}
	})
	return left
}

func (p *parser) signed() (x expression) {
	t := p.peek()
	if t.kind != tokenSymbol || t.text != "-" && t.text != "!" && t.text != "~" && t.text != "+" || p.version == 2 && (t.text == "!" || t.text == "~") {
		return p.power()
	}
	p.next()
	p.nested(func() {
		x = p.signed()
		if t.text != "+" { // not in the grammar of version 3, but harmless
			x = &unary{p.node(t.at), t.text, x}
		}
	})
	return x
}

// power reads a ** b; it is right-associative, and its exponent may have a sign.
func (p *parser) power() expression {
	base := p.indexes(p.atom())
	t := p.peek()
	if !p.is("**") && (p.version == 3 || !p.is("^")) {
		return base
	}
	p.next()
	var exponent expression
	p.nested(func() { exponent = p.signed() })
	return &binary{p.node(t.at), "**", base, exponent}
}

// indexes reads "[…]" after a value.
func (p *parser) indexes(base expression) expression {
	for p.is("[") {
		start := p.next()
		x := &indexed{at: p.node(start.at), base: base}
		p.nested(func() {
			if p.is("{") {
				x.items = []expression{p.set()}
				return
			}
			for !p.is("]") {
				x.items = append(x.items, p.indexItem())
				p.bound(len(x.items))
				if !p.accept(",") {
					break
				}
			}
		})
		if len(x.items) == 0 {
			p.unexpected("an index")
		}
		p.expect("]")
		base = x
	}
	return base
}

// indexItem reads an index or a range a:b or a:step:b.
func (p *parser) indexItem() expression {
	start := p.peek().at
	part := func() expression {
		if p.is(":") || p.is("]") || p.is(",") {
			return nil
		}
		return p.expression()
	}
	first := part()
	if !p.accept(":") {
		if first == nil {
			p.unexpected("an index")
		}
		return first
	}
	s := &span{at: p.node(start), start: first, stop: part()}
	if p.accept(":") {
		s.step, s.stop = s.stop, part()
	}
	return s
}

func (p *parser) set() (x expression) {
	start := p.expect("{")
	p.nested(func() { x = &set{p.node(start.at), p.expressions("}")} })
	return x
}

// expressions reads a list up to a closing symbol.
func (p *parser) expressions(end string) []expression {
	var list []expression
	for !p.is(end) {
		if p.is("{") {
			list = append(list, p.set())
		} else {
			list = append(list, p.joined())
		}
		p.bound(len(list))
		if !p.accept(",") {
			break
		}
	}
	p.expect(end)
	return list
}

func (p *parser) atom() (x expression) {
	t := p.peek()
	switch t.kind {
	case tokenInteger:
		p.next()
		return &literal{p.node(t.at), integerLiteral(t)}
	case tokenFloat:
		p.next()
		return &literal{p.node(t.at), realLiteral(t)}
	case tokenString:
		p.next()
		return &literal{p.node(t.at), bitsLiteral(t)}
	case tokenTiming:
		p.next()
		p.timings = append(p.timings, at(t.at))
		return &literal{p.node(t.at), value{kind: kindDuration}}
	case tokenImaginary:
		fail(CodeUnsupported, t.at, "complex values are not supported")
	case tokenHardware:
		return p.operand()
	case tokenName:
		return p.word(t)
	case tokenSymbol:
		if p.accept("(") {
			x = p.expression()
			p.expect(")")
			return x
		}
	}
	p.unexpected("a value")
	return nil
}

// word reads a name, a call, a cast or a truth value.
func (p *parser) word(t token) expression {
	if p.version == 3 {
		switch t.text {
		case "true", "false":
			p.next()
			return &literal{p.node(t.at), boolValue(t.text == "true")}
		case "bit", "bool", "int", "uint", "float", "angle", "complex":
			to := p.typeName()
			p.expect("(")
			x := &cast{at: to.at, to: to}
			x.x = p.expression()
			p.expect(")")
			return x
		case "measure":
			fail(CodeMalformed, t.at, "measure stands alone on the right of an assignment")
		case "durationof":
			return p.durationOf()
		}
		if why, ok := unsupported[t.text]; ok {
			fail(CodeUnsupported, t.at, "%s", why)
		}
	}
	p.next()
	if p.is("(") {
		p.next()
		c := &call{at: p.node(t.at), function: t.text}
		p.nested(func() { c.arguments = p.expressions(")") })
		return c
	}
	return &name{p.node(t.at), t.text}
}

// integerLiteral reads an integer of any base. One larger than 2⁶³ − 1 is wide: it can be compared with a register, and be its value.
func integerLiteral(t token) value {
	text := strings.ReplaceAll(t.text, "_", "")
	i, ok := new(big.Int), false
	if len(text) <= maxBits {
		base := 10
		if len(text) > 1 && text[0] == '0' && !isDigit(text[1]) {
			base = map[byte]int{'b': 2, 'B': 2, 'o': 8, 'O': 8, 'x': 16, 'X': 16}[text[1]]
			text = text[2:]
		}
		if i, ok = i.SetString(text, base); !ok {
			fail(CodeMalformed, t.at, "%s is not a number", clip(t.text))
		}
	}
	if !ok || i.BitLen() > maxBits {
		fail(CodeType, t.at, "the integer %s is too large; the largest has %d bits", clip(t.text), maxBits)
	}
	if i.IsInt64() {
		return intValue(i.Int64())
	}
	wide := value{kind: kindUint, width: i.BitLen(), bits: make([]Ref, i.BitLen()), literal: true}
	for k := range wide.bits {
		wide.bits[k] = constant(i.Bit(k) == 1)
	}
	return wide
}

func realLiteral(t token) value {
	x, err := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
	if err != nil {
		fail(CodeAngle, t.at, "the number %s is too large; the largest is about 1.8e308", clip(t.text))
	}
	return realValue(x)
}

// bitsLiteral reads "0101": the rightmost character is bit 0.
func bitsLiteral(t token) value {
	text := strings.ReplaceAll(t.text, "_", "")
	if text == "" || strings.Trim(text, "01") != "" || len(text) > maxBits {
		fail(CodeType, t.at, "%s is not a string of at most %d zeros and ones", t.describe(), maxBits)
	}
	bits := make([]Ref, len(text))
	for i := range text {
		bits[len(text)-1-i] = constant(text[i] == '1')
	}
	return value{kind: kindBit, width: len(text), bits: bits}
}
