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
	rng      *random
	progress *progress

	exact, listed       bool
	histories           int
	unfollowed, omitted string
	tally               *tally
	marginals           [][]int
	sums                marginalSums
	counts              map[string]int
	probabilities       map[string]float64
	misread             bool
	finished            func(wideState) // looks at each state at the end
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
	sim := wideSimulation{
		program: p, rng: rng, progress: report, counts: make(map[string]int), histories: 1, finished: finished,
		tally: newTally(c.observables, c.shots, result.Seed), marginals: c.marginals, sums: newMarginalSums(c.marginals),
	}
	report.total.Store(report.done.Load() + int64(len(p.code)))
	sim.misread = slices.ContainsFunc(p.outputs, func(out output) bool { return out.readout != nil })
	switch {
	case c.qubits > MaxProbabilityQubits:
		sim.omitted = fmt.Sprintf("exact probabilities are listed up to %d qubits", MaxProbabilityQubits)
	case sim.misread && len(p.outputs) > maxMisread:
		sim.omitted = fmt.Sprintf("exact probabilities with readout errors are listed up to %d bits", maxMisread)
	default:
		sim.listed, sim.probabilities = true, make(map[string]float64)
	}
	sim.exact = sim.listed || len(c.observables)+len(c.marginals) > 0
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
	key := append(slices.Clone(p.key.template), slices.Repeat([]byte{'0'}, p.key.hidden)...)
	if err := sim.walk(ctx, wideBranch{shots: c.shots, weight: 1, key: key, rounds: make([]int, p.loops), state: state}); err != nil {
		return err
	}
	result.Counts = sim.counts
	if result.Probabilities = withoutDust(sim.probabilities); result.Probabilities == nil {
		result.Omit("probabilities", sim.omitted)
	}
	if len(c.observables) > 0 {
		if result.Expectations = sim.tally.expectations(sim.exact); !sim.exact {
			result.Omit("expectations.value", sim.unfollowed)
		}
	}
	if len(c.marginals) > 0 {
		if result.Marginals = sim.sums.result(c.marginals, sim.exact); !sim.exact {
			result.Omit("marginals.probabilities", sim.unfollowed)
		}
	}
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
		case e == nil && b.shots > 0:
			return refuse(CodeRounds, "a while loop did not end within its %d rounds", sim.program.code[b.at].event.rounds)
		case e == nil:
			sim.giveUpExact("a history that no shot took runs a while loop past its last round")
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
		switch e.kind {
		case eventEnd, eventMeasure, eventReset:
			return e, nil
		case eventAssign:
			value := sim.evaluate(b, e)
			for i, slot := range e.slots {
				sim.write(b, slot, byte(value>>i&1))
			}
			b.at = e.next
		case eventIf:
			b.at = e.other
			if sim.evaluate(b, e) != 0 {
				b.at = e.next
			}
		case eventLoop:
			if sim.evaluate(b, e) == 0 {
				b.rounds[e.loop], b.at = 0, e.other
				continue
			}
			if b.rounds[e.loop] == e.rounds {
				return nil, nil
			}
			b.rounds[e.loop]++
			b.at = e.next
		case eventJump:
			b.at = e.next
		}
	}
}

func (sim *wideSimulation) evaluate(b *wideBranch, e *event) uint64 {
	return sim.program.key.evaluate(e.condition, b.key)
}

func (sim *wideSimulation) write(b *wideBranch, slot int, value byte) {
	sim.program.key.write(b.key, slot, value)
}

// giveUpExact stops following histories for their probability alone.
func (sim *wideSimulation) giveUpExact(reason string) {
	sim.exact, sim.unfollowed = false, reason
	if sim.listed {
		sim.listed, sim.probabilities, sim.omitted = false, nil, reason
	}
}

// split divides a branch by the outcomes of a measurement or reset. The last of the returned branches has to run first.
func (sim *wideSimulation) split(ctx context.Context, b wideBranch, e event) ([]wideBranch, error) {
	var weights [maxOutcomes]float64
	weights[0], weights[1] = b.state.weights(e.wire)
	probability := e.probabilities(weights)
	shots := splitShots(sim.rng, b.shots, probability)
	var values []int
	for value := range e.outcomes() {
		if shots[value] > 0 || sim.exact && b.weight*probability[value] > negligible {
			values = append(values, value)
		}
	}
	if most := max(1, exactAmplitudes/max(1, b.state.size())); sim.exact && len(values) > 1 {
		if sim.histories += len(values) - 1; sim.histories > most {
			sim.giveUpExact(fmt.Sprintf("the outcomes split into more than %d histories, too many to follow exactly", most))
			values = slices.DeleteFunc(values, func(value int) bool { return shots[value] == 0 })
		}
	}
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
			if !sim.misread {
				sim.counts[name(bit)] += times
				return
			}
			for range times {
				sim.counts[name(sim.misreading(bit))]++
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

// misreading draws a readout error for every measurement at the end. Two measurements of a wire may be read differently, so the bits
// are asked for in the order of the outputs.
func (sim *wideSimulation) misreading(bit func(wire int) byte) func(wire int) byte {
	at := 0
	return func(wire int) byte {
		value := bit(wire)
		readout := sim.program.outputs[at].readout
		at++
		if readout != nil && sim.rng.float64() < readout[value][1-value] {
			value = 1 - value
		}
		return value
	}
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
	add := func(p float64, bit func(wire int) byte) {
		if p == 0 || !sim.listed {
			return
		}
		sim.probabilities[name(bit)] += float64(b.weight * p)
		if len(sim.probabilities) > maxProbabilities {
			sim.listed, sim.probabilities, sim.omitted = false, nil, fmt.Sprintf("more than %d keys are possible", maxProbabilities)
		}
	}
	if !sim.misread {
		for value, p := range distribution {
			add(p, func(wire int) byte { return byte(value >> place[wire] & 1) })
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
	for i, out := range outputs {
		if out.readout != nil {
			misread(chances, i, *out.readout)
		}
	}
	for value, p := range chances {
		at := 0
		add(p, func(int) byte { // asked for in the order of the outputs
			at++
			return byte(value >> (at - 1) & 1)
		})
	}
	return nil
}

// outgrown reports whether a run ended because its states found no room.
func outgrown(err error) bool {
	r, refused := errors.AsType[*Refusal](err)
	return refused && r.Code == CodeMemory
}
