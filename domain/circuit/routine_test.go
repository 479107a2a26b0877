package circuit

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// measuredStart prepares qubits and bits of which every value occurs.
const measuredStart = `OPENQASM 3.0; include "stdgates.inc"; qubit[4] q; qubit[5] s; bit[4] c; bit b; bit[4] last; uint[2] u; int[3] i;
	for int k in [0:4] ry(0.7 + k / 3.0) s[k]; for int k in [0:3] { ry(0.4 + k) q[k]; rz(k + 1) q[k]; } c = measure s[0:3]; b = measure s[4]; `

// TestMeasuredValues pairs programs that use outcomes in subroutines, arrays, indexes and angles with programs that write the cases out. Every
// method that runs them gives the same exact probabilities.
func TestMeasuredValues(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		// subroutines
		{"def m(qubit a) -> bit { h a; return measure a; y a; } b = m(q[3]);", "h q[3]; b = measure q[3];"},
		{"def m(qubit[2] r) -> bit[2] { return measure r; } c[1:2] = m(q[0:1]);", "c[1:2] = measure q[0:1];"},
		{"def f(bit k, qubit a) { if (k) { return; } x a; } f(c[1], q[0]); y q[0];", "if (!c[1]) { x q[0]; } y q[0];"},
		{"def f(bit k, qubit a) -> bit { if (k) { return false; } h a; return measure a; } b = f(c[1], q[0]);", "if (c[1]) { b = 0; } else { h q[0]; b = measure q[0]; }"},
		{"def f(bit k, qubit a) -> int[3] { for int j in [0:2] { h a; bit m = measure a; if (m == k) return j; } return -1; } i = f(b, q[0]); if (i == -1) x q[1]; if (i == 1) y q[2];",
			"{ bit m0; bit m1; bit m2; h q[0]; m0 = measure q[0]; if (m0 != b) { h q[0]; m1 = measure q[0]; if (m1 == b) { y q[2]; } else { h q[0]; m2 = measure q[0]; if (m2 != b) { x q[1]; } } } }"},
		{"def parity(bit[3] v) -> bit { bit p; for int i in [0:2] p ^= v[i]; return p; } b = parity(c[0:1] ++ c[3:3]);", "b = c[0] ^ c[1] ^ c[3];"},
		{"def f(creg k[2], qreg r[2]) -> bool { cx r[0], r[1]; return k == 3; } if (f(c[0:1], q[1:2])) z q[0];", "cx q[1], q[2]; if (c[0:1] == 3) z q[0];"},
		{"def f(qubit a) -> bit { h a; return measure a; } while (f(q[0])) { h q[1]; }", "bool w; h q[0]; w = measure q[0]; while (w) { h q[1]; h q[0]; w = measure q[0]; }"},
		{"def f(uint[2] n) -> uint[2] { n += 1; return n * n; } u = f(c[0:1]); if (u == 1) x q[0];", "if (c[0:1] == 0) x q[0]; if (c[0:1] == 2) x q[0];"},
		{"u = uint[2](popcount(c[0:2])); if (u == 2) x q[0]; if (popcount(c) == 4) y q[1];",
			"if (c[0:2] == 3 || c[0:2] == 5 || c[0:2] == 6) x q[0]; if (c == 15) y q[1];"},
		// arrays
		{"array[uint[2], 2] a = {1, 2}; if (b) { a[0] = 3; } if (a[0] == 3) h q[0]; if (a[1] == 2) h q[1];", "if (b) h q[0]; h q[1];"},
		{"array[int[3], 4] a = {1, -1, 3, 0}; i = a[uint[2](c[0:1])]; if (i == -1) x q[0]; if (i == 3) y q[1];", "if (c[0:1] == 1) x q[0]; if (c[0:1] == 2) y q[1];"},
		{"array[uint[2], 2, 2] a; a[uint[1](c[0]), uint[1](c[1])] = 3; if (a[1, 0] == 3) x q[0]; if (a[0, 1] == 3) y q[1];", "if (c[0:1] == 1) x q[0]; if (c[0:1] == 2) y q[1];"},
		{"array[float[64], 3] a = {0.5, 1.5, -2}; rx(a[uint[2](c[0:1])] + 1) q[0];", "if (c[0:1] == 0) rx(1.5) q[0]; if (c[0:1] == 1) rx(2.5) q[0]; if (c[0:1] == 2) rx(-1) q[0]; if (c[0:1] == 3) rx(1) q[0];"},
		// indexes
		{"u = c[0:1]; x q[u];", "if (c[0:1] == 0) x q[0]; if (c[0:1] == 1) x q[1]; if (c[0:1] == 2) x q[2]; if (c[0:1] == 3) x q[3];"},
		{"i = int[3](c[0:2]); x q[i];", "for int k in [-4:3] { i = k; if (int[3](c[0:2]) == i) x q[k]; }"},
		{"reset q[c[2:3]];", "if (c[2:3] == 0) reset q[0]; if (c[2:3] == 1) reset q[1]; if (c[2:3] == 2) reset q[2]; if (c[2:3] == 3) reset q[3];"},
		{"b = measure q[uint[1](b)];", "if (b) { b = measure q[1]; } else { b = measure q[0]; }"},
		{"b = measure q[c[0:3]];", "if (c == 0) b = measure q[0]; if (c == 1) b = measure q[1]; if (c == 2) b = measure q[2]; if (c == 3) b = measure q[3]; "},
		{"b = c[uint[2](c[1:2])];", "if (c[1:2] == 0) { b = c[0]; } else if (c[1:2] == 1) { b = c[1]; } else if (c[1:2] == 2) { b = c[2]; } else { b = c[3]; }"},
		{"c[uint[2](c[0:1])] = b; ", "u = c[0:1]; if (u == 0) { c[0] = b; } else if (u == 1) { c[1] = b; } else if (u == 2) { c[2] = b; } else { c[3] = b; }"},
		{"cx q[uint[1](c[0])], q[2 + uint[2](c[1:1])];", "if (c[0:1] == 0) cx q[0], q[2]; if (c[0:1] == 1) cx q[1], q[2]; if (c[0:1] == 2) cx q[0], q[3]; if (c[0:1] == 3) cx q[1], q[3];"},
		// angles
		{"rz(uint[3](c[0:2]) * pi / 4 + 0.5) q[0]; h q[0];", "for uint[3] k in [0:7] if (c[0:2] == k) rz(k * pi / 4 + 0.5) q[0]; h q[0];"},
		{"rx(0.5 - int[2](c[0:1])) q[0];", "if (c[0:1] == 0) rx(0.5) q[0]; if (c[0:1] == 1) rx(-0.5) q[0]; if (c[0:1] == 2) rx(2.5) q[0]; if (c[0:1] == 3) rx(1.5) q[0];"},
		{"angle[3] a; a[0] = c[0]; a <<= 1; a[0] = c[1]; a = a + angle[3](c[1:3]); ctrl @ inv @ p(a) q[0], q[1]; h q;",
			"for uint[4] k in [0:15] if (c == k) cp(-2 * pi / 8 * (2 * (k & 1) + (k >> 1 & 1) + (k >> 1))) q[0], q[1]; h q;"},
		{"U(bool(b) * 0.5, 1, uint[2](c[0:1]) / 4.0) q[0]; h q[0];", "for uint[2] k in [0:3] { if (c[0:1] == k && b) U(0.5, 1, k / 4.0) q[0]; if (c[0:1] == k && !b) U(0, 1, k / 4.0) q[0]; } h q[0];"},
		{"gate g(t) a, d { rx(t) a; cz a, d; ry(2 * t) d; } inv @ g(uint[2](c[0:1])) q[0], q[1];", "for uint[2] k in [0:3] if (c[0:1] == k) inv @ g(k) q[0], q[1];"},
		{"pow(0.5) @ rx(4.5 * uint[1](b)) q[0];", "if (b) pow(0.5) @ rx(4.5) q[0];"},
		{"ctrl @ gphase(uint[2](c[0:1]) * pi / 4) q[0]; h q[0];", "for uint[2] k in [0:3] if (c[0:1] == k) p(k * pi / 4) q[0]; h q[0];"},
	} {
		definitions := ""
		if at := strings.Index(pair[0], "inv @ g("); at >= 0 {
			definitions = pair[0][:at]
		}
		want := exactProbabilities(t, definitions+pair[1], EngineStatevector)
		for _, method := range []Engine{EngineStatevector, EngineSparse, EngineMPS} {
			if got := exactProbabilities(t, pair[0], method); !closeProbabilities(got, want, 1e-10) {
				t.Errorf("%s on %s has other probabilities (%d keys) than %s (%d keys)", pair[0], method, len(got), pair[1], len(want))
			}
		}
	}
}

