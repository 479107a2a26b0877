package circuit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
)

// TestNoisyMarginals: exact on the density matrix, also after outcomes mid-circuit and a given state; left out with a reason where
// errors are drawn shot by shot.
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
	for _, r := range []Result{trajectories, tableau} {
		if r.Marginals[0].Probabilities != nil || r.Omitted["marginals.probabilities"] == "" {
			t.Errorf("%s: %+v, %v", r.Engine, r.Marginals, r.Omitted)
		}
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
