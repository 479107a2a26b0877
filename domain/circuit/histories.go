package circuit

import (
	"fmt"
	"slices"
)

// histories is what a simulation gathers from the histories of outcomes that it follows, in whatever form it holds its states.
type histories struct {
	rng *random

	exact         bool   // every history is followed, for probabilities, expectation values or marginals
	listed        bool   // probabilities are wanted
	tally         *tally // of expectation values
	marginals     [][]int
	sums          marginalSums
	followed      int    // that are followed or have ended, while exact
	unfollowed    string // why not all are
	omitted       string // why there are no probabilities
	counts        map[string]int
	probabilities map[string]float64
	misread       bool // a measurement at the end may be
}

func newHistories(c Circuit, outputs []output, rng *random, seed uint64) histories {
	return histories{
		rng: rng, tally: newTally(c.observables, c.shots, seed), marginals: c.marginals, sums: newMarginalSums(c.marginals), followed: 1, counts: make(map[string]int),
		misread: slices.ContainsFunc(outputs, func(out output) bool { return out.readout != nil }),
	}
}

// followAll decides whether every history is followed, and whether probabilities are listed: with readout errors for at most so many of
// the bits that are written at the end.
func (h *histories) followAll(c Circuit, outputs, mostMisread int) {
	switch {
	case c.qubits > MaxProbabilityQubits:
		h.omitted = fmt.Sprintf("exact probabilities are listed up to %d qubits", MaxProbabilityQubits)
	case h.misread && outputs > mostMisread:
		h.omitted = fmt.Sprintf("exact probabilities with readout errors are listed up to %d bits", mostMisread)
	default:
		h.listed, h.probabilities = true, make(map[string]float64)
	}
	h.exact = h.listed || len(c.observables)+len(c.marginals) > 0
}

// giveUpExact stops following histories for their probability alone.
func (h *histories) giveUpExact(reason string) {
	h.exact, h.unfollowed = false, reason
	if h.listed {
		h.unlist(reason)
	}
}

func (h *histories) unlist(reason string) {
	h.listed, h.probabilities, h.omitted = false, nil, reason
}

// addProbability adds to that of a key, and stops listing where there are too many.
func (h *histories) addProbability(key string, p float64) {
	h.probabilities[key] += p
	if len(h.probabilities) > maxProbabilities {
		h.unlist(fmt.Sprintf("more than %d keys are possible", maxProbabilities))
	}
}

// countReadings counts what is read at the end by shots that find the bits of the wires: each reading may be wrong by itself, also of two measurements
// of one wire. key is the history's, and is written.
func (h *histories) countReadings(layout keyLayout, outputs []output, key []byte, times int, bit func(wire int) byte) {
	for range times {
		for _, out := range outputs {
			value := bit(out.wire)
			if out.readout != nil && h.rng.float64() < out.readout[value][1-value] {
				value = 1 - value
			}
			layout.write(key, out.slot, value)
		}
		h.counts[string(key[:len(layout.template)])]++
	}
}

// addReadings adds the probabilities of what is read at the end in a history of this weight, from those of what is found: bit i of an index is that of
// output i. key is the history's, and is written; chances change.
func (h *histories) addReadings(layout keyLayout, outputs []output, key []byte, weight float64, chances []float64) {
	for i, out := range outputs {
		if out.readout != nil {
			misread(chances, i, *out.readout)
		}
	}
	for value, p := range chances {
		if p == 0 {
			continue
		}
		for i, out := range outputs {
			layout.write(key, out.slot, byte(value>>i&1))
		}
		if h.addProbability(string(key[:len(layout.template)]), float64(weight*p)); !h.listed {
			return
		}
	}
}

// divide draws the outcomes of an event for the shots of a history of this weight, whose state has so many numbers. It returns the shots of each
// outcome, and the outcomes that are followed.
func (h *histories) divide(shots int, weight float64, e event, probability [maxOutcomes]float64, size int) (each [maxOutcomes]int, values []int) {
	each = splitShots(h.rng, shots, probability)
	for value := range e.outcomes() {
		if each[value] > 0 || h.exact && weight*probability[value] > negligible {
			values = append(values, value)
		}
	}
	if most := max(1, exactAmplitudes/size); h.exact && len(values) > 1 {
		if h.followed += len(values) - 1; h.followed > most {
			h.giveUpExact(fmt.Sprintf("the outcomes split into more than %d histories, too many to follow exactly", most))
			values = slices.DeleteFunc(values, func(value int) bool { return each[value] == 0 })
		}
	}
	return each, values
}

// lapsed is a while loop that would begin a round too many: refused where a shot runs it.
func (h *histories) lapsed(shots int, e event) error {
	if shots > 0 {
		return refuse(CodeRounds, "a while loop did not end within its %d rounds", e.rounds)
	}
	h.giveUpExact("a history that no shot took runs a while loop past its last round")
	return nil
}

// into fills in what was gathered.
func (h *histories) into(c Circuit, result *Result) {
	result.Counts = h.counts
	if result.Probabilities = withoutDust(h.probabilities); result.Probabilities == nil {
		result.Omit("probabilities", h.omitted)
	}
	if len(c.observables) > 0 {
		if result.Expectations = h.tally.expectations(h.exact); !h.exact {
			result.Omit("expectations.value", h.unfollowed)
		}
	}
	if len(c.marginals) > 0 {
		if result.Marginals = h.sums.result(c.marginals, h.exact); !h.exact {
			result.Omit("marginals.probabilities", h.unfollowed)
		}
	}
}

// begin is the key before anything is measured.
func (k keyLayout) begin() []byte {
	return append(slices.Clone(k.template), slices.Repeat([]byte{'0'}, k.hidden)...)
}

// follow carries out an event of classical control and returns what runs next; false when a loop would begin a round too many. key has the
// outcomes so far, rounds what each loop has begun; both change.
func (k keyLayout) follow(e *event, key []byte, rounds []int) (next int, ok bool) {
	switch e.kind {
	case eventAssign:
		value := k.evaluate(e.condition, key)
		for i, slot := range e.slots {
			k.write(key, slot, byte(value>>i&1))
		}
	case eventIf:
		if k.evaluate(e.condition, key) == 0 {
			return e.other, true
		}
	case eventLoop:
		switch {
		case k.evaluate(e.condition, key) == 0:
			rounds[e.loop] = 0
			return e.other, true
		case rounds[e.loop] == e.rounds:
			return 0, false
		}
		rounds[e.loop]++
	}
	return e.next, true
}

// isControl reports whether an event only moves classical data or jumps.
func (e event) isControl() bool {
	return e.kind == eventAssign || e.kind == eventIf || e.kind == eventLoop || e.kind == eventJump
}
