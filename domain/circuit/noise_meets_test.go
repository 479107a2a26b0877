package circuit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestNoisyMarginals: exact on the density matrix, also after outcomes mid-circuit and a given state, and on the tableau; left out with a
// reason where errors are drawn shot by shot.
func TestNoisyMarginals(t *testing.T) {
	text := `{"qubits":%d,"shots":50,"seed":3,"memory":true,"marginals":[[1,0],[2]],"gates":[
		{"gate":"initialize","targets":[2,0],"state":[[0.6,0],[0,0],[0,0],[0,0.8]]},{"gate":"measure","target":2},
		{"gate":"amplitude_damping","gamma":0.3,"target":0},{"gate":"%s","target":1},{"gate":"cx","control":0,"target":1},
		{"gate":"depolarizing","p":0.2,"targets":[0,1]},{"gate":"measure","targets":[0,1]}]}`
	got := mustRun(t, parseText(t, fmt.Sprintf(text, 3, "t")), Options{})
	if got.Engine != "density-double-v1" || len(got.Memory) != 50 {
		t.Fatalf("%s, %d shots", got.Engine, len(got.Memory))
	}
	for i, qubits := range [][]int{{1, 0}, {2}} {
		compareDistributions(t, got.Marginals[i].Probabilities, marginalsOf(got.Probabilities, qubits), 1e-13)
	}
	if p := got.Marginals[1].Probabilities["1"]; math.Abs(p-0.64) > 1e-13 {
		t.Errorf("qubit 2 is 1 with probability %v", p)
	}
	trajectories := mustRun(t, parseText(t, fmt.Sprintf(text, 14, "t")), Options{})
	tableau := mustRun(t, parseText(t, `{"qubits":14,"shots":50,"marginals":[[1]],"gates":[{"gate":"h","target":0},{"gate":"bit_flip","p":0.1,"target":1}]}`), Options{})
	compareDistributions(t, tableau.Marginals[0].Probabilities, map[string]float64{"0": 0.9, "1": 0.1}, 1e-15)
	if r := trajectories; r.Marginals[0].Probabilities != nil || r.Omitted["marginals.probabilities"] == "" {
		t.Errorf("%s: %+v, %v", r.Engine, r.Marginals, r.Omitted)
	}
}

// TestNoisySweep: each point of a noisy sweep is what the circuit is alone.
func TestNoisySweep(t *testing.T) {
	text := `{"qubits":2,"shots":200,"seed":%d,"noise":{"channels":[{"channel":"depolarizing","p":0.1}]},"gates":[{"gate":"rx","target":0,"angle":%s},{"gate":"cx","control":0,"target":1}]%s}`
	swept := parseText(t, fmt.Sprintf(text, 5, `"a"`, `,"sweep":[{"a":0.5},{"a":2}]`))
	got := mustSweep(t, swept, Options{})
	for i, a := range []string{"0.5", "2"} {
		alone := mustRun(t, parseText(t, fmt.Sprintf(text, PointSeed(5, i), a, "")), Options{})
		if !reflect.DeepEqual(got.Points[i].Result, alone) {
			t.Errorf("point %d: %+v, alone %+v", i, got.Points[i].Result, alone)
		}
	}
	if one, two := Estimate(parseText(t, fmt.Sprintf(text, 5, "1", ""))), Estimate(swept); two.Operations < 2*one.Operations {
		t.Errorf("one point %+v, two %+v", one, two)
	}
}

// TestModelsMeetWhatIsNamed: a channel on initialize, reset and measure is the same one written after the first two and before the last,
// in keys and in expectation values, by each method.
func TestModelsMeetWhatIsNamed(t *testing.T) {
	given := `{"gate":"initialize","targets":[0,1],"state":[[0.6,0],[0,0],[0,0],[0,0.8]]},`
	damp := func(target string) string {
		return `{"gate":"amplitude_damping","gamma":0.3,"targets":` + target + `},`
	}
	text := `{"qubits":3,"shots":400,"seed":9,"observables":[{"IIZ":1},{"IZI":1,"ZII":2}],"marginals":[[0],[2]],"gates":[%s{"gate":"measure","targets":[0,1,2]}]%s}`
	modelled := parseText(t, fmt.Sprintf(text, `{"gate":"x","target":2},{"gate":"reset","target":1},`+given+`{"gate":"h","target":1},`,
		`,"noise":{"channels":[{"channel":"amplitude_damping","gamma":0.3,"gates":["initialize","reset","measure"]}]}`))
	written := parseText(t, fmt.Sprintf(text, `{"gate":"x","target":2},{"gate":"reset","target":1},`+damp("[1]")+given+damp("[0,1]")+`{"gate":"h","target":1},`+damp("[0,1,2]"), ""))
	for _, engine := range []Engine{EngineAuto, EngineStatevector} {
		got, want := mustRun(t, modelled, Options{Engine: engine}), mustRun(t, written, Options{Engine: engine})
		if !reflect.DeepEqual(got.Counts, want.Counts) || !reflect.DeepEqual(got.Probabilities, want.Probabilities) ||
			!reflect.DeepEqual(got.Expectations, want.Expectations) || !reflect.DeepEqual(got.Marginals, want.Marginals) {
			t.Errorf("%s: %+v, written out %+v", got.Engine, got, want)
		}
	}
	exact := mustRun(t, modelled, Options{})
	if v := exact.Expectations[0].Value; v == nil || math.Abs(*v-(1-2*0.64*0.7*0.7)) > 1e-13 { // damped after initialize and before measure
		t.Errorf("%+v", exact.Expectations)
	}
}

