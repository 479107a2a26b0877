package openqasm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// matrixOfProgram is the matrix of the gates of a program on n qubits, its global phase included.
func matrixOfProgram(t *testing.T, n int, text string) matrix {
	t.Helper()
	p, err := Parse([]byte("qubit["+itoa(n)+"] q;\n"+text), Limits{Bytes: 1 << 16, Qubits: 8, Operations: 10_000})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	m := identity(1 << n)
	for _, op := range p.Body {
		twoQubits(op, func(op Operation) { m.act(op) })
	}
	for i := range m {
		for j := range m {
			m[i][j] = m[i][j].times(turn(p.Phase))
		}
	}
	return m
}

// twoQubits writes the simulator's gates of two qubits by their textbook circuits of one-qubit gates and controls.
func twoQubits(op Operation, act func(Operation)) {
	one := func(name string, target int, params []float64, controls ...int) {
		act(Operation{Gate: name, Targets: []int{target}, Controls: controls, Params: params})
	}
	if len(op.Targets) == 1 {
		act(op)
		return
	}
	a, b := op.Targets[0], op.Targets[1]
	half := []float64{math.Pi / 2}
	rzz := func() {
		one("x", b, nil, a)
		one("rz", b, op.Params, op.Controls...)
		one("x", b, nil, a)
	}
	switch op.Gate {
	case "swap", "iswap":
		one("x", b, nil, a)
		one("x", a, nil, append([]int{b}, op.Controls...)...)
		one("x", b, nil, a)
		if op.Gate == "iswap" {
			one("z", b, nil, append([]int{a}, op.Controls...)...)
			one("s", a, nil, op.Controls...)
			one("s", b, nil, op.Controls...)
		}
	case "rzz":
		rzz()
	case "rxx":
		one("h", a, nil)
		one("h", b, nil)
		rzz()
		one("h", a, nil)
		one("h", b, nil)
	case "ryy":
		one("rx", a, half)
		one("rx", b, half)
		rzz()
		one("rx", a, []float64{-math.Pi / 2})
		one("rx", b, []float64{-math.Pi / 2})
	}
}

func distance(a, b matrix) float64 {
	worst := 0.0
	for i := range a {
		for j := range a {
			worst = max(worst, a[i][j].minus(b[i][j]).size())
		}
	}
	return worst
}

