package circuit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	gates := func(list string) string { return `{"qubits":3,"gates":[` + list + `]}` }
	cases := []struct {
		name, text string
		code       Code
		says       string
	}{
		{"nothing", ``, CodeMalformed, ""},
		{"null", `null`, CodeWrongType, "object"},
		{"array", `[]`, CodeWrongType, "object"},
		{"cut off", `{"qubits":2`, CodeMalformed, ""},
		{"trailing text", `{"qubits":1,"gates":[]} x`, CodeMalformed, ""},
		{"two objects", `{"qubits":1,"gates":[]}{}`, CodeMalformed, ""},
		{"not UTF-8", "{\"qubits\":1,\"gates\":[],\"\xff\":1}", CodeMalformed, "UTF-8"},
		{"no qubits", `{"gates":[]}`, CodeMissingField, "qubits"},
		{"null qubits", `{"qubits":null,"gates":[]}`, CodeMissingField, "qubits"},
		{"no gates", `{"qubits":1}`, CodeMissingField, "gates"},
		{"null gates", `{"qubits":1,"gates":null}`, CodeMissingField, "gates"},
		{"gates and openqasm", `{"qubits":1,"gates":[],"openqasm":"qubit q;"}`, CodeDuplicateField, "gates and openqasm"},
		{"openqasm is no text", `{"openqasm":["qubit q;"]}`, CodeWrongType, "openqasm must be a string"},
		{"null openqasm", `{"qubits":1,"openqasm":null}`, CodeMissingField, "gates"},
		{"empty openqasm", `{"openqasm":""}`, CodeMissingField, "line 1, column 1"},
		{"wrong openqasm", `{"openqasm":"qubit q;\n foo q;"}`, CodeUnknownGate, "line 2, column 2: unknown gate foo"},
		{"qubits and openqasm differ", `{"qubits":3,"openqasm":"qubit[2] q;"}`, CodeQubitsRange, "qubits is 3, but the program has 2"},
		{"zero qubits", `{"qubits":0,"gates":[]}`, CodeQubitsRange, "0"},
		{"negative qubits", `{"qubits":-3,"gates":[]}`, CodeQubitsRange, "-3"},
		{"21 qubits", `{"qubits":21,"gates":[]}`, CodeQubitsRange, "20"},
		{"huge qubits", `{"qubits":99999999999999999999,"gates":[]}`, CodeQubitsRange, "20"},
		{"fractional qubits", `{"qubits":2.5,"gates":[]}`, CodeWrongType, "2.5"},
		{"text qubits", `{"qubits":"2","gates":[]}`, CodeWrongType, "string"},
		{"boolean qubits", `{"qubits":true,"gates":[]}`, CodeWrongType, "integer"},
		{"negative shots", `{"qubits":1,"shots":-1,"gates":[]}`, CodeShotsRange, "-1"},
		{"too many shots", `{"qubits":1,"shots":100001,"gates":[]}`, CodeShotsRange, "100000"},
		{"fractional shots", `{"qubits":1,"shots":1.5,"gates":[]}`, CodeWrongType, "shots"},
		{"text seed", `{"qubits":1,"seed":"1","gates":[]}`, CodeWrongType, "seed"},
		{"negative seed", `{"qubits":1,"seed":-1,"gates":[]}`, CodeSeedRange, "seed"},
		{"huge seed", `{"qubits":1,"seed":9007199254740992,"gates":[]}`, CodeSeedRange, "9007199254740991"},
		{"unknown field", `{"qubits":1,"gates":[],"depth":3}`, CodeUnknownField, "depth"},
		{"another case", `{"Qubits":1,"gates":[]}`, CodeUnknownField, "Qubits"},
		{"noise model", `{"qubits":1,"gates":[],"noise_model":{"p":0.1}}`, CodeNoise, "noise"},
		{"qubits twice", `{"qubits":1,"qubits":2,"gates":[]}`, CodeDuplicateField, "qubits"},
		{"precision", `{"qubits":1,"precision":"half","gates":[]}`, CodePrecision, "half"},
		{"statevector", `{"qubits":1,"statevector":1,"gates":[]}`, CodeWrongType, "statevector"},
		{"gates is text", `{"qubits":1,"gates":"h"}`, CodeWrongType, "gates"},
		{"gate is text", gates(`"h"`), CodeWrongType, "gate 0"},
		{"gate is null", gates(`null`), CodeWrongType, "gate 0"},
		{"no name", gates(`{"target":0}`), CodeMissingField, "gate is required"},
		{"name is a number", gates(`{"gate":1,"target":0}`), CodeWrongType, "string"},
		{"empty name", gates(`{"gate":"","target":0}`), CodeUnknownGate, ""},
		{"second gate", gates(`{"gate":"h","target":0},{"gate":"hh","target":0}`), CodeUnknownGate, "gate 1 (hh)"},
		{"noisy gate", gates(`{"gate":"thermal_relaxation","target":0}`), CodeNoise, "amplitude_damping"},
		{"noise under another name", gates(`{"gate":"pauli_error","target":0}`), CodeNoise, "depolarizing"},
		{"noisy field", gates(`{"gate":"h","target":0,"error_rate":0.1}`), CodeNoise, "error_rate"},
		{"unknown gate field", gates(`{"gate":"h","target":0,"qubit":1}`), CodeUnknownField, "qubit"},
		{"no target", gates(`{"gate":"h"}`), CodeMissingField, "target"},
		{"null target", gates(`{"gate":"h","target":null}`), CodeMissingField, "target"},
		{"empty targets", gates(`{"gate":"h","targets":[]}`), CodeMissingField, "target"},
		{"target beyond", gates(`{"gate":"h","target":3}`), CodeQubitRange, "3"},
		{"huge target", gates(`{"gate":"h","target":18446744073709551616}`), CodeQubitRange, ""},
		{"fractional target", gates(`{"gate":"h","target":0.5}`), CodeWrongType, "0.5"},
		{"boolean target", gates(`{"gate":"h","target":false}`), CodeWrongType, "integer"},
		{"nested targets", gates(`{"gate":"swap","targets":[[0],1]}`), CodeWrongType, "integer"},
		{"two targets of h", gates(`{"gate":"h","targets":[0,1]}`), CodeTargets, "1 target"},
		{"target and targets", gates(`{"gate":"h","target":0,"targets":[1]}`), CodeDuplicateField, "targets"},
		{"control and controls", gates(`{"gate":"cx","target":0,"control":1,"controls":[2]}`), CodeDuplicateField, "controls"},
		{"no control", gates(`{"gate":"cx","target":0}`), CodeMissingField, "control"},
		{"control is target", gates(`{"gate":"cx","target":1,"control":1}`), CodeRepeatedQubit, "1"},
		{"control beyond", gates(`{"gate":"cx","target":1,"control":7}`), CodeQubitRange, "control 7"},
		{"two controls of cx", gates(`{"gate":"cx","target":0,"controls":[1,2]}`), CodeControls, "1 control"},
		{"one control of ccx", gates(`{"gate":"ccx","target":0,"controls":[1]}`), CodeControls, "2 controls"},
		{"mcx without controls", gates(`{"gate":"mcx","target":0}`), CodeMissingField, "controls"},
		{"two controls of cswap", gates(`{"gate":"cswap","targets":[0,1],"controls":[2,2]}`), CodeControls, "1 control"},
		{"controlled measure", gates(`{"gate":"measure","target":0,"control":2}`), CodeControls, "measure"},
		{"swap with itself", gates(`{"gate":"swap","targets":[1,1]}`), CodeRepeatedQubit, "1"},
		{"swap of three", gates(`{"gate":"swap","targets":[0,1,2]}`), CodeTargets, "2 targets"},
		{"measure twice at once", gates(`{"gate":"measure","targets":[0,0]}`), CodeRepeatedQubit, "0"},
		{"no angle", gates(`{"gate":"rz","target":0}`), CodeMissingField, "angle"},
		{"null angle", gates(`{"gate":"rz","target":0,"angle":null}`), CodeMissingField, "angle"},
		{"infinite angle", gates(`{"gate":"rz","target":0,"angle":1e999}`), CodeAngleRange, "1e999"},
		{"NaN", gates(`{"gate":"rz","target":0,"angle":NaN}`), CodeMalformed, ""},
		{"angle list", gates(`{"gate":"rz","target":0,"angle":[1]}`), CodeWrongType, "angle"},
		{"angle of h", gates(`{"gate":"h","target":0,"angle":1}`), CodeParameters, "0 angles"},
		{"angle and rotation", gates(`{"gate":"rz","target":0,"angle":1,"rotation":1}`), CodeDuplicateField, "rotation"},
		{"u without params", gates(`{"gate":"u","target":0}`), CodeMissingField, "params"},
		{"u with one angle", gates(`{"gate":"u","target":0,"angle":1}`), CodeParameters, "3 angles"},
		{"u with four", gates(`{"gate":"u","target":0,"params":[1,2,3,4]}`), CodeParameters, "3 angles"},
		{"u without phi", gates(`{"gate":"u","target":0,"theta":1,"lambda":2}`), CodeMissingField, "phi"},
		{"theta on rx", gates(`{"gate":"rx","target":0,"theta":1}`), CodeUnknownField, "theta"},
		{"u2 with theta", gates(`{"gate":"u2","target":0,"theta":1,"phi":1,"lambda":1}`), CodeUnknownField, "phi, lambda"},
		{"cu without gamma", gates(`{"gate":"cu","control":1,"target":0,"theta":1,"phi":1,"lambda":1}`), CodeMissingField, "gamma"},
		{"cu without angles", gates(`{"gate":"cu","control":1,"target":0}`), CodeMissingField, "theta, phi, lambda, gamma"},
		{"c3x of two", gates(`{"gate":"c3x","controls":[1,2],"target":0}`), CodeControls, "3 controls"},
		{"a letter wrong", gates(`{"gate":"ccxx","target":0}`), CodeUnknownGate, "did you mean ccx?"},
		{"letters exchanged", gates(`{"gate":"mesaure","target":0}`), CodeUnknownGate, "did you mean measure?"},
		{"a delay", gates(`{"gate":"delay","target":0,"duration":100}`), CodeUnknownGate, "gate 0 (delay): unknown gate; leave it out"},
		{"if as a gate", gates(`{"gate":"if_else","target":0}`), CodeUnknownGate, `an entry {"if": CONDITION, "then": […]`},
		{"if by its name", gates(`{"gate":"If","target":0}`), CodeUnknownGate, `an entry {"if": CONDITION`},
		{"a loop as a gate", gates(`{"gate":"while_loop","target":0}`), CodeUnknownGate, `an entry {"while": CONDITION`},
		{"a switch in a block", gates(`{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"switch_case","target":0}]}`), CodeUnknownGate, "inside the else of another"},
		{"a gate to define", gates(`{"gate":"xx_minus_yy","targets":[0,1]}`), CodeUnknownGate, "unitary its matrix"},
		{"controls in the name", gates(`{"gate":"mcphase","controls":[1,2],"target":0,"angle":1}`), CodeUnknownGate, "it is p with its controls"},
		{"three controls in the name", gates(`{"gate":"cccz","controls":[1,2,3],"target":0}`), CodeUnknownGate, "it is z with its controls"},
		{"nothing alike", gates(`{"gate":"hadamard","target":0}`), CodeUnknownGate, "unknown gate"},
		{"a target beyond 64 bits", gates(`{"gate":"h","target":18446744073709551616}`), CodeQubitRange, "18446744073709551616"},
		{"shots beyond 64 bits", `{"qubits":1,"gates":[],"shots":99999999999999999999}`, CodeShotsRange, "99999999999999999999"},
		{"seed beyond 64 bits", `{"qubits":1,"gates":[],"seed":99999999999999999999}`, CodeSeedRange, "not 99999999999999999999"},
		{"qubits beyond 64 bits", `{"qubits":99999999999999999999,"gates":[]}`, CodeQubitsRange, "99999999999999999999"},
		{"an angle just too large", gates(`{"gate":"rx","target":0,"angle":1e309}`), CodeAngleRange, "1e309 is not a finite double"},
		{"if without then", gates(`{"gate":"measure","target":0},{"if":{"measured":0}}`), CodeMissingField, "gate 1 (if): then"},
		{"if with null then", gates(`{"if":{"measured":0},"then":null}`), CodeMissingField, "then is required"},
		{"then without if", gates(`{"then":[]}`), CodeMissingField, "if or while"},
		{"if and while", gates(`{"if":{"measured":0},"while":{"measured":0},"then":[]}`), CodeDuplicateField, "not both"},
		{"if and gate", gates(`{"gate":"h","if":{"measured":0},"then":[]}`), CodeUnknownField, "if, then and else"},
		{"while with else", gates(`{"while":{"measured":0},"do":[],"else":[]}`), CodeUnknownField, "while, do and rounds"},
		{"rounds", gates(`{"while":{"measured":0},"do":[],"rounds":1001}`), CodeRounds, "1001"},
		{"empty condition", gates(`{"if":{},"then":[]}`), CodeMissingField, "measured"},
		{"condition is a number", gates(`{"if":1,"then":[]}`), CodeWrongType, "condition"},
		{"two conditions", gates(`{"if":{"measured":0,"not":{"measured":1}},"then":[]}`), CodeCondition, "measured and not"},
		{"equals without measured", gates(`{"if":{"equals":0,"not":{"measured":1}},"then":[]}`), CodeCondition, "equals"},
		{"equals too large", gates(`{"if":{"measured":[0,1],"equals":4},"then":[]}`), CodeCondition, "between 0 and 3"},
		{"several without equals", gates(`{"if":{"measured":[0,1]},"then":[]}`), CodeMissingField, "equals"},
		{"no conditions", gates(`{"if":{"any":[]},"then":[]}`), CodeCondition, "any"},
		{"condition beyond", gates(`{"if":{"measured":3},"then":[]}`), CodeQubitRange, "measured 3"},
		{"condition below", gates(`{"if":{"measured":-1},"then":[]}`), CodeQubitRange, "measured -1"},
		{"condition twice", gates(`{"if":{"measured":[0,0],"equals":0},"then":[]}`), CodeRepeatedQubit, "qubit 0"},
		{"never measured", gates(`{"gate":"measure","target":0},{"if":{"measured":1},"then":[]}`), CodeCondition, "nothing measures"},
		{"unknown gate in a block", gates(`{"if":{"measured":0},"then":[{"gate":"h","target":0},{"gate":"warp","target":0}]}`), CodeUnknownGate, "gate 0, then: gate 1 (warp)"},
		{"qubit beyond in a block", gates(`{"if":{"measured":0},"then":[],"else":[{"gate":"h","target":9}]}`), CodeQubitRange, "gate 0, else: gate 0 (h)"},
		{"blocks too deep", gates(strings.Repeat(`{"if":{"measured":0},"then":[`, 17) + strings.Repeat(`]}`, 17)), CodeCondition, "deeper than 16"},
		{"conditions too deep", gates(`{"if":` + strings.Repeat(`{"not":`, 18) + `{"measured":0}` + strings.Repeat(`}`, 18) + `,"then":[]}`), CodeCondition, "deeper than 16"},
		{"observables is an object", `{"qubits":2,"gates":[],"observables":{"ZZ":1}}`, CodeWrongType, "array"},
		{"observable is text", `{"qubits":2,"gates":[],"observables":["ZZ"]}`, CodeWrongType, "observable"},
		{"no terms", `{"qubits":2,"gates":[],"observables":[{"ZZ":1},{}]}`, CodeObservable, "observable 1 has no terms"},
		{"a short term", `{"qubits":2,"gates":[],"observables":[{"Z":1}]}`, CodeObservable, "each of the 2 qubits, not Z"},
		{"another letter", `{"qubits":2,"gates":[],"observables":[{"Zz":1}]}`, CodeObservable, "Zz"},
		{"a term twice", `{"qubits":2,"gates":[],"observables":[{"ZZ":1,"ZZ":2}]}`, CodeDuplicateField, "ZZ"},
		{"text as coefficient", `{"qubits":2,"gates":[],"observables":[{"ZZ":"1"}]}`, CodeWrongType, "ZZ"},
		{"a huge coefficient", `{"qubits":2,"gates":[],"observables":[{"ZZ":1e309}]}`, CodeObservable, "1e309"},
		{"too many observables", `{"qubits":1,"gates":[],"observables":[` + strings.Repeat(`{"Z":1},`, 100) + `{"Z":1}]}`, CodeObservable, "100"},
		{"text in params", gates(`{"gate":"u","target":0,"params":[1,"2",3]}`), CodeWrongType, "params"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.text), Limits{})
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("accepted: %v", err)
			}
			if refusal.Code != c.code || !strings.Contains(refusal.Message, c.says) {
				t.Errorf("%s: %s; want %s with %q", refusal.Code, refusal.Message, c.code, c.says)
			}
			if strings.HasPrefix(refusal.Message, "gate ") != (refusal.Gate >= 0) {
				t.Errorf("gate %d in %q", refusal.Gate, refusal.Message)
			}
		})
	}
}

