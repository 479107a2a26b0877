package openqasm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// elaborator walks the tree in the order the program runs and emits operations. Every loop over known values is
// unrolled; a branch or loop that depends on a measurement becomes an If or While.
type elaborator struct {
	source   string
	version  int
	limits   Limits
	scopes   []scope
	body     []Operation // of the block that is being emitted
	warnings []string
	unset    []int // where variables are read that have no value
	hardware map[string]int
	library  map[string]*gate

	qubits    int
	quantum   []Register // of qubits
	registers []Register // of bits
	declared  int        // slots of declared bits
	slots     int        // next hidden slot; numbered from hiddenBase until the end
	temporary map[int]bool
	phase     float64

	operations int
	steps      int
	switches   int  // emitted so far
	depth      int  // nesting of blocks whose execution depends on a measurement
	inGate     bool // a definition is being expanded
	callAt     int  // the statement that operations are attributed to
	measured   bool
	matrix     bool // operations are collected for their matrix: two-qubit gates are expanded

	frame          *frame // of the subroutine that is being elaborated; nil: none
	given          Inputs
	declaredInputs map[string]bool
	calls          int                  // subroutines that are being elaborated
	assumed        map[expression]int64 // indexes of the case that is being elaborated
	loops          []*loop
	stopped        stop  // the rest of the block is never reached
	raised         []int // slots of jumps that may have been taken
	endFlag        int   // slot that "end" sets where a measurement decides; 0: none
}

// hiddenBase keeps hidden slots apart from declared bits until the number of those is known.
const hiddenBase = 1 << 20

func elaborate(p *parser, statements []statement, inputs Inputs, limits Limits) Program {
	source := p.lexer.text
	e := &elaborator{
		source: source, version: p.version, limits: limits, scopes: []scope{{}}, given: inputs, declaredInputs: map[string]bool{},
		slots: hiddenBase, temporary: map[int]bool{}, library: loadLibrary(), hardware: numberHardware(p.hardware, limits),
	}
	if hasJump(statements, "end") {
		e.endFlag = e.flag(0)
	}
	e.block(statements)
	e.qubits += len(e.hardware)
	if e.qubits == 0 {
		fail(CodeMissing, len(source), "the program declares no qubits")
	}
	e.checkInputs()
	hidden := map[int]int{}
	if e.measured && e.declared == 0 {
		e.showVariables(hidden)
	}
	e.body = withoutDead(e.body, hidden)
	e.finish(e.body, hidden)
	return Program{
		Warnings: append(p.warnings(), e.warnings...), Version: e.version, Qubits: e.qubits, Slots: e.declared + len(hidden),
		Registers: e.registers, Phase: e.phase, Body: e.body, source: source,
	}
}

// showVariables makes registers of the variables that measurements decide, in a program without bits: nothing else shows an outcome.
func (e *elaborator) showVariables(numbers map[int]int) {
	global := e.scopes[0]
	words := slices.SortedFunc(maps.Keys(global), func(a, b string) int { return cmp.Compare(global[a].at, global[b].at) })
	for _, word := range words {
		s := global[word]
		if s.kind != symbolVariable || s.slots == nil {
			continue
		}
		if len(numbers)+len(s.slots) > maxBits {
			fail(CodeUnsupported, s.at, "a program without bits shows its variables, of at most %d bits together", maxBits)
		}
		e.registers = append(e.registers, Register{Name: word, First: len(numbers), Size: len(s.slots)})
		for _, slot := range s.slots {
			numbers[slot] = len(numbers)
		}
	}
	if len(e.registers) == 0 {
		fail(CodeUnsupported, 0, "the program measures but declares no bit that would keep an outcome: write bit[n] c; c = measure q;")
	}
}

// maxWarnings bounds the variables that are named in warnings.
const maxWarnings = 20

// warnUnset says once for each place that a variable is read there before it has a value.
func (e *elaborator) warnUnset(at int, word string) {
	if slices.Contains(e.unset, at) || len(e.unset) == maxWarnings {
		return
	}
	e.unset = append(e.unset, at)
	line := 1 + strings.Count(e.source[:at], "\n")
	e.warnings = append(e.warnings, fmt.Sprintf("%s is read in line %d before it has a value; it is 0 there", clip(word), line))
}

// finish numbers the hidden slots that are used, after the declared ones, and gives barriers without operands all qubits.
func (e *elaborator) finish(body []Operation, numbers map[int]int) {
	final := func(s int) int {
		if s < hiddenBase {
			return s
		}
		if _, seen := numbers[s]; !seen {
			numbers[s] = e.declared + len(numbers)
		}
		return numbers[s]
	}
	for i := range body {
		op := &body[i]
		op.Slot = final(op.Slot)
		for j, b := range op.Formula.Bits {
			op.Formula.Bits[j].Slot = final(b.Slot)
		}
		if op.Kind == Barrier && len(op.Targets) == 0 {
			op.Targets = sequence(0, e.qubits)
		}
		e.finish(op.Then, numbers)
		e.finish(op.Else, numbers)
	}
}

// withoutDead leaves out assignments to hidden slots that nothing reads, and branches that do nothing.
func withoutDead(body []Operation, shown map[int]int) []Operation {
	for dropped := true; dropped; {
		body, dropped = dropDead(body, shown)
	}
	return body
}

