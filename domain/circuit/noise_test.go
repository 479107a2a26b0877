package circuit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// noisyBuilder makes random noisy circuits as the JSON a job has.
type noisyBuilder struct {
	rng    *random
	qubits int
	gates  []string
}

func (b *noisyBuilder) add(format string, args ...any) {
	b.gates = append(b.gates, fmt.Sprintf(format, args...))
}

func (b *noisyBuilder) text(fields string) string {
	return fmt.Sprintf(`{"qubits":%d,"seed":%d,%s"gates":[%s]}`, b.qubits, b.rng.uint64()>>12, fields, strings.Join(b.gates, ","))
}

func (b *noisyBuilder) pair() (int, int) {
	order := permute(b.rng, b.qubits)
	return order[0], order[1%b.qubits]
}

// randomKraus is a complete set of operators: the columns of a random isometry, made orthonormal.
func randomKraus(rng *random, qubits, count int) string {
	dim := 1 << qubits
	columns := make([][]complex128, dim)
	for c := range columns {
		columns[c] = make([]complex128, dim*count)
		for i := range columns[c] {
			columns[c][i] = complex(rng.float64()-0.5, rng.float64()-0.5)
		}
		for range 2 { // Gram and Schmidt, twice for the last digits
			for _, earlier := range columns[:c] {
				var overlap complex128
				for i, v := range earlier {
					overlap += complex(real(v), -imag(v)) * columns[c][i]
				}
				for i, v := range earlier {
					columns[c][i] -= overlap * v
				}
			}
			norm := 0.0
			for _, v := range columns[c] {
				norm += real(v)*real(v) + imag(v)*imag(v)
			}
			for i := range columns[c] {
				columns[c][i] /= complex(math.Sqrt(norm), 0)
			}
		}
	}
	operators := make([][][][2]float64, count)
	for k := range operators {
		for row := range dim {
			var numbers [][2]float64
			for c := range dim {
				v := columns[c][k*dim+row]
				numbers = append(numbers, [2]float64{real(v), imag(v)})
			}
			operators[k] = append(operators[k], numbers)
		}
	}
	text, _ := json.Marshal(operators)
	return string(text)
}

// noise adds a random channel.
func (b *noisyBuilder) noise(pauli bool) {
	p, q := b.pair()
	choices := 11
	if pauli {
		choices = 7
	}
	strength := b.rng.float64() * 0.3
	choice := int(b.rng.uint64() % uint64(choices))
	if b.qubits == 1 && (choice == 1 || choice == 6 || choice == 10) {
		choice = 0
	}
	switch choice {
	case 0:
		b.add(`{"gate":"depolarizing","target":%d,"p":%v}`, p, strength)
	case 1:
		b.add(`{"gate":"depolarizing","targets":[%d,%d],"p":%v}`, p, q, strength)
	case 2, 3, 4:
		b.add(`{"gate":"%s","target":%d,"p":%v}`, [3]string{"bit_flip", "phase_flip", "bit_phase_flip"}[choice-2], p, strength)
	case 5:
		b.add(`{"gate":"pauli_channel","target":%d,"probabilities":{"X":%v,"Y":%v}}`, p, strength, strength/3)
	case 6:
		b.add(`{"gate":"pauli_channel","targets":[%d,%d],"probabilities":{"XI":%v,"YZ":%v,"IZ":%v}}`, p, q, strength, strength/3, strength/2)
	case 7, 8:
		b.add(`{"gate":"%s","target":%d,"gamma":%v}`, [2]string{"amplitude_damping", "phase_damping"}[choice-7], p, strength*2)
	case 9:
		b.add(`{"gate":"kraus","target":%d,"kraus":%s}`, p, randomKraus(b.rng, 1, 1+int(b.rng.uint64()%4)))
	case 10:
		b.add(`{"gate":"kraus","targets":[%d,%d],"kraus":%s}`, p, q, randomKraus(b.rng, 2, 1+int(b.rng.uint64()%16)))
	}
}

func (b *noisyBuilder) random(count int, clifford, pauli bool) *noisyBuilder {
	for range count {
		p, q := b.pair()
		switch b.rng.uint64() % 6 {
		case 0:
			b.add(`{"gate":"%s","target":%d}`, []string{"h", "s", "sx", "y"}[b.rng.uint64()%4], p)
		case 1, 2:
			if clifford {
				b.add(`{"gate":"h","target":%d}`, p)
			} else {
				b.add(`{"gate":"u","target":%d,"params":[%v,%v,%v]}`, p, b.rng.float64()*6, b.rng.float64()*6, b.rng.float64()*6)
			}
		case 3:
			if p != q {
				b.add(`{"gate":"%s","control":%d,"target":%d}`, []string{"cx", "cz"}[b.rng.uint64()%2], p, q)
			}
		case 4:
			if p != q {
				b.add(`{"gate":"%s","targets":[%d,%d]}`, []string{"swap", "iswap"}[b.rng.uint64()%2], p, q)
			}
		case 5:
			b.noise(pauli)
		}
	}
	return b
}

