package openqasm

import "math"

// inverses names the primitives whose inverse is another one; the others without angles are their own.
var inverses = map[string]string{"s": "sdg", "sdg": "s", "t": "tdg", "tdg": "t", "sx": "sxdg", "sxdg": "sx"}

// maxRepeat is the largest power that is written out; larger ones are computed from the matrix where it is small.
const maxRepeat = 16

// maxPower bounds integer exponents: beyond it no angle keeps a correct digit.
const maxPower = 1 << 30

// wholePower is the product of all powers, when each is an integer.
func wholePower(a application) (power float64, whole bool) {
	power = 1
	for _, k := range a.powers {
		if k != math.Trunc(k) {
			return 0, false
		}
		power *= k
	}
	if math.Abs(power) > maxPower {
		fail(CodeAngle, a.at, "the exponent %v is too large; the largest is %d", power, maxPower)
	}
	return power, true
}

// scalable reports whether a power of the gate only scales its angle.
func scalable(g *gate) bool { return g.primitive && g.parameters == 1 }

// applyPrimitive emits a whole power of a primitive.
func (e *elaborator) applyPrimitive(a application, power float64) {
	if scalable(a.gate) {
		e.emitGate(a, a.gate.name, []float64{a.params[0] * power})
		return
	}
	name, params := a.gate.name, a.params
	if power < 0 {
		if other, ok := inverses[name]; ok {
			name = other
		}
		if name == "u" {
			params = []float64{-params[0], -params[2], -params[1]}
		}
	}
	for range int(math.Abs(power)) {
		e.emitGate(a, name, params)
	}
}

// emitGate emits a primitive with its controls. Negative controls are turned around by x before and after.
func (e *elaborator) emitGate(a application, name string, params []float64) {
	for _, p := range params {
		if math.IsInf(p, 0) {
			fail(CodeAngle, a.at, "an angle is not a finite number")
		}
	}
	var flipped []application
	op := Operation{Kind: Gate, Gate: name, Params: params, Targets: a.qubits}
	for _, c := range a.controls {
		op.Controls = append(op.Controls, c.qubit)
		if c.negative {
			flipped = append(flipped, application{at: a.at, gate: primitives["x"], qubits: []int{c.qubit}})
		}
	}
	e.checkControls(a)
	if name == "gphase" {
		last := len(op.Controls) - 1
		if last < 0 {
			if e.depth == 0 { // inside if and while nothing could observe it
				e.phase += params[0]
			}
			return
		}
		op.Gate, op.Controls, op.Targets = "p", op.Controls[:last:last], op.Controls[last:]
	}
	for _, x := range flipped {
		e.emitGate(x, "x", nil)
	}
	e.emit(a.at, op)
	for _, x := range flipped {
		e.emitGate(x, "x", nil)
	}
}

// checkControls refuses a qubit that is a control twice, or a control and a target: a definition may be called so.
func (e *elaborator) checkControls(a application) {
	if len(a.controls) == 0 {
		return
	}
	all := make([]int, 0, len(a.controls)+len(a.qubits))
	for _, c := range a.controls {
		all = append(all, c.qubit)
	}
	e.checkDistinct(e.place(a.at), append(all, a.qubits...))
}
