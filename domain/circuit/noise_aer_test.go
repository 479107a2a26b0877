package circuit

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"
)

var noisyCases = flag.String("noisy", "testdata/noise/aer.jsonl", "noisy circuits to compare, as testdata/noise/export.py writes them")

// noisyCase is a circuit, and what Qiskit Aer's density matrix says of it.
type noisyCase struct {
	Circuit       json.RawMessage    `json:"circuit"`
	Probabilities map[string]float64 `json:"probabilities"`
	Paulis        map[string]float64 `json:"paulis"`
}

func readNoisyCases(t *testing.T) (out []noisyCase) {
	data, err := os.ReadFile(*noisyCases)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var c noisyCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	if len(out) < 40 {
		t.Fatalf("%d noisy circuits", len(out))
	}
	return out
}

// circuit reads the circuit, and asks for every expectation value that Aer gave.
func (c noisyCase) circuit(t *testing.T) (circuit Circuit, labels []string) {
	t.Helper()
	circuit, err := Parse(c.Circuit, Limits{})
	if err != nil {
		t.Fatalf("%v: %s", err, c.Circuit)
	}
	var terms []map[string]float64
	for label := range c.Paulis {
		labels = append(labels, label)
		terms = append(terms, map[string]float64{label: 1})
	}
	text, err := json.Marshal(terms)
	if err == nil {
		circuit, err = circuit.WithObservables(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return circuit, labels
}

// TestNoiseAgreesWithAer: density matrices to 1e-10, and counts that follow from them, of the exact engine and of trajectories.
func TestNoiseAgreesWithAer(t *testing.T) {
	worst, exact := 0.0, 0
	for i, c := range readNoisyCases(t) {
		circuit, labels := c.circuit(t)
		density := mustRun(t, circuit, Options{})
		if density.Engine == "density-double-v1" {
			exact++
		}
		off := 0.0
		for key, p := range c.Probabilities {
			off = max(off, math.Abs(density.Probabilities[key]-p))
		}
		for k, label := range labels {
			if len(density.Expectations) != len(labels) || density.Expectations[k].Value == nil {
				t.Fatalf("circuit %d: no exact value of %s", i, label)
			}
			off = max(off, math.Abs(*density.Expectations[k].Value-c.Paulis[label]))
		}
		if worst = max(worst, off); !(off < 1e-10) {
			t.Errorf("circuit %d differs by %g: %s", i, off, c.Circuit)
		}
		followDistribution(t, i, density.Counts, c.Probabilities)

		circuit.observables = circuit.observables[:min(8, len(circuit.observables))]
		sampled := mustRun(t, circuit, Options{Engine: EngineStatevector})
		followDistribution(t, i, sampled.Counts, c.Probabilities)
		if circuit.noisy().hasChannels() && density.Engine == "density-double-v1" && (sampled.Engine != "trajectories-double-v1" || sampled.Trajectories != circuit.shots) {
			t.Errorf("circuit %d: %s with %d trajectories", i, sampled.Engine, sampled.Trajectories)
		}
		for k, e := range sampled.Expectations {
			if want := c.Paulis[labels[k]]; math.Abs(e.Sampled-want) > 6*math.Sqrt((1-want*want)/float64(circuit.shots))+1e-2 {
				t.Errorf("circuit %d: trajectories say %s is %v ± %v, Aer %v", i, labels[k], e.Sampled, e.StandardError, want)
			}
		}
	}
	t.Logf("greatest difference %g; %d by density matrix", worst, exact)
}

// followDistribution refuses counts that chance would hardly give.
func followDistribution(t *testing.T, index int, counts map[string]int, probabilities map[string]float64) {
	t.Helper()
	clean := map[string]float64{}
	for key, p := range probabilities {
		if p > 1e-12 {
			clean[key] = p
		}
	}
	if p := chiSquareP(counts, clean); p < 1e-6 {
		t.Errorf("circuit %d: counts %v do not follow %v: p = %g", index, counts, clean, p)
	}
}
