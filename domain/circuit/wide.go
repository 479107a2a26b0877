package circuit

import "slices"

// wideProgram is a circuit in the form that the methods for any width run: operators on wires by number, classical control as
// jumps. Uncontrolled swaps outside blocks rename wires, as in a [program].
type wideProgram struct {
	wires    int
	code     []wideStep // the first runs first
	loops    int
	outputs  []output // measurements that may wait until the end
	key      keyLayout
	final    []int  // wire each qubit is on at the end
	dephased []bool // by wire; see markMeasurements
}

// wideStep is an operator, or an event whose next and other are places in the code.
type wideStep struct {
	operator *wideOperator // nil: the event
	event    event
}

// wideOperator is an operator whose wires are listed: for every value of the selectors a small matrix on the targets, acting where
// all controls are 1. The first wire of a list is the lowest bit of an index.
type wideOperator struct {
	targets, selectors, controls []int
	matrix                       []scalar // [selector][row][column]
}

// wires lists those that the operator acts on in any way.
func (o *wideOperator) wires() []int { return slices.Concat(o.targets, o.selectors, o.controls) }

func (o *wideOperator) dim() int { return 1 << len(o.targets) }

// wideInstruction is a wideStep before blocks are written out as jumps.
type wideInstruction struct {
	wideStep
	then, otherwise []wideInstruction
	deferred, dead  bool // as those of an instruction
}

// wideLowering expands gates into instructions on wires.
type wideLowering struct {
	wire     []int  // of each qubit
	moved    []bool // wires that may have left |0⟩
	local    []int  // where a gate's qubits are while its operator is made
	measured bool
	readout  func(qubit int) *confusion
}

// lowerWide resolves names, swaps and measurements of a circuit without noise on its state.
func lowerWide(c Circuit) wideProgram {
	l := wideLowering{wire: allQubits(c.qubits), moved: make([]bool, c.qubits), local: make([]int, c.qubits), readout: c.readoutOf}
	list := l.block(c.gates, false)
	if !l.measured {
		for q, w := range l.wire {
			list = append(list, l.measurement(w, q, q))
		}
	}
	b := wideBuilder{wideProgram{wires: c.qubits, key: c.keyLayout(), final: l.wire}}
	b.dephased = markWide(list, c.qubits, c.slots)
	b.emit(list)
	b.add(event{kind: eventEnd})
	return b.wideProgram
}

func (l *wideLowering) measurement(wire, qubit, slot int) wideInstruction {
	return wideEvent(event{kind: eventMeasure, wire: wire, slot: slot, readout: l.readout(qubit)})
}

func wideEvent(e event) wideInstruction { return wideInstruction{wideStep: wideStep{event: e}} }

func (l *wideLowering) block(gates []gate, inside bool) (list []wideInstruction) {
	for _, g := range gates {
		switch g.kind {
		case kindBarrier, kindID, kindChannel: // a channel here does nothing: see notWide
		case kindMeasure:
			l.measured = true
			for i, q := range g.targets {
				list = append(list, l.measurement(l.wire[q], q, g.slots[i]))
			}
		case kindReset:
			list = append(list, l.resets(g.targets)...)
		case kindInitialize:
			list = append(list, l.initialize(g)...)
		case kindAssign:
			l.measured = true
			list = append(list, wideEvent(event{kind: eventAssign, slot: noSlot, slots: g.slots, condition: g.flow.condition}))
		case kindIf:
			l.measured = true
			in := wideEvent(event{kind: eventIf, slot: noSlot, condition: g.flow.condition})
			in.then, in.otherwise = l.block(g.flow.then, true), l.block(g.flow.otherwise, true)
			list = append(list, in)
		case kindWhile:
			l.measured = true
			forEach(g.flow.then, func(g *gate) { // a later round finds moved what an earlier one has moved
				for _, q := range g.targets {
					l.moved[l.wire[q]] = true
				}
			})
			in := wideEvent(event{kind: eventLoop, slot: noSlot, condition: g.flow.condition, rounds: g.flow.rounds})
			in.then = l.block(g.flow.then, true)
			list = append(list, in)
		default:
			if op := l.operator(g, inside); op != nil {
				list = append(list, wideInstruction{wideStep: wideStep{operator: op}})
			}
		}
	}
	return list
}

func (l *wideLowering) resets(qubits []int) (list []wideInstruction) {
	for _, q := range qubits {
		if w := l.wire[q]; l.moved[w] {
			list = append(list, wideEvent(event{kind: eventReset, wire: w, slot: noSlot}))
		}
	}
	return list
}

// initialize resets the targets and prepares their state as the state vector does.
func (l *wideLowering) initialize(g gate) (list []wideInstruction) {
	list = l.resets(g.targets)
	narrow := lowering{wire: allQubits(len(g.targets))}
	own := gate{kind: kindInitialize, targets: allQubits(len(g.targets)), matrix: g.matrix}
	for _, in := range narrow.initialize(own) {
		list = append(list, wideInstruction{wideStep: wideStep{operator: l.widened(in.operator, g.targets)}})
	}
	return list
}

