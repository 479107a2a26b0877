package circuit

import (
	"math/bits"

	"reckon/domain/circuit/trig"
)

const sqrtHalf = 0.70710678118654752440084436210484903928

func extractWire(w wires) int { return bits.TrailingZeros64(uint64(w)) }

// operator is the gate on the wires its qubits are on. Angles follow OpenQASM 3: rx, ry, rz, rxx, ryy, rzz are
// exp(-i·angle/2·P), p is diag(1, e^{i·angle}), u is Qiskit's UGate, and a fourth
// angle of u is a phase of all of it.
func (g gate) operator(wire []int) operator {
	var targets, controls wires
	for _, q := range g.targets {
		targets |= 1 << wire[q]
	}
	for _, q := range g.controls {
		controls |= 1 << wire[q]
	}
	op := operator{targets: targets, controls: controls}
	switch g.kind {
	case kindSwap:
		op.matrix = permutation(0, 2, 1, 3)
	case kindISwap:
		op.matrix = permutation(0, 2, 1, 3)
		op.matrix[1*4+2], op.matrix[2*4+1] = scalar{0, 1}, scalar{0, 1}
	case kindUnitary:
		op.matrix = inWireOrder(g.matrix, g.targets, wire)
	case kindRXX, kindRYY, kindRZZ:
		op.matrix = twoQubitRotation(g.kind, g.params[0])
	default:
		m := oneQubitMatrix(g.kind, g.params)
		op.matrix = m[:]
	}
	return op.simplified()
}

// iswapPhase is the rest of an iswap whose swap renames wires.
func iswapPhase(both wires) operator {
	return operator{selectors: both, matrix: []scalar{{1, 0}, {0, 1}, {0, 1}, {1, 0}}}.simplified()
}

func permutation(columns ...int) []scalar {
	m := make([]scalar, len(columns)*len(columns))
	for row, column := range columns {
		m[row*len(columns)+column] = scalar{1, 0}
	}
	return m
}

// twoQubitRotation is cos(angle/2)·I − i·sin(angle/2)·P⊗P, row by row.
func twoQubitRotation(k kind, angle float64) []scalar {
	s, c := trig.Sincos(angle / 2)
	cos, minus, plus, zero := scalar{c, 0}, scalar{0, -s}, scalar{0, s}, scalar{}
	switch k {
	case kindRXX:
		return []scalar{cos, zero, zero, minus, zero, cos, minus, zero, zero, minus, cos, zero, minus, zero, zero, cos}
	case kindRYY:
		return []scalar{cos, zero, zero, plus, zero, cos, minus, zero, zero, minus, cos, zero, plus, zero, zero, cos}
	}
	down, up := scalar{c, -s}, scalar{c, s}
	return []scalar{down, zero, zero, zero, zero, up, zero, zero, zero, zero, up, zero, zero, zero, zero, down}
}

func oneQubitMatrix(k kind, params []float64) [4]scalar {
	one, zero, i := scalar{1, 0}, scalar{}, scalar{0, 1}
	switch k {
	case kindX:
		return [4]scalar{zero, one, one, zero}
	case kindY:
		return [4]scalar{zero, {0, -1}, i, zero}
	case kindZ:
		return [4]scalar{one, zero, zero, {-1, 0}}
	case kindH:
		return [4]scalar{{sqrtHalf, 0}, {sqrtHalf, 0}, {sqrtHalf, 0}, {-sqrtHalf, 0}}
	case kindS:
		return [4]scalar{one, zero, zero, i}
	case kindSdg:
		return [4]scalar{one, zero, zero, {0, -1}}
	case kindT:
		return [4]scalar{one, zero, zero, {sqrtHalf, sqrtHalf}}
	case kindTdg:
		return [4]scalar{one, zero, zero, {sqrtHalf, -sqrtHalf}}
	case kindSX:
		return [4]scalar{{0.5, 0.5}, {0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}}
	case kindSXdg:
		return [4]scalar{{0.5, -0.5}, {0.5, 0.5}, {0.5, 0.5}, {0.5, -0.5}}
	case kindRX:
		s, c := trig.Sincos(params[0] / 2)
		return [4]scalar{{c, 0}, {0, -s}, {0, -s}, {c, 0}}
	case kindRY:
		s, c := trig.Sincos(params[0] / 2)
		return [4]scalar{{c, 0}, {-s, 0}, {s, 0}, {c, 0}}
	case kindRZ:
		s, c := trig.Sincos(params[0] / 2)
		return [4]scalar{{c, -s}, zero, zero, {c, s}}
	case kindP:
		return [4]scalar{one, zero, zero, phase(params[0])}
	case kindU:
		s, c := trig.Sincos(params[0] / 2)
		phi, lambda := phase(params[1]), phase(params[2])
		sum := phi.times(lambda)
		m := [4]scalar{
			{c, 0}, scalar{-s, 0}.times(lambda),
			scalar{s, 0}.times(phi), scalar{c, 0}.times(sum),
		}
		if len(params) == 4 { // cu: u with a phase of its own, which the control makes visible
			for i := range m {
				m[i] = m[i].times(phase(params[3]))
			}
		}
		return m
	}
	return [4]scalar{one, zero, zero, one}
}

// phase is e^{i·angle}.
func phase(angle float64) scalar {
	s, c := trig.Sincos(angle)
	return scalar{c, s}
}
