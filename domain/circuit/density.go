package circuit

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
)

// The density-matrix engine holds ρ as a state vector of twice as many wires: wire w of the circuit is wire w of the row's index
// and wire w + qubits of the column's. A gate U multiplies the rows by U and the columns by its conjugate; a channel is a matrix
// on rows and columns together. Outcomes in the middle that keys show are followed one by one.

// MaxDensityQubits is the widest circuit whose density matrix is simulated.
const MaxDensityQubits = 10

// maxDensityKeys is log2 of the most keys whose exact probability the engine computes.
const maxDensityKeys = 16

// notDensity says why the density-matrix engine cannot run the circuit; empty when it can.
func (c Circuit) notDensity() string {
	switch {
	case c.qubits > MaxDensityQubits:
		return fmt.Sprintf("it has %d qubits, and the matrix of 4^qubits entries is kept for at most %d", c.qubits, MaxDensityQubits)
	case c.hasFlow():
		return "it has conditions, loops or assignments"
	}
	written := make([]bool, c.slots)
	shown := 0
	list, _ := c.instructions()
	markMeasurements(list, c.slots)
	branches := 0
	for _, in := range list {
		if in.event.kind != eventMeasure || in.unitary || in.dead {
			continue
		}
		if !written[in.event.slot] {
			written[in.event.slot] = true
			shown++
		}
		if !in.deferred {
			branches++
		}
	}
	switch most := bits.Len(uint(exactAmplitudes)) - 1 - 2*c.qubits; {
	case shown > maxDensityKeys:
		return fmt.Sprintf("it writes more than %d bits", maxDensityKeys)
	case branches > most:
		return fmt.Sprintf("%d outcomes are measured mid-circuit; with %d qubits at most %d are followed", branches, c.qubits, most)
	}
	return ""
}

// densityProgram is a circuit in the form the engine runs.
type densityProgram struct {
	program           // on twice as many wires, without branches but those of eventMeasure
	slots    []output // bits that keys show, lowest slot first: bit i of the index of a key's probability
	outcomes []int    // of each measurement mid-circuit, in order: the place of its slot in slots
}

// resetChannel brings a qubit to |0⟩, and dephasing is a measurement whose outcome is not visible.
var (
	resetChannel = &channel{qubits: 1, operators: []krausOperator{
		{weight: 1, matrix: []scalar{{1, 0}, {}, {}, {}}}, {weight: 1, matrix: []scalar{{}, {1, 0}, {}, {}}},
	}}
	dephasing = &channel{qubits: 1, operators: []krausOperator{
		{weight: 1, matrix: []scalar{{1, 0}, {}, {}, {}}}, {weight: 1, matrix: []scalar{{}, {}, {}, {1, 0}}},
	}}
)

// lowerDensity doubles the wires. Measurements that wait stand at the end; where something still uses their qubit it is dephased.
func lowerDensity(c Circuit) densityProgram {
	list, final := c.instructions()
	dephased := markMeasurements(list, c.slots)
	p := densityProgram{program: program{wires: 2 * c.qubits, key: c.keyLayout(), final: final}}
	b := programBuilder{p.program, segment{restores: -1, times: 1}}
	n := c.qubits
	var middle []int // slots written mid-circuit
	on := map[*channel]operator{}
	channel := func(ch *channel, wire ...int) {
		if len(wire) == 1 {
			op, known := on[ch]
			if !known { // on row and column 0 of one qubit
				op = operator{targets: 3, matrix: ch.superoperator()}.simplified()
				on[ch] = op
			}
			b.current.operators = append(b.current.operators, op.spread(wire[0], wire[0]+n))
			return
		}
		e := event{kind: eventChannel, slot: noSlot, channel: ch, wires: []int{wire[0], wire[1], wire[0] + n, wire[1] + n}, next: len(b.segments) + 1}
		b.end(e)
		b.current.moves = e.noisyWires()
	}
	for _, in := range list {
		e := in.event
		switch {
		case in.unitary:
			b.current.operators = append(b.current.operators, in.operator, in.operator.conjugate(n))
		case e.kind == eventChannel:
			channel(e.channel, e.wires...)
		case e.kind == eventReset:
			channel(resetChannel, e.wire)
		case in.deferred:
			if dephased&(1<<e.wire) != 0 {
				channel(dephasing, e.wire)
			}
			if !in.dead {
				p.slots = append(p.slots, output{e.wire, e.slot, e.readout})
			}
		case in.dead:
			channel(dephasing, e.wire)
		default:
			e.next = len(b.segments) + 1
			b.end(e)
			middle = append(middle, e.slot)
			p.slots = append(p.slots, output{-1, e.slot, e.readout})
		}
	}
	b.end(event{kind: eventEnd})
	p.program = b.program
	slices.SortFunc(p.slots, func(a, b output) int { return a.slot - b.slot }) // each slot once: other writes are dead
	for _, slot := range middle {
		p.outcomes = append(p.outcomes, slices.IndexFunc(p.slots, func(out output) bool { return out.slot == slot }))
	}
	return p
}