// TestStandardGates compares the built-in gates with the definitions of the specification, which use only U, gphase
// and modifiers; Qiskit's own gates (rxx, …) with what Qiskit documents. Global phases count.
func TestStandardGates(t *testing.T) {
	const a, b = "(0.7)", "(0.7, -1.3, 2.1"
	for _, c := range [][3]string{
		{"1", "p" + a, "ctrl @ gphase(0.7) q[0];"},
		{"1", "x", "U(pi, 0, pi) q[0]; gphase(-pi/2);"},
		{"1", "y", "U(pi, pi/2, pi/2) q[0]; gphase(-pi/2);"},
		{"1", "z", "ctrl @ gphase(pi) q[0];"},
		{"1", "h", "U(pi/2, 0, pi) q[0]; gphase(-pi/4);"},
		{"1", "s", "pow(0.5) @ z q[0];"},
		{"1", "sdg", "inv @ pow(0.5) @ z q[0];"},
		{"1", "t", "pow(0.5) @ s q[0];"},
		{"1", "tdg", "inv @ pow(0.5) @ s q[0];"},
		{"1", "sx", "pow(0.5) @ x q[0];"},
		{"1", "sxdg", "inv @ pow(0.5) @ x q[0];"},
		{"1", "rx" + a, "U(0.7, -pi/2, pi/2) q[0]; gphase(-0.7/2);"},
		{"1", "ry" + a, "U(0.7, 0, 0) q[0]; gphase(-0.7/2);"},
		{"1", "rz" + a, "gphase(-0.7/2); U(0, 0, 0.7) q[0];"},
		{"1", "id", "U(0, 0, 0) q[0];"},
		{"1", "phase" + a, "U(0, 0, 0.7) q[0];"},
		{"1", "u1" + a, "U(0, 0, 0.7) q[0];"},
		{"1", "u2(0.7, -1.3)", "gphase(-(0.7-1.3+pi/2)/2); U(pi/2, 0.7, -1.3) q[0];"},
		{"1", "u3" + b + ")", "gphase(-(0.7-1.3+2.1)/2); U(0.7, -1.3, 2.1) q[0];"},
		{"1", "u" + b + ")", "gphase(-0.7/2); U(0.7, -1.3, 2.1) q[0];"},
		{"2", "cx", "ctrl @ U(pi, 0, pi) q[0], q[1]; ctrl @ gphase(-pi/2) q[0];"},
		{"2", "CX", "ctrl @ x q[0], q[1];"},
		{"2", "cy", "ctrl @ y q[0], q[1];"},
		{"2", "cz", "ctrl(2) @ gphase(pi) q[0], q[1];"},
		{"2", "cp" + a, "ctrl(2) @ gphase(0.7) q[0], q[1];"},
		{"2", "cphase" + a, "ctrl(2) @ gphase(0.7) q[0], q[1];"},
		{"2", "cu1" + a, "ctrl(2) @ gphase(0.7) q[0], q[1];"},
		{"2", "crx" + a, "ctrl @ rx(0.7) q[0], q[1];"},
		{"2", "cry" + a, "ctrl @ ry(0.7) q[0], q[1];"},
		{"2", "crz" + a, "ctrl @ rz(0.7) q[0], q[1];"},
		{"2", "ch", "ctrl @ h q[0], q[1];"},
		{"2", "cs", "ctrl @ s q[0], q[1];"},
		{"2", "csdg", "inv @ ctrl @ s q[0], q[1];"},
		{"2", "csx", "ctrl @ pow(0.5) @ x q[0], q[1];"},
		{"2", "cu3" + b + ")", "ctrl @ u(0.7, -1.3, 2.1) q[0], q[1];"},
		{"2", "swap", "cx q[0], q[1]; cx q[1], q[0]; cx q[0], q[1];"},
		{"2", "cu" + b + ", 0.4)", "p(0.4 - 0.7/2) q[0]; ctrl @ U(0.7, -1.3, 2.1) q[0], q[1];"},
		{"2", "rzz" + a, "gphase(-0.35); cx q[0], q[1]; p(0.7) q[1]; cx q[0], q[1];"},
		{"2", "rxx" + a, "ry(-pi/2) q; rzz(0.7) q[0], q[1]; ry(pi/2) q;"},
		{"2", "ryy" + a, "rx(pi/2) q; rzz(0.7) q[0], q[1]; rx(-pi/2) q;"},
		{"2", "iswap", "rxx(-pi/2) q[0], q[1]; ryy(-pi/2) q[0], q[1];"},
		{"3", "ccx", "ctrl @ ctrl @ x q[0], q[1], q[2];"},
		{"3", "ccz", "ctrl(3) @ gphase(pi) q[0], q[1], q[2];"},
		{"3", "cswap", "ctrl @ swap q[0], q[1], q[2];"},
		{"3", "rccx", "u2(pi/4, pi) q[2]; cx q[1], q[2]; u1(-pi/4) q[2]; cx q[0], q[2]; u1(pi/4) q[2]; cx q[1], q[2]; u2(0, 3*pi/4) q[2]; gphase(pi);"},
		{"4", "c3x", "ctrl(3) @ x q[0], q[1], q[2], q[3];"},
		{"4", "c3sqrtx", "pow(0.5) @ c3x q[0], q[1], q[2], q[3];"},
		{"5", "c4x", "ctrl(4) @ x q[0], q[1], q[2], q[3], q[4];"},
	} {
		n := int(c[0][0] - '0')
		operands := "q[0]"
		for q := 1; q < n; q++ {
			operands += ", q[" + itoa(q) + "]"
		}
		if d := distance(matrixOfProgram(t, n, c[1]+" "+operands+";"), matrixOfProgram(t, n, c[2])); d > 1e-14 {
			t.Errorf("%s differs from its definition by %v", c[1], d)
		}
	}
}

