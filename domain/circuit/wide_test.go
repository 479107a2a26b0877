package circuit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wideEngines are the methods for any width.
var wideEngines = []Engine{EngineSparse, EngineMPS}

// drawnCircuit is a circuit of every kind of instruction but noise on the state, as JSON, that asks for everything.
func drawnCircuit(r *rapid.T) string {
	n := rapid.IntRange(2, 6).Draw(r, "qubits")
	events := rapid.Bool().Draw(r, "events")
	misread := events && rapid.Bool().Draw(r, "misread")
	order := func(count int) []int { return rapid.Permutation(allQubits(n)).Draw(r, "qubits of the gate")[:count] }
	angle := func() float64 { return rapid.Float64Range(-7, 7).Draw(r, "angle") }
	list := func(qubits []int) string { return strings.ReplaceAll(fmt.Sprint(qubits), " ", ",") }
	unitary := func() string {
		name := rapid.SampledFrom(append([]string{"r", "rzx", "ecr", "dcx", "xx_plus_yy", "fsim", "rccx"}, unitaryNames...)).Draw(r, "gate")
		spec := specByName[name]
		controls := max(0, spec.controls)
		if spec.controls == anyControls {
			controls = rapid.IntRange(1, n-1).Draw(r, "controls")
		}
		if spec.targets+controls > n {
			name, spec, controls = "h", specByName["h"], 0
		}
		qubits := order(spec.targets + controls)
		fields := fmt.Sprintf(`{"gate":%q,"targets":%s`, name, list(qubits[:spec.targets]))
		if controls > 0 {
			fields += `,"controls":` + list(qubits[spec.targets:])
		}
		if spec.params > 0 {
			angles := make([]string, spec.params)
			for i := range angles {
				angles[i] = fmt.Sprint(angle())
			}
			fields += `,"params":[` + strings.Join(angles, ",") + "]"
		}
		return fields + "}"
	}
	entry := func() string {
		kinds := 2
		if events {
			kinds = 8
		}
		q := order(2)
		switch kind := rapid.IntRange(0, kinds).Draw(r, "kind"); {
		case kind == 6 && misread: // such a loop has more histories than are followed
		case kind == 3:
			return fmt.Sprintf(`{"gate":"measure","target":%d}`, q[0])
		case kind == 4:
			return fmt.Sprintf(`{"gate":"reset","target":%d}`, q[0])
		case kind == 5:
			return fmt.Sprintf(`{"gate":"measure","target":%d},{"if":{"measured":%[1]d},"then":[{"gate":"swap","targets":[%[1]d,%d]},%s],"else":[%s]}`, q[0], q[1], unitary(), unitary())
		case kind == 6:
			return fmt.Sprintf(`{"gate":"measure","target":%d},{"while":{"measured":%[1]d},"do":[{"gate":"x","target":%[1]d},{"gate":"measure","target":%[1]d}]}`, q[0])
		case kind == 7:
			return fmt.Sprintf(`{"gate":"initialize","targets":[%d,%d],"state":[[0.1,0.3],[0,0],[-0.5,0.5],[0.1,%v]]}`, q[0], q[1], math.Sqrt(0.39))
		}
		return unitary()
	}
	entries := make([]string, rapid.IntRange(1, 16).Draw(r, "entries"))
	for i := range entries {
		entries[i] = entry()
	}
	noise := ""
	if misread {
		noise = `,"noise":{"readout":[{"matrix":[[0.9,0.1],[0.2,0.8]]}]}`
	}
	label := func() string {
		return rapid.StringOfN(rapid.SampledFrom([]rune("IXYZ")), n, n, n).Draw(r, "label")
	}
	return fmt.Sprintf(`{"qubits":%d,"shots":200,"seed":%d,"statevector":true,"marginals":[%s,[0]],"observables":[{"%s":1.5},{"%s":-1}],"gates":[%s]%s}`,
		n, rapid.IntRange(0, 1000).Draw(r, "seed"), list(order(2)), label(), label(), strings.Join(entries, ","), noise)
}

// TestMethodsAgree compares the methods for any width with the state vector, on circuits that all can run.
func TestMethodsAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := drawnCircuit(r)
		c, err := Parse([]byte(text), Limits{})
		if err != nil {
			r.Fatal(err)
		}
		want, err := Run(t.Context(), c, Options{Engine: EngineStatevector})
		if err != nil {
			r.Fatal(err)
		}
		for _, engine := range wideEngines {
			got, err := Run(t.Context(), c, Options{Engine: engine})
			if err != nil {
				r.Fatalf("%s: %v\n%s", engine, err, text)
			}
			if difference := differs(got, want); difference != "" {
				r.Fatalf("%s: %s\n%s", engine, difference, text)
			}
		}
	})
}

