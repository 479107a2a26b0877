package view

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"reckon/domain/burst"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/internal/httpkit"
)

// Job is a job as it is answered (interface §2.7). Fields that the job does not have yet are left out.
type Job struct {
	JobID         string              `json:"job_id" format:"uuid" doc:"Id of the job"`
	Kind          job.Kind            `json:"kind" enum:"@job_kinds" doc:"What the job does"`
	Status        job.Status          `json:"status" enum:"@job_statuses" doc:"How the job stands. timeout: it ran past its budget. lost: it is not tried again, and error says why"`
	Position      int                 `json:"position,omitempty" minimum:"1" doc:"Place in the queue while queued: 1 is next. Left out for the moments in which the queue does not know the job yet"`
	CreatedAt     string              `json:"created_at" format:"date-time" doc:"When the job was submitted: RFC 3339, UTC, milliseconds"`
	StartedAt     *string             `json:"started_at" format:"date-time" doc:"When the present or last attempt began: RFC 3339, UTC, milliseconds; null while queued"`
	FinishedAt    *string             `json:"finished_at" format:"date-time" doc:"When the job ended: RFC 3339, UTC, milliseconds; null before"`
	TimeoutMS     int64               `json:"timeout_ms" doc:"Time budget in milliseconds"`
	Attempt       int                 `json:"attempt" minimum:"0" doc:"Number of attempts so far: how often a runner has taken the job; 0 before the first"`
	SessionID     string              `json:"session_id,omitempty" doc:"The session it runs in; left out when it runs in none"`
	RunID         int64               `json:"run_id,omitempty" minimum:"1" maximum:"9007199254740991" doc:"Id of the run the job wrote; left out until it has"`
	Output        *string             `json:"output,omitempty" doc:"Rendered result; left out until the job has one"`
	Error         *string             `json:"error" doc:"Why the job failed or was lost, and whether its slot was returned; null when it did not and was not"`
	Note          string              `json:"note,omitempty" doc:"Why a queued job waits although a runner had it: what it could not be tried for, and when it is tried again. Left out otherwise"`
	Result        *httpkit.JSONObject `json:"result,omitempty" doc:"Structured result, once the job has one. @job_results"`
	CertificateID string              `json:"certificate_id,omitempty" format:"uuid" doc:"Proof jobs: the certificate, once issued"`
	// Preview and Verdict are there in lists.
	Preview string        `json:"preview,omitempty" doc:"In lists: the beginning of what was submitted in one line, at most 200 bytes; of an object its members, with lists of objects counted"`
	Verdict burst.Verdict `json:"verdict,omitempty" enum:"verified,refuted,inconclusive,rejected,unsupported" doc:"In lists: the verdict that the job's run or certificate was published with; left out without one"`
	// Submitted and SubmittedRemoved are there where they were asked for.
	Submitted        *httpkit.JSONObject `json:"submitted,omitempty" doc:"Where the request asks for it: the fields of the submission's body that its kind takes. Of a proof's export it has sha256, bytes, exporter, lean and format_version, not the text"`
	SubmittedRemoved bool                `json:"submitted_removed,omitempty" doc:"True: it was asked for and is long, and the service does not hold its text any more. Left out otherwise"`
	CertificateURL   string              `json:"certificate_url,omitempty" format:"uri-reference" doc:"Path of that certificate; left out without one"`
}

// Jobs makes the views of jobs from their streams.
type Jobs struct {
	// Stream reads a whole stream; one that was never written is empty.
	Stream func(ctx context.Context, stream string) ([]event.Recorded, error)
	// Answers reads what they answer.
	Answers Answers
	// PlaceInQueue returns the place of an account's queued job in the queue, from 1; 0: it is not known.
	PlaceInQueue func(ctx context.Context, account, jobID string) int
	// NotifyJobEnded returns a channel that receives when a job has ended, and again when the
	// run or certificate that it publishes is in the log; stop ends the notifications.
	NotifyJobEnded func(jobID string) (notified <-chan struct{}, stop func())
	Closing        <-chan struct{} // closed when this process stops: WaitUntilComplete returns
}

// ValidID reports whether id is a UUID in lower case with hyphens, as the ids of jobs are.
func ValidID(id string) bool {
	parsed, err := uuid.Parse(id)
	return err == nil && parsed.String() == id
}

// Complete reports whether a job has ended and the run or certificate that it publishes
// is in the log: its view does not change any more.
func (v Jobs) Complete(ctx context.Context, s job.State) (bool, error) {
	if !s.Terminal() {
		return false, nil
	}
	published, err := v.published(ctx, s)
	return published || s.Outcome.PublishTo == "", err
}

// published reports whether the job's run or certificate is in the log. It is appended
// after the event that ended the job.
func (v Jobs) published(ctx context.Context, s job.State) (bool, error) {
	if s.Outcome.PublishTo == "" {
		return false, nil
	}
	events, err := v.Stream(ctx, s.Outcome.PublishTo)
	return len(events) > 0, err
}

// View is the view of a job that exists.
func (v Jobs) View(ctx context.Context, s job.State) (Job, error) {
	q := s.Queued
	j := Job{
		JobID: q.JobID, Kind: q.Kind, Status: s.Status, CreatedAt: q.SubmittedAt, FinishedAt: NullIfEmpty(s.FinishedAt),
		TimeoutMS: q.TimeoutMS, Attempt: s.Attempt, SessionID: q.SessionID, Error: FailureText(s.Status, cmp.Or(s.Outcome.Error, s.Why.Words(s.Lacked))),
	}
	if s.Status == job.Queued {
		j.Note = s.Words()
		j.Position = v.PlaceInQueue(ctx, q.Account, q.JobID)
		return j, nil
	}
	j.StartedAt = NullIfEmpty(s.StartedAt)
	if !s.Terminal() {
		return j, nil
	}
	published, err := v.published(ctx, s)
	if err != nil {
		return Job{}, err
	}
	if published {
		j.SetPublished(q.RunID, q.CertificateID)
	}
	output, result, err := v.Answers.Of(ctx, s.Outcome)
	if err != nil {
		return Job{}, err
	}
	if output != "" || s.Status == job.Succeeded {
		j.Output = &output
	}
	if result != "" {
		j.Result = &httpkit.JSONObject{RawMessage: json.RawMessage(result)}
	}
	return j, nil
}

// SetPublished names the run or the certificate a job has written, once it can be read;
// 0 and the empty string are none.
func (j *Job) SetPublished(runID int64, certificateID string) {
	j.RunID, j.CertificateID = runID, certificateID
	if certificateID != "" {
		j.CertificateURL = certificate.Path(certificateID)
	}
}

// FailureText is the error of a job: nil when it did not fail.
func FailureText(status job.Status, text string) *string {
	if status == job.Lost && text == "" {
		text = "the runner of the job stopped reporting, and no attempt was left"
	}
	return NullIfEmpty(text)
}
