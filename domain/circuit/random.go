package circuit

// random is SplitMix64 (Steele, Lea, Flood 2014): state += 0x9e3779b97f4a7c15, output a mix of the state. The seed of
// the circuit is the initial state. It is part of the interface: counts depend on it.
type random struct{ state uint64 }

func newRandom(seed uint64) *random { return &random{state: seed} }

func (r *random) uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float64 returns a multiple of 2^-53 in [0, 1).
func (r *random) float64() float64 { return float64(r.uint64()>>11) * (1.0 / (1 << 53)) }