func TestParseLimits(t *testing.T) {
	code := func(text string, limits Limits) Code {
		_, err := Parse([]byte(text), limits)
		var refusal *Refusal
		if errors.As(err, &refusal) {
			return refusal.Code
		}
		return ""
	}
	many := `{"qubits":1,"gates":[` + strings.Repeat(`{"gate":"h","target":0},`, 10_000) + `{"gate":"h","target":0}]}`
	if got := code(many, Limits{}); got != CodeTooManyGates {
		t.Errorf("10,001 gates: %q", got)
	}
	exact := strings.Replace(many, `{"gate":"h","target":0},`, "", 1)
	if got := code(exact, Limits{}); got != "" {
		t.Errorf("10,000 gates: %q", got)
	}
	if got := code(exact, Limits{Bytes: 100}); got != CodeTooLarge {
		t.Errorf("over the byte limit: %q", got)
	}
	width := func(qubits int, gate string) string {
		return fmt.Sprintf(`{"qubits":%d,"gates":[{"gate":%q,"target":0}]}`, qubits, gate)
	}
	wide := func(gate string) string { return width(64, gate) }
	if got := code(wide("h"), Limits{Qubits: 26}); got != CodeQubitsRange {
		t.Errorf("64 qubits: %q", got)
	}
	if got := code(wide("h"), Limits{Qubits: 26, CliffordQubits: 1000}); got != "" {
		t.Errorf("64 Clifford qubits: %q", got)
	}
	if got := code(wide("t"), Limits{Qubits: 26, CliffordQubits: 1000}); got != "" {
		t.Errorf("64 qubits with a t gate: %q", got)
	}
	if got := code(width(30, "t"), Limits{Qubits: 26, CliffordQubits: 1000}); got != CodeQubitsRange {
		t.Errorf("30 qubits with a t gate, of which a state vector may have 26: %q", got)
	}
	if got := code(`{"qubits":40,"gates":[{"gate":"t","target":0}]}`, Limits{Qubits: 4000}); got != CodeQubitsRange {
		t.Errorf("40 qubits on the state vector: %q", got)
	}
}

