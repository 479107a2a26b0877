package burst

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
)

// Type is the type of an activity.
type Type string

// Types of activities.
const (
	Evaluation        Type = "evaluation"         // a run ended: with an answer, past its budget or failed
	JobSubmitted      Type = "job_submitted"      // a job was queued
	JobEnded          Type = "job_ended"          // a job reached an end
	Check             Type = "check"              // a stored run was checked on request
	CertificateIssued Type = "certificate_issued" // a proof job issued its certificate
)

// Types lists them all.
func Types() []Type {
	return []Type{Evaluation, JobSubmitted, JobEnded, Check, CertificateIssued}
}

// Status is the status of an activity's run or job: a run.Status or a job.Status.
type Status string

// Verdict is the verdict of a check or certificate: a run.Verdict or a certificate.Verdict.
type Verdict string

// idDigits is the number of hexadecimal digits in ids of bursts and agents.
const idDigits = 32

// LabelBytes is the most bytes of a label.
const LabelBytes = 200

// Agent is the actor of an activity. Two agents are the same when all four fields are.
type Agent struct {
	Account    string
	Credential string       // session:<sign-in id>, token:<id>, oauth:<client>
	Source     event.Source // web or mcp; a job's activities have the source of its submission
	Client     string       // name as the client introduced itself; empty: it did not
}

// ID names the agent: 32 hexadecimal digits.
func (a Agent) ID() string {
	return hash("agent", a.Account, a.Credential, string(a.Source), a.Client)
}

// hash is the beginning of the SHA-256 of texts, each after its length.
func hash(texts ...string) string {
	h := sha256.New()
	var length [8]byte
	for _, text := range texts {
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		h.Write(length[:])
		h.Write([]byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))[:idDigits]
}

// Activity is one event as bursts see it.
type Activity struct {
	Key      string // stream@revision of its event: the same in every copy of the log
	AtMS     int64  // time of the event's metadata, Unix milliseconds
	Position int64  // of the event in the log: orders activities of one millisecond

	AgentID string // Agent.ID
	Account string
	Source  event.Source
	Client  string // empty: the client did not introduce itself

	Type          Type
	RunID         int64   // 0: it has none
	JobID         string  // empty: it has none
	CertificateID string  // empty: it has none
	Label         string  // for people, at most LabelBytes
	Status        Status  // empty for checks and certificates
	DurationMS    int64   // what it took; of the end of a job, since it was submitted
	Verdict       Verdict // empty: none
	Failed        bool    // it counts as a failure
}

// HasDuration tells whether DurationMS means something: a submission takes no time.
func (a Activity) HasDuration() bool { return a.Type != JobSubmitted }

// Before orders activities by time and then as the log has them.
func (a Activity) Before(b Activity) bool { return a.place().before(b.place()) }

// RunKey is the key of the activity in which a run ended.
func RunKey(runID int64) string { return key(run.Stream(runID), 0) }

// JobKey is the key of the activity in which a job was submitted.
func JobKey(jobID string) string { return key(job.Stream(jobID), 0) }

func key(stream string, revision event.Revision) string {
	return stream + "@" + strconv.FormatInt(int64(revision), 10)
}

// EventNames are the names of the events that Read knows.
func EventNames() []string {
	names := []string{}
	for _, e := range []event.Event{
		run.Evaluated{}, run.TimedOut{}, run.Failed{}, run.Verified{}, job.WasQueued{}, job.HasSucceeded{}, job.HasFailed{},
		job.HasTimedOut{}, job.WasCancelled{}, job.WasLost{}, certificate.Issued{},
	} {
		names = append(names, e.EventName())
	}
	return names
}

// JobOf is the job that an event came of, empty where it came of none: Read needs the
// activity of that job's submission.
func JobOf(e event.Event) string {
	if subject, ends := run.SubjectOf(e); ends {
		return subject.JobID
	}
	if issued, is := e.(certificate.Issued); is {
		return issued.JobID
	}
	end, _ := job.EndOf(e)
	return end.JobID
}

