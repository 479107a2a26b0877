package openqasm

import (
	"math"
	"math/bits"
)

type valueKind uint8

const (
	kindBool valueKind = iota
	kindBit            // width 0: one bit; otherwise a register
	kindInt            // width 0: none written
	kindUint
	kindFloat
	kindAngle
	kindDuration // of unknown length: a simulated circuit takes no time
)

func (k valueKind) String() string {
	return [...]string{"bool", "bit", "int", "uint", "float", "angle", "duration"}[k]
}

// machineWidth is the width of int, uint and angle without one.
const machineWidth = 64

// value is a classical value. It is known now (number, real), or a list of bits that the running program knows, or a real number that
// is a sum of such bits.
type value struct {
	kind    valueKind
	width   int
	number  int64   // bool, int, uint; angle: the pattern, 2π·number/2^width read as unsigned
	real    float64 // float
	terms   []term  // float: added to real
	bits    []Ref   // registers always; others when they depend on measurements. Lowest first
	literal bool    // an integer written in the program, or computed from such: it takes the width it meets
}

// term adds a weight to a real number where a bit of the running program is 1.
type term struct {
	bit    Ref
	weight float64
}

func boolValue(v bool) value {
	out := value{kind: kindBool}
	if v {
		out.number = 1
	}
	return out
}

func intValue(i int64) value    { return value{kind: kindInt, number: i, literal: true} }
func realValue(x float64) value { return value{kind: kindFloat, real: x} }
func bitValue(r Ref) value      { return value{kind: kindBool, bits: []Ref{r}}.folded() }
func (v value) running() bool {
	return len(v.terms) > 0 || v.bits != nil && !(v.kind == kindBit && allConstant(v.bits))
}
func (v value) isWide() bool      { return v.literal && v.bits != nil }
func (v value) isInteger() bool   { return v.kind == kindInt || v.kind == kindUint }
func (v value) isRegister() bool  { return v.kind == kindBit && v.width > 0 }
func (v value) isTruth() bool     { return v.kind == kindBool || v.kind == kindBit && v.width == 0 }
func (v value) effective() int    { return effectiveWidth(v.kind, v.width) }
func (v value) describe() string  { return typeText(v.kind, v.width) }
func allConstant(list []Ref) bool { return countConstant(list) == len(list) }

func countConstant(list []Ref) (n int) {
	for _, r := range list {
		if _, known := r.Constant(); known {
			n++
		}
	}
	return n
}

func effectiveWidth(k valueKind, width int) int {
	switch {
	case k == kindBool || k == kindBit && width == 0:
		return 1
	case width == 0:
		return machineWidth
	}
	return width
}

func typeText(k valueKind, width int) string {
	if width == 0 {
		return k.String()
	}
	return k.String() + "[" + itoa(width) + "]"
}

// folded turns bits that are all constant into a known value. Registers stay lists of bits.
func (v value) folded() value {
	if v.bits == nil || v.isRegister() || !allConstant(v.bits) {
		return v
	}
	pattern := patternOf(v.bits)
	if v.kind == kindUint && pattern>>63 == 1 {
		return v // no int64 holds it
	}
	v.bits = nil
	v.number = int64(pattern)
	if v.kind == kindInt && v.effective() < 64 && pattern>>(v.effective()-1)&1 == 1 {
		v.number = int64(pattern | ^uint64(0)<<v.effective())
	}
	if v.kind == kindBit {
		v.kind = kindBool
	}
	return v
}

func patternOf(list []Ref) (pattern uint64) {
	for i, r := range list {
		if r.Not && i < 64 {
			pattern |= 1 << i
		}
	}
	return pattern
}

// pattern is the value as bits, lowest first, extended or cut to a width.
func (v value) pattern(width int) []Ref {
	list := v.bits
	if list == nil {
		list = make([]Ref, min(v.effective(), 64))
		for i := range list {
			list[i] = constant(uint64(v.number)>>i&1 == 1)
		}
	}
	out := make([]Ref, width)
	fill := constant(false)
	if v.kind == kindInt && len(list) > 0 {
		fill = list[len(list)-1]
	}
	for i := range out {
		if i < len(list) {
			out[i] = list[i]
		} else {
			out[i] = fill
		}
	}
	return out
}

// angleReal is the angle in radians, in [0, 2π).
func (v value) angleReal() float64 {
	return float64(2*math.Pi) * math.Ldexp(float64(uint64(v.number)), -v.effective())
}

// angleOf rounds radians to an angle of a width. The quotient by 2π has one rounding, so multiples of π are exact.
func angleOf(x float64, width int) value {
	w := effectiveWidth(kindAngle, width)
	turns := math.Mod(x/(2*math.Pi), 1)
	if turns < 0 {
		turns++
	}
	scaled := math.RoundToEven(math.Ldexp(turns, w))
	var pattern uint64
	if scaled < math.Ldexp(1, w) { // else it was rounded up to a full turn
		pattern = uint64(scaled)
	}
	return value{kind: kindAngle, width: width, number: int64(pattern)}
}

// masked keeps the low bits of a pattern.
func masked(pattern uint64, width int) uint64 {
	if width >= 64 {
		return pattern
	}
	return pattern & (1<<width - 1)
}

// fits reports whether a known integer can be held by a type without changing.
func fits(i int64, k valueKind, width int) bool {
	w := effectiveWidth(k, width)
	if k == kindUint {
		return i >= 0 && bits.Len64(uint64(i)) <= w
	}
	return w >= 64 || i >= -1<<(w-1) && i < 1<<(w-1)
}
