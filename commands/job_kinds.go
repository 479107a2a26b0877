package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"reckon/domain/account"
	"reckon/domain/circuit"
	"reckon/domain/event"
	"reckon/domain/job"
)

// JobRequest is a job as it was asked for (interface §4.3): nothing is validated yet.
type JobRequest struct {
	Kind           string // empty: evaluate
	Expression     string
	SessionID      string
	Circuit        []byte // JSON
	Proof          ProofRequest
	TimeoutMS      *int64 // nil: as long as the plan allows
	IdempotencyKey string
	Given          []string // names of the fields it has that not every kind takes
}

// jobKind is what is particular to submitting a job of one kind.
type jobKind struct {
	name   string
	fields []string // that it takes beside those of every kind
	fill   func(r JobRequest, s *job.Submission)
	check  func(r JobRequest, plan account.Plan) error
}

// jobKinds is the one list of kinds that can be submitted.
func jobKinds() []jobKind {
	return []jobKind{
		{name: job.Evaluate, fields: []string{"expression", "session_id"}, fill: fillEvaluate, check: checkEvaluate},
		{name: job.Qsim, fields: []string{"circuit"}, fill: fillQsim, check: checkQsim},
		{name: job.Proof, fields: []string{"export", "upload_id", "source", "module", "declarations", "run_id", "wait_ms"}, fill: fillProof, check: checkProof},
	}
}

// JobKinds names the kinds of job that can be submitted.
func JobKinds() []string {
	var names []string
	for _, k := range jobKinds() {
		names = append(names, k.name)
	}
	return names
}

// UnknownJobKindError means that no job of this kind can be submitted here.
type UnknownJobKindError struct{ Kind string }

func (e *UnknownJobKindError) Error() string {
	return fmt.Sprintf("there is no job kind %q here; the kinds are %s", shorten(e.Kind, 64), strings.Join(JobKinds(), ", "))
}

// JobFieldError means that one field of a request is missing, out of range, or
// does not go with its kind.
type JobFieldError struct{ Field, Problem string }

func (e *JobFieldError) Error() string { return e.Field + " " + e.Problem }

// Command is the intention of a request under a plan. Its Validate refuses
// whatever must not cost a slot.
func (r JobRequest) Command(plan account.Plan) SubmitJob {
	if r.Kind == "" {
		r.Kind = job.Evaluate
	}
	s := job.Submission{Kind: r.Kind, IdempotencyKey: r.IdempotencyKey}
	if r.TimeoutMS != nil {
		s.TimeoutMS = *r.TimeoutMS
	}
	kind, known := r.kind()
	if known {
		kind.fill(r, &s)
	}
	validate := func(context.Context, job.Submission) error {
		if !known {
			return &UnknownJobKindError{Kind: r.Kind}
		}
		return r.validate(kind, plan)
	}
	return SubmitJob{Submission: s, Plan: plan, Validate: validate}
}

func (r JobRequest) kind() (jobKind, bool) {
	kinds := jobKinds()
	i := slices.IndexFunc(kinds, func(k jobKind) bool { return k.name == r.Kind })
	if i < 0 {
		return jobKind{}, false
	}
	return kinds[i], true
}

func (r JobRequest) validate(kind jobKind, plan account.Plan) error {
	for _, field := range r.Given {
		switch {
		case slices.Contains(kind.fields, field):
		case field == "wait_ms":
			return &JobFieldError{field, "goes with jobs of kind proof only; for others GET /api/jobs/{id}?wait_ms=… waits for the end"}
		default:
			return &JobFieldError{field, fmt.Sprintf("does not go with jobs of kind %s, which take %s", kind.name, strings.Join(kind.fields, ", "))}
		}
	}
	if r.TimeoutMS != nil && *r.TimeoutMS < 1 {
		return &JobFieldError{"timeout_ms", "must be at least 1"}
	}
	return kind.check(r, plan)
}

func fillEvaluate(r JobRequest, s *job.Submission) {
	s.Payload, s.SessionID = event.Inline(r.Expression), r.SessionID
}

func checkEvaluate(r JobRequest, plan account.Plan) error {
	return Admit(Evaluate{Expression: r.Expression, SessionID: r.SessionID, Plan: plan})
}

func fillQsim(r JobRequest, s *job.Submission) { s.Payload = event.Inline(string(r.Circuit)) }

// checkQsim refuses a circuit that no runner would run: it is read in full, and
// its cost in memory is estimated.
func checkQsim(r JobRequest, plan account.Plan) error {
	if len(r.Circuit) == 0 {
		return &JobFieldError{"circuit", "is required for jobs of kind qsim"}
	}
	if plan.Qubits < 1 { // the parser would read 0 as its default
		return &circuit.Refusal{Code: circuit.CodeQubitsRange, Gate: -1, Message: "the plan has no qubits"}
	}
	limits := circuit.DefaultLimits()
	limits.Qubits = plan.Qubits
	c, err := circuit.Parse(r.Circuit, limits)
	if err != nil {
		return err
	}
	if need := circuit.Estimate(c).MemoryBytes; need > circuit.DefaultMemoryLimitBytes {
		return &circuit.Refusal{Code: circuit.CodeMemory, Gate: -1,
			Message: fmt.Sprintf("the circuit needs %d MiB of memory; a job has %d MiB", need>>20, circuit.DefaultMemoryLimitBytes>>20)}
	}
	return nil
}
