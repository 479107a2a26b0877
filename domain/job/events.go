package job

import (
	"encoding/json"

	"reckon/domain/event"
)

// Stream names a job's stream.
func Stream(jobID string) string { return "job-" + jobID }

// Statuses of a job (interface §3.1).
const (
	Queued    = "queued"
	Running   = "running"
	Succeeded = "succeeded"
	Failed    = "failed"
	TimedOut  = "timeout"
	Cancelled = "cancelled"
	Lost      = "lost"
)

// WasQueued puts a job in the queue. It names the slot it lives on.
type WasQueued struct {
	Submission
	SlotID string `json:"slot_id"`
	Day    string `json:"day"` // UTC day whose allowance the slot is of, YYYY-MM-DD
}

// WasClaimed gives the job to a runner. The nonce names this one attempt.
type WasClaimed struct {
	JobID     string `json:"job_id"`
	Runner    string `json:"runner"`
	Nonce     string `json:"nonce"`
	Attempt   int    `json:"attempt"` // from 1
	StartedAt string `json:"started_at"`
}

// WasReleased puts a claimed job back into the queue.
type WasReleased struct {
	JobID  string `json:"job_id"`
	Nonce  string `json:"nonce"`
	Reason string `json:"reason"` // drained, abandoned
}

// Outcome is what a job ended with. What it publishes elsewhere — its run and
// receipt, or its certificate — is kept here first: this event decides.
type Outcome struct {
	JobID      string           `json:"job_id"`
	Nonce      string           `json:"nonce,omitempty"`
	Output     event.Text       `json:"output"`
	Error      string           `json:"error,omitempty"`
	Result     event.Text       `json:"result"`            // JSON of the structured result; empty without one
	Publish    []event.Embedded `json:"publish,omitempty"` // appended to PublishTo once this event stands
	PublishTo  string           `json:"publish_to,omitempty"`
	FinishedAt string           `json:"finished_at"`
}

// The ends of a job.
type (
	// HasSucceeded ends a job with an answer.
	HasSucceeded struct{ Outcome }
	// HasFailed ends a job with an error of what it computed.
	HasFailed struct{ Outcome }
	// HasTimedOut ends a job killed at the end of its budget.
	HasTimedOut struct{ Outcome }
)

// WasCancelled ends a job on request. Early means that no runner had ever
// claimed it: its slot is refunded.
type WasCancelled struct {
	JobID      string `json:"job_id"`
	Early      bool   `json:"early"`
	Nonce      string `json:"nonce,omitempty"` // the attempt that must be killed
	SlotID     string `json:"slot_id"`
	Day        string `json:"day"`
	UploadID   string `json:"upload_id,omitempty"`
	FinishedAt string `json:"finished_at"`
}

// WasLost ends a job whose runner stopped reporting when no attempt was left.
type WasLost struct {
	JobID      string `json:"job_id"`
	Nonce      string `json:"nonce"`
	Attempts   int    `json:"attempts"`
	FinishedAt string `json:"finished_at"`
}

func (WasQueued) EventName() string    { return "job.queued" }
func (WasClaimed) EventName() string   { return "job.claimed" }
func (WasReleased) EventName() string  { return "job.released" }
func (HasSucceeded) EventName() string { return "job.succeeded" }
func (HasFailed) EventName() string    { return "job.failed" }
func (HasTimedOut) EventName() string  { return "job.timed_out" }
func (WasCancelled) EventName() string { return "job.cancelled" }
func (WasLost) EventName() string      { return "job.lost" }

// Sample is the submission of the golden files.
func Sample() Submission {
	return Submission{JobID: "7c9e6679-7425-50de-944b-e07fc1f90ae7", Account: "0198a1b2-0000-7000-8000-00000000000a", Kind: Evaluate,
		Payload: event.Inline("Integrate[x^2, x]"), RunID: 1002, IdempotencyKey: "monday", TimeoutMS: 60_000, Plan: "free", Concurrent: 1, Source: "web", SubmittedAt: "2026-08-01T12:00:00.000Z"}
}

// Events declares this package's event types.
func Events() []event.Type {
	s := Sample()
	const nonce, slot, at = "0198a1b2-0000-7000-8000-00000000abcd", "0198a1b2-0000-7000-8000-000000005107", "2026-08-01T12:00:00.000Z"
	outcome := Outcome{JobID: s.JobID, Nonce: nonce, Output: event.Inline("x^3/3"), Result: event.Inline(`{"result":"x^3/3"}`),
		Publish: []event.Embedded{{Name: "run.evaluated", Version: 1, Data: json.RawMessage(`{}`)}}, PublishTo: "run-1002", FinishedAt: at}
	failed := Outcome{JobID: s.JobID, Nonce: nonce, Error: "the engine failed: crashed", FinishedAt: at}
	return []event.Type{
		event.Of(WasQueued{Submission: s, SlotID: slot, Day: "2026-08-01"}),
		event.Of(WasClaimed{JobID: s.JobID, Runner: "0198a1b2-0000-7000-8000-0000000000ff", Nonce: nonce, Attempt: 1, StartedAt: at}),
		event.Of(WasReleased{JobID: s.JobID, Nonce: nonce, Reason: "abandoned"}),
		event.Of(HasSucceeded{outcome}),
		event.Of(HasFailed{failed}),
		event.Of(HasTimedOut{Outcome{JobID: s.JobID, Nonce: nonce, Error: "the compute budget is exhausted", FinishedAt: at}}),
		event.Of(WasCancelled{JobID: s.JobID, Early: true, SlotID: slot, Day: "2026-08-01", FinishedAt: at}),
		event.Of(WasLost{JobID: s.JobID, Nonce: nonce, Attempts: 3, FinishedAt: at}),
	}
}
