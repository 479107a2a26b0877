package circuit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	amount "reckon/test/sweep" // the package has a function sweep
)

// memoryCircuits are what the estimate is tried on: one heavy use of memory each, and random ones.
// Each is made when it is asked for: a process runs one.
func memoryCircuits(t *testing.T) map[string]func() Circuit {
	repeat := func(n int, entry func(i int) string) string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = entry(i)
		}
		return strings.Join(entries, ",")
	}
	circuits := map[string]func() Circuit{}
	add := func(name, fields, gates string) {
		circuits[name] = func() Circuit { return memoryCircuit(t, name, fields, gates) }
	}
	h := func(i int) string { return fmt.Sprintf(`{"gate":"h","target":%d}`, i) }
	event := func(n int) func(i int) string {
		return func(i int) string {
			return fmt.Sprintf(`{"gate":"ry","target":%d,"angle":%d.3},{"gate":"measure","target":%d}`, i%n, i%7, i%n)
		}
	}
	add("tableau with as many keys as shots", `"qubits":1000,"shots":100000`, repeat(1000, h))
	add("tableau with events", `"qubits":300,"shots":2000`, repeat(3000, func(i int) string {
		return h(i%300) + fmt.Sprintf(`,{"gate":"measure","target":%d},{"gate":"cx","control":%d,"target":%d}`, i%300, i%300, (i+7)%300)
	}))
	add("as many keys as shots", `"qubits":20,"shots":100000`, repeat(20, h)+`,{"gate":"t","target":0}`)
	add("a large state", `"qubits":22,"shots":1000`, repeat(22, h)+`,{"gate":"t","target":0}`)
	add("a large state of single precision", `"qubits":23,"shots":1000,"precision":"single"`, repeat(23, h)+`,{"gate":"t","target":0}`)
	add("many gates on few qubits", `"qubits":2,"shots":10`, repeat(10_000, func(i int) string { return fmt.Sprintf(`{"gate":"rx","target":%d,"angle":%d}`, i%2, i) }))
	add("many gates on many qubits", `"qubits":16,"shots":10`, repeat(2_000, func(i int) string {
		return fmt.Sprintf(`{"gate":"rxx","targets":[%d,%d],"angle":%d}`, i%16, (i+1+i/16%15)%16, i)
	}))
	add("many events", `"qubits":2,"shots":200`, repeat(500, event(2)))
	add("events and copies", `"qubits":18,"shots":8`, repeat(20, event(18)))
	add("a loop", `"qubits":2,"shots":500`, h(0)+`,{"gate":"measure","target":0},{"while":{"measured":0},"rounds":500,"do":[`+event(1)(1)+`]}`)
	add("amplitudes and probabilities", `"qubits":10,"shots":100000,"statevector":true`, repeat(10, h))
	marginals := `"marginals":[` + repeat(100, func(i int) string {
		return fmt.Sprintf("[%d,5,6,7,8,9,10,11,12,13,14,15]", i%5)
	}) + `]`
	add("marginals", `"qubits":16,"shots":10,`+marginals, repeat(16, h)+`,{"gate":"t","target":0}`)
	add("marginals on the tableau", `"qubits":500,"shots":10,`+marginals, repeat(500, h))
	add("memory", `"qubits":600,"shots":100000,"memory":true`, repeat(10, h))
	state := "[" + repeat(4096, func(int) string { return "[0.015625,0]" }) + "]"
	add("a state", `"qubits":14,"shots":10`, `{"gate":"initialize","targets":[0,1,2,3,4,5,6,7,8,9,10,11],"state":`+state+`}`)
	add("a sparse state", `"qubits":100,"shots":100000,"method":"sparse"`, repeat(17, h)+`,{"gate":"t","target":0}`)
	add("a sparse state with events", `"qubits":100,"shots":200`, repeat(10, h)+","+repeat(60, event(100)))
	add("a sweep", `"qubits":10,"shots":5000,"memory":true,"sweep":[`+repeat(100, func(i int) string { return fmt.Sprintf(`{"a":%d}`, i) })+`]`,
		repeat(10, h)+`,{"gate":"ry","target":0,"angle":"a"}`)
	addNoisy(t, circuits)
	for n := 1; n <= 21; n += 10 {
		circuits[fmt.Sprint("random ", n)] = func() Circuit {
			return build(t, n).random(newRandom(uint64(n)), 400, unitaryNames, false).circuit
		}
	}
	for i := range 16 {
		name := fmt.Sprint("anything ", i)
		circuits[name] = func() Circuit { return anything(t, name, newRandom(uint64(i))) }
	}
	return circuits
}

