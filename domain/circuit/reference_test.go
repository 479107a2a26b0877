package circuit

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"reckon/test/need"
)

// referenceFile finds the shared data folder beside the repository.
func referenceFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(need.Shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type referenceCircuit struct {
	Name          string
	Circuit       json.RawMessage
	Probabilities map[string]float64
	Statevector   [][2]float64
	GateCount     int `json:"gate_count"`
	Depth         int
}

type reference struct {
	Circuits   []referenceCircuit
	MustRefuse []struct {
		Why     string
		Circuit json.RawMessage
	} `json:"must_refuse"`
}

func loadReference(t *testing.T) reference {
	var r reference
	if err := json.Unmarshal(referenceFile(t, "qsim_reference_sample.json"), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Circuits) == 0 || len(r.MustRefuse) == 0 {
		t.Fatal("the reference holds nothing")
	}
	return r
}

func TestReferenceCircuits(t *testing.T) {
	for _, ref := range loadReference(t).Circuits {
		t.Run(ref.Name, func(t *testing.T) {
			for precision, tolerance := range map[Precision]float64{Double: 1e-9, Single: 1e-5} {
				c, err := Parse(ref.Circuit, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				c.statevector = true
				c.precision = precision
				got, err := Run(context.Background(), c, Options{})
				if err != nil {
					t.Fatal(err)
				}
				compareDistributions(t, got.Probabilities, ref.Probabilities, tolerance)
				if ref.Statevector != nil {
					compareStates(t, got.Statevector, ref.Statevector, tolerance)
				}
				if got.Depth != ref.Depth {
					t.Errorf("depth %d, want %d", got.Depth, ref.Depth)
				}
				count := 0
				for _, n := range got.GateCounts {
					count += n
				}
				if count != ref.GateCount {
					t.Errorf("%d gates, want %d", count, ref.GateCount)
				}
				if p := chiSquareP(got.Counts, ref.Probabilities); p < 1e-6 {
					t.Errorf("counts do not follow the probabilities: p = %g", p)
				}
			}
		})
	}
}

func TestReferenceRefusals(t *testing.T) {
	for _, ref := range loadReference(t).MustRefuse {
		t.Run(ref.Why, func(t *testing.T) {
			_, err := Parse(ref.Circuit, Limits{})
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("accepted: %v", err)
			}
			if refusal.Code == "" || refusal.Message == "" {
				t.Errorf("incomplete refusal %+v", refusal)
			}
			t.Logf("%s: %s", refusal.Code, refusal.Message)
		})
	}
}

func compareDistributions(t *testing.T, got, want map[string]float64, tolerance float64) {
	t.Helper()
	for key, p := range want {
		if math.Abs(got[key]-p) > tolerance {
			t.Errorf("P(%s) = %.15g, want %.15g", key, got[key], p)
		}
	}
	for key, p := range got {
		if _, ok := want[key]; !ok && p > tolerance {
			t.Errorf("P(%s) = %.15g, want 0", key, p)
		}
	}
}

// compareStates compares up to a global phase.
func compareStates(t *testing.T, got, want [][2]float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d amplitudes, want %d", len(got), len(want))
	}
	var overlap complex128
	for i := range got {
		overlap += complex(got[i][0], -got[i][1]) * complex(want[i][0], want[i][1])
	}
	if d := math.Abs(real(overlap)*real(overlap) + imag(overlap)*imag(overlap) - 1); d > 10*tolerance {
		t.Errorf("fidelity differs from 1 by %g", d)
	}
}

// chiSquareP is the probability of counts at least this far from the distribution; 0 when a key is impossible. Cells
// expecting fewer than five are put together.
func chiSquareP(counts map[string]int, probabilities map[string]float64) float64 {
	shots := 0
	for key, n := range counts {
		if probabilities[key] <= 0 {
			return 0
		}
		shots += n
	}
	statistic, cells := 0.0, 0
	restExpected, restSeen := 0.0, 0.0
	for key, p := range probabilities {
		expected := p * float64(shots)
		if expected < 5 {
			restExpected += expected
			restSeen += float64(counts[key])
			continue
		}
		d := float64(counts[key]) - expected
		statistic += d * d / expected
		cells++
	}
	if restExpected >= 5 {
		d := restSeen - restExpected
		statistic += d * d / restExpected
		cells++
	}
	if cells < 2 {
		return 1
	}
	// Wilson and Hilferty's normal approximation.
	k := float64(cells - 1)
	z := (math.Cbrt(statistic/k) - (1 - 2/(9*k))) / math.Sqrt(2/(9*k))
	return math.Erfc(z/math.Sqrt2) / 2
}
