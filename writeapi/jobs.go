package writeapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"reckon/commands"
	"reckon/domain/circuit"
	"reckon/domain/job"
	"reckon/domain/slots"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// maxIdempotencyKeyBytes is as long a key as anyone needs.
const maxIdempotencyKeyBytes = 255

// submitInput is the submit body of interface §4.3. Its schema gives types only: what
// a value may be is judged after a job of the same key was looked for.
type submitInput struct {
	IdempotencyKey string `header:"Idempotency-Key" doc:"The same as the field idempotency_key"`
	Body           struct {
		Kind           *string             `json:"kind,omitempty" doc:"evaluate (default), qsim or proof" example:"evaluate"`
		Expression     *string             `json:"expression,omitempty" doc:"evaluate, required: source text, evaluated as given" example:"FactorInteger[2^128+1]"`
		SessionID      *string             `json:"session_id,omitempty" doc:"evaluate: persistent session to run in. A job in a session is never run twice"`
		Circuit        *httpkit.JSONObject `json:"circuit,omitempty" doc:"qsim, required: qubits, shots, seed and gates, each with gate, target, control, angle" example:"{\"qubits\":2,\"shots\":1000,\"gates\":[{\"gate\":\"h\",\"target\":0},{\"gate\":\"cx\",\"control\":0,\"target\":1}]}"`
		TimeoutMS      *int64              `json:"timeout_ms,omitempty" doc:"Time budget in milliseconds, at least 1; the plan's when left out, never more than the plan's"`
		IdempotencyKey *string             `json:"idempotency_key,omitempty" doc:"1 to 255 bytes of your own. A job of yours with this key is answered instead of a new one, whatever else the body says" example:"monday-7"`
		Export         *string             `json:"export,omitempty" doc:"proof: export text (NDJSON)"`
		UploadID       *string             `json:"upload_id,omitempty" doc:"proof: an upload, instead of export"`
		Declarations   []string            `json:"declarations,omitempty" doc:"proof, required: 1 to 32 names as exported"`
		RunID          *int64              `json:"run_id,omitempty" doc:"proof: the evaluation the proof is about"`
		WaitMS         *int64              `json:"wait_ms,omitempty" doc:"proof: hold the request up to this many milliseconds. For other kinds see the long-poll GET"`
		Source         *string             `json:"source,omitempty" doc:"proof: source text to elaborate first, instead of export or upload_id"`
		Module         *string             `json:"module,omitempty" doc:"proof with source: the module it becomes"`
	}
}

// jobReceipt answers a submission (interface §2.7).
type jobReceipt struct {
	view.Job
	JobsRemainingToday int  `json:"jobs_remaining_today" doc:"Jobs of any kind that may still be submitted this UTC day"`
	Resubmit           bool `json:"resubmit" doc:"The idempotency key matched this job: no slot was spent"`
}

type submitOutput struct{ Body jobReceipt }

type jobIDInput struct {
	ID string `path:"id" doc:"job_id" example:"7c9e6679-7425-50de-944b-e07fc1f90ae7"`
}

type cancelOutput struct {
	Body struct {
		JobID              string `json:"job_id" format:"uuid"`
		Status             string `json:"status" enum:"succeeded,failed,timeout,cancelled,lost" doc:"What the job has ended as"`
		Cancelled          bool   `json:"cancelled" doc:"This request ended the job; false: it had ended before"`
		Refunded           bool   `json:"refunded" doc:"The job had never started, and its slot was given back to the day it was spent on"`
		JobsRemainingToday int    `json:"jobs_remaining_today"`
	}
}

func (s Services) registerJobs(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/jobs", ID: "submit-job", Tag: "Jobs", Summary: "Submit a job",
		Description: "Queues work that takes longer than an evaluation may. A job spends one slot of the day's allowance, however it ends; a refused submission spends none. " +
			"With an idempotency key a submission may be repeated safely: a job that has the key is answered before anything else in the body is judged.",
		Access: httpkit.Bearer, Scope: "jobs:write", Writes: true, Errors: problems,
		Kinds: []httpkit.Kind{
			httpkit.InvalidRequest, httpkit.UnknownField, httpkit.InvalidJSON, httpkit.BodyRequired, httpkit.UnknownJobKind, httpkit.TimeoutOverPlan, httpkit.MalformedCircuit,
			httpkit.ExpressionRequired, httpkit.TooComplex, httpkit.InvalidSessionID, httpkit.ExpressionDenied, httpkit.TooLarge, httpkit.NotJSON, httpkit.AllowanceSpent, httpkit.InvalidDeclarations, httpkit.ExportChoice, httpkit.InvalidExport, httpkit.ExportTooLarge, httpkit.ExportOverBudget,
			httpkit.InvalidSource, httpkit.InvalidModule, httpkit.ElaborationFailed, httpkit.ProofsNotOnPlan, httpkit.NoSuchRun, httpkit.NoSuchUpload, httpkit.UploadUsed, httpkit.Elaborating, httpkit.NoElaboration, httpkit.Saturated, httpkit.Unavailable,
		},
		Misnamed: map[string]string{"input": "expression", "code": "expression", "type": "kind", "timeout": "timeout_ms", "session": "session_id"},
	}, s.submitJob)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodDelete, Path: "/api/jobs/{id}", ID: "cancel-job", Tag: "Jobs", Summary: "Cancel a job",
		Description: "A job that has never started gives its slot back. One that is running is killed, and has cost its slot. One that has ended stays as it is.",
		Access:      httpkit.Bearer, Scope: "jobs:write", Writes: true, Errors: problems,
		Kinds: []httpkit.Kind{httpkit.NoSuchJob, httpkit.Unavailable},
	}, s.cancelJob)
}

