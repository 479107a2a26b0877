package circuit

// program is a circuit in the form the state-vector engine runs. Uncontrolled swaps outside blocks are resolved: they
// rename wires.
type program struct {
	wires    int
	segments []segment // the first runs first
	loops    int
	outputs  []output // measurements that may wait until the end
	key      keyLayout
	final    []int // wire each qubit is on at the end
	dephased wires // measured before the end by a measurement that waits all the same: see markMeasurements
}

// segment is a sequence of operators followed by an event, which decides what runs next.
type segment struct {
	operators []operator
	event     event
	// restores is the segment whose layout this one ends in, because what follows has been planned from there; or -1.
	restores int
	moves    wires // targets inside the loop that this segment begins
	times    int64 // most times a shot can run it
}

type eventKind uint8

const (
	eventEnd     eventKind = iota
	eventMeasure           // a measurement that later gates depend on
	eventReset
	eventAssign
	eventIf
	eventLoop
	eventJump
	eventChannel // noise
)

// noSlot marks a measurement whose outcome is overwritten before anything reads it.
const noSlot = -1

type event struct {
	kind      eventKind
	wire      int        // eventMeasure, eventReset
	slot      int        // eventMeasure: where the outcome goes, or noSlot
	slots     []int      // eventAssign
	condition expression // eventAssign: the value
	channel   *channel   // eventChannel
	wires     []int      // eventChannel: in the order of the channel's qubits
	readout   *confusion // eventMeasure: how the outcome is misread, or nil
	loop      int        // eventLoop: number of the loop
	rounds    int        // eventLoop
	next      int        // segment that follows
	other     int        // eventIf, eventLoop: segment that follows when the condition does not hold
}

type output struct {
	wire, slot int
	readout    *confusion
}

// instruction is a gate on wires, a measurement or reset of one wire, or classical control.
type instruction struct {
	operator        operator
	unitary         bool
	event           event
	then, otherwise []instruction
	// deferred: nothing later changes the wire's basis states or reads the outcome, so that it can be read off at the end.
	deferred bool
	dead     bool // the outcome is overwritten before anything reads it
}

// lower resolves names, swaps and measurements.
func lower(c Circuit) program {
	list, final := c.instructions()
	b := programBuilder{program{wires: c.qubits, key: c.keyLayout(), final: final}, segment{restores: -1, times: 1}}
	b.dephased = markMeasurements(list, c.slots)
	b.emit(list)
	b.end(event{kind: eventEnd})
	return b.program
}

// programBuilder cuts instructions into segments.
type programBuilder struct {
	program
	current segment
}

// end closes the current segment; the next one runs as often. It returns the number of the closed one.
func (b *programBuilder) end(e event) int {
	b.current.event = e
	b.segments = append(b.segments, b.current)
	b.current = segment{restores: -1, times: b.current.times}
	return len(b.segments) - 1
}

func (b *programBuilder) emit(list []instruction) {
	for _, in := range list {
		e := in.event
		switch {
		case in.unitary:
			b.current.operators = append(b.current.operators, in.operator)
		case in.deferred:
			if !in.dead {
				b.outputs = append(b.outputs, output{e.wire, e.slot, e.readout})
			}
		case e.kind == eventIf:
			b.emitIf(in)
		case e.kind == eventLoop:
			b.emitLoop(in)
		default:
			if in.dead {
				e.slot = noSlot
			}
			e.next = len(b.segments) + 1
			b.end(e)
			b.current.moves = e.disturbs()
		}
	}
}

func (b *programBuilder) emitIf(in instruction) {
	head := b.end(in.event)
	block := func(list []instruction) (first, last int) {
		first = len(b.segments)
		b.emit(list)
		b.current.restores = head
		return first, b.end(event{kind: eventJump})
	}
	then, thenEnd := block(in.then)
	b.segments[head].event.next = then
	if len(in.otherwise) > 0 {
		otherwise, otherwiseEnd := block(in.otherwise)
		b.segments[head].event.other = otherwise
		b.segments[otherwiseEnd].event.next = len(b.segments)
	} else {
		b.segments[head].event.other = len(b.segments)
	}
	b.segments[thenEnd].event.next = len(b.segments)
}

