package circuit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"
)

const qasmHeader = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n"

// TestOpenQASMEqualsJSON pairs programs with the JSON circuit they mean.
func TestOpenQASMEqualsJSON(t *testing.T) {
	for _, pair := range [][2]string{
		{`qubit[2] q; h q[0]; cx q[0], q[1];`,
			`{"gate":"h","target":0},{"gate":"cx","control":0,"target":1}`},
		{`qubit[2] q; h q; // both
		  rz(pi/4 + 2*pi) q[0]; rx(-tau/8) q[1]; /* a
		  comment */ U(pi/2, -0.5e0, .25) q[0]; u2(0.1, 0.2) q[1];`,
			`{"gate":"h","target":0},{"gate":"h","target":1},{"gate":"rz","target":0,"angle":7.0685834705770345},
			 {"gate":"rx","target":1,"angle":-0.7853981633974483},{"gate":"u","target":0,"params":[1.5707963267948966,-0.5,0.25]},
			 {"gate":"u","target":1,"params":[1.5707963267948966,0.1,0.2]}`},
		{`qreg a[1]; qreg b[2]; creg c[3]; h a; cx a, b; ccx a[0], b[0], b[1]; barrier a, b; cswap a[0], b[0], b[1];`,
			`{"gate":"h","target":0},{"gate":"cx","control":0,"target":1},{"gate":"cx","control":0,"target":2},
			 {"gate":"ccx","controls":[0,1],"target":2},{"gate":"cswap","control":0,"targets":[1,2]}`},
		{`qubit[3] q; ry(1) q; ctrl @ h q[0], q[1]; ctrl(2) @ x q[0], q[1], q[2]; inv @ s q[0]; inv @ ctrl @ t q[1], q[2]; ctrl @ swap q[2], q[0], q[1];
		  inv @ u3(0.1, 0.2, 0.3) q[1]; cu(0.1, 0.2, 0.3, 0.4) q[0], q[2]; h q[-1];`,
			`{"gate":"ry","target":0,"angle":1},{"gate":"ry","target":1,"angle":1},{"gate":"ry","target":2,"angle":1},
			 {"gate":"ch","control":0,"target":1},{"gate":"ccx","controls":[0,1],"target":2},{"gate":"sdg","target":0},
			 {"gate":"tdg","control":1,"target":2},{"gate":"cswap","control":2,"targets":[0,1]},
			 {"gate":"u","target":1,"params":[-0.1,-0.3,-0.2]},{"gate":"p","target":0,"angle":0.4},{"gate":"u","control":0,"target":2,"params":[0.1,0.2,0.3]},
			 {"gate":"h","target":2}`},
	} {
		c, err := ParseOpenQASM([]byte(qasmHeader+pair[0]), Limits{})
		if err != nil {
			t.Errorf("%s: %v", pair[0], err)
			continue
		}
		c.statevector = true
		want, err := Parse([]byte(`{"qubits":`+strconv.Itoa(c.Qubits())+`,"statevector":true,"gates":[`+pair[1]+`]}`), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		c.phase = 0 // of U, u2 and u3, which JSON's gates do not have
		closeUpToPhase(t, mustRun(t, c, Options{}).Statevector, mustRun(t, want, Options{}).Statevector, 4e-15)
	}
}

// TestOpenQASMBits checks that keys show the bits that were written, wherever their qubits are.
func TestOpenQASMBits(t *testing.T) {
	for program, want := range map[string]string{
		`qubit[3] q; bit[3] c; x q[0]; c = measure q;`:                                      "001",
		`qubit[3] q; bit[3] c; x q[0]; c[2] = measure q[0]; c[0] = measure q[1];`:           "100",
		`qubit[1] q; bit a; bit b; a = measure q[0]; x q[0]; b = measure q[0];`:             "1 0",
		`qubit[1] q; bit a; a = measure q[0]; x q[0]; a = measure q[0];`:                    "1",
		`qubit[2] q; x q; bit[2] c = measure q; reset q; h q[0];`:                           "11",
		`OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; creg c[2]; x q[1]; measure q -> c;`: "10",
		`qubit[2] q; bit[9] c; x q[1];`:                                                     "10",
	} {
		c, err := ParseOpenQASM([]byte(program), Limits{})
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		if got := mustRun(t, c, Options{}).Counts; !maps.Equal(got, map[string]int{want: 1024}) {
			t.Errorf("%s: %v, want %s", program, got, want)
		}
	}
}

func TestOpenQASMRefusals(t *testing.T) {
	for _, c := range []struct {
		program string
		code    Code
		says    string
	}{
		{"", CodeMissingField, "qubits"},
		{"OPENQASM 4.0; qubit q;", CodeUnsupported, "version"},
		{"include \"other.inc\";", CodeUnsupported, "other.inc"},
		{"qubit[2] q; foo q[0];", CodeUnknownGate, "foo"},
		{"qubit[2] q;\n\nh q[2];", CodeQubitRange, "line 3"},
		{"qubit[2] q; h r;", CodeQubitRange, "r"},
		{"qubit[2] q; cx q[0], q[0];", CodeRepeatedQubit, "q[0]"},
		{"qubit[2] q; cx q[0];", CodeTargets, "2 qubits"},
		{"qubit[2] q; rx q[0];", CodeParameters, "1 parameter"},
		{"qubit[2] q; h(1) q[0];", CodeParameters, "0 parameters"},
		{"qubit[2] q; rx(1/0) q[0];", CodeAngleRange, "zero"},
		{"qubit[2] q; rx(1/0.0) q[0];", CodeAngleRange, "finite"},
		{"qubit[2] q; measure q[0];", CodeUnsupported, "bit"},
		{"qubit[2] q; bit c; c = measure q;", CodeTargets, "2 qubits"},
		{"qubit[2] q; bit q;", CodeMalformed, "twice"},
		{"qubit[0] q;", CodeQubitsRange, "qubits"},
		{"qubit[1000000000000] q;", CodeQubitsRange, "20"},
		{"qubit[2] q; h q[0]", CodeMalformed, "end of the program"},
		{"qubit[2] q; h $0;", CodeUnsupported, "physical"},
		{"qubit[2] q; /* ", CodeMalformed, "comment"},
		{"qubit[2] q; \"h", CodeMalformed, "string"},
		{"qubit[2] q; h q[0]; #", CodeMalformed, "#"},
		{"qubit[2] q; rx(" + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000) + ") q;", CodeMalformed, "nested"},
		{"qubit[20] q; " + strings.Repeat("h q; ", 501), CodeTooManyGates, "10000"},
		{"\xff", CodeMalformed, "UTF-8"},
	} {
		_, err := ParseOpenQASM([]byte(c.program), Limits{})
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%.60s: accepted: %v", c.program, err)
			continue
		}
		if refusal.Code != c.code || !strings.Contains(refusal.Message, c.says) {
			t.Errorf("%.60s: %s: %s; want %s with %q", c.program, refusal.Code, refusal.Message, c.code, c.says)
		}
	}
}

