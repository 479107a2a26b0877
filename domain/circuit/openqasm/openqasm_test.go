package openqasm

import (
	"strings"
	"testing"
)

const declarations = "qubit[4] q; bit[4] c; bit b;\n"

// meanings are programs and what they come to, as String prints it after the declarations.
var meanings = []struct{ program, means string }{
	// gates, modifiers and definitions
	{declarations + "gate g(a, b) x, y { rx(a + b/2) x; ctrl @ h x, y; } g(1, 1) q[0], q[1];", "rx(1.5e+00) q[0]; ctrl(1) @ h q[0], q[1];"},
	{declarations + "gate g x { s x; h x; t x; } inv @ g q[0];", "tdg q[0]; h q[0]; sdg q[0];"},
	{declarations + "gate g x { s x; h x; } pow(-2) @ g q[0];", "h q[0]; sdg q[0]; h q[0]; sdg q[0];"},
	{declarations + "gate x a { y a; } x q[0];", "y q[0];"},
	{declarations + "gate h2 a { h a; } gate h a { x a; } h2 q[0]; h q[0];", "h q[0]; x q[0];"},
	{declarations + "negctrl @ x q[0], q[1];", "x q[0]; ctrl(1) @ x q[0], q[1]; x q[0];"},
	{declarations + "ctrl @ negctrl @ z q[0], q[1], q[2];", "x q[1]; ctrl(2) @ z q[0], q[1], q[2]; x q[1];"},
	{declarations + "pow(3) @ rz(0.5) q[0]; pow(2) @ inv @ p(1) q[0]; pow(0) @ h q[0];", "rz(1.5e+00) q[0]; p(-2e+00) q[0];"},
	{declarations + "ctrl @ gphase(0.5) q[2]; ctrl(2) @ gphase(1) q[2], q[3];", "p(5e-01) q[2]; ctrl(1) @ p(1e+00) q[2], q[3];"},
	{declarations + "ctrl @ U(0.5, 0, 0) q[0], q[1];", "p(2.5e-01) q[0]; ctrl(1) @ u(5e-01, 0e+00, 0e+00) q[0], q[1];"},
	{declarations + "gate g a { for int i in [0:1] { rx(i) a; } } g q[1];", "rx(0e+00) q[1]; rx(1e+00) q[1];"},
	// registers
	{declarations + "h q[0:2:3]; x q[{3, 1}]; let a = q[1:2] ++ q[3]; y a[-1];", "h q[0]; h q[2]; x q[3]; x q[1]; y q[3];"},
	{declarations + "cx q[0], q[1:2];", "ctrl(1) @ x q[0], q[1]; ctrl(1) @ x q[0], q[2];"},
	{declarations + "cx q[0:1], q[2:3];", "ctrl(1) @ x q[0], q[2]; ctrl(1) @ x q[1], q[3];"},
	{declarations + "measure q -> c; c[1] = measure q[3]; reset q[0]; barrier q[1];", "c0[0] = measure q[0]; c0[1] = measure q[1]; c0[2] = measure q[2]; c0[3] = measure q[3]; c0[1] = measure q[3]; reset q[0]; barrier q[1];"},
	{"x $7; h $2; cx $2, $7;", "x q[1]; h q[0]; ctrl(1) @ x q[0], q[1];"},
	{"qubit v; qubit[2] h; x v; x h[1];", "x q[0]; x q[2];"},
	{"\ufeffOPENQASM 3;\n@reversed\nqubit q; x q;", "x q[0];"},
	{declarations + "delay[10ns] q[0]; box { x q[0]; } box [100 us] { } nop q[1];", "barrier q[0]; x q[0];"},
	// arithmetic
	{declarations + "const int n = 7 / 2 + 7 % 4 * 2 ** 3; rx(n) q[0];", "rx(2.7e+01) q[0];"},
	{declarations + "rx(-2**2) q[0]; rx(1/2) q[0]; rx(1.0/2) q[0]; rx(0x1F + 0b11 + 0o17 + 1_000) q[0];", "rx(-4e+00) q[0]; rx(0e+00) q[0]; rx(5e-01) q[0]; rx(1.049e+03) q[0];"},
	{declarations + "uint[4] u = 12; u += 7; rx(u) q[0]; u = ~u; rx(u) q[0]; rx(u << 2) q[0];", "rx(3e+00) q[0]; rx(1.2e+01) q[0]; rx(0e+00) q[0];"},
	{declarations + "angle[4] a = 7 * (pi / 8); angle[4] d = pi / 8; uint[4] two = 2; p(a / two) q[0]; p(d - a) q[0];", "p(1.1780972450961724e+00) q[0]; p(3.9269908169872414e+00) q[0];"},
	{declarations + "rx(arcsin(1)) q[0]; rx(exp(1)) q[0]; rx(log(euler)) q[0]; rx(sqrt(2.0)**2 - 2) q[0]; rx(mod(7, 4)) q[0];", "rx(1.5707963267948966e+00) q[0]; rx(2.718281828459045e+00) q[0]; rx(1e+00) q[0]; rx(4.440892098500626e-16) q[0]; rx(3e+00) q[0];"},
	{declarations + "rx(popcount(\"1011\")) q[0]; rx(uint[4](rotl(\"0011\", 1))) q[0];", "rx(3e+00) q[0]; rx(6e+00) q[0];"},
	{declarations + "if (2 > 1 && !(3 <= 2) || false) x q[0]; else y q[0];", "x q[0];"},
	{declarations + "float[32] f = 0.1; rx(f) q[0];", "rx(1.0000000149011612e-01) q[0];"},
	{declarations + "const int p = pow(2, 5); rx(p) q[0]; rx(pow(2.0, 0.5)) q[0];", "rx(3.2e+01) q[0]; rx(1.4142135623730951e+00) q[0];"},
	{declarations + "rx(uint[4](20)) q[0]; rx(uint[8](-1)) q[0]; rx(int[8](200)) q[0]; rx(int[8](-3)) q[0];", "rx(4e+00) q[0]; rx(2.55e+02) q[0]; rx(-5.6e+01) q[0]; rx(-3e+00) q[0];"},
	// loops known now
	{declarations + "for int i in [3:-2:0] x q[i];", "x q[3]; x q[1];"},
	{declarations + "for uint i in {2, 0} { x q[i]; } for int i in [1:0] y q[i];", "x q[2]; x q[0];"},
	{declarations + "for int i in [0:3] { if (i == 1) continue; if (i == 3) break; x q[i]; }", "x q[0]; x q[2];"},
	{declarations + "int i = 0; while (i < 3) { x q[i]; i += 2; } x q[3]; end; y q[0];", "x q[0]; x q[2]; x q[3];"},
	{declarations + "switch (3) { case 1, 3 { x q[0]; } default { y q[0]; } }", "x q[0];"},
	// what measurements decide
	{declarations + "if (c == 5) x q[0];", "if (c0[0] && !c0[1] && c0[2] && !c0[3]) { x q[0]; }"},
	{declarations + "if (c[1:2] != \"01\") { x q[0]; } else y q[0];", "if (!c0[1] || c0[2]) { x q[0]; } else { y q[0]; }"},
	{declarations + "b = c[0] ^ c[1]; if (b) x q[0];", "c1[0] = c0[0] ^ c0[1]; if (c1[0]) { x q[0]; }"},
	{declarations + "while (c[0]) { h q[0]; c[0] = measure q[0]; }", "while (c0[0]) { h q[0]; c0[0] = measure q[0]; }"},
	{declarations + "c[0:1] = c[1:2]; c = ~c;", "hidden[0] = c0[1]; c0[0] = hidden[0]; c0[1] = c0[2]; c0[0] = !c0[0]; c0[1] = !c0[1]; c0[2] = !c0[2]; c0[3] = !c0[3];"},
	{declarations + "bool k = measure q[0]; if (!k) x q[1];", "hidden[0] = measure q[0]; hidden[1] = hidden[0]; if (!hidden[1]) { x q[1]; }"},
	{declarations + "for int i in [0:1] { x q[i]; if (b) break; } y q[0];",
		"hidden[0] = false; x q[0]; if (c1[0]) { hidden[0] = true; } if (!hidden[0]) { x q[1]; if (c1[0]) { hidden[0] = true; } } y q[0];"},
	{declarations + "x q[0]; if (b) { end; } x q[1];", "hidden[0] = false; x q[0]; if (c1[0]) { hidden[0] = true; } if (!hidden[0]) { x q[1]; }"},
	{"#pragma noise on\nqubit[2] q; output bit c; for qubit z in q { h z; } for qubit z in q[{1}] x z; if (measure q[0]) { x q[1]; } uint v = 18446744073709551615;",
		"h q[0]; h q[1]; x q[1]; hidden[0] = measure q[0]; if (hidden[0]) { x q[1]; }"},
	{"OPENQASM 2.0; include \"hqslib1.inc\"; qreg q[2]; gphase(0.5); gphase(0.25) q[0]; gphase(0.125) q[0],q[1]; x q[0]; ZZ() q[0], q[1]; Rz(0.5) q[1];",
		"x q[0]; rzz(1.5707963267948966e+00) q[0], q[1]; rz(5e-01) q[1];"},
	{"OPENQASM 2.0; include \"qelib1.inc\"; gate pauli(param0) q0,q1,q2 { z q0; y q1; x q2; } gate outer a,b,c { pauli(XYZ) a,b,c; } qreg q[3]; pauli(XYZ) q[0],q[1],q[2]; outer q[2],q[1],q[0];", "z q[0]; y q[1]; x q[2]; z q[2]; y q[1]; x q[0];"},
	{"OPENQASM 2.0; include \"qelib1.inc\"; gate turned(t) a { gphase(t); h a; gphase(0.25) a; } qreg q[2]; turned(0.5) q[1];", "h q[1];"},
	{"OPENQASM 2.0; include \"qelib1.inc\"; qreg in[2]; creg c[2]; gate pow(x) a { rx(x^2/2) a; } opaque o(z) a; if (c==2) pow(3) in[1]; u2(0,1) in;",
		"if (!c0[0] && c0[1]) { rx(4.5e+00) q[1]; } u(1.5707963267948966e+00, 0e+00, 1e+00) q[0]; u(1.5707963267948966e+00, 0e+00, 1e+00) q[1];"},
	{"OPENQASM 2.0; include \"qelib1.inc\"; opaque delay(param0) q0; gate slow a { x a; delay(7) a; } qreg q[2]; h q[0]; delay(100.0) q[0]; slow q[1]; delay(3) q;",
		"h q[0]; barrier q[0]; x q[1]; barrier q[0], q[1];"},
	{"OPENQASM 2.0; include \"qelib1.inc\"; qreg q[2]; opaque delay(param0) q0; delay(100.0) q[0]; opaque delay_139704314733904(param0) q0; delay_139704314733904(5) q[1];",
		"barrier q[0]; barrier q[1];"},
}

