package circuit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// wideState is a state of any number of wires in a form that is small when the state is simple.
type wideState interface {
	apply(ctx context.Context, op *wideOperator) error
	// weights are the squared norms of the state's parts in which the wire is 0 and 1.
	weights(wire int) (zero, one float64)
	// collapse keeps the part in which the wire has the value, times scale; with clearBit the wire then becomes 0.
	collapse(ctx context.Context, wire, value int, scale float64, clearBit bool) error
	// clone is a copy that later changes of either leave as they are; release gives the room of a state back.
	clone() (wideState, error)
	release()
	// size is the number of complex numbers held.
	size() int
	// sample draws basis states and tells them in a fixed order, each by its bits.
	sample(ctx context.Context, shots int, rng *random, found func(bit func(wire int) byte, times int)) error
	// expectation is that of the product of X on the wires of x and Z on those of z, with Y = iXZ where they meet.
	expectation(ctx context.Context, x, z []int, ys int) (float64, error)
	// marginal is the distribution of some wires, the first the lowest bit of an index.
	marginal(ctx context.Context, wires []int) ([]float64, error)
	// amplitude is that of one basis state.
	amplitude(bit func(wire int) byte) scalar
}

// maxWideBytes bounds what all states of a run in one of these forms take together.
const (
	maxWideBytes = 256 << 20
	maxWideBits  = 28 // log2 of it
)

// room is the memory that the states of a run share. Its size is a function of the circuit, never of the machine: what does not fit
// here fits nowhere.
type room struct{ total, used int64 }

// take reports whether there was room.
func (r *room) take(bytes int64) bool {
	if r.used+bytes > r.total {
		return false
	}
	r.used += bytes
	return true
}

func (r *room) give(bytes int64) { r.used -= bytes }

// wideSimulation runs a program on states of one form, as a simulation does on state vectors: shots share a state for as long as they
// share their outcomes. States that wait are kept, never computed again.
type wideSimulation struct {
	program  wideProgram
	progress *progress
	histories
	finished func(wideState) // looks at each state at the end
}

// wideBranch is one history of outcomes on its way through the code.
type wideBranch struct {
	at, shots int
	weight    float64
	key       []byte // outcomes so far, as characters
	rounds    []int  // begun by each loop
	state     wideState
}

// runWide runs the circuit on the state, which is |0…0⟩, and fills in the result.
func runWide(ctx context.Context, c Circuit, state wideState, rng *random, report *progress, result *Result, finished func(wideState)) error {
	p := lowerWide(c)
	sim := wideSimulation{program: p, progress: report, histories: newHistories(c, p.outputs, rng, result.Seed), finished: finished}
	report.total.Store(report.done.Load() + int64(len(p.code)))
	sim.followAll(c, len(p.outputs), maxMisread)
	if c.statevector {
		switch {
		case c.qubits > MaxStatevectorQubits:
			result.Omit("statevector", fmt.Sprintf("amplitudes are listed up to %d qubits", MaxStatevectorQubits))
		case !p.oneHistory() || slices.Contains(p.dephased, true):
			result.Omit("statevector", noSingleState)
		default:
			sim.finished = func(s wideState) {
				result.Statevector = wideAmplitudes(s, p.final, phase(c.phase))
				finished(s)
			}
		}
	}
	if err := sim.walk(ctx, wideBranch{shots: c.shots, weight: 1, key: p.key.begin(), rounds: make([]int, p.loops), state: state}); err != nil {
		return err
	}
	sim.into(c, result)
	return nil
}

// wideAmplitudes lists the state in the order of the circuit's qubits, times a phase.
func wideAmplitudes(s wideState, final []int, whole scalar) [][2]float64 {
	out := make([][2]float64, 1<<len(final))
	bits := make([]byte, len(final))
	for i := range out {
		for q, wire := range final {
			bits[wire] = byte(i >> q & 1)
		}
		a := s.amplitude(func(wire int) byte { return bits[wire] })
		if !whole.isOne() {
			a = a.times(whole)
		}
		out[i] = [2]float64{a.re + 0, a.im + 0} // + 0 turns -0 into 0
	}
	return out
}

// walk runs every branch, of two the one with fewer shots first, so that few wait.
func (sim *wideSimulation) walk(ctx context.Context, start wideBranch) error {
	stack := []wideBranch{start}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if b.shots == 0 && !sim.exact {
			b.state.release()
			continue
		}
		e, err := sim.advance(ctx, &b)
		if err != nil {
			return err
		}
		switch {
		case e == nil:
			if err := sim.lapsed(b.shots, sim.program.code[b.at].event); err != nil {
				return err
			}
			b.state.release()
		case e.kind == eventEnd:
			if err := sim.finish(ctx, b); err != nil {
				return err
			}
		default:
			next, err := sim.split(ctx, b, *e)
			if err != nil {
				return err
			}
			stack = append(stack, next...)
		}
	}
	return nil
}

// advance runs a branch to its next measurement or reset or to its end, and returns that event; nil when a loop would begin a round
// too many.
func (sim *wideSimulation) advance(ctx context.Context, b *wideBranch) (*event, error) {
	for {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		step := &sim.program.code[b.at]
		sim.progress.add(1)
		if step.operator != nil {
			if err := b.state.apply(ctx, step.operator); err != nil {
				return nil, err
			}
			b.at++
			continue
		}
		e := &step.event
		if !e.isControl() {
			return e, nil
		}
		next, ok := sim.program.key.follow(e, b.key, b.rounds)
		if !ok {
			return nil, nil
		}
		b.at = next
	}
}