func (s Services) submitJob(ctx context.Context, in *submitInput) (*submitOutput, error) {
	request, err := jobRequest(in)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, s.patience(request))
	defer cancel()
	intent := s.intent(ctx)
	submitted, err := s.submit(bounded, intent, request, s.plan(ctx))
	if err != nil {
		return nil, notSubmitted(err, intent.At)
	}
	s.wrote(ctx, intent.Account, submitted.Position)
	if in.Body.WaitMS != nil && request.Kind == job.Proof {
		if submitted.Job, err = s.awaitEnd(ctx, submitted.Job, *in.Body.WaitMS); err != nil {
			return nil, err
		}
	}
	view, err := s.JobView.Of(ctx, submitted.Job)
	if err != nil {
		return nil, err
	}
	return &submitOutput{jobReceipt{Job: view, JobsRemainingToday: max(0, submitted.JobsRemaining), Resubmit: submitted.Resubmit}}, nil
}

// jobRequest is the body as the command takes it.
func jobRequest(in *submitInput) (commands.JobRequest, error) {
	body := in.Body
	r := commands.JobRequest{Kind: value(body.Kind), Expression: value(body.Expression), SessionID: value(body.SessionID), TimeoutMS: body.TimeoutMS, Proof: proofRequest(in)}
	if body.Circuit != nil {
		r.Circuit = body.Circuit.RawMessage
	}
	for _, field := range []struct {
		name  string
		given bool
	}{
		{"expression", body.Expression != nil}, {"session_id", body.SessionID != nil}, {"circuit", body.Circuit != nil},
		{"export", body.Export != nil}, {"upload_id", body.UploadID != nil}, {"declarations", body.Declarations != nil},
		{"run_id", body.RunID != nil}, {"wait_ms", body.WaitMS != nil}, {"source", body.Source != nil}, {"module", body.Module != nil},
	} {
		if field.given {
			r.Given = append(r.Given, field.name)
		}
	}
	var err error
	r.IdempotencyKey, err = idempotencyKey(in.IdempotencyKey, body.IdempotencyKey)
	return r, err
}

// idempotencyKey is the header's or the field's; an empty header is none.
func idempotencyKey(header string, field *string) (string, error) {
	const location = "body.idempotency_key"
	key := header
	switch {
	case field == nil && header == "":
		return "", nil
	case field != nil && header != "" && *field != header:
		return "", httpkit.InvalidRequest.Problem("idempotency_key and the header Idempotency-Key differ; send one of them").Field(location, "differs from the header Idempotency-Key")
	case field != nil:
		key = *field
	}
	if key == "" || len(key) > maxIdempotencyKeyBytes || !utf8.ValidString(key) {
		return "", httpkit.InvalidRequest.Problem("an idempotency key is 1 to %d bytes of UTF-8", maxIdempotencyKeyBytes).Field(location, "must be 1 to 255 bytes of UTF-8")
	}
	return key, nil
}

// notSubmitted words the refusals that carry more than their kind.
func notSubmitted(err error, at time.Time) error {
	var kind *commands.UnknownJobKindError
	var field *commands.JobFieldError
	var timeout *commands.TimeoutOverPlanError
	var refused *circuit.Refusal
	switch {
	case errors.Is(err, slots.ErrSpent):
		return httpkit.AllowanceSpent.Problem("%s", slots.ErrSpent.Error()).RetryAfter(untilMidnight(at))
	case errors.As(err, &kind):
		return httpkit.UnknownJobKind.Problem("%s", kind.Error()).Field("body.kind", "unknown")
	case errors.As(err, &field):
		return httpkit.InvalidRequest.Problem("%s", field.Error()).Field("body."+field.Field, field.Problem)
	case errors.As(err, &timeout):
		return httpkit.TimeoutOverPlan.Problem("%s", timeout.Error()).Field("body.timeout_ms", "over the plan's")
	case errors.As(err, &refused):
		return httpkit.MalformedCircuit.Problem("%s", refused.Error()).Field(circuitLocation(refused), string(refused.Code))
	}
	return explainRefusal(notProof(err))
}

// circuitLocation is the path of what a circuit is refused for.
func circuitLocation(r *circuit.Refusal) string {
	if r.Gate < 0 {
		return "body.circuit"
	}
	return fmt.Sprintf("body.circuit.gates[%d]", r.Gate)
}

// untilMidnight is the rest of the UTC day.
func untilMidnight(at time.Time) time.Duration {
	year, month, day := at.UTC().Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC).Sub(at)
}

func (s Services) cancelJob(ctx context.Context, in *jobIDInput) (*cancelOutput, error) {
	if !view.ValidID(in.ID) {
		return nil, job.ErrNone
	}
	ctx, cancel := context.WithTimeout(ctx, s.Longest)
	defer cancel()
	intent := s.intent(ctx)
	cancelled, err := s.Jobs.CancelJob(ctx, intent, in.ID)
	if err != nil {
		return nil, err
	}
	s.wrote(ctx, intent.Account, cancelled.Position)
	remaining, err := s.Jobs.Remaining(ctx, intent, s.plan(ctx))
	if err != nil {
		return nil, err
	}
	out := &cancelOutput{}
	out.Body.JobID, out.Body.Status = in.ID, cancelled.Job.Status
	out.Body.Cancelled, out.Body.Refunded, out.Body.JobsRemainingToday = cancelled.Cancelled, cancelled.Refunded, remaining
	return out, nil
}

// value is the empty string for what was not given.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
