package circuit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// marginalsOf sums the probabilities of whole keys, which show every qubit.
func marginalsOf(probabilities map[string]float64, qubits []int) map[string]float64 {
	out := map[string]float64{}
	for key, p := range probabilities {
		part := make([]byte, len(qubits))
		for i, q := range qubits {
			part[len(qubits)-1-i] = key[len(key)-1-q]
		}
		out[string(part)] += p
	}
	return out
}

// TestMarginals compares with the sums of the probabilities of whole keys, on both engines, with resets inside.
func TestMarginals(t *testing.T) {
	rng := newRandom(21)
	for round := range 60 {
		qubits := 2 + int(rng.uint64()%9)
		b := build(t, qubits).random(rng, 20, cliffordNames, true)
		if round%2 == 0 {
			b.random(rng, 10, unitaryNames, false)
		}
		b.add("reset", []int{0}, nil).random(rng, 10, cliffordNames, true)
		order := permute(rng, qubits)
		b.circuit.marginals = [][]int{order, order[:1], order[:(qubits+1)/2], {qubits - 1, 0}}
		got := mustRun(t, b.circuit, Options{})
		if len(got.Marginals) != 4 {
			t.Fatalf("%d marginals", len(got.Marginals))
		}
		for i, m := range got.Marginals {
			compareDistributions(t, m.Probabilities, marginalsOf(got.Probabilities, b.circuit.marginals[i]), 1e-13)
		}
		if round%2 == 1 {
			tableau := mustRun(t, b.circuit, Options{Engine: EngineStabilizer})
			for i, m := range tableau.Marginals {
				compareDistributions(t, m.Probabilities, got.Marginals[i].Probabilities, 1e-12)
			}
		}
	}
}

// TestMarginalsOfManyQubits: a state of 20 qubits in several blocks, the same bits with one thread as with four, and a thousand
// qubits on the tableau.
func TestMarginalsOfManyQubits(t *testing.T) {
	b := build(t, 20)
	want := map[string]float64{}
	for q := range 20 {
		b.add("ry", []int{q}, nil, 0.1*float64(q+1))
	}
	chosen := []int{19, 3, 7}
	for index := range 8 {
		p := 1.0
		for i, q := range chosen {
			s, c := math.Sincos(0.05 * float64(q+1))
			if index>>i&1 == 1 {
				p *= s * s
			} else {
				p *= c * c
			}
		}
		want[fmt.Sprintf("%03b", index)] = p
	}
	b.circuit.statevector, b.circuit.marginals = false, [][]int{chosen, permute(newRandom(4), 20)[:12]}
	one, four := mustRun(t, b.circuit, Options{Threads: 1}), mustRun(t, b.circuit, Options{Threads: 4})
	compareDistributions(t, one.Marginals[0].Probabilities, want, 1e-13)
	for i, m := range one.Marginals {
		for key, p := range m.Probabilities {
			if four.Marginals[i].Probabilities[key] != p {
				t.Fatalf("marginal %d of %s: %v with one thread, %v with four", i, key, p, four.Marginals[i].Probabilities[key])
			}
		}
	}
	ghz := build(t, 1000).add("h", []int{0}, nil)
	for q := 1; q < 1000; q++ {
		ghz.add("cx", []int{q}, []int{q - 1})
	}
	ghz.add("h", []int{500}, nil)
	ghz.circuit.statevector, ghz.circuit.marginals = false, [][]int{{0, 999, 500}}
	compareDistributions(t, mustRun(t, ghz.circuit, Options{}).Marginals[0].Probabilities,
		map[string]float64{"000": 0.25, "100": 0.25, "011": 0.25, "111": 0.25}, 0)
}

// TestMarginalsLeftOut: when histories are too many the reason stands in their place.
func TestMarginalsLeftOut(t *testing.T) {
	c := parseText(t, `{"qubits":14,"shots":5,"seed":1,"marginals":[[1]],"gates":[`+
		strings.Repeat(`{"gate":"rx","target":0,"angle":1},{"gate":"measure","target":0},`, 200)+`{"gate":"rx","target":0,"angle":1}]}`)
	got := mustRun(t, c, Options{})
	if got.Marginals[0].Probabilities != nil || got.Omitted["marginals.probabilities"] == "" || got.Marginals[0].Qubits[0] != 1 {
		t.Errorf("%+v, %v", got.Marginals, got.Omitted)
	}
}

func TestMarginalsRefused(t *testing.T) {
	for text, want := range map[string]Code{
		`[[]]`: CodeMarginal, `[[0,0]]`: CodeRepeatedQubit, `[[2]]`: CodeQubitRange, `[[-1]]`: CodeQubitRange, `[0]`: CodeWrongType,
		`{}`: CodeWrongType, `[[0.5]]`: CodeWrongType, `[["0"]]`: CodeWrongType, `[[99999999999999999999]]`: CodeQubitRange,
		`[[0,1,2,3,4,5,6,7,8,9,10,11,12]]`:         CodeMarginal,
		`[` + strings.Repeat(`[0],`, 100) + `[0]]`: CodeMarginal,
	} {
		_, err := Parse([]byte(`{"qubits":2,"gates":[],"marginals":`+text+`}`), DefaultLimits())
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("%s: %v, want %s", clipText(text), err, want)
		}
		if _, err := parseText(t, `{"qubits":2,"gates":[]}`).WithMarginals([]byte(text)); err == nil {
			t.Errorf("%s was accepted beside the circuit", clipText(text))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := machine[float64]{threads: 2}
	if _, err := m.marginal(ctx, newState[float64](20), []int{0}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled marginal: %v", err)
	}
}
