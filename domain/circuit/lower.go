package circuit

// program is a circuit in the form the state-vector engine runs. Uncontrolled swaps are resolved: they rename wires.
type program struct {
	wires    int
	segments []segment
	outputs  []output // measurements that may wait until the end
	slots    []int    // slots that hold an outcome, ascending: the characters of a key from the right
	final    []int    // wire each qubit is on at the end
}

// segment is a sequence of operators followed by a mid-circuit event; the last segment ends with eventEnd.
type segment struct {
	operators []operator
	event     event
}

type eventKind uint8

const (
	eventEnd     eventKind = iota
	eventMeasure           // a measurement that later gates depend on
	eventReset
)

// noSlot marks a measurement whose outcome is overwritten later.
const noSlot = -1

type event struct {
	kind eventKind
	wire int
	slot int // eventMeasure: where the outcome goes, or noSlot
}

type output struct{ wire, slot int }

// instruction is a gate on wires, or a measurement or reset of one wire.
type instruction struct {
	operator operator
	unitary  bool
	event    event
}

// lower resolves names, swaps and measurements. A measurement waits until the end when nothing later changes its
// qubit's basis states: gates that use the qubit only as a control or diagonally commute with it.
func lower(c Circuit) program {
	instructions, final := c.instructions()
	deferred := deferrable(instructions, c.qubits)
	p := program{wires: c.qubits, final: final}
	holder := make([]int, c.slots) // index of the instruction whose outcome a slot holds at the end, or -1
	for s := range holder {
		holder[s] = -1
	}
	for i, in := range instructions {
		if !in.unitary && in.event.kind == eventMeasure {
			holder[in.event.slot] = i
		}
	}
	var current segment
	for i, in := range instructions {
		switch {
		case in.unitary:
			current.operators = append(current.operators, in.operator)
		case in.event.kind == eventMeasure && deferred[i]:
			if holder[in.event.slot] == i {
				p.outputs = append(p.outputs, output{in.event.wire, in.event.slot})
			}
		default:
			if in.event.kind == eventMeasure && holder[in.event.slot] != i {
				in.event.slot = noSlot
			}
			current.event = in.event
			p.segments = append(p.segments, current)
			current = segment{}
		}
	}
	p.segments = append(p.segments, current)
	for s, i := range holder {
		if i >= 0 {
			p.slots = append(p.slots, s)
		}
	}
	return p
}

// instructions expands gates into operators on wires and tells the wire each qubit ends on. A circuit without measurements measures every qubit at the end.
func (c Circuit) instructions() (list []instruction, final []int) {
	wire := make([]int, c.qubits)
	for q := range wire {
		wire[q] = q
	}
	fresh := make([]bool, c.qubits) // wires still in their initial |0⟩: resetting them does nothing
	for w := range fresh {
		fresh[w] = true
	}
	measured := false
	for _, g := range c.gates {
		switch g.kind {
		case kindBarrier, kindID:
		case kindMeasure:
			measured = true
			for i, q := range g.targets {
				list = append(list, instruction{event: event{eventMeasure, wire[q], g.slots[i]}})
			}
		case kindReset:
			for _, q := range g.targets {
				if w := wire[q]; !fresh[w] {
					list = append(list, instruction{event: event{eventReset, w, noSlot}})
				}
			}
		default:
			if g.kind == kindSwap && len(g.controls) == 0 || g.kind == kindISwap {
				a, b := g.targets[0], g.targets[1]
				wire[a], wire[b] = wire[b], wire[a]
				if g.kind == kindSwap {
					continue
				}
			}
			op := g.operator(wire)
			for t := op.targets; t != 0; t &= t - 1 {
				fresh[extractWire(t)] = false
			}
			list = append(list, instruction{operator: op, unitary: true})
		}
	}
	if !measured {
		for q, w := range wire {
			list = append(list, instruction{event: event{eventMeasure, w, q}})
		}
	}
	return list, wire
}

// deferrable marks the measurements that commute with everything after them.
func deferrable(instructions []instruction, wireCount int) []bool {
	disturbed := make([]bool, wireCount)
	deferred := make([]bool, len(instructions))
	for i := len(instructions) - 1; i >= 0; i-- {
		in := instructions[i]
		switch {
		case in.unitary:
			for t := in.operator.targets; t != 0; t &= t - 1 {
				disturbed[extractWire(t)] = true
			}
		case in.event.kind == eventReset:
			disturbed[in.event.wire] = true
		default:
			deferred[i] = !disturbed[in.event.wire]
		}
	}
	return deferred
}

// eventCount is the number of mid-circuit measurements and resets.
func (p program) eventCount() int { return len(p.segments) - 1 }