func mustParse(t testing.TB, text string) Circuit {
	t.Helper()
	c, err := Parse([]byte(text), Limits{Qubits: MaxQubits, CliffordQubits: MaxCliffordQubits})
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return c
}

// densityMatrix is put together from the expectation value of every Pauli product.
func densityMatrix(t *testing.T, c Circuit) [][]complex128 {
	t.Helper()
	n := c.qubits
	c.observables = nil
	var all observable
	for code := range 1 << (2 * n) {
		term := pauliTerm{coefficient: 1}
		for q := range n {
			x, z := code>>q&1 != 0, code>>(n+q)&1 != 0
			if x {
				term.x = append(term.x, q)
			}
			if z {
				term.z = append(term.z, q)
			}
			if x && z {
				term.ys++
			}
		}
		c.observables = append(c.observables, observable{term})
		all = append(all, term)
	}
	r := mustRun(t, c, Options{Engine: EngineDensity})
	dim := 1 << n
	rho := make([][]complex128, dim)
	for i := range rho {
		rho[i] = make([]complex128, dim)
	}
	for code := range all {
		for column := range dim {
			matrix := pauliMatrix(n, code&(dim-1), code>>n)
			row := column ^ code&(dim-1)
			v := matrix[row*dim+column]
			rho[row][column] += complex(v.re, v.im) * complex(*r.Expectations[code].Value/float64(dim), 0)
		}
	}
	return rho
}

// TestDensityMatricesAreStates: trace 1, and no negative eigenvalue: ρ + 1e-12 has a Cholesky decomposition.
func TestDensityMatricesAreStates(t *testing.T) {
	rng := newRandom(31)
	for round := range 60 {
		b := &noisyBuilder{rng: rng, qubits: 1 + round%3}
		c := mustParse(t, b.random(30, false, false).text(`"shots":1,`))
		rho := densityMatrix(t, c)
		trace := 0.0
		for i := range rho {
			trace += real(rho[i][i])
			rho[i][i] += 1e-12
		}
		if math.Abs(trace-1) > 1e-12 {
			t.Errorf("trace %v: %s", trace, b.text(""))
		}
		for j := range rho {
			pivot := real(rho[j][j])
			if pivot <= 0 {
				t.Fatalf("a negative eigenvalue: %s", b.text(""))
			}
			for i := j + 1; i < len(rho); i++ {
				factor := rho[i][j] / complex(pivot, 0)
				for k := j + 1; k < len(rho); k++ {
					rho[i][k] -= factor * complex(real(rho[k][j]), -imag(rho[k][j]))
				}
			}
		}
	}
}

// sameState refuses circuits whose density matrices differ.
func sameState(t *testing.T, what, one, other string) {
	t.Helper()
	a, b := densityMatrix(t, mustParse(t, one)), densityMatrix(t, mustParse(t, other))
	for i := range a {
		for j := range a {
			if d := a[i][j] - b[i][j]; math.Hypot(real(d), imag(d)) > 1e-12 {
				t.Fatalf("%s: entry %d,%d is %v and %v\n%s\n%s", what, i, j, a[i][j], b[i][j], one, other)
			}
		}
	}
}

