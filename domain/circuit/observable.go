package circuit

import (
	"context"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Bounds of what a circuit asks expectation values of.
const (
	MaxObservables = 100
	MaxPauliTerms  = 10_000 // of all observables together
)

// pauliTerm is a product of Pauli matrices, one per qubit, times a real coefficient.
type pauliTerm struct {
	coefficient float64
	x, z        []int // qubits with X or Y, and with Z or Y, ascending
	ys          int   // number of Y
}

// observable is a sum of terms: a Hermitian operator.
type observable []pauliTerm

// Expectation is the expectation value of one observable in the state before the final measurements, averaged over the
// outcomes of those before.
type Expectation struct {
	Value         *float64 `json:"value,omitempty" doc:"Exact; left out when not every history was followed"`
	Sampled       float64  `json:"sampled" doc:"Mean over the shots of the sum of the terms, each of them measured once and 1 or -1"`
	StandardError float64  `json:"standard_error" doc:"Of sampled, from the variance of those sums"`
}

// WithObservables returns the circuit with the observables of a JSON array, as the field observables has them.
func (c Circuit) WithObservables(text []byte) (Circuit, error) {
	r := newReader(text, "the observables", DefaultLimits())
	raw, err := r.observables()
	if err := firstError(err, r.end()); err != nil {
		return Circuit{}, err
	}
	c.observables, err = c.checkObservables(raw)
	return c, err
}

// rawTerm is a term before the number of qubits is known.
type rawTerm struct {
	label       string
	coefficient float64
}

// observables reads an array of objects from labels to coefficients.
func (r *reader) observables() ([][]rawTerm, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, refuse(CodeWrongType, "observables must be an array of objects, not %s", describe(token))
	}
	var out [][]rawTerm
	total := 0
	for r.dec.More() {
		if len(out) == MaxObservables {
			return nil, refuse(CodeObservable, "a circuit has at most %d observables", MaxObservables)
		}
		if err := r.open(circuitLevel, "each observable"); err != nil {
			return nil, err
		}
		var terms []rawTerm
		seen := map[string]bool{}
		for r.dec.More() {
			label, err := r.key(seen, circuitLevel, "")
			if err != nil {
				return nil, err
			}
			if total++; total > MaxPauliTerms {
				return nil, refuse(CodeObservable, "observables have at most %d terms together", MaxPauliTerms)
			}
			coefficient, err := r.coefficient(label)
			if err != nil {
				return nil, err
			}
			terms = append(terms, rawTerm{label, coefficient})
		}
		if err := r.close(); err != nil {
			return nil, err
		}
		out = append(out, terms)
	}
	return out, r.close()
}

// maxCoefficient keeps sums of squares finite.
const maxCoefficient = 1e100

func (r *reader) coefficient(label string) (float64, error) {
	token, err := r.token()
	if err != nil {
		return 0, err
	}
	number, ok := token.(json.Number)
	if !ok {
		return 0, refuse(CodeWrongType, "the coefficient of %s must be a number, not %s", clipText(label), describe(token))
	}
	value, err := number.Float64()
	if err != nil || math.Abs(value) > maxCoefficient {
		return 0, refuse(CodeObservable, "the coefficient %s of %s is not a number up to 1e100", clipText(number.String()), clipText(label))
	}
	return value, nil
}

// checkObservables turns labels into terms: one letter per qubit, qubit 0 rightmost, as in keys and in Qiskit.
func (c Circuit) checkObservables(raw [][]rawTerm) ([]observable, error) {
	out := make([]observable, len(raw))
	for i, terms := range raw {
		if len(terms) == 0 {
			return nil, refuse(CodeObservable, "observable %d has no terms", i)
		}
		for _, term := range terms {
			if len(term.label) != c.qubits || strings.Trim(term.label, "IXYZ") != "" {
				return nil, refuse(CodeObservable, "observable %d: a term has one of I, X, Y and Z for each of the %d qubits, not %s",
					i, c.qubits, clipText(term.label))
			}
			t := pauliTerm{coefficient: term.coefficient}
			for q := range c.qubits {
				letter := term.label[c.qubits-1-q]
				if letter == 'X' || letter == 'Y' {
					t.x = append(t.x, q)
				}
				if letter == 'Z' || letter == 'Y' {
					t.z = append(t.z, q)
				}
				if letter == 'Y' {
					t.ys++
				}
			}
			out[i] = append(out[i], t)
		}
	}
	return out, nil
}

// tally adds up expectation values over the histories of a run.
type tally struct {
	rng     *random // of its own, so that counts do not depend on the requested values
	shots   int
	exact   []float64 // one per observable
	sampled []spread  // one per observable
	terms   []observable
}

// spread is the sum of numbers, their mean, and the sum of the squares of their distances to it (Welford 1962).
type spread struct {
	count, sum, mean, squares float64
}

func (s *spread) add(x float64) {
	s.count++
	s.sum += x
	before := x - s.mean
	s.mean += before / s.count
	s.squares += float64(before * (x - s.mean))
}

// observableSeed separates the numbers drawn for observables from those drawn for counts.
const observableSeed = 0x6f627376_70617569

func newTally(observables []observable, shots int, seed uint64) *tally {
	return &tally{
		rng: newRandom(seed ^ observableSeed), shots: shots, terms: observables,
		exact: make([]float64, len(observables)), sampled: make([]spread, len(observables)),
	}
}

