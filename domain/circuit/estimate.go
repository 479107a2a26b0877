package circuit

import (
	"math/bits"
	"runtime"
)

// Cost bounds the memory and the work of running a circuit.
type Cost struct {
	// MemoryBytes bounds what Run adds to the process's resident memory, garbage included, when Options.Allocate takes planes
	// from outside the heap. Run refuses a smaller limit.
	MemoryBytes int64
	// SpareBytes is the useful memory beyond MemoryBytes: states of histories that wait, which are computed
	// again without.
	SpareBytes int64
	// ResultBytes bounds Result.JSON.
	ResultBytes int64
	// Operations counts complex multiplications, an upper bound that ignores fusion. A core with AVX-512 does about
	// 2e9 a second, one without SIMD about 2e8.
	Operations int64
	// keptBytes bounds what a finished run's result holds on the heap.
	keptBytes int64
}

// MaxOperations is the most operations of a circuit that Run accepts: two months of a fast core.
const MaxOperations = 10_000_000_000_000_000

// Estimate bounds memory and work without simulating. It takes time linear in the circuit's text.
func Estimate(c Circuit) Cost {
	if c.Points() > 0 {
		return c.sweepCost(runtime.GOMAXPROCS(0))
	}
	c = c.noisy()
	engine, err := c.engine(EngineAuto)
	if err != nil {
		return Cost{}
	}
	return c.cost(engine, runtime.GOMAXPROCS(0))
}

// Check refuses work that would never end.
func (c Cost) Check() error {
	if c.Operations > MaxOperations {
		return refuse(CodeWork, "the circuit may take %.0e operations (shots that differ × measurements and noise mid-circuit × amplitudes); at most %.0e are run",
			float64(c.Operations), float64(MaxOperations))
	}
	return nil
}

const (
	// fixedBytes bounds a run's allocations for the smallest circuit, and the heap's growth before the first collection.
	fixedBytes = 8 << 20
	// gateBytes bounds a gate with its qubits and angles, and its instruction.
	gateBytes = 1024
	// entryBytes bounds a map entry, and its share of a table that is half empty beside the one it grew out of.
	entryBytes = 128
)

func (c Circuit) cost(engine Engine, threads int) Cost {
	key := c.keyLayout().template
	shown := 0
	for _, character := range key {
		if character != ' ' {
			shown++
		}
	}
	distinct := int64(c.shots) // keys
	if shown < bits.Len(uint(c.shots)) {
		distinct = min(distinct, 1<<shown)
	}
	gates := int64(0)
	forEach(c.gates, func(g *gate) { gates += int64(1 + len(g.targets)) })
	gates += c.channelBytes() / gateBytes
	cost := Cost{ResultBytes: distinct*int64(len(key)+16) + 4096 + c.shotMemoryBytes()}
	if c.noise != nil {
		cost.ResultBytes += c.noise.warningBytes
		cost.keptBytes += c.noise.warningBytes
	}
	if c.memory {
		cost.keptBytes += int64(c.shots) * 16
	}
	switch engine {
	case EngineDensity:
		return c.densityCost(cost, distinct, gates, threads)
	case EngineSparse:
		states := c.sparseBytes()
		if c.triesSparse() && states > triedAmplitudes*sparseEntryBytes((c.qubits+63)/64) {
			states = c.mpsBytes()
		}
		return c.wideCost(cost, distinct, shown, gates, states)
	case EngineMPS:
		return c.wideCost(cost, distinct, shown, gates, c.mpsBytes())
	case EngineStabilizer:
		return c.stabilizerCost(cost, distinct, int64(len(key)), gates)
	}
	return c.statevectorCost(cost, distinct, shown, gates, threads)
}