// differs compares what two results say is exact, and what was drawn with that.
func differs(got, want Result) string {
	const tolerance = 1e-10
	total := 0
	for key, n := range got.Counts {
		if total += n; want.Probabilities != nil && want.Probabilities[key] < 1e-9 {
			return "a key was drawn that cannot be: " + key
		}
	}
	if total != want.Shots {
		return fmt.Sprintf("%d shots were drawn, not %d", total, want.Shots)
	}
	if d := distributionsDiffer(got.Probabilities, want.Probabilities, tolerance); d != "" {
		return "probabilities: " + d
	}
	if len(got.Statevector) != len(want.Statevector) {
		return fmt.Sprintf("%d amplitudes, not %d: %v, %v", len(got.Statevector), len(want.Statevector), got.Omitted, want.Omitted)
	}
	for i, a := range got.Statevector {
		if b := want.Statevector[i]; math.Hypot(a[0]-b[0], a[1]-b[1]) > tolerance {
			return fmt.Sprintf("amplitude %d is %v, not %v", i, a, b)
		}
	}
	for i, m := range got.Marginals {
		if d := distributionsDiffer(m.Probabilities, want.Marginals[i].Probabilities, tolerance); d != "" {
			return fmt.Sprintf("marginal %d: %s", i, d)
		}
	}
	for i, e := range got.Expectations {
		a, b := e.Value, want.Expectations[i].Value
		if (a == nil) != (b == nil) || a != nil && math.Abs(*a-*b) > tolerance {
			return fmt.Sprintf("expectation value %d is %v, not %v", i, e, want.Expectations[i])
		}
	}
	return ""
}

func distributionsDiffer(got, want map[string]float64, tolerance float64) string {
	for _, key := range append(slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(want))...) {
		if math.Abs(got[key]-want[key]) > tolerance {
			return fmt.Sprintf("%s has %v, not %v", key, got[key], want[key])
		}
	}
	if (got == nil) != (want == nil) {
		return fmt.Sprintf("%d are listed, not %d", len(got), len(want))
	}
	return ""
}

// TestWideCountsFollowProbabilities: counts of a circuit with an outcome inside, by chi-square.
func TestWideCountsFollowProbabilities(t *testing.T) {
	t.Parallel()
	for _, engine := range wideEngines {
		for seed := range uint64(3) {
			b := build(t, 5).random(newRandom(seed), 30, unitaryNames, false).add("measure", []int{1}, nil).
				random(newRandom(seed+10), 10, unitaryNames, false).add("measure", []int{0, 1, 2, 3, 4}, nil)
			b.circuit.shots = 20_000
			r := mustRun(t, b.circuit, Options{Engine: engine})
			exact := mustRun(t, b.circuit, Options{Engine: EngineStatevector}).Probabilities
			statistic, degrees := 0.0, -1
			for key, p := range exact {
				if expected := p * 20_000; expected > 5 {
					statistic += math.Pow(float64(r.Counts[key])-expected, 2) / expected
					degrees++
				}
			}
			if limit := float64(degrees) + 5*math.Sqrt(2*float64(degrees)); statistic > limit { // five standard deviations
				t.Errorf("%s, seed %d: chi-square %.1f with %d degrees of freedom", engine, seed, statistic, degrees)
			}
		}
	}
}

// family is a kind of wide circuit that people have, written for its width.
type family struct {
	name   string
	qubits int
	gates  []string
}

// rippleAdder adds two numbers given as basis states (Cuccaro and others 2004), Toffolis written as QASMBench has them.
func rippleAdder(bits int, a, b uint64) family {
	f := family{name: "adder", qubits: 2*bits + 2}
	one := func(q int) { f.gate(`{"gate":"x","target":%d}`, q) }
	cx := func(c, q int) { f.gate(`{"gate":"cx","control":%d,"target":%d}`, c, q) }
	first, second := func(i int) int { return 1 + 2*i + 1 }, func(i int) int { return 1 + 2*i }
	for i := range min(bits, 64) {
		if a>>i&1 != 0 {
			one(first(i))
		}
		if b>>i&1 != 0 {
			one(second(i))
		}
	}
	carry := func(i int) int {
		if i == 0 {
			return 0
		}
		return first(i - 1)
	}
	for i := range bits {
		cx(first(i), second(i))
		cx(first(i), carry(i))
		f.toffoli(carry(i), second(i), first(i))
	}
	cx(first(bits-1), 2*bits+1)
	for i := bits - 1; i >= 0; i-- {
		f.toffoli(carry(i), second(i), first(i))
		cx(first(i), carry(i))
		cx(carry(i), second(i))
	}
	return f
}

