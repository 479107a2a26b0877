package circuit

import (
	"context"
	"encoding/json"
	"math"
	"slices"
)

// Bounds of what a circuit asks marginals of.
const (
	MaxMarginals      = 100
	MaxMarginalQubits = 12 // of one marginal
)

// Marginal is the exact distribution of some qubits in the state before the final measurements, averaged over the outcomes of
// those before.
type Marginal struct {
	Qubits        []int              `json:"qubits" doc:"As asked for; the first is the rightmost character of a key"`
	Probabilities map[string]float64 `json:"probabilities,omitempty" doc:"Exact probability of each key above 1e-12; left out when not every history was followed"`
}

// marginals reads an array of arrays of qubits.
func (r *reader) marginals() ([][]integer, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	if token != json.Delim('[') {
		return nil, refuse(CodeWrongType, "marginals must be an array of arrays of qubits, not %s", describe(token))
	}
	var out [][]integer
	for r.dec.More() {
		if len(out) == MaxMarginals {
			return nil, refuse(CodeMarginal, "a circuit has at most %d marginals", MaxMarginals)
		}
		if token, err = r.token(); err != nil {
			return nil, err
		}
		if token != json.Delim('[') {
			return nil, refuse(CodeWrongType, "marginals must be an array of arrays of qubits, not of %s", describe(token))
		}
		var qubits []integer
		for r.dec.More() {
			if len(qubits) == MaxMarginalQubits {
				return nil, refuse(CodeMarginal, "a marginal is of at most %d qubits", MaxMarginalQubits)
			}
			if token, err = r.token(); err != nil {
				return nil, err
			}
			q, err := toInteger(token, circuitLevel, "", "a qubit of marginals")
			if err != nil {
				return nil, err
			}
			qubits = append(qubits, q)
		}
		if err := r.close(); err != nil {
			return nil, err
		}
		out = append(out, qubits)
	}
	return out, r.close()
}

// checkMarginals checks that the circuit has the qubits.
func (c Circuit) checkMarginals(raw [][]integer) ([][]int, error) {
	var out [][]int
	for i, list := range raw {
		if len(list) == 0 {
			return nil, refuse(CodeMarginal, "marginal %d names no qubit", i)
		}
		var qubits []int
		for _, q := range list {
			if q.value < 0 || q.value >= int64(c.qubits) {
				return nil, refuse(CodeQubitRange, "marginal %d: %s is not a qubit of this circuit (0 to %d)", i, q.text, c.qubits-1)
			}
			if slices.Contains(qubits, int(q.value)) {
				return nil, refuse(CodeRepeatedQubit, "marginal %d: qubit %s is named twice", i, q.text)
			}
			qubits = append(qubits, int(q.value))
		}
		out = append(out, qubits)
	}
	return out, nil
}

// WithMarginals returns the circuit with the marginals of a JSON array, as the field marginals has them.
func (c Circuit) WithMarginals(text []byte) (Circuit, error) {
	r := newReader(text, "the marginals", DefaultLimits())
	raw, err := r.marginals()
	if err := firstError(err, r.end()); err != nil {
		return Circuit{}, err
	}
	c.marginals, err = c.checkMarginals(raw)
	return c, err
}

// marginalSums adds up distributions over the histories of a run.
type marginalSums [][]float64

func newMarginalSums(marginals [][]int) marginalSums {
	sums := make(marginalSums, len(marginals))
	for i, qubits := range marginals {
		sums[i] = make([]float64, 1<<len(qubits))
	}
	return sums
}

// result lists the distributions; without exact, only what they are of.
func (s marginalSums) result(marginals [][]int, exact bool) []Marginal {
	out := make([]Marginal, len(marginals))
	for i, qubits := range marginals {
		out[i].Qubits = qubits
		if !exact {
			continue
		}
		out[i].Probabilities = map[string]float64{}
		for index, p := range s[i] {
			if p >= dust {
				out[i].Probabilities[keyOf(index, len(qubits))] = p
			}
		}
	}
	return out
}

// keyOf writes the low bits of a number, the lowest rightmost.
func keyOf(index, bits int) string {
	key := make([]byte, bits)
	for i := range key {
		key[bits-1-i] = '0' + byte(index>>i&1)
	}
	return string(key)
}

// addMarginals adds a finished branch.
func (sim *simulation[F]) addMarginals(ctx context.Context, b branch[F]) error {
	if !sim.exact {
		return nil
	}
	for i, qubits := range sim.marginals {
		positions := make([]int, len(qubits))
		for bit, q := range qubits {
			positions[bit] = sim.layouts[b.segment][sim.program.final[q]]
		}
		distribution, err := sim.machine.marginal(ctx, b.state, positions)
		if err != nil {
			return err
		}
		for key, p := range distribution {
			sim.sums[i][key] += float64(b.weight * p)
		}
	}
	return nil
}

