package openqasm

// Ref is a bit that a running program knows: a slot, its complement, or a constant.
type Ref struct {
	Slot int // -1: the constant that Not tells
	Not  bool
}

func constant(v bool) Ref { return Ref{Slot: -1, Not: v} }

// Constant reports whether the bit is known now, and its value.
func (r Ref) Constant() (value, ok bool) { return r.Not, r.Slot < 0 }

func (r Ref) not() Ref { return Ref{r.Slot, !r.Not} }

// Connective joins the bits of a formula.
type Connective uint8

// The connectives. A formula of one bit is the bit, whatever its connective.
const (
	And Connective = iota // all bits
	Or                    // any bit
	Xor                   // an odd number of bits
)

// Formula is a condition or the value of an assignment. It has at least one bit.
type Formula struct {
	Connective Connective
	Bits       []Ref
}

// slot reserves a slot for a variable or an intermediate value.
func (e *elaborator) slot(at int) int {
	if e.slots++; e.slots-hiddenBase > maxSlots {
		fail(CodeTooLarge, at, "the program computes with more than %d bits", maxSlots)
	}
	return e.slots - 1
}

// and, or and xor are the value of a formula. What is constant is decided now; the rest is assigned to a new slot.
func (e *elaborator) and(at int, bits ...Ref) Ref {
	var open []Ref
	for _, b := range bits {
		if v, known := b.Constant(); known && !v {
			return constant(false)
		} else if !known {
			open = append(open, b)
		}
	}
	switch len(open) {
	case 0:
		return constant(true)
	case 1:
		return open[0]
	case 2:
		if open[0] == open[1] {
			return open[0]
		}
		if open[0] == open[1].not() {
			return constant(false)
		}
	}
	return e.assignTemporary(at, Formula{And, open})
}

func (e *elaborator) or(at int, bits ...Ref) Ref {
	inverted := make([]Ref, len(bits))
	for i, b := range bits {
		inverted[i] = b.not()
	}
	return e.and(at, inverted...).not()
}

func (e *elaborator) xor(at int, a, b Ref) Ref {
	if v, known := a.Constant(); known {
		return Ref{b.Slot, b.Not != v}
	}
	if v, known := b.Constant(); known {
		return Ref{a.Slot, a.Not != v}
	}
	if a.Slot == b.Slot {
		return constant(a.Not != b.Not)
	}
	return e.assignTemporary(at, Formula{Xor, []Ref{a, b}})
}

// choose is b where condition holds and a elsewhere.
func (e *elaborator) choose(at int, condition, a, b Ref) Ref {
	if a == b {
		return a
	}
	return e.or(at, e.and(at, condition, b), e.and(at, condition.not(), a))
}

func (e *elaborator) assignTemporary(at int, f Formula) Ref {
	s := e.slot(at)
	e.temporary[s] = true
	e.emit(at, Operation{Kind: Assign, Slot: s, Formula: f})
	return Ref{Slot: s}
}

// formula is the value of a bit, for a condition: when the bit was computed by the operation just emitted and nothing
// else can use it, that operation is taken back.
func (e *elaborator) formula(r Ref) Formula {
	if n := len(e.body) - 1; n >= 0 && r.Slot >= 0 {
		if last := e.body[n]; last.Kind == Assign && last.Slot == r.Slot && e.temporary[r.Slot] {
			e.body = e.body[:n]
			if !r.Not {
				return last.Formula
			}
			return last.Formula.not()
		}
	}
	return Formula{Bits: []Ref{r}}
}

func (f Formula) not() Formula {
	out := Formula{Bits: make([]Ref, len(f.Bits))}
	copy(out.Bits, f.Bits)
	if f.Connective == Xor {
		out.Connective = Xor
		out.Bits[0] = out.Bits[0].not()
		return out
	}
	for i, b := range out.Bits {
		out.Bits[i] = b.not()
	}
	if f.Connective == And {
		out.Connective = Or
	}
	return out
}
