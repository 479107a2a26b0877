package circuit

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// negligible is the weight below which a branch is rounding dust.
const negligible = 1e-14

// exactAmplitudes bounds the work spent on listing exact probabilities of a circuit with mid-circuit events: branches
// times amplitudes. Beyond it the result has no probabilities.
const exactAmplitudes = 1 << 20

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
	key     []byte // outcomes so far, as characters
	state   state[F]
}

// simulation runs one program on the state-vector engine.
type simulation[F float] struct {
	program   program
	machine   *machine[F]
	plans     []plan[F]
	layouts   []layout // after each segment
	rng       *random
	character []int // place in the key of each slot

	exact         bool // probabilities are still wanted and affordable
	exactBudget   int
	counts        map[string]int
	probabilities map[string]float64
	spare         []state[F] // states of finished branches
}

// walk runs every branch. Of two branches the one with fewer shots (then less weight) goes first, so the number that
// wait is at most the logarithm of the shots, and of the smallest weight.
func (sim *simulation[F]) walk(ctx context.Context, start branch[F]) error {
	stack := []branch[F]{start}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if b.shots == 0 && !sim.exact {
			sim.spare = append(sim.spare, b.state)
			continue
		}
		if err := sim.machine.run(ctx, sim.plans[b.segment], b.state); err != nil {
			return err
		}
		event := sim.program.segments[b.segment].event
		if event.kind == eventEnd {
			if err := sim.finish(ctx, b); err != nil {
				return err
			}
			continue
		}
		next, err := sim.split(ctx, b, event)
		if err != nil {
			return err
		}
		stack = append(stack, next...)
	}
	return nil
}

// split lets a branch's shots meet a measurement or reset. The branches it returns are in the order they must wait: the
// last one goes first.
func (sim *simulation[F]) split(ctx context.Context, b branch[F], e event) ([]branch[F], error) {
	position := sim.layouts[b.segment][e.wire]
	weights := [2]float64{}
	var err error
	weights[0], weights[1], err = sim.machine.bitWeights(ctx, b.state, position)
	if err != nil {
		return nil, err
	}
	sum := weights[0] + weights[1]
	probability := [2]float64{weights[0] / sum, weights[1] / sum}
	shots := sim.splitShots(b.shots, probability)
	var values []int
	for value := range 2 {
		if shots[value] > 0 || sim.exact && b.weight*probability[value] > negligible {
			values = append(values, value)
		}
	}
	next := make([]branch[F], len(values))
	for i, value := range values {
		successor := &next[i]
		*successor = branch[F]{
			segment: b.segment + 1, shots: shots[value], weight: float64(b.weight * probability[value]), key: slices.Clone(b.key),
		}
		if e.slot != noSlot {
			successor.key[sim.character[e.slot]] = byte('0' + value)
		}
		successor.state = b.state
		if i+1 < len(values) { // the last one takes the state over
			successor.state = sim.copyState(b.state)
		}
		scale := 1 / math.Sqrt(weights[value])
		if err := sim.machine.collapse(ctx, successor.state, position, value, scale, e.kind == eventReset); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(next, func(a, b branch[F]) int {
		return cmp.Or(cmp.Compare(b.shots, a.shots), cmp.Compare(b.weight, a.weight))
	})
	return next, nil
}

func (sim *simulation[F]) splitShots(shots int, probability [2]float64) [2]int {
	switch {
	case probability[1] < negligible:
		return [2]int{shots, 0}
	case probability[0] < negligible:
		return [2]int{0, shots}
	}
	var out [2]int
	for range shots {
		value := 0
		if sim.rng.float64() < probability[1] {
			value = 1
		}
		out[value]++
	}
	return out
}

func (sim *simulation[F]) copyState(s state[F]) state[F] {
	if n := len(sim.spare); n > 0 {
		copied := sim.spare[n-1]
		sim.spare = sim.spare[:n-1]
		copy(copied.re, s.re)
		copy(copied.im, s.im)
		return copied
	}
	return state[F]{re: slices.Clone(s.re), im: slices.Clone(s.im)}
}

// finish draws a branch's shots from its final state and adds its share of the exact probabilities.
func (sim *simulation[F]) finish(ctx context.Context, b branch[F]) error {
	positions := sim.layouts[b.segment]
	name := func(index int) []byte {
		for _, out := range sim.program.outputs {
			b.key[sim.character[out.slot]] = byte('0' + index>>positions[out.wire]&1)
		}
		return b.key
	}
	if b.shots > 0 {
		err := sim.machine.sample(ctx, b.state, b.shots, sim.rng, func(index, times int) {
			sim.counts[string(name(index))] += times
		})
		if err != nil {
			return err
		}
	}
	if sim.exact {
		if sim.exactBudget -= len(b.state.re); sim.exactBudget < 0 {
			sim.exact, sim.probabilities = false, nil
		}
	}
	if sim.exact {
		for i, re := range b.state.re {
			a, c := float64(re), float64(b.state.im[i])
			if p := float64(a*a) + float64(c*c); p > 0 {
				sim.probabilities[string(name(i))] += float64(b.weight * p)
			}
		}
	}
	sim.spare = append(sim.spare, b.state)
	return nil
}