// add counts a history: values are the terms' expectations in its final state. A shot measures every term once, in copies of that
// state; the terms of a shot share its history, so that only sums over all terms are independent of each other.
func (t *tally) add(observable int, values []float64, weight float64, shots int) {
	terms := t.terms[observable]
	up := make([]float64, len(values))
	for k, value := range values {
		value = max(-1, min(1, value)) // rounding
		t.exact[observable] += float64(float64(terms[k].coefficient*weight) * value)
		up[k] = (1 + value) / 2
	}
	for range shots {
		sum := 0.0
		for k := range terms {
			if t.rng.float64() < up[k] {
				sum += terms[k].coefficient
			} else {
				sum -= terms[k].coefficient
			}
		}
		t.sampled[observable].add(sum)
	}
}

// expectations are the sums; exact says whether every history was counted.
func (t *tally) expectations(exact bool) []Expectation {
	out := make([]Expectation, len(t.terms))
	n := float64(t.shots)
	for i, o := range t.terms {
		out[i].Sampled = t.sampled[i].sum / n
		variance := 0.0
		if t.shots > 1 {
			variance = t.sampled[i].squares / (n * (n - 1))
		} else {
			for _, term := range o { // nothing is known of it: each term is 1 or -1
				variance += float64(term.coefficient * term.coefficient)
			}
		}
		out[i].StandardError = math.Sqrt(variance)
		if exact {
			value := t.exact[i]
			out[i].Value = &value
		}
	}
	return out
}

// expectation is ⟨state|P|state⟩ for the product of X on the positions of x and Z on those of z, with Y = iXZ where they
// meet, summed chunk by chunk in order.
func (m *machine[F]) expectation(ctx context.Context, s state[F], x, z uint64, ys int) (float64, error) {
	size := min(1<<chunkBits, len(s.re))
	sums, _ := m.chunkSums(len(s.re) / size)
	err := m.forEachChunk(ctx, len(sums), func(chunk int) {
		sum := 0.0
		for i := chunk * size; i < (chunk+1)*size; i++ {
			ar, ai := float64(s.re[i]), float64(s.im[i])
			j := uint64(i) ^ x
			br, bi := float64(s.re[j]), float64(s.im[j])
			var part float64 // real part of i^ys · conj(b) · a
			if ys%2 == 0 {
				part = float64(br*ar) + float64(bi*ai)
			} else {
				part = float64(bi*ar) - float64(br*ai)
			}
			if bits.OnesCount64(uint64(i)&z)%2 != 0 {
				part = -part
			}
			sum += part
		}
		sums[chunk] = sum
	})
	total := 0.0
	for _, sum := range sums {
		total += sum
	}
	if ys%4 >= 2 {
		total = -total
	}
	return total, err
}

// observe adds a finished branch to the tally.
func (sim *simulation[F]) observe(ctx context.Context, b branch[F]) error {
	positions := sim.layouts[b.segment]
	mask := func(qubits []int) (out uint64) {
		for _, q := range qubits {
			out |= 1 << positions[sim.program.final[q]]
		}
		return out
	}
	for i, o := range sim.tally.terms {
		values := make([]float64, len(o))
		for k, term := range o {
			if sim.dephased(term) {
				continue
			}
			var err error
			if values[k], err = sim.machine.expectation(ctx, b.state, mask(term.x), mask(term.z), term.ys); err != nil {
				return err
			}
		}
		sim.tally.add(i, values, b.weight, b.shots)
	}
	return nil
}

// dephased reports whether a term sees coherence that a measurement has destroyed: its expectation is 0.
func (sim *simulation[F]) dephased(term pauliTerm) bool {
	for _, q := range term.x {
		if sim.program.dephased&(1<<sim.program.final[q]) != 0 {
			return true
		}
	}
	return false
}

// expectation is that of a term in a stabilizer state with destabilizers: 1 or -1 when the term or its negative is a
// stabilizer whatever the outcomes before, or what the noise leaves of that, otherwise 0. It works on a copy in which the term is
// Z on one qubit.
func (t *tableau) expectation(term pauliTerm, noise *stabilizerNoise) float64 {
	both := slices.Clone(term.x)
	for _, q := range term.z {
		if _, isY := slices.BinarySearch(term.x, q); !isY {
			both = append(both, q)
		}
	}
	if len(both) == 0 {
		return 1
	}
	own := t.clone()
	for _, q := range term.x {
		if _, isY := slices.BinarySearch(term.z, q); isY {
			own.applyS(q, 3) // Y to X
		}
		own.h(q) // X to Z
	}
	last := both[len(both)-1]
	for _, q := range both[:len(both)-1] {
		own.cx(q, last) // Z on last to Z on both
	}
	if own.firstRow(own.x[last], make([]uint64, own.words)) >= 0 {
		return 0
	}
	return noise.mean(own.measureDetermined(last))
}

func (t *tableau) clone() *tableau {
	own := *t
	copied := func(columns [][]uint64) [][]uint64 {
		out := make([][]uint64, len(columns))
		for i, column := range columns {
			out[i] = slices.Clone(column)
		}
		return out
	}
	own.x, own.z, own.signs = copied(t.x), copied(t.z), copied(t.signs)
	return &own
}
