package openqasm

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// gate is something that can be applied: a primitive of the simulator, or a definition.
type gate struct {
	name       string
	parameters int
	qubits     int
	primitive  bool
	unused     []bool          // parameters that the definition does not mention
	additive   bool            // one after the other, two of them are the one of the sum of their angles
	definition *gateDefinition // nil for gphase and for one-qubit primitives
}

// primitives are the gates that operations name. Those of two qubits have a definition in the library, too.
var primitives = primitiveGates()

func primitiveGates() map[string]*gate {
	gates := map[string]*gate{"gphase": {name: "gphase", parameters: 1, primitive: true, additive: true}}
	for name, parameters := range map[string]int{
		"id": 0, "x": 0, "y": 0, "z": 0, "h": 0, "s": 0, "sdg": 0, "t": 0, "tdg": 0, "sx": 0, "sxdg": 0,
		"rx": 1, "ry": 1, "rz": 1, "p": 1, "u": 3,
	} {
		gates[name] = &gate{name: name, parameters: parameters, qubits: 1, primitive: true, additive: parameters == 1}
	}
	return gates
}

// findGate looks for a definition of the program, then in the library.
func (e *elaborator) findGate(at int, word string) *gate {
	if s := e.lookup(word); s != nil {
		if s.kind != symbolGate {
			fail(CodeMalformed, at, "%s is %s, not a gate", clip(word), s.what())
		}
		return s.gate
	}
	if word == "U" && e.version == 2 {
		return primitives["u"] // equal up to a global phase, which version 2 cannot observe
	}
	if g, ok := e.library[word]; ok {
		return g
	}
	if e.version == 2 && isReserved3(word) {
		fail(CodeUnsupported, at, "%s is a word of OpenQASM 3, and the program says 2.0", clip(word))
	}
	if strings.EqualFold(word, "initialize") || strings.EqualFold(word, "state_preparation") {
		fail(CodeUnknownGate, at, "unknown gate %s%s", clip(word), insteadOfInitialize)
	}
	if usual, ok := otherNames[strings.ToLower(word)]; ok {
		fail(CodeUnknownGate, at, "unknown gate %s; did you mean %s?", clip(word), usual)
	}
	usual := slices.DeleteFunc(slices.Sorted(maps.Keys(e.library)), func(word string) bool { // RZZ is rzz
		lower := strings.ToLower(word)
		return lower != word && e.library[lower] != nil
	})
	known := append(e.names(symbolGate), usual...)
	fail(CodeUnknownGate, at, "unknown gate %s%s", clip(word), suggestion(word, known))
	return nil
}

// otherNames are other tools' names of the library's gates.
var otherNames = map[string]string{
	"cnot": "cx", "ccnot": "ccx", "toffoli": "ccx", "fredkin": "cswap", "hadamard": "h", "not": "x", "i": "id",
	"si": "sdg", "ti": "tdg", "v": "sx", "vi": "sxdg", "phaseshift": "p", "cphaseshift": "cp", "xx": "rxx", "yy": "ryy", "zz": "rzz",
}

// define checks a definition and declares it. Calls are resolved here: a definition sees the gates before it.
func (e *elaborator) define(d *gateDefinition) {
	if len(e.scopes) > 1 || e.inGate {
		fail(CodeMalformed, d.position(), "gates can only be defined outside blocks")
	}
	if len(d.qubits) > e.limits.Qubits {
		fail(CodeQubits, d.position(), "a gate acts on at most %d qubits", e.limits.Qubits)
	}
	e.checkBody(d, d.body)
	g := &gate{name: d.name, parameters: len(d.parameters), qubits: len(d.qubits), definition: d, unused: make([]bool, len(d.parameters))}
	for i, word := range d.parameters {
		g.unused[i] = !mentions(d.body, word)
	}
	e.declare(d.position(), d.name, &symbol{kind: symbolGate, gate: g, constant: true})
}