func TestNoiseRefusesWhatIsNotNoise(t *testing.T) {
	for entry, want := range map[string]Code{
		`{"gate":"bit_flip","target":0,"p":0.1,"matrix":[[[1,0],[0,0]],[[0,0],[1,0]]]}`: CodeUnknownField,
		`{"gate":"amplitude_damping","target":0,"gamma":"g"}`:                           CodeWrongType,
		`{"gate":"bit_flip","target":0,"p":0.1,"angle":"g"}`:                            CodeWrongType,
	} {
		_, err := Parse([]byte(`{"qubits":1,"gates":[`+entry+`],"sweep":[{"g":1}]}`), DefaultLimits())
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
	}
	var file bytes.Buffer
	_, err := Run(context.Background(), parseText(t, `{"qubits":1,"gates":[{"gate":"bit_flip","p":0.1,"target":0}]}`), Options{NPY: &file})
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Code != CodeState || file.Len() > 0 {
		t.Errorf("the state of a noisy circuit: %v", err)
	}
}

// TestReadoutErrorsAloneKeepExactValues: what is misread changes no state, so that all that is known without readout errors stays
// known, and probabilities have the errors in them.
func TestReadoutErrorsAloneKeepExactValues(t *testing.T) {
	rng := newRandom(51)
	readout := `"statevector":true,"shots":4000,"noise":{"readout":[{"matrix":[[0.9,0.1],[0.25,0.75]]}]},`
	for round := range 60 {
		n := 1 + round%4
		b := &noisyBuilder{rng: rng, qubits: n}
		for range 10 {
			b.add(`{"gate":"u","target":%d,"params":[%v,%v,%v]}`, int(rng.uint64())&7%n, rng.float64(), rng.float64(), rng.float64())
			if p, q := b.pair(); p != q {
				b.add(`{"gate":"cx","control":%d,"target":%d}`, p, q)
			}
		}
		inside := round%3 == 0
		if inside {
			b.add(`{"gate":"measure","target":0},{"gate":"h","target":0}`)
			b.add(`{"gate":"measure","targets":[%s]}`, strings.Trim(strings.ReplaceAll(fmt.Sprint(allQubits(n)), " ", ","), "[]"))
		}
		c := mustParse(t, b.text(readout))
		c.marginals = [][]int{permute(rng, n)}
		c, _ = c.withRandomTerm(t, rng)
		density := mustRun(t, c, Options{Engine: EngineDensity})
		amplitudes := mustRun(t, c, Options{Engine: EngineStatevector})
		compareDistributions(t, amplitudes.Probabilities, density.Probabilities, 1e-12)
		compareDistributions(t, amplitudes.Marginals[0].Probabilities, density.Marginals[0].Probabilities, 1e-12)
		followDistribution(t, round, amplitudes.Counts, density.Probabilities)
		got, want := amplitudes.Expectations[0].Value, *density.Expectations[0].Value
		if got == nil || math.Abs(*got-want) > 1e-12 || amplitudes.Trajectories != 0 {
			t.Errorf("round %d: %v, want %v, %d trajectories", round, got, want, amplitudes.Trajectories)
		}
		chosen := mustRun(t, c, Options{})
		if inside != (chosen.Engine == "density-double-v1") || inside != (chosen.Statevector == nil) {
			t.Errorf("round %d runs on %s with %d amplitudes", round, chosen.Engine, len(chosen.Statevector))
		}
	}
}

