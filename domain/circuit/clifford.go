package circuit

import (
	"math"
	"slices"

	"reckon/domain/circuit/trig"
)

// isClifford reports whether the stabilizer tableau can run the gate: Pauli and Clifford gates by name, rotations by
// multiples of π/2, measurements and resets.
func (g gate) isClifford() bool {
	switch {
	case g.flow != nil || g.kind == kindInitialize:
		return false // outcomes are symbols there, and a symbol decides nothing
	case g.kind == kindChannel:
		return g.channel.pauli
	case !g.kind.isUnitary() || g.kind == kindID:
		return true
	}
	if parts, ok := g.cliffordParts(); ok {
		return len(g.controls) == 0 && !slices.ContainsFunc(parts, func(part gate) bool { return !part.isClifford() })
	}
	switch g.kind {
	case kindX, kindY, kindZ:
		return len(g.controls) <= 1
	case kindH, kindS, kindSdg, kindSX, kindSXdg:
		return len(g.controls) == 0
	case kindSwap, kindISwap:
		return len(g.controls) == 0
	case kindP:
		k, ok := quarterTurns(g.params[0])
		return ok && (len(g.controls) == 0 || len(g.controls) == 1 && k%2 == 0)
	case kindRX, kindRY, kindRZ, kindU, kindRXX, kindRYY, kindRZZ:
		for _, angle := range g.params {
			if _, ok := quarterTurns(angle); !ok {
				return false
			}
		}
		return len(g.controls) == 0
	}
	return false
}

// cliffordParts are gates of the tableau that make up, one after the other and up to a global phase, a gate that it has not itself.
func (g gate) cliffordParts() (parts []gate, ok bool) {
	on := func(k kind, control int, targets []int, params ...float64) {
		part := gate{kind: k, targets: targets, params: params}
		if control >= 0 {
			part.controls = []int{control}
		}
		parts = append(parts, part)
	}
	pair := func(k kind, angle float64) { on(k, -1, g.targets, angle) }
	first := g.targets[:1]
	switch g.kind {
	case kindR:
		on(kindRZ, -1, first, -g.params[1])
		on(kindRX, -1, first, g.params[0])
		on(kindRZ, -1, first, g.params[1])
	case kindDCX:
		on(kindX, first[0], g.targets[1:])
		on(kindX, g.targets[1], first)
	case kindECR, kindRZX: // ecr is rzx(π/2), then x on the first
		angle := math.Pi / 2
		if g.kind == kindRZX {
			angle = g.params[0]
		}
		on(kindH, -1, g.targets[1:])
		pair(kindRZZ, angle)
		on(kindH, -1, g.targets[1:])
		if g.kind == kindECR {
			on(kindX, -1, first)
		}
	case kindXXPlusYY:
		on(kindRZ, -1, first, g.params[1])
		pair(kindRXX, g.params[0]/2)
		pair(kindRYY, g.params[0]/2)
		on(kindRZ, -1, first, -g.params[1])
	case kindFSim:
		pair(kindRXX, g.params[0])
		pair(kindRYY, g.params[0])
		on(kindP, first[0], g.targets[1:], -g.params[1])
	default:
		return nil, false
	}
	return parts, true
}

// quarterTurns writes an angle as a multiple of π/2, modulo 4, when it is one to within what doubles can say.
func quarterTurns(angle float64) (turns uint64, ok bool) {
	const tolerance = 1e-13
	quadrant, rest := trig.Reduce(angle)
	return quadrant, math.Abs(rest) < tolerance
}

// apply runs a Clifford gate, up to a global phase.
func (t *tableau) apply(g gate) {
	if parts, ok := g.cliffordParts(); ok {
		for _, part := range parts {
			t.apply(part)
		}
		return
	}
	a := g.targets[0]
	if len(g.controls) == 1 {
		c := g.controls[0]
		switch g.kind {
		case kindX:
			t.cx(c, a)
		case kindY:
			t.applyS(a, 3)
			t.cx(c, a)
			t.applyS(a, 1)
		case kindZ:
			t.cz(c, a)
		case kindP:
			if k, _ := quarterTurns(g.params[0]); k == 2 {
				t.cz(c, a)
			}
		}
		return
	}
	switch g.kind {
	case kindX:
		t.applyXWhere(a, 0)
	case kindY:
		t.applyS(a, 2)
		t.applyXWhere(a, 0)
	case kindZ:
		t.applyS(a, 2)
	case kindH:
		t.h(a)
	case kindS:
		t.applyS(a, 1)
	case kindSdg:
		t.applyS(a, 3)
	case kindSX:
		t.rotateX(a, 1)
	case kindSXdg:
		t.rotateX(a, 3)
	case kindSwap, kindISwap:
		b := g.targets[1]
		t.x[a], t.x[b] = t.x[b], t.x[a]
		t.z[a], t.z[b] = t.z[b], t.z[a]
		if g.kind == kindISwap {
			t.cz(a, b)
			t.applyS(a, 1)
			t.applyS(b, 1)
		}
	case kindRXX, kindRYY, kindRZZ:
		turns, _ := quarterTurns(g.params[0])
		t.rotatePair(g.kind, a, g.targets[1], turns)
	default:
		turns := [3]uint64{}
		for i, angle := range g.params {
			turns[i], _ = quarterTurns(angle)
		}
		switch g.kind {
		case kindP, kindRZ:
			t.applyS(a, turns[0])
		case kindRX:
			t.rotateX(a, turns[0])
		case kindRY:
			t.rotateY(a, turns[0])
		case kindU: // u(θ, φ, λ) = p(φ)·ry(θ)·p(λ)
			t.applyS(a, turns[2])
			t.rotateY(a, turns[0])
			t.applyS(a, turns[1])
		}
	}
}

// rotatePair applies rxx, ryy or rzz: rzz by π/2 is S on both qubits and a cz, and the others are that in another basis.
func (t *tableau) rotatePair(k kind, a, b int, turns uint64) {
	both := func(apply func(q int)) {
		apply(a)
		apply(b)
	}
	if k == kindRYY {
		both(func(q int) { t.applyS(q, 3) })
	}
	if k != kindRZZ {
		both(t.h)
	}
	both(func(q int) { t.applyS(q, turns) })
	if turns%2 == 1 {
		t.cz(a, b)
	}
	if k != kindRZZ {
		both(t.h)
	}
	if k == kindRYY {
		both(func(q int) { t.applyS(q, 1) })
	}
}