func (c Circuit) statevectorCost(cost Cost, distinct int64, shown int, gates int64, threads int) Cost {
	p := lower(c)
	key := int64(len(p.key.template) + p.key.hidden)
	amplitudeBytes := int64(16)
	if c.precision == Single {
		amplitudeBytes = 8
	}
	geo := geometryOf(c.qubits, int(amplitudeBytes)/2)
	stateBytes := amplitudeBytes << geo.stateBits
	events := p.eventCount()

	heap := gates*gateBytes + int64(len(p.segments))*gateBytes
	heap += int64(c.shots) * 8 // uniform numbers
	kept := cost.keptBytes + distinct*(key+key/8+16+entryBytes)
	heap += 2 * 8 << geo.stateBits >> min(chunkBits, geo.stateBits) // sums of chunks
	if geo.blockBits < geo.stateBits {
		heap += amplitudeBytes << geo.blockBits * int64(threads)
	}
	noisy := c.hasChannels()
	if c.qubits <= MaxProbabilityQubits && !noisy {
		kept += c.listedBytes(&cost, shown, key)
		if c.misreads() {
			heap += 8 << min(len(p.outputs), maxMisread)
		}
	}
	kept += c.statedBytes(&cost)
	kept += 4096 + int64(len(c.observables))*64
	heap += kept
	cost.keptBytes = kept
	waiting := int64(0) // histories at once; see walk
	if events > 0 {
		waiting = min(events, int64(bits.Len(uint(c.shots)))+47) + 1
		if noisy { // of 16 outcomes 15 may wait, with at least a sixteenth of the shots each
			waiting = min((maxOutcomes-1)*events, 4*int64(bits.Len(uint(c.shots)))+maxOutcomes) + 1
			heap += 1 << geo.stateBits / maxChannelDim * 2 // sums of chunks
		}
		heap += waiting * (key + 2*events + 8*int64(p.loops) + 256)
	}
	multiplications := uint64(c.pauliTerms()) + uint64(len(c.marginals))
	heap += c.pauliTerms() * c.termBytes()
	cost.ResultBytes += int64(len(c.observables)) * 128
	for _, s := range p.segments {
		once := uint64(0)
		for _, op := range s.operators {
			heap += max(operatorBytes(c.qubits), tableBytes(len(op.matrix))) // preparing a state has a larger table, which is not fused
			once += 1 << (2 * op.targets.count())
		}
		switch {
		case s.event.kind == eventChannel: // the weights of its operators, and one of them
			once += 4 << s.event.channel.qubits
		case s.event.splits():
			once += 2
		}
		multiplications = saturatingAdd(multiplications, saturatingMultiply(once, uint64(s.times)))
	}

	cost.MemoryBytes = fixedBytes + stateBytes + 2*heap // what is in use, and as much garbage before it is collected
	cost.SpareBytes = waiting * stateBytes
	histories := uint64(p.branchBound(c.shots))
	if events > 0 {
		histories *= 2 // each may be computed again from the start
		if c.qubits <= MaxProbabilityQubits || len(c.observables)+len(c.marginals) > 0 {
			histories += max(1, uint64(exactAmplitudes)>>geo.stateBits)
		}
	}
	work := saturatingMultiply(saturatingMultiply(multiplications+2, 1<<geo.stateBits), histories)
	cost.Operations = int64(work)
	return cost
}

// operatorBytes bounds what an operator on so many wires accounts for. One that stays alone has at most 16 entries; fused ones
// share at most 64, so that each accounts for half.
func operatorBytes(wires int) int64 {
	return tableBytes(1<<min(2*wires, maxTableBits)) / 2
}

// tableBytes is the size of an operator of so many entries, with its table for both parts of all lanes.
func tableBytes(entries int) int64 { return int64(entries) * (2*vectorBytes + 4*16) }

// termBytes bounds what one term of an observable takes.
func (c Circuit) termBytes() int64 { return 256 + 32*int64(c.qubits) }

// pauliTerms is the number of terms of all observables.
func (c Circuit) pauliTerms() int64 {
	sum := int64(0)
	for _, o := range c.observables {
		sum += int64(len(o))
	}
	return sum
}

