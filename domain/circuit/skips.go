package circuit

// skips finds the rare ones among many events of one probability: the number of events up to the next that happens is drawn at once.
type skips struct {
	powers []float64 // of the probability that an event does not happen, to the powers 1, 2, 4, …
}

// smallestDraw is the smallest number that skip draws.
const smallestDraw = 1.0 / (1 << 53)

// maxSkip bounds a skip: more events are not drawn.
const maxSkip = 62

func newSkips(p float64) (s skips) {
	for q := 1 - p; q >= smallestDraw && len(s.powers) < maxSkip; q = float64(q * q) {
		s.powers = append(s.powers, q)
	}
	return s
}

// skip draws how many events do not happen before one does: k or more with the probability q^k. It is the largest k with u ≤ q^k for a u
// uniform in (0, 1], found bit by bit.
func (s skips) skip(rng *random) int {
	u := 1 - rng.float64()
	at, k := 1.0, 0
	for i := len(s.powers) - 1; i >= 0; i-- {
		if next := float64(at * s.powers[i]); u <= next {
			at = next
			k += 1 << i
		}
	}
	return k
}

// forEachRare calls happen for each event that happens, of so many with a probability; it stops at the first error.
func forEachRare(p float64, events int, rng *random, happen func(event int) error) error {
	s := newSkips(p)
	for at := s.skip(rng); at < events; at += 1 + s.skip(rng) {
		if err := happen(at); err != nil {
			return err
		}
	}
	return nil
}
