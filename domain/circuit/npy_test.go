package circuit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// readNPY reads a file of complex128 as NumPy's documentation of the format describes it.
func readNPY(t *testing.T, file []byte) [][2]float64 {
	t.Helper()
	if !bytes.HasPrefix(file, []byte("\x93NUMPY\x01\x00")) {
		t.Fatalf("begins with %q", file[:8])
	}
	end := 10 + int(binary.LittleEndian.Uint16(file[8:]))
	header := string(file[10:end])
	if end%64 != 0 || !strings.HasPrefix(header, "{'descr': '<c16', 'fortran_order': False, 'shape': (") || !strings.HasSuffix(header, "\n") {
		t.Fatalf("header %q", header)
	}
	out := make([][2]float64, (len(file)-end)/16)
	for i := range out {
		out[i][0] = math.Float64frombits(binary.LittleEndian.Uint64(file[end+16*i:]))
		out[i][1] = math.Float64frombits(binary.LittleEndian.Uint64(file[end+16*i+8:]))
	}
	return out
}

// TestNPY: the file holds the amplitudes that the result lists, for few and many qubits, with swaps, in both precisions.
func TestNPY(t *testing.T) {
	rng := newRandom(31)
	for qubits := 1; qubits <= 10; qubits++ {
		for _, precision := range []Precision{Double, Single} {
			b := build(t, qubits).random(rng, 40, unitaryNames, false)
			b.circuit.precision, b.circuit.phase = precision, 0.3
			var file bytes.Buffer
			got := mustRun(t, b.circuit, Options{NPY: &file})
			if int64(file.Len()) != b.circuit.NPYBytes() {
				t.Errorf("%d bytes, said to be %d", file.Len(), b.circuit.NPYBytes())
			}
			closeStates(t, readNPY(t, file.Bytes()), got.Statevector, 0)
		}
	}
	wide := build(t, 17).random(rng, 60, unitaryNames, false)
	var file bytes.Buffer
	mustRun(t, wide.circuit, Options{NPY: &file})
	sum := 0.0
	for _, a := range readNPY(t, file.Bytes()) {
		sum += a[0]*a[0] + a[1]*a[1]
	}
	if math.Abs(sum-1) > 1e-12 || int64(file.Len()) != wide.circuit.NPYBytes() {
		t.Errorf("squares add up to 1%+g, %d bytes", sum-1, file.Len())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestNPYRefused(t *testing.T) {
	for text, want := range map[string]Code{
		`{"qubits":20,"gates":[{"gate":"h","target":0}]}`:                                                      CodeEngine,
		`{"qubits":2,"gates":[{"gate":"h","target":0},{"gate":"measure","target":0},{"gate":"h","target":0}]}`: CodeState,
		`{"qubits":1,"gates":[{"gate":"rx","target":0,"angle":"a"}],"sweep":[{"a":1}]}`:                        CodeSweep,
	} {
		var file bytes.Buffer
		_, err := RunSweep(context.Background(), parseText(t, text), Options{NPY: &file})
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Code != want || file.Len() > 0 {
			t.Errorf("%s: %v and %d bytes, want %s", text, err, file.Len(), want)
		}
	}
	if _, err := Run(context.Background(), build(t, 3).circuit, Options{NPY: failingWriter{}}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a disk that is full: %v", err)
	}
}
