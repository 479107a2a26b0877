package circuit

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// sparseState holds the amplitudes that are not zero, each with its basis state as words of bits, wire 0 the lowest. Their order is that
// in which gates made them, which the circuit alone decides.
type sparseState struct {
	words  int
	keys   []uint64 // of entry i: words i·words to (i+1)·words
	values []scalar
	table  []int32 // open addressing from basis states to entries counted from 1; nil when keys have changed since
	space  *sparseSpace
	taken  int64 // bytes of the room
}

// sparseSpace is what the states of a run share.
type sparseSpace struct {
	room         room
	most         int // amplitudes of one state
	peak         int // amplitudes that one state has reached
	wires, words int
}

// invisible is the square of an amplitude that is rounding dust, of 1e-15.
const invisible = 1e-30

// sparseEntryBytes bounds what an amplitude takes with its place in the table and in the list that the next gate writes, with the
// spare capacity of both.
func sparseEntryBytes(words int) int64 { return 3*(int64(words)*8+16) + 16 }

// runSparse runs a circuit on the amplitudes that are not zero.
func runSparse(ctx context.Context, c Circuit, rng *random, report *progress, result *Result) error {
	result.Engine, result.EngineReason = "sparse-double-v1", c.wideReason()
	most := math.MaxInt32
	if c.triesSparse() {
		most = triedAmplitudes
	}
	space := newSparseSpace(c.qubits, most, c.sparseBytes())
	err := runWide(ctx, c, space.start(), rng, report, result, func(wideState) {})
	result.Amplitudes = space.peak
	return err
}

// triedAmplitudes is how many a state may reach before a matrix product state runs the circuit instead, where none is asked for.
const triedAmplitudes = 1 << 14

// triesSparse reports whether a matrix product state takes over from a sparse state that grows.
func (c Circuit) triesSparse() bool {
	_, reason := c.notMPS()
	return c.method == EngineAuto && reason == ""
}

// sparseBytes bounds the amplitudes of all histories: gates that only move basis states make no new ones.
func (c Circuit) sparseBytes() int64 {
	branching, histories := 0, 0 // log2 of what there may be
	for _, step := range lowerWide(c).code {
		switch {
		case step.operator != nil && step.operator.permutation() == nil:
			branching += len(step.operator.targets)
		case step.operator == nil && step.event.splits():
			histories++
		case step.operator == nil && step.event.kind == eventLoop:
			branching, histories = c.qubits, maxWideBits
		}
	}
	doublings := min(branching, c.qubits) + histories + 1
	if doublings > maxWideBits {
		return maxWideBytes
	}
	return min(maxWideBytes, sparseEntryBytes((c.qubits+63)/64)<<doublings)
}

func newSparseSpace(wires, most int, total int64) *sparseSpace {
	return &sparseSpace{room: room{total: total}, most: most, wires: wires, words: (wires + 63) / 64}
}

// start is |0…0⟩.
func (s *sparseSpace) start() *sparseState {
	state := &sparseState{words: s.words, keys: make([]uint64, s.words), values: []scalar{{1, 0}}, space: s}
	_ = state.fit() // one amplitude fits any room
	return state
}

// fit takes the room of the state's amplitudes, or refuses.
func (s *sparseState) fit() error {
	n := len(s.values)
	s.space.peak = max(s.space.peak, n)
	need := int64(n) * sparseEntryBytes(s.words)
	if n > s.space.most || !s.space.room.take(need-s.taken) {
		return s.space.refuse(n)
	}
	s.taken = need
	return nil
}

func (s *sparseSpace) refuse(reached int) *Refusal {
	return refuse(CodeMemory, "the sparse state reached %d amplitudes; %d fit, those of all histories together: the circuit needs another method, such as mps",
		reached, min(int64(s.most), s.room.total/sparseEntryBytes(s.words)))
}

func (s *sparseState) key(i int) []uint64 { return s.keys[i*s.words : (i+1)*s.words] }

func (s *sparseState) size() int { return len(s.values) }

func (s *sparseState) release() {
	s.space.room.give(s.taken)
	s.taken = 0
}

func (s *sparseState) clone() (wideState, error) {
	copied := &sparseState{words: s.words, keys: slices.Clone(s.keys), values: slices.Clone(s.values), space: s.space}
	return copied, copied.fit()
}

// wireMask is the word and the bit of a wire.
type wireMask struct {
	word int
	bit  uint64
}

