package circuit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"testing"
	"time"
)

// TestQiskitCircuits compares random circuits over the whole gate set with Qiskit (testdata/qiskit.json).
func TestQiskitCircuits(t *testing.T) {
	data, err := os.ReadFile("testdata/qiskit.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Circuits []struct {
			referenceCircuit
			Largest map[string]float64
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, ref := range file.Circuits {
		t.Run(ref.Name, func(t *testing.T) {
			c, err := Parse(ref.Circuit, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			c.statevector = true
			got := mustRun(t, c, Options{})
			if ref.Probabilities != nil {
				compareDistributions(t, got.Probabilities, ref.Probabilities, 1e-12)
			}
			for key, p := range ref.Largest {
				if math.Abs(got.Probabilities[key]-p) > 1e-12 {
					t.Errorf("P(%s) = %v, want %v", key, got.Probabilities[key], p)
				}
			}
			if ref.Statevector != nil {
				compareStates(t, got.Statevector, ref.Statevector, 1e-12)
			}
			if got.Depth != ref.Depth {
				t.Errorf("depth %d, want %d", got.Depth, ref.Depth)
			}
			if p := chiSquareP(got.Counts, got.Probabilities); p < 1e-6 {
				t.Errorf("counts do not follow the probabilities: p = %g", p)
			}
		})
	}
}

// TestArrangementsAgree runs the same circuits unfused in one block, fused, and fused over many small blocks.
func TestArrangementsAgree(t *testing.T) {
	rng := newRandom(11)
	for round := range 40 {
		n := 1 + round%10
		c := build(t, n).random(rng, 120, unitaryNames, false).circuit
		whole := geometryOf(n, 8)
		want := runWith(t, c, engineSetup[float64]{whole, scalarKernels[float64](), 1, plain, 0, nil, nil})
		fused := runWith(t, c, engineSetup[float64]{whole, scalarKernels[float64](), 1, fuse, 0, nil, nil})
		blocked := runWith(t, c, engineSetup[float64]{small(n), bestKernels64(), 2, fuse, 0, nil, nil})
		blockedPlain := runWith(t, c, engineSetup[float64]{small(n), bestKernels64(), 3, plain, 0, nil, nil})
		closeStates(t, fused.Statevector, want.Statevector, 1e-12)
		closeStates(t, blocked.Statevector, want.Statevector, 1e-12)
		closeStates(t, blockedPlain.Statevector, want.Statevector, 1e-12)
	}
}

// TestNormStaysOne also covers states wider than one block of the real geometry.
func TestNormStaysOne(t *testing.T) {
	rng := newRandom(12)
	for _, n := range []int{1, 5, 9, 12, 17} {
		c := build(t, n).random(rng, 300, unitaryNames, false).circuit
		p := lower(c)
		geo := geometryOf(n, 8)
		planner := newPlanner[float64](n, geo, p.segments[0].operators)
		s := newState[float64](geo.stateBits)
		m := newMachine(geo, 2, bestKernels64(), &progress{})
		if err := m.run(context.Background(), planner.plan(fuse(p.segments[0].operators)), s); err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for i := range s.re {
			norm += s.re[i]*s.re[i] + s.im[i]*s.im[i]
		}
		if math.Abs(norm-1) > 1e-12 {
			t.Errorf("%d qubits: norm differs from 1 by %g", n, norm-1)
		}
	}
}

// TestCircuitThenInverse runs U then U† and expects the initial state.
func TestCircuitThenInverse(t *testing.T) {
	rng := newRandom(13)
	inverseName := map[string]string{"s": "sdg", "sdg": "s", "t": "tdg", "tdg": "t", "sx": "sxdg", "sxdg": "sx"}
	for round := range 30 {
		n := 2 + round%9
		b := build(t, n).random(rng, 100, unitaryNames, false)
		forward := b.circuit.gates
		for i := len(forward) - 1; i >= 0; i-- {
			g := forward[i]
			if g.kind == kindISwap { // iswap has order four
				for range 3 {
					b.add("iswap", g.targets, nil)
				}
				continue
			}
			name, params := g.name, make([]float64, len(g.params))
			if inverse, ok := inverseName[name]; ok {
				name = inverse
			}
			for j, angle := range g.params {
				params[j] = -angle
			}
			if g.kind == kindU {
				params[1], params[2] = params[2], params[1]
			}
			b.add(name, g.targets, g.controls, params...)
		}
		got := mustRun(t, b.circuit, Options{})
		compareDistributions(t, got.Probabilities, map[string]float64{fmt.Sprintf("%0*d", n, 0): 1}, 1e-11)
	}
}

// TestInstructionSetsGiveSameResult compares whole runs, bit for bit, on every kernel this processor has.
func TestInstructionSetsGiveSameResult(t *testing.T) {
	rng := newRandom(14)
	for _, n := range []int{6, 10, 18} {
		c := build(t, n).random(rng, 150, unitaryNames, false).circuit
		double := func(k kernels[float64], threads int) Result {
			return runWith(t, c, engineSetup[float64]{geometryOf(n, 8), k, threads, fuse, 0, nil, nil})
		}
		single := func(k kernels[float32], threads int) Result {
			return runWith(t, c, engineSetup[float32]{geometryOf(n, 4), k, threads, fuse, 0, nil, nil})
		}
		sameResult(t, double(scalarKernels[float64](), 1), double(bestKernels64(), 2))
		sameResult(t, single(scalarKernels[float32](), 1), single(bestKernels32(), 2))
	}
}

func sameResult(t *testing.T, a, b Result) {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if string(x) != string(y) {
		t.Errorf("results differ:\n%.300s\n%.300s", x, y)
	}
}

// TestSinglePrecisionFollowsDouble bounds what single precision loses.
func TestSinglePrecisionFollowsDouble(t *testing.T) {
	c := build(t, 10).random(newRandom(15), 200, unitaryNames, false).circuit
	double := mustRun(t, c, Options{})
	c.precision = Single
	single := mustRun(t, c, Options{})
	closeStates(t, single.Statevector, double.Statevector, 1e-5)
	if single.Engine == double.Engine {
		t.Error("the result does not say which precision it has")
	}
}

// TestMidCircuitMeasurement compares measurements and resets that later gates depend on with the same circuit after
// deferral: a measurement copies the qubit to a fresh one, a reset swaps a fresh one in.
func TestMidCircuitMeasurement(t *testing.T) {
	rng := newRandom(16)
	for round := range 25 {
		const n, events = 3, 5
		b := build(t, n)
		deferred := build(t, n+events)
		holder := map[int]int{} // ancilla that holds the last outcome of a qubit
		for event := range events {
			start := len(b.circuit.gates)
			b.random(rng, 8, unitaryNames, false)
			for _, g := range b.circuit.gates[start:] {
				deferred.add(g.name, g.targets, g.controls, g.params...)
			}
			q, ancilla := int(rng.uint64()%n), n+event
			if rng.uint64()%2 == 0 || event == 0 {
				b.add("measure", []int{q}, nil)
				deferred.add("cx", []int{ancilla}, []int{q})
				holder[q] = ancilla
			} else {
				b.add("reset", []int{q}, nil)
				deferred.add("swap", []int{q, ancilla}, nil)
			}
		}
		got := mustRun(t, b.circuit, Options{})
		want := map[string]float64{}
		for key, p := range mustRun(t, deferred.circuit, Options{}).Probabilities {
			short := ""
			for q := range n {
				if ancilla, ok := holder[q]; ok {
					short = string(key[len(key)-1-ancilla]) + short
				}
			}
			want[short] += p
		}
		compareDistributions(t, got.Probabilities, want, 1e-11)
		if p := chiSquareP(got.Counts, want); p < 1e-6 {
			t.Errorf("round %d: counts do not follow the probabilities: p = %g", round, p)
		}
	}
}

// TestMemoryDoesNotChangeTheResult runs branches again where their states could not be kept.
func TestMemoryDoesNotChangeTheResult(t *testing.T) {
	rng := newRandom(22)
	for _, n := range []int{4, 13} {
		b := build(t, n)
		for event := range 8 {
			b.random(rng, 15, unitaryNames, false).add([]string{"measure", "reset"}[event%2], []int{int(rng.uint64() % uint64(n))}, nil)
		}
		b.random(rng, 10, unitaryNames, false)
		how := engineSetup[float64]{geometryOf(n, 8), bestKernels64(), 2, fuse, 0, nil, nil}
		without := runWith(t, b.circuit, how)
		for copies := int64(1); copies < 5; copies++ {
			how.spare = copies * 16 << how.geometry.stateBits
			sameResult(t, without, runWith(t, b.circuit, how))
		}
		if len(without.Counts) < 3 {
			t.Errorf("%d qubits: the circuit does not branch: %v", n, without.Counts)
		}
	}
}

func TestTableauAgreesWithStateVector(t *testing.T) {
	rng := newRandom(17)
	for round := range 60 {
		n := 1 + round%8
		b := build(t, n)
		for range 1 + round%4 {
			b.random(rng, 30, cliffordPairNames, true)
			if round%2 == 1 {
				b.add([]string{"measure", "reset"}[rng.uint64()%2], []int{int(rng.uint64() % uint64(n))}, nil)
			}
		}
		b.random(rng, 10, cliffordPairNames, true)
		if i, reason := b.circuit.notClifford(); reason != "" {
			t.Fatal("the generator left the Clifford gates:", i, reason)
		}
		want := mustRun(t, b.circuit, Options{Engine: EngineStatevector}).Probabilities
		key, _, err := stabilizerOutcomes(context.Background(), b.circuit, &tally{}, nil, &progress{})
		if err != nil {
			t.Fatal(err)
		}
		compareDistributions(t, parityDistribution(key), want, 1e-9)
		counts := mustRun(t, b.circuit, Options{Engine: EngineStabilizer}).Counts
		if p := chiSquareP(counts, want); p < 1e-6 {
			t.Errorf("round %d: tableau counts do not follow the probabilities: p = %g", round, p)
		}
	}
}

// parityDistribution enumerates all values of the symbols.
func parityDistribution(key []parity) map[string]float64 {
	symbols := map[int]int{}
	for _, p := range key {
		p.forEach(func(s int) {
			if _, ok := symbols[s]; !ok && s != 0 {
				symbols[s] = len(symbols)
			}
		})
	}
	out := map[string]float64{}
	for values := range 1 << len(symbols) {
		text := make([]byte, len(key))
		for i, p := range key {
			odd := 0
			p.forEach(func(s int) {
				if s == 0 {
					odd ^= 1
				} else {
					odd ^= values >> symbols[s] & 1
				}
			})
			text[len(key)-1-i] = byte('0' + odd)
		}
		out[string(text)] += 1 / float64(int(1)<<len(symbols))
	}
	return out
}

// TestStabilizerRefusalNamesTheGate: it would be looked for by bisection.
func TestStabilizerRefusalNamesTheGate(t *testing.T) {
	b := build(t, 2).add("h", []int{0}, nil).add("t", []int{1}, nil)
	_, err := Run(t.Context(), b.circuit, Options{Engine: EngineStabilizer})
	if err == nil || err.Error() != "gate 1 (t): is not a Clifford gate; the stabilizer engine runs Clifford gates and Pauli errors only: leave the method out, or name statevector (up to 30 qubits), sparse or mps" {
		t.Error(err)
	}
}

func TestWideCliffordCircuit(t *testing.T) {
	const n = 1000
	b := build(t, n).add("h", []int{0}, nil)
	for q := 1; q < n; q++ {
		b.add("cx", []int{q}, []int{q - 1})
	}
	got := mustRun(t, b.circuit, Options{})
	zeros, ones := fmt.Sprintf("%0*d", n, 0), ""
	for range n {
		ones += "1"
	}
	if p := chiSquareP(got.Counts, map[string]float64{zeros: 0.5, ones: 0.5}); p < 1e-6 {
		t.Errorf("GHZ-%d gives %d keys, p = %g", n, len(got.Counts), p)
	}
}

// TestThreadsDoNotChangeCounts covers several blocks and the sampler.
func TestThreadsDoNotChangeCounts(t *testing.T) {
	c := build(t, 18).random(newRandom(18), 100, unitaryNames, false).circuit
	want := mustRun(t, c, Options{Threads: 1})
	for threads := 2; threads < 5; threads++ {
		if got := mustRun(t, c, Options{Threads: threads}); !maps.Equal(got.Counts, want.Counts) {
			t.Errorf("%d threads change the counts", threads)
		}
	}
}

func TestMeasuredQubitsMakeTheKey(t *testing.T) {
	b := build(t, 4).add("x", []int{3}, nil).add("measure", []int{3}, nil).add("measure", []int{1}, nil)
	got := mustRun(t, b.circuit, Options{})
	if got.Counts["10"] != 1000 || got.Probabilities["10"] != 1 {
		t.Errorf("counts %v, probabilities %v", got.Counts, got.Probabilities)
	}
	// The last measurement counts.
	b.add("x", []int{3}, nil).add("measure", []int{3}, nil)
	if got := mustRun(t, b.circuit, Options{}); got.Counts["00"] != 1000 {
		t.Errorf("counts %v", got.Counts)
	}
}

func TestRunRefusesBeforeAllocating(t *testing.T) {
	c := build(t, 28).add("t", []int{0}, nil).circuit
	_, err := Run(context.Background(), c, Options{MemoryLimitBytes: 1 << 30})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != CodeMemory {
		t.Fatalf("28 qubits within 1 GiB: %v", err)
	}
	if need := Estimate(c).MemoryBytes; need < 4<<30 || need > 5<<30 {
		t.Errorf("28 qubits are estimated at %d bytes", need)
	}
	if _, err := Run(context.Background(), c, Options{Engine: EngineStabilizer}); !errors.As(err, &refusal) || refusal.Code != CodeEngine {
		t.Errorf("a t gate on the tableau: %v", err)
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	c := build(t, 20).random(newRandom(19), 2000, unitaryNames, false).circuit
	ctx, cancel := context.WithCancel(context.Background())
	var reported []float64
	_, err := Run(ctx, c, Options{Progress: func(fraction float64) {
		reported = append(reported, fraction)
		if fraction > 0.1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	for i := 1; i < len(reported); i++ {
		if reported[i] <= reported[i-1] {
			t.Errorf("progress goes from %v to %v", reported[i-1], reported[i])
		}
	}
	expired, stop := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer stop()
	if _, err := Run(expired, c, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v after the deadline", err)
	}
}

// TestRepeatedMeasurementsAgree measures every qubit of random stabilizer states, some wider than a machine word, in
// random order, then again, and compares with solving the whole state: all three must be the same sums of symbols.
func TestRepeatedMeasurementsAgree(t *testing.T) {
	rng := newRandom(20)
	for round := range 40 {
		n := []int{1, 2, 5, 9, 40, 70, 130}[round%7]
		b := build(t, n).random(rng, 12*n, cliffordNames, true)
		state := newTableau(n, true)
		for _, g := range b.circuit.gates {
			state.apply(g)
		}
		first := make([]parity, n)
		for _, q := range permute(rng, n) {
			first[q] = state.measure(q)
		}
		again := make([]parity, n)
		for _, q := range permute(rng, n) {
			again[q] = state.measure(q)
		}
		solved, err := state.measureAll(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for q := range n {
			if a, b, c := symbols(first[q]), symbols(again[q]), symbols(solved[q]); a != b || a != c {
				t.Fatalf("round %d: qubit %d of %d is %s, then %s, solved %s", round, q, n, a, b, c)
			}
		}
	}
}

func symbols(p parity) string {
	text := ""
	p.forEach(func(s int) { text += fmt.Sprint(" ", s) })
	return text
}

// TestDeterminedMeasurementsMidCircuit runs U, measures in the middle what is known there, and undoes U.
func TestDeterminedMeasurementsMidCircuit(t *testing.T) {
	rng := newRandom(21)
	for round := range 200 {
		n := 2 + round%5
		b := build(t, n).random(rng, 30, []string{"h", "s", "cx", "cz", "y"}, true)
		for q := range n { // every outcome but the first few is determined by those before
			b.add("measure", []int{q}, nil)
		}
		for q := range n {
			b.add("h", []int{q}, nil)
		}
		for q := range n { // measured again in another basis, so that the first measurements cannot wait
			b.add("cx", []int{q}, []int{(q + 1) % n}).add("h", []int{q}, nil)
		}
		b.circuit.slots = 2 * n
		for i := len(b.circuit.gates) - 1; i >= 0; i-- {
			if g := &b.circuit.gates[i]; g.kind == kindMeasure {
				g.slots = []int{n + g.targets[0]}
			}
		}
		for q := range n {
			b.add("measure", []int{q}, nil)
		}
		want := mustRun(t, b.circuit, Options{Engine: EngineStatevector}).Probabilities
		key, _, err := stabilizerOutcomes(context.Background(), b.circuit, &tally{}, nil, &progress{})
		if err != nil {
			t.Fatal(err)
		}
		compareDistributions(t, parityDistribution(key), want, 1e-9)
	}
}
