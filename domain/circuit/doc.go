// Package circuit reads, checks and simulates quantum circuits.
//
// It promises:
//
//   - Parse and ParseOpenQASM accept only circuits that can be run as written. Everything else is a [Refusal] with a
//     stable code and a message that names the gate; nothing is guessed, dropped or rounded.
//   - Run's counts are a function of (circuit, shots, seed) alone: the same on every processor, with or without SIMD,
//     with any number of threads. No fused multiply-add, fixed reduction order, own trigonometry, own generator.
//   - Estimate bounds memory and work before anything is allocated, and Run refuses what exceeds its limit.
//   - Run answers a cancelled context within 50 ms.
//
// It never reads a clock, draws randomness (the caller passes the seed), performs I/O or panics on foreign input.
//
// The public surface:
//
//	Parse(data, Limits) (Circuit, error)          the JSON object of a qsim job
//	ParseOpenQASM(source, Limits) (Circuit, error) an OpenQASM 2 or 3 program (package openqasm)
//	Estimate(Circuit) Cost                        memory in bytes and work, before running
//	Run(ctx, Circuit, Options) (Result, error)    counts, probabilities, state vector
//	Circuit.Qubits, Shots, Seed, WithSeed, WithShots, WithPrecision, Depth, GateCounts
//
// How it works, from the outside in: parse.go and openqasm.go build a Circuit; lower.go turns gates into small
// matrices with selectors and controls; fuse.go multiplies neighbours together; plan.go arranges them into sweeps
// over cache-sized blocks; execute.go runs the blocks on goroutines through the kernels (kernel*.go, *.s);
// trajectory.go handles measurements and resets that later gates depend on; sample.go draws shots. Noise (noise.go) runs in
// density.go, noise_trajectory.go or noise_stabilizer.go. Clifford circuits
// too wide to list probabilities for go through stabilizer.go instead, and others too wide for a state vector through wide.go and
// wide_run.go, which walk the gates of any number of qubits, with a state of sparse.go or mps.go. docs/circuits.md is the manual.
//
// State vector: real and imaginary parts lie in separate planes. Gates are small matrices with selectors (diagonal qubits)
// and controls; a swap renames qubits. Neighbours are multiplied together where a cost model says so, up to three targets
// and 64 entries. A sweep gathers the amplitudes that differ in up to 15 (single: 16) qubits into a block of second-level
// cache size and applies every operator on those qubits. Threads share blocks. The inner loops exist in Go, AVX2 and
// AVX-512, chosen at run time.
//
// Stabilizer tableau: bit-packed, with symbolic signs. The circuit runs once; each random outcome is a symbol and each key
// bit a sum of symbols, so a shot costs a few exclusive-ors.
//
// Noise: a density matrix is a state vector of twice as many qubits; a gate acts on the rows' half, its conjugate on the
// columns', a channel on both. Trajectories split at a channel as shots do at a measurement, and equal histories share a
// state. The operator is drawn from the reduced density matrix of its qubits, a Pauli error without looking at the state. On
// the tableau an error is an unevenly drawn symbol; a Pauli product's expectation value is its sign's, times 1 - 2p for
// every error that flips it.
//
// Sparse state: a list of basis states and amplitudes, with a table to find one by its basis state when a gate mixes several.
//
// Matrix product state: right-canonical tensors with the Schmidt values of every bond, cut by one-sided Jacobi rotations (svd.go).
package circuit