// TestChannelsCompose: channels that are other channels in other words.
func TestChannelsCompose(t *testing.T) {
	rng := newRandom(32)
	state := `{"gate":"u","target":0,"params":[1.1,0.4,2]},{"gate":"u","target":1,"params":[0.3,2,1]},{"gate":"cx","control":0,"target":1},`
	both := func(what, one, other string) {
		t.Helper()
		sameState(t, what, `{"qubits":2,"gates":[`+state+one+`]}`, `{"qubits":2,"gates":[`+state+other+`]}`)
	}
	both("two flips are one", `{"gate":"bit_flip","target":0,"p":0.1},{"gate":"bit_flip","target":0,"p":0.2}`, `{"gate":"bit_flip","target":0,"p":0.26}`)
	both("each target", `{"gate":"amplitude_damping","targets":[0,1],"gamma":0.3}`,
		`{"gate":"amplitude_damping","target":1,"gamma":0.3},{"gate":"amplitude_damping","target":0,"gamma":0.3}`)
	both("amplitude damping twice", `{"gate":"amplitude_damping","target":1,"gamma":0.3},{"gate":"amplitude_damping","target":1,"gamma":0.5}`,
		`{"gate":"amplitude_damping","target":1,"gamma":0.65}`)
	both("phase damping is a phase flip", `{"gate":"phase_damping","target":0,"gamma":0.36}`, `{"gate":"phase_flip","target":0,"p":0.1}`)
	both("depolarizing is even", `{"gate":"depolarizing","target":0,"p":0.3}`, `{"gate":"pauli_channel","target":0,"probabilities":{"X":0.1,"Y":0.1,"Z":0.1}}`)
	both("full depolarizing forgets", `{"gate":"depolarizing","target":0,"p":0.75},{"gate":"u","target":0,"params":[1,2,3]}`, `{"gate":"depolarizing","target":0,"p":0.75}`)
	both("two qubits forget", `{"gate":"depolarizing","targets":[1,0],"p":0.9375},{"gate":"cx","control":0,"target":1}`, `{"gate":"depolarizing","targets":[0,1],"p":0.9375}`)
	both("letters from the right", `{"gate":"pauli_channel","targets":[0,1],"probabilities":{"ZX":0.3}}`, `{"gate":"pauli_channel","targets":[1,0],"probabilities":{"XZ":0.3}}`)
	both("a gate as an operator", `{"gate":"kraus","target":1,"kraus":[[[[0,0],[0,-1]],[[0,1],[0,0]]]]}`, `{"gate":"y","target":1}`)
	both("the first target is the lowest bit", `{"gate":"kraus","targets":[1,0],"kraus":[[[[1,0],[0,0],[0,0],[0,0]],[[0,0],[0,0],[0,0],[1,0]],[[0,0],[0,0],[1,0],[0,0]],[[0,0],[1,0],[0,0],[0,0]]]]}`,
		`{"gate":"cx","control":1,"target":0}`)
	both("damping undone by a swap", `{"gate":"swap","targets":[0,1]},{"gate":"amplitude_damping","target":0,"gamma":0.3},{"gate":"swap","targets":[0,1]}`,
		`{"gate":"amplitude_damping","target":1,"gamma":0.3}`)
	for range 20 { // Σ K ρ K† in dense arithmetic
		operators := randomKraus(rng, 2, 1+int(rng.uint64()%16))
		before := densityMatrix(t, mustParse(t, `{"qubits":2,"gates":[`+strings.TrimSuffix(state, ",")+`]}`))
		after := densityMatrix(t, mustParse(t, `{"qubits":2,"gates":[`+state+`{"gate":"kraus","targets":[0,1],"kraus":`+operators+`}]}`))
		var kraus [][][][2]float64
		if err := json.Unmarshal([]byte(operators), &kraus); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			for j := range 4 {
				var want complex128
				for _, k := range kraus {
					for a := range 4 {
						for b := range 4 {
							want += complex(k[i][a][0], k[i][a][1]) * before[a][b] * complex(k[j][b][0], -k[j][b][1])
						}
					}
				}
				if d := after[i][j] - want; math.Hypot(real(d), imag(d)) > 1e-12 {
					t.Fatalf("entry %d,%d is %v, want %v", i, j, after[i][j], want)
				}
			}
		}
	}
}

// TestTableauAgreesWithDensityMatrix: counts and expectation values of Clifford circuits with Pauli noise, measured and reset
// inside too.
func TestTableauAgreesWithDensityMatrix(t *testing.T) {
	rng := newRandom(33)
	for round := range 120 {
		n := 1 + round%5
		b := &noisyBuilder{rng: rng, qubits: n}
		b.random(15, true, true)
		for range round % 3 {
			b.add(`{"gate":"%s","target":%d}`, []string{"measure", "reset"}[rng.uint64()%2], rng.uint64()%uint64(n))
			b.random(5, true, true)
		}
		readout := ""
		if round%2 == 0 {
			readout = `"noise":{"readout":[{"matrix":[[0.9,0.1],[0.25,0.75]]}]},`
		}
		c := mustParse(t, b.text(`"shots":4000,`+readout))
		for range 6 {
			c, _ = c.withRandomTerm(t, rng)
		}
		c.marginals = [][]int{permute(rng, n), {int(rng.uint64() % uint64(n))}}
		density := mustRun(t, c, Options{Engine: EngineDensity})
		tableau := mustRun(t, c, Options{Engine: EngineStabilizer})
		for i, m := range density.Marginals {
			compareDistributions(t, tableau.Marginals[i].Probabilities, m.Probabilities, 1e-12)
		}
		followDistribution(t, round, tableau.Counts, density.Probabilities)
		for i, e := range density.Expectations {
			if got := tableau.Expectations[i].Value; got == nil || math.Abs(*got-*e.Value) > 1e-12 {
				t.Errorf("round %d, observable %d: %v, want %v: %s", round, i, got, *e.Value, b.text(readout))
			}
		}
		trajectories := mustRun(t, c, Options{Engine: EngineStatevector})
		followDistribution(t, round, trajectories.Counts, density.Probabilities)
	}
}

func (c Circuit) withRandomTerm(t *testing.T, rng *random) (Circuit, string) {
	t.Helper()
	label := randomLabel(rng, c.qubits)
	own := c
	own, err := own.WithObservables([]byte(`[{"` + label + `":1}]`))
	if err != nil {
		t.Fatal(err)
	}
	c.observables = append(c.observables, own.observables...)
	return c, label
}

