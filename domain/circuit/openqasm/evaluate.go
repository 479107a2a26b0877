package openqasm

import "math"

var constants = map[string]float64{
	"pi": math.Pi, "π": math.Pi, "tau": 2 * math.Pi, "τ": 2 * math.Pi, "euler": math.E, "ℇ": math.E,
}

// evaluate is the value of an expression.
func (e *elaborator) evaluate(x expression) value {
	e.step(x.position())
	switch x := x.(type) {
	case *literal:
		return x.value
	case *name:
		return e.named(x)
	case *unary:
		return e.unaryValue(x)
	case *binary:
		if x.op == "&&" || x.op == "||" {
			return e.logic(x)
		}
		return e.binaryValue(x.position(), x.op, e.evaluate(x.x), e.evaluate(x.y))
	case *call:
		return e.call(x)
	case *cast:
		kind, width := e.typeOf(x.to)
		return e.convert(x.position(), e.evaluate(x.x), kind, width, true)
	case *indexed:
		return e.element(x)
	case *concatenation:
		return e.joined(x)
	case *timing:
		return value{kind: kindDuration}
	case *hardware:
		fail(CodeType, x.position(), "a qubit is not a value")
	}
	fail(CodeType, x.position(), "expected a value")
	return value{}
}

// logic is a chain of one logical operator, as one formula.
func (e *elaborator) logic(x *binary) value {
	var parts []expression
	rest := expression(x)
	for {
		b, ok := rest.(*binary)
		if !ok || b.op != x.op {
			break
		}
		e.step(b.position())
		parts = append(parts, b.y)
		rest = b.x
	}
	parts = append(parts, rest)
	bits := make([]Ref, 0, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		before := e.operations
		bits = append(bits, e.truth(parts[i]))
		if i < len(parts)-1 {
			e.checkNoEffect(parts[i].position(), before, "on the right of "+x.op)
		}
	}
	if x.op == "&&" {
		return bitValue(e.and(x.position(), bits...))
	}
	return bitValue(e.or(x.position(), bits...))
}

func (e *elaborator) named(x *name) value {
	s := e.lookup(x.text)
	if s == nil {
		if c, ok := constants[x.text]; ok && (e.version == 3 || x.text == "pi") {
			return realValue(c)
		}
		known := append(e.names(symbolVariable, symbolBits, symbolArray), "pi", "tau", "euler")
		fail(CodeMalformed, x.position(), "%s is not declared%s", clip(x.text), e.undeclared(x.text, known))
	}
	switch {
	case s.kind == symbolBits:
		e.charge(x.position(), len(s.bits))
		v := value{kind: kindBit, width: len(s.bits), bits: make([]Ref, len(s.bits))}
		if s.scalar {
			v.width = 0
		}
		for i, slot := range s.bits {
			v.bits[i] = Ref{Slot: slot}
		}
		return v
	case s.kind != symbolVariable:
		fail(CodeType, x.position(), "%s is %s, not a value", clip(x.text), s.what())
	}
	return e.read(x.position(), x.text, s)
}

// read is the value of a variable. One without a value may have any; it is 0 here, and a warning says so.
func (e *elaborator) read(at int, word string, s *symbol) value {
	if !s.defined {
		s.defined = true
		e.warnUnset(at, word)
	}
	v := s.value
	if s.slots != nil {
		v.bits = make([]Ref, len(s.slots))
		for i, slot := range s.slots {
			v.bits[i] = Ref{Slot: slot}
		}
	}
	return v
}

// joined is a ++ b as a value: the bits of the first part are the lowest.
func (e *elaborator) joined(x *concatenation) value {
	out := value{kind: kindBit}
	for _, part := range x.parts {
		v := e.evaluate(part)
		if v.kind != kindBit {
			fail(CodeType, part.position(), "++ joins bits here, not a value of type %s", v.describe())
		}
		e.limitPlaces(part.position(), len(out.bits)+len(v.bits))
		out.bits = append(out.bits, v.bits...)
	}
	out.width = len(out.bits)
	return out
}

