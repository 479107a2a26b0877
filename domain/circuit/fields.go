package circuit

import (
	"maps"
	"slices"
)

// Input declares the JSON circuit object that Parse reads, for the API's description: one of its members' forms. The types below declare
// every member the reader knows; a test compares them. A tag single:"true" says that one element may stand in place of the array.
type Input struct {
	_       struct{} `either:"true"`
	Gates   *GatesInput
	Program *ProgramInput
}

// GatesInput declares a circuit given by its gates.
type GatesInput struct {
	Qubits int          `json:"qubits" minimum:"1" maximum:"1000" doc:"Number of qubits, at most the plan's, and 1,000 where the method allows: of Clifford gates only, or beyond 30 with a state that is simple (docs/circuits.md)"`
	Gates  []EntryInput `json:"gates" maxItems:"10000" doc:"What is done, in order. Entries inside blocks count too"`
	OptionsInput
}

// ProgramInput declares a circuit given by a program.
type ProgramInput struct {
	Qubits   *int   `json:"qubits,omitempty" minimum:"1" maximum:"1000" nullable:"true" doc:"Number of qubits; cannot differ from the program's"`
	OpenQASM string `json:"openqasm" doc:"Instead of gates: the text of an OpenQASM 2 or 3 program, an extension of this service (docs/circuits.md)"`

	Inputs map[string]any `json:"inputs,omitempty" nullable:"true" doc:"Values of the program's input declarations, an extension of this service (docs/openqasm.md): numbers, truth values, strings of bits, or arrays of such"`

	OptionsInput
}

// OptionsInput declares what may be asked of any circuit.
type OptionsInput struct {
	Observables []map[string]float64 `json:"observables,omitempty" maxItems:"100" nullable:"true" doc:"Pauli sums whose expectation values are wanted, an extension of this service (docs/circuits.md): each from terms, one of I, X, Y and Z per qubit with qubit 0 rightmost, to coefficients"`
	Marginals   [][]int              `json:"marginals,omitempty" maxItems:"100" nullable:"true" doc:"Lists of up to 12 qubits whose exact joint probabilities are wanted, an extension of this service (docs/circuits.md)"`
	Sweep       []map[string]float64 `json:"sweep,omitempty" minItems:"1" maxItems:"1000" nullable:"true" doc:"Values of the parameters that angles depend on, an extension of this service (docs/circuits.md): the circuit is simulated at each of these points"`
	Shots       *int64               `json:"shots,omitempty" minimum:"1" maximum:"100000" nullable:"true" doc:"Number of samples to draw; 1024 when left out"`
	Seed        *int64               `json:"seed,omitempty" minimum:"0" maximum:"9007199254740991" nullable:"true" doc:"Of the samples: the same circuit, shots and seed give the same counts on every machine. When left out one is drawn, and the result says which"`
	Statevector *bool                `json:"statevector,omitempty" nullable:"true" doc:"Ask for the amplitudes; at most 10 qubits"`
	Memory      *bool                `json:"memory,omitempty" nullable:"true" doc:"Ask for the key of each shot, an extension of this service (docs/circuits.md)"`
	NPY         *bool                `json:"npy,omitempty" nullable:"true" doc:"Ask for the whole state vector as a file of NumPy's format, an extension of this service (docs/circuits.md): GET /api/jobs/{id}/statevector.npy"`
	Noise       *NoiseInput          `json:"noise,omitempty" null:"true" doc:"Noise that goes with gates and measurements, an extension of this service (docs/circuits.md)"`
	Precision   *Precision           `json:"precision,omitempty" enum:"double,single" nullable:"true" doc:"Of the amplitudes: double (when left out) has 64 bits for each number, single 32"`
	Method      *Engine              `json:"method,omitempty" enum:"statevector,stabilizer,density,sparse,mps" nullable:"true" doc:"What simulates, an extension of this service (docs/circuits.md); chosen by the circuit when left out"`
}

// EntryInput declares an entry of gates.
type EntryInput struct {
	_     struct{} `either:"true"`
	Gate  *GateInput
	If    *IfInput
	While *WhileInput
}

