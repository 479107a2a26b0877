package circuit

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"
)

var programs = flag.String("programs", "testdata/openqasm/qiskit.jsonl", "programs to compare, as testdata/openqasm/export.py writes them")

// exportedProgram is a program that Qiskit exported, and what it means according to export.py.
type exportedProgram struct {
	Name          string             `json:"name"`
	Version       int                `json:"version"`
	Program       string             `json:"program"`
	State         [][2]float64       `json:"state"`         // of a program without bits, up to a global phase
	Probabilities map[string]float64 `json:"probabilities"` // of every key, otherwise
}

// TestExportedPrograms: at least 99 of 100 programs are accepted, and every accepted one agrees to 1e-10.
func TestExportedPrograms(t *testing.T) {
	data, err := os.ReadFile(*programs)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	refused := 0
	for _, line := range lines {
		var p exportedProgram
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		c, err := ParseOpenQASM([]byte(p.Program), Limits{})
		if err != nil {
			refused++
			t.Logf("%s (version %d): %v", p.Name, p.Version, err)
			continue
		}
		c.statevector, c.shots = true, 16
		c, err = c.WithSeed(1)
		if err != nil {
			t.Fatal(err)
		}
		got := mustRun(t, c, Options{})
		if worst := p.difference(got); !(worst < 1e-10) {
			t.Errorf("%s (version %d) differs by %v\n%s\ngot %v %v\nwant %v %v", p.Name, p.Version, worst, p.Program, got.Probabilities, got.Omitted, p.Probabilities, p.State)
		}
	}
	if len(lines) < 60 || refused*100 > len(lines) {
		t.Errorf("%d of %d programs refused", refused, len(lines))
	}
	t.Logf("%d programs, %d refused", len(lines), refused)
}

// difference is the largest one of a probability or amplitude.
func (p exportedProgram) difference(got Result) float64 {
	worst := 0.0
	if p.State != nil {
		if len(got.Statevector) != len(p.State) {
			return math.Inf(1)
		}
		for i, a := range turnedTo(got.Statevector, p.State) {
			worst = max(worst, math.Abs(a[0]-p.State[i][0]), math.Abs(a[1]-p.State[i][1]))
		}
		return worst
	}
	if got.Probabilities == nil {
		return math.Inf(1)
	}
	for key, want := range p.Probabilities {
		worst = max(worst, math.Abs(got.Probabilities[key]-want))
	}
	for key, v := range got.Probabilities {
		worst = max(worst, math.Abs(p.Probabilities[key]-v))
	}
	return worst
}
