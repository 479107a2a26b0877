package job

import "reckon/domain/event"

// Submission is everything a runner needs to know of a job. It is part of slots.spent,
// so that a process that finds the slot spent and no job can queue the job.
type Submission struct {
	JobID          string       `json:"job_id" format:"uuid" doc:"The job"`
	Account        string       `json:"account" format:"uuid" doc:"The account"`
	Kind           Kind         `json:"kind" doc:"Kind of job: a name of the registry (docs/jobs.md)"`
	Payload        event.Text   `json:"payload" doc:"What to compute, in the form of its kind"`
	SessionID      string       `json:"session_id,omitempty" doc:"The session it runs in; absent: in none"`
	UploadID       string       `json:"upload_id,omitempty" format:"uuid" doc:"The upload that this job alone may use; absent: none"`
	AboutRunID     int64        `json:"about_run_id,omitempty" unit:"run id" doc:"The run that what it publishes is about; absent: none was named"`
	RunID          int64        `json:"run_id,omitempty" unit:"run id" doc:"Of a kind that publishes a run: the run it will write"`
	CertificateID  string       `json:"certificate_id,omitempty" format:"uuid" doc:"Of a kind that publishes a certificate: the one it will issue"`
	IdempotencyKey string       `json:"idempotency_key,omitempty" doc:"The client's key, 1 to 255 bytes; absent: none"`
	TimeoutMS      int64        `json:"timeout_ms" doc:"Time budget"`
	Plan           string       `json:"plan" doc:"Name of the plan in force when it was submitted"`
	Concurrent     int          `json:"concurrent" unit:"jobs" doc:"How many jobs of the account may run at once, by that plan"`
	Source         event.Source `json:"source" enum:"web,mcp" doc:"Where it came from"`
	Agent          string       `json:"agent,omitempty" doc:"The client as it introduced itself"`
	SubmittedAt    string       `json:"submitted_at" format:"date-time" doc:"When it was submitted"`
}

// Rerunnable tells whether an abandoned job may be given to another runner. A
// job in a session is never run twice: it may have changed the session.
func (s Submission) Rerunnable() bool { return s.SessionID == "" }
