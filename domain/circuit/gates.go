package circuit

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// kind is the effect of an instruction on its targets, controls aside.
type kind uint8

const (
	kindID kind = iota
	kindX
	kindY
	kindZ
	kindH
	kindS
	kindSdg
	kindT
	kindTdg
	kindSX
	kindSXdg
	kindRX
	kindRY
	kindRZ
	kindP
	kindU
	kindSwap
	kindISwap
	kindRXX
	kindRYY
	kindRZZ
	kindR
	kindRZX
	kindECR
	kindDCX
	kindXXPlusYY
	kindFSim
	kindRCCX
	kindUnitary
	kindMeasure
	kindReset
	kindBarrier
	kindIf
	kindWhile
	kindAssign
	kindInitialize
	kindChannel
)

// anyControls marks a gate that takes one control or more.
const anyControls = -1

// gateSpec is the shape of a gate name: what it does and how many qubits and angles it takes.
type gateSpec struct {
	name     string
	kind     kind
	targets  int
	controls int // exact, or anyControls; a unitary gate without controls of its own accepts extra ones
	params   int
}

// gateSpecs lists every gate; names follow OpenQASM 3's stdgates and Qiskit.
var gateSpecs = []gateSpec{
	{"id", kindID, 1, 0, 0}, {"x", kindX, 1, 0, 0}, {"y", kindY, 1, 0, 0}, {"z", kindZ, 1, 0, 0},
	{"h", kindH, 1, 0, 0}, {"s", kindS, 1, 0, 0}, {"sdg", kindSdg, 1, 0, 0}, {"t", kindT, 1, 0, 0},
	{"tdg", kindTdg, 1, 0, 0}, {"sx", kindSX, 1, 0, 0}, {"sxdg", kindSXdg, 1, 0, 0},
	{"rx", kindRX, 1, 0, 1}, {"ry", kindRY, 1, 0, 1}, {"rz", kindRZ, 1, 0, 1}, {"p", kindP, 1, 0, 1},
	{"u", kindU, 1, 0, 3}, {"u2", kindU, 1, 0, 2}, {"cu", kindU, 1, 1, 4}, {"cu3", kindU, 1, 1, 3},
	{"cx", kindX, 1, 1, 0}, {"cy", kindY, 1, 1, 0}, {"cz", kindZ, 1, 1, 0}, {"ch", kindH, 1, 1, 0},
	{"cs", kindS, 1, 1, 0}, {"csdg", kindSdg, 1, 1, 0}, {"csx", kindSX, 1, 1, 0},
	{"cp", kindP, 1, 1, 1}, {"crx", kindRX, 1, 1, 1}, {"cry", kindRY, 1, 1, 1}, {"crz", kindRZ, 1, 1, 1},
	{"swap", kindSwap, 2, 0, 0}, {"iswap", kindISwap, 2, 0, 0},
	{"rxx", kindRXX, 2, 0, 1}, {"ryy", kindRYY, 2, 0, 1}, {"rzz", kindRZZ, 2, 0, 1},
	{"r", kindR, 1, 0, 2}, {"rzx", kindRZX, 2, 0, 1}, {"ecr", kindECR, 2, 0, 0}, {"dcx", kindDCX, 2, 0, 0},
	{"xx_plus_yy", kindXXPlusYY, 2, 0, 2}, {"fsim", kindFSim, 2, 0, 2}, {"rccx", kindRCCX, 3, 0, 0},
	{"ccx", kindX, 1, 2, 0}, {"ccz", kindZ, 1, 2, 0}, {"cswap", kindSwap, 2, 1, 0},
	{"c3x", kindX, 1, 3, 0}, {"c3sx", kindSX, 1, 3, 0}, {"c4x", kindX, 1, 4, 0},
	{"mcx", kindX, 1, anyControls, 0}, {"mcz", kindZ, 1, anyControls, 0},
	{"measure", kindMeasure, 1, 0, 0}, {"reset", kindReset, 1, 0, 0}, {"barrier", kindBarrier, 1, 0, 0},
	{"unitary", kindUnitary, 1, 0, 0}, {"initialize", kindInitialize, 1, 0, 0}, // newUnitary and newInitialize check their targets
}

var gateAliases = map[string]string{
	"cnot": "cx", "toffoli": "ccx", "ccnot": "ccx", "si": "sdg", "ti": "tdg", "v": "sx", "vi": "sxdg",
	"phase": "p", "u1": "p", "not": "x", "u3": "u", "cphase": "cp", "cu1": "cp",
}

// countedNames are the instructions that gate_counts has under another name, as Qiskit's count_ops does.
var countedNames = map[string]string{"c3x": "mcx", "c4x": "mcx", "if": "if_else", "while": "while_loop", "switch": "switch_case"}

