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
	case kindRZX, kindECR, kindDCX, kindXXPlusYY, kindFSim, kindRCCX:
		op.matrix = inWireOrder(orderedMatrix(g.kind, g.params), g.targets, wire)
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

// orderedMatrix is that of a gate on several targets which are not alike; the first target is the lowest bit of an index.
func orderedMatrix(k kind, params []float64) []scalar {
	one, i, minus := scalar{1, 0}, scalar{0, 1}, scalar{0, -1}
	switch k {
	case kindDCX: // cx from the first, then from the second
		return permutation(0, 3, 1, 2)
	case kindRCCX: // ccx up to phases (Maslov, arXiv:1508.03273)
		m := permutation(0, 1, 2, 7, 4, 5, 6, 3)
		m[3*8+7], m[7*8+3], m[5*8+5] = minus, i, scalar{-1, 0}
		return m
	case kindECR: // (IX − XY)/√2
		h, hi, mi := scalar{sqrtHalf, 0}, scalar{0, sqrtHalf}, scalar{0, -sqrtHalf}
		return placed(4, map[[2]int]scalar{{0, 1}: h, {0, 3}: hi, {1, 0}: h, {1, 2}: mi, {2, 1}: hi, {2, 3}: h, {3, 0}: mi, {3, 2}: h})
	case kindRZX: // exp(−i·angle/2·X⊗Z): Z on the first target
		s, c := trig.Sincos(params[0] / 2)
		cos, down, up := scalar{c, 0}, scalar{0, -s}, scalar{0, s}
		return placed(4, map[[2]int]scalar{{0, 0}: cos, {1, 1}: cos, {2, 2}: cos, {3, 3}: cos, {0, 2}: down, {2, 0}: down, {1, 3}: up, {3, 1}: up})
	case kindFSim: // Cirq's FSimGate
		s, c := trig.Sincos(params[0])
		cos, off := scalar{c, 0}, scalar{0, -s}
		return placed(4, map[[2]int]scalar{{0, 0}: one, {1, 1}: cos, {2, 2}: cos, {1, 2}: off, {2, 1}: off, {3, 3}: phase(-params[1])})
	}
	s, c := trig.Sincos(params[0] / 2) // xx_plus_yy: Qiskit's XXPlusYYGate
	cos, off := scalar{c, 0}, scalar{0, -s}
	return placed(4, map[[2]int]scalar{
		{0, 0}: one, {1, 1}: cos, {2, 2}: cos, {3, 3}: one,
		{1, 2}: off.times(phase(-params[1])), {2, 1}: off.times(phase(params[1])),
	})
}

// placed is a matrix that is zero but for some entries.
func placed(dim int, entries map[[2]int]scalar) []scalar {
	m := make([]scalar, dim*dim)
	for at, v := range entries {
		m[at[0]*dim+at[1]] = v
	}
	return m
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
	case kindR: // exp(−i·angle/2·(cos φ·X + sin φ·Y))
		s, c := trig.Sincos(params[0] / 2)
		off := scalar{0, -s}
		return [4]scalar{{c, 0}, off.times(phase(-params[1])), off.times(phase(params[1])), {c, 0}}
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
