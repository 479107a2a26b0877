package circuit

import "math/bits"

// Bounds of classical control. They make the cost of any circuit known before it runs.
const (
	MaxNesting = 16        // blocks of if and while inside each other
	MaxRounds  = 1000      // rounds of one while
	MaxSteps   = 1_000_000 // instructions of a circuit with every round of every loop written out
)

// flow is the classical control of an instruction.
type flow struct {
	condition expression // if, while: anything but 0 is true; assign: the value, bit i of which goes to the i-th slot
	then      []gate     // if: when true; while: the body
	otherwise []gate     // if: when false
	rounds    int        // while: a shot that would begin one more fails the run
	nesting   int        // blocks inside this instruction, itself included
}

// expressionOp is the operation of an expression on its arguments.
type expressionOp uint8

const (
	exprConstant     expressionOp = iota
	exprBits                      // classical bits as a number
	exprNot                       // logical: 1 for 0, 0 for anything else
	exprAnd                       // logical
	exprOr                        // logical
	exprXor                       // bit by bit, as the next two
	exprBitAnd                    //
	exprBitOr                     //
	exprEqual                     // comparisons of unsigned numbers: 1 when they hold
	exprNotEqual                  //
	exprLess                      //
	exprLessEqual                 //
	exprGreater                   //
	exprGreaterEqual              //
)

// expression is an unsigned 64-bit number computed from classical bits.
type expression struct {
	op    expressionOp
	slots []int  // exprBits: lowest first, at most 64
	value uint64 // exprConstant
	args  []expression
}

// evaluate computes the expression; bit tells the value of a slot.
func (e expression) evaluate(bit func(slot int) uint64) uint64 {
	switch e.op {
	case exprConstant:
		return e.value
	case exprBits:
		var out uint64
		for i, slot := range e.slots {
			out |= bit(slot) << i
		}
		return out
	case exprNot:
		return truth(e.args[0].evaluate(bit) == 0)
	}
	a, b := e.args[0].evaluate(bit), e.args[1].evaluate(bit)
	switch e.op {
	case exprAnd:
		return truth(a != 0 && b != 0)
	case exprOr:
		return truth(a != 0 || b != 0)
	case exprXor:
		return a ^ b
	case exprBitAnd:
		return a & b
	case exprBitOr:
		return a | b
	case exprEqual:
		return truth(a == b)
	case exprNotEqual:
		return truth(a != b)
	case exprLess:
		return truth(a < b)
	case exprLessEqual:
		return truth(a <= b)
	case exprGreater:
		return truth(a > b)
	}
	return truth(a >= b)
}

func truth(holds bool) uint64 {
	if holds {
		return 1
	}
	return 0
}

// forEachSlot visits every slot the expression reads.
func (e expression) forEachSlot(visit func(slot int)) {
	for _, slot := range e.slots {
		visit(slot)
	}
	for _, arg := range e.args {
		arg.forEachSlot(visit)
	}
}

// maxExpressionSize bounds the operators and bits of one condition or value.
const maxExpressionSize = 10_000