// GateInput declares the members of an entry of gates. A field and its alias are not given together.
type GateInput struct {
	Gate     string    `json:"gate" doc:"Name of the gate, in letters of either case. A name and its aliases (cnot for cx, phase for p) mean the same" example:"cx"`
	Target   []int     `json:"target,omitempty" single:"true" nullable:"true" doc:"The qubit or qubits acted on, counted from 0. Only barrier goes without"`
	Targets  []int     `json:"targets,omitempty" single:"true" nullable:"true" doc:"Alias of target"`
	Control  []int     `json:"control,omitempty" single:"true" nullable:"true" doc:"The qubit or qubits that must all be 1, counted from 0. Any unitary gate takes them"`
	Controls []int     `json:"controls,omitempty" single:"true" nullable:"true" doc:"Alias of control"`
	Angle    *float64  `json:"angle,omitempty" text:"true" nullable:"true" doc:"Angle in radians, of a gate that has one. A string is an expression with parameters, an extension of this service (docs/circuits.md)"`
	Rotation *float64  `json:"rotation,omitempty" text:"true" nullable:"true" doc:"Alias of angle, in radians"`
	Params   []float64 `json:"params,omitempty" text:"true" maxItems:"4" nullable:"true" doc:"All angles of the gate in radians, in order: theta, phi, lambda for u"`
	Angles   []float64 `json:"angles,omitempty" text:"true" maxItems:"4" nullable:"true" doc:"Alias of params, in radians"`
	Theta    *float64  `json:"theta,omitempty" text:"true" nullable:"true" doc:"First angle of u and its relatives, in radians"`
	Phi      *float64  `json:"phi,omitempty" text:"true" nullable:"true" doc:"Second angle of u, in radians"`
	Lambda   *float64  `json:"lambda,omitempty" text:"true" nullable:"true" doc:"Third angle of u, in radians"`
	Gamma    *float64  `json:"gamma,omitempty" text:"true" nullable:"true" doc:"Fourth angle of cu: the phase of the controlled gate, in radians. Of amplitude_damping and phase_damping the strength, 0 to 1"`

	Matrix [][][2]float64 `json:"matrix,omitempty" minItems:"2" maxItems:"4" nullable:"true" doc:"Of unitary, an extension of this service (docs/circuits.md): the rows of a unitary matrix, each entry its real and imaginary part; the first target is the lowest bit of an index"`
	State  [][2]float64   `json:"state,omitempty" minItems:"2" maxItems:"4096" nullable:"true" doc:"Of initialize, an extension of this service (docs/circuits.md): the amplitudes that the targets are given, each its real and imaginary part; the first target is the lowest bit of an index"`

	P             *float64           `json:"p,omitempty" minimum:"0" maximum:"1" nullable:"true" doc:"Of noise, an extension of this service (docs/circuits.md): probability of an error of depolarizing, bit_flip, phase_flip and bit_phase_flip"`
	Probabilities map[string]float64 `json:"probabilities,omitempty" nullable:"true" doc:"Of pauli_channel: from products of one or two of I, X, Y and Z, the first qubit rightmost, to their probabilities"`
	Kraus         [][][][2]float64   `json:"kraus,omitempty" minItems:"1" maxItems:"16" nullable:"true" doc:"Of kraus: the operators, each the rows of a matrix of 2 or 4, each entry its real and imaginary part; the first qubit is the lowest bit of an index"`
}

// NoiseInput declares noise that goes with gates and measurements, an extension of this service.
type NoiseInput struct {
	Channels []RuleInput    `json:"channels,omitempty" maxItems:"100" nullable:"true" doc:"Channels that go with gates. All that fit a gate act, in order"`
	Readout  []ReadoutInput `json:"readout,omitempty" maxItems:"1000" nullable:"true" doc:"How measurements are misread"`
}