// marginalParts is into how many parts a state is cut whose distributions are added up in order, whatever the threads.
const marginalParts = 64

// marginal is the distribution of the bits at some positions of the index, the first the lowest bit of a key.
func (m *machine[F]) marginal(ctx context.Context, s state[F], positions []int) ([]float64, error) {
	size := min(1<<chunkBits, len(s.re))
	chunks := len(s.re) / size
	parts := min(marginalParts, chunks)
	keyAt := func(index int) (key int) {
		for bit, position := range positions {
			key |= index >> position & 1 << bit
		}
		return key
	}
	inside := make([]uint16, size) // of a chunk
	for i := range inside {
		inside[i] = uint16(keyAt(i))
	}
	sums := make([]float64, parts<<len(positions))
	err := m.forEachChunk(ctx, parts, func(part int) {
		own := sums[part<<len(positions):][:1<<len(positions)]
		for chunk := part * (chunks / parts); chunk < (part+1)*(chunks/parts) && ctx.Err() == nil; chunk++ {
			re, im := s.re[chunk*size:][:size], s.im[chunk*size:][:size]
			outside := keyAt(chunk * size)
			for i, key := range inside {
				a, b := float64(re[i]), float64(im[i])
				own[outside|int(key)] += float64(a*a) + float64(b*b)
			}
		}
	})
	if err := firstError(err, ctx.Err()); err != nil {
		return nil, err
	}
	total := sums[:1<<len(positions)]
	for part := 1; part < parts; part++ {
		for key, p := range sums[part<<len(positions):][:len(total)] {
			total[key] += p
		}
	}
	return total, nil
}

// marginal is the exact distribution of sums of symbols, the first the lowest bit of a key: uniform over an affine space, and then
// spread by every error that flips some of the bits.
func (n *stabilizerNoise) marginal(ctx context.Context, bits []parity) ([]float64, error) {
	constant := 0
	bySymbol := map[int][]uint64{} // which bits each symbol is part of
	for i, p := range bits {
		p.forEach(func(symbol int) {
			if symbol == 0 {
				constant ^= 1 << i
				return
			}
			if bySymbol[symbol] == nil {
				bySymbol[symbol] = []uint64{0}
			}
			bySymbol[symbol][0] ^= 1 << i
		})
	}
	errors := n.errors(bySymbol, 1)
	out := uniform(len(bits), constant, bySymbol)
	for _, e := range errors {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = e.spread(out)
	}
	return out, nil
}

// spread is a distribution after an error that may flip bits of the key.
func (e *sampledError) spread(before []float64) []float64 {
	var flips [maxOutcomes]int // of each kind of error that flips the same bits, and their probability together
	var weight [maxOutcomes]float64
	kinds, below := 0, 0.0
	for _, choice := range e.choices {
		p := choice.below - below
		below = choice.below
		at := slices.Index(flips[:kinds], int(choice.flips[0]))
		if choice.flips[0] == 0 {
			continue
		}
		if at < 0 {
			at = kinds
			flips[at] = int(choice.flips[0])
			kinds++
		}
		weight[at] += p
	}
	if kinds == 0 {
		return before
	}
	rest := 1.0
	for _, p := range weight[:kinds] {
		rest -= p
	}
	after := make([]float64, len(before))
	for key, p := range before {
		if p == 0 {
			continue
		}
		after[key] += float64(p * max(0, rest))
		for i, flip := range flips[:kinds] {
			after[key^flip] += float64(p * weight[i])
		}
	}
	return after
}

// uniform is the distribution of a constant plus any sum of vectors.
func uniform(bits, constant int, vectors map[int][]uint64) []float64 {
	keys := []int{constant}
	reached := func(vector int) bool { return slices.Contains(keys, constant^vector) }
	for _, v := range vectors { // in any order: the space is the same
		vector := int(v[0])
		if reached(vector) {
			continue
		}
		for _, key := range keys[:len(keys):len(keys)] {
			keys = append(keys, key^vector)
		}
	}
	out := make([]float64, 1<<bits)
	for _, key := range keys {
		out[key] = math.Ldexp(1, -extractWire(wires(len(keys))))
	}
	return out
}

// marginalBytes bounds the distributions on the heap, and in the result.
func (c Circuit) marginalBytes() (heap, result int64) {
	widest := 0
	for _, qubits := range c.marginals {
		keys := int64(1) << len(qubits)
		heap += keys*(8+MaxMarginalQubits+16+entryBytes) + 256
		result += keys*(MaxMarginalQubits+32) + 256
		widest = max(widest, len(qubits))
	}
	if len(c.marginals) > 0 {
		heap += marginalParts * 8 << widest
	}
	return heap, result
}
