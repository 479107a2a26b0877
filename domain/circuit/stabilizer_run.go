package circuit

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// runStabilizer runs a Clifford circuit on a tableau and samples its outcomes.
func runStabilizer(ctx context.Context, c Circuit, rng *random, report *progress, result *Result) error {
	tally := newTally(c.observables, c.shots, result.Seed)
	sums := make(marginalSums, len(c.marginals))
	key, noise, err := stabilizerOutcomes(ctx, c, tally, sums, report)
	if err != nil {
		return err
	}
	if result.Counts, err = sampleParities(ctx, key, noise, c.keyLayout().template, c.shots, rng, report); err != nil {
		return err
	}
	if len(c.observables) > 0 {
		result.Expectations = tally.expectations(true)
	}
	if len(c.marginals) > 0 {
		result.Marginals = sums.result(c.marginals, true)
	}
	result.Omit("probabilities", fmt.Sprintf("exact probabilities are listed up to %d qubits", MaxProbabilityQubits))
	if c.statevector {
		result.Omit("statevector", "the stabilizer engine holds no amplitudes")
	}
	return nil
}

// stabilizerOutcomes returns every slot that keys show, lowest first, as a sum of symbols, and the noise that changes them. It fills in
// sums.
func stabilizerOutcomes(ctx context.Context, c Circuit, tally *tally, sums marginalSums, report *progress) ([]parity, stabilizerNoise, error) {
	const checkEvery = 16
	instructions := c.stabilizerInstructions()
	t := newTableau(c.qubits, instructions.midCircuit || len(c.observables) > 0)
	report.total.Store(2 * (int64(len(instructions.list)) + int64(c.qubits))) // the second half is for the shots
	outcome := make([]parity, c.slots)
	var noise stabilizerNoise
	readout := make([]*confusion, c.slots)
	waiting := make([]int, c.slots) // qubit whose final value the slot takes, or -1
	for s := range waiting {
		waiting[s] = -1
	}
	for i, in := range instructions.list {
		if i%checkEvery == 0 {
			if ctx.Err() != nil {
				return nil, noise, ctx.Err()
			}
			report.add(checkEvery)
		}
		switch {
		case in.gate != nil && in.gate.kind == kindChannel:
			noise.apply(t, *in.gate)
			continue
		case in.gate != nil:
			t.apply(*in.gate)
			continue
		case in.event.kind == eventReset:
			t.measure(in.event.wire).forEach(func(symbol int) { t.applyXWhere(in.event.wire, symbol) })
			continue
		}
		readout[in.event.slot] = in.event.readout
		switch {
		case in.deferred:
			waiting[in.event.slot] = in.event.wire
		default:
			outcome[in.event.slot], waiting[in.event.slot] = t.measure(in.event.wire), -1
		}
	}
	for i, o := range tally.terms {
		values := make([]float64, len(o))
		for k, term := range o {
			if ctx.Err() != nil {
				return nil, noise, ctx.Err()
			}
			if !slices.ContainsFunc(term.x, func(q int) bool { return instructions.dephased[q] }) {
				values[k] = t.expectation(term, &noise)
			}
		}
		tally.add(i, values, 1, c.shots)
	}
	final, err := t.measureAll(ctx)
	if err != nil {
		return nil, noise, err
	}
	for i, qubits := range c.marginals {
		var chosen []parity
		for _, q := range qubits {
			chosen = append(chosen, final[q])
		}
		if sums[i], err = noise.marginal(ctx, chosen); err != nil {
			return nil, noise, err
		}
	}
	var key []parity
	layout := c.keyLayout()
	for s, at := range layout.character {
		if waiting[s] >= 0 {
			outcome[s] = final[waiting[s]]
		}
		if at >= 0 && at < len(layout.template) {
			key = append(key, outcome[s])
			noise.readout = append(noise.readout, readout[s])
		}
	}
	if !slices.ContainsFunc(noise.readout, func(m *confusion) bool { return m != nil }) {
		noise.readout = nil
	}
	return key, noise, nil
}

// stabilizerInstruction is a gate, or a measurement or reset of one qubit.
type stabilizerInstruction struct {
	gate     *gate
	event    stabilizerEvent
	deferred bool // nothing later changes the qubit's basis states, so the final value is the outcome
}

// stabilizerEvent is an eventMeasure or eventReset; wires are qubits.
type stabilizerEvent struct {
	kind       eventKind
	wire, slot int
	readout    *confusion
}

type stabilizerProgram struct {
	list       []stabilizerInstruction
	midCircuit bool
	dephased   []bool // by qubit; see markMeasurements
}