func (b *programBuilder) emitLoop(in instruction) {
	outside := b.current.times
	b.end(event{kind: eventJump, next: len(b.segments) + 1})
	e := in.event
	e.loop, b.loops = b.loops, b.loops+1
	b.current.times = int64(saturatingMultiply(uint64(outside), uint64(e.rounds+1)))
	b.current.moves = targetsOf(in.then)
	head := b.end(e)
	b.segments[head].event.next = len(b.segments)
	b.current.times = int64(saturatingMultiply(uint64(outside), uint64(e.rounds)))
	b.emit(in.then)
	b.current.restores = head
	b.end(event{kind: eventJump, next: head})
	b.current.times = outside
	b.segments[head].event.other = len(b.segments)
}

// targetsOf are the wires whose basis states a block may change.
func targetsOf(list []instruction) wires {
	var out wires
	for _, in := range list {
		switch {
		case in.unitary:
			out |= in.operator.targets
		case in.event.kind == eventReset:
			out |= 1 << in.event.wire
		case in.event.kind == eventChannel:
			out |= in.event.disturbs()
		}
		out |= targetsOf(in.then) | targetsOf(in.otherwise)
	}
	return out
}

// wiresOf are the wires that a block acts on in any way.
func wiresOf(list []instruction) wires {
	var out wires
	for _, in := range list {
		switch {
		case in.unitary:
			out |= in.operator.allWires()
		case in.event.kind == eventMeasure || in.event.kind == eventReset:
			out |= 1 << in.event.wire
		case in.event.kind == eventChannel:
			out |= in.event.noisyWires()
		}
		out |= wiresOf(in.then) | wiresOf(in.otherwise)
	}
	return out
}

// lowering expands gates into instructions on wires.
type lowering struct {
	wire     []int // of each qubit
	moved    wires // wires that may have left |0⟩: resetting the others does nothing
	measured bool
	readout  func(qubit int) *confusion
}

// instructions expands gates into operators on wires and tells the wire each qubit ends on. A circuit without
// measurements and classical control measures every qubit at the end.
func (c Circuit) instructions() (list []instruction, final []int) {
	l := lowering{wire: allQubits(c.qubits), readout: c.readoutOf}
	list = l.block(c.gates, false)
	if !l.measured {
		for q, w := range l.wire {
			list = append(list, instruction{event: event{kind: eventMeasure, wire: w, slot: q, readout: c.readoutOf(q)}})
		}
	}
	return list, l.wire
}

// block expands a list of gates. Inside a block swaps are operators: whether they run is known only then.
func (l *lowering) block(gates []gate, inside bool) (list []instruction) {
	for _, g := range gates {
		switch g.kind {
		case kindBarrier, kindID:
		case kindMeasure:
			l.measured = true
			for i, q := range g.targets {
				list = append(list, instruction{event: event{kind: eventMeasure, wire: l.wire[q], slot: g.slots[i], readout: l.readout(q)}})
			}
		case kindReset:
			list = append(list, l.resets(g.targets)...)
		case kindInitialize:
			list = append(list, l.initialize(g)...)
		case kindChannel:
			list = append(list, l.channels(g)...)
		case kindAssign:
			l.measured = true
			list = append(list, instruction{event: event{kind: eventAssign, slot: noSlot, slots: g.slots, condition: g.flow.condition}})
		case kindIf:
			l.measured = true
			in := instruction{event: event{kind: eventIf, slot: noSlot, condition: g.flow.condition}}
			in.then, in.otherwise = l.block(g.flow.then, true), l.block(g.flow.otherwise, true)
			list = append(list, in)
		case kindWhile:
			l.measured = true
			forEach(g.flow.then, func(g *gate) { // a later round finds moved what an earlier one has moved
				for _, q := range g.targets {
					l.moved |= 1 << l.wire[q]
				}
			})
			in := instruction{event: event{kind: eventLoop, slot: noSlot, condition: g.flow.condition, rounds: g.flow.rounds}}
			in.then = l.block(g.flow.then, true)
			list = append(list, in)
		default:
			list = l.unitary(list, g, inside)
		}
	}
	return list
}