// body is what String prints, without declarations and phase, on one line.
func body(p Program) string {
	var kept []string
	for _, line := range strings.Split(p.String(), "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "OPENQASM") && !strings.HasPrefix(line, "qubit") && !strings.HasPrefix(line, "bit") && !strings.HasPrefix(line, "gphase") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, " ")
}

// TestPragmasAreIgnored: the program's meaning is that without them, and it says so.
func TestPragmasAreIgnored(t *testing.T) {
	p, err := Parse([]byte("OPENQASM 3.0;\n\npragma simulator fast\nqubit q;\n#pragma again\nx q;"), testLimits)
	if err != nil || body(p) != "x q[0];" || len(p.Warnings) != 1 || p.Warnings[0] != "pragmas are ignored: there are 2, the first in line 3" {
		t.Errorf("%q, %v, %v", body(p), p.Warnings, err)
	}
}

func TestMeanings(t *testing.T) {
	for _, c := range meanings {
		p, err := Parse([]byte(c.program), testLimits)
		if err != nil {
			t.Errorf("%s\n%v", c.program, err)
			continue
		}
		if got := body(p); got != c.means {
			t.Errorf("%s\nmeans %s\nnot   %s", c.program, got, c.means)
		}
		checkPrinted(t, p)
	}
}

// refusals are programs and what is said of them: line, column, code, words of the message.
var refusals = []struct {
	program      string
	line, column int
	code         Code
	says         string
}{
	{"qubit[2] q;\n x q[-4];", 2, 6, CodeIndex, "no element -4"},
	{"qubit[2] q; x q[2];", 1, 17, CodeIndex, "no element 2"},
	{"qubit[2] q; foo q[0];", 1, 13, CodeUnknownGate, "unknown gate foo"},
	{"qubit[2] q; ccnot q[0];", 1, 13, CodeUnknownGate, "unknown gate ccnot; did you mean ccx?"},
	{"OPENQASM 2.0; qreg q[2]; ctrl @ x q[0], q[1];", 1, 26, CodeUnsupported, "ctrl is a word of OpenQASM 3"},
	{"OPENQASM 2.0; for int i in [0:1] { }", 1, 15, CodeUnsupported, "for is a word of OpenQASM 3"},
	{"OPENQASM 2.0; bit c;", 1, 15, CodeUnsupported, "bit is a word of OpenQASM 3"},
	{"OPENQASM 2.0; qubit q;", 1, 15, CodeUnsupported, "qubit is a word of OpenQASM 3"},
	{"qubit[2] q; rzzz(1) q[0], q[1];", 1, 13, CodeUnknownGate, "did you mean rzz?"},
	{"qubit[2] q; x p;", 1, 15, CodeIndex, "did you mean q?"},
	{"qubit[2] q; rx(thata) q;", 1, 16, CodeMalformed, "thata is not declared"},
	{"qubit[2] q; rx(1e309) q;", 1, 16, CodeAngle, "1e309 is too large"},
	{"qubit[2] q; rx(exp(1000)) q;", 1, 16, CodeAngle, "finite"},
	{"qubit[99999999999999999999] q;", 1, 7, CodeType, "compared with a register"},
	{"qubit[2] q; const int a = 9223372036854775807 + 1;", 1, 47, CodeType, "does not fit int"},
	{"qubit[2] q; const int a = 3037000500 * 3037000500;", 1, 38, CodeType, "does not fit int"},
	{"qubit[2] q; const int[4] a = 8;", 1, 30, CodeType, "8 does not fit int[4]"},
	{"qubit[2] q; const int a = 10 ** 19;", 1, 30, CodeType, "does not fit int"},
	{"qubit q; const int a = 1 << -1;", 1, 26, CodeType, "a shift by -1"},
	{"qubit q; uint[8] v = 300;", 1, 22, CodeType, "300 does not fit uint[8]"},
	{"qubit q; uint v = uint(-1);", 1, 19, CodeType, "-1 does not fit uint"},
	{"qubit q; bit c; uint[4] v = uint[4](1) << int[4](c);", 1, 40, CodeType, "could be negative"},
	{"qubit[2] q; const int a = 1 / 0;", 1, 29, CodeAngle, "zero"},
	{"gate g(t) a { rx(t) a; } qubit q; g(XY) q;", 1, 37, CodeMalformed, "XY is not declared"},
	{"gate g(t) a { x a; } qubit q; g(thata) q;", 1, 33, CodeMalformed, "thata is not declared"},
	{"qubit q; def f() { end; }", 1, 14, CodeUnsupported, "f contains end"},
	{"qubit q; def f() -> int { } int a = f();", 1, 14, CodeMalformed, "f ends without return"},
	{"qubit q; def f() { return 1; } f();", 1, 27, CodeType, "without a type to return"},
	{"qubit q; def f() -> int { return; } f();", 1, 27, CodeType, "has to return a value of type int"},
	{"qubit q; def f() { } int a = f();", 1, 30, CodeType, "f returns nothing"},
	{"qubit q; int n = 1; def f() { rx(n) q; } f();", 1, 34, CodeMalformed, "n is not declared in this subroutine"},
	{"qubit q; def f() { x q; } f();", 1, 22, CodeIndex, "q is not a declared qubit in this subroutine"},
	{"qubit q; def f(qubit a) { } f();", 1, 29, CodeParameters, "takes 1 argument, not 0"},
	{"qubit[3] q; def f(qubit[2] a) { } f(q);", 1, 37, CodeTargets, "takes 2 qubits, not 3"},
	{"qubit q; def f(qubit a, qubit b) { } f(q, q);", 1, 38, CodeRepeatedQubit, "named twice"},
	{"qubit q; def f(int a) { } f(0.5);", 1, 29, CodeType, "float is not int"},
	{"qubit q; def f(qubit a) { f(a); } f(q);", 1, 27, CodeTooMany, "more than 64 deep"},
	{"qubit q; def f(qubit a) { x a; } gate g a { f a; }", 1, 45, CodeMalformed, "cannot call the subroutine"},
	{"qubit q; def f(qubit a) { x a; } inv @ f(q);", 1, 40, CodeType, "no modifiers"},
	{"qubit q; bit b; def f(qubit a) -> bit { return measure a; } if (b && f(q)) { x q; }", 1, 70, CodeUnsupported, "on the right of &&"},
	{"qubit[2] q; def f(qubit a) -> bit { return measure a; } x q[uint[1](f(q[0]))];", 1, 61, CodeUnsupported, "inside an index"},
	{"qubit q; return;", 1, 10, CodeMalformed, "belongs into a subroutine"},
	{"qubit q; { def f() { } }", 1, 16, CodeMalformed, "outside blocks"},
	{"qubit q; def f(array[int, 2] a) { }", 1, 16, CodeMalformed, "readonly or mutable"},
	{"qubit q; array[int[8], 2] a; def f(readonly array[int[8], 2] v) { v[0] = 1; } f(a);", 1, 68, CodeMalformed, "v is readonly here"},
	{"qubit q; bit b; array[int[8], 2] a = {1, 2}; def f(mutable array[int[8], 2] v) { v[0] = 2; } if (b) { f(a); }", 1, 83, CodeUnsupported, "changes an array"},
	{"qubit q; array[bit, 2] a;", 1, 16, CodeUnsupported, "not bit"},
	{"qubit q; array[int, 2] a = {1, 2, 3};", 1, 28, CodeType, "3 values in braces"},
	{"qubit q; array[int, 2] a = {1, 2}; array[int, 3] d = a;", 1, 54, CodeType, "sizes [2]"},
	{"qubit q; array[int, 2] a = {1, 2}; rx(a[2]) q;", 1, 41, CodeIndex, "no element 2"},
	{"qubit q; array[int, 2] a = {1, 2}; rx(a) q;", 1, 39, CodeType, "a is an array"},
	{"qubit q; array[int, 9999, 9999] a;", 1, 10, CodeTooLarge, "more than 10000 elements"},
	{"qubit q; extern f(int) -> int;", 1, 10, CodeUnsupported, "extern f: a function outside the program"},
	{"qubit q; defcal x $0 { }", 1, 10, CodeUnsupported, "defcal"},
	{"qubit q; cal { }", 1, 10, CodeUnsupported, "cal"},
	{"qubit q; output int a;", 1, 17, CodeUnsupported, "only bits are part of the result"},
	{"qubit[2] q; for qubit[2] z in q { }", 1, 17, CodeType, "one at a time"},
	{"qubit q; for qubit z in z { }", 1, 25, CodeIndex, "z is not a declared qubit"},
	{"gate g a, b { for qubit z in a { x z; } } qubit q;", 1, 15, CodeMalformed, "single ones"},
	{"qubit q; if (measure q) { }", 1, 1, CodeUnsupported, "declares no bit"},
	{"qubit q; bit[65] c; c = 36893488147419103232;", 1, 25, CodeType, "66 bits does not fit bit[65]"},
	{"qubit q; uint v = 18446744073709551616;", 1, 19, CodeType, "65 bits is not uint"},
	{"qubit q; int v = 9223372036854775808;", 1, 18, CodeType, "64 bits is not int"},
	{"qubit q; float v = 9223372036854775808;", 1, 20, CodeType, "64 bits is not float"},
	{"qubit q; bit[70] c; c = 18446744073709551616 + 1;", 1, 46, CodeType, "compared with a register"},
	{"qubit q; rx(-18446744073709551616) q;", 1, 13, CodeType, "compared with a register"},
	{"qubit q; rx(18446744073709551616) q;", 1, 13, CodeType, "compared with a register"},
	{"qubit q; input angle a;", 1, 22, CodeMissing, "the input a has no value"},
	{"qubit q; duration d = 10;", 1, 23, CodeType, "int is not duration"},
	{"qubit q; float f = 10ns / 5ns;", 1, 25, CodeUnsupported, "quotient of two durations"},
	{"qubit q; if (10ns == 5ns) { }", 1, 19, CodeUnsupported, "durations cannot be compared"},
	{"qubit q; delay[3] q;", 1, 16, CodeType, "expected a duration"},
	{"qubit q; rx(10ns) q;", 1, 13, CodeType, "a value of type duration"},
	{"qubit q; include \"mine.inc\";", 1, 18, CodeUnsupported, "mine.inc"},
	{"OPENQASM 2.0; qreg q[1]; opaque magic a; magic q[0];", 1, 42, CodeUnsupported, "opaque"},
	{"OPENQASM 2.0; qreg q[1]; opaque delay(t) a; delay(1+) q[0];", 1, 53, CodeMalformed, "expected"},
	{"OPENQASM 2.0; qreg q[1]; opaque delay(t, u) a; delay(1, 2) q[0];", 1, 48, CodeUnsupported, "delay is opaque"},
	{"OPENQASM 2.0; qreg q[1]; opaque delay_x(t) a; delay_x(1) q[0];", 1, 47, CodeUnsupported, "delay_x is opaque"},
	{"OPENQASM 2.0; gate initialize(a, b) q { reset q; }", 1, 41, CodeMalformed, "transpile(circuit"},
	{"OPENQASM 3.0; qubit q; state_preparation(0.6, 0.1+0.8j) q;", 1, 51, CodeUnsupported, "0.8j is no number of OpenQASM"},
	{"OPENQASM 4.0;", 1, 10, CodeUnsupported, "version 4.0"},
	{"qubit q; x q", 1, 13, CodeMalformed, `expected ";", found the end`},
	{"qubit q; x q; }", 1, 15, CodeMalformed, "cannot start with }"},
	{"qubit q; gate g a { g a; }", 1, 21, CodeMalformed, "calls itself"},
	{"qubit q; gate g a { h a[0]; }", 1, 24, CodeMalformed, "indexed"},
	{"qubit q; gate g a { h q; }", 1, 23, CodeIndex, "not a qubit of the gate"},
	{"qubit q; gate g a { reset a; }", 1, 21, CodeMalformed, "reset"},
	{"qubit q; gate U a { h a; }", 1, 15, CodeMalformed, "part of the language"},
	{"qubit q; gate measure a { h a; }", 1, 15, CodeMalformed, "word of the language"},
	{"qubit[3] q; cx q[0:1], q;", 1, 24, CodeTargets, "2 and 3"},
	{"qubit[3] q; cx q[1], q[1];", 1, 13, CodeRepeatedQubit, "q[1] is named twice"},
	{"qubit[3] q; ctrl @ cx q[1], q[0], q[1];", 1, 20, CodeRepeatedQubit, "q[1] is named twice"},
	{"qubit[3] q; ctrl(0) @ x q[1];", 1, 13, CodeControls, "1 to 8 controls"},
	{"qubit[3] q; rx q[0];", 1, 13, CodeParameters, "takes 1 parameter, not 0"},
	{"qubit[3] q; bit[2] c; c = measure q;", 1, 27, CodeTargets, "3 qubits cannot be measured into 2 bits"},
	{"qubit[3] q; measure q;", 1, 1, CodeUnsupported, "no bit"},
	{"qubit q; bit[6] c; U(uint[6](c), 0, 0) q;", 1, 20, CodeUnsupported, "6 measured bits; at most 5"},
	{"qubit q; bit[2] c; rx(1 / uint[2](c)) q;", 1, 25, CodeUnsupported, "depend on a measurement"},
	{"qubit q; bit[2] c; rx(uint[2](c) / 0.0) q;", 1, 34, CodeAngle, "not a finite number"},
	{"qubit[2] q; bit c; x q[0.5 * bool(c)];", 1, 28, CodeType, "an index is an integer"},
	{"qubit[2] q; bit c; let a = q[c];", 1, 30, CodeUnsupported, "depends on a measurement"},
	{"qubit q; bit[2] c; for int i in [0:uint[2](c)] x q;", 1, 36, CodeUnsupported, "depends on a measurement"},
	{"qubit q; bit c; float f = 1; if (c) { f = 2; }", 1, 30, CodeUnsupported, "float cannot depend on a measurement"},
	{"qubit q; const int a = 1; a = 2;", 1, 27, CodeMalformed, "const"},
	{"qubit q; break;", 1, 10, CodeMalformed, "loop"},
	{"qubit q; int q;", 1, 14, CodeMalformed, "declared twice"},
	{"qubit q; { qubit p; }", 1, 18, CodeMalformed, "outside blocks"},
	{"qubit q; switch (1) { case 1 { } case 1 { } }", 1, 39, CodeMalformed, "label 1"},
	{"qubit q; pow(1e10) @ h q;", 1, 22, CodeAngle, "exponent"},
	{"qubit[5] q; gate g a, b, c, d, e { h a; h b; } pow(0.5) @ g q[0], q[1], q[2], q[3], q[4];", 1, 59, CodeUnsupported, "at most 4 qubits"},
	{"qubit q; h q; \xff", 1, 1, CodeMalformed, "UTF-8"},
	{"qubit q; h q; ☃", 1, 15, CodeMalformed, "'☃'"},
	{"qubit q; \t h § q;", 1, 14, CodeMalformed, "'§'"},
	{"qubit q; /* never", 1, 10, CodeMalformed, "comment"},
	{"qubit q; rx(" + strings.Repeat("(", 2000) + "1", 1, 113, CodeMalformed, "nested deeper"},
	{"qubit q; " + strings.Repeat("{", 2000), 1, 110, CodeMalformed, "nested deeper"},
	{"", 1, 1, CodeMissing, "no qubits"},
	{strings.Repeat("x", 1<<16+1), 1, 1, CodeTooLarge, "65537 bytes"},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		_, err := Parse([]byte(c.program), testLimits)
		e, ok := err.(*Error) //nolint:errorlint // the type is promised
		if !ok {
			t.Errorf("%.80q: accepted", c.program)
			continue
		}
		if e.Code != c.code || !strings.Contains(e.Message, c.says) || e.Line != c.line || e.Column != c.column {
			t.Errorf("%.80q: %s: %v; want %d:%d %s with %q", c.program, e.Code, e, c.line, c.column, c.code, c.says)
		}
	}
	_, err := Parse([]byte("qubit[2] q;\n\tx q[-4];\n"), testLimits)
	if e, ok := err.(*Error); !ok || e.Excerpt != " x q[-4];\n     ^" { //nolint:errorlint // the type is promised
		t.Errorf("%#v", err)
	}
}

