package openqasm

import "sync"

// librarySource defines every built-in gate that is not a primitive, by OpenQASM's own means. It holds the gates of
// stdgates.inc (specification, "Standard library"), of the qelib1.inc that Qiskit ships and of pytket's hqslib1.inc, those of Qiskit and
// Cirq that are in no file (r, rzx, ecr, dcx, xx_plus_yy, fsim), and the gates of two qubits that the simulator has.
const librarySource = `
gate U(theta, phi, lambda) a { gphase(theta/2); u(theta, phi, lambda) a; }
gate phase(lambda) a { p(lambda) a; }
gate u1(lambda) a { p(lambda) a; }
gate u2(phi, lambda) a { gphase(-(phi+lambda)/2); u(pi/2, phi, lambda) a; }
gate u3(theta, phi, lambda) a { gphase(-(phi+lambda)/2); u(theta, phi, lambda) a; }
gate u0(gamma) a { id a; }
gate CX c, a { ctrl @ x c, a; }
gate cx c, a { ctrl @ x c, a; }
gate cy c, a { ctrl @ y c, a; }
gate cz c, a { ctrl @ z c, a; }
gate ch c, a { ctrl @ h c, a; }
gate cs c, a { ctrl @ s c, a; }
gate csdg c, a { ctrl @ sdg c, a; }
gate csx c, a { ctrl @ sx c, a; }
gate cp(lambda) c, a { ctrl @ p(lambda) c, a; }
gate cphase(lambda) c, a { ctrl @ p(lambda) c, a; }
gate cu1(lambda) c, a { ctrl @ p(lambda) c, a; }
gate crx(theta) c, a { ctrl @ rx(theta) c, a; }
gate cry(theta) c, a { ctrl @ ry(theta) c, a; }
gate crz(theta) c, a { ctrl @ rz(theta) c, a; }
gate cu(theta, phi, lambda, gamma) c, a { p(gamma) c; ctrl @ u(theta, phi, lambda) c, a; }
gate cu3(theta, phi, lambda) c, a { ctrl @ u(theta, phi, lambda) c, a; }
gate ccx c, d, a { ctrl(2) @ x c, d, a; }
gate ccz c, d, a { ctrl(2) @ z c, d, a; }
gate c3x c, d, e, a { ctrl(3) @ x c, d, e, a; }
gate c4x c, d, e, f, a { ctrl(4) @ x c, d, e, f, a; }
gate c3sqrtx c, d, e, a { ctrl(3) @ sx c, d, e, a; }
gate swap a, b { cx a, b; cx b, a; cx a, b; }
gate iswap a, b { swap a, b; cz a, b; s a; s b; }
gate rzz(theta) a, b { cx a, b; rz(theta) b; cx a, b; }
gate rxx(theta) a, b { h a; h b; rzz(theta) a, b; h a; h b; }
gate ryy(theta) a, b { sx a; sx b; rzz(theta) a, b; sxdg a; sxdg b; }
gate cswap c, a, b { ctrl @ swap c, a, b; }
gate rccx a, b, c { h c; t c; cx b, c; tdg c; cx a, c; t c; cx b, c; tdg c; h c; }
gate r(theta, phi) a { rz(-phi) a; rx(theta) a; rz(phi) a; }
gate rzx(theta) a, b { h b; rzz(theta) a, b; h b; }
gate ecr a, b { rzx(pi/4) a, b; x a; rzx(-pi/4) a, b; }
gate dcx a, b { cx a, b; cx b, a; }
gate xx_plus_yy(theta, beta) a, b { rz(beta) a; rxx(theta/2) a, b; ryy(theta/2) a, b; rz(-beta) a; }
gate fsim(theta, phi) a, b { rxx(theta) a, b; ryy(theta) a, b; cp(-phi) a, b; }
gate Rz(lambda) a { rz(lambda) a; }
gate U1q(theta, phi) a { r(theta, phi) a; }
gate ZZ a, b { rzz(pi/2) a, b; }
gate RZZ(theta) a, b { rzz(theta) a, b; }
gate Rxxyyzz(alpha, beta, gamma) a, b { rxx(alpha) a, b; ryy(beta) a, b; rzz(gamma) a, b; }
gate rc3x a, b, c, d {
  h d; t d; cx c, d; tdg d; h d; cx a, d; t d; cx b, d; tdg d; cx a, d; t d; cx b, d; tdg d; h d; t d; cx c, d; tdg d; h d;
}
`

// simulated are the gates of two qubits that the simulator runs as they are.
var simulated = []string{"swap", "iswap", "rxx", "ryy", "rzz"}

// rotations are the gates of the library that are exponentials of their one angle.
var rotations = []string{"rxx", "ryy", "rzz", "rzx", "RZZ", "Rz", "phase", "u1", "cp", "cphase", "cu1", "crx", "cry", "crz"}

// loadLibrary is every built-in gate by name.
var loadLibrary = sync.OnceValue(func() map[string]*gate {
	all := make(map[string]*gate, len(primitives))
	for name, g := range primitives {
		all[name] = g
	}
	e := &elaborator{version: 3, limits: Limits{Qubits: maxBits, Operations: maxSteps}, scopes: []scope{{}}, temporary: map[int]bool{}, library: all}
	p := newParser(librarySource)
	p.library = true
	for _, s := range p.program() {
		d := s.(*gateDefinition)
		e.define(d)
		all[d.name] = e.scopes[0][d.name].gate
	}
	for _, name := range simulated {
		all[name].primitive = true
	}
	for _, name := range rotations {
		all[name].additive = true
	}
	return all
})
