package openqasm

func (e *elaborator) declaration(d *declaration) {
	if d.of.word == "qubit" {
		e.declareQubits(d)
		return
	}
	if d.of.word == "array" {
		e.declareArray(d)
		return
	}
	kind, width := e.typeOf(d.of)
	if kind == kindBit && !d.constant && !d.input {
		e.declareBits(d, width)
		return
	}
	s := &symbol{kind: symbolVariable, constant: d.constant || d.input && kind == kindBit, value: value{kind: kind, width: width}, defined: kind == kindDuration}
	if d.input {
		e.declare(d.position(), d.name, s)
		e.setVariable(d.position(), s, e.inputValue(d.position(), d.name, e.givenInput(d), kind, width))
		return
	}
	if d.initial != nil {
		v := e.assigned(d.initial)
		if d.constant && v.running() {
			fail(CodeType, d.initial.position(), "the value of a const cannot depend on a measurement")
		}
		v = e.convert(d.initial.position(), v, kind, width, false)
		e.declare(d.position(), d.name, s)
		e.setVariable(d.position(), s, v)
		return
	}
	e.declare(d.position(), d.name, s)
}

// typeOf is a written type; the width of a register is a constant.
func (e *elaborator) typeOf(t typeName) (kind valueKind, width int) {
	kinds := map[string]valueKind{
		"bit": kindBit, "bool": kindBool, "int": kindInt, "uint": kindUint, "float": kindFloat, "angle": kindAngle, "duration": kindDuration,
	}
	kind, ok := kinds[t.word]
	if !ok {
		fail(CodeType, t.position(), "%s is no type of a single value", t.word)
	}
	if t.width == nil {
		return kind, 0
	}
	most := machineWidth
	if kind == kindBit {
		most = maxBits
	}
	width = e.size(t.width, t.word, most)
	if kind == kindFloat && width != 32 && width != 64 {
		fail(CodeUnsupported, t.width.position(), "float has 32 or 64 bits, not %d", width)
	}
	return kind, width
}

// size is a constant of at least 1.
func (e *elaborator) size(x expression, what string, most int) int {
	n := e.knownInteger(x)
	if n < 1 || n > int64(most) {
		fail(CodeType, x.position(), "the size of a %s must be between 1 and %d, not %d", what, most, n)
	}
	return int(n)
}

func (e *elaborator) declareQubits(d *declaration) {
	if len(e.scopes) > 1 || e.inGate {
		fail(CodeMalformed, d.position(), "qubits can only be declared outside blocks")
	}
	if len(e.hardware) > 0 {
		fail(CodeUnsupported, d.position(), "a program uses either declared or physical qubits, not both")
	}
	size := 1
	if d.of.width != nil {
		n := e.knownInteger(d.of.width)
		if n < 1 || n > int64(e.limits.Qubits-e.qubits) {
			fail(CodeQubits, d.of.width.position(), "qubits must number between 1 and %d in all", e.limits.Qubits)
		}
		size = int(n)
	} else if e.qubits+1 > e.limits.Qubits {
		fail(CodeQubits, d.position(), "qubits must number between 1 and %d in all", e.limits.Qubits)
	}
	e.quantum = append(e.quantum, Register{Name: d.name, First: e.qubits, Size: size})
	e.declare(d.position(), d.name, &symbol{kind: symbolQubits, qubits: sequence(e.qubits, size), scalar: d.of.width == nil})
	e.qubits += size
}

func sequence(first, size int) []int {
	list := make([]int, size)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// declareBits declares a register. Outside blocks it is part of the result.
func (e *elaborator) declareBits(d *declaration, width int) {
	size := max(width, 1)
	s := &symbol{kind: symbolBits, scalar: d.of.width == nil}
	if len(e.scopes) == 1 {
		if size > maxBits-e.declared {
			fail(CodeUnsupported, d.position(), "a program has at most %d bits", maxBits)
		}
		e.registers = append(e.registers, Register{Name: d.name, First: e.declared, Size: size})
		s.bits = sequence(e.declared, size)
		e.declared += size
	} else {
		s.bits = e.newSlots(d.position(), size)
		for _, slot := range s.bits { // a block may run more than once
			e.emit(d.position(), Operation{Kind: Assign, Slot: slot, Formula: Formula{Bits: []Ref{constant(false)}}})
		}
	}
	if d.initial == nil {
		e.declare(d.position(), d.name, s)
		return
	}
	if m, ok := d.initial.(*measurement); ok {
		e.declare(d.position(), d.name, s)
		e.measure(m, s.bits)
		return
	}
	v := e.convert(d.initial.position(), e.evaluate(d.initial), kindBit, width, false)
	e.declare(d.position(), d.name, s)
	e.store(d.position(), s.bits, v.pattern(size))
}

func (e *elaborator) newSlots(at, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = e.slot(at)
	}
	return list
}

