package openqasm

import (
	"math"
	"slices"
)

// maxMatrixQubits bounds the gates whose matrix is computed, controls aside.
const maxMatrixQubits = 4

// applyMatrix emits a gate under powers that are not whole: the matrix of the gate, its principal powers, and gates
// that make the result.
func (e *elaborator) applyMatrix(a application) {
	if a.gate.definition != nil {
		if body := e.expand(a); len(body) == 1 { // the power of one gate under controls is that of the gate
			inner := body[0]
			inner.powers = append(slices.Clone(inner.powers), a.powers...)
			inner.controls = append(slices.Clone(a.controls), inner.controls...)
			e.apply(inner)
			return
		}
	}
	if a.gate.qubits > maxMatrixQubits {
		fail(CodeUnsupported, e.place(a.at), "a power that is not an integer is supported for gates of at most %d qubits, not %d", maxMatrixQubits, a.gate.qubits)
	}
	m := e.matrixOf(a)
	for _, k := range a.powers {
		m = e.powerOf(a.at, m, k)
	}
	e.synthesize(a, m)
}

// matrixOf is the matrix of a gate without modifiers.
func (e *elaborator) matrixOf(a application) matrix {
	plain := application{at: a.at, gate: a.gate, params: a.params, qubits: sequence(0, a.gate.qubits)}
	inner := *e
	inner.body, inner.matrix, inner.depth, inner.phase = nil, true, 0, 0
	inner.apply(plain)
	e.steps = inner.steps
	m := identity(1 << a.gate.qubits)
	for _, op := range inner.body {
		m.act(op)
	}
	phase := turn(inner.phase)
	for i := range m {
		for j := range m {
			m[i][j] = m[i][j].times(phase)
		}
	}
	for range len(m) * len(m) {
		e.step(a.at)
	}
	return m
}

// powerOf is the principal power: every eigenvalue e^{iφ} with −π < φ ≤ π becomes e^{ikφ}.
func (e *elaborator) powerOf(at int, m matrix, k float64) matrix {
	v, phases, ok := m.diagonalize()
	if !ok {
		fail(CodeUnsupported, e.place(at), "the power %v of this gate cannot be computed accurately", k)
	}
	scaled := identity(len(m))
	for i := range m {
		phase := phases[i]
		if phase < -math.Pi+1e-9 { // −1 up to rounding
			phase += 2 * math.Pi
		}
		for j := range m {
			scaled[j][i] = v[j][i].times(turn(float64(k * phase)))
		}
	}
	return scaled.times(v.adjoint())
}

// synthesize emits gates whose product is a unitary matrix, on the qubits and under the controls of an application.
func (e *elaborator) synthesize(a application, m matrix) {
	a.params, a.powers = nil, nil
	if len(m) == 2 {
		e.emitUnitary(a, [2][2]number{{m[0][0], m[0][1]}, {m[1][0], m[1][1]}})
		return
	}
	// Below the diagonal entries are rotated away one by one: t_n … t_1·m = diag, so m = t_1† … t_n†·diag.
	var steps []func()
	for column := range m {
		for row := column + 1; row < len(m); row++ {
			if m[row][column].size() < 1e-15 {
				continue
			}
			steps = append(steps, e.eliminate(a, m, column, row))
		}
	}
	e.emitDiagonal(a, m)
	for i := len(steps) - 1; i >= 0; i-- {
		steps[i]()
	}
}

// eliminate makes m[row][column] zero by a rotation of the two rows, and returns what emits the inverse rotation: a
// one-qubit gate under controls, once cx has made the two basis states neighbours.
func (e *elaborator) eliminate(a application, m matrix, column, row int) func() {
	x, y := m[column][column], m[row][column]
	norm := math.Sqrt(x.square() + y.square())
	p, q := x.scaled(1/norm), y.scaled(1/norm)
	for k := range m { // [[p*, q*], [−q, p]]
		above, below := m[column][k], m[row][k]
		m[column][k] = p.conjugate().times(above).plus(q.conjugate().times(below))
		m[row][k] = p.times(below).minus(q.times(above))
	}
	m[row][column] = number{}
	inverse := [2][2]number{{p, q.conjugate().scaled(-1)}, {q, p.conjugate()}} // rows: column, row
	return func() { e.emitTwoLevel(a, column, row, inverse) }
}

