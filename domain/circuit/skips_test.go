package circuit

import (
	"errors"
	"math"
	"testing"
)

// TestSkips: the numbers of events between those that happen are geometric, at every probability, and all events together happen as often as
// they should.
func TestSkips(t *testing.T) {
	for _, p := range []float64{1, 0.9, 0.5, 0.1, 1e-2, 1e-3} {
		const draws = 200_000
		s, rng := newSkips(p), newRandom(5)
		var seen [8]int // of skips below 7, and of longer ones
		mean := 0.0
		for range draws {
			k := s.skip(rng)
			seen[min(k, 7)]++
			mean += float64(k) / draws
		}
		q := 1 - p
		for k, n := range seen {
			want := math.Pow(q, float64(k)) * p
			if k == 7 {
				want = math.Pow(q, 7)
			}
			if sigma := math.Sqrt(draws*want*(1-want)) + 1e-9; math.Abs(float64(n)-draws*want) > 5*sigma {
				t.Errorf("p = %v: a skip of %d %d times, want %.0f ± %.0f", p, k, n, draws*want, sigma)
			}
		}
		if sigma := math.Sqrt(q) / p / math.Sqrt(draws); math.Abs(mean-q/p) > 5*sigma+1e-9 {
			t.Errorf("p = %v: skips of %v on average, want %v ± %v", p, mean, q/p, sigma)
		}
	}
	for _, p := range []float64{1e-300, 1e-17, 5e-324} { // 1 − p is 1
		if k := newSkips(p).skip(newRandom(1)); k < 1<<61 {
			t.Errorf("p = %v: a skip of %d", p, k)
		}
	}
	stop := errors.New("stop")
	if err := forEachRare(0.5, 100, newRandom(1), func(int) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestMisreadsOfTheTableau: readout errors of unequal probabilities, exactly known.
func TestMisreadsOfTheTableau(t *testing.T) {
	c := mustParse(t, `{"qubits":14,"shots":100000,"seed":3,"method":"stabilizer","gates":[{"gate":"x","target":1},{"gate":"bit_flip","target":2,"p":0.05},{"gate":"depolarizing","targets":[3,4],"p":0.3}],
		"noise":{"readout":[{"qubits":[0,1],"matrix":[[0.98,0.02],[0.1,0.9]]},{"qubits":[5],"matrix":[[0,1],[0.5,0.5]]}]}}`)
	r := mustRun(t, c, Options{})
	if r.Engine != "stabilizer-v2" {
		t.Error(r.Engine)
	}
	var ones [14]float64
	both := 0.0
	for key, n := range r.Counts {
		for q := range ones {
			ones[q] += float64(key[13-q]-'0') * float64(n) / 100_000
		}
		if key[13-3] == '1' && key[13-4] == '1' {
			both += float64(n) / 100_000
		}
	}
	for q, want := range []float64{0.02, 0.9, 0.05, 0.3 * 8 / 15, 0.3 * 8 / 15, 1, 0} {
		if math.Abs(ones[q]-want) > 5*math.Sqrt(want*(1-want)/100_000)+1e-12 {
			t.Errorf("qubit %d is read as 1 in %v, want %v", q, ones[q], want)
		}
	}
	if want := 0.3 * 4 / 15; math.Abs(both-want) > 5*math.Sqrt(want/100_000) {
		t.Errorf("both qubits flip in %v, want %v", both, want)
	}
}
