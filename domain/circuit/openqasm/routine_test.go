package openqasm

import (
	"strings"
	"testing"
)

// TestPrograms pairs programs with subroutines, arrays, durations and measured angles with the plain programs that they are read as.
func TestPrograms(t *testing.T) {
	const start = "qubit[4] q; bit[4] c; bit b; uint[2] u; "
	for _, pair := range [][2]string{
		// subroutines
		{"def flip(qubit a) { x a; } flip(q[2]); flip q[1];", "x q[2]; x q[1];"},
		{"def turn(float[64] t, qubit[2] r) { rx(t / 2) r[0]; rz(t) r; } turn(1.5) q[1:2]; turn(3, q[{3, 0}]);", "rx(0.75) q[1]; rz(1.5) q[1]; rz(1.5) q[2]; rx(1.5) q[3]; rz(3.0) q[3]; rz(3.0) q[0];"},
		{"const int n = 2; def f(int[8] a) -> int[8] { a += n; return a; } rx(f(3) + f(4)) q[0];", "rx(11) q[0];"},
		{"def f(int n) -> int { if (n < 2) { return 1; } return n * f(n - 1); } for int i in [1:f(3) - 3] x q[i];", "x q[1]; x q[2]; x q[3];"},
		{"def f(qubit a) { for int i in [0:9] { if (i == 2) return; rz(i) a; } } f(q[0]); x q[1];", "rz(0) q[0]; rz(1) q[0]; x q[1];"},
		{"def f(qubit a, int k) { if (k > 0) { x a; f(a, k - 1); } } f(q[0], 3);", "x q[0]; x q[0]; x q[0];"},
		{"def f() { x $1; } f();", "x $1;"},
		// arrays
		{"array[float[64], 2, 2] a = {{0.5, 1}, {1.5, 2}}; rx(a[1, 0]) q[0]; a[0, 1] = a[1][1] * 2; rz(a[0, -1]) q[1];", "rx(1.5) q[0]; rz(4) q[1];"},
		{"array[int[8], 3] a = {1, 2, 3}; array[int[8], 3] d = a; a[0:1] = a[1:2]; a[1:2] = a[0:1]; for int i in {a[0], a[1], a[2]} rz(i) q[0]; rx(d[0]) q[0];", "rz(2) q[0]; rz(2) q[0]; rz(3) q[0]; rx(1) q[0];"},
		{"array[uint[8], 2] a = {1, 2}; array[uint[8], 4] d = a ++ a; rx(d[3] + sizeof(d)) q[0]; a[0][1:2] = \"10\"; rx(a[0]) q[0];", "rx(6) q[0]; rx(5) q[0];"},
		{"array[int[8], 2, 2] a = {{1, 2}, {3, 4}}; def f(readonly array[int[8], #dim = 2] v, mutable array[int[8], 2] w) { for int i in [0:sizeof(v, 1) - 1] w[i] += v[1, i]; } " +
			"array[int[8], 2] s = {10, 20}; f(a, s); rx(s[0]) q[0]; rx(s[1]) q[0];", "rx(13) q[0]; rx(24) q[0];"},
		// durations
		{"stretch g; duration d = 2 * 10ns + durationof({x q[0];}) - g / 2; barrier q; delay[d] q[0]; box[2*d] { x q[1]; } rx(1)[d] q[2]; delay[g];", "barrier q; barrier q[0]; x q[1]; rx(1) q[2]; barrier;"},
		// aliases
		{"let a = q[1:2] ++ q[{0}]; let d = a[-1]; x d; let k = c[0:1] ++ c[3:3]; k = 5; def f(qubit[2] r) { let s = r[1]; y s; } f(a[0:1]);", "x q[0]; c[0] = 1; c[1] = 0; c[3] = 1; y q[2];"},
		// measured values in indexes and angles
		{"rz(uint[2](c[0:1]) * pi / 4) q[0];", "if (c[0]) rz(pi / 4) q[0]; if (c[1]) rz(pi / 2) q[0];"},
		{"rx(0.5 - int[2](c[0:1])) q[0];", "rx(0.5) q[0]; if (c[0]) rx(-1) q[0]; if (c[1]) rx(2) q[0];"},
		{"U(bool(b) * 0.5, 1, 0.25) q[0];", "if (!b) U(0, 1, 0.25) q[0]; if (b) U(0.5, 1, 0.25) q[0];"},
	} {
		declared := start
		if strings.Contains(pair[0], "$") {
			declared = strings.TrimPrefix(start, "qubit[4] q; ")
		}
		got, err := Parse([]byte(declared+pair[0]), testLimits)
		if err != nil {
			t.Errorf("%s\n%v", pair[0], err)
			continue
		}
		want, err := Parse([]byte(declared+pair[1]), testLimits)
		if err != nil {
			t.Fatal(pair[1], err)
		}
		if body(got) != body(want) {
			t.Errorf("%s\nmeans   %s\nand not %s", pair[0], body(got), body(want))
		}
		checkPrinted(t, got)
	}
}

