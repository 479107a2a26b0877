package circuit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// programWriter writes random programs whose classical variables decide which qubits are turned. All qubits are in
// basis states, so that a program has one outcome.
type programWriter struct {
	rng      *rand.Rand
	counters int
}

func (w *programWriter) pick(choices ...string) string { return choices[w.rng.IntN(len(choices))] }

func (w *programWriter) truth(depth int) string {
	if depth == 0 {
		return w.pick("i0", "i1", "i2", "true", "bool(u[1])")
	}
	switch w.rng.IntN(7) {
	case 0:
		return "!(" + w.truth(depth-1) + ")"
	case 1, 2:
		return "(" + w.truth(depth-1) + w.pick(" && ", " || ", " ^ ", " == ", " & ") + w.truth(depth-1) + ")"
	case 3, 4:
		return "(" + w.number(depth-1) + w.pick(" < ", " <= ", " == ", " != ", " > ", " >= ") + w.number(depth-1) + ")"
	case 5:
		return "(n" + w.pick(" < ", " >= ", " == ") + fmt.Sprint(w.rng.IntN(16)-8) + ")"
	}
	return w.truth(0)
}

func (w *programWriter) number(depth int) string {
	if depth == 0 {
		return w.pick("u", "w", "u", "w", fmt.Sprint("uint[3](", w.rng.IntN(8), ")"))
	}
	switch w.rng.IntN(5) {
	case 0:
		return "(~" + w.number(depth-1) + ")"
	case 1:
		return "(" + w.number(depth-1) + w.pick(" << ", " >> ") + fmt.Sprint(w.rng.IntN(4)) + ")"
	case 2:
		return w.pick("rotl(", "rotr(") + w.number(depth-1) + ", " + fmt.Sprint(w.rng.IntN(4)) + ")"
	}
	return "(" + w.number(depth-1) + w.pick(" + ", " - ", " * ", " & ", " | ", " ^ ") + w.number(depth-1) + ")"
}

func (w *programWriter) block(depth int, inLoop bool) string {
	var b strings.Builder
	for range 1 + w.rng.IntN(3) {
		b.WriteString(w.statement(depth, inLoop))
	}
	return "{ " + b.String() + "}"
}

func (w *programWriter) statement(depth int, inLoop bool) string {
	choice := w.rng.IntN(12)
	if depth == 0 {
		choice %= 6
	}
	switch choice {
	case 0, 1:
		return fmt.Sprintf("x q[%d]; ", w.rng.IntN(3))
	case 2:
		return w.pick("u", "w") + w.pick(" = ", " = ", " += ", " ^= ") + w.number(2) + "; "
	case 3:
		return w.pick("i0", "i1", "i2") + " = " + w.truth(2) + "; "
	case 4:
		return fmt.Sprintf("n = %d; ", w.rng.IntN(16)-8)
	case 5:
		if inLoop && w.rng.IntN(2) == 0 {
			return "if (" + w.truth(1) + ") { " + w.pick("break", "continue") + "; } "
		}
		if w.rng.IntN(12) == 0 {
			return "if (" + w.truth(2) + ") end; "
		}
		return "x q[0]; "
	case 6, 7:
		return "if (" + w.truth(2) + ") " + w.block(depth-1, inLoop) + " "
	case 8:
		return "if (" + w.truth(2) + ") " + w.block(depth-1, inLoop) + " else " + w.block(depth-1, inLoop) + " "
	case 9:
		return "for int k in [0:2] " + w.block(depth-1, true) + " "
	case 10:
		w.counters++
		name := fmt.Sprint("t", w.counters)
		return fmt.Sprintf("uint[2] %s = 0; while (%s && %s < 2) { %s += 1; %s } ", name, w.truth(1), name, name, w.block(depth-1, true))
	}
	labels := w.rng.Perm(8)
	return fmt.Sprintf("switch (int(u)) { case %d, %d %s case %d %s default %s } ",
		labels[0], labels[1], w.block(depth-1, inLoop), labels[2], w.block(depth-1, inLoop), w.block(depth-1, inLoop))
}

// TestRunningControlFlow runs random programs twice: with inputs known while the program is read, so that all of it is
// decided then, and with the same inputs measured, so that all of it is decided by the running circuit.
func TestRunningControlFlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ran := 0
	for trial := range 400 {
		w := &programWriter{rng: rng}
		var body strings.Builder
		for range 5 {
			body.WriteString(w.statement(3, false))
		}
		inputs := rng.IntN(8)
		known, measured := "", ""
		for i := range 3 {
			value := inputs>>i&1 == 1
			known += fmt.Sprintf("bool i%d = %v; ", i, value)
			if value {
				measured += fmt.Sprintf("x s[%d]; ", i)
			}
			measured += fmt.Sprintf("bool i%d = measure s[%d]; ", i, i)
		}
		head, tail := "bit[3] out; qubit[3] q; qubit[3] s; ", " uint[3] u = 3; uint[3] w = 5; int[4] n = -2; "
		body.WriteString("x q[2]; ")
		want, err := onlyKey(head + known + tail + body.String())
		if err != nil {
			t.Fatalf("%d: %v\n%s", trial, err, head+known+tail+body.String())
		}
		got, err := onlyKey(head + measured + tail + body.String())
		if err != nil {
			continue // nested deeper, or longer, than circuits with conditions may be
		}
		ran++
		if got != want {
			t.Fatalf("%d: inputs %03b: %s measured, %s known\n%s", trial, inputs, got, want, body.String())
		}
	}
	if ran < 300 {
		t.Errorf("%d programs ran", ran)
	}
}

// onlyKey is the only key of a program whose qubits are measured after whatever ended it.
func onlyKey(program string) (string, error) {
	// "end" would leave out the measurement, too.
	program = strings.ReplaceAll(program, ") end; ", ") { out = measure q; end; } ") + " out = measure q;"
	c, err := ParseOpenQASM([]byte(program), Limits{})
	if err != nil {
		return "", err
	}
	if c, err = c.WithShots(1, Limits{}); err != nil {
		return "", err
	}
	r, err := Run(context.Background(), c, Options{})
	if err != nil {
		return "", err
	}
	for key := range r.Counts {
		return key, nil
	}
	return "", nil
}
