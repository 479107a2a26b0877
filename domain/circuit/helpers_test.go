package circuit

import (
	"context"
	"math"
	"testing"
)

// builder makes circuits for tests through the same checks as Parse.
type builder struct {
	t       testing.TB
	circuit Circuit
}

func build(t testing.TB, qubits int) *builder {
	return &builder{t, Circuit{qubits: qubits, slots: qubits, shots: 1000, precision: Double, statevector: true, hasSeed: true, seed: 42}}
}

func (b *builder) add(name string, targets, controls []int, params ...float64) *builder {
	b.t.Helper()
	g, err := newGate(len(b.circuit.gates), name, targets, controls, params, nil, b.circuit.qubits)
	if err != nil {
		b.t.Fatal(err)
	}
	b.circuit.gates = append(b.circuit.gates, g)
	return b
}

// unitaryNames and cliffordNames are what random circuits draw from.
var unitaryNames = []string{
	"x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "rx", "ry", "rz", "p", "u", "cx", "cy", "cz", "ch", "cp", "crx",
	"cry", "crz", "swap", "iswap", "rxx", "ryy", "rzz", "ccx", "cswap", "mcx", "mcz",
}

var cliffordNames = []string{"x", "y", "z", "h", "h", "h", "s", "sdg", "sx", "sxdg", "cx", "cx", "cx", "cy", "cz", "swap", "iswap", "rx", "ry", "rz", "p", "u", "cp"}

// random adds gates; quarter makes every angle a multiple of π/2 (π for cp).
func (b *builder) random(rng *random, count int, names []string, quarter bool) *builder {
	n := b.circuit.qubits
	for range count {
		name := names[rng.uint64()%uint64(len(names))]
		spec := specByName[name]
		controls := spec.controls
		if controls == anyControls {
			controls = 1 + int(rng.uint64()%4)
		}
		if spec.targets+controls > n {
			continue
		}
		order := permute(rng, n)
		params := make([]float64, spec.params)
		for i := range params {
			params[i] = (rng.float64() - 0.5) * 14
			if quarter {
				params[i] = float64(int(rng.uint64()%9)-4) * math.Pi / 2
				if name == "cp" {
					params[i] *= 2
				}
			}
		}
		b.add(name, order[:spec.targets], order[spec.targets:spec.targets+controls], params...)
	}
	return b
}

func permute(rng *random, n int) []int {
	order := make([]int, n)
	for i := range order {
		j := int(rng.uint64() % uint64(i+1))
		order[i], order[j] = order[j], i
	}
	return order
}

func mustRun(t testing.TB, c Circuit, options Options) Result {
	t.Helper()
	r, err := Run(context.Background(), c, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runWith runs the state-vector engine with a setup of the test's own.
func runWith[F float](t testing.TB, c Circuit, how engineSetup[F]) Result {
	t.Helper()
	r := Result{Seed: c.seed, Shots: c.shots}
	how.memory = &arena{}
	if err := runStatevector(context.Background(), c, how, newRandom(c.seed), &progress{}, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func plain(operators []operator) []operator { return operators }

// small is a geometry with many blocks of few amplitudes.
func small(qubits int) geometry {
	return geometry{stateBits: max(qubits, minBits), laneBits: 3, blockBits: 7, runBits: 4}
}

func closeStates(t *testing.T, got, want [][2]float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d amplitudes, want %d", len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i][0]-want[i][0]) > tolerance || math.Abs(got[i][1]-want[i][1]) > tolerance {
			t.Fatalf("amplitude %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// newState is |0…0⟩ on the heap.
func newState[F float](bits int) state[F] {
	s := state[F]{re: make([]F, 1<<bits), im: make([]F, 1<<bits)}
	s.re[0] = 1
	return s
}