// TestInputs: what comes beside a program is converted as in an assignment.
func TestInputs(t *testing.T) {
	inputs := Inputs{
		"n": Number("2.0"), "w": Number("0.25"), "k": "01", "on": true, "b": Number("1"), "a": Number("1e0"),
		"v": []any{[]any{Number("1"), Number("2.5")}, []any{Number("3"), Number("4")}},
	}
	const program = "qubit[3] q; input int[8] n; input float[64] w; input bit[2] k; input bool on; input bit b; input angle[4] a; input array[float[64], 2, 2] v; " +
		"x q[n]; rx(w) q[0]; if (on) y q[0]; rz(v[1, 0] + v[0, 1]) q[1];"
	p, err := ParseWith([]byte(program), inputs, testLimits)
	if want := "x q[2]; rx(2.5e-01) q[0]; y q[0]; rz(5.5e+00) q[1];"; err != nil || body(p) != want {
		t.Errorf("%s\n%s\n%v", body(p), want, err)
	}
	for _, c := range []struct {
		program string
		input   any
		says    string
	}{
		{"qubit q; input int z;", Number("1.5"), "line 1, column 20: a value of type float is not int"},
		{"qubit q; input int[4] z;", Number("8"), "8 does not fit int[4]"},
		{"qubit q; input bit[2] z;", "012", "not a string of at most"},
		{"qubit q; input bit[3] z;", "01", "bit[2] is not bit[3]"},
		{"qubit q; input angle z;", []any{Number("1")}, "a single value, not an array"},
		{"qubit q; input array[int, 2] z;", []any{Number("1")}, "sizes [2]"},
		{"qubit q; input float z;", Number("1e999"), "too large"},
		{"qubit q; input int z;", Number("1e999999999"), "too large"},
		{"qubit q; input bool z;", Number("2"), ""},
		{"qubit q; input bit[2] z; z[0] = 1;", "01", "z is const"},
		{"qubit q; input int y;", Number("2"), "the input y has no value"},
		{"qubit q; int z;", Number("2"), "declares no such input"},
		{"qubit q; { input int z; }", Number("2"), "outside blocks"},
	} {
		if _, err := ParseWith([]byte(c.program), Inputs{"z": c.input}, testLimits); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s with %v: %v; want %q", c.program, c.input, err, c.says)
		}
	}
}

// TestVariablesAreShown: without bits the variables that keep outcomes are the result.
func TestVariablesAreShown(t *testing.T) {
	p, err := Parse([]byte("qubit[2] q; int other = 1; uint[3] n; angle[2] a; x q[0]; n[1] = measure q[0]; a[0] = measure q[1]; n += 1;"), testLimits)
	if err != nil || len(p.Registers) != 2 || p.Registers[0] != (Register{"n", 0, 3}) || p.Registers[1] != (Register{"a", 3, 2}) {
		t.Fatalf("%+v, %v", p.Registers, err)
	}
	if got := p.Warnings; len(got) != 2 || got[0] != "n is read in line 1 before it has a value; it is 0 there" {
		t.Error(got)
	}
}
