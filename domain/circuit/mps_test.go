package circuit

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ising is a chain in a transverse field, in Trotter steps of nearest neighbours, from all qubits in superposition.
func ising(n, steps int) family {
	f := family{name: "ising", qubits: n}
	for q := range n {
		f.gate(`{"gate":"h","target":%d}`, q)
	}
	for range steps {
		for parity := range 2 {
			for q := parity; q+1 < n; q += 2 {
				f.gate(`{"gate":"cx","control":%d,"target":%d}`, q, q+1)
				f.gate(`{"gate":"rz","target":%d,"angle":0.4}`, q+1)
				f.gate(`{"gate":"cx","control":%d,"target":%d}`, q, q+1)
			}
		}
		for q := range n {
			f.gate(`{"gate":"rx","target":%d,"angle":0.3}`, q)
		}
	}
	return f
}

// knn compares two registers of product states by a swap test, its controlled swaps written as two-qubit gates. The ancilla is 0
// with probability (1 + overlap²)/2.
func knn(pairs int, first, second func(i int) float64) (f family, overlap float64) {
	f, overlap = family{name: "knn", qubits: 2*pairs + 1}, 1
	a, b := func(i int) int { return 1 + i }, func(i int) int { return 1 + pairs + i }
	for i := range pairs {
		f.gate(`{"gate":"ry","target":%d,"angle":%v}`, a(i), first(i))
		f.gate(`{"gate":"ry","target":%d,"angle":%v}`, b(i), second(i))
		overlap *= math.Cos((first(i) - second(i)) / 2)
	}
	f.gate(`{"gate":"h","target":0}`)
	for i := range pairs {
		f.gate(`{"gate":"cx","control":%d,"target":%d}`, b(i), a(i))
		f.toffoli(0, a(i), b(i))
		f.gate(`{"gate":"cx","control":%d,"target":%d}`, b(i), a(i))
	}
	f.gate(`{"gate":"h","target":0}`)
	return f, overlap
}

// fourier transforms a basis state.
func fourier(n int, of uint64) family {
	f := family{name: "qft", qubits: n}
	for q := range n {
		if of>>q&1 != 0 {
			f.gate(`{"gate":"x","target":%d}`, q)
		}
	}
	for target := n - 1; target >= 0; target-- {
		f.gate(`{"gate":"h","target":%d}`, target)
		for control := target - 1; control >= 0; control-- {
			f.gate(`{"gate":"cp","control":%d,"target":%d,"angle":%v}`, control, target, math.Ldexp(math.Pi, control-target))
		}
	}
	return f
}

// label is a Pauli product of one letter.
func label(n, qubit int, letter string) string {
	return strings.Repeat("I", n-1-qubit) + letter + strings.Repeat("I", qubit)
}

func mustBeExact(t *testing.T, r Result) {
	t.Helper()
	if r.Engine != "mps-double-v1" || r.Truncation.ErrorBound > 1e-12 || !strings.Contains(r.EngineReason, "16384 amplitudes") {
		t.Fatal(r.Engine, r.EngineReason, r.Truncation)
	}
}

// TestWideIsing: far from its ends a long chain is like the middle of a short one, because no more than steps neighbours are heard of.
func TestWideIsing(t *testing.T) {
	t.Parallel()
	const n, short, steps = 420, 13, 2
	ask := func(n int) string {
		return fmt.Sprintf(`,"marginals":[[%d,%d]],"observables":[{"%s":1},{"%s":1}]`, n/2, n/2+1, label(n, n/2, "X"), label(n, n/2, "Y"))
	}
	r := mustRun(t, ising(n, steps).circuit(t, ask(n)), Options{})
	mustBeExact(t, r)
	want := mustRun(t, ising(short, steps).circuit(t, ask(short)), Options{})
	if d := distributionsDiffer(r.Marginals[0].Probabilities, want.Marginals[0].Probabilities, 1e-11); d != "" {
		t.Error(d)
	}
	for i, e := range r.Expectations {
		if math.Abs(*e.Value-*want.Expectations[i].Value) > 1e-11 {
			t.Errorf("expectation value %d is %v, not %v", i, *e.Value, *want.Expectations[i].Value)
		}
	}
}

func TestWideKNN(t *testing.T) {
	t.Parallel()
	second := func(i int) float64 {
		if i%60 == 7 {
			return 0.3
		}
		return 1.1 + float64(i%5)/4
	}
	f, overlap := knn(170, func(i int) float64 { return 1.1 + float64(i%5)/4 }, second)
	r := mustRun(t, f.circuit(t, `,"marginals":[[0]]`), Options{})
	mustBeExact(t, r)
	if p := r.Marginals[0].Probabilities["0"]; math.Abs(p-(1+overlap*overlap)/2) > 1e-11 {
		t.Errorf("the ancilla is 0 with probability %v; the overlap is %v", p, overlap)
	}
}