func dropDead(body []Operation, shown map[int]int) (kept []Operation, dropped bool) {
	live := make(map[int]bool, len(shown))
	for s := range shown {
		live[s] = true
	}
	for before := -1; len(live) != before; {
		before = len(live)
		markLive(body, live)
	}
	var drop func(list []Operation) []Operation
	drop = func(list []Operation) []Operation {
		kept := list[:0]
		for _, op := range list {
			if op.Kind == Assign && op.Slot >= hiddenBase && !live[op.Slot] {
				continue
			}
			op.Then, op.Else = drop(op.Then), drop(op.Else)
			if op.Kind == If && len(op.Then)+len(op.Else) == 0 {
				dropped = true
				continue
			}
			kept = append(kept, op)
		}
		return kept
	}
	return drop(body), dropped
}

// markLive adds the slots that conditions and live assignments read. Going backwards it sees most uses first.
func markLive(list []Operation, live map[int]bool) {
	for i := len(list) - 1; i >= 0; i-- {
		op := list[i]
		markLive(op.Else, live)
		markLive(op.Then, live)
		if op.Kind == Assign && op.Slot >= hiddenBase && !live[op.Slot] {
			continue
		}
		for _, b := range op.Formula.Bits {
			if b.Slot >= 0 {
				live[b.Slot] = true
			}
		}
	}
}

// numberHardware numbers the physical qubits a program names, in ascending order.
func numberHardware(names map[string]int, limits Limits) map[string]int {
	order := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	numbers := make(map[string]int, len(order))
	for i, q := range order {
		if i >= limits.Qubits {
			fail(CodeQubits, names[q], "the program names more than %d qubits", limits.Qubits)
		}
		numbers[q] = i
	}
	return numbers
}

// step counts work, so that no program unrolls for ever.
func (e *elaborator) step(at int) {
	if e.steps++; e.steps > maxSteps {
		fail(CodeTooMany, at, "unrolling the program takes more than %d steps", maxSteps)
	}
}

// charge counts the work on a register of n elements.
func (e *elaborator) charge(at, n int) {
	e.steps += n / 8
	e.step(at)
}

func (e *elaborator) emit(at int, op Operation) {
	e.step(at)
	if op.Kind != Assign && !e.matrix {
		if e.operations++; e.operations > e.limits.Operations {
			fail(CodeTooMany, e.place(at), "the program has more than %d gates, after loops are unrolled and definitions expanded", e.limits.Operations)
		}
	}
	op.At = e.place(at)
	e.body = append(e.body, op)
}

// place is the statement of the program that a node of a definition is expanded for.
func (e *elaborator) place(at int) int {
	if e.inGate {
		return e.callAt
	}
	return at
}

// captured runs something that emits and returns what it emitted.
func (e *elaborator) captured(run func()) []Operation {
	outer := e.body
	e.body = nil
	run()
	inner := e.body
	e.body = outer
	return inner
}

// block elaborates statements in order. After a jump that a measurement decides, the rest runs only where it was not
// taken.
func (e *elaborator) block(list []statement) {
	for i, s := range list {
		before := len(e.raised)
		e.statement(s)
		if e.stopped != running {
			return
		}
		rest := list[i+1:]
		if len(e.raised) > before && len(rest) > 0 {
			e.guarded(s.position(), rest, func() { e.block(rest) })
			return
		}
	}
}

func (e *elaborator) statement(s statement) {
	e.step(s.position())
	if !e.inGate {
		e.callAt = s.position()
	}
	switch s := s.(type) {
	case *declaration:
		e.declaration(s)
	case *alias:
		e.alias(s)
	case *assignment:
		e.assignment(s)
	case *gateCall:
		e.gateCall(s)
	case *gateDefinition:
		e.define(s)
	case *subroutine:
		e.defineRoutine(s)
	case *directive:
		e.directive(s)
	case *choice:
		e.choice(s)
	case *forLoop:
		e.forLoop(s)
	case *whileLoop:
		e.whileLoop(s)
	case *selection:
		e.selection(s)
	case *jump:
		e.jump(s)
	case *block:
		e.checkDuration(s.length)
		e.inScope(func() { e.block(s.body) })
	}
}

// directive emits barriers and resets. A delay changes nothing but keeps its qubits in step, as a barrier does.
func (e *elaborator) directive(d *directive) {
	e.checkDuration(d.length)
	e.onOperands(d.position(), d.operands, func() { e.direct(d) })
}

// checkDuration checks the type of a length that is ignored.
func (e *elaborator) checkDuration(x expression) {
	if x == nil {
		return
	}
	if v := e.evaluate(x); v.kind != kindDuration {
		fail(CodeType, x.position(), "expected a duration such as 100ns, not a value of type %s", v.describe())
	}
}

func (e *elaborator) direct(d *directive) {
	var targets []int
	for _, o := range d.operands {
		qubits, _ := e.qubitOperand(o)
		targets = append(targets, qubits...)
	}
	switch d.word {
	case "reset":
		for _, q := range targets {
			e.emit(d.position(), Operation{Kind: Reset, Targets: []int{q}})
		}
	case "barrier", "delay":
		e.checkDistinct(d.position(), targets)
		e.emit(d.position(), Operation{Kind: Barrier, Targets: targets})
	}
}

func (e *elaborator) checkDistinct(at int, qubits []int) {
	seen := make(map[int]bool, len(qubits))
	for _, q := range qubits {
		if seen[q] {
			fail(CodeRepeatedQubit, at, "the qubit %s is named twice", e.qubitName(q))
		}
		seen[q] = true
	}
}

// qubitName is a qubit as the program would name it.
func (e *elaborator) qubitName(q int) string {
	for _, r := range e.quantum {
		switch {
		case q < r.First || q >= r.First+r.Size:
		case r.Size == 1:
			return clip(r.Name)
		default:
			return clip(r.Name) + "[" + itoa(q-r.First) + "]"
		}
	}
	for name, i := range e.hardware {
		if i == q {
			return name
		}
	}
	return itoa(q)
}