// TestSpellings checks that every accepted spelling means the same circuit.
func TestSpellings(t *testing.T) {
	for _, pair := range [][2]string{
		{`{"gate":"CNOT","control":0,"target":1}`, `{"gate":"cx","controls":[0],"targets":[1]}`},
		{`{"gate":"x","control":0,"target":1}`, `{"gate":"cx","control":[0],"target":[1]}`},
		{`{"gate":"x","controls":[0,2],"target":1}`, `{"gate":"toffoli","controls":[2,0],"target":1}`},
		{`{"gate":"ccnot","controls":[0,2],"target":1}`, `{"gate":"mcx","controls":[2,0],"target":1}`},
		{`{"gate":"z","controls":[0,2],"target":1}`, `{"gate":"mcz","controls":[2,1],"target":0}`},
		{`{"gate":"rx","target":1,"rotation":0.3}`, `{"gate":"RX","target":1,"params":[0.3]}`},
		{`{"gate":"rx","target":1,"angle":0.3}`, `{"gate":"rx","target":1,"angles":[3e-1],"control":null}`},
		{`{"gate":"phase","target":1,"angle":0.3}`, `{"gate":"u1","target":1,"angle":0.3}`},
		{`{"gate":"u","target":1,"params":[0.1,0.2,0.3]}`, `{"gate":"U","target":1,"theta":0.1,"phi":0.2,"lambda":0.3}`},
		{`{"gate":"v","target":1}`, `{"gate":"sx","target":1}`},
		{`{"gate":"vi","target":1}`, `{"gate":"sxdg","target":1}`},
		{`{"gate":"si","target":1}`, `{"gate":"sdg","target":1}`},
		{`{"gate":"ti","target":1}`, `{"gate":"tdg","target":1}`},
		{`{"gate":"not","target":1}`, `{"gate":"x","target":1}`},
		{`{"gate":"h","control":0,"target":1}`, `{"gate":"ch","control":0,"target":1}`},
		{`{"gate":"u3","target":1,"params":[0.1,0.2,0.3]}`, `{"gate":"u","target":1,"params":[0.1,0.2,0.3]}`},
		{`{"gate":"u2","target":1,"phi":0.2,"lambda":0.3}`, `{"gate":"u","target":1,"params":[1.5707963267948966,0.2,0.3]}`},
		{`{"gate":"cu1","control":0,"target":1,"angle":0.3}`, `{"gate":"cphase","control":0,"target":1,"angle":0.3}`},
		{`{"gate":"cu3","control":0,"target":1,"params":[0.1,0.2,0.3]}`, `{"gate":"u","control":0,"target":1,"params":[0.1,0.2,0.3]}`},
		{`{"gate":"cu","control":0,"target":1,"theta":0.1,"phi":0.2,"lambda":0.3,"gamma":0.4}`,
			`{"gate":"p","target":0,"angle":0.4},{"gate":"cu3","control":0,"target":1,"params":[0.1,0.2,0.3]}`},
		{`{"gate":"cs","control":0,"target":1}`, `{"gate":"cp","control":0,"target":1,"angle":1.5707963267948966}`},
		{`{"gate":"csdg","control":0,"target":1}`, `{"gate":"cp","control":0,"target":1,"angle":-1.5707963267948966}`},
		{`{"gate":"csx","control":0,"target":1}`, `{"gate":"sx","control":0,"target":1}`},
		{`{"gate":"ccz","controls":[0,2],"target":1}`, `{"gate":"mcz","controls":[0,1],"target":2}`},
		{`{"gate":"swap","control":0,"targets":[1,2]}`, `{"gate":"cswap","control":0,"targets":[2,1]}`},
	} {
		states := [2][][2]float64{}
		for i, text := range pair {
			c, err := Parse([]byte(`{"qubits":3,"seed":1,"statevector":true,"gates":[{"gate":"ry","target":0,"angle":0.5},
				{"gate":"u","target":1,"params":[1,2,3]},{"gate":"h","target":2},`+text+`]}`), Limits{})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			states[i] = mustRun(t, c, Options{}).Statevector
		}
		closeStates(t, states[0], states[1], 1e-15)
	}
}