// Read is the activity that an event stands for. submitted is the submission of the job that
// JobOf names, nil where there is none: everything of a job belongs to the agent who submitted
// it. Other events, and the ends of jobs that were never submitted, are no activity.
func Read(r event.Recorded, submitted *Activity) (a Activity, ok bool) {
	a = Activity{Key: key(r.Stream, r.Revision), AtMS: r.Metadata.At.UnixMilli(), Position: int64(r.Position.Commit)}
	account := ""
	switch e := r.Event.(type) {
	case run.Evaluated:
		account = a.evaluation(e.Subject, e.Status, e.ExecutionMS)
		if e.Check != nil {
			a.Verdict = Verdict(e.Check.Verdict)
		}
	case run.TimedOut:
		account = a.evaluation(e.Subject, run.Timeout, e.BudgetMS)
	case run.Failed:
		account = a.evaluation(e.Subject, run.Error, e.ExecutionMS)
	case run.Verified:
		account = e.Account
		a.Type, a.RunID, a.Label, a.DurationMS, a.Verdict = Check, e.RunID, cmp.Or(e.Method, string(e.Reason)), e.ElapsedMS, Verdict(e.Verdict)
	case job.WasQueued:
		account = e.Account
		a.Type, a.JobID, a.Label, a.Status = JobSubmitted, e.JobID, jobLabel(e.Submission), Status(job.Queued)
	case certificate.Issued:
		account = e.Account
		a.Type, a.JobID, a.CertificateID, a.RunID = CertificateIssued, e.JobID, e.CertificateID, e.AboutRunID
		a.Label, a.DurationMS, a.Verdict = certificateLabel(e), e.ElapsedMS, Verdict(e.Verdict)
	default:
		if submitted == nil || !a.end(r.Event, *submitted) {
			return Activity{}, false
		}
	}
	if submitted != nil {
		a.AgentID, a.Account, a.Source, a.Client = submitted.AgentID, submitted.Account, submitted.Source, submitted.Client
		return a, true
	}
	agent := Agent{Account: account, Credential: cmp.Or(r.Metadata.Requester, r.Metadata.Actor), Source: r.Metadata.Source, Client: r.Metadata.Agent}
	a.AgentID, a.Account, a.Source, a.Client = agent.ID(), account, agent.Source, agent.Client
	return a, true
}

// evaluation fills in a run, and returns its account.
func (a *Activity) evaluation(s run.Subject, status run.Status, durationMS int64) (account string) {
	a.Type, a.RunID, a.JobID, a.Label = Evaluation, s.RunID, s.JobID, textLabel(s.Expression)
	a.Status, a.DurationMS, a.Failed = Status(status), durationMS, status == run.Timeout || status == run.Error
	return s.Account
}

// end fills in the end of a job; false for an event that ends none. The failure of a job that
// wrote a run counts with the run.
func (a *Activity) end(e event.Event, submitted Activity) bool {
	end, ends := job.EndOf(e)
	if !ends {
		return false
	}
	a.Type, a.JobID, a.Label, a.Status = JobEnded, submitted.JobID, submitted.Label, Status(end.Status)
	a.Failed = end.PublishTo == "" && (end.Status == job.Failed || end.Status == job.TimedOut || end.Status == job.Lost)
	ended := a.AtMS
	if t, err := event.ParseTimestamp(end.FinishedAt); err == nil {
		ended = t.UnixMilli()
	}
	a.DurationMS = max(0, ended-submitted.AtMS)
	return true
}

// jobLabel is a job's kind; of a job that writes a run also the expression, which is its payload.
func jobLabel(s job.Submission) string {
	if s.RunID == 0 || s.Payload.Blob != nil {
		return string(s.Kind)
	}
	return beginning(string(s.Kind) + ": " + s.Payload.Inline)
}

// certificateLabel is the names of the declarations.
func certificateLabel(c certificate.Issued) string {
	if c.FindingsBlob != nil || len(c.Declarations) == 0 {
		return "certificate"
	}
	var names strings.Builder
	for i, d := range c.Declarations {
		if i > 0 {
			names.WriteString(", ")
		}
		if names.WriteString(d.Name); names.Len() > LabelBytes {
			break
		}
	}
	return beginning(names.String())
}

// textLabel is the beginning of a text. Of one in the blob store it says the length: bursts are
// derived from the log alone.
func textLabel(t event.Text) string {
	if t.Blob != nil {
		return fmt.Sprintf("an expression of %d bytes", t.Blob.Bytes)
	}
	return beginning(t.Inline)
}

// beginning is the longest beginning of a text of at most LabelBytes that ends with a whole character.
func beginning(text string) string {
	if len(text) <= LabelBytes {
		return text
	}
	n := LabelBytes
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