// TestNoiseWithFeedback: a condition on what has been measured is a controlled gate before it is measured, misreading included.
func TestNoiseWithFeedback(t *testing.T) {
	rng := newRandom(34)
	for round := range 30 {
		b := &noisyBuilder{rng: rng, qubits: 3}
		b.random(20, false, false)
		other := &noisyBuilder{rng: rng, qubits: 3, gates: append([]string(nil), b.gates...)}
		b.add(`{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"ry","target":1,"angle":0.7},{"gate":"bit_flip","target":2,"p":0.2}],"else":[{"gate":"amplitude_damping","target":1,"gamma":0.4}]},{"gate":"measure","targets":[1,2]}`)
		for _, entry := range controlledChannels() {
			other.add("%s", entry)
		}
		with := mustParse(t, b.text(`"shots":4000,`))
		without := mustParse(t, other.text(`"shots":4000,`))
		got := mustRun(t, with, Options{})
		if got.Engine != "trajectories-double-v1" || got.Trajectories != 4000 || got.Omitted["probabilities"] == "" {
			t.Fatalf("%s, %d trajectories, %v", got.Engine, got.Trajectories, got.Omitted)
		}
		followDistribution(t, round, got.Counts, mustRun(t, without, Options{}).Probabilities)
	}
}

// controlledChannels are the blocks of TestNoiseWithFeedback as channels on qubits 0 (the condition) and one more.
func controlledChannels() []string {
	operator := func(entries map[int]float64) [][][2]float64 { // row*4+column; bit 0 is qubit 0
		rows := make([][][2]float64, 4)
		for row := range rows {
			rows[row] = make([][2]float64, 4)
			for column := range rows[row] {
				rows[row][column] = [2]float64{entries[row*4+column], 0}
			}
		}
		return rows
	}
	cos, sin := math.Cos(0.35), math.Sin(0.35)
	keep, lose := math.Sqrt(0.6), math.Sqrt(0.4)
	stay, flip := math.Sqrt(0.8), math.Sqrt(0.2)
	turn := [][][][2]float64{ // qubit 0 is 1 in indexes 1 and 3
		operator(map[int]float64{1*4 + 1: cos, 1*4 + 3: -sin, 3*4 + 1: sin, 3*4 + 3: cos}),
		operator(map[int]float64{0: 1, 2*4 + 2: keep}), operator(map[int]float64{0*4 + 2: lose}),
	}
	flips := [][][][2]float64{
		operator(map[int]float64{0: 1, 2*4 + 2: 1}),
		operator(map[int]float64{1*4 + 1: stay, 3*4 + 3: stay}), operator(map[int]float64{1*4 + 3: flip, 3*4 + 1: flip}),
	}
	var out []string
	for i, operators := range [][][][][2]float64{turn, flips} {
		text, _ := json.Marshal(operators)
		out = append(out, fmt.Sprintf(`{"gate":"kraus","targets":[0,%d],"kraus":%s}`, i+1, text))
	}
	return out
}

// TestTrajectoriesDoNotDependOnTheMachine: neither on the memory that is left for copies nor on threads.
func TestTrajectoriesDoNotDependOnTheMachine(t *testing.T) {
	rng := newRandom(35)
	for round := range 12 {
		b := &noisyBuilder{rng: rng, qubits: 2 + round%10}
		c := mustParse(t, b.random(25, false, false).text(`"shots":300,"noise":{"channels":[{"channel":"amplitude_damping","gamma":0.05,"gates":["cx","h"]}],"readout":[{"qubits":[0],"matrix":[[0.9,0.1],[0.2,0.8]]}]},`))
		c, err := c.WithObservables([]byte(`[{"` + strings.Repeat("Z", b.qubits) + `":1}]`))
		if err != nil {
			t.Fatal(err)
		}
		cost := c.noisy().cost(EngineStatevector, 1)
		var first string
		for _, options := range []Options{
			{Engine: EngineStatevector}, {Engine: EngineStatevector, Threads: 3}, {Engine: EngineStatevector, Threads: 1, MemoryLimitBytes: cost.MemoryBytes},
		} {
			r := mustRun(t, c, options)
			text, err := r.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = text
			}
			if text != first {
				t.Errorf("round %d: %s\n%s", round, text, first)
			}
		}
	}
}

// TestNoiseOfNothingIsNoNoise: a model that changes nothing leaves the result as it is.
func TestNoiseOfNothingIsNoNoise(t *testing.T) {
	plain := `{"qubits":3,"seed":5,"statevector":true,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1},{"gate":"t","target":2}]`
	want, err := mustRun(t, mustParse(t, plain+`}`), Options{}).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, noise := range []string{
		`null`, `{}`, `{"channels":[],"readout":[]}`, `{"channels":[{"channel":"depolarizing","p":0}]}`, `{"readout":[{"matrix":[[1,0],[0,1]]}]}`,
		`{"channels":[{"channel":"amplitude_damping","gamma":0},{"channel":"phase_damping","gamma":0}]}`,
		`{"channels":[{"channel":"bit_flip","p":1,"gates":["y"]},{"channel":"pauli_channel","probabilities":{"X":0}}]}`,
	} {
		r := mustRun(t, mustParse(t, plain+`,"noise":`+noise+`}`), Options{})
		r.Warnings = nil // of a gate that is not there
		got, err := r.JSON()
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", noise, got, err)
		}
	}
}

