package circuit

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// StateFile names the file of a state vector; it is part of a job's result.
type StateFile struct {
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$" doc:"Of the file, in hexadecimal"`
	Bytes  int64  `json:"bytes" minimum:"1" doc:"Length of the file, in bytes"`
}

// WantsNPY reports whether the circuit asks for its state vector as a file.
func (c Circuit) WantsNPY() bool { return c.npy }

// WithNPY returns the circuit with a request for its state vector as a file, under the same limits as Parse.
func (c Circuit) WithNPY(limits Limits) (Circuit, error) {
	c.npy = true
	return c, c.checkNPY(limits.withDefaults())
}

// checkNPY refuses to write the state of a circuit that has none of its own, or one of more amplitudes than the limits allow.
func (c Circuit) checkNPY(limits Limits) error {
	switch {
	case len(c.points) > 0:
		return refuse(CodeSweep, "a sweep has no one state to write")
	case c.qubits > limits.Qubits:
		return refuse(CodeQubitsRange, "a circuit whose state is written has at most %d qubits, not %d", limits.Qubits, c.qubits)
	}
	c = c.noisy()
	engine, err := c.engine(EngineAuto)
	if err != nil {
		return err
	}
	return c.checkOneState(engine)
}

// checkOneState refuses to write the state of a circuit that has none of its own.
func (c Circuit) checkOneState(engine Engine) error {
	if c.hasChannels() {
		return refuse(CodeState, "the circuit has no state to write: noise leaves no single final state")
	}
	if engine != EngineStatevector {
		return refuse(CodeEngine, "the %s engine holds no amplitudes; choose %s to have them written", engine, EngineStatevector)
	}
	if p := lower(c); !p.oneHistory() || p.dephased != 0 {
		return refuse(CodeState, "the circuit has no state to write: %s", noSingleState)
	}
	return nil
}

// npyHeader begins a file of n numbers of type complex128 (numpy.lib.format, version 1.0).
func npyHeader(n int) []byte {
	const magic, alignment = "\x93NUMPY\x01\x00", 64
	text := fmt.Sprintf("{'descr': '<c16', 'fortran_order': False, 'shape': (%d,), }", n)
	for (len(magic)+2+len(text)+1)%alignment != 0 {
		text += " "
	}
	text += "\n"
	return append(binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(text))), text...)
}

// NPYBytes is the length of the file of a circuit's state vector.
func (c Circuit) NPYBytes() int64 {
	return int64(len(npyHeader(1<<c.qubits))) + 16<<c.qubits
}

// writeNPY writes the state in the order of the circuit's qubits, times a phase, as NumPy's file format has it.
func writeNPY[F float](ctx context.Context, w io.Writer, s state[F], final []int, positions layout, whole scalar) error {
	if err := write(w, npyHeader(1<<len(final))); err != nil {
		return err
	}
	low := min(chunkBits, len(final)) // bits of an index that change inside a chunk
	inside := make([]uint64, 1<<low)
	for i := range inside {
		inside[i] = memoryIndex(i, final[:low], positions)
	}
	chunk := make([]byte, 0, 16<<low)
	for outer := range 1 << (len(final) - low) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		base := memoryIndex(outer, final[low:], positions)
		chunk = chunk[:0]
		for _, at := range inside {
			a := scalar{float64(s.re[base|at]), float64(s.im[base|at])}
			if !whole.isOne() {
				a = a.times(whole)
			}
			chunk = binary.LittleEndian.AppendUint64(chunk, math.Float64bits(a.re+0)) // + 0 turns -0 into 0
			chunk = binary.LittleEndian.AppendUint64(chunk, math.Float64bits(a.im+0))
		}
		if err := write(w, chunk); err != nil {
			return fmt.Errorf("writing the state vector: %w", err)
		}
	}
	return nil
}

// memoryIndex places the bits of an index at the positions of wires, the lowest bit at the first.
func memoryIndex(index int, of []int, positions layout) (at uint64) {
	for bit, wire := range of {
		at |= uint64(index>>bit&1) << positions[wire]
	}
	return at
}
