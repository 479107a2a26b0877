package circuit

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
)

// negligible is the weight below which a branch is rounding dust.
const negligible = 1e-14

// exactAmplitudes bounds the work spent on listing exact probabilities of a circuit with mid-circuit events: histories
// times amplitudes, counted when a history splits. Beyond it the result has no probabilities, and histories without
// shots are not followed.
const exactAmplitudes = 1 << 20

// maxProbabilities bounds the keys whose probability is listed: OpenQASM programs may have many more bits than qubits.
const maxProbabilities = 1 << 16

// maxMisread is the most bits written at the end whose values' probabilities are computed when any of them may be misread.
const maxMisread = 16

// mostMisread is maxMisread, or, where several histories end, as many bits as their states have.
func (c Circuit) mostMisread(p program) int {
	if p.oneHistory() {
		return maxMisread
	}
	return c.qubits
}

// MaxProbabilityQubits and MaxStatevectorQubits are the widest circuits whose result lists them.
const (
	MaxProbabilityQubits = 12
	MaxStatevectorQubits = 10
)

// branch is one history of mid-circuit outcomes on its way through the segments: the shots that share it and its exact
// probability. Shots share a state for as long as they share their outcomes, so a circuit without mid-circuit events is
// simulated once, and one with them at most once per distinct history.
type branch[F float] struct {
	segment int
	shots   int
	weight  float64
	key     []byte   // outcomes so far, as characters
	path    []byte   // the outcome of every measurement, reset and channel so far
	rounds  []int    // begun by each loop
	state   state[F] // empty for a waiting branch without memory for its state: replay recomputes it
}

// simulation runs one program on the state-vector engine.
type simulation[F float] struct {
	program program
	machine *machine[F]
	plans   []plan[F]
	layouts []layout // after each segment
	histories
	spare  []state[F] // states of finished branches
	copies int        // states that may still be allocated for waiting branches
	memory *arena
}

