package openqasm

import (
	"math"
	"math/bits"
)

// binaryValue is x op y. Version 2 knows real numbers only, apart from the comparison in "if".
func (e *elaborator) binaryValue(at int, op string, x, y value) value {
	switch op {
	case "==", "!=", "<", "<=", ">", ">=":
		return bitValue(e.compare(at, op, x, y))
	}
	refuseWide(at, x)
	refuseWide(at, y)
	switch op {
	case "&", "|", "^":
		return e.bitwise(at, op, x, y)
	case "<<", ">>":
		return e.shift(at, op, x, y)
	}
	if x.kind == kindDuration || y.kind == kindDuration {
		return durationArithmetic(at, op, x, y)
	}
	if e.version == 2 || x.kind == kindFloat || y.kind == kindFloat {
		return realArithmetic(at, op, x, y)
	}
	if x.kind == kindAngle || y.kind == kindAngle {
		return e.angleArithmetic(at, op, x, y)
	}
	if x.kind == kindBit || y.kind == kindBit {
		fail(CodeType, at, "%s does not take bits; write uint[n](…) first", op)
	}
	x, y = asInteger(x), asInteger(y)
	kind, width, literal := common(x, y)
	if x.bits != nil || y.bits != nil {
		return e.runningArithmetic(at, op, x, y, kind, width)
	}
	return integerArithmetic(at, op, x.number, y.number, value{kind: kind, width: width, literal: literal})
}

// refuseWide refuses to compute with a written integer that no int holds.
func refuseWide(at int, v value) {
	if v.isWide() {
		fail(CodeType, at, "an integer beyond 2^63 - 1 can be compared with a register and be assigned to one, and nothing else")
	}
}

// asInteger promotes a truth value.
func asInteger(v value) value {
	if v.kind == kindBool {
		v.kind, v.width, v.literal = kindUint, 1, v.bits == nil
		if v.bits == nil {
			v.kind, v.width = kindInt, 0
		}
	}
	return v
}

// common is the type of an operation on two integers, as in C: the wider one; unsigned where widths are equal. An
// integer written in the program takes the type of the other.
func common(x, y value) (kind valueKind, width int, literal bool) {
	switch {
	case x.literal && y.literal:
		return kindInt, 0, true
	case x.literal:
		return y.kind, y.width, false
	case y.literal:
		return x.kind, x.width, false
	case x.effective() > y.effective():
		return x.kind, x.width, false
	case x.effective() < y.effective():
		return y.kind, y.width, false
	case x.kind == kindUint:
		return x.kind, x.width, false
	}
	return y.kind, y.width, false
}

// integerArithmetic is exact. A result that its type cannot hold is refused for int; uint is modulo 2^width.
func integerArithmetic(at int, op string, x, y int64, result value) value {
	exact, ok := int64(0), true
	switch op {
	case "+":
		exact = x + y
		ok = (exact > x) == (y > 0)
	case "-":
		exact = x - y
		ok = (exact < x) == (y > 0)
	case "*":
		exact, ok = product(x, y)
	case "/", "%":
		if y == 0 {
			fail(CodeAngle, at, "division by zero")
		}
		if x == math.MinInt64 && y == -1 {
			ok = false
		} else if exact = x / y; op == "%" {
			exact = x % y
		}
	case "**":
		exact, ok = integerPower(at, x, y)
	}
	if ok && result.kind == kindUint {
		w := result.effective()
		if ok = w < 64 || exact >= 0; ok {
			result.number = int64(masked(uint64(exact), w))
			return result
		}
	}
	if !ok || !fits(exact, result.kind, result.width) {
		fail(CodeType, at, "the result of %s does not fit %s", op, result.describe())
	}
	result.number = exact
	return result
}

func product(x, y int64) (int64, bool) {
	magnitude := func(i int64) uint64 {
		if i < 0 {
			return -uint64(i)
		}
		return uint64(i)
	}
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	return x * y, true
}

func integerPower(at int, base, exponent int64) (int64, bool) {
	if exponent < 0 {
		fail(CodeType, at, "an integer has no negative power; write the base as a float")
	}
	if base == 0 || base == 1 || base == -1 {
		if exponent == 0 {
			return 1, true
		}
		if base == -1 && exponent%2 == 0 {
			return 1, true
		}
		return base, true
	}
	result, ok := int64(1), exponent < 64
	for i := int64(0); ok && i < exponent; i++ {
		result, ok = product(result, base)
	}
	return result, ok
}

func realArithmetic(at int, op string, x, y value) value {
	a, okA := x.asReal()
	b, okB := y.asReal()
	if !okA || !okB {
		if sum, ok := linearArithmetic(op, x, y); ok {
			return sum
		}
		if x.running() || y.running() {
			fail(CodeUnsupported, at, "%s on these values cannot depend on a measurement; sums of measured integers times known numbers can", op)
		}
		fail(CodeType, at, "%s does not take %s and %s", op, x.describe(), y.describe())
	}
	switch op {
	case "+":
		return realValue(a + b)
	case "-":
		return realValue(a - b)
	case "*":
		return realValue(float64(a * b))
	case "/":
		return realValue(a / b)
	case "%":
		return realValue(math.Mod(a, b))
	}
	return realValue(realPower(at, a, b))
}

