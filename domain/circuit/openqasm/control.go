package openqasm

// stop says why the rest of a block is never reached.
type stop uint8

const (
	running stop = iota
	stoppedBreak
	stoppedContinue
	stoppedEnd
)

// loop is a loop being elaborated. Its slots are set by jumps that a measurement decides; 0: there are none.
type loop struct {
	depth     int // of running blocks around its body
	breakSlot int
	nextSlot  int // set by continue
}

// choice is an if statement. A condition known now selects a branch; otherwise both are emitted.
func (e *elaborator) choice(c *choice) {
	condition := e.truth(c.condition)
	if v, known := condition.Constant(); known {
		branch := c.then
		if !v {
			branch = c.otherwise
		}
		e.inScope(func() { e.block(branch) })
		return
	}
	f := e.formula(condition)
	// What the branches need before they start is emitted after the condition was computed and cannot change it: it only
	// copies variables.
	e.prepareRunning(c.position(), c.then)
	e.prepareRunning(c.position(), c.otherwise)
	then := e.runningBlock(func() { e.block(c.then) })
	otherwise := e.runningBlock(func() { e.block(c.otherwise) })
	if len(then)+len(otherwise) > 0 {
		e.emit(c.position(), Operation{Kind: If, Formula: f, Then: then, Else: otherwise})
	}
}

// runningBlock elaborates statements whose execution depends on a measurement.
func (e *elaborator) runningBlock(run func()) []Operation {
	e.depth++
	body := e.captured(func() { e.inScope(run) })
	e.depth--
	e.stopped = running // only this block ends
	return body
}

// prepareRunning moves the variables that statements assign into slots, and gives loops their flags: the statements
// may or may not run.
func (e *elaborator) prepareRunning(at int, list []statement) {
	for _, word := range assignedNames(list, nil) {
		if s := e.lookup(word); s != nil && s.kind == symbolVariable {
			e.keep(at, s)
		}
	}
}

// assignedNames lists the names that statements assign.
func assignedNames(list []statement, names []string) []string {
	for _, s := range list {
		switch s := s.(type) {
		case *assignment:
			if id, ok := s.target.(*name); ok {
				names = append(names, id.text)
			}
		default:
			for _, inner := range innerBlocks(s) {
				names = assignedNames(inner, names)
			}
		}
	}
	return names
}

// innerBlocks are the blocks of a statement that run as part of it.
func innerBlocks(s statement) [][]statement {
	switch s := s.(type) {
	case *choice:
		return [][]statement{s.then, s.otherwise}
	case *forLoop:
		return [][]statement{s.body}
	case *whileLoop:
		return [][]statement{s.body}
	case *block:
		return [][]statement{s.body}
	case *selection:
		blocks := [][]statement{s.otherwise}
		for _, c := range s.cases {
			blocks = append(blocks, c.body)
		}
		return blocks
	}
	return nil
}

// hasJump reports whether statements contain a jump of that word for the loop around them; "end" leaves any loop.
func hasJump(list []statement, word string) bool {
	for _, s := range list {
		if j, ok := s.(*jump); ok && j.word == word {
			return true
		}
		switch s.(type) {
		case *forLoop, *whileLoop:
			if word != "end" {
				continue
			}
		}
		for _, inner := range innerBlocks(s) {
			if hasJump(inner, word) {
				return true
			}
		}
	}
	return false
}

// jump is break, continue or end. One that is certain stops the block; one that a measurement decides sets a slot.
func (e *elaborator) jump(j *jump) {
	if j.word == "end" {
		e.stopped = stoppedEnd
		if e.depth > 0 {
			e.raise(j.position(), e.endFlag)
		}
		return
	}
	if len(e.loops) == 0 {
		fail(CodeMalformed, j.position(), "%s belongs into a loop", j.word)
	}
	inner := e.loops[len(e.loops)-1]
	slot := inner.breakSlot
	e.stopped = stoppedBreak
	if j.word == "continue" {
		slot, e.stopped = inner.nextSlot, stoppedContinue
	}
	if e.depth > inner.depth {
		e.raise(j.position(), slot)
	}
}

func (e *elaborator) raise(at, slot int) {
	e.emit(at, Operation{Kind: Assign, Slot: slot, Formula: Formula{Bits: []Ref{constant(true)}}})
	e.raised = append(e.raised, slot)
}

// noJump is true while none of the jumps raised so far was taken.
func (e *elaborator) noJump(at int) Ref {
	var flags []Ref
	seen := map[int]bool{}
	for _, s := range e.raised {
		if !seen[s] {
			seen[s] = true
			flags = append(flags, Ref{Slot: s, Not: true})
		}
	}
	return e.and(at, flags...)
}