// element is an element of an array, or a bit or several bits of a value.
func (e *elaborator) element(x *indexed) value {
	if items := e.runningItems(x); len(items) > 0 {
		return e.selected(x, items)
	}
	if a, word, ok := e.tryArray(x); ok {
		if len(a.sizes) > 0 {
			fail(CodeType, x.position(), "a part of the array %s is not a value; give %d more indexes", clip(word), len(a.sizes))
		}
		return e.read(x.position(), word, a.elements[0])
	}
	base := e.evaluate(x.base)
	refuseWide(x.position(), base)
	if base.isTruth() || base.kind == kindFloat {
		fail(CodeType, x.position(), "a value of type %s has no elements", base.describe())
	}
	list := base.pattern(base.effective())
	places, one := e.places(x, len(list))
	if one {
		return value{kind: kindBit, bits: []Ref{list[places[0]]}}.folded()
	}
	v := value{kind: kindBit, width: len(places), bits: make([]Ref, len(places))}
	for i, p := range places {
		v.bits[i] = list[p]
	}
	return v
}

// knownInteger evaluates something that has to be an integer and known now: an index, a size, a bound.
func (e *elaborator) knownInteger(x expression) int64 {
	if known, ok := e.assumed[x]; ok {
		return known
	}
	v := e.evaluate(x)
	refuseWide(x.position(), v)
	if v.running() {
		fail(CodeUnsupported, x.position(), "this integer depends on a measurement; it has to be known before the program runs")
	}
	if v.kind == kindFloat && e.version == 2 && v.real == math.Trunc(v.real) && math.Abs(v.real) < 1<<53 {
		return int64(v.real)
	}
	if !v.isInteger() && !v.isTruth() {
		fail(CodeType, x.position(), "expected an integer, not a value of type %s", v.describe())
	}
	return v.folded().number
}

// knownReal evaluates an angle or an exponent.
func (e *elaborator) knownReal(x expression, what string) float64 {
	return e.realOf(x, e.evaluate(x), what)
}

// realOf is a value that has to be a number and known now.
func (e *elaborator) realOf(x expression, v value, what string) float64 {
	refuseWide(x.position(), v)
	if v.running() || v.bits != nil && v.kind != kindBit {
		fail(CodeUnsupported, x.position(), "%s depends on a measurement; it has to be known before the program runs", what)
	}
	r, ok := v.asReal()
	if !ok {
		fail(CodeType, x.position(), "%s is a number, not a value of type %s", what, v.describe())
	}
	if math.IsInf(r, 0) || math.IsNaN(r) {
		fail(CodeAngle, x.position(), "%s is not a finite number", what)
	}
	return r
}

// asReal is a known number in floating point.
func (v value) asReal() (float64, bool) {
	switch v.kind {
	case kindFloat:
		return v.real, len(v.terms) == 0
	case kindAngle:
		return v.angleReal(), v.bits == nil
	case kindInt, kindUint, kindBool:
		return float64(v.number), v.bits == nil
	}
	return 0, false
}

// truth is an expression as a condition.
func (e *elaborator) truth(x expression) Ref { return e.truthOf(x.position(), e.evaluate(x)) }

func (e *elaborator) truthOf(at int, v value) Ref {
	if len(v.terms) > 0 || v.kind == kindDuration {
		fail(CodeUnsupported, at, "a real number that depends on a measurement, or a duration, is no condition; compare integers")
	}
	if v.bits == nil {
		return constant(v.kind == kindFloat && v.real != 0 || v.number != 0)
	}
	if len(v.bits) == 1 {
		return v.bits[0]
	}
	return e.or(at, v.bits...)
}

func (e *elaborator) unaryValue(x *unary) value {
	v := e.evaluate(x.x)
	at := x.position()
	refuseWide(at, v)
	switch x.op {
	case "!":
		return bitValue(e.truthOf(at, v).not())
	case "~":
		return complement(at, v)
	}
	switch {
	case v.kind == kindDuration:
		return v
	case v.kind == kindFloat:
		return v.scaled(-1)
	case e.version == 2 && v.isInteger():
		return realValue(-float64(v.number))
	case v.kind == kindAngle:
		return e.binaryValue(at, "-", value{kind: kindAngle, width: v.width}, v)
	case v.isInteger():
		zero := value{kind: v.kind, width: v.width, literal: v.literal}
		return e.binaryValue(at, "-", zero, v)
	}
	fail(CodeType, at, "- takes a number, not a value of type %s", v.describe())
	return value{}
}

func complement(at int, v value) value {
	switch {
	case v.kind == kindBit || v.kind == kindBool || v.kind == kindUint || v.kind == kindInt && v.width > 0:
		list := v.pattern(v.effective())
		for i, b := range list {
			list[i] = b.not()
		}
		v.bits, v.literal = list, false
		return v.folded()
	}
	fail(CodeType, at, "~ takes bits or an integer with a width, not a value of type %s", v.describe())
	return value{}
}