// walk runs every branch. Of two branches the one with fewer shots (then less weight) goes first, so the number that
// wait is at most the logarithm of the shots, and of the smallest weight.
func (sim *simulation[F]) walk(ctx context.Context, start branch[F]) error {
	stack := []branch[F]{start}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if b.shots == 0 && !sim.exact {
			sim.release(b.state)
			continue
		}
		if b.state.re == nil {
			var err error
			if b.state, err = sim.replay(ctx, b); err != nil {
				return err
			}
		}
		e, err := sim.advance(ctx, &b)
		if err != nil {
			return err
		}
		switch {
		case e == nil:
			if err := sim.lapsed(b.shots, sim.program.segments[b.segment].event); err != nil {
				return err
			}
			sim.release(b.state)
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

// advance runs a branch to its next measurement, reset or channel or to its end, and returns that event; nil when a loop would
// begin a round too many.
func (sim *simulation[F]) advance(ctx context.Context, b *branch[F]) (*event, error) {
	for {
		if err := sim.machine.run(ctx, sim.plans[b.segment], b.state); err != nil {
			return nil, err
		}
		e := &sim.program.segments[b.segment].event
		if !e.isControl() {
			return e, nil
		}
		next, ok := sim.program.key.follow(e, b.key, b.rounds)
		if !ok {
			return nil, nil
		}
		b.segment = next
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (sim *simulation[F]) write(b *branch[F], slot int, value byte) {
	sim.program.key.write(b.key, slot, value)
}

// evaluate computes an expression from the outcomes in a key.
func (k keyLayout) evaluate(e expression, key []byte) uint64 {
	return e.evaluate(func(slot int) uint64 {
		if at := k.character[slot]; at >= 0 {
			return uint64(key[at] - '0')
		}
		return 0 // nothing writes it
	})
}

// write records an outcome in a key.
func (k keyLayout) write(key []byte, slot int, value byte) {
	if slot != noSlot {
		key[k.character[slot]] = '0' + value
	}
}

// split divides a branch by the outcomes of an event. The last of the returned branches has to run first.
func (sim *simulation[F]) split(ctx context.Context, b branch[F], e event) ([]branch[F], error) {
	weights, err := sim.weights(ctx, b.state, b.segment, e)
	if err != nil {
		return nil, err
	}
	probability := e.probabilities(weights)
	shots, values := sim.divide(b.shots, b.weight, e, probability, len(b.state.re))
	var next []branch[F]
	for _, value := range values {
		successor := b
		successor.segment, successor.shots, successor.weight = e.next, shots[value], float64(b.weight*probability[value])
		if len(values) > 1 {
			successor.key, successor.path, successor.rounds = slices.Clone(b.key), slices.Clone(b.path), slices.Clone(b.rounds)
		}
		successor.path = append(successor.path, byte(value))
		sim.write(&successor, e.slot, e.recorded(value))
		next = append(next, successor)
	}
	slices.SortStableFunc(next, func(a, b branch[F]) int {
		return cmp.Or(cmp.Compare(b.shots, a.shots), cmp.Compare(b.weight, a.weight))
	})
	if len(next) == 0 {
		sim.release(b.state)
	}
	for i := range next {
		if i+1 < len(next) { // the one that goes first takes the state over
			if next[i].state, err = sim.copyState(b.state); err != nil {
				return nil, err
			}
		}
		if next[i].state.re == nil {
			continue
		}
		if err := sim.project(ctx, next[i].state, b.segment, int(next[i].path[len(b.path)]), weights, e); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// maxOutcomes is the most outcomes of an event.
const maxOutcomes = MaxKrausCount

// outcomes is the number of values an event can take: 2 for a measurement, or 4 when it may be misread (the value, and twice
// what is read); the operators of a channel.
func (e event) outcomes() int {
	switch {
	case e.kind == eventChannel:
		return len(e.channel.operators)
	case e.misread():
		return 4
	}
	return 2
}

// misread reports whether what a measurement writes may differ from what it found.
func (e event) misread() bool { return e.readout != nil && e.slot != noSlot }

// recorded is the value that a measurement records for an outcome.
func (e event) recorded(value int) byte {
	if e.misread() {
		return byte(value >> 1)
	}
	return byte(value)
}

// weights are the squared norms of the state after each outcome; a measurement has two, misread or not.
func (sim *simulation[F]) weights(ctx context.Context, s state[F], segment int, e event) (weights [maxOutcomes]float64, err error) {
	if e.kind == eventChannel {
		return sim.channelWeights(ctx, s, sim.positions(segment, e), e.channel)
	}
	weights[0], weights[1], err = sim.machine.bitWeights(ctx, s, sim.layouts[segment][e.wire])
	return weights, err
}

// probabilities are those of the outcomes with such weights.
func (e event) probabilities(weights [maxOutcomes]float64) (out [maxOutcomes]float64) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for value := range e.outcomes() {
		if e.misread() {
			out[value] = float64(weights[value&1] / sum * e.readout[value&1][value>>1])
		} else {
			out[value] = weights[value] / sum
		}
	}
	return out
}

// splitShots draws an outcome for each shot. Outcomes of negligible probability are not drawn.
func splitShots(rng *random, shots int, probability [maxOutcomes]float64) (out [maxOutcomes]int) {
	lowest, highest := maxOutcomes-1, 0
	for value, p := range probability {
		if p >= negligible {
			lowest, highest = min(lowest, value), value
		}
	}
	if lowest >= highest {
		out[highest] = shots
		return out
	}
	for range shots {
		value, u, sum := highest, rng.float64(), 0.0
		for ; value > lowest; value-- {
			if p := probability[value]; p >= negligible {
				if sum += p; u < sum {
					break
				}
			}
		}
		out[value]++
	}
	return out
}

// project keeps one outcome of an event and normalises.
func (sim *simulation[F]) project(ctx context.Context, s state[F], segment, value int, weights [maxOutcomes]float64, e event) error {
	if e.kind == eventChannel {
		return sim.applyOutcome(ctx, s, sim.positions(segment, e), e.channel.operators[value], weights[value])
	}
	if e.misread() {
		value &= 1
	}
	return sim.machine.collapse(ctx, s, sim.layouts[segment][e.wire], value, 1/math.Sqrt(weights[value]), e.kind == eventReset)
}

// replay runs a waiting branch again from the start, with the outcomes it has met. The same operations in the same order
// give the same bits as keeping its state would have.
func (sim *simulation[F]) replay(ctx context.Context, b branch[F]) (state[F], error) {
	s := sim.spare[len(sim.spare)-1] // only one branch runs at a time, and it has given its state back
	sim.spare = sim.spare[:len(sim.spare)-1]
	clear(s.re)
	clear(s.im)
	s.re[0] = 1
	again := sim.start(s)
	for _, value := range b.path {
		e, err := sim.advance(ctx, &again)
		if err != nil {
			return s, err
		}
		weights, err := sim.weights(ctx, s, again.segment, *e)
		if err != nil {
			return s, err
		}
		if err := sim.project(ctx, s, again.segment, int(value), weights, *e); err != nil {
			return s, err
		}
		sim.write(&again, e.slot, e.recorded(int(value)))
		again.segment = e.next
	}
	return s, nil
}

// start is the branch before anything has run.
func (sim *simulation[F]) start(s state[F]) branch[F] {
	return branch[F]{weight: 1, key: sim.program.key.begin(), rounds: make([]int, sim.program.loops), state: s}
}

// copyState returns an empty state when there is no memory for a copy.
func (sim *simulation[F]) copyState(s state[F]) (copied state[F], err error) {
	switch n := len(sim.spare); {
	case n > 0:
		copied = sim.spare[n-1]
		sim.spare = sim.spare[:n-1]
	case sim.copies == 0:
		return state[F]{}, nil
	default:
		sim.copies--
		if copied, err = newPlanes[F](sim.memory, bits.Len(uint(len(s.re)))-1); err != nil {
			return state[F]{}, err
		}
	}
	copy(copied.re, s.re)
	copy(copied.im, s.im)
	return copied, nil
}

func (sim *simulation[F]) release(s state[F]) {
	if s.re != nil {
		sim.spare = append(sim.spare, s)
	}
}

// finish draws a branch's shots from its final state and adds its share of the exact probabilities.
func (sim *simulation[F]) finish(ctx context.Context, b branch[F]) error {
	positions := sim.layouts[b.segment]
	name := func(index int) []byte {
		for _, out := range sim.program.outputs {
			sim.write(&b, out.slot, byte(index>>positions[out.wire]&1))
		}
		return b.key[:len(sim.program.key.template)]
	}
	if b.shots > 0 {
		err := sim.machine.sample(ctx, b.state, b.shots, sim.rng, func(index, times int) {
			if sim.misread {
				sim.countMisread(&b, index, times)
			} else {
				sim.counts[string(name(index))] += times
			}
		})
		if err != nil {
			return err
		}
	}
	if err := firstError(sim.observe(ctx, b), sim.addMarginals(ctx, b)); err != nil {
		return err
	}
	switch {
	case !sim.exact || !sim.listed:
	case sim.misread:
		sim.addMisread(&b)
	default:
		for i, re := range b.state.re {
			a, c := float64(re), float64(b.state.im[i])
			if p := float64(a*a) + float64(c*c); p > 0 {
				if sim.addProbability(string(name(i)), float64(b.weight*p)); !sim.listed {
					break
				}
			}
		}
	}
	sim.release(b.state)
	return nil
}