// TestOpenQASMWidth: what only the whole circuit shows still names its line.
func TestOpenQASMWidth(t *testing.T) {
	_, err := ParseOpenQASM([]byte("qubit[25] q;\nh q;\n t q[3];"), Limits{Qubits: 20, CliffordQubits: 1000})
	if err == nil || !strings.HasPrefix(err.Error(), "line 3, column 2: t is not a Clifford gate") || !strings.HasSuffix(err.Error(), "\n t q[3];\n ^") {
		t.Error(err)
	}
}

// TestOpenQASMInJSON: the other fields of the object apply to a program too.
func TestOpenQASMInJSON(t *testing.T) {
	c, err := Parse([]byte(`{"openqasm":"OPENQASM 3;\nqubit[2] q; x q[1]; gphase(pi/2);","shots":5,"seed":3,"statevector":true}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, c, Options{})
	if r.Counts["10"] != 5 || r.Seed != 3 || math.Abs(r.Statevector[2][1]-1) > 1e-15 {
		t.Errorf("%+v", r)
	}
}

// closeUpToPhase compares states whose global phase may differ.
func closeUpToPhase(t *testing.T, got, want [][2]float64, tolerance float64) {
	t.Helper()
	closeStates(t, turnedTo(got, want), want, tolerance)
}

// turnedTo is a state times the phase that brings it closest to another one.
func turnedTo(got, want [][2]float64) [][2]float64 {
	var overlap scalar
	for i := range want {
		overlap = overlap.plus(scalar{want[i][0], want[i][1]}.times(scalar{got[i][0], -got[i][1]}))
	}
	size := math.Hypot(overlap.re, overlap.im)
	turned := make([][2]float64, len(got))
	for i, a := range got {
		v := scalar{a[0], a[1]}.times(scalar{overlap.re / size, overlap.im / size})
		turned[i] = [2]float64{v.re, v.im}
	}
	return turned
}

func FuzzParseOpenQASM(f *testing.F) {
	f.Add([]byte(qasmHeader + "qubit[3] q; bit[3] c; h q[0]; cx q[0], q[1]; rz(pi/4) q; barrier; c = measure q; reset q[0];"))
	f.Add([]byte("qreg q[2]; creg c[2]; u3(1,2,3) q[0]; ctrl @ inv @ t q[0], q[1]; measure q -> c;"))
	f.Add([]byte("qubit q; bit c = measure q; rx(-(2**3)*sin(1.5)/tau) q;"))
	f.Add([]byte("def f(bit[2] k, qubit[2] a) -> uint[2] { if (k[0]) return 1; h a; return measure a; } qubit[3] q; bit[2] c; uint[2] u; u = f(c, q[0:1]); x q[u]; rz(u * pi / 4 + 1) q[0];"))
	f.Add([]byte("array[int[3], 2, 2] a = {{1, 2}, {3, -1}}; qubit[3] q; bit[2] c = measure q[0:1]; a[1, uint[1](c[0])] = 2; x q[a[uint[1](c[1])][1]]; a[0] = a[1]; angle[3] g; g[1] = c[0]; U(g, 0, 1) q[1];"))
	f.Add([]byte("stretch g; duration d = 2 * 10ns - g; qubit[2] q; box[d] { delay[d / 2] q[0]; } def f(mutable array[int[3], #dim = 1] v) { v[0] += 1; return; }"))
	limits := Limits{Qubits: 6, CliffordQubits: 40, Gates: 50, Shots: 20, Bytes: 1 << 16}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseOpenQASM(data, limits)
		checkForeign(t, c, err)
	})
}

// TestAssignmentsAreNoInstructions: how a program keeps its variables shows neither in depth nor in gate_counts, and a switch is one
// instruction. The first program is what Qiskit 2 writes for its switch_case; it counts depth 3.
func TestAssignmentsAreNoInstructions(t *testing.T) {
	const start = "OPENQASM 3.0; bit[1] c; int s; qubit[2] q; u2(0, pi) q[0]; c[0] = measure q[0];"
	for program, want := range map[string]struct {
		depth  int
		counts map[string]int
	}{
		start + "s = c; switch (s) { case 0 { x q[0]; } }":                                 {3, map[string]int{"u2": 1, "measure": 1, "switch_case": 1}},
		start + "s = c; switch (s) { case 0 { x q[0]; } case 1 { y q[1]; } default { } }":  {3, map[string]int{"u2": 1, "measure": 1, "switch_case": 1}},
		start + "s = c; switch (s) { case 0 { x q[0]; } } switch (s) { case 1 { y q; } }":  {4, map[string]int{"u2": 1, "measure": 1, "switch_case": 2}},
		start + "if (c == 0) { s = c; switch (s) { case 0 { x q[0]; } } }":                 {3, map[string]int{"u2": 1, "measure": 1, "if_else": 1}},
		start + "uint[2] u; u = uint[2](c); u = u + 1; if (u == 2) { x q[1]; }":            {3, map[string]int{"u2": 1, "measure": 1, "if_else": 1}},
		start + "bit d; d = !c[0]; x q[1];":                                                {2, map[string]int{"u2": 1, "measure": 1, "x": 1}},
		start + "for int i in [0:1] { switch (c) { case 0 { x q[0]; } case 1 { y q; } } }": {4, map[string]int{"u2": 1, "measure": 1, "switch_case": 2}},
	} {
		c, err := ParseOpenQASM([]byte(program), Limits{})
		if err != nil {
			t.Fatal(program, err)
		}
		counts := map[string]int{}
		for name, n := range c.GateCounts() {
			counts[map[bool]string{true: "u2", false: name}[name == "u"]] += n
		}
		if c.Depth() != want.depth || !maps.Equal(counts, want.counts) {
			t.Errorf("%s\ndepth %d, %v; want %v", program, c.Depth(), counts, want)
		}
	}
}

// TestShiftByMeasuredDistance: the distance of a shift may be what was measured.
func TestShiftByMeasuredDistance(t *testing.T) {
	for distance := range 8 {
		text := "OPENQASM 3.0; qubit[3] q; bit[3] c; bit[5] left; bit[5] right; int[5] s = -11; uint[5] u = 21;"
		for i := range 3 {
			if distance>>i&1 == 1 {
				text += fmt.Sprintf("x q[%d];", i)
			}
		}
		text += "c = measure q; uint[3] d = c; left = bit[5](u << d); right = bit[5](s >> c);"
		c, err := ParseOpenQASM([]byte(text), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%05b %05b %03b", (-11>>distance)&31, 21<<distance&31, distance)
		if got := mustRun(t, c, Options{}).Counts; len(got) != 1 || got[want] == 0 {
			t.Errorf("distance %d: %v, want %s", distance, got, want)
		}
	}
}

// TestWideIntegers: one of more bits than an int has is compared with a register bit by bit, in both versions.
func TestWideIntegers(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]string{
		// Bit 69 alone is measured as 1.
		`OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[70] c; bit e; x q[0]; c[69] = measure q[0]; if (c == 590295810358705651712) { x q[1]; } e = measure q[1];`:    "1 1" + strings.Repeat("0", 69),
		`OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[70] c; bit e; x q[0]; c[69] = measure q[0]; if (c == 590295810358705651713) { x q[1]; } e = measure q[1];`:    "0 1" + strings.Repeat("0", 69),
		`OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[70] c; bit e; x q[0]; c[68] = measure q[0]; if (c < 0x20_0000_0000_0000_0000) { x q[1]; } e = measure q[1];`:  "1 01" + strings.Repeat("0", 68),
		`OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[70] c; bit e; c = 590295810358705651712; if (c != 0) { x q[1]; } e = measure q[1];`:                           "1 1" + strings.Repeat("0", 69),
		`OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; creg c[70]; creg e[1]; x q[0]; measure q[0] -> c[69]; if (c == 590295810358705651712) x q[1]; measure q[1] -> e[0];`: "1 1" + strings.Repeat("0", 69),
		`OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit c; x q[0]; if (measure q[0]) { x q[1]; } c = measure q[1];`:                                                   "1",
		`OPENQASM 3.0; include "stdgates.inc"; qubit[3] q; output bit[3] c; for qubit z in q[0:2:2] { x z; } c = measure q;`:                                                 "101",
	} {
		c, err := ParseOpenQASM([]byte(program), Limits{})
		if err != nil {
			t.Errorf("%s\n%v", program, err)
			continue
		}
		result, err := Run(t.Context(), c, Options{Seed: 1})
		if err != nil || result.Counts[want] != result.Shots {
			t.Errorf("%s\n%v, %v", program, result.Counts, err)
		}
	}
}
