package clients

import (
	"os"
	"path/filepath"
	"testing"

	"reckon/domain/circuit"
	"reckon/test/sweep"
)

// circuits is the folder of what the simulator is compared with.
const circuits = "../../domain/circuit/testdata"

// qiskit makes Qiskit's environment and returns its Python and the folder of its scripts.
func qiskit(t *testing.T) (python, scripts string) {
	t.Helper()
	sweep.Only(t, "Qiskit is 400 MB, and simulates 600 circuits")
	scripts, err := filepath.Abs(circuits)
	if err != nil {
		t.Fatal(err)
	}
	return pythonOf(t, scripts), scripts
}

// compare has a test of the simulator read what a script wrote.
func compare(t *testing.T, scripts, test, flag, path string) {
	t.Helper()
	root := filepath.Join(scripts, "..", "..", "..")
	t.Log(run(t, root, false, nil, "go", "test", "./domain/circuit", "-count=1", "-v", "-run", "^"+test+"$", "-"+flag, path))
}

// TestQiskitPrograms has Qiskit write 400 programs of random circuits, half in each version of OpenQASM, and compares what they mean here
// with what they mean there: at least 99 of 100 are accepted, and each of those agrees to 1e-10.
func TestQiskitPrograms(t *testing.T) {
	t.Parallel()
	python, scripts := qiskit(t)
	programs := filepath.Join(t.TempDir(), "programs.jsonl")
	run(t, t.TempDir(), false, nil, python, "-I", filepath.Join(scripts, "openqasm", "export.py"), "--count", "200", "--seed", "2026", "--to", programs)
	compare(t, scripts, "TestExportedPrograms", "programs", programs)
}

// TestAerNoise has Qiskit Aer simulate 200 random noisy circuits by density matrix: probabilities and expectation values of Pauli products,
// which are the matrix, agree to 1e-10, and the counts of both methods follow from them.
func TestAerNoise(t *testing.T) {
	t.Parallel()
	python, scripts := qiskit(t)
	noisy := filepath.Join(t.TempDir(), "noisy.jsonl")
	run(t, t.TempDir(), false, nil, python, "-I", filepath.Join(scripts, "noise", "export.py"), "200", "2026", noisy)
	compare(t, scripts, "TestNoiseAgreesWithAer", "noisy", noisy)
}

// TestStateForNumPy: numpy.load reads the file of a state vector as what Qiskit computes of the same circuit, with a matrix and a state
// of its own.
func TestStateForNumPy(t *testing.T) {
	t.Parallel()
	python, _ := qiskit(t)
	parsed, err := circuit.Parse([]byte(`{"qubits":4,"gates":[{"gate":"h","target":1},{"gate":"initialize","targets":[3,0],"state":[[0.48,0],[0,-0.6],[0,0],[0.64,0]]},
		{"gate":"unitary","targets":[2,1],"control":3,"matrix":[[[0,0],[0,1],[0,0],[0,0]],[[0.6,0],[0,0],[0.8,0],[0,0]],[[0.8,0],[0,0],[-0.6,0],[0,0]],[[0,0],[0,0],[0,0],[1,0]]]}]}`),
		circuit.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state.npy")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := circuit.Run(t.Context(), parsed, circuit.Options{NPY: file}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, t.TempDir(), false, nil, python, "-I", "-c", `
import sys, numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit.library import UnitaryGate
from qiskit.quantum_info import Statevector
c = QuantumCircuit(4)
c.h(1)
c.prepare_state([0.48, -0.6j, 0, 0.64], [3, 0])
c.append(UnitaryGate([[0, 1j, 0, 0], [0.6, 0, 0.8, 0], [0.8, 0, -0.6, 0], [0, 0, 0, 1]]).control(1), [3, 2, 1])
got, want = np.load(sys.argv[1]), Statevector(c).data
assert got.dtype == np.complex128 and got.shape == (16,), (got.dtype, got.shape)
assert np.abs(got - want).max() < 1e-12, (got, want)
`, path)
}
