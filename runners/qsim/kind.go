package qsim

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/circuit"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/internal/statefiles"
)

// Kind is the name of the kind.
const Kind job.Kind = "qsim"

// codeMalformed is the problem of a circuit that no runner would run.
const codeMalformed = "malformed_circuit"

// Declare is runners.Kind.
func (j *Jobs) Declare() commands.JobKind {
	return commands.JobKind{
		Declaration: job.Declaration{
			Name:    Kind,
			Summary: "simulates a quantum circuit and draws samples from it",
			Fields: []job.Field{{
				Name: "circuit", Type: job.Object, Required: true, Shape: reflect.TypeFor[circuit.Input](),
				Doc:     "qubits, shots, seed and gates, each with gate, target, control, angle; or, instead of gates, openqasm: the text of an OpenQASM 2 or 3 program (an extension); more in docs/circuits.md",
				Example: `{"qubits":2,"shots":1000,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1}]}`,
			}},
			PayloadField: "circuit",
			Result:       "counts, shots, seed, probabilities, statevector, expectations, marginals, depth, gate_counts, bit_order, engine, engine_reason, amplitudes, truncation, trajectories, npy, omitted, warnings, memory; points, of a sweep",
			ResultType:   reflect.TypeFor[circuit.SweepResult](),
			Refusals: []job.Refusal{{
				Code: codeMalformed, Title: "The circuit cannot be run as it is",
				Help: "`detail` names the gate, or the line and column of the program, and what is wrong with it; the message in `errors` is the stable name of the reason (`unknown_gate`, `qubits_out_of_range`, …). No slot was spent.",
			}},
			Example: `{"kind":"qsim","circuit":{"qubits":2,"gates":[{"gate":"h","target":0},{"gate":"cx","control":0,"target":1}]}}`,
		},
		Prepare: j.prepare,
	}
}

// prepare refuses a circuit that no runner would run: it is read in full, and
// its cost in memory is estimated.
func (j *Jobs) prepare(_ context.Context, _ commands.Intent, r commands.JobRequest, plan account.Plan, s *job.Submission) error {
	content := r.Fields.Object("circuit")
	if len(content) == 0 {
		return &commands.JobFieldError{Field: "circuit", Problem: "is required for jobs of kind qsim"}
	}
	s.Payload = event.Inline(string(content))
	err := j.admit(content, plan.Qubits)
	var refused *circuit.Refusal
	if errors.As(err, &refused) {
		return &commands.JobRefusedError{Code: codeMalformed, Field: location(refused), Reason: string(refused.Code), Detail: refused.Error()}
	}
	return err
}

func (j *Jobs) admit(content []byte, qubits int) error {
	if qubits < 1 { // the parser would read 0 as its default
		return &circuit.Refusal{Code: circuit.CodeQubitsRange, Gate: -1, Message: "the plan has no qubits"}
	}
	limits := circuit.DefaultLimits()
	limits.Qubits, limits.CliffordQubits = qubits, circuit.MaxCliffordQubits
	c, err := circuit.Parse(content, limits)
	if err != nil {
		return err
	}
	cost := circuit.Estimate(c)
	if must := cost.MemoryBytes + resultCopies*cost.ResultBytes; must > largeBytes {
		return &circuit.Refusal{Code: circuit.CodeMemory, Gate: -1,
			Message: fmt.Sprintf("the circuit needs %d MiB of memory with its result; a job has %d MiB", must>>20, largeBytes>>20)}
	}
	if c.WantsNPY() {
		if err := j.checkStateFile(c.NPYBytes()); err != nil {
			return err
		}
	}
	return cost.Check()
}

// checkStateFile refuses a file that could not be kept.
func (j *Jobs) checkStateFile(bytes int64) error {
	if most := j.states.Largest(); bytes > most {
		return &circuit.Refusal{Code: circuit.CodeStateFile, Gate: -1,
			Message: fmt.Sprintf("the state vector has %d MiB; %d MiB are kept of an account's", (bytes-statefiles.HeadBytes+1<<20-1)>>20, most>>20)}
	}
	return nil
}

// location is the path of what a circuit is refused for.
func location(r *circuit.Refusal) string {
	switch {
	case r.Line > 0:
		return "circuit.openqasm"
	case r.Gate < 0:
		return "circuit"
	}
	return fmt.Sprintf("circuit.gates[%d]", r.Gate)
}
