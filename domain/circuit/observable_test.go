package circuit

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
)

// denseExpectation applies the matrices of a label to the state, in dense arithmetic.
func denseExpectation(h history, label string) float64 {
	moved := h.state
	for i, letter := range label {
		kinds := map[rune]kind{'X': kindX, 'Y': kindY, 'Z': kindZ}
		if k, ok := kinds[letter]; ok {
			moved = denseApply(moved, gate{kind: k, targets: []int{len(label) - 1 - i}})
		}
	}
	sum := 0.0
	for i, a := range h.state {
		sum += real(a)*real(moved[i]) + imag(a)*imag(moved[i])
	}
	return sum // weighted by the history's probability, because its state is not normalised
}

// weight is the history's probability.
func (h history) weight() float64 { return denseExpectation(h, "") }

func randomLabel(rng *random, n int) string {
	label := make([]byte, n)
	for i := range label {
		label[i] = "IXYZ"[rng.uint64()%4]
	}
	return string(label)
}

// withSums gives the circuit random Pauli sums, and returns them.
func withSums(t *testing.T, b *builder, rng *random, count int) []map[string]float64 {
	t.Helper()
	sums := make([]map[string]float64, count)
	for i := range sums {
		sums[i] = map[string]float64{}
		for range 1 + rng.uint64()%4 {
			sums[i][randomLabel(rng, b.circuit.qubits)] = rng.float64()*4 - 2
		}
	}
	text, err := json.Marshal(sums)
	if err != nil {
		t.Fatal(err)
	}
	if b.circuit, err = b.circuit.WithObservables(text); err != nil {
		t.Fatal(err)
	}
	return sums
}

// checkExpectations compares the exact values with the histories of dense arithmetic, and the sampled ones with those. The terms of
// a shot share its history, but not in the tableau, which has none.
func checkExpectations(t *testing.T, sums []map[string]float64, histories []history, got []Expectation, shots int, shared bool) {
	t.Helper()
	if len(got) != len(sums) {
		t.Fatalf("%d expectation values, want %d", len(got), len(sums))
	}
	for i, terms := range sums {
		want, variance := 0.0, 0.0
		for label, coefficient := range terms {
			mean := 0.0
			for _, h := range histories {
				mean += denseExpectation(h, label)
			}
			want += coefficient * mean
			variance += coefficient * coefficient * (1 - mean*mean) / float64(shots)
		}
		if shared {
			square := 0.0 // mean of the squared sum of a shot's terms
			for _, h := range histories {
				weight := h.weight()
				if weight < 1e-12 {
					continue
				}
				spread, sum := 0.0, 0.0
				for label, coefficient := range terms {
					mean := denseExpectation(h, label) / weight
					spread += coefficient * coefficient * (1 - mean*mean)
					sum += coefficient * mean
				}
				square += weight * (spread + sum*sum)
			}
			variance = (square - want*want) / float64(shots)
		}
		e := got[i]
		if e.Value == nil || math.Abs(*e.Value-want) > 1e-10 {
			t.Errorf("observable %d: %+v, want %v", i, e, want)
			continue
		}
		sigma := math.Sqrt(max(variance, 0))
		if math.Abs(e.Sampled-want) > 6*sigma+1e-9 {
			t.Errorf("observable %d: sampled %v ± %v, want %v ± %v", i, e.Sampled, e.StandardError, want, sigma)
		}
		if math.Abs(e.StandardError-sigma) > 0.2*sigma+1e-6 {
			t.Errorf("observable %d: standard error %v, want about %v", i, e.StandardError, sigma)
		}
	}
}

