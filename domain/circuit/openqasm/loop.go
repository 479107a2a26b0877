package openqasm

// loop is a loop being elaborated. Its slots are set by jumps that a measurement decides; 0: there are none.
type loop struct {
	depth     int // of running blocks around its body
	breakSlot int
	nextSlot  int // set by continue
}

// iterate runs a loop: body is called for one iteration after another until it returns false or a jump ends the loop.
func (e *elaborator) iterate(at int, body []statement, iteration func(l *loop) bool) {
	l := &loop{depth: e.depth}
	if hasJump(body, "break") {
		l.breakSlot = e.flag(at)
	}
	if hasJump(body, "continue") {
		l.nextSlot = e.flag(at)
	}
	e.loops = append(e.loops, l)
	for iteration(l) && e.stopped != stoppedBreak && !e.stopped.leaves() {
		e.stopped = running
		e.step(at)
	}
	e.loops = e.loops[:len(e.loops)-1]
	e.dropRaised(l.breakSlot)
	if !e.stopped.leaves() {
		e.stopped = running
	}
}

// once emits one iteration: under a guard when an earlier iteration may have left the loop.
func (e *elaborator) once(at int, l *loop, body []statement, bind func()) {
	run := func() {
		if l.nextSlot != 0 {
			e.clear(at, l.nextSlot)
		}
		bind()
		e.block(body)
		e.dropRaised(l.nextSlot)
	}
	if len(e.raised) == 0 {
		e.inScope(run)
		return
	}
	e.guarded(at, body, run)
}

func (e *elaborator) forLoop(f *forLoop) {
	if f.of.word == "qubit" {
		e.forQubits(f)
		return
	}
	kind, width := e.typeOf(f.of)
	values := e.loopValues(f.values)
	next := 0
	e.iterate(f.position(), f.body, func(l *loop) bool {
		if next == values.count {
			return false
		}
		v := e.convert(f.values.position(), values.at(next), kind, width, false)
		next++
		e.once(f.position(), l, f.body, func() {
			s := e.declare(f.position(), f.name, &symbol{kind: symbolVariable, value: value{kind: kind, width: width}})
			e.setVariable(f.position(), s, v)
		})
		return true
	})
}

// forQubits gives each qubit of a register the name of the loop.
func (e *elaborator) forQubits(f *forLoop) {
	qubits, _ := e.qubitOperand(f.values)
	next := 0
	e.iterate(f.position(), f.body, func(l *loop) bool {
		if next == len(qubits) {
			return false
		}
		q := qubits[next : next+1]
		next++
		e.once(f.position(), l, f.body, func() {
			e.declare(f.position(), f.name, &symbol{kind: symbolQubits, qubits: q, scalar: true})
		})
		return true
	})
}

// valueList holds the values of a for loop.
type valueList struct {
	count int
	at    func(i int) value
}

func (e *elaborator) loopValues(x expression) valueList {
	switch x := x.(type) {
	case *set:
		return valueList{len(x.items), func(i int) value { return e.evaluate(x.items[i]) }}
	case *span:
		if x.start == nil || x.stop == nil {
			fail(CodeMalformed, x.position(), "the range of a loop needs its start and its end")
		}
		start, step, stop := e.knownInteger(x.start), int64(1), e.knownInteger(x.stop)
		if x.step != nil {
			if step = e.knownInteger(x.step); step == 0 {
				fail(CodeType, x.step.position(), "the step of a range cannot be 0")
			}
		}
		count := spanCount(x.position(), start, step, stop)
		return valueList{count, func(i int) value { return intValue(start + int64(i)*step) }}
	}
	v := e.evaluate(x)
	if !v.isRegister() {
		fail(CodeType, x.position(), "a loop runs over a set, a range in brackets or a bit register, not a value of type %s", v.describe())
	}
	return valueList{len(v.bits), func(i int) value { return bitValue(v.bits[i]) }}
}

// spanCount is the number of values start, start+step, … up to stop. More than maxSteps are refused.
func spanCount(at int, start, step, stop int64) int {
	if step > 0 && start > stop || step < 0 && start < stop {
		return 0
	}
	distance := uint64(stop) - uint64(start)
	stride := uint64(step)
	if step < 0 {
		distance, stride = -distance, -stride
	}
	count := distance / stride
	if count >= maxSteps {
		fail(CodeTooMany, at, "a range has more than %d values", maxSteps)
	}
	return int(count) + 1
}

// whileLoop repeats its body now as long as the condition is known, and emits a While from where it depends on a
// measurement.
func (e *elaborator) whileLoop(w *whileLoop) {
	e.iterate(w.position(), w.body, func(l *loop) bool {
		before := len(e.body)
		condition := e.again(w)
		v, known := condition.Constant()
		switch {
		case known && !v:
			return false
		case known && len(e.raised) == 0:
			e.once(w.position(), l, w.body, func() {})
			return true
		}
		// From here on the variables that the body assigns are in slots, and the condition has to be one of those.
		e.body = e.body[:before]
		e.prepareRunning(w.position(), w.body)
		before = len(e.body)
		f := e.formula(e.again(w))
		if len(e.body) == before && len(e.raised) == 0 && !hasJump(w.body, "break") && !hasJump(w.body, "end") && !hasJump(w.body, resultName) {
			body := e.runningBlock(func() { e.loopBody(w, l) })
			e.emit(w.position(), Operation{Kind: While, Formula: f, Then: body})
			return false
		}
		e.runningWhile(w, l, e.assignTemporary(w.position(), f))
		return false
	})
}

// again is the condition of a loop. After a jump that may have left the loop it is computed all the same, so that it must not act on qubits.
func (e *elaborator) again(w *whileLoop) Ref {
	before := e.operations
	condition := e.truth(w.condition)
	if len(e.raised) > 0 {
		e.checkNoEffect(w.condition.position(), before, "in the condition of a loop that a measurement may leave")
	}
	return condition
}

// loopBody is the body of a While.
func (e *elaborator) loopBody(w *whileLoop, l *loop) {
	l.depth = e.depth - 1 // a jump directly in the body is decided by a measurement, too
	e.inScope(func() {
		if l.nextSlot != 0 {
			e.clear(w.position(), l.nextSlot)
		}
		e.block(w.body)
	})
	e.dropRaised(l.nextSlot)
	e.stopped = running
}

// runningWhile computes the condition, and whether a jump was taken, into a slot before each round.
func (e *elaborator) runningWhile(w *whileLoop, l *loop, condition Ref) {
	at := w.position()
	again := e.slot(at)
	proceed := func(condition Ref) {
		proceed := e.and(at, condition, e.noJump(at))
		e.emit(at, Operation{Kind: Assign, Slot: again, Formula: e.formula(proceed)})
	}
	proceed(condition)
	outer := e.raised
	e.raised = nil
	body := e.runningBlock(func() {
		e.loopBody(w, l)
		proceed(e.again(w))
	})
	e.raised = append(outer, e.raised...)
	e.emit(at, Operation{Kind: While, Formula: Formula{Bits: []Ref{{Slot: again}}}, Then: body})
}
