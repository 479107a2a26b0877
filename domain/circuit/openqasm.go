package circuit

import (
	"errors"
	"math"
	"slices"
	"strings"
)

// ParseOpenQASM reads the OpenQASM 3 subset of docs/circuits.md: qubit and bit declarations (qreg and creg too),
// the gates of stdgates.inc that this package has, ctrl and inv modifiers, measure, reset and barrier, with registers
// broadcast. Keys of the counts show the bits a measurement wrote, the last declared leftmost. A program carries no
// shots or seed: Circuit.WithShots and WithSeed set them. Errors are *Refusal with a line.
func ParseOpenQASM(source []byte, limits Limits) (Circuit, error) {
	limits = limits.withDefaults()
	if len(source) > limits.Bytes {
		return Circuit{}, refuse(CodeTooLarge, "the program has %d bytes; at most %d are read", len(source), limits.Bytes)
	}
	tokens, err := scanOpenQASM(source)
	if err != nil {
		return Circuit{}, err
	}
	p := &qasmParser{
		tokens: tokens, limits: limits, names: map[string]register{},
		circuit: Circuit{shots: min(DefaultShots, limits.Shots), precision: Double},
	}
	for p.peek().kind != tokenEnd {
		if err := p.statement(); err != nil {
			return Circuit{}, err
		}
	}
	if p.circuit.qubits == 0 {
		return Circuit{}, refuse(CodeMissingField, "the program declares no qubits")
	}
	if !slices.ContainsFunc(p.circuit.gates, func(g gate) bool { return g.kind == kindMeasure }) { // without measurements every qubit is measured into a bit of its own
		p.circuit.slots = p.circuit.qubits
	}
	p.finishBarriers()
	return p.circuit, checkWidth(p.circuit, limits)
}

// register is a declared name: consecutive qubits or bits.
type register struct {
	bits        bool
	first, size int
	indexable   bool
}

// maxBits bounds the classical bits of a program.
const maxBits = MaxCliffordQubits

type qasmParser struct {
	tokens  []token
	at      int
	limits  Limits
	names   map[string]register
	circuit Circuit
}

func (p *qasmParser) peek() token { return p.tokens[p.at] }