func (e *elaborator) checkBody(d *gateDefinition, body []statement) {
	for _, s := range body {
		switch s := s.(type) {
		case *gateCall:
			if s.name == d.name && !e.hasGate(s.name) {
				fail(CodeMalformed, s.position(), "the gate %s calls itself", clip(d.name))
			}
			if e.findRoutine(s.name) != nil {
				fail(CodeMalformed, s.position(), "a gate cannot call the subroutine %s", clip(s.name))
			}
			s.gate = e.findGate(s.position(), s.name)
			checkOperands(d, s.operands)
		case *directive:
			if s.word == "reset" {
				fail(CodeMalformed, s.position(), "a gate cannot reset a qubit%s", insteadOfInitialize)
			}
			checkOperands(d, s.operands)
		case *forLoop:
			if s.of.word == "qubit" {
				fail(CodeMalformed, s.position(), "the qubits of a gate are single ones, which no loop runs over")
			}
			e.checkBody(d, s.body)
		case *block:
			e.checkBody(d, s.body)
		default:
			fail(CodeMalformed, s.position(), "only gates, barriers and for loops can stand in a gate definition")
		}
	}
}

func (e *elaborator) hasGate(word string) bool {
	_, ok := e.library[word]
	return ok || e.lookup(word) != nil
}

// insteadOfInitialize helps with what Qiskit's exporters write for a circuit with initialize or prepare_state: a definition that resets, and
// complex numbers as arguments. Neither is OpenQASM, and Qiskit cannot read it back.
const insteadOfInitialize = ". Qiskit's export of initialize and prepare_state is no valid program: " +
	"export the circuit that its transpile(circuit, basis_gates=['u', 'cx']) gives, or write it as JSON with an entry initialize"

func checkOperands(d *gateDefinition, operands []expression) {
	for _, o := range operands {
		id, ok := o.(*name)
		if !ok {
			fail(CodeMalformed, o.position(), "the qubits of a gate cannot be indexed inside its definition")
		}
		if !slices.Contains(d.qubits, id.text) {
			fail(CodeIndex, id.position(), "%s is not a qubit of the gate %s", clip(id.text), clip(d.name))
		}
	}
}

// control is a qubit that must be 1, or 0 when it is negative.
type control struct {
	qubit    int
	negative bool
}

// application is a gate with its modifiers and arguments.
type application struct {
	at       int
	gate     *gate
	params   []float64
	powers   []float64 // innermost first; inv is −1
	controls []control
	qubits   []int
}

// gateCall applies a gate once, or once for each element of registers of one size.
func (e *elaborator) gateCall(c *gateCall) {
	if e.isDelay(c) {
		return
	}
	if r := e.findRoutine(c.name); r != nil {
		e.statementCall(c, r)
		return
	}
	e.checkDuration(c.length)
	e.onOperands(c.position(), c.operands, func() { e.applyAll(c) })
}

// statementCall calls a subroutine for its effect. The qubits may follow the parentheses, as those of a gate.
func (e *elaborator) statementCall(c *gateCall, r *subroutine) {
	if len(c.modifiers) > 0 || c.length != nil {
		fail(CodeType, c.position(), "%s is a subroutine, which takes no modifiers and no duration; only a gate does", clip(c.name))
	}
	e.callRoutine(c.position(), r, append(slices.Clone(c.arguments), c.operands...))
}

// applyAll applies a gate to each element of its operands.
func (e *elaborator) applyAll(c *gateCall) {
	params := make([]value, len(c.arguments))
	running := false
	for i, x := range c.arguments {
		if e.isLabel(c, i) {
			continue
		}
		params[i] = e.parameter(x, c.name)
		running = running || len(params[i].terms) > 0
	}
	if running {
		e.applyRunning(c, params)
		return
	}
	e.applyKnown(c, params, constant(true))
}

// pauliLabel matches what Qiskit writes as the argument of its gate pauli, whose definition does not use it: pauli(XYZ) q[0], q[1], q[2].
var pauliLabel = regexp.MustCompile(`^[IXYZ]+$`)

// isLabel reports whether an argument is no value but the label of a Pauli product, which the definition spells out.
func (e *elaborator) isLabel(c *gateCall, i int) bool {
	id, ok := c.arguments[i].(*name)
	unused := e.gateOf(c).unused
	return ok && i < len(unused) && unused[i] && pauliLabel.MatchString(id.text) && e.lookup(id.text) == nil
}

// applyKnown applies a gate with the known part of its parameters, under a condition.
func (e *elaborator) applyKnown(c *gateCall, params []value, condition Ref) {
	known := make([]float64, len(params))
	for i, p := range params {
		known[i] = p.real
	}
	e.where(c.position(), condition, func() {
		for _, a := range e.applications(c, known) {
			e.apply(a)
		}
	})
}

// delayName matches Qiskit's names of delays in version 2: "delay", and of delays of another length in the same program "delay_" with an id.
var delayName = regexp.MustCompile(`^delay(_[0-9]+)?$`)