// flag reserves a slot for a jump and clears it.
func (e *elaborator) flag(at int) int {
	s := e.slot(at)
	e.clear(at, s)
	return s
}

func (e *elaborator) clear(at, slot int) {
	e.emit(at, Operation{Kind: Assign, Slot: slot, Formula: Formula{Bits: []Ref{constant(false)}}})
}

// dropRaised forgets a jump once its target is reached.
func (e *elaborator) dropRaised(slot int) {
	kept := e.raised[:0:0]
	for _, s := range e.raised {
		if s != slot {
			kept = append(kept, s)
		}
	}
	e.raised = kept
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
	for iteration(l) && e.stopped != stoppedBreak && e.stopped != stoppedEnd {
		e.stopped = running
		e.step(at)
	}
	e.loops = e.loops[:len(e.loops)-1]
	e.dropRaised(l.breakSlot)
	if e.stopped != stoppedEnd {
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

// guarded runs statements only where no jump raised so far was taken.
func (e *elaborator) guarded(at int, list []statement, run func()) {
	e.prepareRunning(at, list)
	guard := e.formula(e.noJump(at))
	outer := e.raised
	e.raised = nil
	then := e.runningBlock(run)
	e.raised = append(outer, e.raised...)
	e.emit(at, Operation{Kind: If, Formula: guard, Then: then})
}

func (e *elaborator) forLoop(f *forLoop) {
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

// valueList is what a for loop runs over.
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
		condition := e.truth(w.condition)
		v, known := condition.Constant()
		switch {
		case known && !v:
			return false
		case known && len(e.raised) == 0:
			e.once(w.position(), l, w.body, func() {})
			return true
		}
		e.runningWhile(w, l, condition)
		return false
	})
}

func (e *elaborator) runningWhile(w *whileLoop, l *loop, condition Ref) {
	at := w.position()
	e.prepareRunning(at, w.body)
	again := e.slot(at)
	proceed := func(condition Ref) {
		proceed := e.and(at, condition, e.noJump(at))
		e.emit(at, Operation{Kind: Assign, Slot: again, Formula: e.formula(proceed)})
	}
	proceed(condition)
	outer := e.raised
	e.raised = nil
	body := e.runningBlock(func() {
		l.depth = e.depth - 1 // a jump directly in the body is decided by a measurement, too
		e.inScope(func() {
			if l.nextSlot != 0 {
				e.clear(at, l.nextSlot)
			}
			e.block(w.body)
		})
		e.dropRaised(l.nextSlot)
		e.stopped = running
		proceed(e.truth(w.condition))
	})
	e.raised = append(outer, e.raised...)
	e.emit(at, Operation{Kind: While, Formula: Formula{Bits: []Ref{{Slot: again}}}, Then: body})
}

// selection is a switch statement. Labels differ, so at most one case matches; all are compared before any of them
// runs, because a case may change what the subject is computed from.
func (e *elaborator) selection(s *selection) {
	at := s.position()
	subject := e.evaluate(s.subject)
	seen := map[int64]bool{}
	matches := make([]Ref, len(s.cases))
	for i, c := range s.cases {
		var labels []Ref
		for _, label := range c.labels {
			n := e.knownInteger(label)
			if seen[n] {
				fail(CodeMalformed, label.position(), "two cases have the label %d", n)
			}
			seen[n] = true
			labels = append(labels, e.equal(label.position(), subject, intValue(n)))
		}
		matches[i] = e.snapshot(at, e.or(at, labels...))
	}
	none := make([]Ref, len(matches))
	for i, m := range matches {
		if v, known := m.Constant(); known && v {
			e.inScope(func() { e.block(s.cases[i].body) })
			return
		}
		none[i] = m.not()
	}
	otherwise := e.and(at, none...)
	e.prepareRunning(at, []statement{s})
	for i, c := range s.cases {
		e.branch(at, matches[i], c.body)
	}
	e.branch(at, otherwise, s.otherwise)
}

// branch runs statements where a bit is 1.
func (e *elaborator) branch(at int, condition Ref, body []statement) {
	v, known := condition.Constant()
	if known && v {
		e.inScope(func() { e.block(body) })
	}
	if known {
		return
	}
	if then := e.runningBlock(func() { e.block(body) }); len(then) > 0 {
		e.emit(at, Operation{Kind: If, Formula: Formula{Bits: []Ref{condition}}, Then: then})
	}
}

// snapshot is a copy of a bit that later assignments do not change.
func (e *elaborator) snapshot(at int, r Ref) Ref {
	if r.Slot < 0 || e.temporary[r.Slot] {
		return r
	}
	return e.assignTemporary(at, Formula{Bits: []Ref{r}})
}
