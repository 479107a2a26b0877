package circuit

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawnGates draws circuits of gates with one, two and more qubits, measurements, resets, barriers and noise.
func drawnGates(r *rapid.T) (qubits int, gates []map[string]any) {
	qubits = rapid.IntRange(1, 7).Draw(r, "qubits")
	shapes := []struct {
		name              string
		targets, controls int
		params            int
		several           bool
		probability       bool
	}{
		{name: "h", targets: 1}, {name: "rx", targets: 1, params: 1}, {name: "u", targets: 1, params: 3}, {name: "cx", targets: 1, controls: 1}, {name: "swap", targets: 2}, {name: "cswap", targets: 2, controls: 1},
		{name: "ccx", targets: 1, controls: 2}, {name: "rzz", targets: 2, params: 1}, {name: "mcz", targets: 1, controls: 3}, {name: "measure", several: true}, {name: "reset", several: true}, {name: "barrier", several: true},
		{name: "bit_flip", targets: 1, probability: true},
	}
	gates = []map[string]any{}
	for range rapid.IntRange(0, 25).Draw(r, "gates") {
		shape := rapid.SampledFrom(shapes).Draw(r, "gate")
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for q := range qubits {
				if !yield(q) {
					return
				}
			}
		})).Draw(r, "order")
		if shape.several {
			shape.targets = rapid.IntRange(1, qubits).Draw(r, "targets")
		}
		if shape.targets+shape.controls > qubits {
			continue
		}
		g := map[string]any{"gate": shape.name, "targets": order[:shape.targets]}
		if shape.controls > 0 {
			g["controls"] = order[shape.targets : shape.targets+shape.controls]
		}
		if shape.params > 0 {
			g["params"] = []float64{0.5, 1.25, -2}[:shape.params]
		}
		if shape.probability {
			g["p"] = 0.25
		}
		gates = append(gates, g)
	}
	return qubits, gates
}

// TestEveryInstructionIsDrawnOnce: on its own qubits, after what its qubits went through before, and with nothing of another in its way.
func TestEveryInstructionIsDrawnOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		qubits, gates := drawnGates(r)
		text, err := json.Marshal(map[string]any{"qubits": qubits, "gates": gates})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(text, Limits{})
		if err != nil {
			r.Fatalf("%s: %v", text, err)
		}
		d, err := c.layOut(maxDrawnCells)
		if err != nil {
			r.Fatal(err)
		}
		// What is drawn is what the circuit says, in its order: an instruction on each of several qubits counts for each of them.
		var want [][]int
		for _, g := range gates {
			on := append(slices.Clone(g["targets"].([]int)), controlsOf(g)...)
			switch g["gate"] {
			case "measure", "reset", "bit_flip":
				for _, q := range on {
					want = append(want, []int{q})
				}
			default:
				slices.Sort(on)
				want = append(want, on)
			}
		}
		if len(d.instructions) != len(want) {
			r.Fatalf("%d instructions are drawn of %d: %s", len(d.instructions), len(want), text)
		}
		free := make([]int, qubits)
		for i, one := range d.instructions {
			var on []int
			for q := range one.cells {
				on = append(on, q)
			}
			slices.Sort(on)
			if !slices.Equal(on, want[i]) || one.top != on[0] || one.bottom != on[len(on)-1] {
				r.Errorf("instruction %d stands on %v from %d to %d, and is on %v: %s", i, on, one.top, one.bottom, want[i], text)
			}
			for q := one.top; q <= one.bottom; q++ {
				if one.column < free[q] {
					r.Errorf("instruction %d is in the way of another on q%d: %s", i, q, text)
				}
				free[q] = one.column + 1
			}
		}
		// And the image has each of their marks once.
		diagram, err := c.Diagram(maxDrawnCells)
		if err != nil || len(diagram.Words) != len(want) {
			r.Fatalf("%v %q", err, diagram.Words)
		}
		marks := map[cellKind]int{}
		for _, one := range d.instructions {
			for _, cell := range one.cells {
				marks[cell.kind]++
			}
		}
		drawn := elements(r, diagram.SVG)
		if drawn["rect"] != marks[cellBox] || drawn["circle"] != marks[cellControl]+marks[cellNot] || drawn["text"] != marks[cellBox]+qubits {
			r.Errorf("%v are drawn of %v: %s", drawn, marks, text)
		}
	})
}

func controlsOf(g map[string]any) []int {
	controls, _ := g["controls"].([]int)
	return controls
}

// elements counts those of an image, which is well formed.
func elements(t interface{ Fatal(...any) }, svg string) map[string]int {
	counts := map[string]int{}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, is := token.(xml.StartElement); is {
			counts[start.Name.Local]++
		}
	}
}

// TestDiagramInWords: what is seen can be read.
func TestDiagramInWords(t *testing.T) {
	c, err := ParseOpenQASM([]byte(drawnProgram), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Diagram(1000)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(d.Words, "\n")
	for _, want := range []string{"H on q0\n", "X on q2, controlled by q0\n", "RXX(0.25) on q0, q3\n", "SWAP on q2, q3, controlled by q1\n", "barrier on q0, q1, q2\n", "reset q3\n", "measure q0 into c[0]\n", "if c[1] c[0] = 2 on q2, q3\n", "else on", "end on", "while f on q0"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said:\n%s", want, got)
		}
	}
	if _, err := c.Diagram(10); err == nil {
		t.Error("a diagram of more cells than were asked for is drawn")
	}
	noisy, err := Parse([]byte(`{"qubits":1,"gates":[{"gate":"h","target":0},{"gate":"bit_flip","target":0,"p":0.25}]}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	marked, err := noisy.Diagram(10)
	if err != nil || !marked.Channels || d.Channels || !strings.Contains(marked.SVG, "stroke-dasharray") || !slices.Contains(marked.Words, "noise bit_flip on q0") {
		t.Errorf("%v %v", err, marked)
	}
}