// resets brings qubits back to |0⟩.
func (l *lowering) resets(qubits []int) (list []instruction) {
	for _, q := range qubits {
		if w := l.wire[q]; l.moved&(1<<w) != 0 {
			list = append(list, instruction{event: event{kind: eventReset, wire: w, slot: noSlot}})
		}
	}
	return list
}

func (l *lowering) unitary(list []instruction, g gate, inside bool) []instruction {
	var op operator
	switch swaps := g.kind == kindSwap || g.kind == kindISwap; {
	case swaps && len(g.controls) == 0 && !inside:
		a, b := g.targets[0], g.targets[1]
		l.wire[a], l.wire[b] = l.wire[b], l.wire[a]
		if g.kind == kindSwap {
			return list
		}
		op = iswapPhase(1<<l.wire[a] | 1<<l.wire[b])
	default:
		op = g.operator(l.wire)
	}
	l.moved |= op.targets
	return append(list, instruction{operator: op, unitary: true})
}

// markMeasurements finds the measurements that may wait until the end, and those whose outcome is not visible: gates that
// use a qubit only as a control or diagonally commute with measuring it. It returns the wires of measurements that wait
// though something later uses their qubit or their bit: the state before the final measurements is one in which those
// wires have no coherence left.
func markMeasurements(list []instruction, slots int) (dephased wires) {
	var disturbed wires           // targets of what comes later
	var used wires                // what comes later acts on them in any way
	read := make([]bool, slots)   // something later reads the slot before it is surely written again
	maybe := make([]bool, slots)  // a block that may or may not run writes it before that
	surely := make([]bool, slots) // it is surely written again
	for i := len(list) - 1; i >= 0; i-- {
		in := &list[i]
		e := in.event
		switch {
		case in.unitary:
			disturbed |= in.operator.targets
			used |= in.operator.allWires()
		case e.kind == eventReset:
			disturbed |= 1 << e.wire
			used |= 1 << e.wire
		case e.kind == eventChannel:
			disturbed |= e.disturbs()
			used |= e.noisyWires()
		case e.kind == eventMeasure:
			in.dead = surely[e.slot] && !read[e.slot]
			in.deferred = disturbed&(1<<e.wire) == 0 && (in.dead || !read[e.slot] && !maybe[e.slot])
			if in.deferred && (used&(1<<e.wire) != 0 || surely[e.slot]) {
				dephased |= 1 << e.wire
			}
			used |= 1 << e.wire
			surely[e.slot], read[e.slot], maybe[e.slot] = true, false, false
		case e.kind == eventAssign:
			for _, s := range e.slots {
				surely[s], read[s], maybe[s] = true, false, false
			}
			e.condition.forEachSlot(func(s int) { read[s] = true })
		default:
			disturbed |= targetsOf(in.then) | targetsOf(in.otherwise)
			used |= wiresOf(in.then) | wiresOf(in.otherwise)
			in.forEachUse(func(s int) { read[s] = true }, func(s int) { maybe[s] = true })
		}
	}
	return dephased
}

// forEachUse visits the slots that an if or a while may read and write.
func (in instruction) forEachUse(reads, writes func(slot int)) {
	in.event.condition.forEachSlot(reads)
	for _, block := range [2][]instruction{in.then, in.otherwise} {
		for _, inner := range block {
			switch inner.event.kind {
			case eventMeasure:
				if !inner.unitary {
					writes(inner.event.slot)
				}
			case eventAssign:
				for _, s := range inner.event.slots {
					writes(s)
				}
				inner.event.condition.forEachSlot(reads)
			case eventIf, eventLoop:
				inner.forEachUse(reads, writes)
			}
		}
	}
}

// oneHistory reports whether every shot goes the same way through the program.
func (p program) oneHistory() bool { return len(p.segments) == 1 }

// eventCount is the most mid-circuit measurements, resets and channels a shot can meet.
func (p program) eventCount() int64 {
	var sum uint64
	for _, s := range p.segments {
		if s.event.splits() {
			sum = saturatingAdd(sum, uint64(s.times))
		}
	}
	return int64(sum)
}
