package circuit

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"
)

// TestNamedMatrices: the matrices are those that the gates' sources print: Qiskit's circuit library (RGate, RZXGate, ECRGate, DCXGate,
// XXPlusYYGate, RCCXGate; qubit 0 lowest) and Cirq's FSimGate. An even row of numbers is the real part, the next one the imaginary part.
func TestNamedMatrices(t *testing.T) {
	const theta, phi = 0.7, 0.4
	c, s := complex(math.Cos(theta/2), 0), complex(0, -math.Sin(theta/2))
	e := func(angle float64) complex128 { return cmplx.Exp(complex(0, angle)) }
	r := complex(1/math.Sqrt2, 0)
	for name, want := range map[string][][]complex128{
		"r":          {{c, s * e(-phi)}, {s * e(phi), c}},
		"rzx":        {{c, 0, s, 0}, {0, c, 0, -s}, {s, 0, c, 0}, {0, -s, 0, c}},
		"ecr":        {{0, r, 0, 1i * r}, {r, 0, -1i * r, 0}, {0, 1i * r, 0, r}, {-1i * r, 0, r, 0}},
		"dcx":        {{1, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}},
		"xx_plus_yy": {{1, 0, 0, 0}, {0, c, s * e(-phi), 0}, {0, s * e(phi), c, 0}, {0, 0, 0, 1}},
		"fsim": {
			{1, 0, 0, 0}, {0, complex(math.Cos(theta), 0), complex(0, -math.Sin(theta)), 0},
			{0, complex(0, -math.Sin(theta)), complex(math.Cos(theta), 0), 0}, {0, 0, 0, e(-phi)},
		},
		"rccx": {
			{1, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, -1i},
			{0, 0, 0, 0, 1, 0, 0, 0}, {0, 0, 0, 0, 0, -1, 0, 0}, {0, 0, 0, 0, 0, 0, 1, 0}, {0, 0, 0, 1i, 0, 0, 0, 0},
		},
	} {
		spec := specByName[name]
		entry := object{"gate": name, "targets": allQubits(spec.targets)}
		if spec.params > 0 {
			entry["params"] = []float64{theta, phi}[:spec.params]
		}
		got := matrixOf(t, spec.targets, entry)
		for row := range want {
			for column, w := range want[row] {
				if cmplx.Abs(got[row][column]-w) > 1e-15 {
					t.Errorf("%s: entry %d, %d is %v, want %v", name, row, column, got[row][column], w)
				}
			}
		}
	}
}

// TestNamedGatesMeetTheLibrary: a gate by its name in JSON is the one that OpenQASM's definition gives, on every method, and where its
// angles are multiples of π/2 on the tableau too.
func TestNamedGatesMeetTheLibrary(t *testing.T) {
	t.Parallel()
	for _, gate := range []struct {
		name   string
		params []float64
	}{
		{"r", []float64{0.7, 0.4}}, {"r", []float64{math.Pi / 2, math.Pi}}, {"rzx", []float64{0.7}}, {"rzx", []float64{-math.Pi / 2}}, {"ecr", nil}, {"dcx", nil},
		{"xx_plus_yy", []float64{0.7, 0.4}}, {"xx_plus_yy", []float64{math.Pi, math.Pi / 2}}, {"fsim", []float64{0.7, 0.4}}, {"fsim", []float64{math.Pi / 2, math.Pi}}, {"rccx", nil},
	} {
		spec := specByName[gate.name]
		order := []int{2, 0, 1}[:spec.targets]
		b := build(t, 3)
		b.add("h", []int{0}, nil).add("sx", []int{1}, nil).add("cx", []int{2}, []int{0}).add("s", []int{2}, nil).add("h", []int{2}, nil)
		b.add(gate.name, order, nil, gate.params...)
		c := b.add("h", []int{1}, nil).circuit
		c.marginals = [][]int{{0, 1, 2}}
		program := "OPENQASM 3.0; include \"stdgates.inc\"; qubit[3] q; h q[0]; sx q[1]; cx q[0], q[2]; s q[2]; h q[2]; " + gate.name
		for i, p := range gate.params {
			program += map[bool]string{true: "(", false: ", "}[i == 0] + fmt.Sprint(p)
		}
		if gate.params != nil {
			program += ")"
		}
		program += " " + map[int]string{1: "q[2]", 2: "q[2], q[0]", 3: "q[2], q[0], q[1]"}[spec.targets] + "; h q[1];"
		written, err := ParseOpenQASM([]byte(program), Limits{})
		if err != nil {
			t.Fatal(program, err)
		}
		written.marginals = c.marginals
		want := mustRun(t, written, Options{Engine: EngineStatevector}).Marginals[0].Probabilities
		engines := []Engine{EngineStatevector, EngineSparse, EngineMPS, EngineDensity}
		if _, why := c.notClifford(); why == "" {
			engines = append(engines, EngineStabilizer)
		}
		if clifford := len(engines) == 5; clifford != (gate.params == nil && gate.name != "rccx" || gate.params != nil && gate.params[0] != 0.7) {
			t.Errorf("%s%v is Clifford: %v", gate.name, gate.params, clifford)
		}
		for _, engine := range engines {
			if got := mustRun(t, c, Options{Engine: engine}).Marginals[0].Probabilities; !closeProbabilities(got, want, 1e-14) {
				t.Errorf("%s%v on %s: %v, want %v", gate.name, gate.params, engine, got, want)
			}
		}
	}
}