// operator is the unitary of a gate on wires; nil for a swap that only renames them.
func (l *wideLowering) operator(g gate, inside bool) *wideOperator {
	if (g.kind == kindSwap || g.kind == kindISwap) && len(g.controls) == 0 && !inside {
		a, b := g.targets[0], g.targets[1]
		l.wire[a], l.wire[b] = l.wire[b], l.wire[a]
		if g.kind == kindSwap {
			return nil
		}
		return l.widened(iswapPhase(0b11), g.targets)
	}
	const most = 32 // controls of one operator on 64 wires; the others are added to what it becomes
	few := g
	few.controls = g.controls[:min(most, len(g.controls))]
	qubits := slices.Concat(few.targets, few.controls)
	for place, q := range qubits {
		l.local[q] = place
	}
	op := l.widened(few.operator(l.local), qubits)
	for _, q := range g.controls[len(few.controls):] {
		op.controls = append(op.controls, l.wire[q])
	}
	return op
}

// widened puts an operator on the wires of the qubits that its own wires stand for.
func (l *wideLowering) widened(op operator, qubits []int) *wideOperator {
	list := func(set wires) (out []int) {
		for ; set != 0; set &= set - 1 {
			out = append(out, l.wire[qubits[extractWire(set)]])
		}
		return out
	}
	wide := &wideOperator{targets: list(op.targets), selectors: list(op.selectors), controls: list(op.controls), matrix: op.matrix}
	for _, w := range wide.targets {
		l.moved[w] = true
	}
	return wide
}

// markWide is markMeasurements for any number of wires.
func markWide(list []wideInstruction, wires, slots int) (dephased []bool) {
	disturbed, used := make([]bool, wires), make([]bool, wires)
	read, maybe, surely := make([]bool, slots), make([]bool, slots), make([]bool, slots)
	dephased = make([]bool, wires)
	for i := len(list) - 1; i >= 0; i-- {
		in := &list[i]
		e := in.event
		switch {
		case in.operator == nil && e.kind == eventMeasure:
			in.dead = surely[e.slot] && !read[e.slot]
			in.deferred = !disturbed[e.wire] && (in.dead || !read[e.slot] && !maybe[e.slot])
			if in.deferred && (used[e.wire] || surely[e.slot]) {
				dephased[e.wire] = true
			}
			used[e.wire] = true
			surely[e.slot], read[e.slot], maybe[e.slot] = true, false, false
		case in.operator == nil && e.kind == eventAssign:
			for _, s := range e.slots {
				surely[s], read[s], maybe[s] = true, false, false
			}
			e.condition.forEachSlot(func(s int) { read[s] = true })
		default:
			in.acts(disturbed, used)
			in.forEachUse(func(s int) { read[s] = true }, func(s int) { maybe[s] = true })
		}
	}
	return dephased
}

// acts marks the wires whose basis states an instruction may change, and those that it acts on in any way.
func (in wideInstruction) acts(disturbed, used []bool) {
	mark := func(set []bool, list []int) {
		for _, w := range list {
			set[w] = true
		}
	}
	switch {
	case in.operator != nil:
		mark(disturbed, in.operator.targets)
		mark(used, in.operator.wires())
	case in.event.kind == eventReset:
		disturbed[in.event.wire], used[in.event.wire] = true, true
	case in.event.kind == eventMeasure:
		used[in.event.wire] = true
	}
	for _, inner := range slices.Concat(in.then, in.otherwise) {
		inner.acts(disturbed, used)
	}
}

// forEachUse visits the slots that an if or a while may read and write.
func (in wideInstruction) forEachUse(reads, writes func(slot int)) {
	if in.operator != nil {
		return
	}
	switch in.event.kind {
	case eventMeasure:
		writes(in.event.slot)
	case eventAssign:
		for _, s := range in.event.slots {
			writes(s)
		}
	}
	in.event.condition.forEachSlot(reads)
	for _, inner := range slices.Concat(in.then, in.otherwise) {
		inner.forEachUse(reads, writes)
	}
}

// wideBuilder writes blocks out as jumps.
type wideBuilder struct{ wideProgram }

// add appends an event that the next step follows, and returns its place.
func (b *wideBuilder) add(e event) int {
	e.next = len(b.code) + 1
	b.code = append(b.code, wideStep{event: e})
	return len(b.code) - 1
}

func (b *wideBuilder) emit(list []wideInstruction) {
	for _, in := range list {
		e := in.event
		switch {
		case in.operator != nil:
			b.code = append(b.code, in.wideStep)
		case in.deferred:
			if !in.dead {
				b.outputs = append(b.outputs, output{e.wire, e.slot, e.readout})
			}
		case e.kind == eventIf:
			head := b.add(e)
			b.emit(in.then)
			end := b.add(event{kind: eventJump})
			b.code[head].event.other = len(b.code)
			b.emit(in.otherwise)
			b.code[end].event.next = len(b.code)
		case e.kind == eventLoop:
			e.loop, b.loops = b.loops, b.loops+1
			head := b.add(e)
			b.emit(in.then)
			b.code[b.add(event{kind: eventJump})].event.next = head
			b.code[head].event.other = len(b.code)
		default:
			if in.dead {
				e.slot = noSlot
			}
			b.add(e)
		}
	}
}

// oneHistory reports whether every shot goes the same way through the program.
func (p wideProgram) oneHistory() bool {
	return !slices.ContainsFunc(p.code, func(s wideStep) bool { return s.operator == nil && s.event.kind != eventEnd })
}
