package circuit

import "context"

// stabilizerNoise is the noise of a run on the tableau. Every Pauli error that a channel may make is a sum of symbols, as random
// outcomes are; but those symbols are not drawn evenly, and not apart from each other.
type stabilizerNoise struct {
	sources []*channel   // each use of a channel
	first   []int        // symbol each begins with, ascending: of every qubit whether it suffers an X, then of every qubit a Z
	readout []*confusion // of each bit of the key; nil when none is misread
}

// apply makes the errors of a channel symbols.
func (n *stabilizerNoise) apply(t *tableau, g gate) {
	if g.channel.trivial() {
		return
	}
	for from := 0; from < len(g.targets); from += g.channel.qubits {
		n.sources = append(n.sources, g.channel)
		n.first = append(n.first, len(t.signs))
		on := g.targets[from : from+g.channel.qubits]
		for _, q := range on {
			t.signs = append(t.signs, make([]uint64, t.words))
			t.applyXWhere(q, len(t.signs)-1)
		}
		for _, q := range on {
			t.signs = append(t.signs, make([]uint64, t.words))
			t.applyZWhere(q, len(t.signs)-1)
		}
	}
}

// sourceOf finds the source of a symbol and the bit of an error that it stands for; source is -1 for a random outcome.
func (n *stabilizerNoise) sourceOf(symbol int) (source, bit int) {
	low, high := 0, len(n.first)
	for low < high {
		if middle := (low + high) / 2; n.first[middle] <= symbol {
			low = middle + 1
		} else {
			high = middle
		}
	}
	source = low - 1
	if source < 0 || symbol-n.first[source] >= 2*n.sources[source].qubits {
		return -1, 0
	}
	return source, symbol - n.first[source]
}

// code is the error an operator stands for: the bits of x, then of z.
func (k krausOperator) code(qubits int) int { return k.x | k.z<<qubits }

// mean is the expectation value of minus one to the power of a parity.
func (n *stabilizerNoise) mean(p parity) float64 {
	value := 1.0
	source, seen := -1, 0 // symbols come in ascending order, those of a source together
	finish := func() {
		if source < 0 {
			return
		}
		c, sum := n.sources[source], 0.0
		for _, k := range c.operators {
			if oddBits(k.code(c.qubits) & seen) {
				sum -= k.weight
			} else {
				sum += k.weight
			}
		}
		value = float64(value * sum)
		source, seen = -1, 0
	}
	p.forEach(func(symbol int) {
		at, bit := n.sourceOf(symbol)
		switch {
		case symbol == 0:
			value = -value
		case at < 0:
			value = 0 // either sign, equally often
		default:
			if at != source {
				finish()
			}
			source, seen = at, seen|1<<bit
		}
	})
	finish()
	return value + 0 // + 0 turns -0 into 0
}

func oddBits(v int) bool {
	odd := false
	for ; v != 0; v &= v - 1 {
		odd = !odd
	}
	return odd
}

// sampledError is the effect of a source on the key.
type sampledError struct {
	total   float64 // of the probabilities
	choices []errorChoice
}

type errorChoice struct {
	below float64 // of a uniform number: the sum of the probabilities so far
	flips []uint64
}

// errors are the sources that change the key; it takes their symbols out of the vectors, so that only even ones are left.
func (n *stabilizerNoise) errors(vectors map[int][]uint64, words int) (out []sampledError) {
	for i, c := range n.sources {
		var own [4][]uint64
		felt := false
		for bit := range 2 * c.qubits {
			own[bit] = vectors[n.first[i]+bit]
			felt = felt || own[bit] != nil
			delete(vectors, n.first[i]+bit)
		}
		if !felt {
			continue
		}
		var e sampledError
		for _, k := range c.operators[1:] {
			flips := make([]uint64, words)
			for bit, v := range own {
				if k.code(c.qubits)>>bit&1 != 0 && v != nil {
					xorInto(flips, v)
				}
			}
			e.total += k.weight
			e.choices = append(e.choices, errorChoice{e.total, flips})
		}
		out = append(out, e)
	}
	return out
}

// sampled are the shots of a run on the tableau: the bits of the keys, one shot after the other.
type sampled struct {
	bits         []uint64
	words, shots int
}

func (s sampled) shot(i int) []uint64 { return s.bits[i*s.words:][:s.words] }

// misfortunes are errors, or bits that may be misread, of one probability, so that one skip leads over all of their shots.
type misfortunes[T any] struct {
	p    float64
	list []T
}

// byProbability groups what may go wrong, in the order in which the probabilities come first.
func byProbability[T any](list []T, probability func(T) float64) (groups []misfortunes[T]) {
	place := map[float64]int{}
	for _, one := range list {
		p := probability(one)
		if p == 0 {
			continue
		}
		if _, seen := place[p]; !seen {
			place[p] = len(groups)
			groups = append(groups, misfortunes[T]{p: p})
		}
		groups[place[p]].list = append(groups[place[p]].list, one)
	}
	return groups
}

// draw lets the errors of all shots happen, and then misreads bits.
func (n *stabilizerNoise) draw(ctx context.Context, errors []sampledError, s sampled, rng *random) error {
	const checkEvery = 4096
	drawn := 0
	check := func() error {
		if drawn++; drawn%checkEvery == 0 {
			return ctx.Err()
		}
		return nil
	}
	for _, group := range byProbability(errors, func(e sampledError) float64 { return e.total }) {
		err := forEachRare(group.p, len(group.list)*s.shots, rng, func(event int) error {
			group.list[event/s.shots].happen(s.shot(event%s.shots), rng)
			return check()
		})
		if err != nil {
			return err
		}
	}
	var misread []misreadBit
	for i, m := range n.readout {
		if m != nil {
			misread = append(misread, misreadBit{i, m})
		}
	}
	for _, group := range byProbability(misread, misreadBit.most) {
		err := forEachRare(group.p, len(group.list)*s.shots, rng, func(event int) error {
			group.list[event/s.shots].happen(s.shot(event%s.shots), group.p, rng)
			return check()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// happen is one of the source's errors.
func (e *sampledError) happen(value []uint64, rng *random) {
	choice := 0
	if len(e.choices) > 1 {
		for u := float64(rng.float64() * e.total); choice < len(e.choices)-1 && u >= e.choices[choice].below; choice++ {
		}
	}
	xorInto(value, e.choices[choice].flips)
}

// misreadBit is a bit of the key that may be misread.
type misreadBit struct {
	bit int
	by  *confusion
}

// most is the larger of the probabilities that a 0 and that a 1 is misread.
func (m misreadBit) most() float64 { return max(m.by[0][1], m.by[1][0]) }

// happen misreads the bit with its probability, given that something happens with the larger one.
func (m misreadBit) happen(value []uint64, most float64, rng *random) {
	is := value[m.bit/64] >> (m.bit % 64) & 1
	if p := m.by[is][1-is]; p == most || float64(rng.float64()*most) < p {
		value[m.bit/64] ^= 1 << (m.bit % 64)
	}
}
