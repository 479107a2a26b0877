package circuit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"strings"
	"testing"
)

// dense is a state of which every test step is plain: amplitude i belongs to the basis state whose bit q is qubit q.
type dense []complex128

func newDense(qubits int) dense {
	d := make(dense, 1<<qubits)
	d[0] = 1
	return d
}

// apply multiplies by a matrix on targets, the first the lowest bit of its index, where all controls are 1.
func (d dense) apply(matrix [][]complex128, targets, controls []int) dense {
	out := make(dense, len(d))
	for i, a := range d {
		column, active := 0, true
		for _, q := range controls {
			active = active && i>>q&1 == 1
		}
		if !active {
			out[i] += a
			continue
		}
		rest := i
		for bit, q := range targets {
			column |= i >> q & 1 << bit
			rest &^= 1 << q
		}
		for row := range matrix {
			to := rest
			for bit, q := range targets {
				to |= row >> bit & 1 << q
			}
			out[to] += matrix[row][column] * a
		}
	}
	return out
}

func (d dense) pairs() [][2]float64 {
	out := make([][2]float64, len(d))
	for i, a := range d {
		out[i] = [2]float64{real(a), imag(a)}
	}
	return out
}

// randomUnitary orthonormalises random columns.
func randomUnitary(rng *random, dim int) [][]complex128 {
	columns := make([][]complex128, dim)
	for i := range columns {
		columns[i] = randomState(rng, dim)
		for range 2 { // the second time against rounding
			for _, before := range columns[:i] {
				var overlap complex128
				for k := range dim {
					overlap += cmplx.Conj(before[k]) * columns[i][k]
				}
				for k := range dim {
					columns[i][k] -= overlap * before[k]
				}
			}
			normalise(columns[i])
		}
	}
	rows := make([][]complex128, dim)
	for i := range rows {
		rows[i] = make([]complex128, dim)
		for j := range dim {
			rows[i][j] = columns[j][i]
		}
	}
	return rows
}

func randomState(rng *random, dim int) []complex128 {
	out := make([]complex128, dim)
	for i := range out {
		out[i] = complex(rng.float64()-0.5, rng.float64()-0.5)
	}
	normalise(out)
	return out
}

func normalise(v []complex128) {
	sum := 0.0
	for _, a := range v {
		sum += real(a)*real(a) + imag(a)*imag(a)
	}
	for i := range v {
		v[i] /= complex(math.Sqrt(sum), 0)
	}
}

// pairsOf writes complex numbers as JSON has them.
func pairsOf(list []complex128) [][2]float64 { return dense(list).pairs() }

func rowsOf(matrix [][]complex128) (rows [][][2]float64) {
	for _, row := range matrix {
		rows = append(rows, pairsOf(row))
	}
	return rows
}

type object = map[string]any