var specByName = func() map[string]gateSpec {
	byName := make(map[string]gateSpec, len(gateSpecs)+len(gateAliases))
	for _, spec := range gateSpecs {
		byName[spec.name] = spec
	}
	for alias, name := range gateAliases {
		byName[alias] = byName[name]
	}
	return byName
}()

// noiseNames are words for noise that this interface has under other names or not at all; they are refused as noise rather than
// as unknown words.
var noiseNames = map[string]bool{
	"noise": true, "noise_model": true, "noisemodel": true, "depolarize": true, "depolarizing_error": true,
	"depolarize1": true, "depolarize2": true, "generalized_amplitude_damping": true, "bitflip": true, "phaseflip": true,
	"thermal_relaxation": true, "pauli_error": true, "readout_error": true, "x_error": true, "y_error": true, "z_error": true,
	"error": true, "error_rate": true, "error_rates": true, "decoherence": true,
}

// insteadOf says what to use in place of noise that is not simulated.
func insteadOf(written string) string {
	switch lower := strings.ToLower(written); {
	case strings.Contains(lower, "thermal"):
		return "give its amplitude_damping, gamma 1 − e^(−t/T1), and then phase_damping, gamma 1 − e^(t/T1 − 2t/T2)"
	case lower == "depolarize1":
		return "write depolarizing with the same p and one target"
	case lower == "depolarize2":
		return "write depolarizing with the same p and two targets"
	case lower == "x_error", lower == "bitflip":
		return "write bit_flip with the same p"
	case lower == "z_error", lower == "phaseflip":
		return "write phase_flip with the same p"
	case lower == "y_error":
		return "write bit_phase_flip with the same p"
	case lower == "readout_error":
		return "write noise.readout, the probabilities of each reading"
	}
	return "those are " + channelNames()
}

func isNoise(name string) bool { return noiseNames[strings.ToLower(name)] }

func (k kind) isUnitary() bool { return k < kindMeasure }

func unknownGate(index int, written string) error {
	if isNoise(written) {
		return refuseGate(CodeNoise, index, written, "not a channel that is simulated; %s", insteadOf(written))
	}
	if advice := insteadOfGate(strings.ToLower(written)); advice != "" {
		return refuseGate(CodeUnknownGate, index, written, "unknown gate; %s", advice)
	}
	words := gateWords()
	for _, spec := range channelSpecs {
		words = append(words, spec.name)
	}
	return refuseGate(CodeUnknownGate, index, written, "unknown gate%s", closest(written, words))
}

// elsewhere says what to write in place of instructions that circuits of Qiskit have and entries of gates have not.
var elsewhere = func() map[string]string {
	const (
		defined = "openqasm takes its definition, unitary its matrix if it is of one or two qubits"
		asked   = "it is asked for with the circuit's own fields: statevector, npy, marginals, observables"
	)
	advice := map[string]string{
		"for_loop": "write the entries of every round out, or send the circuit as openqasm", "store": "openqasm computes with classical bits",
		"box": "write out what is in it", "delay": "leave it out, since waiting does nothing here; noise of waiting qubits goes with id",
	}
	for text, names := range map[string][]string{
		`an entry {"if": CONDITION, "then": […], "else": […]} decides by what was measured`: {"if", "if_else"},
		`an entry {"while": CONDITION, "do": […]} repeats by what was measured`:             {"while", "while_loop"},
		`an entry {"if": CONDITION, …} inside the else of another does the same`:            {"switch", "switch_case"},
		"a loop that ends early is one of openqasm":                                         {"break_loop", "continue_loop"},
		"leave it out, since nothing measures a global phase; openqasm has gphase":          {"gphase", "global_phase"},
		"initialize gives qubits a state":                                                   {"prepare_state", "state_preparation", "set_statevector"},
		defined:                                                                             {"xx_minus_yy", "rcccx", "pauli", "diagonal", "isometry", "permutation", "qft", "iqft", "gms", "peres"},
		asked:                                                                               {"save_state", "save_statevector", "save_density_matrix", "save_expectation_value", "save_probabilities", "snapshot"},
	} {
		for _, name := range names {
			advice[name] = text
		}
	}
	return advice
}()

// insteadOfGate says what to write in place of a known instruction that is no gate here; empty where nothing is known.
func insteadOfGate(lower string) string {
	if advice := elsewhere[lower]; advice != "" {
		return advice
	}
	if spec, ok := controlledSpec(lower); ok {
		return "it is " + spec.name + " with its controls in control or controls"
	}
	return ""
}

// controlledSpec finds the gate of a name that has letters for controls before it, like ccy and mcphase.
func controlledSpec(lower string) (gateSpec, bool) {
	rest := strings.TrimPrefix(lower, "m")
	for {
		shorter, found := strings.CutPrefix(rest, "c")
		if !found {
			return gateSpec{}, false
		}
		rest = shorter
		if spec, ok := specByName[rest]; ok && spec.controls == 0 && spec.kind.isUnitary() {
			return spec, true
		}
	}
}