// TestBombs are short programs that would come to very many operations, steps or bits.
func TestBombs(t *testing.T) {
	doubling := func(leaf string) string {
		var b strings.Builder
		b.WriteString("gate g0 a { " + leaf + " }\n")
		for i := 1; i <= 60; i++ {
			b.WriteString("gate g" + itoa(i) + " a { g" + itoa(i-1) + " a; g" + itoa(i-1) + " a; }\n")
		}
		return b.String() + "qubit q; "
	}
	for name, c := range map[string]struct {
		program string
		code    Code
	}{
		"doubling gates":          {doubling("h a;") + "g60 q;", CodeTooMany},
		"doubling nothing":        {doubling("") + "g60 q;", CodeTooMany},
		"doubling inverses":       {doubling("h a;") + "inv @ g60 q;", CodeTooMany},
		"power of doubling":       {doubling("h a;") + "pow(0.5) @ g60 q;", CodeTooMany},
		"power":                   {"gate g a, b, c, d, e { h a; } qubit[5] q; pow(1000000000) @ g q[0], q[1], q[2], q[3], q[4];", CodeTooMany},
		"powers of powers":        {"gate g a, b, c, d, e { h a; } qubit[5] q; pow(100000) @ pow(100000) @ g q[0], q[1], q[2], q[3], q[4];", CodeAngle},
		"loop":                    {"qubit q; for int i in [0:1000000000000] { }", CodeTooMany},
		"nested loops":            {"qubit q; for int i in [0:9999] { for int j in [0:9999] { } }", CodeTooMany},
		"endless loop":            {"qubit q; while (true) { }", CodeTooMany},
		"loop in a gate":          {"gate g a { for int i in [0:99999] { for int j in [0:99999] { } } } qubit q; g q;", CodeTooMany},
		"broadcast in a loop":     {"qubit[8] q; for int i in [0:2000] h q;", CodeTooMany},
		"range":                   {"qubit q; for int i in [-9223372036854775807:9223372036854775807] { }", CodeTooMany},
		"long products":           {"qubit q; bit[64] c; uint[64] a = c; a = a * a * a * a;", CodeTooLarge},
		"bits":                    {"bit[1000] a; bit[1] b;", CodeUnsupported},
		"joined registers":        {"qubit[8] q; let a = q ++ q;", CodeRepeatedQubit},
		"statements":              {strings.Repeat(";", 60000) + "qubit[9] q;", CodeQubits},
		"deep definition":         {"qubit q; gate g(x) a { rx(" + strings.Repeat("x+", 12000) + "x) a; }", CodeTooLarge},
		"matrix of many qubits":   {"qubit[5] q; pow(0.5) @ rc3x q[0], q[1], q[2], q[3]; gate g a, b, c, d, e { h a; h b; } pow(0.5) @ g q[0], q[1], q[2], q[3], q[4];", CodeUnsupported},
		"doubling subroutines":    {"def f(int n) { if (n > 0) { f(n - 1); f(n - 1); } } qubit q; f(60);", CodeTooMany},
		"variables without value": {"qubit q; while (true) { int a; int b = a; }" + strings.Repeat("\n", 900_000), CodeTooMany},
		"copied arrays":           {"qubit q; array[int[8], 10000] a; array[int[8], 10000] d; while (true) { d = a; }", CodeTooMany},
		"chosen elements":         {"qubit q; bit[14] c; array[int[8], 10000] a; while (true) { int[8] i = a[c]; }", CodeTooLarge},
		"sum of running numbers":  {"qubit q; bit[64] c; uint[64] a = c; for int i in [0:9999] { a = a + a; }", CodeTooLarge},
	} {
		_, err := Parse([]byte(c.program), Limits{Bytes: 1 << 20, Qubits: 8, Operations: 10_000})
		if e, ok := err.(*Error); !ok || e.Code != c.code { //nolint:errorlint // the type is promised
			t.Errorf("%s: %v; want %s", name, err, c.code)
		}
	}
}