// TestNoiseModelPlacesChannels: a model and the same channels written among the gates are one circuit.
func TestNoiseModelPlacesChannels(t *testing.T) {
	for _, c := range []struct{ what, model, gates, written string }{
		{"after the gate", `{"channels":[{"channel":"bit_flip","p":0.1,"gates":["X"]}]}`, `{"gate":"x","target":0},{"gate":"h","target":1}`,
			`{"gate":"x","target":0},{"gate":"bit_flip","target":0,"p":0.1},{"gate":"h","target":1}`},
		{"each qubit of a gate, controls first", `{"channels":[{"channel":"amplitude_damping","gamma":0.1,"gates":["cnot"]}]}`, `{"gate":"x","control":1,"target":0}`,
			`{"gate":"cx","control":1,"target":0},{"gate":"amplitude_damping","targets":[1,0],"gamma":0.1}`},
		{"both qubits together", `{"channels":[{"channel":"depolarizing","p":0.1}]}`, `{"gate":"cx","control":1,"target":0},{"gate":"id","target":1}`,
			`{"gate":"cx","control":1,"target":0},{"gate":"depolarizing","targets":[1,0],"p":0.1},{"gate":"depolarizing","target":1,"p":0.1}`},
		{"the qubits named", `{"channels":[{"channel":"phase_damping","gamma":0.1,"qubits":1},{"channel":"depolarizing","p":0.2,"qubits":[0],"gates":["cx","h"]}]}`,
			`{"gate":"h","target":0},{"gate":"cx","control":1,"target":0}`,
			`{"gate":"h","target":0},{"gate":"depolarizing","target":0,"p":0.2},{"gate":"cx","control":1,"target":0},{"gate":"phase_damping","target":1,"gamma":0.1}`},
		{"two-qubit errors in the gate's order", `{"channels":[{"channel":"pauli_channel","probabilities":{"IX":0.2}}]}`,
			`{"gate":"h","target":0},{"gate":"cx","control":1,"target":0}`,
			`{"gate":"h","target":0},{"gate":"cx","control":1,"target":0},{"gate":"bit_flip","target":1,"p":0.2}`},
		{"before measurements, after resets", `{"channels":[{"channel":"bit_flip","p":0.1,"gates":["measure","reset"]}]}`,
			`{"gate":"h","target":0},{"gate":"reset","target":0},{"gate":"measure","targets":[0,1]}`,
			`{"gate":"h","target":0},{"gate":"reset","target":0},{"gate":"bit_flip","target":0,"p":0.1},{"gate":"bit_flip","targets":[0,1],"p":0.1},{"gate":"measure","targets":[0,1]}`},
		{"before the measurements nobody wrote", `{"channels":[{"channel":"bit_flip","p":0.1,"gates":["measure"]}]}`,
			`{"gate":"h","target":0}`, `{"gate":"h","target":0},{"gate":"bit_flip","targets":[0,1],"p":0.1}`},
		{"channels have no noise of their own", `{"channels":[{"channel":"bit_flip","p":0.1}]}`,
			`{"gate":"phase_flip","target":0,"p":0.5},{"gate":"barrier"}`, `{"gate":"phase_flip","target":0,"p":0.5},{"gate":"barrier"}`},
		{"inside blocks", `{"channels":[{"channel":"bit_flip","p":0.1,"gates":["x"]}]}`,
			`{"gate":"h","target":0},{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"x","target":1}]},{"gate":"measure","target":1}`,
			`{"gate":"h","target":0},{"gate":"measure","target":0},{"if":{"measured":0},"then":[{"gate":"x","target":1},{"gate":"bit_flip","target":1,"p":0.1}]},{"gate":"measure","target":1}`},
	} {
		start := `{"qubits":2,"seed":11,"shots":500,`
		got := mustRun(t, mustParse(t, start+`"noise":`+c.model+`,"gates":[`+c.gates+`]}`), Options{})
		want := mustRun(t, mustParse(t, start+`"gates":[`+c.written+`]}`), Options{})
		if fmt.Sprint(got.Counts, got.Probabilities) != fmt.Sprint(want.Counts, want.Probabilities) {
			t.Errorf("%s: %v %v, want %v %v", c.what, got.Counts, got.Probabilities, want.Counts, want.Probabilities)
		}
	}
}

