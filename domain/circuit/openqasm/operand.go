package openqasm

// qubitOperand is a register, an alias, or a part of one.
func (e *elaborator) qubitOperand(x expression) (qubits []int, scalar bool) {
	qubits, scalar, ok := e.tryQubits(x)
	if ok {
		return qubits, scalar
	}
	root := rootOf(x)
	id, ok := root.(*name)
	if !ok {
		fail(CodeType, x.position(), "expected a qubit")
	}
	if s := e.lookup(id.text); s != nil {
		fail(CodeIndex, id.position(), "%s is %s, not a qubit", clip(id.text), s.what())
	}
	fail(CodeIndex, id.position(), "%s is not a declared qubit%s", clip(id.text), e.undeclared(id.text, e.names(symbolQubits)))
	return nil, false
}

func rootOf(x expression) expression {
	for {
		switch y := x.(type) {
		case *indexed:
			x = y.base
		case *concatenation:
			x = y.parts[0]
		default:
			return x
		}
	}
}

// tryQubits reads qubits, or tells that the expression names something else.
func (e *elaborator) tryQubits(x expression) (qubits []int, scalar, ok bool) {
	e.step(x.position())
	switch x := x.(type) {
	case *hardware:
		if e.inGate {
			fail(CodeMalformed, x.position(), "a gate cannot name physical qubits")
		}
		return []int{e.hardware[x.text]}, true, true
	case *name:
		if s := e.lookup(x.text); s != nil && s.kind == symbolQubits {
			return s.qubits, s.scalar, true
		}
	case *indexed:
		base, single, ok := e.tryQubits(x.base)
		if !ok {
			return nil, false, false
		}
		if single {
			fail(CodeType, x.position(), "a single qubit has no elements")
		}
		places, one := e.places(x, len(base))
		return pick(base, places), one, true
	case *concatenation:
		for i, part := range x.parts {
			more, _, ok := e.tryQubits(part)
			if !ok {
				if i > 0 {
					fail(CodeType, part.position(), "++ joins registers of one kind: expected qubits")
				}
				return nil, false, false
			}
			e.limitPlaces(part.position(), len(qubits)+len(more))
			qubits = append(qubits, more...)
		}
		return qubits, false, true
	}
	return nil, false, false
}

func pick(base, places []int) []int {
	out := make([]int, len(places))
	for i, p := range places {
		out[i] = base[p]
	}
	return out
}

// bitOperand is a bit register, an alias, or a part of one, as slots.
func (e *elaborator) bitOperand(x expression) (slots []int, scalar bool) {
	e.step(x.position())
	switch x := x.(type) {
	case *name:
		s := e.lookup(x.text)
		if s == nil {
			fail(CodeIndex, x.position(), "%s is not a declared bit%s", clip(x.text), e.undeclared(x.text, e.names(symbolBits)))
		}
		if s.kind != symbolBits {
			fail(CodeIndex, x.position(), "%s is %s, not a bit", clip(x.text), s.what())
		}
		return s.bits, s.scalar
	case *indexed:
		base, single := e.bitOperand(x.base)
		if single {
			fail(CodeType, x.position(), "a single bit has no elements")
		}
		places, one := e.places(x, len(base))
		return pick(base, places), one
	case *concatenation:
		for _, part := range x.parts {
			more, _ := e.bitOperand(part)
			e.limitPlaces(part.position(), len(slots)+len(more))
			slots = append(slots, more...)
		}
		return slots, false
	}
	fail(CodeType, x.position(), "expected a bit register")
	return nil, false
}

func (e *elaborator) limitPlaces(at, count int) {
	e.charge(at, count)
	if count > maxList {
		fail(CodeTooLarge, at, "a register has more than %d elements", maxList)
	}
}

// places are the elements that an index selects: one for an integer, several for a range or a set.
func (e *elaborator) places(x *indexed, size int) (list []int, one bool) {
	if len(x.items) != 1 {
		fail(CodeType, x.items[1].position(), "a register has one index, not %d", len(x.items))
	}
	switch item := x.items[0].(type) {
	case *set:
		for _, i := range item.items {
			list = append(list, e.place1(i, size))
		}
		if len(list) == 0 {
			fail(CodeIndex, item.position(), "the set of indexes is empty")
		}
		return list, false
	case *span:
		return e.spanPlaces(item, size), false
	}
	return []int{e.place1(x.items[0], size)}, true
}

// place1 is one index; a negative one counts from the end.
func (e *elaborator) place1(x expression, size int) int {
	i := e.knownInteger(x)
	if i < -int64(size) || i >= int64(size) {
		fail(CodeIndex, x.position(), "there is no element %d; the register has %d, 0 to %d", i, size, size-1)
	}
	if i < 0 {
		i += int64(size)
	}
	return int(i)
}

func (e *elaborator) spanPlaces(s *span, size int) []int {
	step := int64(1)
	if s.step != nil {
		if step = e.knownInteger(s.step); step == 0 {
			fail(CodeType, s.step.position(), "the step of a range cannot be 0")
		}
	}
	start, stop := 0, size-1
	if step < 0 {
		start, stop = stop, start
	}
	if s.start != nil {
		start = e.place1(s.start, size)
	}
	if s.stop != nil {
		stop = e.stopPlace(s.stop, size, step)
	}
	count := spanCount(s.position(), int64(start), step, int64(stop))
	if count == 0 {
		fail(CodeIndex, s.position(), "the range selects no element")
	}
	e.charge(s.position(), count)
	list := make([]int, count)
	for i := range list {
		list[i] = start + i*int(step)
	}
	return list
}

// stopPlace is the end of a range. With a step it may lie beyond the last element that the range reaches.
func (e *elaborator) stopPlace(x expression, size int, step int64) int {
	if i := e.knownInteger(x); step > 1 && i >= int64(size) {
		return size - 1
	}
	return e.place1(x, size)
}