func (sim *wideSimulation) write(b *wideBranch, slot int, value byte) {
	sim.program.key.write(b.key, slot, value)
}

// split divides a branch by the outcomes of a measurement or reset. The last of the returned branches has to run first.
func (sim *wideSimulation) split(ctx context.Context, b wideBranch, e event) ([]wideBranch, error) {
	var weights [maxOutcomes]float64
	weights[0], weights[1] = b.state.weights(e.wire)
	probability := e.probabilities(weights)
	shots, values := sim.divide(b.shots, b.weight, e, probability, max(1, b.state.size()))
	if len(values) == 0 {
		b.state.release()
	}
	var next []wideBranch
	for i, value := range values {
		successor := b
		successor.at, successor.shots, successor.weight = e.next, shots[value], float64(b.weight*probability[value])
		if i+1 < len(values) {
			var err error
			if successor.state, err = b.state.clone(); err != nil {
				return nil, err
			}
			successor.key, successor.rounds = slices.Clone(b.key), slices.Clone(b.rounds)
		}
		sim.write(&successor, e.slot, e.recorded(value))
		found := value & 1
		if err := successor.state.collapse(ctx, e.wire, found, 1/math.Sqrt(weights[found]), e.kind == eventReset); err != nil {
			return nil, err
		}
		next = append(next, successor)
	}
	slices.SortStableFunc(next, func(a, b wideBranch) int {
		return cmp.Or(cmp.Compare(b.shots, a.shots), cmp.Compare(b.weight, a.weight))
	})
	return next, nil
}

// finish draws a branch's shots from its final state and adds its share of what is exact.
func (sim *wideSimulation) finish(ctx context.Context, b wideBranch) error {
	name := func(bit func(wire int) byte) string {
		for _, out := range sim.program.outputs {
			sim.write(&b, out.slot, bit(out.wire))
		}
		return string(b.key[:len(sim.program.key.template)])
	}
	if b.shots > 0 {
		err := b.state.sample(ctx, b.shots, sim.rng, func(bit func(wire int) byte, times int) {
			if sim.misread {
				sim.countReadings(sim.program.key, sim.program.outputs, b.key, times, bit)
			} else {
				sim.counts[name(bit)] += times
			}
		})
		if err != nil {
			return err
		}
	}
	if err := firstError(sim.observe(ctx, b), sim.addMarginals(ctx, b), sim.addProbabilities(ctx, b, name)); err != nil {
		return err
	}
	sim.finished(b.state)
	b.state.release()
	return nil
}

func (sim *wideSimulation) observe(ctx context.Context, b wideBranch) error {
	on := func(qubits []int) []int {
		out := make([]int, len(qubits))
		for i, q := range qubits {
			out[i] = sim.program.final[q]
		}
		return out
	}
	for i, o := range sim.tally.terms {
		values := make([]float64, len(o))
		for k, term := range o {
			x := on(term.x)
			if slices.ContainsFunc(x, func(w int) bool { return sim.program.dephased[w] }) {
				continue
			}
			var err error
			if values[k], err = b.state.expectation(ctx, x, on(term.z), term.ys); err != nil {
				return err
			}
		}
		sim.tally.add(i, values, b.weight, b.shots)
	}
	return nil
}

func (sim *wideSimulation) addMarginals(ctx context.Context, b wideBranch) error {
	if !sim.exact {
		return nil
	}
	for i, qubits := range sim.marginals {
		on := make([]int, len(qubits))
		for bit, q := range qubits {
			on[bit] = sim.program.final[q]
		}
		distribution, err := b.state.marginal(ctx, on)
		if err != nil {
			return err
		}
		for key, p := range distribution {
			sim.sums[i][key] += float64(b.weight * p)
		}
	}
	return nil
}

// addProbabilities adds those of a branch's keys, readout errors included.
func (sim *wideSimulation) addProbabilities(ctx context.Context, b wideBranch, name func(bit func(wire int) byte) string) error {
	if !sim.exact || !sim.listed {
		return nil
	}
	outputs := sim.program.outputs
	var measured []int
	place := make([]int, sim.program.wires) // of a wire among the measured ones
	for _, out := range outputs {
		if !slices.Contains(measured, out.wire) {
			place[out.wire] = len(measured)
			measured = append(measured, out.wire)
		}
	}
	distribution, err := b.state.marginal(ctx, measured)
	if err != nil {
		return err
	}
	if !sim.misread {
		for value, p := range distribution {
			if p == 0 {
				continue
			}
			if sim.addProbability(name(func(wire int) byte { return byte(value >> place[wire] & 1) }), float64(b.weight*p)); !sim.listed {
				break
			}
		}
		return nil
	}
	chances := make([]float64, 1<<len(outputs)) // bit i of an index is what output i reads
	for value, p := range distribution {
		at := 0
		for i, out := range outputs {
			at |= value >> place[out.wire] & 1 << i
		}
		chances[at] += p
	}
	sim.addReadings(sim.program.key, outputs, b.key, b.weight, chances)
	return nil
}

// outgrown reports whether a run ended because its states found no room.
func outgrown(err error) bool {
	r, refused := errors.AsType[*Refusal](err)
	return refused && r.Code == CodeMemory
}
