package view

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/internal/httpkit"
)

// Job is interface §2.7. What a job does not have yet is left out.
type Job struct {
	JobID          string              `json:"job_id" format:"uuid"`
	Kind           string              `json:"kind" enum:"evaluate,qsim,proof"`
	Status         string              `json:"status" enum:"queued,running,succeeded,failed,timeout,cancelled,lost" doc:"timeout: it ran past its budget. lost: its runner stopped reporting and no attempt was left"`
	Position       int                 `json:"position,omitempty" minimum:"1" doc:"Place in the queue while queued: 1 is next"`
	CreatedAt      string              `json:"created_at" format:"date-time"`
	StartedAt      *string             `json:"started_at" format:"date-time" doc:"Of the present or last attempt; null while queued"`
	FinishedAt     *string             `json:"finished_at" format:"date-time"`
	TimeoutMS      int64               `json:"timeout_ms" doc:"Time budget in milliseconds"`
	Attempt        int                 `json:"attempt" doc:"How often a runner has taken it up"`
	SessionID      string              `json:"session_id,omitempty" doc:"The session it runs in"`
	RunID          int64               `json:"run_id,omitempty" doc:"The execution-log row the job wrote, once it has"`
	Output         *string             `json:"output,omitempty" doc:"Rendered result, once the job has one"`
	Error          *string             `json:"error" doc:"Why the job failed; null when it did not"`
	Result         *httpkit.JSONObject `json:"result,omitempty" doc:"Structured result, once the job has one. evaluate: the fields of an evaluate response. qsim: counts, shots, seed, probabilities, statevector, depth, gate_counts, bit_order, engine. proof: the certificate"`
	CertificateID  string              `json:"certificate_id,omitempty" doc:"Proof jobs: the certificate, once issued"`
	CertificateURL string              `json:"certificate_url,omitempty"`
}

// Jobs makes the views of jobs from their streams.
type Jobs struct {
	// Stream reads a whole stream; one that was never written is empty.
	Stream func(ctx context.Context, stream string) ([]event.Recorded, error)
	Blobs  event.BlobReader
	// Place is a queued job's place in the queue; it is left out when it cannot be told.
	Place func(ctx context.Context, jobID string) (place int, known bool)
	// NotifyJobEnded returns a channel that receives when a job has ended and when what it
	// publishes is in the log; stop ends that.
	NotifyJobEnded func(jobID string) (notified <-chan struct{}, stop func())
	Closing        <-chan struct{} // closed when this process stops: nobody is to wait any more
}

// ValidID tells whether a job may have this id. Ids have one spelling.
func ValidID(id string) bool {
	parsed, err := uuid.Parse(id)
	return err == nil && parsed.String() == id
}

// Complete tells whether a job has ended and what it published can be read:
// nothing about it will change.
func (v Jobs) Complete(ctx context.Context, s job.State) (bool, error) {
	if !s.Terminal() {
		return false, nil
	}
	published, err := v.published(ctx, s)
	return published || s.Outcome.PublishTo == "", err
}

// published tells whether the job's run or certificate is in the log: it follows
// the event that ended the job.
func (v Jobs) published(ctx context.Context, s job.State) (bool, error) {
	if s.Outcome.PublishTo == "" {
		return false, nil
	}
	events, err := v.Stream(ctx, s.Outcome.PublishTo)
	return len(events) > 0, err
}

// Of is the view of a job that exists.
func (v Jobs) Of(ctx context.Context, s job.State) (Job, error) {
	q := s.Queued
	j := Job{
		JobID: q.JobID, Kind: q.Kind, Status: s.Status, CreatedAt: q.SubmittedAt, FinishedAt: Optional(s.FinishedAt),
		TimeoutMS: q.TimeoutMS, Attempt: s.Attempt, SessionID: q.SessionID, Error: Failure(s.Status, s.Outcome.Error),
	}
	if s.Status == job.Queued {
		if place, known := v.Place(ctx, q.JobID); known {
			j.Position = place
		}
		return j, nil
	}
	j.StartedAt = Optional(s.StartedAt)
	if !s.Terminal() {
		return j, nil
	}
	published, err := v.published(ctx, s)
	if err != nil {
		return Job{}, err
	}
	if published {
		j.Publish(q.RunID, q.CertificateID)
	}
	output, err := s.Outcome.Output.Load(ctx, v.Blobs)
	if err != nil {
		return Job{}, err
	}
	if output != "" || s.Status == job.Succeeded {
		j.Output = &output
	}
	result, err := s.Outcome.Result.Load(ctx, v.Blobs)
	if err != nil {
		return Job{}, err
	}
	if result != "" {
		j.Result = &httpkit.JSONObject{RawMessage: json.RawMessage(result)}
	}
	return j, nil
}

// Publish names the run or the certificate a job has written, once it can be read;
// 0 and the empty string are none.
func (j *Job) Publish(runID int64, certificateID string) {
	j.RunID, j.CertificateID = runID, certificateID
	if certificateID != "" {
		j.CertificateURL = certificate.Path(certificateID)
	}
}

// Failure is the error of a job: nil when it did not fail.
func Failure(status, text string) *string {
	if status == job.Lost {
		text = "the runner of the job stopped reporting, and no attempt was left"
	}
	return Optional(text)
}