// stabilizerInstructions lists gates and events; wires are qubits.
func (c Circuit) stabilizerInstructions() stabilizerProgram {
	p := stabilizerProgram{list: make([]stabilizerInstruction, 0, len(c.gates)+c.qubits)}
	measured := false
	for i := range c.gates {
		g := &c.gates[i]
		switch g.kind {
		case kindBarrier, kindID:
		case kindMeasure:
			measured = true
			for j, q := range g.targets {
				p.list = append(p.list, stabilizerInstruction{event: stabilizerEvent{kind: eventMeasure, wire: q, slot: g.slots[j], readout: c.readoutOf(q)}})
			}
		case kindReset:
			for _, q := range g.targets {
				p.list = append(p.list, stabilizerInstruction{event: stabilizerEvent{kind: eventReset, wire: q, slot: noSlot}})
			}
		default:
			p.list = append(p.list, stabilizerInstruction{gate: g})
		}
	}
	if !measured {
		for q := range c.qubits {
			p.list = append(p.list, stabilizerInstruction{event: stabilizerEvent{kind: eventMeasure, wire: q, slot: q, readout: c.readoutOf(q)}})
		}
	}
	disturbed, used, written := make([]bool, c.qubits), make([]bool, c.qubits), make([]bool, c.slots)
	p.dephased = make([]bool, c.qubits)
	for i := len(p.list) - 1; i >= 0; i-- {
		in := &p.list[i]
		switch {
		case in.gate != nil:
			for _, q := range in.gate.disturbs() {
				disturbed[q] = true
			}
			in.gate.touches(func(q int) { used[q] = true }, func(int) {})
		case in.event.kind == eventReset:
			disturbed[in.event.wire], used[in.event.wire] = true, true
			p.midCircuit = true
		default:
			q := in.event.wire
			p.dephased[q] = p.dephased[q] || !disturbed[q] && (used[q] || written[in.event.slot])
			used[q], written[in.event.slot] = true, true
			in.deferred = !disturbed[in.event.wire]
			p.midCircuit = p.midCircuit || !in.deferred
		}
	}
	return p
}

// disturbs lists the qubits whose basis states the gate changes; controls and diagonal gates leave them.
func (g gate) disturbs() []int {
	if g.kind == kindChannel && g.channel.diagonal {
		return nil
	}
	switch g.kind {
	case kindZ, kindS, kindSdg, kindT, kindTdg, kindRZ, kindP, kindRZZ:
		return nil
	}
	return g.targets
}

// sampleParities draws values for the symbols and counts the keys; the template's zeros from the right are their places.
// Outcomes are uniform over an affine space; a basis of
// it is drawn from, so that a shot costs no more random bits than there are independent outcomes.
func sampleParities(ctx context.Context, key []parity, noise stabilizerNoise, template []byte, shots int, rng *random, report *progress) (map[string]int, error) {
	words := (len(key) + 63) / 64
	constant := make([]uint64, words)
	vectors := map[int][]uint64{}
	last := 0
	for i, p := range key {
		p.forEach(func(symbol int) {
			if symbol == 0 {
				constant[i/64] ^= 1 << (i % 64)
				return
			}
			if vectors[symbol] == nil {
				vectors[symbol] = make([]uint64, words)
			}
			vectors[symbol][i/64] ^= 1 << (i % 64)
			last = max(last, symbol)
		})
	}
	errors := noise.errors(vectors, words)
	var basis [][]uint64
	var leading []int
	for symbol := 1; symbol <= last; symbol++ {
		v := vectors[symbol]
		if v == nil {
			continue
		}
		for b, at := range leading {
			if bit(v, at) {
				xorInto(v, basis[b])
			}
		}
		for w := range v {
			if v[w] != 0 {
				basis, leading = append(basis, v), append(leading, 64*w+bits.TrailingZeros64(v[w]))
				break
			}
		}
	}
	const checkEvery = 256
	samples := make([]uint64, shots*words) // one after the other
	reported, half := int64(0), report.total.Load()/2
	for shot := range shots {
		if shot%checkEvery == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			reached := half * int64(shot) / int64(shots)
			report.add(reached - reported)
			reported = reached
		}
		value := samples[shot*words : (shot+1)*words]
		copy(value, constant)
		for at := 0; at < len(basis); at += 64 {
			draw := rng.uint64()
			if rest := len(basis) - at; rest < 64 {
				draw &= 1<<rest - 1
			}
			for ; draw != 0; draw &= draw - 1 {
				xorInto(value, basis[at+bits.TrailingZeros64(draw)])
			}
		}
	}
	if err := noise.draw(ctx, errors, sampled{samples, words, shots}, rng); err != nil {
		return nil, err
	}
	return countSamples(samples, words, shots, template), nil
}

// countSamples counts equal samples and writes each as a key. The keys share one block of memory: there may be as many as
// shots, a thousand characters each.
func countSamples(samples []uint64, words, shots int, template []byte) map[string]int {
	sample := func(shot int32) []uint64 { return samples[int(shot)*words:][:words] }
	order := make([]int32, shots)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return slices.Compare(sample(a), sample(b)) })
	distinct := 0
	for i, shot := range order {
		if i == 0 || !slices.Equal(sample(shot), sample(order[i-1])) {
			distinct++
		}
	}
	counts := make(map[string]int, distinct)
	var text strings.Builder
	text.Grow(distinct * len(template))
	key := slices.Clone(template)
	for from := 0; from < shots; {
		first := sample(order[from])
		to := from + 1
		for to < shots && slices.Equal(sample(order[to]), first) {
			to++
		}
		i := 0
		for at := len(key) - 1; at >= 0; at-- {
			if template[at] != ' ' {
				key[at] = '0' + byte(first[i/64]>>(i%64)&1)
				i++
			}
		}
		start := text.Len()
		text.Write(key)
		counts[text.String()[start:]] = to - from
		from = to
	}
	return counts
}