func masksOf(list []int) []wireMask {
	out := make([]wireMask, len(list))
	for i, w := range list {
		out[i] = wireMask{w / 64, 1 << (w % 64)}
	}
	return out
}

// read gathers the bits of the wires from a basis state.
func readBits(key []uint64, masks []wireMask) (out int) {
	for i, m := range masks {
		if key[m.word]&m.bit != 0 {
			out |= 1 << i
		}
	}
	return out
}

func writeBits(key []uint64, masks []wireMask, value int) {
	for i, m := range masks {
		key[m.word] &^= m.bit
		if value>>i&1 != 0 {
			key[m.word] |= m.bit
		}
	}
}

// apply runs an operator. One that only moves basis states and turns phases needs no look at other entries.
func (s *sparseState) apply(ctx context.Context, op *wideOperator) error {
	g := sparseGate{masksOf(op.targets), masksOf(op.selectors), masksOf(op.controls), op}
	if move := op.permutation(); move != nil {
		return s.move(ctx, g, move)
	}
	return s.mix(ctx, g)
}

// sparseGate is an operator with its wires as masks.
type sparseGate struct {
	targets, selectors, controls []wireMask
	*wideOperator
}

// acts reports whether all controls are 1.
func (g sparseGate) acts(key []uint64) bool {
	for _, m := range g.controls {
		if key[m.word]&m.bit == 0 {
			return false
		}
	}
	return true
}

// moved is where a column of a matrix goes, and the factor.
type moved struct {
	row    int
	factor scalar
}

// permutation lists, by selector and column, the one entry that is not zero; nil when a column has several.
func (o *wideOperator) permutation() []moved {
	dim := o.dim()
	out := make([]moved, len(o.matrix)/dim)
	for at, v := range o.matrix {
		if v.isZero() {
			continue
		}
		selector, row, column := at/dim/dim, at/dim%dim, at%dim
		m := &out[selector*dim+column]
		if !m.factor.isZero() {
			return nil
		}
		*m = moved{row, v}
	}
	return out
}

// entriesBetweenChecks bounds how long a gate runs without looking at the context.
const entriesBetweenChecks = 1 << 14

func (s *sparseState) move(ctx context.Context, g sparseGate, to []moved) error {
	dim := g.dim()
	for i := range s.values {
		if i%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		key := s.key(i)
		if !g.acts(key) {
			continue
		}
		column := readBits(key, g.targets)
		m := to[readBits(key, g.selectors)*dim+column]
		if m.row != column {
			writeBits(key, g.targets, m.row)
			s.table = nil
		}
		if !m.factor.isOne() {
			s.values[i] = s.values[i].times(m.factor)
		}
	}
	return nil
}

// mix multiplies the entries that differ in the targets only by a matrix.
func (s *sparseState) mix(ctx context.Context, g sparseGate) error {
	dim := g.dim()
	if err := s.index(ctx); err != nil {
		return err
	}
	done := make([]bool, len(s.values))
	out := sparseState{
		words: s.words, space: s.space, taken: s.taken,
		keys: make([]uint64, 0, len(s.keys)+s.words), values: make([]scalar, 0, len(s.values)+1),
	}
	before, key := make([]scalar, dim), make([]uint64, s.words)
	for i, value := range s.values {
		if i%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if done[i] {
			continue
		}
		copy(key, s.key(i))
		if !g.acts(key) {
			out.keys, out.values = append(out.keys, key...), append(out.values, value)
			continue
		}
		for column := range dim {
			writeBits(key, g.targets, column)
			before[column] = scalar{}
			if at := s.find(key); at >= 0 {
				before[column], done[at] = s.values[at], true
			}
		}
		matrix := g.matrix[readBits(key, g.selectors)*dim*dim:][:dim*dim]
		for row := range dim {
			var sum scalar
			for column, a := range before {
				if m := matrix[row*dim+column]; !m.isZero() && !a.isZero() {
					sum = sum.plus(m.times(a))
				}
			}
			if square(sum) > invisible {
				writeBits(key, g.targets, row)
				out.keys, out.values = append(out.keys, key...), append(out.values, sum)
			}
		}
		if i%entriesBetweenChecks == 0 { // what it may become has room
			if err := out.fit(); err != nil {
				return err
			}
		}
		if len(out.values) > s.space.most {
			return s.space.refuse(len(out.values))
		}
	}
	err := out.fit()
	*s = out
	return err
}

func square(a scalar) float64 { return float64(a.re*a.re) + float64(a.im*a.im) }

