package openqasm

import "math/bits"

// The running program computes with single bits: comparisons and sums of values that depend on measurements are built
// here from and, or and xor.

// compare is x op y. Known numbers are compared now.
func (e *elaborator) compare(at int, op string, x, y value) Ref {
	switch op {
	case "==":
		return e.equal(at, x, y)
	case "!=":
		return e.equal(at, x, y).not()
	case "<":
		return e.less(at, x, y)
	case ">":
		return e.less(at, y, x)
	case "<=":
		return e.less(at, y, x).not()
	}
	return e.less(at, x, y).not()
}

// comparable refuses pairs of types that have no order or equality, and reports whether both are numbers known now.
func (e *elaborator) comparable(at int, x, y value) (real bool) {
	if x.kind == kindDuration || y.kind == kindDuration {
		fail(CodeUnsupported, at, "durations cannot be compared: a simulated circuit takes no time")
	}
	if x.kind == kindFloat || y.kind == kindFloat {
		_, okX := x.asReal()
		_, okY := y.asReal()
		if okX && okY && x.kind != kindAngle && y.kind != kindAngle {
			return true
		}
		fail(CodeType, at, "%s and %s cannot be compared", x.describe(), y.describe())
	}
	if (x.kind == kindAngle) != (y.kind == kindAngle) || x.kind == kindAngle && x.effective() != y.effective() {
		fail(CodeType, at, "%s and %s cannot be compared without a cast", x.describe(), y.describe())
	}
	if x.isRegister() && y.isRegister() && x.width != y.width {
		fail(CodeType, at, "registers of %d and %d bits cannot be compared", x.width, y.width)
	}
	return false
}

func (e *elaborator) equal(at int, x, y value) Ref {
	if e.comparable(at, x, y) {
		a, _ := x.asReal()
		b, _ := y.asReal()
		return constant(a == b)
	}
	a, b := aligned(x, y)
	same := make([]Ref, len(a))
	for i := range a {
		e.step(at)
		same[i] = e.xor(at, a[i], b[i]).not()
	}
	return e.and(at, same...)
}

// aligned gives two integers as bits of one width, one bit wider than either, so that the sign of both is kept.
func aligned(x, y value) (a, b []Ref) {
	width := max(x.needed(), y.needed()) + 1
	if x.kind == kindAngle {
		width--
	}
	return x.pattern(width), y.pattern(width)
}

// needed is the width that holds the value: that of its type, or of its digits when it is known.
func (v value) needed() int {
	if v.bits != nil || !v.isInteger() {
		return v.effective()
	}
	return bits.Len64(uint64(v.number^v.number>>63)) + 1
}

// less compares from the lowest bit up: the highest bit that differs decides. The top bit is the sign.
func (e *elaborator) less(at int, x, y value) Ref {
	if e.comparable(at, x, y) {
		a, _ := x.asReal()
		b, _ := y.asReal()
		return constant(a < b)
	}
	a, b := aligned(x, y)
	if x.kind != kindAngle {
		top := len(a) - 1
		a[top], b[top] = b[top], a[top]
	}
	less := constant(false)
	for i := range a {
		e.step(at)
		less = e.choose(at, e.xor(at, a[i], b[i]), less, b[i])
	}
	return less
}

// runningArithmetic is modulo 2^width.
func (e *elaborator) runningArithmetic(at int, op string, x, y value, kind valueKind, width int) value {
	out := value{kind: kind, width: width}
	e.checkLiteral(at, x, out)
	e.checkLiteral(at, y, out)
	w := out.effective()
	a, b := x.pattern(w), y.pattern(w)
	switch op {
	case "+":
		out.bits = e.sum(at, a, b, constant(false))
	case "-":
		for i, r := range b {
			b[i] = r.not()
		}
		out.bits = e.sum(at, a, b, constant(true))
	case "*":
		out.bits = make([]Ref, w)
		for i := range out.bits {
			out.bits[i] = constant(false)
		}
		for i, r := range b {
			if v, known := r.Constant(); known && !v {
				continue
			}
			shifted := make([]Ref, w)
			for j := range shifted {
				shifted[j] = constant(false)
				if j >= i {
					shifted[j] = e.and(at, a[j-i], r)
				}
			}
			out.bits = e.sum(at, out.bits, shifted, constant(false))
		}
	default:
		fail(CodeUnsupported, at, "%s of values that depend on a measurement is not supported; +, - and * are", op)
	}
	return out.folded()
}

// sum adds with a carry, from the lowest bit up.
func (e *elaborator) sum(at int, a, b []Ref, carry Ref) []Ref {
	out := make([]Ref, len(a))
	for i := range a {
		e.step(at)
		half := e.xor(at, a[i], b[i])
		out[i] = e.xor(at, half, carry)
		if i < len(a)-1 {
			carry = e.or(at, e.and(at, a[i], b[i]), e.and(at, half, carry))
		}
	}
	return out
}