// histories are those before the final measurements: the ones after which nothing uses their qubit or bit.
func (b *builder) histories() []history {
	var list []gate
	usedQubits, usedSlots := map[int]bool{}, map[int]bool{}
	for i := len(b.circuit.gates) - 1; i >= 0; i-- {
		g := b.circuit.gates[i]
		if g.kind != kindMeasure || usedQubits[g.targets[0]] || usedSlots[g.slots[0]] {
			list = append([]gate{g}, list...)
		}
		g.touches(func(q int) { usedQubits[q] = true }, func(s int) { usedSlots[s] = true })
	}
	start := history{make([]complex128, 1<<b.circuit.qubits), make([]int, b.circuit.slots)}
	start.state[0] = 1
	return enumerate(b.t.(*testing.T), list, []history{start})
}

// TestExpectations compares Pauli sums of random states, some behind measurements and conditions, with dense arithmetic; in
// one block and in many.
func TestExpectations(t *testing.T) {
	rng := newRandom(61)
	for round := range 60 {
		n := 1 + round%8
		b := build(t, n)
		if round%2 == 0 {
			b.random(rng, 40, unitaryNames, false)
		} else {
			b.circuit.gates = flowProgram(b, rng, 1, n)
		}
		b.circuit.shots = 4000
		plainCounts := mustRun(t, b.circuit, Options{}).Counts
		sums := withSums(t, b, rng, 3)
		got := mustRun(t, b.circuit, Options{})
		checkExpectations(t, sums, b.histories(), got.Expectations, b.circuit.shots, true)
		if !maps.Equal(got.Counts, plainCounts) {
			t.Errorf("round %d: asking for expectation values changes the counts", round)
		}
		geo := small(n)
		geo.stateBits = max(geo.stateBits, 9)
		blocked := runWith(t, b.circuit, engineSetup[float64]{geo, bestKernels64(), 2, fuse, 0, nil, nil})
		checkExpectations(t, sums, b.histories(), blocked.Expectations, b.circuit.shots, true)
		if t.Failed() {
			t.Fatalf("round %d, %d qubits", round, n)
		}
	}
}

// TestExpectationsOfStabilizerStates compares the tableau with dense arithmetic, with events whose outcomes are random.
func TestExpectationsOfStabilizerStates(t *testing.T) {
	rng := newRandom(62)
	certain := 0
	for round := range 60 {
		n := 1 + round%6
		b := build(t, n).random(rng, 30, cliffordNames, true)
		if round%2 == 1 {
			b.add([]string{"measure", "reset"}[round/2%2], []int{int(rng.uint64() % uint64(n))}, nil).random(rng, 20, cliffordNames, true)
		}
		b.circuit.shots = 2000
		sums := withSums(t, b, rng, 6)
		got := mustRun(t, b.circuit, Options{Engine: EngineStabilizer})
		checkExpectations(t, sums, b.histories(), got.Expectations, b.circuit.shots, false)
		for _, e := range got.Expectations {
			if e.Value != nil && *e.Value != 0 {
				certain++
			}
		}
	}
	if certain < 30 {
		t.Errorf("only %d values differ from 0", certain)
	}
}

// TestExpectationsOfManyQubits: GHZ states have ⟨Z…Z⟩ = 1 for an even number of qubits and ⟨X…X⟩ = 1, in both engines; where
// histories are too many, the sampled value stands alone, with the reason.
func TestExpectationsOfManyQubits(t *testing.T) {
	for _, n := range []int{16, 500} {
		b := build(t, n).add("h", []int{0}, nil)
		for q := 1; q < n; q++ {
			b.add("cx", []int{q}, []int{q - 1})
		}
		text := fmt.Sprintf(`[{"%s":1},{"%s":0.5},{"%s":2}]`, strings.Repeat("Z", n), strings.Repeat("X", n), strings.Repeat("I", n-1)+"Z")
		var err error
		if b.circuit, err = b.circuit.WithObservables([]byte(text)); err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{1, 0.5, 0} {
			if got := mustRun(t, b.circuit, Options{}).Expectations[i]; got.Value == nil || math.Abs(*got.Value-want) > 1e-12 {
				t.Errorf("%d qubits: observable %d is %+v, want %v", n, i, got, want)
			}
		}
	}
	b := build(t, 2)
	for range 40 {
		b.add("ry", []int{0}, nil, 1).add("cx", []int{1}, []int{0}).add("measure", []int{0}, nil)
	}
	var err error
	if b.circuit, err = b.circuit.WithObservables([]byte(`[{"ZI":1}]`)); err != nil {
		t.Fatal(err)
	}
	got := mustRun(t, b.circuit, Options{})
	if e := got.Expectations[0]; e.Value != nil || got.Omitted["expectations.value"] == "" || e.StandardError <= 0 {
		t.Errorf("%+v, omitted %v", e, got.Omitted)
	}
}