// stabilizerCost bounds the tableau, its symbols, the basis that is sampled from, the samples and their keys.
func (c Circuit) stabilizerCost(cost Cost, distinct, key, gates int64) Cost {
	events, errors := int64(0), int64(0)
	forEach(c.gates, func(g *gate) {
		if g.kind == kindMeasure || g.kind == kindReset {
			events += int64(len(g.targets))
		}
		if g.kind == kindChannel && !g.channel.trivial() {
			events += 2 * int64(len(g.targets)) // symbols
			errors += 15 * int64(len(g.targets))
		}
	})
	column := int64(2*((c.qubits+63)/64)) * 8
	sample := int64((c.slots+63)/64) * 8
	symbols := int64(c.qubits) + events
	heap := gates*gateBytes + c.pauliTerms()*c.termBytes()
	cost.ResultBytes += int64(len(c.observables)) * 128
	heap += int64(2*c.qubits+1) * column
	if len(c.observables) > 0 {
		heap += 2 * (int64(2*c.qubits+1) + events) * column // a copy, and one that is garbage
	}
	heap += events * 8 * column                        // the symbols' signs, and masks
	heap += int64(c.slots+c.qubits) * (symbols/4 + 64) // outcomes
	heap += symbols * (2*sample + entryBytes)          // basis
	heap += errors * (sample + 64)                     // what each error does to the key
	if len(c.marginals) > 0 {
		heap += errors*(8+64) + symbols*(8+entryBytes) // and to one marginal
		for _, qubits := range c.marginals {
			cost.Operations += 16 * errors / 15 << len(qubits)
		}
	}
	heap += int64(c.shots)*(sample+4) + distinct*(key+64) // samples, keys
	marginalHeap, marginalText := c.marginalBytes()
	heap += marginalHeap
	cost.ResultBytes += marginalText
	heap += cost.keptBytes
	cost.keptBytes += marginalHeap + distinct*(key+64+entryBytes) + 4096 + int64(len(c.observables))*64
	cost.MemoryBytes = fixedBytes + 2*heap
	words := column / 8
	cost.Operations += c.pauliTerms() * (2*int64(c.qubits) + symbols) * words
	cost.Operations += int64(len(c.gates))*words + (events+2*int64(c.qubits))*symbols*words + int64(c.shots)*sample/8*symbols/64
	cost.Operations += int64(c.shots) * (errors/15 + int64(c.slots)) // draws
	return cost
}

// listedBytes is what probabilities of keys of so many shown bits, and key bytes each, take on the heap; it adds what they take in the result.
func (c Circuit) listedBytes(cost *Cost, shown int, key int64) int64 {
	listed := int64(min(1<<min(shown, 62), maxProbabilities))
	cost.ResultBytes += listed * (key + 32)
	return listed * (key + key/8 + 16 + entryBytes)
}

// statedBytes is what amplitudes and marginals take on the heap; it adds what they take in the result.
func (c Circuit) statedBytes(cost *Cost) int64 {
	kept, text := c.marginalBytes()
	if c.statevector && c.qubits <= MaxStatevectorQubits {
		kept += 16 << c.qubits
		text += 64 << c.qubits
	}
	cost.ResultBytes += text
	return kept
}

// wideCost bounds what a method for any width takes, given the room of its states.
func (c Circuit) wideCost(cost Cost, distinct int64, shown int, gates, states int64) Cost {
	p := lowerWide(c)
	key := int64(len(p.key.template) + p.key.hidden)
	heap := gates * 2 * gateBytes
	events := int64(0)
	for _, step := range p.code {
		switch {
		case step.operator != nil:
			heap += int64(len(step.operator.controls))*4*8 + int64(len(step.operator.matrix))*4*16
		case step.event.splits():
			events++
		}
	}
	heap += int64(c.shots) * 8 // uniform numbers
	kept := cost.keptBytes + distinct*(key+key/8+16+entryBytes)
	if c.qubits <= MaxProbabilityQubits {
		kept += c.listedBytes(&cost, shown, key)
		heap += 8 << MaxProbabilityQubits
		if c.misreads() {
			heap += 8 << min(len(p.outputs), maxMisread)
		}
	}
	kept += c.statedBytes(&cost) + 4096 + int64(len(c.observables))*64
	cost.ResultBytes += int64(len(c.observables)) * 128
	heap += kept + c.pauliTerms()*c.termBytes()
	cost.keptBytes = kept
	if events > 0 {
		waiting := min(events, int64(bits.Len(uint(c.shots)))+47) + 1
		heap += waiting * (key + 8*int64(p.loops) + 256)
	}
	cost.MemoryBytes = fixedBytes + 2*(heap+states)
	entries := saturatingMultiply(uint64(states/16), uint64(len(p.code))+uint64(c.pauliTerms())+uint64(len(c.marginals)))
	rounds := saturatingMultiply(uint64(c.shots), steps(c.gates)) // of every history
	work := saturatingAdd(saturatingMultiply(entries, 4), saturatingMultiply(rounds, uint64(1+events)))
	cost.Operations = int64(min(work, MaxOperations)) // the run's memory ends a state that grows
	return cost
}
