package openqasm

import "math"

// convert gives a value a type: implicitly for assignments, explicitly for casts (the specification's table "Allowed
// casts"). A value that would change is refused, except by a cast to fewer bits.
func (e *elaborator) convert(at int, v value, kind valueKind, width int, explicit bool) value {
	if v.isWide() && kind != kindBit {
		fits := (kind == kindUint || kind == kindInt && explicit) && v.width <= effectiveWidth(kind, width)
		if !fits {
			fail(CodeType, at, "an integer of %d bits is not %s", v.width, typeText(kind, width))
		}
	}
	switch kind {
	case kindBool:
		if v.isRegister() && !explicit || v.kind == kindFloat && !explicit || v.kind == kindDuration {
			break
		}
		return bitValue(e.truthOf(at, v))
	case kindBit:
		if out, ok := e.toBits(at, v, width, explicit); ok {
			return out
		}
	case kindInt, kindUint:
		if out, ok := e.toInteger(at, v, kind, width, explicit); ok {
			return out
		}
	case kindDuration:
		if v.kind == kindDuration {
			return v
		}
	case kindFloat:
		if sum, ok := linear(v); ok && v.running() && v.kind != kindAngle && width != 32 {
			sum.width = width
			return sum
		}
		if x, ok := v.asReal(); ok && v.kind != kindAngle {
			if width == 32 {
				x = float64(float32(x))
			}
			return value{kind: kindFloat, width: width, real: x}
		}
	case kindAngle:
		if out, ok := toAngle(v, width, explicit); ok {
			return out
		}
	}
	if v.running() && (kind == kindFloat || kind == kindAngle) {
		fail(CodeUnsupported, at, "a value of type %s cannot depend on a measurement", typeText(kind, width))
	}
	hint := ""
	if !explicit {
		hint = "; write " + typeText(kind, width) + "(…) if that is meant"
	}
	fail(CodeType, at, "a value of type %s is not %s%s", v.describe(), typeText(kind, width), hint)
	return value{}
}

// toBits makes a bit (width 0) or a register.
func (e *elaborator) toBits(at int, v value, width int, explicit bool) (value, bool) {
	if width == 0 {
		switch {
		case v.isTruth(), v.isInteger() && v.bits == nil && (v.number == 0 || v.number == 1):
			return value{kind: kindBit, bits: []Ref{e.truthOf(at, v)}}, true
		case v.isRegister() && v.width == 1:
			return value{kind: kindBit, bits: v.bits}, true
		case explicit && v.kind != kindFloat && v.kind != kindDuration:
			return value{kind: kindBit, bits: []Ref{e.truthOf(at, v)}}, true
		}
		return value{}, false
	}
	out := value{kind: kindBit, width: width}
	switch {
	case v.isRegister() && v.width == width:
	case v.isTruth() && width == 1:
	case v.kind == kindFloat || v.kind == kindDuration || v.isRegister() || v.kind == kindAngle && v.effective() != width:
		return out, false
	case v.isWide():
		if v.width > width {
			fail(CodeType, at, "an integer of %d bits does not fit bit[%d]", v.width, width)
		}
	case v.literal && v.number >= 0 && fits(v.number, kindUint, min(width, 64)): // c = 5, as Qiskit's initializers write
	case !explicit:
		return out, false
	case v.bits == nil && v.isInteger() && !fits(v.number, kindUint, min(width, 64)) && !fits(v.number, kindInt, min(width, 64)):
		fail(CodeType, at, "%d does not fit bit[%d]", v.number, width)
	}
	out.bits = v.pattern(width)
	return out, true
}

func (e *elaborator) toInteger(at int, v value, kind valueKind, width int, explicit bool) (value, bool) {
	out := value{kind: kind, width: width}
	real := v.kind == kindFloat && len(v.terms) == 0
	switch {
	case real && explicit:
		if math.IsNaN(v.real) || math.Abs(v.real) >= 1<<63 {
			fail(CodeType, at, "%v does not fit %s", v.real, out.describe())
		}
		v = value{kind: kindInt, number: int64(v.real)}
	case v.isRegister() && (explicit || kind == kindUint || v.width < out.effective()): // Qiskit leaves such casts out
		if v.width > out.effective() {
			fail(CodeType, at, "%d bits do not fit %s", v.width, out.describe())
		}
		out.bits = v.pattern(out.effective())
		return out.folded(), true
	case v.isRegister() || v.kind == kindFloat || v.kind == kindAngle || v.kind == kindDuration:
		return out, false
	}
	if v.bits == nil {
		if w := out.effective(); explicit && !real && (w < machineWidth || v.number >= 0) { // modulo 2^w, as in C
			out.number = wrapped(v.number, kind, w)
			return out, true
		}
		if !fits(v.number, kind, width) {
			fail(CodeType, at, "%d does not fit %s", v.number, out.describe())
		}
		out.number = v.number
		return out, true
	}
	if v.effective() > out.effective() && !explicit {
		return out, false
	}
	out.bits = v.pattern(out.effective())
	return out.folded(), true
}

// wrapped keeps the lowest bits of a number, as a signed or an unsigned one.
func wrapped(number int64, kind valueKind, width int) int64 {
	low := masked(uint64(number), width)
	if kind == kindInt && low>>(width-1) == 1 {
		return int64(low - 1<<width)
	}
	return int64(low)
}

func toAngle(v value, width int, explicit bool) (value, bool) {
	switch {
	case v.kind == kindFloat && len(v.terms) == 0 && !math.IsInf(v.real, 0) && !math.IsNaN(v.real):
		return angleOf(v.real, width), true
	case v.literal:
		return angleOf(float64(v.number), width), true
	case v.kind == kindAngle && v.running():
		return runningAngle(v, width), true
	case explicit && v.isRegister() && v.width == effectiveWidth(kindAngle, width):
		return value{kind: kindAngle, width: width, bits: v.bits}.folded(), true
	case v.kind == kindAngle:
		from, to := v.effective(), effectiveWidth(kindAngle, width)
		pattern := uint64(v.number)
		if to >= from {
			pattern <<= to - from
		} else {
			pattern >>= from - to
		}
		return value{kind: kindAngle, width: width, number: int64(pattern)}, true
	}
	return value{}, false
}
