package circuit

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// drawnProgram has every kind of cell: boxes of one and two qubits, controls, swaps, barriers, blocks and loops.
const drawnProgram = `qubit[4] q; bit[2] c; bit f;
h q[0]; cx q[0], q[2]; rxx(0.25) q[0], q[3]; ctrl @ swap q[1], q[2], q[3]; cp(pi/2) q[3], q[0]; barrier q[0:2]; reset q[3];
c = measure q[0:1]; if (c == 2) { x q[2]; } else { z q[3]; } f = c[0] ^ c[1]; while (f) { h q[0]; f = measure q[0]; }`

func TestDrawing(t *testing.T) {
	c, err := ParseOpenQASM([]byte(drawnProgram), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.DrawText(100)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := c.DrawSVG()
	if err != nil {
		t.Fatal(err)
	}
	for file, got := range map[string]string{"testdata/drawing.txt": text, "testdata/drawing.svg": svg} {
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s", file, got)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
}

// TestDrawingOfForeignNames: a register's name is text of the user's, and stays text.
func TestDrawingOfForeignNames(t *testing.T) {
	c := Circuit{qubits: 1, slots: 1, registers: []classicalRegister{{`<script>&"`, 0, 1}}}
	c.gates = []gate{{name: "measure", kind: kindMeasure, targets: []int{0}, slots: []int{0}}}
	svg, err := c.DrawSVG()
	if err != nil || strings.Contains(svg, "<script>") {
		t.Errorf("%v %s", err, svg)
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDrawingTooLarge(t *testing.T) {
	c, err := ParseOpenQASM([]byte("qubit[20] q; for int i in [0:9999] h q[0];"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.DrawText(80); err == nil {
		t.Error("accepted")
	}
}
