package job

import "reckon/domain/event"

// Submission is everything a runner needs to know of a job. It travels in the
// event that spends the slot, so that no crash can lose it.
type Submission struct {
	JobID          string     `json:"job_id"` // UUID
	Account        string     `json:"account"`
	Kind           Kind       `json:"kind"`
	Payload        event.Text `json:"payload"`                  // what to compute, in the form of its kind
	SessionID      string     `json:"session_id,omitempty"`     // the session it runs in
	UploadID       string     `json:"upload_id,omitempty"`      // the upload that this job alone may use
	AboutRunID     int64      `json:"about_run_id,omitempty"`   // the run that what it publishes is about
	RunID          int64      `json:"run_id,omitempty"`         // of a kind that publishes a run: the run it will write
	CertificateID  string     `json:"certificate_id,omitempty"` // of a kind that publishes a certificate: the one it will issue
	IdempotencyKey string     `json:"idempotency_key,omitempty"`
	TimeoutMS      int64      `json:"timeout_ms"`
	Plan           string     `json:"plan"`
	Concurrent     int        `json:"concurrent"` // how many jobs of the account may run at once, by its plan when it submitted
	Source         string     `json:"source"`     // web, mcp: where it came from
	Agent          string     `json:"agent,omitempty"`
	SubmittedAt    string     `json:"submitted_at"` // RFC 3339, UTC, milliseconds
}

// Rerunnable tells whether an abandoned job may be given to another runner. A
// job in a session is never run twice: it may have changed the session.
func (s Submission) Rerunnable() bool { return s.SessionID == "" }