// TestStandardErrorKnowsThatTermsShareAHistory: two qubits that are always read alike give sums of 2 and −2.
func TestStandardErrorKnowsThatTermsShareAHistory(t *testing.T) {
	c := mustParse(t, `{"qubits":2,"shots":10000,"seed":1,"observables":[{"IZ":1,"ZI":1}],"gates":[{"gate":"h","target":0},
		{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"x","target":1}]}]}`)
	if e := mustRun(t, c, Options{}).Expectations[0]; math.Abs(e.StandardError-0.02) > 1e-4 || math.Abs(e.Sampled) > 0.1 {
		t.Errorf("%+v", e)
	}
}

// TestAMeasuredControlKeepsNoCoherence: a measurement that waits to the end because the gates after it commute with it has
// still happened before them.
func TestAMeasuredControlKeepsNoCoherence(t *testing.T) {
	for _, engine := range []Engine{EngineStatevector, EngineStabilizer} {
		b := build(t, 2).add("h", []int{0}, nil).add("measure", []int{0}, nil).add("cx", []int{1}, []int{0})
		var err error
		if b.circuit, err = b.circuit.WithObservables([]byte(`[{"XX":1},{"ZZ":1}]`)); err != nil {
			t.Fatal(err)
		}
		got := mustRun(t, b.circuit, Options{Engine: engine})
		if *got.Expectations[0].Value != 0 || math.Abs(*got.Expectations[1].Value-1) > 1e-12 {
			t.Errorf("%s: ⟨XX⟩ = %v, ⟨ZZ⟩ = %v, want 0 and 1", engine, *got.Expectations[0].Value, *got.Expectations[1].Value)
		}
		if got.Statevector != nil || got.Omitted["statevector"] == "" {
			t.Errorf("%s: a single state is reported: %v", engine, got.Statevector)
		}
	}
}

// TestAStatevectorThatIsNotListedHasAReason, whichever engine runs.
func TestAStatevectorThatIsNotListedHasAReason(t *testing.T) {
	for name, c := range map[string]struct {
		gates  string
		qubits int
		listed bool
	}{
		"ten qubits":    {`{"gate":"t","target":0}`, 10, true},
		"eleven qubits": {`{"gate":"t","target":0}`, 11, false},
		"the tableau":   {`{"gate":"h","target":0}`, 13, false},
		"a channel":     {`{"gate":"bit_flip","p":0.1,"target":0}`, 1, false},
		"trajectories":  {`{"gate":"t","target":0},{"gate":"amplitude_damping","gamma":0.1,"target":0}`, 11, false},
		"two histories": {`{"gate":"h","target":0},{"gate":"measure","target":0},{"gate":"h","target":0}`, 1, false},
	} {
		got := mustRun(t, mustParse(t, fmt.Sprintf(`{"qubits":%d,"shots":10,"statevector":true,"gates":[%s]}`, c.qubits, c.gates)), Options{})
		if reason := got.Omitted["statevector"]; (got.Statevector != nil) != c.listed || (reason == "") != c.listed {
			t.Errorf("%s, %s: %d amplitudes, omitted %q", name, got.Engine, len(got.Statevector), reason)
		}
	}
}