// TestBuiltInU is the matrix of the specification, section "Built-in gates".
func TestBuiltInU(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		theta, phi, lambda := rng.Float64()*20-10, rng.Float64()*20-10, rng.Float64()*20-10
		got := matrixOfProgram(t, 1, "U("+angleText(theta)+", "+angleText(phi)+", "+angleText(lambda)+") q[0];")
		one, i, e := number{1, 0}, number{0, 1}, turn(theta)
		want := matrix{
			{one.plus(e), number{0, -1}.times(turn(lambda)).times(one.minus(e))},
			{i.times(turn(phi)).times(one.minus(e)), turn(phi).times(turn(lambda)).times(one.plus(e))},
		}
		for r := range want {
			for c := range want {
				want[r][c] = want[r][c].scaled(0.5)
			}
		}
		if d := distance(got, want); d > 1e-14 {
			t.Errorf("U(%v, %v, %v) differs by %v", theta, phi, lambda, d)
		}
	}
}

// TestPowers: the k-th root of a gate, k times, is the gate; its eigenvalues lie within the k-th part of the circle.
// Gates with equal eigenvalues, with −1, diagonal ones and permutations are among them.
func TestPowers(t *testing.T) {
	for _, c := range []struct {
		qubits int
		gate   string
	}{
		{1, "x"}, {1, "y"}, {1, "h"}, {1, "z"}, {1, "id"}, {1, "rx(3.3)"}, {1, "u(1, 2, 3)"}, {1, "U(pi, 0.3, 0.1)"}, {1, "rz(2*pi)"},
		{2, "swap"}, {2, "iswap"}, {2, "cx"}, {2, "rzz(1.1)"}, {2, "rxx(pi)"}, {2, "g2"}, {2, "cz"}, {2, "cu(1, 2, 3, 4)"},
		{3, "ccx"}, {3, "cswap"}, {3, "g3"}, {3, "rccx"}, {4, "g4"}, {4, "rc3x"}, {4, "c3x"},
	} {
		definitions := `gate g2 a, b { h a; cx a, b; t b; rx(0.3) a; }
			gate g3 a, b, c { g2 a, b; g2 b, c; swap a, c; }
			gate g4 a, b, c, d { g3 b, c, d; g2 a, c; ry(1.0) d; ctrl @ h d, a; }
			`
		operands := "q[0]"
		for q := 1; q < c.qubits; q++ {
			operands += ", q[" + itoa(q) + "]"
		}
		whole := matrixOfProgram(t, c.qubits, definitions+c.gate+" "+operands+";")
		for _, k := range []int{2, 3, 7} {
			root := matrixOfProgram(t, c.qubits, definitions+"pow(1.0/"+itoa(k)+") @ "+c.gate+" "+operands+";")
			product := identity(len(root))
			for range k {
				product = product.times(root)
			}
			if d := distance(product, whole); d > 2e-13 {
				t.Errorf("the %d-th root of %s, %d times, differs by %v", k, c.gate, k, d)
			}
			_, phases, ok := root.diagonalize()
			for _, phase := range phases {
				if !ok || math.Abs(phase) > math.Pi/float64(k)+1e-9 {
					t.Errorf("the %d-th root of %s has the eigenvalue e^%vi (%v)", k, c.gate, phase, ok)
				}
			}
		}
		inverse := matrixOfProgram(t, c.qubits, definitions+"inv @ "+c.gate+" "+operands+";")
		if d := distance(inverse.times(whole), identity(len(whole))); d > 1e-13 {
			t.Errorf("inv @ %s differs by %v", c.gate, d)
		}
		big := matrixOfProgram(t, c.qubits, definitions+"pow(1000003) @ "+c.gate+" "+operands+";")
		small := matrixOfProgram(t, c.qubits, definitions+"pow(1000000) @ "+c.gate+" "+operands+"; pow(3) @ "+c.gate+" "+operands+";")
		if d := distance(big, small); d > 1e-8 {
			t.Errorf("pow(1000003) @ %s differs by %v", c.gate, d)
		}
	}
}