// spread is the operator with wires low and high, which is the greater, in place of wires 0 and 1.
func (o operator) spread(low, high int) operator {
	move := func(w wires) wires { return w&1<<low | w>>1&1<<high }
	return operator{targets: move(o.targets), selectors: move(o.selectors), controls: move(o.controls), matrix: o.matrix}
}

// conjugate is the operator's complex conjugate on the wires that are so many higher.
func (o operator) conjugate(higher int) operator {
	out := operator{targets: o.targets << higher, selectors: o.selectors << higher, controls: o.controls << higher}
	for _, v := range o.matrix {
		out.matrix = append(out.matrix, scalar{v.re, -v.im})
	}
	return out
}

// densityRun is one run of the engine.
type densityRun[F float] struct {
	program densityProgram
	machine *machine[F]
	plans   []plan[F]
	layouts []layout
	memory  *arena
	spare   []state[F]
	keys    []float64   // the probability of each value of the slots
	values  [][]float64 // of each term of each observable
	sums    []observable
	asked   [][]int // marginals
	chances marginalSums
	on      map[*channel][]scalar // superoperators

	channelWeight int64 // work of one on two qubits, for progress
}

func runDensity[F float](ctx context.Context, c Circuit, how engineSetup[F], rng *random, report *progress, result *Result) error {
	run, err := newDensityRun(ctx, c, how, report)
	if err != nil {
		return err
	}
	if err := run.all(ctx, how); err != nil {
		return err
	}
	for i, s := range run.program.slots {
		if s.readout != nil {
			misread(run.keys, i, *s.readout)
		}
	}
	if result.Counts, err = run.sample(ctx, c.shots, rng); err != nil {
		return err
	}
	result.Probabilities = map[string]float64{}
	for value, p := range run.keys {
		if p > 0 {
			result.Probabilities[run.name(value)] += p
		}
	}
	result.Probabilities = withoutDust(result.Probabilities)
	if len(c.observables) > 0 {
		tally := newTally(c.observables, c.shots, result.Seed)
		for i, values := range run.values {
			tally.add(i, values, 1, c.shots)
		}
		result.Expectations = tally.expectations(true)
	}
	if len(c.marginals) > 0 {
		result.Marginals = run.chances.result(c.marginals, true)
	}
	if c.statevector {
		result.Omit("statevector", "the density-matrix engine holds no amplitudes")
	}
	return nil
}

func newDensityRun[F float](ctx context.Context, c Circuit, how engineSetup[F], report *progress) (*densityRun[F], error) {
	run := &densityRun[F]{program: lowerDensity(c), machine: newMachine(how.geometry, how.threads, how.kernels, report), memory: how.memory, sums: c.observables,
		asked: c.marginals, chances: newMarginalSums(c.marginals), on: map[*channel][]scalar{}}
	p := &run.program.program
	for i := range p.segments {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.segments[i].operators = how.fuse(p.segments[i].operators)
	}
	var err error
	if run.plans, run.layouts, err = planProgram[F](ctx, *p, how.geometry); err != nil {
		return nil, err
	}
	run.channelWeight = maxChannelDim << how.geometry.stateBits
	total, branches := workBound(*p, run.plans, 1), int64(1)<<len(run.program.outcomes)
	for _, s := range p.segments {
		if s.event.kind == eventChannel {
			total += run.channelWeight
		}
	}
	report.total.Store(total * branches)
	run.keys = make([]float64, 1<<len(run.program.slots))
	for _, o := range c.observables {
		run.values = append(run.values, make([]float64, len(o)))
	}
	return run, nil
}