// isDelay runs a delay as Qiskit writes it in version 2, where it is a word of no meaning: "opaque delay(param0) q0". As in version 3 it
// is a barrier, or nothing inside a definition.
func (e *elaborator) isDelay(c *gateCall) bool {
	if e.version != 2 || !delayName.MatchString(c.name) {
		return false
	}
	g := e.gateOf(c)
	if d := g.definition; d == nil || !d.opaque || g.parameters != 1 || g.qubits != 1 || len(c.arguments) != 1 || len(c.operands) != 1 {
		return false
	}
	e.knownReal(c.arguments[0], "the length of a delay")
	qubits, _ := e.qubitOperand(c.operands[0])
	if !e.inGate {
		e.emit(c.position(), Operation{Kind: Barrier, Targets: qubits})
	}
	return true
}

// gateOf is the gate that a call names.
func (e *elaborator) gateOf(c *gateCall) *gate {
	if c.gate != nil {
		return c.gate
	}
	return e.findGate(c.position(), c.name)
}

func (e *elaborator) applications(c *gateCall, params []float64) []application {
	at := c.position()
	base := application{at: at, gate: e.gateOf(c), params: params}
	if d := base.gate.definition; d != nil && d.opaque {
		fail(CodeUnsupported, at, "%s is opaque: it has no definition that could be simulated", clip(c.name))
	}
	if len(c.arguments) != base.gate.parameters {
		n := base.gate.parameters
		fail(CodeParameters, at, "%s takes %d parameter%s, not %d", clip(c.name), n, plural(n), len(c.arguments))
	}
	polarity := e.modify(&base, c.modifiers)
	want := len(polarity) + base.gate.qubits
	if e.version == 2 && base.gate == primitives["gphase"] { // PennyLane names the wires
		want = len(c.operands)
	}
	if len(c.operands) != want && (want != 0 || len(c.operands) > 0) {
		fail(CodeTargets, at, "%s takes %d qubit%s here, not %d", clip(c.name), want, plural(want), len(c.operands))
	}
	var list []application
	for _, qubits := range e.broadcast(c) {
		a := base
		for i, negative := range polarity {
			a.controls = append(a.controls[:len(a.controls):len(a.controls)], control{qubits[i], negative})
		}
		a.qubits = qubits[len(polarity):]
		list = append(list, a)
	}
	return list
}

// modify evaluates modifiers, from the gate outwards. It returns the polarity of each control, outermost first.
// pow(k) and ctrl commute: the power of a controlled gate is the controlled power.
func (e *elaborator) modify(a *application, modifiers []modifier) (negative []bool) {
	for i := len(modifiers) - 1; i >= 0; i-- {
		m := modifiers[i]
		switch m.word {
		case "inv":
			a.powers = append(a.powers, -1)
		case "pow":
			a.powers = append(a.powers, e.knownReal(m.argument, "an exponent"))
		default:
			count := int64(1)
			if m.argument != nil {
				count = e.knownInteger(m.argument)
			}
			if count < 1 || count > int64(e.limits.Qubits) || len(negative)+int(count) > e.limits.Qubits {
				fail(CodeControls, m.position(), "%s takes 1 to %d controls, not %d", m.word, e.limits.Qubits, count)
			}
			for range count {
				negative = append([]bool{m.word == "negctrl"}, negative...)
			}
		}
	}
	return negative
}

// broadcast lists the qubits of each application: registers of one size run in step, single qubits repeat.
func (e *elaborator) broadcast(c *gateCall) [][]int {
	operands := make([][]int, len(c.operands))
	single := make([]bool, len(c.operands))
	times, length := 1, -1
	for i, o := range c.operands {
		operands[i], single[i] = e.qubitOperand(o)
		single[i] = single[i] || e.version == 3 && len(operands[i]) == 1
		if single[i] {
			continue
		}
		if length >= 0 && len(operands[i]) != length {
			fail(CodeTargets, o.position(), "registers of %d and %d qubits cannot be paired", length, len(operands[i]))
		}
		length = len(operands[i])
		times = length
	}
	list := make([][]int, times)
	for t := range list {
		e.step(c.position())
		list[t] = make([]int, len(operands))
		for i := range operands {
			j := t
			if single[i] {
				j = 0
			}
			list[t][i] = operands[i][j]
		}
		e.checkDistinct(c.position(), list[t])
	}
	return list
}