// parseGates parses a circuit of entries.
func parseGates(t *testing.T, qubits int, more object, gates ...object) Circuit {
	t.Helper()
	circuit := object{"qubits": qubits, "gates": gates, "seed": 1}
	for key, value := range more {
		circuit[key] = value
	}
	text, err := json.Marshal(circuit)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(text, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestUnitary compares circuits of random one- and two-qubit matrices, with and without controls, at the top and inside blocks,
// with their product computed entry by entry.
func TestUnitary(t *testing.T) {
	rng := newRandom(5)
	for _, qubits := range []int{1, 2, 3, 5, 9} {
		want := newDense(qubits)
		var gates []object
		for range 30 {
			n := min(1+int(rng.uint64()%2), qubits)
			order := permute(rng, qubits)
			controls := order[n : n+int(rng.uint64()%uint64(min(qubits-n, 3)+1))]
			matrix := randomUnitary(rng, 1<<n)
			gates = append(gates, object{"gate": "unitary", "targets": order[:n], "controls": controls, "matrix": rowsOf(matrix)})
			want = want.apply(matrix, order[:n], controls)
		}
		got := mustRun(t, parseGates(t, qubits, object{"statevector": true}, gates...), Options{})
		closeStates(t, got.Statevector, want.pairs(), 1e-12)
	}
}

// TestNearlyUnitary: a matrix printed with nine digits is made unitary, so that a thousand of them keep the norm.
func TestNearlyUnitary(t *testing.T) {
	rng := newRandom(6)
	var gates []object
	for range 1000 {
		matrix := randomUnitary(rng, 4)
		for _, row := range matrix {
			for i, a := range row {
				row[i] = complex(math.Round(real(a)*1e9)/1e9, math.Round(imag(a)*1e9)/1e9)
			}
		}
		gates = append(gates, object{"gate": "unitary", "targets": permute(rng, 3)[:2], "matrix": rowsOf(matrix)})
	}
	got := mustRun(t, parseGates(t, 3, object{"statevector": true}, gates...), Options{})
	sum := 0.0
	for _, a := range got.Statevector {
		sum += a[0]*a[0] + a[1]*a[1]
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the squares add up to 1%+g", sum-1)
	}
}

// TestControlsOnEveryGate: with controls added, every unitary gate does what it does without where all of them are 1, and nothing
// elsewhere.
func TestControlsOnEveryGate(t *testing.T) {
	rng := newRandom(7)
	for _, spec := range gateSpecs {
		if !spec.kind.isUnitary() || spec.controls != 0 {
			continue
		}
		entry := object{"gate": spec.name, "targets": allQubits(spec.targets)}
		if spec.kind == kindUnitary {
			entry["targets"], entry["matrix"] = allQubits(2), rowsOf(randomUnitary(rng, 4))
		}
		if spec.params > 0 {
			params := make([]float64, spec.params)
			for i := range params {
				params[i] = 6 * rng.float64()
			}
			entry["params"] = params
		}
		n := len(entry["targets"].([]int))
		matrix := matrixOf(t, n, entry)
		for controls := range 5 {
			qubits := n + controls + 1
			order := permute(rng, qubits)
			start := randomState(rng, 1<<qubits)
			entry["targets"], entry["controls"] = order[:n], order[n:n+controls]
			got := mustRun(t, parseGates(t, qubits, object{"statevector": true},
				object{"gate": "initialize", "targets": allQubits(qubits), "state": pairsOf(start)}, entry), Options{})
			want := dense(start).apply(matrix, order[:n], order[n:n+controls])
			t.Run(fmt.Sprintf("%s with %d", spec.name, controls), func(t *testing.T) { closeStates(t, got.Statevector, want.pairs(), 1e-13) })
		}
	}
}

// matrixOf reads a gate's matrix off its action on the basis states.
func matrixOf(t *testing.T, qubits int, entry object) [][]complex128 {
	dim := 1 << qubits
	out := make([][]complex128, dim)
	for i := range out {
		out[i] = make([]complex128, dim)
	}
	for column := range dim {
		var gates []object
		for q := range qubits {
			if column>>q&1 == 1 {
				gates = append(gates, object{"gate": "x", "target": q})
			}
		}
		got := mustRun(t, parseGates(t, qubits, object{"statevector": true}, append(gates, entry)...), Options{})
		for row, a := range got.Statevector {
			out[row][column] = complex(a[0], a[1])
		}
	}
	return out
}

// TestInitialize: any number of qubits, in any order, some amplitudes zero, gives the state itself, phases included; in both
// precisions and with every kernel that this processor has.
func TestInitialize(t *testing.T) {
	rng := newRandom(8)
	for n := 1; n <= 10; n++ {
		for variant := range 3 {
			state := randomState(rng, 1<<n)
			if variant == 1 {
				for i := range state {
					if rng.uint64()%3 > 0 && i > 0 {
						state[i] = 0
					}
				}
				normalise(state)
			}
			order := permute(rng, n)
			entry := object{"gate": "initialize", "targets": order, "state": pairsOf(state)}
			want := make(dense, 1<<n)
			for i, a := range state {
				to := 0
				for bit, q := range order {
					to |= i >> bit & 1 << q
				}
				want[to] = a
			}
			if variant == 2 {
				got := mustRun(t, parseGates(t, n, object{"statevector": true, "precision": "single"}, entry), Options{})
				closeStates(t, got.Statevector, want.pairs(), 1e-6)
				continue
			}
			c := parseGates(t, n, object{"statevector": true}, entry)
			closeStates(t, mustRun(t, c, Options{}).Statevector, want.pairs(), 1e-14)
			scalar := runWith(t, c, engineSetup[float64]{geometryOf(n, 8), scalarKernels[float64](), 1, fuse, 0, nil, nil})
			closeStates(t, scalar.Statevector, want.pairs(), 1e-14)
		}
	}
}

// TestInitializeWide: the most targets there are, on qubits in the middle of others, so that selectors lie outside a block too.
func TestInitializeWide(t *testing.T) {
	rng := newRandom(9)
	const n = MaxInitializedQubits
	state := randomState(rng, 1<<n)
	targets := permute(rng, 18)[:n]
	circuit := parseGates(t, 18, object{"shots": 1000}, object{"gate": "initialize", "targets": targets, "state": pairsOf(state)},
		object{"gate": "measure", "targets": targets})
	got := mustRun(t, circuit, Options{})
	probabilities := map[string]float64{}
	for i, a := range state {
		bits := make(map[int]int, n)
		for bit, q := range targets {
			bits[q] = i >> bit & 1
		}
		key := ""
		for q := 17; q >= 0; q-- {
			if bit, measured := bits[q]; measured {
				key += fmt.Sprint(bit)
			}
		}
		probabilities[key] = real(a)*real(a) + imag(a)*imag(a)
	}
	if p := chiSquareP(got.Counts, probabilities); p < 1e-6 {
		t.Errorf("counts do not follow the state: p = %g", p)
	}
}

// TestInitializeInside: in the middle of a circuit its qubits are reset first, whatever they are entangled with, and it may stand in
// a block.
func TestInitializeInside(t *testing.T) {
	half := math.Sqrt(0.5)
	plus := [][2]float64{{half, 0}, {half, 0}}
	bell := []object{{"gate": "h", "target": 0}, {"gate": "cx", "control": 0, "target": 1}}
	got := mustRun(t, parseGates(t, 2, nil, append(bell, object{"gate": "initialize", "target": 0, "state": plus})...), Options{})
	compareDistributions(t, got.Probabilities, map[string]float64{"00": 0.25, "01": 0.25, "10": 0.25, "11": 0.25}, 1e-14)
	if got.GateCounts["initialize"] != 1 || got.Depth != 3 {
		t.Errorf("gate counts %v, depth %d", got.GateCounts, got.Depth)
	}
	got = mustRun(t, parseGates(t, 2, nil, append(bell, object{"gate": "measure", "target": 0}, object{
		"if":   object{"measured": 0},
		"then": []object{{"gate": "initialize", "targets": []int{1}, "state": [][2]float64{{0.6, 0}, {0, 0.8}}}},
	}, object{"gate": "measure", "target": 1})...), Options{})
	compareDistributions(t, got.Probabilities, map[string]float64{"00": 0.5, "01": 0.18, "11": 0.32}, 1e-14)
}

func TestMatricesAndStatesRefused(t *testing.T) {
	one := `[[[1,0],[0,0]],[[0,0],[1,0]]]`
	for entry, want := range map[string]Code{
		`{"gate":"unitary","target":0}`:                                                          CodeMissingField,
		`{"gate":"unitary","matrix":` + one + `}`:                                                CodeMissingField,
		`{"gate":"unitary","target":[0,1],"matrix":` + one + `}`:                                 CodeMatrix,
		`{"gate":"unitary","target":[0,1,2],"matrix":` + one + `}`:                               CodeTargets,
		`{"gate":"unitary","target":0,"angle":1,"matrix":` + one + `}`:                           CodeParameters,
		`{"gate":"unitary","target":0,"control":0,"matrix":` + one + `}`:                         CodeRepeatedQubit,
		`{"gate":"unitary","target":0,"matrix":[[[1,0],[0,0]],[[0,0],[1.0000001,0]]]}`:           CodeMatrix,
		`{"gate":"unitary","target":0,"matrix":[[[1e200,0],[0,0]],[[0,0],[1e200,0]]]}`:           CodeMatrix,
		`{"gate":"unitary","target":0,"matrix":[[[1e999,0],[0,0]],[[0,0],[1,0]]]}`:               CodeAngleRange,
		`{"gate":"unitary","target":0,"matrix":[[[1,0]],[[0,0],[1,0]]]}`:                         CodeMatrix,
		`{"gate":"unitary","target":0,"matrix":[[1,0],[0,1]]}`:                                   CodeWrongType,
		`{"gate":"unitary","target":0,"matrix":[[[1],[0,0]],[[0,0],[1,0]]]}`:                     CodeWrongType,
		`{"gate":"unitary","target":0,"matrix":[[[1,0,0],[0,0]],[[0,0],[1,0]]]}`:                 CodeWrongType,
		`{"gate":"unitary","target":0,"matrix":[null,null]}`:                                     CodeWrongType,
		`{"gate":"unitary","target":0,"matrix":"h"}`:                                             CodeWrongType,
		`{"gate":"x","target":0,"matrix":` + one + `}`:                                           CodeUnknownField,
		`{"gate":"x","target":0,"state":[[1,0],[0,0]]}`:                                          CodeUnknownField,
		`{"gate":"initialize","target":0}`:                                                       CodeMissingField,
		`{"gate":"initialize","state":[[1,0],[0,0]]}`:                                            CodeMissingField,
		`{"gate":"initialize","target":0,"control":1,"state":[[1,0],[0,0]]}`:                     CodeControls,
		`{"gate":"initialize","target":0,"state":[[1,0],[0,0],[0,0],[0,0]]}`:                     CodeState,
		`{"gate":"initialize","target":0,"state":[[1,0],[0.001,0]]}`:                             CodeState,
		`{"gate":"initialize","target":0,"state":[[0,0],[0,0]]}`:                                 CodeState,
		`{"gate":"initialize","target":0,"state":[[1e300,0],[0,0]]}`:                             CodeState,
		`{"gate":"initialize","target":9,"state":[[1,0],[0,0]]}`:                                 CodeQubitRange,
		`{"gate":"initialize","targets":[0,0],"state":[[1,0],[0,0],[0,0],[0,0]]}`:                CodeRepeatedQubit,
		`{"gate":"initialize","target":0,"state":[` + strings.Repeat("[0,0],", 5000) + `[1,0]]}`: CodeTooLarge,
	} {
		_, err := Parse([]byte(`{"qubits":3,"gates":[`+entry+`]}`), DefaultLimits())
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("%s: %v, want %s", clipText(entry), err, want)
		}
	}
}
