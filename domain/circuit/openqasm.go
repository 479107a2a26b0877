package circuit

import (
	"errors"

	"reckon/domain/circuit/openqasm"
)

// ParseOpenQASM reads an OpenQASM 2 or 3 program (package openqasm; docs/openqasm.md lists what is left out). Keys of
// the counts show every declared bit, registers apart and the last declared leftmost. A program carries no shots or
// seed: Circuit.WithShots and WithSeed set them. Errors are *Refusal with line, column and excerpt.
func ParseOpenQASM(source []byte, limits Limits) (Circuit, error) {
	return parseOpenQASM(source, nil, limits.withDefaults(), EngineAuto)
}

func parseOpenQASM(source []byte, inputs openqasm.Inputs, limits Limits, method Engine) (Circuit, error) {
	program, err := openqasm.ParseWith(source, inputs, openqasm.Limits{Bytes: limits.Bytes, Qubits: limits.CliffordQubits, Operations: limits.Gates})
	if err != nil {
		return Circuit{}, fromProgram(err)
	}
	t := translator{program: program}
	c := Circuit{
		qubits: program.Qubits, slots: program.Slots, phase: program.Phase, ignored: program.Warnings,
		shots: min(DefaultShots, limits.Shots), precision: Double, method: method,
	}
	for _, r := range program.Registers {
		c.registers = append(c.registers, classicalRegister{r.Name, r.First, r.Size})
	}
	if c.gates, err = t.block(program.Body); err != nil {
		return Circuit{}, err
	}
	return c, t.locate(c.complete(limits), program.Body)
}

// fromProgram is a refusal of the reader.
func fromProgram(err error) error {
	var e *openqasm.Error
	if !errors.As(err, &e) {
		return err
	}
	return &Refusal{Code: Code(e.Code), Message: e.Error(), Gate: circuitLevel, Line: e.Line, Column: e.Column, Excerpt: e.Excerpt}
}

// translator turns operations into instructions.
type translator struct{ program openqasm.Program }

func (t translator) block(list []openqasm.Operation) ([]gate, error) {
	gates := make([]gate, len(list))
	for i, op := range list {
		var err error
		if gates[i], err = t.instruction(i, op); err != nil {
			return nil, t.locate(err, list)
		}
	}
	return gates, nil
}

// locate gives a refusal that names an instruction of a list the place of its operation.
func (t translator) locate(err error, list []openqasm.Operation) error {
	var r *Refusal
	if !errors.As(err, &r) || r.Line > 0 || r.Gate < 0 || r.Gate >= len(list) {
		return err
	}
	return fromProgram(t.program.Error(list[r.Gate], openqasm.Code(r.Code), r.reason))
}

func (t translator) instruction(index int, op openqasm.Operation) (gate, error) {
	switch op.Kind {
	case openqasm.Measure:
		return newGate(index, "measure", op.Targets, nil, nil, []int{op.Slot}, t.program.Qubits)
	case openqasm.Reset:
		return newGate(index, "reset", op.Targets, nil, nil, nil, t.program.Qubits)
	case openqasm.Barrier:
		return newGate(index, "barrier", op.Targets, nil, nil, nil, t.program.Qubits)
	case openqasm.Assign:
		return newAssign(index, []int{op.Slot}, condition(op.Formula))
	case openqasm.If:
		then, err := t.block(op.Then)
		if err != nil {
			return gate{}, err
		}
		otherwise, err := t.block(op.Else)
		if err != nil {
			return gate{}, err
		}
		out, err := newIf(index, condition(op.Formula), then, otherwise)
		if op.Switch > 0 {
			out.name, out.selection = "switch", op.Switch
		}
		return out, err
	case openqasm.While:
		body, err := t.block(op.Then)
		if err != nil {
			return gate{}, err
		}
		return newWhile(index, condition(op.Formula), rounds(body), body)
	}
	return newGate(index, op.Gate, op.Targets, op.Controls, op.Params, nil, t.program.Qubits)
}

// rounds bounds a loop of a program: as many as the bound on all instructions leaves.
func rounds(body []gate) int {
	const share = MaxSteps / 4
	return int(min(MaxRounds, max(1, share/(steps(body)+1))))
}

// condition is a formula as an expression. A conjunction is a comparison of its bits with a number, 64 at a time.
func condition(f openqasm.Formula) expression {
	if f.Connective == openqasm.Xor {
		return fold(exprXor, f.Bits, bitExpression)
	}
	invert := f.Connective == openqasm.Or // a or b: not both complements
	var parts []expression
	for bits := f.Bits; len(bits) > 0; {
		n := min(len(bits), 64)
		parts = append(parts, comparison(bits[:n], invert))
		bits = bits[n:]
	}
	all := parts[0]
	for _, p := range parts[1:] {
		all = expression{op: map[bool]expressionOp{false: exprAnd, true: exprOr}[invert], args: []expression{all, p}}
	}
	return all
}

// comparison is true when every bit is 1; inverted, when any bit is 1.
func comparison(bits []openqasm.Ref, invert bool) expression {
	if len(bits) == 1 {
		return bitExpression(bits[0])
	}
	var slots []int
	var want uint64
	for i, b := range bits {
		slots = append(slots, b.Slot)
		if b.Not == invert {
			want |= 1 << i
		}
	}
	op := exprEqual
	if invert {
		op = exprNotEqual
	}
	return expression{op: op, args: []expression{{op: exprBits, slots: slots}, {op: exprConstant, value: want}}}
}

func bitExpression(b openqasm.Ref) expression {
	if value, known := b.Constant(); known {
		return expression{op: exprConstant, value: truth(value)}
	}
	bit := expression{op: exprBits, slots: []int{b.Slot}}
	if b.Not {
		return expression{op: exprNot, args: []expression{bit}}
	}
	return bit
}

func fold(op expressionOp, bits []openqasm.Ref, each func(openqasm.Ref) expression) expression {
	out := each(bits[0])
	for _, b := range bits[1:] {
		out = expression{op: op, args: []expression{out, each(b)}}
	}
	return out
}
