package circuit

import (
	"maps"
	"slices"
)

// Input declares the members of the JSON circuit object that Parse reads, for the API's description. A tag
// single:"true" says that one element may stand in place of the array. A test compares it with the reader.
type Input struct {
	Qubits      int                  `json:"qubits,omitempty" minimum:"1" maximum:"1000" doc:"Number of qubits, at most the plan's, and 1,000 of a circuit of Clifford gates only; required with gates"`
	Gates       []GateInput          `json:"gates,omitempty" maxItems:"10000" doc:"What is done, in order; required unless openqasm is given. Beside gates an entry may be an if or a while on measured qubits (docs/circuits.md)"`
	OpenQASM    *string              `json:"openqasm,omitempty" nullable:"true" doc:"Instead of gates: the text of an OpenQASM 2 or 3 program, an extension of this service (docs/circuits.md)"`
	Observables []map[string]float64 `json:"observables,omitempty" maxItems:"100" nullable:"true" doc:"Pauli sums whose expectation values are wanted, an extension of this service (docs/circuits.md): each from terms, one of I, X, Y and Z per qubit with qubit 0 rightmost, to coefficients"`
	Shots       *int64               `json:"shots,omitempty" minimum:"1" maximum:"100000" nullable:"true" doc:"Number of samples to draw; 1024 when left out"`
	Seed        *int64               `json:"seed,omitempty" minimum:"0" maximum:"9007199254740991" nullable:"true" doc:"Of the samples: the same circuit, shots and seed give the same counts on every machine. When left out one is drawn, and the result says which"`
	Statevector *bool                `json:"statevector,omitempty" nullable:"true" doc:"Ask for the amplitudes; at most 10 qubits"`
	Precision   *Precision           `json:"precision,omitempty" enum:"double,single" nullable:"true" doc:"Of the amplitudes: double (when left out) has 64 bits for each number, single 32"`
}

// GateInput declares the members of an entry of gates. A field and its alias are not given together.
type GateInput struct {
	Gate     string    `json:"gate" doc:"Name of the gate, in letters of either case. A name and its aliases (cnot for cx, phase for p) mean the same" example:"cx"`
	Target   []int     `json:"target,omitempty" single:"true" nullable:"true" doc:"The qubit or qubits acted on, counted from 0. Only barrier goes without"`
	Targets  []int     `json:"targets,omitempty" single:"true" nullable:"true" doc:"Alias of target"`
	Control  []int     `json:"control,omitempty" single:"true" nullable:"true" doc:"The qubit or qubits that must all be 1, counted from 0. Any unitary gate takes them"`
	Controls []int     `json:"controls,omitempty" single:"true" nullable:"true" doc:"Alias of control"`
	Angle    *float64  `json:"angle,omitempty" nullable:"true" doc:"Angle in radians, of a gate that has one"`
	Rotation *float64  `json:"rotation,omitempty" nullable:"true" doc:"Alias of angle, in radians"`
	Params   []float64 `json:"params,omitempty" maxItems:"4" nullable:"true" doc:"All angles of the gate in radians, in order: theta, phi, lambda for u"`
	Angles   []float64 `json:"angles,omitempty" maxItems:"4" nullable:"true" doc:"Alias of params, in radians"`
	Theta    *float64  `json:"theta,omitempty" nullable:"true" doc:"First angle of u and its relatives, in radians"`
	Phi      *float64  `json:"phi,omitempty" nullable:"true" doc:"Second angle of u, in radians"`
	Lambda   *float64  `json:"lambda,omitempty" nullable:"true" doc:"Third angle of u, in radians"`
	Gamma    *float64  `json:"gamma,omitempty" nullable:"true" doc:"Fourth angle of cu: the phase of the controlled gate, in radians"`
}

// GateNames lists the names that an entry of gates may have, aliases included, in alphabetical order.
func GateNames() []string { return slices.Sorted(maps.Keys(specByName)) }
