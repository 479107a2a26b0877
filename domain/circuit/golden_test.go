package circuit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/golden*.json anew: only when the rounding is meant to change")

// goldenResult is what every machine must give for a circuit: some counts to look at, and a digest of all of them
// and, where listed, of probabilities and amplitudes.
type goldenResult struct {
	Engine   string         `json:"engine"`
	Outcomes int            `json:"outcomes"`
	Some     map[string]int `json:"some"`
	SHA256   string         `json:"sha256"`
}

// goldenCircuits cover both precisions, several blocks, mid-circuit events, and the tableau.
func goldenCircuits(t *testing.T) map[string]Circuit {
	wide := func(qubits, gates int, seed uint64) *builder {
		return build(t, qubits).random(newRandom(seed), gates, unitaryNames, false)
	}
	qft := build(t, 12)
	for target := 11; target >= 0; target-- {
		qft.add("h", []int{target}, nil)
		for control := range target {
			qft.add("cp", []int{target}, []int{control}, 3.141592653589793/float64(int(1)<<(target-control)))
		}
	}
	ghz := build(t, 5).add("h", []int{0}, nil)
	for q := 1; q < 5; q++ {
		ghz.add("cx", []int{q}, []int{q - 1})
	}
	single := wide(9, 150, 101)
	single.circuit.precision = Single
	wideSingle := wide(18, 150, 102)
	wideSingle.circuit.precision = Single
	trajectories := wide(6, 40, 103)
	for q := range 4 {
		trajectories.add("measure", []int{q}, nil).random(newRandom(uint64(200+q)), 20, unitaryNames, false).add("reset", []int{q + 1}, nil)
	}
	partial := wide(16, 100, 104).add("measure", []int{3, 7, 15}, nil)
	clifford := build(t, 60).random(newRandom(105), 600, cliffordNames, true)
	cliffordMid := build(t, 20).random(newRandom(106), 200, cliffordNames, true).add("measure", []int{4, 5}, nil).
		random(newRandom(107), 50, cliffordNames, true).add("reset", []int{6}, nil)
	sparse := build(t, 100).add("rx", []int{99}, nil, 0.7).add("measure", []int{99}, nil)
	for q := range 99 {
		sparse.add("cry", []int{q}, []int{q + 1}, 0.3).add("cx", []int{q + 1}, []int{q}).add("t", []int{q}, nil)
	}
	chain := build(t, 40)
	for range 3 {
		for q := range 39 {
			chain.add("ry", []int{q}, nil, 0.3+float64(q)/10).add("rxx", []int{q, q + 1}, nil, 0.7)
		}
		chain.add("cx", []int{30}, []int{5}).add("measure", []int{20}, nil)
	}
	chain.add("h", []int{20}, nil).add("measure", allQubits(40), nil)
	return map[string]Circuit{
		"mps-40":     chain.circuit,
		"sparse-100": sparse.add("ry", []int{50}, nil, 1.1).add("measure", allQubits(100), nil).circuit,
		"ghz-5":      ghz.circuit, "qft-12": qft.random(newRandom(108), 24, unitaryNames, false).circuit,
		"random-7": wide(7, 120, 109).circuit, "random-17": wide(17, 150, 110).circuit,
		"single-9": single.circuit, "single-18": wideSingle.circuit, "trajectories-6": trajectories.circuit,
		"measured-16": partial.circuit, "clifford-60": clifford.circuit, "clifford-events-20": cliffordMid.circuit,
	}
}

// TestGoldenCounts holds counts fixed across versions, processors and instruction sets.
func TestGoldenCounts(t *testing.T) {
	checkGolden(t, "testdata/golden.json", goldenCircuits(t))
}

// goldenNumbers are those of a result that are held fixed; noisy circuits have expectation values among them.
func goldenNumbers(r Result) []any {
	numbers := []any{r.Counts, r.Probabilities, r.Statevector}
	if r.Expectations != nil {
		numbers = append(numbers, r.Expectations)
	}
	return numbers
}

func checkGolden(t *testing.T, file string, circuits map[string]Circuit) {
	got := map[string]goldenResult{}
	for name, c := range circuits {
		r := mustRun(t, c, Options{})
		text, err := json.Marshal(goldenNumbers(r)) // keys in order, every bit of the numbers
		if err != nil {
			t.Fatal(err)
		}
		digest := sha256.Sum256(text)
		g := goldenResult{Engine: r.Engine, Outcomes: len(r.Counts), Some: map[string]int{}, SHA256: hex.EncodeToString(digest[:])}
		for key, n := range r.Counts {
			if len(r.Counts) <= 8 || n >= 20 {
				g.Some[key] = n
			}
		}
		got[name] = g
	}
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]goldenResult
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(circuits) {
		t.Errorf("%d golden circuits, %d run", len(want), len(circuits))
	}
	for name, w := range want {
		if got[name].SHA256 != w.SHA256 || got[name].Engine != w.Engine {
			t.Errorf("%s gives %+v, want %+v", name, got[name], w)
		}
	}
}