// all follows every outcome.
func (run *densityRun[F]) all(ctx context.Context, how engineSetup[F]) error {
	planes, err := newPlanes[F](how.memory, how.geometry.stateBits)
	if err != nil {
		return err
	}
	planes.re[0] = 1
	return run.follow(ctx, planes, 0, 0, 0)
}

// follow runs ρ, unnormalised, from a segment on. measured counts the outcomes so far, key holds their bits. The state is used up.
func (run *densityRun[F]) follow(ctx context.Context, s state[F], segment, measured, key int) error {
	for ; ; segment++ {
		if err := run.machine.run(ctx, run.plans[segment], s); err != nil {
			return err
		}
		positions := run.layouts[segment]
		switch e := run.program.segments[segment].event; e.kind {
		case eventEnd:
			return run.collect(ctx, s, positions, key)
		case eventChannel:
			on := make([]int, len(e.wires))
			for i, w := range e.wires {
				on[i] = positions[w]
			}
			if run.on[e.channel] == nil {
				run.on[e.channel] = e.channel.superoperator()
			}
			if err := run.machine.applyMatrix(ctx, s, on, run.on[e.channel], 1); err != nil {
				return err
			}
			run.machine.progress.add(run.channelWeight)
		case eventMeasure:
			bit := 1 << run.program.outcomes[measured]
			measured++
			one, err := run.copyOf(s)
			if err != nil {
				return err
			}
			if err := run.keep(ctx, one, positions, e.wire, 1); err != nil {
				return err
			}
			if err := run.follow(ctx, one, segment+1, measured, key|bit); err != nil {
				return err
			}
			run.spare = append(run.spare, one)
			if err := run.keep(ctx, s, positions, e.wire, 0); err != nil {
				return err
			}
		}
	}
}

// keep projects rows and columns on an outcome.
func (run *densityRun[F]) keep(ctx context.Context, s state[F], positions layout, wire, value int) error {
	for _, w := range [2]int{wire, wire + run.program.wires/2} {
		if err := run.machine.collapse(ctx, s, positions[w], value, 1, false); err != nil {
			return err
		}
	}
	return nil
}

func (run *densityRun[F]) copyOf(s state[F]) (copied state[F], err error) {
	if n := len(run.spare); n > 0 {
		copied, run.spare = run.spare[n-1], run.spare[:n-1]
	} else if copied, err = newPlanes[F](run.memory, bits.Len(uint(len(s.re)))-1); err != nil {
		return state[F]{}, err
	}
	copy(copied.re, s.re)
	copy(copied.im, s.im)
	return copied, nil
}

// collect adds a final ρ to the probabilities and expectation values.
func (run *densityRun[F]) collect(ctx context.Context, s state[F], positions layout, key int) error {
	n := run.program.wires / 2
	rows, columns := make([]uint64, 1<<n), make([]uint64, 1<<n) // places of row and column numbers in the state's index, by wires
	for i := range rows {
		for w := range n {
			rows[i] |= uint64(i>>w&1) << positions[w]
			columns[i] |= uint64(i>>w&1) << positions[w+n]
		}
	}
	for i := range rows {
		value := key
		for place, out := range run.program.slots {
			if out.wire >= 0 {
				value |= i >> out.wire & 1 << place
			}
		}
		p := max(0, float64(s.re[rows[i]|columns[i]]))
		run.keys[value] += p
		for k, qubits := range run.asked {
			at := 0
			for bit, q := range qubits {
				at |= i >> run.program.final[q] & 1 << bit
			}
			run.chances[k][at] += p
		}
	}
	for i, o := range run.sums {
		for k, term := range o {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var x, z int
			for _, q := range term.x {
				x |= 1 << run.program.final[q]
			}
			for _, q := range term.z {
				z |= 1 << run.program.final[q]
			}
			sum := 0.0 // Tr(ρP): P|c⟩ is i^ys (−1)^|c∧z| |c⊕x⟩
			for c := range rows {
				at := rows[c] | columns[c^x]
				part := float64(s.re[at])
				if term.ys%2 != 0 {
					part = -float64(s.im[at])
				}
				if bits.OnesCount(uint(c&z))%2 != 0 {
					part = -part
				}
				sum += part
			}
			if term.ys%4 >= 2 {
				sum = -sum
			}
			run.values[i][k] += sum
		}
	}
	return nil
}