// RuleInput declares a channel that goes with gates.
type RuleInput struct {
	Channel string   `json:"channel" doc:"Name of the channel, as among the gates" example:"depolarizing"`
	Gates   []string `json:"gates,omitempty" nullable:"true" doc:"Names of the gates it goes with, measure and reset among them; every unitary gate when left out"`
	Qubits  []int    `json:"qubits,omitempty" single:"true" nullable:"true" doc:"The noisy qubits; all when left out"`

	P             *float64           `json:"p,omitempty" minimum:"0" maximum:"1" nullable:"true" doc:"Probability of an error: of depolarizing, bit_flip, phase_flip and bit_phase_flip"`
	Gamma         *float64           `json:"gamma,omitempty" minimum:"0" maximum:"1" nullable:"true" doc:"Strength of amplitude_damping and phase_damping"`
	Probabilities map[string]float64 `json:"probabilities,omitempty" nullable:"true" doc:"Of pauli_channel: from products of one or two of I, X, Y and Z, the first qubit rightmost, to their probabilities"`
	Kraus         [][][][2]float64   `json:"kraus,omitempty" minItems:"1" maxItems:"16" nullable:"true" doc:"Of kraus: the operators, each the rows of a matrix of 2 or 4, each entry its real and imaginary part; the first qubit is the lowest bit of an index"`
}

// ReadoutInput declares readout errors.
type ReadoutInput struct {
	Qubits []int        `json:"qubits,omitempty" single:"true" nullable:"true" doc:"The qubits that are misread; all when left out"`
	Matrix [][2]float64 `json:"matrix" minItems:"2" maxItems:"2" doc:"Row i, column j: the probability that i is read as j"`
}

// IfInput declares an entry that is done when a condition on measured qubits holds, an extension of this service.
type IfInput struct {
	If   ConditionInput `json:"if" doc:"Looked at when the entry's turn comes, in each shot. The extension if is described in docs/circuits.md"`
	Then []EntryInput   `json:"then" maxItems:"10000" doc:"Done when the condition holds"`
	Else []EntryInput   `json:"else,omitempty" maxItems:"10000" nullable:"true" doc:"Done when it does not"`
}

// WhileInput declares entries that are done again as long as a condition on measured qubits holds, an extension of this service.
type WhileInput struct {
	While  ConditionInput `json:"while" doc:"Looked at before each round, in each shot. The extension while is described in docs/circuits.md"`
	Do     []EntryInput   `json:"do" maxItems:"10000" doc:"One round"`
	Rounds *int           `json:"rounds,omitempty" minimum:"1" maximum:"1000" nullable:"true" doc:"Most rounds of a shot; 100 when left out. A shot that would begin one more fails the job"`
}

// ConditionInput declares a condition.
type ConditionInput struct {
	_        struct{} `either:"true"`
	Measured *MeasuredInput
	Not      *NotInput
	All      *AllInput
	Any      *AnyInput
	Odd      *OddInput
}

// MeasuredInput declares the condition that the last outcomes of qubits spell a number.
type MeasuredInput struct {
	Measured []int  `json:"measured" minItems:"1" maxItems:"62" single:"true" doc:"The qubit or qubits, the first as the lowest bit"`
	Equals   *int64 `json:"equals,omitempty" minimum:"0" nullable:"true" doc:"The number their last outcomes spell; 1 when left out, which only one qubit allows"`
}

// NotInput declares the condition that another does not hold.
type NotInput struct {
	Not ConditionInput `json:"not" doc:"What must not hold"`
}

// AllInput declares the condition that every one of a list holds.
type AllInput struct {
	All []ConditionInput `json:"all" minItems:"1" maxItems:"62" doc:"All must hold"`
}

// AnyInput declares the condition that at least one of a list holds.
type AnyInput struct {
	Any []ConditionInput `json:"any" minItems:"1" maxItems:"62" doc:"At least one must hold"`
}

// OddInput declares the condition that an odd number of a list hold.
type OddInput struct {
	Odd []ConditionInput `json:"odd" minItems:"1" maxItems:"62" doc:"An odd number must hold"`
}

// GateNames lists the names that an entry of gates may have, aliases included, in alphabetical order.
func GateNames() []string { return slices.Sorted(maps.Keys(specByName)) }