// exactProbabilities are those of the bits that a program ends with.
func exactProbabilities(t *testing.T, program string, method Engine) map[string]float64 {
	t.Helper()
	c, err := parseOpenQASM([]byte(measuredStart+program+" last = measure q;"), nil, Limits{}.withDefaults(), method)
	if err != nil {
		t.Fatal(program, err)
	}
	c.shots = 1
	return mustRun(t, c, Options{}).Probabilities
}

func closeProbabilities(got, want map[string]float64, tolerance float64) bool {
	keys := slices.Concat(slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(want)))
	return len(want) > 0 && !slices.ContainsFunc(keys, func(key string) bool {
		d := got[key] - want[key]
		return d > tolerance || d < -tolerance
	})
}

// TestKnownPrograms are algorithms whose outcomes are certain.
func TestKnownPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ program, want string }{
		"iterative phase estimation": {`
			const int n = 4;
			qubit q; qubit r; bit[n] found; angle[n] c = 0;
			x r;
			for uint i in [0:n - 1] {
				reset q;
				h q;
				ctrl @ pow(2 ** (n - 1 - i)) @ p(2 * pi * 11 / 16) q, r;
				inv @ p(c) q;
				h q;
				found[i] = measure q;
				c >>= 1;
				c[n - 2] = found[i];
			}`, "1011"},
		"repeat until success (Nielsen and Chuang, exercise 4.41)": {`
			def attempt(qubit[2] a, qubit psi) -> bit[2] {
				reset a;
				h a;
				ccx a[0], a[1], psi;
				s psi;
				ccx a[0], a[1], psi;
				z psi;
				h a;
				return measure a;
			}
			qubit psi; qubit[2] a; bit out; bit[2] flags = "11";
			h psi;
			while (uint[2](flags) != 0) { flags = attempt(a, psi); }
			rz(pi - arccos(3.0 / 5)) psi;
			h psi;
			out = measure psi;`, "00 0"},
		"repetition code with a looked-up correction": {`
			def syndrome(qubit[3] d, qubit[2] a) -> bit[2] {
				reset a;
				cx d[0], a[0]; cx d[1], a[0]; cx d[1], a[1]; cx d[2], a[1];
				return measure a;
			}
			qubit[3] d; qubit[2] a; bit[3] out; bit[2] s;
			array[int[8], 4] where = {-1, 0, 2, 1};
			x d; // the code word 111
			x d[1]; // the error
			s = syndrome(d, a);
			int[8] at = where[uint[2](s)];
			if (at >= 0) { x d[at]; }
			out = measure d;`, "11 111"},
		"pairs teleported one after the other": {`
			def pair(qubit[2] p) { reset p; h p[0]; cx p[0], p[1]; }
			def send(qubit source, qubit[2] p) {
				pair(p);
				cx source, p[0]; h source;
				bit z1 = measure source; bit x1 = measure p[0];
				if (x1) x p[1];
				if (z1) z p[1];
			}
			qubit source; qubit[2] first; qubit[2] second; bit out;
			U(0.3, 0.2, 0.1) source;
			send(source, first);
			send(first[1], second);
			inv @ U(0.3, 0.2, 0.1) second[1];
			out = measure second[1];`, "0"},
		"delays change nothing": {`
			qubit[2] q; bit[2] c; stretch g; duration d = 50ns;
			box[4 * d] { delay[d + g] q[0]; x q[0]; delay[2 * d] q; cx q[0], q[1]; }
			c = measure q;`, "11"},
	} {
		circuit, err := ParseOpenQASM([]byte("include \"stdgates.inc\";"+c.program), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := mustRun(t, circuit, Options{}).Counts; got[c.want] != 1024 {
			t.Errorf("%s: %v, want %s only", name, got, c.want)
		}
	}
}