func (p *qasmParser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

func (p *qasmParser) accept(text string) bool {
	if t := p.peek(); t.kind != tokenEnd && t.kind != tokenString && t.text == text {
		p.at++
		return true
	}
	return false
}

func (p *qasmParser) expect(text string) error {
	if !p.accept(text) {
		return p.fail(CodeMalformed, "expected %q, found %s", text, p.peek().describe())
	}
	return nil
}

func (p *qasmParser) fail(code Code, format string, args ...any) error {
	return atLine(refuse(code, format, args...), p.peek().line)
}

// atLine adds the source line to a refusal.
func atLine(err error, line int) error {
	var r *Refusal
	if !errors.As(err, &r) || r.Line != 0 {
		return err
	}
	located := *r
	located.Line = line
	located.Message = "line " + itoa(line) + ": " + r.Message
	return &located
}

func (p *qasmParser) statement() error {
	t := p.peek()
	switch {
	case t.kind == tokenEnd:
		return nil
	case p.accept(";"):
		return nil
	case t.kind != tokenName:
		return p.fail(CodeMalformed, "a statement cannot start with %s", t.describe())
	}
	switch t.text {
	case "OPENQASM":
		return p.version()
	case "include":
		return p.include()
	case "qubit", "qreg":
		return p.declare(false)
	case "bit", "creg":
		return p.declare(true)
	case "measure":
		return p.measureArrow()
	case "reset", "barrier":
		return p.plainStatement(t.text)
	case "ctrl", "inv", "negctrl", "pow":
		return p.application()
	}
	if r, ok := p.names[t.text]; ok {
		if r.bits {
			return p.measureAssign()
		}
		return p.fail(CodeMalformed, "%s is a qubit register, not a gate", clipText(t.text))
	}
	if slices.Contains(unsupportedWords, t.text) {
		return p.fail(CodeUnsupported, "%s is not part of the supported OpenQASM subset", t.text)
	}
	return p.application()
}

// unsupportedWords are OpenQASM 3 statements outside the subset; naming them beats "unknown gate".
var unsupportedWords = []string{
	"gate", "def", "defcal", "defcalgrammar", "cal", "extern", "opaque", "if", "else", "for", "while", "switch", "break",
	"continue", "end", "return", "let", "const", "input", "output", "box", "delay", "duration", "stretch", "int", "uint",
	"float", "angle", "complex", "bool", "array", "gphase", "nop", "pragma",
}

func (p *qasmParser) version() error {
	p.next()
	v := p.next()
	if v.kind != tokenNumber || v.text != "3" && v.text != "3.0" && v.text != "3.1" && v.text != "2.0" {
		return p.fail(CodeUnsupported, "OpenQASM version %s is not supported; use 3.0 or 2.0", v.describe())
	}
	return p.expect(";")
}

func (p *qasmParser) include() error {
	p.next()
	file := p.next()
	if file.kind != tokenString || file.text != "stdgates.inc" && file.text != "qelib1.inc" {
		return p.fail(CodeUnsupported, "only stdgates.inc and qelib1.inc can be included, not %s", file.describe())
	}
	return p.expect(";")
}

// declare reads "qubit[n] name;", "qubit name;", "qreg name[n];" and the same for bits.
func (p *qasmParser) declare(bits bool) error {
	old := strings.HasSuffix(p.next().text, "reg")
	size, indexable := 1, false
	if !old && p.peek().text == "[" {
		var err error
		if size, err = p.index(); err != nil {
			return err
		}
		indexable = true
	}
	name := p.next()
	if name.kind != tokenName {
		return p.fail(CodeMalformed, "a declaration needs a name, found %s", name.describe())
	}
	if old && p.peek().text == "[" {
		var err error
		if size, err = p.index(); err != nil {
			return err
		}
		indexable = true
	}
	if _, taken := p.names[name.text]; taken {
		return p.fail(CodeMalformed, "%s is declared twice", clipText(name.text))
	}
	if slices.Contains(unsupportedWords, name.text) || hasGateSpec(name.text) {
		return p.fail(CodeMalformed, "%s is a reserved name", clipText(name.text))
	}
	r := register{bits: bits, size: size, indexable: indexable}
	total, most, code := &p.circuit.qubits, p.limits.CliffordQubits, CodeQubitsRange
	if bits {
		total, most, code = &p.circuit.slots, maxBits, CodeUnsupported
	}
	r.first = *total
	if size < 1 || size > most-*total {
		what := "qubits"
		if bits {
			what = "bits"
		}
		return p.fail(code, "%s must number between 1 and %d", what, most)
	}
	*total += size
	p.names[name.text] = r
	if bits && p.peek().text == "=" {
		p.at-- // "bit c = measure q;": go back to the name
		return p.measureAssign()
	}
	return p.expect(";")
}

func hasGateSpec(name string) bool {
	_, ok := specByName[name]
	return ok
}

// index reads "[integer]".
func (p *qasmParser) index() (int, error) {
	if err := p.expect("["); err != nil {
		return 0, err
	}
	value, err := p.expression()
	if err != nil {
		return 0, err
	}
	if value != math.Trunc(value) || math.Abs(value) > 1<<30 {
		return 0, p.fail(CodeWrongType, "an index must be an integer, not %v", value)
	}
	return int(value), p.expect("]")
}

// operand reads a register or one of its elements.
func (p *qasmParser) operand(bits bool) (first, size int, err error) {
	name := p.next()
	if name.kind == tokenHardware {
		return 0, 0, p.fail(CodeUnsupported, "hardware qubits such as %s are not supported; declare qubits", clipText(name.text))
	}
	r, ok := p.names[name.text]
	if name.kind != tokenName || !ok || r.bits != bits {
		what := "qubit"
		if bits {
			what = "bit"
		}
		return 0, 0, p.fail(CodeQubitRange, "%s is not a declared %s", name.describe(), what)
	}
	if p.peek().text != "[" || p.peek().kind != tokenSymbol {
		return r.first, r.size, nil
	}
	if !r.indexable {
		return 0, 0, p.fail(CodeMalformed, "%s has no elements", clipText(name.text))
	}
	i, err := p.index()
	if err != nil {
		return 0, 0, err
	}
	if i < 0 {
		i += r.size // OpenQASM 3 counts negative indexes from the end
	}
	if i < 0 || i >= r.size {
		return 0, 0, p.fail(CodeQubitRange, "%s has no element %d", clipText(name.text), i)
	}
	return r.first + i, 1, nil
}

// measureArrow reads "measure q -> c;". Without a bit the outcome would be lost, so that is refused.
func (p *qasmParser) measureArrow() error {
	p.next()
	q, size, err := p.operand(false)
	if err != nil {
		return err
	}
	if !p.accept("->") {
		return p.fail(CodeUnsupported, "a measurement needs a bit: write c = measure q")
	}
	c, bits, err := p.operand(true)
	if err != nil {
		return err
	}
	return p.measure(q, size, c, bits)
}

// measureAssign reads "c = measure q;".
func (p *qasmParser) measureAssign() error {
	c, bits, err := p.operand(true)
	if err != nil {
		return err
	}
	if err := p.expect("="); err != nil {
		return err
	}
	if !p.accept("measure") {
		return p.fail(CodeUnsupported, "bits can only be assigned by measure")
	}
	q, size, err := p.operand(false)
	if err != nil {
		return err
	}
	return p.measure(q, size, c, bits)
}

func (p *qasmParser) measure(q, size, c, bits int) error {
	if size != bits {
		return p.fail(CodeTargets, "%d qubits cannot be measured into %d bits", size, bits)
	}
	for i := range size {
		if err := p.appendGate("measure", []int{q + i}, nil, nil, []int{c + i}); err != nil {
			return err
		}
	}
	return p.expect(";")
}

func (p *qasmParser) plainStatement(name string) error {
	p.next()
	var targets []int
	if name != "barrier" || p.peek().text != ";" {
		operands, err := p.operands()
		if err != nil {
			return err
		}
		for _, o := range operands {
			for i := range o.size {
				targets = append(targets, o.first+i)
			}
		}
	}
	if name == "barrier" {
		// Its qubits are filled in at the end when it spans all: later declarations count too.
		if targets == nil {
			return firstError(p.appendCheckedGate(gate{name: name, kind: kindBarrier}), p.expect(";"))
		}
		return firstError(p.appendGate(name, targets, nil, nil, nil), p.expect(";"))
	}
	for _, q := range targets {
		if err := p.appendGate(name, []int{q}, nil, nil, nil); err != nil {
			return err
		}
	}
	return p.expect(";")
}

func (p *qasmParser) finishBarriers() {
	for i := range p.circuit.gates {
		if g := &p.circuit.gates[i]; g.kind == kindBarrier && g.targets == nil {
			for q := range p.circuit.qubits {
				g.targets = append(g.targets, q)
			}
		}
	}
}

type operandRange struct{ first, size int }

func (p *qasmParser) operands() ([]operandRange, error) {
	var out []operandRange
	for {
		first, size, err := p.operand(false)
		if err != nil {
			return nil, err
		}
		if len(out) == MaxCliffordQubits {
			return nil, p.fail(CodeTargets, "too many operands")
		}
		out = append(out, operandRange{first, size})
		if !p.accept(",") {
			return out, nil
		}
	}
}

// appendGate checks one gate and appends it.
func (p *qasmParser) appendGate(name string, targets, controls []int, params []float64, slots []int) error {
	g, err := newGate(len(p.circuit.gates), name, targets, controls, params, slots, p.circuit.qubits)
	if err != nil {
		return atLine(err, p.peek().line)
	}
	return p.appendCheckedGate(g)
}

func (p *qasmParser) appendCheckedGate(g gate) error {
	if len(p.circuit.gates) >= p.limits.Gates {
		return p.fail(CodeTooManyGates, "the program has more than %d gates", p.limits.Gates)
	}
	p.circuit.gates = append(p.circuit.gates, g)
	return nil
}