// angleArithmetic works on the patterns, as the specification's section "Angles" says.
func (e *elaborator) angleArithmetic(at int, op string, x, y value) value {
	wrong := func() {
		fail(CodeType, at, "%s does not take %s and %s", op, x.describe(), y.describe())
	}
	if x.running() || y.running() {
		if op == "*" && x.isInteger() {
			x, y = y, x
		}
		switch {
		case op == "*" && y.isInteger():
		case op != "+" && op != "-" || x.kind != y.kind:
			wrong()
		case x.effective() != y.effective():
			fail(CodeType, at, "angles of %d and %d bits need a cast to one width", x.effective(), y.effective())
		}
		return e.runningArithmetic(at, op, x, y, kindAngle, x.width)
	}
	out := x
	var pattern uint64
	switch a, b := uint64(x.number), uint64(y.number); {
	case x.kind == kindAngle && y.kind == kindAngle:
		if x.effective() != y.effective() {
			fail(CodeType, at, "angles of %d and %d bits need a cast to one width", x.effective(), y.effective())
		}
		switch op {
		case "+":
			pattern = a + b
		case "-":
			pattern = a - b
		case "/":
			if b == 0 {
				fail(CodeAngle, at, "division by zero")
			}
			out.kind, pattern = kindUint, a/b
		default:
			wrong()
		}
	case x.kind == kindAngle && y.isInteger() && y.number >= 0 && op == "*":
		pattern = a * b
	case x.kind == kindAngle && y.isInteger() && y.number > 0 && op == "/":
		pattern = a / b
	case y.kind == kindAngle && x.isInteger() && x.number >= 0 && op == "*":
		out, pattern = y, a*b
	default:
		wrong()
	}
	out.number = int64(masked(pattern, out.effective()))
	return out
}

func (e *elaborator) bitwise(at int, op string, x, y value) value {
	if y.isRegister() && x.literal {
		x, y = y, x
	}
	out, width := x, 1
	switch {
	case x.isRegister() && y.literal: // Qiskit writes c ^ 1
		width = x.width
		e.checkLiteral(at, y, value{kind: kindUint, width: min(width, machineWidth)})
	case x.isTruth() && y.isTruth():
		out = value{kind: kindBool}
	case x.isRegister() && y.isRegister() && x.width == y.width, x.kind == kindAngle && y.kind == kindAngle && x.effective() == y.effective():
		width = x.effective()
	case x.isInteger() && y.isInteger():
		out.kind, out.width, out.literal = common(x, y)
		width = out.effective()
		e.checkLiteral(at, x, out)
		e.checkLiteral(at, y, out)
	default:
		fail(CodeType, at, "%s takes two values of one type and width, not %s and %s", op, x.describe(), y.describe())
	}
	a, b := x.pattern(width), y.pattern(width)
	for i := range a {
		e.step(at)
		switch op {
		case "&":
			a[i] = e.and(at, a[i], b[i])
		case "|":
			a[i] = e.or(at, a[i], b[i])
		default:
			a[i] = e.xor(at, a[i], b[i])
		}
	}
	out.bits = a
	return out.folded()
}

// checkLiteral refuses a written integer that the type it meets cannot hold.
func (e *elaborator) checkLiteral(at int, v, to value) {
	if v.literal && v.bits == nil && !fits(v.number, to.kind, to.width) {
		fail(CodeType, at, "%d does not fit %s", v.number, to.describe())
	}
}

func (e *elaborator) shift(at int, op string, x, y value) value {
	if !(y.isInteger() || y.running() && y.isRegister()) || !(x.isInteger() || x.isRegister() || x.kind == kindAngle) {
		fail(CodeType, at, "%s does not take %s and %s", op, x.describe(), y.describe())
	}
	if y.running() {
		return e.runningShift(at, op, x, y)
	}
	if y.number < 0 {
		fail(CodeType, at, "a shift by %d; the distance of %s cannot be negative", y.number, op)
	}
	if x.literal && op == "<<" {
		if y.number > 62 {
			fail(CodeType, at, "the result of << does not fit int")
		}
		return integerArithmetic(at, "*", x.number, 1<<y.number, x)
	}
	x.bits = shifted(op, x, int(min(y.number, int64(x.effective()))))
	return x.folded()
}

// runningShift is a shift by a distance that depends on a measurement: by 1, 2, 4, … where that bit of the distance is 1.
func (e *elaborator) runningShift(at int, op string, x, y value) value {
	if y.kind == kindInt {
		fail(CodeType, at, "the distance of %s depends on a measurement and could be negative; write uint[n](…)", op)
	}
	x.literal = false // an int: what is shifted out of it is lost
	for i, bit := range y.pattern(y.effective()) {
		size := x.effective()
		moved, list := shifted(op, x, min(size, 1<<min(i, 16))), x.pattern(size)
		for j := range list {
			e.step(at)
			list[j] = e.choose(at, bit, list[j], moved[j])
		}
		x.bits = list
	}
	return x.folded()
}

// shifted are the bits of a value moved by a distance up to their number.
func shifted(op string, x value, distance int) []Ref {
	list := x.pattern(x.effective())
	fill := constant(false)
	if x.kind == kindInt && op == ">>" {
		fill = list[len(list)-1]
	}
	out := make([]Ref, len(list))
	if op == "<<" {
		distance = -distance
	}
	for i := range out {
		out[i] = fill
		if from := i + distance; from >= 0 && from < len(list) {
			out[i] = list[from]
		}
	}
	return out
}
