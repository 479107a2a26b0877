package circuit

import "testing"

// TestGoldenNoise holds the counts and expectation values of noisy circuits fixed: every engine, both precisions, Kraus operators
// on one and two qubits, readout errors, feedback.
func TestGoldenNoise(t *testing.T) {
	model := `"noise":{"channels":[{"channel":"depolarizing","p":0.02,"gates":["cx","cz","h"]},{"channel":"amplitude_damping","gamma":0.03,"gates":["u","t"]}],
		"readout":[{"matrix":[[0.98,0.02],[0.05,0.95]]}]},`
	pauli := `"noise":{"channels":[{"channel":"depolarizing","p":0.01,"gates":["cx","cz","h"]},{"channel":"bit_flip","p":0.02,"gates":["measure"]}],
		"readout":[{"qubits":[0,3],"matrix":[[0.98,0.02],[0.05,0.95]]}]},`
	feedback := `{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"x","target":1},{"gate":"phase_damping","target":2,"gamma":0.2}]},{"gate":"measure","targets":[1,2]}`
	circuits := map[string]Circuit{}
	add := func(name string, qubits int, seed uint64, count int, clifford bool, fields, last string) {
		b := &noisyBuilder{rng: newRandom(seed), qubits: qubits}
		b.random(count, clifford, clifford)
		if last != "" {
			b.add("%s", last)
		}
		c := mustParse(t, b.text(fields))
		c, _ = c.withRandomTerm(t, b.rng)
		circuits[name], _ = c.withRandomTerm(t, b.rng)
	}
	add("density-4", 4, 1, 60, false, `"shots":1000,`+model, "")
	add("density-7", 7, 2, 60, false, `"shots":1000,`, "")
	add("density-single-3", 3, 3, 60, false, `"precision":"single","shots":1000,`+model, "")
	add("density-events-3", 3, 4, 30, false, `"shots":1000,`, `{"gate":"measure","target":1},{"gate":"h","target":1},{"gate":"reset","target":2}`)
	add("trajectories-11", 11, 5, 80, false, `"shots":300,`+model, "")
	add("trajectories-single-12", 12, 6, 60, false, `"precision":"single","shots":200,`, "")
	add("trajectories-feedback-3", 3, 7, 40, false, `"shots":500,`+model, feedback)
	add("trajectories-18", 18, 8, 20, false, `"shots":20,`, "")
	add("stabilizer-30", 30, 9, 200, true, `"shots":1000,`+pauli, "")
	add("stabilizer-events-14", 14, 10, 100, true, `"shots":1000,`+pauli, `{"gate":"measure","targets":[2,3]},{"gate":"h","target":3},{"gate":"reset","target":5}`)
	checkGolden(t, "testdata/golden_noise.json", circuits)
}