func TestDefaults(t *testing.T) {
	c, err := Parse([]byte(`{"gates":[],"qubits":2}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, seeded := c.Seed(); c.Shots() != 1024 || seeded || c.Precision() != Double {
		t.Errorf("%+v", c)
	}
	r := mustRun(t, c, Options{Seed: 9})
	if r.Seed != 9 || r.Counts["00"] != 1024 || r.Depth != 0 || r.BitOrder != "q0_rightmost" || r.Statevector != nil {
		t.Errorf("%+v", r)
	}
}

func TestGateCountsUseCanonicalNames(t *testing.T) {
	b := build(t, 5).add("CNOT", []int{0}, []int{1}).add("x", []int{0}, []int{1}).add("x", []int{0}, []int{1, 2}).
		add("h", []int{0}, []int{1, 2, 3}).add("mcx", []int{0}, []int{1, 2, 3}).add("c3x", []int{0}, []int{1, 2, 3}).
		add("cu", []int{0}, []int{1}, 1, 2, 3, 4).add("measure", []int{0, 3, 2}, nil).add("reset", []int{0, 1}, nil).add("barrier", nil, nil)
	want := `{"barrier":1,"ccx":1,"cu":1,"cx":2,"mch":1,"mcx":2,"measure":3,"reset":2}`
	if got, _ := json.Marshal(b.circuit.GateCounts()); string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"qubits":2,"shots":10,"seed":1,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1}]}`))
	f.Add([]byte(`{"qubits":3,"gates":[{"gate":"u","target":0,"params":[1,2,3]},{"gate":"measure","targets":[0,1]},{"gate":"reset","target":0}]}`))
	f.Add([]byte(`{"qubits":3,"precision":"single","statevector":true,"gates":[{"gate":"mcx","target":0,"controls":[1,2]},{"gate":"barrier"}]}`))
	f.Add([]byte(`{"qubits":3,"gates":[{"gate":"h","target":0},{"gate":"measure","target":0},{"if":{"any":[{"measured":0},{"not":{"measured":[0],"equals":1}}]},"then":[{"gate":"x","target":1}],"else":[]},{"while":{"odd":[{"measured":0},{"measured":0,"equals":0}]},"rounds":2,"do":[{"gate":"measure","target":1}]}]}`))
	f.Add([]byte(`{"qubits":2,"observables":[{"ZI":0.5,"XY":-1e-3},{"II":2}],"gates":[{"gate":"h","target":0},{"gate":"measure","target":0},{"gate":"h","target":0}]}`))
	f.Add([]byte(`{"qubits":1e1,"gates":{"gate":[]}}`))
	f.Add([]byte(`{"qubits":6,"gates":[{"gate":"rzz","targets":[4,5],"angle":-1e300},{"gate":"iswap","targets":[0,5]}]}`))
	f.Add([]byte(`{"qubits":2,"noise":{"channels":[{"channel":"depolarizing","p":0.01,"gates":["cx"],"qubits":[0,1]},{"channel":"bit_flip","p":1,"gates":["measure"]}],"readout":[{"matrix":[[0.9,0.1],[0,1]],"qubits":0}]},"gates":[{"gate":"cx","control":0,"target":1},{"gate":"kraus","target":0,"kraus":[[[[1,0],[0,0]],[[0,0],[0.6,0]]],[[[0,0],[0,0.8]],[[0,0],[0,0]]]]}]}`))
	f.Add([]byte(`{"qubits":20,"noise":{"readout":[{"matrix":[[0,1],[1,0]]}]},"gates":[{"gate":"h","target":0},{"gate":"pauli_channel","targets":[0,19],"probabilities":{"XZ":0.5,"YI":0.25}},{"gate":"amplitude_damping","target":0,"gamma":0}]}`))
	f.Add([]byte(`{"qubits":2,"gates":[{"gate":"h","target":0},{"gate":"phase_damping","targets":[0,1],"gamma":0.5},{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"bit_phase_flip","target":1,"p":0.5}]}]}`))
	f.Add([]byte(`{"openqasm":"qubit[2] q; bit[2] c; h q; c = measure q;","noise":{"channels":[{"channel":"phase_flip","p":0.5,"gates":["h"]}],"readout":[{"matrix":[[1,0],[0.5,0.5]]}]}}`))
	limits := Limits{Qubits: 6, CliffordQubits: 40, Gates: 50, Shots: 20, Bytes: 1 << 16}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data, limits)
		checkForeign(t, c, err)
	})
}