// check refuses an expression that evaluate cannot compute.
func (e expression) check(index int, name string) error {
	size := 0
	var walk func(e expression) error
	walk = func(e expression) error {
		size += 1 + len(e.slots)
		arguments := 2
		switch e.op {
		case exprConstant, exprBits:
			arguments = 0
		case exprNot:
			arguments = 1
		}
		switch {
		case size > maxExpressionSize:
			return refuseGate(CodeCondition, index, name, "the condition is longer than %d operators", maxExpressionSize)
		case e.op > exprGreaterEqual || len(e.args) != arguments:
			return refuseGate(CodeCondition, index, name, "the condition has an operator with %d operands", len(e.args))
		case e.op == exprBits && (len(e.slots) == 0 || len(e.slots) > 64):
			return refuseGate(CodeCondition, index, name, "a condition reads 1 to 64 bits as a number, not %d", len(e.slots))
		}
		for _, arg := range e.args {
			if err := walk(arg); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(e)
}

// newIf runs one of two blocks; either may be empty.
func newIf(index int, condition expression, then, otherwise []gate) (gate, error) {
	const name = "if"
	if err := condition.check(index, name); err != nil {
		return gate{}, err
	}
	f := &flow{condition: condition, then: then, otherwise: otherwise, nesting: 1 + max(nesting(then), nesting(otherwise))}
	return gate{name: name, kind: kindIf, flow: f}, checkNesting(index, name, f)
}

// newWhile repeats a block for as long as the condition holds before it.
func newWhile(index int, condition expression, rounds int, body []gate) (gate, error) {
	const name = "while"
	if err := condition.check(index, name); err != nil {
		return gate{}, err
	}
	if rounds < 1 || rounds > MaxRounds {
		return gate{}, refuseGate(CodeRounds, index, name, "a loop runs 1 to %d rounds, not %d", MaxRounds, rounds)
	}
	f := &flow{condition: condition, then: body, rounds: rounds, nesting: 1 + nesting(body)}
	return gate{name: name, kind: kindWhile, flow: f}, checkNesting(index, name, f)
}

// newAssign writes a value to slots, lowest bit first.
func newAssign(index int, slots []int, value expression) (gate, error) {
	const name = "assignment"
	if err := value.check(index, name); err != nil {
		return gate{}, err
	}
	if len(slots) == 0 || len(slots) > 64 {
		return gate{}, refuseGate(CodeCondition, index, name, "an assignment writes 1 to 64 bits, not %d", len(slots))
	}
	return gate{name: name, kind: kindAssign, slots: slots, flow: &flow{condition: value}}, nil
}

func nesting(block []gate) int {
	deepest := 0
	for _, g := range block {
		if g.flow != nil {
			deepest = max(deepest, g.flow.nesting)
		}
	}
	return deepest
}

func checkNesting(index int, name string, f *flow) error {
	if f.nesting > MaxNesting {
		return refuseGate(CodeCondition, index, name, "blocks are nested deeper than %d", MaxNesting)
	}
	return nil
}

// forEach visits every instruction, those inside blocks after the one that holds them.
func forEach(list []gate, visit func(g *gate)) {
	for i := range list {
		visit(&list[i])
		if f := list[i].flow; f != nil {
			forEach(f.then, visit)
			forEach(f.otherwise, visit)
		}
	}
}

// steps is the number of instructions with every round of every loop written out, saturating.
func steps(list []gate) uint64 {
	sum := uint64(0)
	for _, g := range list {
		sum = saturatingAdd(sum, uint64(max(1, len(g.targets))))
		if g.flow != nil {
			inside := saturatingAdd(steps(g.flow.then), steps(g.flow.otherwise))
			sum = saturatingAdd(sum, saturatingMultiply(inside+1, uint64(max(1, g.flow.rounds))))
		}
	}
	return sum
}

func saturatingAdd(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 || sum > 1<<62 {
		return 1 << 62
	}
	return sum
}

func saturatingMultiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high != 0 || low > 1<<62 {
		return 1 << 62
	}
	return low
}

// classicalRegister is a name for consecutive slots.
type classicalRegister struct {
	name        string
	first, size int
}

// complete fills in what depends on the whole circuit and refuses what is too large as a whole. Parsers end with it.
func (c *Circuit) complete(limits Limits) error {
	count, classical := 0, false
	forEach(c.gates, func(g *gate) {
		count++
		classical = classical || g.kind == kindMeasure || g.flow != nil
		if g.kind == kindBarrier && g.targets == nil { // a barrier without qubits spans all of them
			g.targets = allQubits(c.qubits)
		}
	})
	if count > limits.Gates {
		return refuse(CodeTooManyGates, "the circuit has more than %d gates", limits.Gates)
	}
	if n := steps(c.gates); c.hasFlow() && n > MaxSteps {
		return refuse(CodeTooManySteps, "with every round of its loops the circuit has %d instructions; at most %d are run", n, MaxSteps)
	}
	if !classical { // every qubit is measured into a bit of its own
		c.slots, c.registers = c.qubits, nil
	}
	return checkWidth(*c, limits)
}

func allQubits(n int) []int {
	out := make([]int, n)
	for q := range out {
		out[q] = q
	}
	return out
}

// hasFlow reports whether what runs depends on classical bits.
func (c Circuit) hasFlow() bool {
	for _, g := range c.gates {
		if g.flow != nil {
			return true
		}
	}
	return false
}

// touches lists the qubits and slots an instruction spans, those of its blocks included, each once.
func (g *gate) touches(qubit, slot func(i int)) {
	if g.flow == nil {
		g.touchesItself(qubit, slot)
		return
	}
	qubit, slot = once(qubit), once(slot) // blocks name qubits and slots again and again
	forEach([]gate{*g}, func(g *gate) {
		g.touchesItself(qubit, slot)
		if g.flow != nil {
			g.flow.condition.forEachSlot(slot)
		}
	})
}

func (g *gate) touchesItself(qubit, slot func(i int)) {
	for _, q := range g.targets {
		qubit(q)
	}
	for _, q := range g.controls {
		qubit(q)
	}
	for _, s := range g.slots {
		slot(s)
	}
}

// once passes each number on the first time only.
func once(visit func(i int)) func(i int) {
	seen := map[int]bool{}
	return func(i int) {
		if !seen[i] {
			seen[i] = true
			visit(i)
		}
	}
}

// keyLayout is where each slot shows in the keys of the counts.
type keyLayout struct {
	template  []byte // '0' for every slot shown, spaces between registers
	character []int  // place of each slot in the template, beyond it for a hidden one, -1 when nothing shows or reads it
	hidden    int    // slots that no register covers: variables of a program
}

// keyLayout shows every bit of the registers, the last declared leftmost and each lowest bit rightmost. Without
// registers it shows the slots that a measurement writes. Slots after the last register are hidden.
func (c Circuit) keyLayout() keyLayout {
	k := keyLayout{character: make([]int, c.slots)}
	registers := c.registers
	shown := make([]bool, c.slots)
	if registers == nil {
		registers = []classicalRegister{{first: 0, size: c.slots}}
		measured := false
		forEach(c.gates, func(g *gate) {
			for _, s := range g.slots {
				shown[s], measured = true, true
			}
		})
		if !measured {
			for s := range shown {
				shown[s] = true
			}
		}
	} else {
		for s := range shown {
			shown[s] = true
		}
	}
	for r := len(registers) - 1; r >= 0; r-- {
		if len(k.template) > 0 {
			k.template = append(k.template, ' ')
		}
		for s := registers[r].first + registers[r].size - 1; s >= registers[r].first; s-- {
			k.character[s] = -1
			if shown[s] {
				k.character[s] = len(k.template)
				k.template = append(k.template, '0')
			}
		}
	}
	last := registers[len(registers)-1]
	for s := last.first + last.size; s < c.slots; s++ {
		k.character[s] = len(k.template) + k.hidden
		k.hidden++
	}
	return k
}