// apply emits a gate with its modifiers.
func (e *elaborator) apply(a application) {
	e.step(a.at)
	power, whole := wholePower(a)
	d := a.gate.definition
	switch {
	case whole && power == 0:
	case !whole || math.Abs(power) > maxRepeat && a.gate.qubits <= maxMatrixQubits && !scalable(a.gate):
		e.applyMatrix(a)
	case a.gate.primitive && (d == nil || power == 1 && !e.matrix || a.gate.parameters == 1 && !e.matrix):
		e.applyPrimitive(a, power)
	default:
		e.applyDefinition(a, power)
	}
}

// applyDefinition expands a definition: forwards for a positive power, backwards with each gate inverted for a
// negative one. A control on a sequence is a control on each of its gates.
func (e *elaborator) applyDefinition(a application, power float64) {
	for range int(math.Abs(power)) {
		e.step(a.at)
		body := e.expand(a)
		if power < 0 {
			slices.Reverse(body)
		}
		for _, inner := range body {
			inner.controls = append(slices.Clone(a.controls), inner.controls...)
			if power < 0 {
				inner.powers = append(slices.Clone(inner.powers), -1)
			}
			e.apply(inner)
		}
	}
}

// expand lists the gates of a definition for given parameters and qubits. Barriers inside a definition say nothing
// about its matrix and are left out.
func (e *elaborator) expand(a application) []application {
	d := a.gate.definition
	inner := scope{}
	for i, word := range d.parameters {
		inner[word] = &symbol{kind: symbolVariable, value: realValue(a.params[i]), constant: true, defined: true}
	}
	for i, word := range d.qubits {
		inner[word] = &symbol{kind: symbolQubits, qubits: []int{a.qubits[i]}, scalar: true}
	}
	scopes, inGate := e.scopes, e.inGate
	e.scopes, e.inGate = []scope{scopes[0], inner}, true
	var list []application
	e.collect(d.body, &list)
	e.scopes, e.inGate = scopes, inGate
	return list
}

func (e *elaborator) collect(body []statement, list *[]application) {
	for _, s := range body {
		e.step(s.position())
		switch s := s.(type) {
		case *gateCall:
			if !e.isDelay(s) {
				params := make([]float64, len(s.arguments))
				for i, x := range s.arguments {
					if e.isLabel(s, i) {
						continue
					}
					params[i] = e.knownReal(x, "a parameter of "+clip(s.name))
				}
				*list = append(*list, e.applications(s, params)...)
			}
		case *block:
			e.inScope(func() { e.collect(s.body, list) })
		case *forLoop:
			kind, width := e.typeOf(s.of)
			values := e.loopValues(s.values)
			for i := range values.count {
				e.step(s.position())
				v := e.convert(s.values.position(), values.at(i), kind, width, false)
				e.inScope(func() {
					e.declare(s.position(), s.name, &symbol{kind: symbolVariable, value: v, constant: true, defined: true})
					e.collect(s.body, list)
				})
			}
		}
	}
}

// mentions reports whether the gates of a definition use a name.
func mentions(body []statement, word string) bool {
	uses := func(x expression) bool { return x != nil && usesName(x, word) }
	for _, s := range body {
		switch s := s.(type) {
		case *gateCall:
			if slices.ContainsFunc(s.arguments, uses) || slices.ContainsFunc(s.modifiers, func(m modifier) bool { return uses(m.argument) }) {
				return true
			}
		case *forLoop:
			if uses(s.values) {
				return true
			}
		}
		if slices.ContainsFunc(innerBlocks(s), func(inner []statement) bool { return mentions(inner, word) }) {
			return true
		}
	}
	return false
}

// usesName reports whether an expression uses a name.
func usesName(x expression, word string) bool {
	uses := func(x expression) bool { return x != nil && usesName(x, word) }
	switch x := x.(type) {
	case *name:
		return x.text == word
	case *unary:
		return uses(x.x)
	case *binary:
		return uses(x.x) || uses(x.y)
	case *cast:
		return uses(x.x)
	case *call:
		return slices.ContainsFunc(x.arguments, uses)
	case *indexed:
		return uses(x.base) || slices.ContainsFunc(x.items, uses)
	case *span:
		return uses(x.start) || uses(x.step) || uses(x.stop)
	case *set:
		return slices.ContainsFunc(x.items, uses)
	}
	return false
}