// alias gives a name to qubits or bits, or to parts of them.
func (e *elaborator) alias(a *alias) {
	if qubits, scalar, ok := e.tryQubits(a.value); ok {
		e.checkDistinct(a.value.position(), qubits)
		e.declare(a.position(), a.name, &symbol{kind: symbolQubits, qubits: qubits, scalar: scalar})
		return
	}
	bits, scalar := e.bitOperand(a.value)
	e.declare(a.position(), a.name, &symbol{kind: symbolBits, bits: bits, scalar: scalar})
}

// assigned evaluates the right side of an assignment to something that is not a register of bits.
func (e *elaborator) assigned(x expression) value {
	m, ok := x.(*measurement)
	if !ok {
		return e.evaluate(x)
	}
	slots, scalar := e.outcomes(m)
	v := value{kind: kindBit, width: len(slots), bits: make([]Ref, len(slots))}
	if scalar {
		v.width = 0
	}
	for i, s := range slots {
		v.bits[i] = Ref{Slot: s}
	}
	return v
}

// outcomes measures into new slots.
func (e *elaborator) outcomes(m *measurement) (slots []int, scalar bool) {
	if len(e.runningItems(m.operand)) > 0 { // which selects one qubit
		slots, scalar = []int{e.flag(m.position())}, true
	} else {
		var qubits []int
		qubits, scalar = e.qubitOperand(m.operand)
		slots = e.newSlots(m.position(), len(qubits))
	}
	e.measure(m, slots)
	return slots, scalar
}

func (e *elaborator) measure(m *measurement, slots []int) {
	e.onOperands(m.position(), []expression{m.operand}, func() { e.measureInto(m, slots) })
}