// TestControlledPower: pow and ctrl commute.
func TestControlledPower(t *testing.T) {
	a := matrixOfProgram(t, 3, "pow(0.3) @ ctrl @ negctrl @ h q[0], q[1], q[2];")
	b := matrixOfProgram(t, 3, "ctrl @ negctrl @ pow(0.3) @ h q[0], q[1], q[2];")
	if d := distance(a, b); d > 1e-14 {
		t.Errorf("they differ by %v", d)
	}
}

// TestPublishedMatrices compares gates that are in no file of OpenQASM with the matrices that Qiskit (r, rzx, ecr, dcx, xx_plus_yy), Cirq (fsim)
// and pytket (PhasedX, ZZMax, ZZPhase, TK2) publish, the first qubit as the lowest bit of an index.
func TestPublishedMatrices(t *testing.T) {
	const theta, phi = 0.7, -1.3
	cos, sin := math.Cos(theta/2), math.Sin(theta/2)
	o, l, m := number{}, number{1, 0}, number{0, -1}
	c, s := number{cos, 0}, number{0, -sin}
	h := number{math.Sqrt2 / 2, 0}
	plus, minus := number{0, math.Sqrt2 / 2}, number{0, -math.Sqrt2 / 2}
	rotation := matrix{{c, s.times(turn(-phi))}, {s.times(turn(phi)), c}}
	for text, want := range map[string]matrix{
		"r(0.7, -1.3) q[0];":                 rotation,
		"U1q(0.7, -1.3) q[0];":               rotation,
		"Rz(0.7) q[0];":                      {{turn(-theta / 2), o}, {o, turn(theta / 2)}},
		"rzx(0.7) q[0], q[1];":               {{c, o, s, o}, {o, c, o, s.scaled(-1)}, {s, o, c, o}, {o, s.scaled(-1), o, c}},
		"ecr q[0], q[1];":                    {{o, h, o, plus}, {h, o, minus, o}, {o, plus, o, h}, {minus, o, h, o}},
		"dcx q[0], q[1];":                    {{l, o, o, o}, {o, o, o, l}, {o, l, o, o}, {o, o, l, o}},
		"xx_plus_yy(0.7, -1.3) q[0], q[1];":  {{l, o, o, o}, {o, c, s.times(turn(-phi)), o}, {o, s.times(turn(phi)), c, o}, {o, o, o, l}},
		"fsim(0.35, -1.3) q[0], q[1];":       {{l, o, o, o}, {o, c, s, o}, {o, s, c, o}, {o, o, o, turn(-phi)}},
		"RZZ(0.7) q[0], q[1];":               {{turn(-theta / 2), o, o, o}, {o, turn(theta / 2), o, o}, {o, o, turn(theta / 2), o}, {o, o, o, turn(-theta / 2)}},
		"ZZ q[0], q[1];":                     {{turn(-math.Pi / 4), o, o, o}, {o, turn(math.Pi / 4), o, o}, {o, o, turn(math.Pi / 4), o}, {o, o, o, turn(-math.Pi / 4)}},
		"Rxxyyzz(0.35, 0.35, 0) q[0], q[1];": {{l, o, o, o}, {o, c, s, o}, {o, s, c, o}, {o, o, o, l}},
		"Rxxyyzz(pi, pi, pi) q[0], q[1];":    {{m, o, o, o}, {o, m, o, o}, {o, o, m, o}, {o, o, o, m}},
	} {
		n := 1
		if len(want) == 4 {
			n = 2
		}
		if d := distance(matrixOfProgram(t, n, text), want); d > 1e-14 {
			t.Errorf("%s differs by %v", text, d)
		}
	}
}