// checkForeign expects a refusal with all its parts, or a circuit that runs.
func checkForeign(t *testing.T, c Circuit, err error) {
	t.Helper()
	if err != nil {
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Code == "" || refusal.Message == "" || len(refusal.Message) > 400 {
			t.Fatalf("error %q", err)
		}
		return
	}
	r, err := Run(t.Context(), c, Options{MemoryLimitBytes: 1 << 30})
	var refusal *Refusal
	if errors.As(err, &refusal) && refusal.Code == CodeRounds {
		return // known only when it has run
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for key, n := range r.Counts {
		sum += n
		if strings.Trim(key, "01") != "" {
			t.Fatalf("key %q", key)
		}
	}
	if sum != c.Shots() {
		t.Fatalf("%d counts of %d shots", sum, c.Shots())
	}
	total := 0.0
	for _, p := range r.Probabilities {
		total += p
	}
	if r.Probabilities != nil && fmt.Sprintf("%.9f", total) != "1.000000000" {
		t.Fatalf("probabilities add up to %v", total)
	}
}

// TestIntegersHaveOneValue: a number is an integer by its value, as in every body of the API, not by how it is written.
func TestIntegersHaveOneValue(t *testing.T) {
	c := parseText(t, `{"qubits":2.0,"shots":1e3,"seed":70e-1,"gates":[{"gate":"x","target":10.0e-1},{"gate":"cx","control":[1.0],"target":0.0},
		{"gate":"measure","target":0},{"if":{"measured":-0.0,"equals":1.00},"then":[]}],"marginals":[[1e0]]}`)
	if c.qubits != 2 || c.shots != 1000 || c.seed != 7 || c.gates[0].targets[0] != 1 || c.marginals[0][0] != 1 {
		t.Errorf("%+v", c)
	}
	for _, number := range []string{"2.5", "2e-1", "1e99", "1e999999999", "1e-999999999", "2.0000000000000000001", "0." + strings.Repeat("0", 100) + "1e101"} {
		_, err := Parse([]byte(`{"qubits":`+number+`,"gates":[]}`), DefaultLimits())
		if err == nil || !strings.Contains(err.Error(), clipText(number)) {
			t.Errorf("%s: %v", number, err)
		}
	}
}