// TestInputsInJSON: a program takes its inputs from the field inputs.
func TestInputsInJSON(t *testing.T) {
	const program = `"openqasm":"include \"stdgates.inc\"; input float[64] angle1; input array[int[8], 2] list; input bit[2] k; input bool on; qubit[4] q; rx(angle1) q[list[1]]; if (on && k == 2) x q[0];"`
	c, err := Parse([]byte(`{`+program+`,"inputs":{"angle1":3.141592653589793,"list":[1,3],"k":"10","on":true}}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, c, Options{}).Counts; got["1001"] != 1024 {
		t.Error(got)
	}
	for text, says := range map[string]string{
		`{` + program + `}`:                              "the input angle1 has no value; give it beside the program",
		`{` + program + `,"inputs":[1]}`:                 "must be an object from names to values",
		`{` + program + `,"inputs":{"angle1":{"a":1}}}`:  "the input angle1 must be a number",
		`{"qubits":1,"gates":[],"inputs":{"a":1}}`:       "those of gates are given by sweep",
		`{` + program + `,"sweep":[{"angle1":1}]}`:       "has no value",
		`{"openqasm":"qubit q;","sweep":[{"angle1":1}]}`: "give its inputs a value",
		`{"openqasm":"qubit q;","inputs":{"a":` + strings.Repeat("[", 8) + strings.Repeat("]", 8) + `}}`: "of up to 7 dimensions",
	} {
		if _, err := Parse([]byte(text), Limits{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.120s: %v; want %q", text, err, says)
		}
	}
}