// misread spreads the probabilities of a bit's values over what is read.
func misread(keys []float64, place int, m confusion) {
	bit := 1 << place
	for i := range keys {
		if i&bit == 0 {
			zero, one := keys[i], keys[i|bit]
			keys[i] = float64(zero*m[0][0]) + float64(one*m[1][0])
			keys[i|bit] = float64(zero*m[0][1]) + float64(one*m[1][1])
		}
	}
}

// name is the key for a value of the slots.
func (run *densityRun[F]) name(value int) string {
	key := slices.Clone(run.program.key.template)
	for place, out := range run.program.slots {
		if at := run.program.key.character[out.slot]; at < len(key) {
			key[at] = '0' + byte(value>>place&1)
		}
	}
	return string(key)
}

// sample draws shots from the probabilities, in the order of the values.
func (run *densityRun[F]) sample(ctx context.Context, shots int, rng *random) (map[string]int, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	sum := 0.0
	for _, p := range run.keys {
		sum += p
	}
	draws := make([]float64, shots)
	for i := range draws {
		draws[i] = float64(rng.float64() * sum)
	}
	slices.Sort(draws)
	counts := map[string]int{}
	cumulative, next, last := 0.0, 0, 0
	for value, p := range run.keys {
		if p == 0 {
			continue
		}
		last = value
		cumulative += p
		from := next
		for next < shots && draws[next] < cumulative {
			next++
		}
		if next > from {
			counts[run.name(value)] += next - from
		}
	}
	if next < shots { // rounding left them beyond the last
		counts[run.name(last)] += shots - next
	}
	return counts, nil
}

// densityCost bounds the planes, one pair for each outcome mid-circuit that waits, the probabilities of all keys, and the tables.
func (c Circuit) densityCost(cost Cost, distinct int64, gates int64, threads int) Cost {
	p := lowerDensity(c)
	key := int64(len(p.key.template))
	amplitudeBytes := int64(16)
	if c.precision == Single {
		amplitudeBytes = 8
	}
	geo := geometryOf(p.wires, int(amplitudeBytes)/2)
	listed := int64(1) << len(p.slots)
	heap := gates*gateBytes + int64(len(p.segments))*gateBytes + int64(c.shots)*8
	marginalHeap, marginalText := c.marginalBytes()
	kept := cost.keptBytes + (distinct+listed)*(key+key/8+24+entryBytes) + marginalHeap
	heap += kept
	cost.keptBytes = kept + 4096 + int64(len(c.observables))*64
	heap += 2 * 8 << geo.stateBits >> min(chunkBits, geo.stateBits)
	heap += 2 * 8 << c.qubits
	if geo.blockBits < geo.stateBits {
		heap += amplitudeBytes << geo.blockBits * int64(threads)
	}
	heap += c.pauliTerms() * c.termBytes()
	multiplications := uint64(2+c.pauliTerms()) + uint64(len(c.marginals))
	for _, s := range p.segments {
		for _, op := range s.operators {
			heap += max(operatorBytes(min(p.wires, 3)), tableBytes(len(op.matrix)))
			multiplications += 1 << (2 * op.targets.count())
		}
		switch s.event.kind {
		case eventChannel:
			heap += 4096 // at most one superoperator each
			multiplications += maxChannelDim
		case eventMeasure:
			multiplications += 4
		}
	}
	branches := int64(len(p.outcomes))
	cost.ResultBytes += listed*(key+32) + int64(len(c.observables))*128 + marginalText
	cost.MemoryBytes = fixedBytes + (branches+1)*amplitudeBytes<<geo.stateBits + 2*heap
	cost.Operations = int64(saturatingMultiply(multiplications, 1<<(int64(geo.stateBits)+branches)))
	return cost
}
