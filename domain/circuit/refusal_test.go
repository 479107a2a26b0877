package circuit

import (
	"strings"
	"testing"
)

// TestRefusalsNameTheWayOut: what no method, or not the one that was chosen, can run is refused with the limit, the reason and what to do.
func TestRefusalsNameTheWayOut(t *testing.T) {
	const h = `{"gate":"h","target":0}`
	large := Limits{Qubits: 30, CliffordQubits: 1000}
	for text, says := range map[string][]string{
		`{"qubits":60,"gates":[{"gate":"t","target":0}],"noise":{"channels":[{"channel":"depolarizing","p":0.1}]}}`:    {"at most 30 qubits, not 60", "every gate as a Clifford gate"},
		`{"qubits":60,"gates":[` + h + `,{"gate":"amplitude_damping","target":0,"gamma":0.1}]}`:                        {"at most 30 qubits, not 60", "give the noise as Pauli errors"},
		`{"qubits":5,"method":"mps","gates":[` + h + `],"noise":{"channels":[{"channel":"bit_flip","p":0.1}]}}`:        {"keeps one pure state", "Leave the method out"},
		`{"qubits":40,"method":"mps","gates":[{"gate":"mcx","controls":[0,1,2,3,4,5,6],"target":9}]}`:                  {"more than 6 qubits", "as ccx gates", "the method sparse"},
		`{"qubits":11,"method":"density","gates":[` + h + `]}`:                                                         {"it has 11 qubits", "at most 10", "name statevector"},
		`{"qubits":3,"method":"stabilizer","gates":[{"gate":"t","target":0}]}`:                                         {"Clifford gates and Pauli errors only", "statevector (up to 30 qubits), sparse or mps"},
		`{"qubits":3,"gates":[{"gate":"depolarize1","target":0,"p":0.1}]}`:                                             {"write depolarizing with the same p and one target"},
		`{"qubits":3,"gates":[{"gate":"thermal_relaxation","target":0}]}`:                                              {"gamma 1 − e^(−t/T1)", "1 − e^(t/T1 − 2t/T2)"},
		`{"qubits":14,"gates":[{"gate":"initialize","targets":[0,1,2,3,4,5,6,7,8,9,10,11,12],"state":[[1,0],[0,0]]}]}`: {"at most 12 targets, not 13", "the product of several initialize"},
		`{"openqasm":"OPENQASM 2.0; include \"qelib1.inc\"; qreg q[1]; initialize(1,0) q[0];"}`:                        {"as JSON with an entry initialize"},
	} {
		_, err := Parse([]byte(text), large)
		for _, part := range says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%.140s: %v; want %q", text, err, part)
			}
		}
	}
}
