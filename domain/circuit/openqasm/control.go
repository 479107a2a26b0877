package openqasm

// stop says why the rest of a block is never reached.
type stop uint8

const (
	running stop = iota
	stoppedBreak
	stoppedContinue
	stoppedEnd
	stoppedReturn
)

// leaves reports whether the block around a loop ends with it.
func (s stop) leaves() bool { return s == stoppedEnd || s == stoppedReturn }

// choice is an if statement. A condition known now selects a branch; otherwise both are emitted.
func (e *elaborator) choice(c *choice) {
	condition := e.truthOf(c.condition.position(), e.assigned(c.condition))
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
		s := e.lookup(word)
		switch {
		case s == nil:
		case s.kind == symbolVariable:
			e.keep(at, s)
		case s.kind == symbolArray:
			for _, element := range s.array.elements {
				e.keep(at, element)
			}
		}
	}
}

// assignedNames lists the names that statements assign, wholly or in part.
func assignedNames(list []statement, names []string) []string {
	for _, s := range list {
		switch s := s.(type) {
		case *assignment:
			if s.target == nil {
				continue
			}
			if id, ok := rootOf(s.target).(*name); ok {
				names = append(names, id.text)
			}
		case *jump:
			if s.value != nil {
				names = append(names, resultName)
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

// hasJump reports whether statements contain a jump of that word for the loop around them; "end" and "return" leave any loop.
func hasJump(list []statement, word string) bool {
	for _, s := range list {
		if j, ok := s.(*jump); ok && j.word == word {
			return true
		}
		switch s.(type) {
		case *forLoop, *whileLoop:
			if word != "end" && word != resultName {
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

// jump is break, continue, return or end. One that is certain stops the block; one that a measurement decides sets a slot.
func (e *elaborator) jump(j *jump) {
	if j.word == resultName {
		e.returns(j)
		return
	}
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

// guarded runs statements only where no jump raised so far was taken.
func (e *elaborator) guarded(at int, list []statement, run func()) {
	e.prepareRunning(at, list)
	guard := e.formula(e.noJump(at))
	outer := e.raised
	e.raised = nil
	then := e.runningBlock(run)
	e.raised = append(outer, e.raised...)
	if len(then) > 0 {
		e.emit(at, Operation{Kind: If, Formula: guard, Then: then})
	}
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
	if v, known := otherwise.Constant(); known && v {
		e.inScope(func() { e.block(s.otherwise) })
		return
	}
	e.prepareRunning(at, []statement{s})
	e.switches++
	number := e.switches
	for i, c := range s.cases {
		e.branch(at, number, matches[i], c.body)
	}
	e.branch(at, number, otherwise, s.otherwise)
}

// branch runs statements of a switch where a bit is 1.
func (e *elaborator) branch(at, number int, condition Ref, body []statement) {
	if _, known := condition.Constant(); known { // 0: a label that the subject cannot have
		return
	}
	if then := e.runningBlock(func() { e.block(body) }); len(then) > 0 {
		e.emit(at, Operation{Kind: If, Formula: Formula{Bits: []Ref{condition}}, Then: then, Switch: number})
	}
}

// snapshot is a copy of a bit that later assignments do not change.
func (e *elaborator) snapshot(at int, r Ref) Ref {
	if r.Slot < 0 || e.temporary[r.Slot] {
		return r
	}
	return e.assignTemporary(at, Formula{Bits: []Ref{r}})
}