// index makes the table of entries.
func (s *sparseState) index(ctx context.Context) error {
	if s.table != nil {
		return nil
	}
	s.table = make([]int32, 1<<bits.Len(uint(2*len(s.values))))
	for i := range s.values {
		if i%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := s.hash(s.key(i))
		for s.table[at] != 0 {
			at = (at + 1) & (len(s.table) - 1)
		}
		s.table[at] = int32(i + 1)
	}
	return nil
}

// hash is the first place of a basis state in the table.
func (s *sparseState) hash(key []uint64) int {
	h := uint64(0)
	for _, word := range key {
		h = (h ^ word) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return int(h & uint64(len(s.table)-1))
}

// find is the entry of a basis state, or -1; the table must be current.
func (s *sparseState) find(key []uint64) int {
	for at := s.hash(key); s.table[at] != 0; at = (at + 1) & (len(s.table) - 1) {
		if i := int(s.table[at] - 1); slices.Equal(s.key(i), key) {
			return i
		}
	}
	return -1
}

func (s *sparseState) weights(wire int) (zero, one float64) {
	m := masksOf([]int{wire})
	for i, a := range s.values {
		if readBits(s.key(i), m) == 0 {
			zero += square(a)
		} else {
			one += square(a)
		}
	}
	return zero, one
}

func (s *sparseState) collapse(ctx context.Context, wire, value int, scale float64, clearBit bool) error {
	m := masksOf([]int{wire})
	kept := 0
	for i, a := range s.values {
		if i%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		key := s.key(i)
		if readBits(key, m) != value {
			continue
		}
		copy(s.key(kept), key)
		if clearBit {
			writeBits(s.key(kept), m, 0)
		}
		s.values[kept] = scalar{float64(a.re * scale), float64(a.im * scale)}
		kept++
	}
	s.keys, s.values, s.table = s.keys[:kept*s.words], s.values[:kept], nil
	return s.fit()
}

// sample draws basis states as a machine does: sorted numbers along the probabilities of the entries.
func (s *sparseState) sample(ctx context.Context, shots int, rng *random, found func(bit func(wire int) byte, times int)) error {
	sum := 0.0
	for _, a := range s.values {
		sum += square(a)
	}
	draws := make([]float64, shots)
	for i := range draws {
		draws[i] = float64(rng.float64() * sum)
	}
	slices.Sort(draws)
	cumulative := 0.0
	for i, a := range s.values {
		if i%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cumulative += square(a)
		times := 0
		for times < len(draws) && (draws[times] < cumulative || i == len(s.values)-1) {
			times++
		}
		if draws = draws[times:]; times > 0 {
			key := s.key(i)
			found(func(wire int) byte { return byte(key[wire/64] >> (wire % 64) & 1) }, times)
		}
	}
	return nil
}

func (s *sparseState) expectation(ctx context.Context, x, z []int, ys int) (float64, error) {
	flip, sign := masksOf(x), masksOf(z)
	if err := s.index(ctx); err != nil {
		return 0, err
	}
	other := make([]uint64, s.words)
	total := 0.0
	for i, a := range s.values {
		if i%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		key := s.key(i)
		copy(other, key)
		for _, m := range flip {
			other[m.word] ^= m.bit
		}
		j := s.find(other)
		if j < 0 {
			continue
		}
		b := s.values[j]
		part := pauliPart(a, b, ys)
		for _, m := range sign {
			if key[m.word]&m.bit != 0 {
				part = -part
			}
		}
		total += part
	}
	return total, nil
}

// pauliPart is the real part of i^ys · conj(b) · a.
func pauliPart(a, b scalar, ys int) (part float64) {
	if ys%2 == 0 {
		part = float64(b.re*a.re) + float64(b.im*a.im)
	} else {
		part = float64(b.im*a.re) - float64(b.re*a.im)
	}
	if ys%4 >= 2 {
		return -part
	}
	return part
}

func (s *sparseState) marginal(ctx context.Context, wires []int) ([]float64, error) {
	masks := masksOf(wires)
	out := make([]float64, 1<<len(wires))
	for i, a := range s.values {
		if i%entriesBetweenChecks == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out[readBits(s.key(i), masks)] += square(a)
	}
	return out, nil
}

func (s *sparseState) amplitude(bit func(wire int) byte) scalar {
	key := make([]uint64, s.words)
	for wire := range s.space.wires {
		key[wire/64] |= uint64(bit(wire)) << (wire % 64)
	}
	for i, a := range s.values {
		if slices.Equal(s.key(i), key) {
			return a
		}
	}
	return scalar{}
}