// newGate checks an instruction's shape and qubits. index names it in refusals; slots may be nil for measurements,
// which then write the slot of their qubit's number.
func newGate(index int, written string, targets, controls []int, params []float64, slots []int, qubits int) (gate, error) {
	spec, ok := specByName[strings.ToLower(written)]
	if !ok {
		return gate{}, unknownGate(index, written)
	}
	name := spec.name
	switch {
	case spec.kind == kindBarrier && len(targets) == 0:
		targets = allQubits(qubits)
	case !spec.kind.isUnitary() && len(targets) > 0:
	case len(targets) == 0:
		return gate{}, refuseGate(CodeMissingField, index, name, "target is required")
	case len(targets) != spec.targets:
		return gate{}, refuseGate(CodeTargets, index, name, "takes %d target%s, not %d", spec.targets, plural(spec.targets), len(targets))
	}
	switch {
	case spec.controls == anyControls && len(controls) == 0:
		return gate{}, refuseGate(CodeMissingField, index, name, "controls are required")
	case spec.controls == anyControls:
	case spec.controls == 0 && spec.kind.isUnitary():
		name = controlledName(name, len(controls))
	case spec.controls > 0 && len(controls) == 0:
		return gate{}, refuseGate(CodeMissingField, index, name, "control is required")
	case len(controls) != spec.controls:
		return gate{}, refuseGate(CodeControls, index, name, "takes %d control%s, not %d", spec.controls, plural(spec.controls), len(controls))
	}
	if len(params) != spec.params {
		if len(params) == 0 {
			field := "angle is"
			if spec.params > 1 {
				field = "params" + angleList(spec.angleNames()) + " are"
			}
			return gate{}, refuseGate(CodeMissingField, index, name, "%s required", field)
		}
		return gate{}, refuseGate(CodeParameters, index, name, "takes %d angle%s, not %d", spec.params, plural(spec.params), len(params))
	}
	if err := checkQubits(index, name, targets, controls, qubits); err != nil {
		return gate{}, err
	}
	if spec.kind == kindMeasure && slots == nil {
		slots = targets
	}
	if spec.name == "u2" {
		params = []float64{math.Pi / 2, params[0], params[1]}
	}
	if counted, ok := countedNames[name]; ok {
		name = counted
	}
	return gate{name: name, kind: spec.kind, targets: targets, controls: controls, params: params, slots: slots}, nil
}

// angleList names angles in parentheses.
func angleList(names []string) string {
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func checkQubits(index int, name string, targets, controls []int, qubits int) error {
	seen := make(map[int]bool, len(targets)+len(controls))
	for i, q := range append(targets[:len(targets):len(targets)], controls...) {
		role := "target"
		if i >= len(targets) {
			role = "control"
		}
		if q < 0 || q >= qubits {
			return refuseGate(CodeQubitRange, index, name, "%s %d is not a qubit of this circuit (0 to %d)", role, q, qubits-1)
		}
		if seen[q] {
			return refuseGate(CodeRepeatedQubit, index, name, "qubit %d is named twice", q)
		}
		seen[q] = true
	}
	return nil
}

// controlledName is the name a gate is counted under once controls are added.
func controlledName(name string, controls int) string {
	switch controls {
	case 0:
		return name
	case 1:
		return "c" + name
	case 2:
		return "cc" + name
	}
	return "mc" + name
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// angleNames are the fields that may give the angles of u and its relatives one by one, in order; nil for other gates.
func (s gateSpec) angleNames() []string {
	all := []string{"theta", "phi", "lambda", "gamma"}
	switch {
	case s.kind != kindU:
		return nil
	case s.params == 2:
		return all[1:3]
	}
	return all[:s.params]
}

// gateWords are the names of gates, then their aliases.
func gateWords() []string {
	var words []string
	for _, spec := range gateSpecs {
		words = append(words, spec.name)
	}
	return append(words, slices.Sorted(maps.Keys(gateAliases))...)
}

// spoken are gates as people call them.
var spoken = map[string]string{
	"hadamard": "h", "pauli_x": "x", "pauli_y": "y", "pauli_z": "z", "paulix": "x", "pauliy": "y", "pauliz": "z", "identity": "id", "fredkin": "cswap", "controlled_not": "cx",
}

// closest names the word that an unknown name probably means, or nothing.
func closest(written string, names []string) string {
	const most = 2 // changes of a letter
	written = strings.ToLower(written)
	if len(written) > 20 { // longer than any name
		return ""
	}
	if name := spoken[written]; name != "" && slices.Contains(names, name) {
		return "; did you mean " + name + "?"
	}
	best, distance := "", most+1
	for _, name := range names {
		if d := editDistance(written, name); d < distance && d < max(len(written), len(name)) {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance counts the bytes to insert, delete, replace or exchange with their neighbour to turn a into b (optimal
// string alignment).
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
