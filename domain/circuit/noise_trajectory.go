package circuit

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// positions are those of the wires of a channel in the state's index, in the channel's order.
func (sim *simulation[F]) positions(segment int, e event) []int {
	out := make([]int, len(e.wires))
	for i, w := range e.wires {
		out[i] = sim.layouts[segment][w]
	}
	return out
}

// channelWeights are the squared norms of K|ψ⟩, from the reduced density matrix of the channel's qubits.
func (sim *simulation[F]) channelWeights(ctx context.Context, s state[F], positions []int, c *channel) (weights [maxOutcomes]float64, err error) {
	if c.pauli {
		for i, k := range c.operators {
			weights[i] = k.weight
		}
		return weights, nil
	}
	rho, err := sim.machine.reduced(ctx, s, positions)
	if err != nil {
		return weights, err
	}
	dim := 1 << c.qubits
	for i, k := range c.operators {
		sum := 0.0
		for row := range dim {
			for column := range dim { // the trace of K†K·ρ
				a, b := k.gram[row*dim+column], rho[column*dim+row]
				sum += float64(a.re*b.re) - float64(a.im*b.im)
			}
		}
		weights[i] = max(0, sum)
	}
	return weights, nil
}

// applyOutcome applies one operator of a channel and normalises.
func (sim *simulation[F]) applyOutcome(ctx context.Context, s state[F], positions []int, k krausOperator, weight float64) error {
	scale := 1.0
	if k.gram != nil {
		scale = 1 / math.Sqrt(weight)
	} else if k.x == 0 && k.z == 0 {
		return nil
	}
	return sim.machine.applyMatrix(ctx, s, positions, k.matrix, scale)
}

// countMisread counts the shots of one basis state, each with readout errors of its own.
func (sim *simulation[F]) countMisread(b *branch[F], index, times int) {
	positions := sim.layouts[b.segment]
	sim.countReadings(sim.program.key, sim.program.outputs, b.key, times, func(wire int) byte { return byte(index >> positions[wire] & 1) })
}

// addMisread adds the probabilities of a branch's keys, readout errors included.
func (sim *simulation[F]) addMisread(b *branch[F]) {
	positions, outputs := sim.layouts[b.segment], sim.program.outputs
	chances := make([]float64, 1<<len(outputs)) // bit i of an index is what output i reads
	for i, re := range b.state.re {
		at := 0
		for place, out := range outputs {
			at |= i >> positions[out.wire] & 1 << place
		}
		a, c := float64(re), float64(b.state.im[i])
		chances[at] += float64(a*a) + float64(c*c)
	}
	sim.addReadings(sim.program.key, outputs, b.key, b.weight, chances)
}

// maxChannelDim is the most rows of a matrix that acts on the state of a channel's qubits, doubled for density matrices.
const maxChannelDim = 16

// groups walks the amplitudes that differ in the given positions only: chunk after chunk of groups, on the machine's threads.
// offsets are the places of a group's amplitudes relative to its first.
type groups struct {
	free    uint64 // positions that tell groups apart
	offsets []uint64
	count   int // of all groups
	chunk   int // groups in one chunk
}

func groupsOf(stateLength int, positions []int) groups {
	var own uint64
	for _, p := range positions {
		own |= 1 << p
	}
	g := groups{free: uint64(stateLength-1) &^ own, count: stateLength >> len(positions)}
	g.chunk = min(1<<chunkBits, g.count)
	for i := range 1 << len(positions) {
		var offset uint64
		for bit, p := range positions {
			offset |= uint64(i>>bit&1) << p
		}
		g.offsets = append(g.offsets, offset)
	}
	return g
}

// forEach calls visit with the first amplitude of every group of a chunk, in ascending order.
func (g groups) forEach(chunk int, visit func(base uint64)) {
	base := deposit(chunk*g.chunk, wires(g.free))
	for range g.chunk {
		visit(base)
		base = (base - g.free) & g.free
	}
}

// reduced is the density matrix of the qubits at the positions, unnormalised, row by row; bit 0 of an index is the first position.
func (m *machine[F]) reduced(ctx context.Context, s state[F], positions []int) ([]scalar, error) {
	g := groupsOf(len(s.re), positions)
	dim := len(g.offsets)
	chunks := g.count / g.chunk
	sums := make([]scalar, chunks*dim*dim) // above the diagonal too
	err := m.forEachChunk(ctx, chunks, func(chunk int) {
		own := sums[chunk*dim*dim:][:dim*dim]
		g.forEach(chunk, func(base uint64) {
			var re, im [maxChannelDim]float64
			for i, offset := range g.offsets {
				re[i], im[i] = float64(s.re[base|offset]), float64(s.im[base|offset])
			}
			for i := range dim {
				for j := i; j < dim; j++ { // ψᵢ times the conjugate of ψⱼ
					at := &own[i*dim+j]
					at.re += float64(re[i]*re[j]) + float64(im[i]*im[j])
					at.im += float64(im[i]*re[j]) - float64(re[i]*im[j])
				}
			}
		})
	})
	out := make([]scalar, dim*dim)
	for chunk := range chunks {
		for i := range out {
			out[i] = out[i].plus(sums[chunk*dim*dim+i])
		}
	}
	for i := range dim {
		for j := range i {
			v := out[j*dim+i]
			out[i*dim+j] = scalar{v.re, -v.im}
		}
	}
	return out, err
}

// applyMatrix multiplies the amplitudes of every group by a matrix, row by row, times scale. Zeros are skipped.
func (m *machine[F]) applyMatrix(ctx context.Context, s state[F], positions []int, matrix []scalar, scale float64) error {
	type entry struct {
		column int
		re, im F
	}
	g := groupsOf(len(s.re), positions)
	dim := len(g.offsets)
	rows := make([][]entry, dim)
	for i, v := range matrix {
		if !v.isZero() {
			rows[i/dim] = append(rows[i/dim], entry{i % dim, F(float64(v.re * scale)), F(float64(v.im * scale))})
		}
	}
	changed := make([]int, 0, dim) // rows that are not the identity's
	for i, row := range rows {
		if !slices.Equal(row, []entry{{i, 1, 0}}) {
			changed = append(changed, i)
		}
	}
	return m.forEachChunk(ctx, g.count/g.chunk, func(chunk int) {
		var re, im [maxChannelDim]F
		g.forEach(chunk, func(base uint64) {
			for i, offset := range g.offsets {
				re[i], im[i] = s.re[base|offset], s.im[base|offset]
			}
			for _, i := range changed {
				var r, c F
				for _, e := range rows[i] {
					r = r + (F(e.re*re[e.column]) - F(e.im*im[e.column]))
					c = c + (F(e.re*im[e.column]) + F(e.im*re[e.column]))
				}
				at := base | g.offsets[i]
				s.re[at], s.im[at] = r, c
			}
		})
	})
}

// splits reports whether the shots that meet an event may go different ways.
func (e event) splits() bool {
	return e.kind == eventMeasure || e.kind == eventReset || e.kind == eventChannel
}

// branchBits bounds log2 of the outcomes that a shot can meet at an event.
func (e event) branchBits() int64 {
	if !e.splits() {
		return 0
	}
	return int64(bits.Len(uint(e.outcomes() - 1)))
}
