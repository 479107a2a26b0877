package circuit

import "fmt"

// Code names a reason for refusing a circuit. The values are part of the interface and never change.
type Code string

// The reasons a circuit is refused.
const (
	CodeMalformed       Code = "malformed_circuit"    // not one well-formed JSON object or OpenQASM program
	CodeTooLarge        Code = "circuit_too_large"    // the text exceeds Limits.Bytes
	CodeUnknownField    Code = "unknown_field"        // a field this interface does not define
	CodeDuplicateField  Code = "duplicate_field"      // a field given twice, or together with its alias
	CodeMissingField    Code = "missing_field"        // a required field is absent or null
	CodeWrongType       Code = "wrong_type"           // a field holds another JSON type
	CodeQubitsRange     Code = "qubits_out_of_range"  // fewer than 1 qubit, or more than allowed
	CodeShotsRange      Code = "shots_out_of_range"   // fewer than 1 shot, or more than allowed
	CodeSeedRange       Code = "seed_out_of_range"    // negative or beyond 2^53 - 1
	CodePrecision       Code = "unknown_precision"    // neither double nor single
	CodeTooManyGates    Code = "too_many_gates"       // more gates than allowed
	CodeUnknownGate     Code = "unknown_gate"         // no gate of that name
	CodeNoise           Code = "noise_unsupported"    // noise that is not simulated, or under another name
	CodeChannel         Code = "wrong_channel"        // noise whose numbers or gates do not go together
	CodeTargets         Code = "wrong_targets"        // wrong number of targets
	CodeControls        Code = "wrong_controls"       // wrong number of controls
	CodeQubitRange      Code = "qubit_out_of_range"   // a qubit the circuit does not have
	CodeRepeatedQubit   Code = "repeated_qubit"       // one gate names a qubit twice
	CodeParameters      Code = "wrong_parameters"     // wrong number of angles
	CodeAngleRange      Code = "angle_out_of_range"   // an angle that is not a finite number
	CodeUnsupported     Code = "unsupported_openqasm" // OpenQASM outside the documented subset
	CodeMemory          Code = "memory_limit"         // Estimate exceeds Options.MemoryLimitBytes
	CodeEngine          Code = "engine_unsuitable"    // the requested engine cannot run this circuit
	CodeCondition       Code = "wrong_condition"      // a condition, assignment or block that cannot be run
	CodeRounds          Code = "loop_rounds"          // a loop that may or did run more rounds than allowed
	CodeTooManySteps    Code = "too_many_steps"       // more instructions than allowed once loops are written out
	CodeObservable      Code = "wrong_observable"     // an observable that is not a sum of Pauli terms on the circuit's qubits
	CodeMatrix          Code = "wrong_matrix"         // the matrix of unitary is absent, of another size than its targets, or not unitary
	CodeState           Code = "wrong_state"          // the state of initialize is absent, of another size than its targets, or not normalised
	CodeSweep           Code = "wrong_sweep"          // a sweep whose points do not give each parameter of the circuit one value, or that is too long
	CodeMarginal        Code = "wrong_marginal"       // a marginal of no qubit or too many, or too many marginals
	CodeStateFile       Code = "state_too_large"      // the file of the state vector is longer than what is kept
	CodeShotMemory      Code = "memory_too_long"      // the keys of all shots are longer than MaxShotMemoryBytes
	CodeWork            Code = "work_limit"           // Estimate exceeds MaxOperations
	circuitLevel             = -1
	maxQuotedNameLength      = 32
)

// Refusal is the error of Parse, ParseOpenQASM and Run for a circuit they do not accept.
type Refusal struct {
	Code    Code
	Message string // a sentence for the user; names the gate and its index where there is one
	Gate    int    // index into gates, or -1 when the circuit as a whole is at fault
	Line    int    // 1-based line of OpenQASM source, 0 for JSON
	Column  int    // 1-based, in characters; 0 for JSON
	Excerpt string // the line of source and a caret below it; empty for JSON
	reason  string // the message without the place
}

// Error returns the message and the excerpt.
func (r *Refusal) Error() string {
	if r.Excerpt == "" {
		return r.Message
	}
	return r.Message + "\n" + r.Excerpt
}

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...), Gate: circuitLevel}
}

func refuseGate(code Code, index int, name, format string, args ...any) *Refusal {
	where := fmt.Sprintf("gate %d", index)
	if name != "" {
		where += fmt.Sprintf(" (%s)", clipText(name))
	}
	reason := fmt.Sprintf(format, args...)
	return &Refusal{Code: code, Message: where + ": " + reason, Gate: index, reason: clipText(name) + " " + reason}
}

// clipText bounds foreign text before it is echoed in a message.
func clipText(s string) string {
	runes := []rune(s)
	if len(runes) > maxQuotedNameLength {
		return string(runes[:maxQuotedNameLength]) + "…"
	}
	return s
}