func (e *elaborator) measureInto(m *measurement, slots []int) {
	qubits, _ := e.qubitOperand(m.operand)
	if len(qubits) != len(slots) {
		fail(CodeTargets, m.position(), "%d qubit%s cannot be measured into %d bit%s", len(qubits), plural(len(qubits)), len(slots), plural(len(slots)))
	}
	e.measured = true
	for i, q := range qubits {
		e.emit(m.position(), Operation{Kind: Measure, Targets: []int{q}, Slot: slots[i]})
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func (e *elaborator) assignment(a *assignment) {
	m, measures := a.value.(*measurement)
	if a.target == nil {
		e.outcomes(m)
		return
	}
	if measures && a.op != "=" {
		fail(CodeMalformed, a.value.position(), "a measurement is assigned with =")
	}
	if items := e.runningItems(a.target); len(items) > 0 {
		e.assignChosen(a, items)
		return
	}
	to := e.target(a.target)
	switch {
	case to.array != nil:
		e.assignArray(a, to.array)
	case measures && to.slots != nil:
		e.measure(m, to.slots)
	default:
		e.put(a, to, e.compound(a))
	}
}

// target is what an assignment changes: slots of bits, a variable or some of its bits, or an array.
type target struct {
	slots    []int
	variable *symbol
	places   []int // bits of the variable; nil: all
	array    *array
	scalar   bool // one bit
	word     string
}

func (e *elaborator) target(x expression) target {
	if a, word, ok := e.tryArray(x); ok {
		if a.readonly {
			fail(CodeMalformed, x.position(), "%s is readonly here", clip(word))
		}
		if len(a.sizes) == 0 {
			return target{variable: a.elements[0], word: word}
		}
		return target{array: a}
	}
	switch y := x.(type) {
	case *name:
		if s := e.lookup(y.text); s != nil && s.kind == symbolVariable {
			if s.constant {
				fail(CodeMalformed, x.position(), "%s is const and cannot be assigned", clip(y.text))
			}
			return target{variable: s, word: y.text}
		}
	case *indexed:
		base, isName := y.base.(*name)
		if _, _, inArray := e.tryArray(y.base); inArray || isName && e.isVariable(base.text) {
			to := e.target(y.base)
			if k := to.variable.value.kind; k != kindInt && k != kindUint && k != kindAngle {
				fail(CodeType, x.position(), "a value of type %s has no elements", to.variable.value.describe())
			}
			to.places, to.scalar = e.places(y, to.variable.value.effective())
			return to
		}
	}
	slots, scalar := e.bitOperand(x)
	return target{slots: slots, scalar: scalar}
}

func (e *elaborator) isVariable(word string) bool {
	s := e.lookup(word)
	return s != nil && s.kind == symbolVariable
}

// put assigns a value to bits or to a variable.
func (e *elaborator) put(a *assignment, to target, v value) {
	width := max(len(to.slots), len(to.places))
	if to.scalar {
		width = 0
	}
	switch {
	case to.variable == nil:
		v = e.convert(a.value.position(), v, kindBit, width, false)
		e.store(a.position(), to.slots, v.pattern(len(to.slots)))
	case to.places == nil:
		e.setVariable(a.position(), to.variable, e.convert(a.value.position(), v, to.variable.value.kind, to.variable.value.width, false))
	default:
		list := e.convert(a.value.position(), v, kindBit, width, false).pattern(len(to.places))
		whole := e.read(a.position(), to.word, to.variable)
		bits := whole.pattern(whole.effective())
		for i, place := range to.places {
			bits[place] = list[i]
		}
		whole.bits = bits
		e.setVariable(a.position(), to.variable, whole.folded())
	}
}

// assignChosen assigns to what measured indexes choose.
func (e *elaborator) assignChosen(a *assignment, items []runningItem) {
	at := a.position()
	v := e.compound(a)
	v.bits = append([]Ref(nil), v.bits...)
	for i, b := range v.bits {
		v.bits[i] = e.snapshot(at, b)
	}
	e.cases(items, constant(true), func(chosen Ref) {
		to := e.target(a.target)
		if to.array != nil {
			fail(CodeUnsupported, at, "a part of an array that a measurement chooses cannot be assigned; assign its elements")
		}
		if to.variable != nil {
			e.keep(at, to.variable)
		}
		e.where(at, chosen, func() { e.put(a, to, v) })
	})
}

func (e *elaborator) assignArray(a *assignment, to *array) {
	if a.op != "=" {
		fail(CodeType, a.position(), "%s does not take arrays", a.op)
	}
	for i, v := range e.arrayValues(a.value, to) {
		e.setVariable(a.position(), to.elements[i], v)
	}
}

// compound is the value of "x op= y", or of y for "x = y".
func (e *elaborator) compound(a *assignment) value {
	if a.op == "=" {
		return e.assigned(a.value)
	}
	return e.binaryValue(a.position(), a.op[:len(a.op)-1], e.evaluate(a.target), e.assigned(a.value))
}

// setVariable gives a variable a value. One that depends on a measurement is kept in slots, for good.
func (e *elaborator) setVariable(at int, s *symbol, v value) {
	if s.slots == nil && e.depth > s.depth {
		fail(CodeUnsupported, at, "a subroutine changes an array where a measurement decides whether it is called; return the value and assign it there")
	}
	if s.slots == nil && !v.running() {
		s.value, s.defined = v, true
		return
	}
	e.reserve(at, s)
	e.store(at, s.slots, v.pattern(len(s.slots)))
	s.defined = true
}

// reserve gives a variable slots.
func (e *elaborator) reserve(at int, s *symbol) {
	if s.slots != nil {
		return
	}
	if s.value.kind == kindFloat || s.value.kind == kindDuration {
		fail(CodeUnsupported, at, "a variable of type %s cannot depend on a measurement; use bool, int, uint or angle", s.value.describe())
	}
	s.slots = e.newSlots(at, s.value.effective())
}

// keep moves a variable's value into slots; without a value it becomes 0.
func (e *elaborator) keep(at int, s *symbol) {
	if s.slots != nil || s.constant {
		return
	}
	e.reserve(at, s)
	for i, b := range s.value.pattern(len(s.slots)) {
		e.emit(at, Operation{Kind: Assign, Slot: s.slots[i], Formula: Formula{Bits: []Ref{b}}})
	}
	s.defined = true
}

// store assigns bits to slots as if all were read before any is written.
func (e *elaborator) store(at int, slots []int, list []Ref) {
	place := make(map[int]int, len(slots))
	for i, s := range slots {
		place[s] = i
	}
	for i, b := range list {
		if j, own := place[b.Slot]; own && j != i {
			t := e.slot(at)
			e.emit(at, Operation{Kind: Assign, Slot: t, Formula: Formula{Bits: []Ref{{Slot: b.Slot}}}})
			list[i] = Ref{Slot: t, Not: b.Not}
		}
	}
	for i, b := range list {
		if b == (Ref{Slot: slots[i]}) {
			continue
		}
		f := Formula{Bits: []Ref{b}}
		if len(list) == 1 { // bits of a longer value may share what they were computed from
			f = e.formula(b)
		}
		e.emit(at, Operation{Kind: Assign, Slot: slots[i], Formula: f})
	}
}