func (f *family) gate(format string, args ...any) {
	f.gates = append(f.gates, fmt.Sprintf(format, args...))
}

// toffoli is a ccx as two-qubit gates.
func (f *family) toffoli(a, b, target int) {
	h := func() { f.gate(`{"gate":"h","target":%d}`, target) }
	cx := func(c, q int) { f.gate(`{"gate":"cx","control":%d,"target":%d}`, c, q) }
	t := func(name string, q int) { f.gate(`{"gate":%q,"target":%d}`, name, q) }
	h()
	cx(b, target)
	t("tdg", target)
	cx(a, target)
	t("t", target)
	cx(b, target)
	t("tdg", target)
	cx(a, target)
	t("t", b)
	t("t", target)
	h()
	cx(a, b)
	t("t", a)
	t("tdg", b)
	cx(a, b)
}

// wState is one excitation spread over all qubits.
func wState(n int) family {
	f := family{name: "wstate", qubits: n}
	f.gate(`{"gate":"x","target":0}`)
	for q := range n - 1 {
		f.gate(`{"gate":"cry","control":%d,"target":%d,"angle":%v}`, q, q+1, 2*math.Acos(math.Sqrt(1/float64(n-q))))
		f.gate(`{"gate":"cx","control":%d,"target":%d}`, q+1, q)
	}
	return f
}

func (f family) circuit(t *testing.T, fields string) Circuit {
	t.Helper()
	text := fmt.Sprintf(`{"qubits":%d,"seed":5,"shots":100%s,"gates":[%s]}`, f.qubits, fields, strings.Join(f.gates, ","))
	c, err := Parse([]byte(text), Limits{Qubits: 20, CliffordQubits: MaxCliffordQubits})
	if err != nil {
		t.Fatal(f.name, err)
	}
	return c
}

func TestWideAdder(t *testing.T) {
	t.Parallel()
	const bits, a, b = 215, 0xfedc_ba98_7654_3210, 0x0123_4567_89ab_cdff
	f := rippleAdder(bits, a, b)
	r := mustRun(t, f.circuit(t, ""), Options{})
	if r.Engine != "sparse-double-v1" || r.Amplitudes > 2 || !strings.Contains(r.EngineReason, "Clifford") || len(r.Counts) != 1 {
		t.Fatal(r.Engine, r.Amplitudes, r.EngineReason, len(r.Counts))
	}
	for key := range r.Counts {
		sum := uint64(0)
		for i := range 64 {
			sum |= uint64(key[len(key)-1-(1+2*i)]-'0') << i
		}
		x, y := uint64(a), uint64(b)
		if sum != x+y || key[len(key)-1-(1+2*64)] != '1' { // the carry stands in bit 64
			t.Errorf("the sum is %x", sum)
		}
	}
}

func TestWideWState(t *testing.T) {
	t.Parallel()
	const n = 380
	z := strings.Repeat("I", n-1) + "Z"
	r := mustRun(t, wState(n).circuit(t, `,"memory":true,"marginals":[[0,379]],"observables":[{"`+z+`":1}]`), Options{})
	if r.Engine != "sparse-double-v1" || r.Amplitudes != n {
		t.Fatal(r.Engine, r.Amplitudes)
	}
	for key := range r.Counts {
		if strings.Count(key, "1") != 1 {
			t.Errorf("%s was drawn", key)
		}
	}
	if p := r.Marginals[0].Probabilities; math.Abs(p["01"]-1.0/n) > 1e-12 || math.Abs(p["10"]-1.0/n) > 1e-12 || len(p) != 3 {
		t.Error(p)
	}
	if e := r.Expectations[0]; math.Abs(*e.Value-(1-2.0/n)) > 1e-12 {
		t.Error(*e.Value)
	}
}

// TestWideFeedForward: outcomes decide what comes later, at a width that no state vector has.
func TestWideFeedForward(t *testing.T) {
	t.Parallel()
	f := family{qubits: 200, gates: []string{
		`{"gate":"ry","target":0,"angle":1}`, `{"gate":"cx","control":0,"target":199}`, `{"gate":"measure","target":0}`,
		`{"if":{"measured":0},"then":[{"gate":"x","target":100},{"gate":"swap","targets":[100,70]}]}`, `{"gate":"reset","target":199}`,
		`{"gate":"ry","target":199,"angle":3.141592653589793}`, `{"gate":"measure","targets":[70,100,199]}`,
	}}
	for _, engine := range wideEngines {
		r := mustRun(t, f.circuit(t, `,"marginals":[[70]]`), Options{Engine: engine})
		for key := range r.Counts {
			if key != "1000" && key != "1011" { // 199, 100, 70, 0
				t.Errorf("%s: %s was drawn", engine, key)
			}
		}
		if p := r.Marginals[0].Probabilities["1"]; len(r.Counts) != 2 || math.Abs(p-math.Pow(math.Sin(0.5), 2)) > 1e-12 {
			t.Errorf("%s: %v, %v", engine, r.Counts, p)
		}
	}
}

func TestWideRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		code Code
		says string
	}{
		"noise":      {`{"qubits":40,"gates":[{"gate":"t","target":0},{"gate":"bit_flip","p":0.1,"target":0}]}`, CodeQubitsRange, "gate 1 (bit_flip): is noise"},
		"noise rule": {`{"qubits":40,"gates":[{"gate":"t","target":0}],"noise":{"channels":[{"channel":"bit_flip","p":0.1}]}}`, CodeQubitsRange, "beside gates that are not Clifford"},
		"narrow":     {`{"qubits":25,"gates":[{"gate":"t","target":0}]}`, CodeQubitsRange, "unless its method is sparse or mps"},
		"vector":     {`{"qubits":40,"method":"statevector","gates":[{"gate":"h","target":0}]}`, CodeQubitsRange, "statevector runs at most 20 qubits"},
		"tableau":    {`{"qubits":4,"method":"stabilizer","gates":[{"gate":"t","target":0}]}`, CodeEngine, "is not a Clifford gate"},
		"sparse":     {`{"qubits":4,"method":"sparse","gates":[{"gate":"kraus","target":0,"kraus":[[[[1,0],[0,0]],[[0,0],[0,0]]],[[[0,0],[0,0]],[[0,0],[1,0]]]]}]}`, CodeEngine, "does not simulate"},
		"unknown":    {`{"qubits":4,"method":"magic","gates":[]}`, CodeEngine, `"stabilizer"`},
		"type":       {`{"qubits":4,"method":3,"gates":[]}`, CodeWrongType, "method must be a string"},
		"sweep":      {`{"qubits":4,"method":"stabilizer","gates":[{"gate":"rx","target":0,"angle":"a"}],"sweep":[{"a":0},{"a":0.1}]}`, CodeEngine, "point 1 of sweep"},
		"npy":        {`{"qubits":4,"method":"sparse","npy":true,"gates":[]}`, CodeEngine, "holds no amplitudes"},
	} {
		_, err := Parse([]byte(tt.text), Limits{Qubits: 20, CliffordQubits: MaxCliffordQubits})
		if r, refused := errors.AsType[*Refusal](err); !refused || r.Code != tt.code || !strings.Contains(r.Message, tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAskedForMethod: a width between the plan's and the state vector's runs by the methods that any width has.
func TestAskedForMethod(t *testing.T) {
	t.Parallel()
	f := wState(25)
	for _, engine := range wideEngines {
		r := mustRun(t, f.circuit(t, fmt.Sprintf(`,"method":%q`, engine)), Options{})
		if r.Engine != string(engine)+"-double-v1" || r.EngineReason != "asked for" {
			t.Error(r.Engine, r.EngineReason)
		}
	}
}

// TestSparseStateOutgrowsItsRoom: a state of too many amplitudes is refused with how many it reached.
func TestSparseStateOutgrowsItsRoom(t *testing.T) {
	t.Parallel()
	space := newSparseSpace(70, math.MaxInt32, 1000*sparseEntryBytes(2))
	state := space.start()
	var err error
	for q := 0; err == nil && q < 70; q++ {
		err = state.apply(t.Context(), &wideOperator{targets: []int{q}, matrix: []scalar{{sqrtHalf, 0}, {sqrtHalf, 0}, {sqrtHalf, 0}, {-sqrtHalf, 0}}})
	}
	if !outgrown(err) || !strings.Contains(err.Error(), "reached 1024 amplitudes; 1000 fit") {
		t.Error(err)
	}
}

// TestWideRunsAreCancelled: no method for any width goes on without its context.
func TestWideRunsAreCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, engine := range wideEngines {
		if _, err := Run(ctx, wState(40).circuit(t, ""), Options{Engine: engine}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

// TestWideSeedDecides: the same seed gives the same result, another one others, whatever the threads and the memory.
func TestWideSeedDecides(t *testing.T) {
	t.Parallel()
	f := wState(100)
	for _, engine := range wideEngines {
		var texts []string
		for _, options := range []Options{{Engine: engine}, {Engine: engine, Threads: 1, MemoryLimitBytes: 4 << 30}} {
			text, err := json.Marshal(mustRun(t, f.circuit(t, `,"memory":true`), options))
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: two results of one seed", engine)
		}
	}
}