// TestReadoutErrorsBeyondTheDensityMatrix: wide circuits, conditions, and the file of the state.
func TestReadoutErrorsBeyondTheDensityMatrix(t *testing.T) {
	readout := `"noise":{"readout":[{"matrix":[[0.9,0.1],[0.2,0.8]]}]}`
	wide := parseText(t, `{"qubits":12,"seed":1,`+readout+`,"marginals":[[0]],"gates":[{"gate":"h","target":0},{"gate":"t","target":0},{"gate":"x","target":11}]}`)
	var file bytes.Buffer
	got := mustRun(t, wide, Options{NPY: &file})
	if got.Engine != "statevector-double-v1" || int64(file.Len()) != wide.NPYBytes() || len(got.Probabilities) != 1<<12 {
		t.Errorf("%s, %d bytes, %d probabilities", got.Engine, file.Len(), len(got.Probabilities))
	}
	compareDistributions(t, got.Marginals[0].Probabilities, map[string]float64{"0": 0.5, "1": 0.5}, 1e-15)
	compareDistributions(t, marginalsOf(got.Probabilities, []int{0}), map[string]float64{"0": 0.55, "1": 0.45}, 1e-12)
	tableau := mustRun(t, parseText(t, `{"qubits":40,"seed":1,`+readout+`,"marginals":[[0]],"gates":[{"gate":"x","target":0}]}`), Options{})
	compareDistributions(t, tableau.Marginals[0].Probabilities, map[string]float64{"1": 1}, 0)
	fed := mustRun(t, parseText(t, `{"qubits":2,"seed":1,`+readout+`,"observables":[{"ZI":1}],"gates":[{"gate":"x","target":0},{"gate":"measure","target":0},
		{"if":{"measured":0},"then":[{"gate":"x","target":1}]},{"gate":"measure","target":1}]}`), Options{})
	compareDistributions(t, fed.Probabilities, map[string]float64{"11": 0.64, "01": 0.16, "00": 0.18, "10": 0.02}, 1e-12)
	if v := fed.Expectations[0].Value; v == nil || math.Abs(*v+0.6) > 1e-12 {
		t.Errorf("%+v", fed.Expectations)
	}
	// More bits than qubits, after several histories: not listed, and said.
	many, err := ParseOpenQASM([]byte("qubit[2] q; bit[4] c; h q; c[0] = measure q[0]; h q[0]; c[1] = measure q[0]; c[2] = measure q[0]; c[3] = measure q[1];"), Limits{})
	if err == nil {
		many, err = many.WithNoise([]byte(`{"readout":[{"matrix":[[0.9,0.1],[0.2,0.8]]}]}`), Limits{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, many, Options{Engine: EngineStatevector}); r.Probabilities != nil || r.Omitted["probabilities"] == "" {
		t.Errorf("%v, %v", r.Probabilities, r.Omitted)
	}
	if r := mustRun(t, many, Options{}); len(r.Probabilities) != 16 {
		t.Errorf("%v, %v", r.Probabilities, r.Omitted)
	}
}

// TestNoiseThatMeetsNothingIsSaid: a name of the model that no gate has is reported, and so are measurements that never are.
func TestNoiseThatMeetsNothingIsSaid(t *testing.T) {
	model := func(rules, readout string) string {
		return `{"channels":[` + rules + `],"readout":[` + readout + `]}`
	}
	rzz := "OPENQASM 3; include \"stdgates.inc\"; gate rzz(t) a, b { cx a, b; rz(t) b; cx a, b; } qubit[3] q; bit[1] c; rzz(0.5) q[0], q[1]; pow(0.5) @ x q[2]; c[0] = measure q[0];"
	flip := `{"channel":"depolarizing","p":0.1,"gates":%s}`
	for _, c := range []struct{ what, noise, says string }{
		{"a definition", model(fmt.Sprintf(flip, `["rzz","cx"]`), ""), "noise channel 0 (depolarizing) goes with rzz, which"},
		{"a power", model(fmt.Sprintf(flip, `["sx"]`), ""), "goes with sx, which"},
		{"all meet", model(fmt.Sprintf(flip, `["cx","rz","CNOT","measure"]`), `{"matrix":[[0.9,0.1],[0,1]]}`), ""},
		{"other qubits", model(`{"channel":"bit_flip","p":0.1,"gates":["cx"],"qubits":[2]}`, ""), "noise channel 0 (bit_flip) meets no gate of the circuit on its qubits"},
		{"never measured", model("", `{"qubits":[0],"matrix":[[0.9,0.1],[0,1]]},{"qubits":[1,2],"matrix":[[0.9,0.1],[0,1]]}`), "noise readout 1: none"},
	} {
		p, err := ParseOpenQASM([]byte(rzz), Limits{})
		if err == nil {
			p, err = p.WithNoise([]byte(c.noise), Limits{})
		}
		if err != nil {
			t.Fatal(c.what, err)
		}
		got := mustRun(t, p, Options{}).Warnings
		if c.says == "" && got != nil || c.says != "" && (len(got) != 1 || !strings.Contains(got[0], c.says)) {
			t.Errorf("%s: %q, want %q", c.what, got, c.says)
		}
	}
	swept := mustSweep(t, parseText(t, `{"qubits":1,"noise":{"channels":[{"channel":"bit_flip","p":0.1,"gates":["h"]}]},
		"gates":[{"gate":"rx","target":0,"angle":"a"},{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"x","target":0}]}],"sweep":[{"a":1},{"a":2}]}`), Options{})
	if len(swept.Warnings) != 1 || swept.Points[0].Warnings != nil {
		t.Errorf("%q, %q", swept.Warnings, swept.Points[0].Warnings)
	}
}