// emitTwoLevel emits a rotation of two basis states. They differ in the lowest bit of their difference, the target;
// cx from it to the other differing bits makes them differ there only.
func (e *elaborator) emitTwoLevel(a application, first, second int, u [2][2]number) {
	difference := first ^ second
	target := 0
	for difference>>target&1 == 0 {
		target++
	}
	var others []int
	for bit := range a.gate.qubits {
		if bit != target && difference>>bit&1 == 1 {
			others = append(others, bit)
		}
	}
	cx := func(bit int) {
		e.emitGate(application{at: a.at, controls: []control{{a.qubits[target], false}}, qubits: []int{a.qubits[bit]}}, "x", nil)
	}
	for _, bit := range others {
		cx(bit)
	}
	at := first
	if first>>target&1 == 1 { // cx changed the other bits of the state whose target bit is 1
		at = second
		u = [2][2]number{{u[1][1], u[1][0]}, {u[0][1], u[0][0]}}
	}
	e.emitUnitary(e.onState(a, at, target), u)
	for _, bit := range others {
		cx(bit)
	}
}

// onState is an application on one qubit, under the condition that the others are as in a basis state.
func (e *elaborator) onState(a application, state, target int) application {
	out := application{at: a.at, gate: a.gate, qubits: []int{a.qubits[target]}}
	out.controls = append(out.controls, a.controls...)
	for bit, q := range a.qubits {
		if bit != target {
			out.controls = append(out.controls, control{q, state>>bit&1 == 0})
		}
	}
	return out
}

// emitDiagonal emits the phases of a diagonal matrix: the first one as a phase of the whole, the others under controls.
func (e *elaborator) emitDiagonal(a application, m matrix) {
	whole := m[0][0].angle()
	e.emitPhase(application{at: a.at, controls: a.controls}, whole)
	for state := 1; state < len(m); state++ {
		on := application{at: a.at, controls: a.controls}
		for bit, q := range a.qubits {
			on.controls = append(on.controls[:len(on.controls):len(on.controls)], control{q, state>>bit&1 == 0})
		}
		e.emitPhase(on, m[state][state].times(turn(-whole)).angle())
	}
}

// emitPhase emits a phase under controls; one that is zero up to rounding is left out.
func (e *elaborator) emitPhase(a application, angle float64) {
	if math.Abs(angle) > 1e-15 {
		e.emitGate(a, "gphase", []float64{angle})
	}
}

// emitUnitary emits a unitary 2×2 matrix as e^{iα}·u(θ, φ, λ).
func (e *elaborator) emitUnitary(a application, m [2][2]number) {
	theta := 2 * atan2(m[1][0].size(), m[0][0].size())
	angleOr0 := func(x number, minus float64) float64 {
		if x.size() < 1e-14 {
			return 0
		}
		return x.times(turn(-minus)).angle()
	}
	alpha := angleOr0(m[0][0], 0)
	phi := angleOr0(m[1][0], alpha)
	lambda := angleOr0(m[1][1], alpha+phi)
	if m[0][1].size() > m[1][1].size() { // the angle of the larger entry is the more accurate one
		lambda = angleOr0(m[0][1].scaled(-1), alpha)
	}
	e.emitPhase(application{at: a.at, controls: a.controls}, alpha)
	if theta > 1e-15 || math.Abs(phi) > 1e-15 || math.Abs(lambda) > 1e-15 {
		e.emitGate(a, "u", []float64{theta, phi, lambda})
	}
}
