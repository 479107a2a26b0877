// Package qsim runs jobs of kind qsim: it simulates the circuit that was
// submitted and reports what was measured.
//
// It promises that counts are a function of (circuit, shots, seed), that the
// seed is reported when the circuit names none, and that a simulation is claimed
// only once the memory it needs is reserved: one large circuit at a time, and
// beside it small ones up to a total. A long simulation runs in a process of lower
// priority, so that the server stays responsive. It never decides what a circuit is: that is
// domain/circuit's.
package qsim