func TestWideFourier(t *testing.T) {
	t.Parallel()
	const n, of = 63, 0x5a5a_1234_fedc_0f0f
	asked := []int{0, 5, 31, 62}
	terms := make([]string, len(asked))
	for i, q := range asked {
		terms[i] = `{"` + label(n, q, "X") + `":1}`
	}
	r := mustRun(t, fourier(n, of).circuit(t, `,"observables":[`+strings.Join(terms, ",")+"]"), Options{})
	mustBeExact(t, r)
	for i, q := range asked {
		fraction := float64(uint64(of)&(1<<(q+1)-1)) / math.Ldexp(1, q+1)
		if want := math.Cos(2 * math.Pi * fraction); math.Abs(*r.Expectations[i].Value-want) > 1e-11 {
			t.Errorf("qubit %d: %v, not %v", q, *r.Expectations[i].Value, want)
		}
	}
	if r.Truncation.Bond > 2 {
		t.Errorf("a product state has bonds of dimension %d", r.Truncation.Bond)
	}
}

// entangling is a circuit that leaves every bond of so many qubits as large as it can be.
func entangling(t *testing.T, n int, seed uint64) *builder {
	b := build(t, n)
	rng := newRandom(seed)
	for range n {
		b.random(rng, n, []string{"u"}, false)
		for q := range n - 1 {
			b.add("rxx", []int{q, q + 1}, nil, rng.float64())
		}
	}
	return b
}

func TestMatrixProductStateOutgrowsItsRoom(t *testing.T) {
	t.Parallel()
	space := &mpsSpace{room: room{total: 100 << 10}}
	err := runWide(t.Context(), entangling(t, 16, 5).circuit, space.start(16), newRandom(1), &progress{}, &Result{}, space.finished)
	if !outgrown(err) || !strings.Contains(err.Error(), "reached a bond of dimension") {
		t.Error(err)
	}
}

func TestMPSRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, says string }{
		"wide gate": {`{"qubits":12,"method":"mps","gates":[{"gate":"mcx","controls":[0,1,2,3,4,5],"target":6}]}`, "acts on more than 6 qubits"},
	} {
		_, err := Parse([]byte(tt.text), Limits{})
		if r, refused := errors.AsType[*Refusal](err); !refused || !strings.Contains(r.Message, tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDecompose: right singular vectors are orthonormal, and singular values and vectors give M†M back.
func TestDecompose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m := newMatrix(rapid.IntRange(1, 9).Draw(r, "rows"), rapid.IntRange(1, 9).Draw(r, "columns"))
		rng := newRandom(rapid.Uint64().Draw(r, "seed"))
		for i := range m.values {
			m.values[i] = scalar{rng.float64() - 0.5, rng.float64() - 0.5}
		}
		for i := 1; i < m.rows; i += 2 { // some rows depend on others, some are small
			copy(m.row(i), m.row(i-1))
			m.row(i)[0] = scalar{m.row(i)[0].re + 1e-9, m.row(i)[0].im}
		}
		parts, err := decompose(t.Context(), m)
		if err != nil {
			r.Fatal(err)
		}
		parts.truncated(0)
		for i := range parts.right.rows {
			for j := range parts.right.rows {
				want := 0.0
				if i == j && parts.values[i] > 1e-14 {
					want = 1
				}
				if parts.values[i] < 1e-14 || parts.values[j] < 1e-14 {
					continue // rounding
				}
				if got := inner(parts.right.row(i), parts.right.row(j)); math.Hypot(got.re-want, got.im) > 1e-13 {
					r.Fatalf("rows %d and %d: %v", i, j, got)
				}
			}
		}
		total := squareNorm(m.values)
		for i := range m.columns {
			for j := range m.columns {
				var want, got scalar
				for k := range m.rows {
					want = want.plus(m.row(k)[i].conjugate().times(m.row(k)[j]))
				}
				for k, s := range parts.values {
					part := parts.right.row(k)[i].conjugate().times(parts.right.row(k)[j])
					got = got.plus(scalar{s * s * total * part.re, s * s * total * part.im})
				}
				if math.Hypot(got.re-want.re, got.im-want.im) > 1e-13*total {
					r.Fatalf("entry %d, %d: %v, not %v", i, j, got, want)
				}
			}
		}
	})
}
