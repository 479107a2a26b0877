package openqasm

import (
	"math"
	"slices"
)

// A real number that depends on measurements is a sum of known weights, one for each bit that is 1. It can be an angle of a gate, and is kept
// in no variable.

// linear is a value as such a sum.
func linear(v value) (value, bool) {
	if real, known := v.asReal(); known {
		return realValue(real), true
	}
	unit := 1.0
	switch v.kind {
	case kindFloat:
		return v, true
	case kindAngle:
		unit = float64(2*math.Pi) * math.Ldexp(1, -v.effective())
	case kindInt, kindUint, kindBool:
	default:
		return value{}, false
	}
	out := value{kind: kindFloat}
	for i, bit := range v.bits {
		weight := math.Ldexp(unit, i)
		if v.kind == kindInt && i == len(v.bits)-1 {
			weight = -weight
		}
		out = out.with(bit, weight)
	}
	return out, true
}

// with adds a weight where a bit is 1.
func (v value) with(bit Ref, weight float64) value {
	one, known := bit.Constant()
	switch {
	case known && one:
		v.real += weight
	case known:
	default:
		for i, t := range v.terms {
			if t.bit == bit {
				v.terms = append([]term{}, v.terms...)
				v.terms[i].weight += weight
				return v
			}
		}
		v.terms = append(v.terms[:len(v.terms):len(v.terms)], term{bit, weight})
	}
	return v
}

// scaled multiplies a real number.
func (v value) scaled(k float64) value {
	out := value{kind: kindFloat, width: v.width, real: float64(v.real * k)}
	for _, t := range v.terms {
		out = out.with(t.bit, float64(t.weight*k))
	}
	return out
}

// linearArithmetic adds, subtracts and scales sums of which at least one depends on a measurement.
func linearArithmetic(op string, x, y value) (out value, ok bool) {
	x, okX := linear(x)
	y, okY := linear(y)
	switch {
	case !okX || !okY:
	case op == "*" && len(x.terms) == 0:
		return y.scaled(x.real), true
	case op == "*" && len(y.terms) == 0:
		return x.scaled(y.real), true
	case op == "/" && len(y.terms) == 0:
		out = realValue(x.real / y.real)
		for _, t := range x.terms {
			out = out.with(t.bit, t.weight/y.real)
		}
		return out, true
	case op == "+" || op == "-":
		if op == "-" {
			y = y.scaled(-1)
		}
		out = x
		out.real += y.real
		for _, t := range y.terms {
			out = out.with(t.bit, t.weight)
		}
		return out, true
	}
	return value{}, false
}

// runningAngle is an angle with another number of bits: the highest are the same.
func runningAngle(v value, width int) value {
	out := value{kind: kindAngle, width: width}
	list := v.pattern(v.effective())
	for more := out.effective() - len(list); more > 0; more-- {
		out.bits = append(out.bits, constant(false))
	}
	out.bits = append(out.bits, list[max(0, len(list)-out.effective()):]...)
	return out.folded()
}

// durationArithmetic checks types: sums of durations, and their multiples.
func durationArithmetic(at int, op string, x, y value) value {
	both := x.kind == kindDuration && y.kind == kindDuration
	switch {
	case both && op == "/":
		fail(CodeUnsupported, at, "the quotient of two durations is not known: a simulated circuit takes no time")
	case both && (op == "+" || op == "-"), !both && op == "*" && (x.isNumber() || y.isNumber()), !both && op == "/" && y.isNumber():
		return value{kind: kindDuration}
	}
	fail(CodeType, at, "%s does not take %s and %s", op, x.describe(), y.describe())
	return value{}
}

func (v value) isNumber() bool { return v.isInteger() || v.kind == kindFloat }

// maxCases bounds the bits that decide the parameters of a gate which has to be written out for each of their values.
const maxCases = 5

// parameter is a parameter of a gate: a finite number, or a sum that depends on measurements.
func (e *elaborator) parameter(x expression, of string) value {
	v := e.evaluate(x)
	sum, ok := linear(v)
	if !v.running() || !ok || v.isWide() {
		return realValue(e.realOf(x, v, "a parameter of "+clip(of)))
	}
	for _, t := range append(sum.terms, term{weight: sum.real}) {
		if math.IsInf(t.weight, 0) || math.IsNaN(t.weight) {
			fail(CodeAngle, x.position(), "a parameter of %s is not a finite number", clip(of))
		}
	}
	return sum
}

// applyRunning applies a gate whose parameters depend on measurements. A rotation is applied for each bit by that bit's weight; another gate
// is written out for each value of the bits.
func (e *elaborator) applyRunning(c *gateCall, params []value) {
	g := e.gateOf(c)
	if g.additive && len(params) == 1 && e.wholeModifiers(c) {
		if params[0].real != 0 {
			e.applyKnown(c, params, constant(true))
		}
		for _, t := range params[0].terms {
			e.applyKnown(c, []value{realValue(t.weight)}, t.bit)
		}
		return
	}
	var bits []Ref
	for _, p := range params {
		for _, t := range p.terms {
			if positive := (Ref{Slot: t.bit.Slot}); !slices.Contains(bits, positive) {
				bits = append(bits, positive)
			}
		}
	}
	if len(bits) > maxCases {
		fail(CodeUnsupported, c.position(), "the parameters of %s depend on %d measured bits; at most %d may, except the one angle of a rotation such as rx, rz, p, rzz or cp: "+
			"write the gate by those", clip(c.name), len(bits), maxCases)
	}
	for pattern := range 1 << len(bits) {
		literals := make([]Ref, len(bits))
		is := map[Ref]bool{}
		for i, b := range bits {
			one := pattern>>i&1 == 1
			literals[i] = Ref{Slot: b.Slot, Not: !one}
			is[literals[i]] = true
		}
		chosen := make([]value, len(params))
		for i, p := range params {
			chosen[i] = realValue(p.real)
			for _, t := range p.terms {
				if is[t.bit] {
					chosen[i].real += t.weight
				}
			}
		}
		e.applyKnown(c, chosen, e.and(c.position(), literals...))
	}
}

// wholeModifiers reports whether every power of a call is an integer: the principal root of a product is not the product of the roots.
func (e *elaborator) wholeModifiers(c *gateCall) bool {
	var a application
	e.modify(&a, c.modifiers)
	_, whole := wholePower(a)
	return whole
}