// anything is a random circuit of every kind of instruction, with a random choice of what is asked of it.
func anything(t *testing.T, name string, rng *random) Circuit {
	below := func(n int) int { return int(rng.uint64() % uint64(n)) }
	n := 2 + below(17)
	gates := []string{
		`{"gate":"h","target":%d}`, `{"gate":"rx","target":%d,"angle":1.3}`, `{"gate":"t","target":%d}`, `{"gate":"rxx","targets":[%d,%d],"angle":0.4}`,
		`{"gate":"cx","control":%d,"target":%d}`, `{"gate":"swap","targets":[%d,%d]}`, `{"gate":"measure","target":%d}`, `{"gate":"reset","target":%d}`,
		`{"gate":"measure","target":%d},{"if":{"measured":%[1]d},"then":[{"gate":"ry","target":%d,"angle":2}]}`, `{"gate":"depolarizing","target":%d,"p":0.01}`,
		`{"gate":"initialize","target":%d,"state":[[0.6,0],[0,0.8]]}`, `{"gate":"barrier"}`,
	}
	kinds := 6 + below(len(gates)-5) // some circuits are unitary
	entries := make([]string, 10+below(300))
	for i := range entries {
		a := below(n)
		entry := gates[below(kinds)]
		switch strings.Count(entry, "%d") {
		case 0:
			entries[i] = entry
		case 1:
			entries[i] = fmt.Sprintf(entry, a)
		default:
			entries[i] = fmt.Sprintf(entry, a, (a+1+below(n-1))%n)
		}
	}
	fields := []string{
		`"precision":"single"`, `"memory":true`, `"statevector":true`, fmt.Sprintf(`"marginals":[[0,%d],[1]]`, n-1),
		`"observables":[{"` + strings.Repeat("Z", n) + `":1,"` + strings.Repeat("X", n) + `":0.5}]`, `"noise":{"readout":[{"matrix":[[0.9,0.1],[0.2,0.8]]}]}`,
	}
	for shots := 100_000; ; shots /= 10 { // as many as a test has the time for
		chosen := fmt.Sprintf(`"qubits":%d,"shots":%d`, n, shots)
		for _, field := range fields {
			if below(3) == 0 {
				chosen += "," + field
			}
		}
		if c := memoryCircuit(t, name, chosen, strings.Join(entries, ",")); shots == 1 || Estimate(c).Operations < 5e8 {
			return c
		}
	}
}

// TestResultJSON: the text is that of encoding/json, and no longer than estimated.
func TestResultJSON(t *testing.T) {
	widest := amount.Size(t, "RECKON_RESULT_QUBITS", 16, 20)
	for name, made := range memoryCircuits(t) {
		c := made()
		if c.qubits > widest && c.qubits != 300 {
			continue
		}
		swept := mustSweep(t, c, Options{})
		r := swept.Result
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		wide, err := json.MarshalIndent(r, "", "  ")
		var written strings.Builder
		if err = firstError(err, r.WriteJSON(&written, "  ")); err != nil || written.String() != string(wide) {
			t.Errorf("%s: %.200s, want %.200s, %v", name, written.String(), wide, err)
		}
		got, err := swept.JSON()
		if err != nil || got != string(want) && c.Points() == 0 {
			t.Errorf("%s: %.200s, want %.200s, %v", name, got, want, err)
		}
		if bound := Estimate(c).ResultBytes; int64(len(got)) > bound {
			t.Errorf("%s: the result has %d bytes, the estimate is %d", name, len(got), bound)
		}
	}
}
