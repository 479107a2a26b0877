package circuit

import "math"

// qasmGate is how a name of the OpenQASM gate libraries maps to a gate of this package: leading operands are controls.
type qasmGate struct {
	name     string
	controls int
	targets  int
	params   int
	phased   bool // defined with a global phase that differs between dialects: refused under ctrl
}

// qasmGates holds the names that differ from newGate's, or whose operands need splitting.
var qasmGates = func() map[string]qasmGate {
	gates := map[string]qasmGate{
		"U": {name: "u", targets: 1, params: 3, phased: true}, "u3": {name: "u", targets: 1, params: 3, phased: true},
		"u": {name: "u", targets: 1, params: 3, phased: true}, "u2": {name: "u", targets: 1, params: 2, phased: true},
		"CX": {name: "cx", controls: 1, targets: 1}, "cphase": {name: "cp", controls: 1, targets: 1, params: 1},
		"cu1": {name: "cp", controls: 1, targets: 1, params: 1}, "phase": {name: "p", targets: 1, params: 1},
		"u1": {name: "p", targets: 1, params: 1}, "cs": {name: "s", controls: 1, targets: 1}, "csx": {name: "sx", controls: 1, targets: 1},
		"cnot": {name: "cx", controls: 1, targets: 1}, "cu": {name: "u", controls: 1, targets: 1, params: 4},
		"ccz": {name: "z", controls: 2, targets: 1}, "c3x": {name: "x", controls: 3, targets: 1}, "c4x": {name: "x", controls: 4, targets: 1},
	}
	for _, spec := range gateSpecs {
		if _, ok := gates[spec.name]; !ok && spec.kind.isUnitary() && spec.controls != anyControls {
			gates[spec.name] = qasmGate{name: spec.name, controls: spec.controls, targets: spec.targets, params: spec.params}
		}
	}
	return gates
}()

// inverses names the gates whose inverse is another gate; rotations negate their angles, the rest are their own.
var inverses = map[string]string{"s": "sdg", "sdg": "s", "t": "tdg", "tdg": "t", "sx": "sxdg", "sxdg": "sx"}

// application reads "modifiers name(angles) operands;".
func (p *qasmParser) application() error {
	added, inverted, err := p.modifiers()
	if err != nil {
		return err
	}
	name := p.next()
	if name.kind != tokenName {
		return p.fail(CodeMalformed, "expected a gate, found %s", name.describe())
	}
	if isNoise(name.text) {
		return p.fail(CodeNoise, "noise is not simulated; remove %s", clipText(name.text))
	}
	g, ok := qasmGates[name.text]
	if !ok {
		return p.fail(CodeUnknownGate, "unknown gate %s", clipText(name.text))
	}
	if added > 0 && g.phased {
		return p.fail(CodeUnsupported, "ctrl on %s is not supported: its global phase differs between dialects; use cu", name.text)
	}
	params, err := p.angleList()
	if err != nil {
		return err
	}
	if len(params) != g.params {
		return p.fail(CodeParameters, "%s takes %d angle%s, not %d", name.text, g.params, plural(g.params), len(params))
	}
	operands, err := p.operands()
	if err != nil {
		return err
	}
	if want := added + g.controls + g.targets; len(operands) != want {
		return p.fail(CodeTargets, "%s takes %d qubits here, not %d", name.text, want, len(operands))
	}
	if name.text == "u2" {
		params = []float64{math.Pi / 2, params[0], params[1]}
	}
	if err := p.broadcast(g, added, inverted, params, operands); err != nil {
		return err
	}
	return p.expect(";")
}

// maxModifiers bounds "ctrl @ inv @ …".
const maxModifiers = 64

func (p *qasmParser) modifiers() (controls int, inverted bool, err error) {
	for range maxModifiers {
		switch {
		case p.accept("ctrl"):
			count := 1
			if p.accept("(") {
				value, err := p.expression()
				if err != nil {
					return 0, false, err
				}
				if value != math.Trunc(value) || value < 1 || value > MaxCliffordQubits {
					return 0, false, p.fail(CodeControls, "ctrl takes a positive number of controls")
				}
				count = int(value)
				if err := p.expect(")"); err != nil {
					return 0, false, err
				}
			}
			controls += count
		case p.accept("inv"):
			inverted = !inverted
		case p.peek().text == "negctrl" || p.peek().text == "pow":
			return 0, false, p.fail(CodeUnsupported, "%s is not part of the supported OpenQASM subset", p.peek().text)
		default:
			return controls, inverted, nil
		}
		if err := p.expect("@"); err != nil {
			return 0, false, err
		}
	}
	return 0, false, p.fail(CodeUnsupported, "a gate takes at most %d modifiers", maxModifiers)
}

// broadcast applies the gate once, or once per element when operands are registers of one size.
func (p *qasmParser) broadcast(g qasmGate, added int, inverted bool, params []float64, operands []operandRange) error {
	times := 1
	for _, o := range operands {
		if o.size > 1 {
			if times > 1 && o.size != times {
				return p.fail(CodeTargets, "registers of %d and %d qubits cannot be paired", times, o.size)
			}
			times = o.size
		}
	}
	for i := range times {
		qubits := make([]int, len(operands))
		for j, o := range operands {
			qubits[j] = o.first
			if o.size > 1 {
				qubits[j] += i
			}
		}
		split := added + g.controls
		if err := p.appendNamedGate(g, inverted, params, qubits[:split:split], qubits[split:]); err != nil {
			return err
		}
	}
	return nil
}

func (p *qasmParser) appendNamedGate(g qasmGate, inverted bool, params []float64, controls, targets []int) error {
	name := g.name
	spec := specByName[name]
	if spec.kind == kindU && len(params) == 4 { // cu(θ, φ, λ, γ): the phase γ is a phase of the control
		gamma := params[3]
		if inverted {
			gamma = -gamma
		}
		if err := p.appendGate("p", controls[:1], controls[1:], []float64{gamma}, nil); err != nil {
			return err
		}
		params = params[:3]
	}
	if inverted {
		if other, ok := inverses[name]; ok {
			name = other
		}
		negated := make([]float64, len(params))
		for i, angle := range params {
			negated[i] = -angle
		}
		if spec.kind == kindU {
			negated[1], negated[2] = negated[2], negated[1]
		}
		params = negated
		if spec.kind == kindISwap {
			return p.fail(CodeUnsupported, "inv @ iswap is not supported")
		}
		spec = specByName[name]
	}
	// Controls beyond a gate's own go to its uncontrolled form.
	if len(controls) != spec.controls && !spec.kind.isOneQubitUnitary() {
		if spec.kind != kindSwap || len(controls) != 1 {
			return p.fail(CodeUnsupported, "ctrl on %s is not supported", name)
		}
		name = "cswap"
	} else if len(controls) != spec.controls {
		name = uncontrolledName(spec.kind)
	}
	return p.appendGate(name, targets, controls, params, nil)
}

// uncontrolledName is the name of a one-qubit kind without controls.
func uncontrolledName(k kind) string {
	for _, spec := range gateSpecs {
		if spec.kind == k && spec.controls == 0 {
			return spec.name
		}
	}
	return ""
}

// angleList reads "(expression, …)" when there is one.
func (p *qasmParser) angleList() ([]float64, error) {
	if !p.accept("(") || p.accept(")") {
		return nil, nil
	}
	var out []float64
	for len(out) < 8 {
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		out = append(out, value)
		if p.accept(")") {
			return out, nil
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
	}
	return nil, p.fail(CodeParameters, "too many angles")
}