// TestReadoutErrors folds the matrices by hand.
func TestReadoutErrors(t *testing.T) {
	noise := `"noise":{"readout":[{"qubits":[1],"matrix":[[0.9,0.1],[0.3,0.7]]},{"qubits":0,"matrix":[[0.8,0.2],[0,1]]}]},`
	c := mustParse(t, `{"qubits":2,"shots":5000,"seed":1,`+noise+`"gates":[{"gate":"x","target":1}]}`)
	want := map[string]float64{"00": 0.3 * 0.8, "01": 0.3 * 0.2, "10": 0.7 * 0.8, "11": 0.7 * 0.2}
	r := mustRun(t, c, Options{})
	compareDistributions(t, r.Probabilities, want, 1e-15)
	for _, engine := range []Engine{EngineDensity, EngineStatevector, EngineStabilizer} {
		followDistribution(t, 0, mustRun(t, c, Options{Engine: engine}).Counts, want)
	}
	// What is read decides, what is there stays.
	c = mustParse(t, `{"qubits":2,"shots":5000,"seed":1,`+noise+`"gates":[{"gate":"x","target":1},{"gate":"measure","target":1},
		{"if":{"measured":1,"equals":0},"then":[{"gate":"x","target":0}]},{"gate":"measure","target":0}]}`)
	followDistribution(t, 1, mustRun(t, c, Options{}).Counts, map[string]float64{"01": 0.3, "10": 0.7 * 0.8, "11": 0.7 * 0.2})
	// Two measurements of one qubit are misread each for itself.
	program := "qubit q; bit[2] c; x q; c[0] = measure q; c[1] = measure q;"
	p, err := ParseOpenQASM([]byte(program), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err = p.WithNoise([]byte(`{"readout":[{"matrix":[[1,0],[0.25,0.75]]}]}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	compareDistributions(t, mustRun(t, p, Options{}).Probabilities, map[string]float64{"00": 0.0625, "01": 0.1875, "10": 0.1875, "11": 0.5625}, 1e-15)
}

// TestEngineOfNoise is what docs/circuits.md says of the choice.
func TestEngineOfNoise(t *testing.T) {
	flips := func(n int) string {
		return fmt.Sprintf(`{"gate":"h","target":0},{"gate":"bit_flip","target":%d,"p":0.1}`, n-1)
	}
	middle := `,{"gate":"measure","target":1},{"gate":"h","target":1},{"gate":"bit_flip","target":1,"p":0.5}`
	for _, c := range []struct{ what, text, engine string }{
		{"small", `{"qubits":10,"gates":[` + flips(10) + `]}`, "density-double-v1"},
		{"single", `{"qubits":10,"precision":"single","gates":[` + flips(10) + `]}`, "density-single-v1"},
		{"Pauli noise", `{"qubits":11,"gates":[` + flips(11) + `]}`, "stabilizer-v2"},
		{"wide Pauli noise", `{"qubits":1000,"gates":[` + flips(1000) + `]}`, "stabilizer-v2"},
		{"readout errors", `{"qubits":500,"gates":[],"noise":{"readout":[{"matrix":[[0.9,0.1],[0.1,0.9]]}]}}`, "stabilizer-v2"},
		{"not Clifford", `{"qubits":11,"gates":[` + flips(11) + `,{"gate":"t","target":0}]}`, "trajectories-double-v1"},
		{"not Pauli", `{"qubits":11,"precision":"single","gates":[{"gate":"amplitude_damping","target":0,"gamma":0.5}]}`, "trajectories-single-v1"},
		{"feedback", `{"qubits":2,"gates":[` + flips(2) + `,{"gate":"measure","target":0},{"if":{"measured":0},"then":[]}]}`, "trajectories-double-v1"},
		{"an outcome inside", `{"qubits":2,"gates":[` + flips(2) + middle + `]}`, "density-double-v1"},
		{"too many outcomes inside", `{"qubits":10,"gates":[` + flips(10) + middle + `,{"gate":"t","target":0}]}`, "trajectories-double-v1"},
	} {
		if r := mustRun(t, mustParse(t, c.text), Options{}); r.Engine != c.engine || (r.Trajectories > 0) != strings.HasPrefix(c.engine, "traj") {
			t.Errorf("%s runs on %s with %d trajectories", c.what, r.Engine, r.Trajectories)
		}
	}
	wide := mustParse(t, `{"qubits":11,"gates":[`+flips(11)+`]}`)
	if _, err := Run(t.Context(), wide, Options{Engine: EngineDensity}); err == nil || !strings.Contains(err.Error(), "kept for at most 10") {
		t.Error(err)
	}
}

// TestNoiseOverBudget: more work than is ever run, and more memory than there is, are refused before anything is done.
func TestNoiseOverBudget(t *testing.T) {
	gates := strings.TrimSuffix(strings.Repeat(`{"gate":"h","target":0},`, 10_000), ",")
	c := mustParse(t, `{"qubits":26,"shots":100000,"gates":[`+gates+`],"noise":{"channels":[{"channel":"amplitude_damping","gamma":0.1}]}}`)
	var refusal *Refusal
	if err := Estimate(c).Check(); !errors.As(err, &refusal) || refusal.Code != CodeWork {
		t.Errorf("%v", err)
	}
	c = mustParse(t, `{"qubits":10,"gates":[{"gate":"bit_flip","targets":[0,9],"p":0.5}]}`)
	if cost := Estimate(c); cost.MemoryBytes < 16<<20 {
		t.Errorf("%+v", cost)
	}
	if _, err := Run(t.Context(), c, Options{MemoryLimitBytes: 16 << 20}); !errors.As(err, &refusal) || refusal.Code != CodeMemory {
		t.Errorf("%v", err)
	}
}

func TestNoiseRefusals(t *testing.T) {
	entry := func(fields string) string { return `{"qubits":3,"gates":[{"gate":"h","target":0},{` + fields + `}]}` }
	model := func(noise string) string {
		return `{"qubits":3,"noise":` + noise + `,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1},{"gate":"ccx","controls":[0,1],"target":2}]}`
	}
	rule := func(fields string) string { return model(`{"channels":[{` + fields + `}]}`) }
	identity := `[[1,0],[0,0]],[[0,0],[1,0]]`
	for _, c := range []struct {
		text string
		code Code
		says string
	}{
		{entry(`"gate":"depolarizing","target":0`), CodeMissingField, "gate 1 (depolarizing): p is required"},
		{entry(`"gate":"depolarizing","p":0.1`), CodeMissingField, "target is required"},
		{entry(`"gate":"depolarizing","target":0,"p":1.5`), CodeChannel, "p must be between 0 and 1, not 1.5"},
		{entry(`"gate":"depolarizing","target":0,"p":-1e-9`), CodeChannel, "between 0 and 1"},
		{entry(`"gate":"depolarizing","target":0,"p":1e999`), CodeChannel, "1e999 is not a finite double"},
		{entry(`"gate":"depolarizing","target":0,"p":"0.1"`), CodeWrongType, "p must be a number, not a string"},
		{entry(`"gate":"depolarizing","target":0,"p":null`), CodeMissingField, "p is required"},
		{entry(`"gate":"depolarizing","target":0,"gamma":0.1`), CodeUnknownField, "takes p, not gamma"},
		{entry(`"gate":"depolarizing","targets":[0,1,2],"p":0.1`), CodeTargets, "takes 1 or 2 targets, not 3"},
		{entry(`"gate":"depolarizing","targets":[1,1],"p":0.1`), CodeRepeatedQubit, "qubit 1 is named twice"},
		{entry(`"gate":"depolarizing","target":3,"p":0.1`), CodeQubitRange, "target 3"},
		{entry(`"gate":"depolarizing","target":1,"control":0,"p":0.1`), CodeControls, "no control"},
		{entry(`"gate":"depolarizing","target":1,"angle":0.1`), CodeParameters, "no angle"},
		{entry(`"gate":"h","target":1,"p":0.1`), CodeUnknownField, "p belongs to noise"},
		{entry(`"gate":"depolarising","target":1,"p":0.1`), CodeUnknownGate, "did you mean depolarizing?"},
		{entry(`"gate":"thermal_relaxation","target":1`), CodeNoise, "give its amplitude_damping, gamma 1"},
		{entry(`"gate":"thermal_relaxation","target":1,"t1":50,"t2":70,"time":1`), CodeNoise, "amplitude_damping"},
		{entry(`"gate":"Hadamard","target":1`), CodeUnknownGate, "did you mean h?"},
		{entry(`"gate":"hadamard_like","target":1,"strength":2`), CodeUnknownGate, "unknown gate"},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":{"X":0.6,"Z":0.5}`), CodeChannel, "add up to 1.1"},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":{"I":0.6}`), CodeChannel, "leave I out"},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":{"x":0.6}`), CodeChannel, `not of "x"`},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":{"X":0.1,"X":0.1}`), CodeDuplicateField, "given twice"},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":{"X":0.1,"XX":0.1}`), CodeChannel, "1 letters and of 2"},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":{}`), CodeChannel, "names no error"},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":{"XX":0.1}`), CodeTargets, "takes 2 targets, not 1"},
		{entry(`"gate":"pauli_channel","target":0,"probabilities":[0.1]`), CodeWrongType, "must be an object"},
		{entry(`"gate":"kraus","target":0,"kraus":[[[[1,0],[0,0]],[[0,0],[0.9,0]]]]`), CodeChannel, "not complete: an entry of ΣK†K differs by 0.19"},
		{entry(`"gate":"kraus","target":0,"kraus":[[[[1e300,0],[0,0]],[[0,0],[1e300,0]]]]`), CodeChannel, "not complete"},
		{entry(`"gate":"kraus","target":0,"kraus":[]`), CodeChannel, "lists no operator"},
		{entry(`"gate":"kraus","target":0,"kraus":[[` + identity + `],[[[0,0]]]]`), CodeChannel, "operator 1 of kraus"},
		{entry(`"gate":"kraus","target":0,"kraus":[[[1,0],[0,1]]]`), CodeWrongType, "must be an array of [re, im], not of a number"},
		{entry(`"gate":"kraus","target":0,"kraus":[[[[1],[0,0]],[[0,0],[1,0]]]]`), CodeWrongType, "fewer than two parts"},
		{entry(`"gate":"kraus","target":0,"kraus":[` + strings.Repeat(`[`+identity+`],`, 16) + `[` + identity + `]]`), CodeChannel, "no more than 16"},
		{model(`3`), CodeWrongType, "noise must be an object"},
		{model(`{"rules":[]}`), CodeUnknownField, `unknown field "rules"`},
		{model(`{"channels":[{"p":0.1}]}`), CodeMissingField, "noise channel 0: channel is required: one of depolarizing"},
		{rule(`"channel":"warp","p":0.1`), CodeChannel, "noise channel 0 (warp): warp is not a channel"},
		{rule(`"channel":"thermal_relaxation"`), CodeNoise, "not a channel that is simulated"},
		{rule(`"channel":"thermal_relaxation","t1":50`), CodeNoise, "not a channel that is simulated"},
		{rule(`"channel":"bit_flip","p":2`), CodeChannel, "noise channel 0 (bit_flip): p must be"},
		{rule(`"channel":"bit_flip","p":0.1,"strength":2`), CodeUnknownField, `noise channel 0 (bit_flip): unknown field "strength"`},
		{rule(`"channel":"bit_flip","p":0.1,"gates":["hh"]`), CodeUnknownGate, "unknown gate hh"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":["bit_flip"]`), CodeChannel, "bit_flip is a channel, which takes no noise"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":["bit_flipp"]`), CodeUnknownGate, "unknown gate bit_flipp"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":["if_else"]`), CodeChannel, "if_else is no gate: noise goes with the gates inside it"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":["box"]`), CodeChannel, "box is no gate: noise goes with the gates inside it"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":["delay"]`), CodeChannel, "noise of waiting qubits goes with id"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":["barrier"]`), CodeChannel, "barrier"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":[]`), CodeChannel, "names no gate"},
		{rule(`"channel":"bit_flip","p":0.1,"gates":"x"`), CodeWrongType, "gates must be an array of names"},
		{rule(`"channel":"bit_flip","p":0.1,"qubits":[3]`), CodeQubitRange, "qubit 3"},
		{rule(`"channel":"bit_flip","p":0.1,"qubits":[1,1]`), CodeRepeatedQubit, "qubit 1 is named twice"},
		{rule(`"channel":"bit_flip","p":0.1,"qubits":[]`), CodeChannel, "names no qubit"},
		{rule(`"channel":"depolarizing","p":0.1`), CodeChannel, "noise channel 0 (depolarizing) cannot go with ccx: depolarizing is for gates of one or two qubits"},
		{rule(`"channel":"pauli_channel","probabilities":{"XX":0.1},"gates":["h"]`), CodeChannel, "cannot go with h: the channel is one on two qubits"},
		{model(`{"readout":[{}]}`), CodeMissingField, "noise readout 0: matrix is required"},
		{model(`{"readout":[{"matrix":[[0.9,0.2],[0,1]]}]}`), CodeChannel, "row 0 of matrix adds up to 1.1"},
		{model(`{"readout":[{"matrix":[[1.5,-0.5],[0,1]]}]}`), CodeChannel, "between 0 and 1"},
		{model(`{"readout":[{"matrix":[[1,0]]}]}`), CodeChannel, "matrix must be"},
		{model(`{"readout":[{"matrix":[[1,0],[0,1]]},{"matrix":[[1,0],[0,1]],"qubits":2}]}`), CodeDuplicateField, "noise readout 1: qubit 2 has a matrix already"},
		{`{"qubits":40,"gates":[{"gate":"h","target":0},{"gate":"amplitude_damping","target":0,"gamma":0.1}]}`, CodeQubitsRange, "gate 1 (amplitude_damping): is noise that is not made of Pauli errors"},
		{`{"qubits":40,"gates":[{"gate":"h","target":0}],"noise":{"channels":[{"channel":"phase_damping","gamma":0.1}]}}`, CodeQubitsRange, "noise channel 0 (phase_damping) is not made of Pauli errors"},
		{`{"qubits":1000,"gates":[` + strings.Repeat(`{"gate":"barrier"},`, 10) + strings.TrimSuffix(strings.Repeat(`{"gate":"h","target":0},`, 9000), ",") +
			`],"noise":{"channels":[` + strings.TrimSuffix(strings.Repeat(`{"channel":"bit_flip","p":0.1},`, 6), ",") + `]}}`, CodeTooManyGates, "more than 20000 channels"},
	} {
		_, err := Parse([]byte(c.text), Limits{Qubits: 26, CliffordQubits: 1000})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Code != c.code || !strings.Contains(refusal.Message, c.says) {
			t.Errorf("%.300s\n%v, want %s with %q", c.text, err, c.code, c.says)
		}
	}
}
