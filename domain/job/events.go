package job

import (
	"encoding/json"
	"unique"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream names a job's stream.
func Stream(jobID string) string { return "job-" + jobID }

// Status is the status of a job (interface §3.1).
type Status string

// Statuses of a job. The last five are ends.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	TimedOut  Status = "timeout"
	Cancelled Status = "cancelled"
	Lost      Status = "lost"
)

// Statuses lists them all.
func Statuses() []Status {
	return []Status{Queued, Running, Succeeded, Failed, TimedOut, Cancelled, Lost}
}

// ReleaseReason is why a claimed job went back into the queue.
type ReleaseReason string

// Reasons of a release.
const (
	Drained     ReleaseReason = "drained"     // its runner was told to stop
	Untried     ReleaseReason = "untried"     // it could not be tried there: what the runner needs was away
	Interrupted ReleaseReason = "interrupted" // its runner lives and lost it: the work did not end the runner
	Abandoned   ReleaseReason = "abandoned"   // its work ended the runner, or the attempt, for all that is known: the attempt is spent
)

// Loss is why a job was lost.
type Loss string

// Reasons of a loss. All but SpentAttempts and Unrecorded are the service's failure: the slot is given back.
const (
	SpentAttempts Loss = "spent_attempts" // MaxAbandoned attempts are spent, and its work was seen to end the last
	RunnersEnded  Loss = "runners_ended"  // MaxAbandoned attempts are spent, and nothing shows that the work ended the last one's runner
	InSession     Loss = "in_session"     // its attempt ended without an outcome, and a job in a session is not run twice
	NeverTried    Loss = "never_tried"    // it could not be tried for GiveUpAfter
	Unrecorded    Loss = "unrecorded"     // of events of version 1
)

// WasQueued puts a job in the queue. SlotID is the slot that was spent for the job.
type WasQueued struct {
	Submission
	SlotID string `json:"slot_id" format:"uuid" doc:"The slot that was spent for it"`
	Day    string `json:"day" format:"date" doc:"UTC day whose allowance the slot is of"`
}

// WasClaimed gives the job to a runner. The nonce names this one attempt.
type WasClaimed struct {
	JobID     string `json:"job_id" format:"uuid" doc:"The job"`
	Runner    string `json:"runner" format:"uuid" doc:"Id of the runner"`
	Nonce     string `json:"nonce" format:"uuid" doc:"Id of this attempt"`
	Attempt   int    `json:"attempt" unit:"attempts" doc:"Number of the attempt, from 1"`
	StartedAt string `json:"started_at" format:"date-time" doc:"When the attempt began"`
}

// WasReleased puts a claimed job back into the queue.
type WasReleased struct {
	JobID  string        `json:"job_id" format:"uuid" doc:"The job"`
	Nonce  string        `json:"nonce" format:"uuid" doc:"The attempt that ends"`
	Reason ReleaseReason `json:"reason" enum:"drained,untried,interrupted,abandoned" doc:"drained: its runner ended in good order. untried: it could not be tried there, and the attempt does not count. interrupted: its runner was cut off or gave it up, and lives. abandoned: its work ended the runner or the attempt, for all that is known: the attempt is spent"`
	Lacked string        `json:"lacked,omitempty" doc:"Of untried: what was wrong, in words for the job's owner"`
	// NotBefore is set with Untried.
	NotBefore string `json:"not_before,omitempty" format:"date-time" doc:"Of untried: when it is to be tried again"`
}

// WasExcused says that an attempt which counted as abandoned is not spent: its runner lives.
type WasExcused struct {
	JobID string `json:"job_id" format:"uuid" doc:"The job"`
	Nonce string `json:"nonce" format:"uuid" doc:"The attempt"`
}

// Outcome is the outcome of a job. The events of its run and receipt, or of its
// certificate, are part of it and are appended to their own stream afterwards, so that
// the append of the terminal event alone decides what is published. Such a job has no other answer.
type Outcome struct {
	JobID      string           `json:"job_id" format:"uuid" doc:"The job"`
	Nonce      string           `json:"nonce,omitempty" format:"uuid" doc:"The attempt that ended"`
	Output     event.Text       `json:"output" doc:"Rendered result of a job that publishes nothing; empty without one. That of another follows from what is published"`
	Error      string           `json:"error,omitempty" doc:"Why it failed; absent when it did not"`
	Result     event.Text       `json:"result" doc:"JSON of the structured result of a job that publishes nothing; empty without one"`
	Publish    []event.Embedded `json:"publish,omitempty" doc:"Events that are appended to the stream publish_to once this event stands: its run and receipt, or its certificate"`
	PublishTo  string           `json:"publish_to,omitempty" doc:"Name of the stream; absent: nothing is published"`
	FinishedAt string           `json:"finished_at" format:"date-time" doc:"When it ended"`
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

// End is how a job ended. The outcome of one that was cancelled or lost has the job and the time only.
type End struct {
	Status Status
	Outcome
}

// EndOf is what an event that ends a job says; false for any other event.
func EndOf(e event.Event) (end End, ends bool) {
	switch e := e.(type) {
	case HasSucceeded:
		return End{Succeeded, e.Outcome}, true
	case HasFailed:
		return End{Failed, e.Outcome}, true
	case HasTimedOut:
		return End{TimedOut, e.Outcome}, true
	case WasCancelled:
		return End{Cancelled, Outcome{JobID: e.JobID, FinishedAt: e.FinishedAt}}, true
	case WasLost:
		return End{Lost, Outcome{JobID: e.JobID, FinishedAt: e.FinishedAt}}, true
	}
	return End{}, false
}

// WasCancelled ends a job on request. Early means that no runner had ever
// tried it: its slot is refunded.
type WasCancelled struct {
	JobID      string `json:"job_id" format:"uuid" doc:"The job"`
	Early      bool   `json:"early" doc:"No runner had ever tried it, so that its slot is refunded"`
	Nonce      string `json:"nonce,omitempty" format:"uuid" doc:"The attempt that must be killed; absent: none runs"`
	SlotID     string `json:"slot_id" format:"uuid" doc:"The slot that was spent for it"`
	Day        string `json:"day" format:"date" doc:"UTC day whose allowance the slot is of"`
	UploadID   string `json:"upload_id,omitempty" format:"uuid" doc:"The upload it held; absent: none"`
	FinishedAt string `json:"finished_at" format:"date-time" doc:"When it was cancelled"`
}

// WasLost ends a job that is not tried again.
type WasLost struct {
	JobID      string `json:"job_id" format:"uuid" doc:"The job"`
	Nonce      string `json:"nonce" format:"uuid" doc:"The last attempt"`
	Attempts   int    `json:"attempts" unit:"attempts" doc:"How many there were"`
	Why        Loss   `json:"why" enum:"spent_attempts,runners_ended,in_session,never_tried,unrecorded" doc:"spent_attempts: all the attempts that a job has are spent, and its work was seen to end the last (in version 2: or its runner ended). runners_ended: they are spent, and the last one's runner ended, which need not be the work's doing. in_session: its attempt ended without an outcome, and a job in a session is not run twice. never_tried: it could not be tried for a day. unrecorded: the first version of this event did not say"`
	Lacked     string `json:"lacked,omitempty" doc:"Of never_tried: what was wrong, in words for the job's owner"`
	Refunded   bool   `json:"refunded" doc:"The service failed and not the work, so that its slot is refunded"`
	FinishedAt string `json:"finished_at" format:"date-time" doc:"When it was given up"`
}

// withoutAnswer reads version 1 of the events that end a job with an outcome: the answer stood beside what is published, from which it follows.
func withoutAnswer(v1 json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(v1, &fields); err != nil {
		return nil, err
	}
	if _, publishes := fields["publish"]; publishes {
		delete(fields, "output")
		delete(fields, "result")
	}
	return event.Marshal(fields)
}

// withoutWhy reads version 1 of job.lost: no slot was refunded.
func withoutWhy(v1 json.RawMessage) (json.RawMessage, error) {
	var fields map[string]any
	if err := json.Unmarshal(v1, &fields); err != nil {
		return nil, err
	}
	fields["why"], fields["refunded"] = Unrecorded, false
	return event.Marshal(fields)
}

// withoutRunnersEnded reads version 2 of job.lost: spent attempts were the work's, whoever ended the last.
func withoutRunnersEnded(v2 json.RawMessage) (json.RawMessage, error) { return v2, nil }

// withoutUntried reads version 1 of job.released: its reasons were drained and abandoned.
func withoutUntried(v1 json.RawMessage) (json.RawMessage, error) { return v1, nil }

func (WasQueued) EventName() string    { return "job.queued" }
func (WasClaimed) EventName() string   { return "job.claimed" }
func (WasReleased) EventName() string  { return "job.released" }
func (WasExcused) EventName() string   { return "job.attempt_excused" }
func (HasSucceeded) EventName() string { return "job.succeeded" }
func (HasFailed) EventName() string    { return "job.failed" }
func (HasTimedOut) EventName() string  { return "job.timed_out" }
func (WasCancelled) EventName() string { return "job.cancelled" }
func (WasLost) EventName() string      { return "job.lost" }

// Sample is the submission of the golden files.
func Sample() Submission {
	return Submission{JobID: "7c9e6679-7425-50de-944b-e07fc1f90ae7", Account: "0198a1b2-0000-7000-8000-00000000000a", Kind: "evaluate",
		Payload: event.Inline("Integrate[x^2, x]"), RunID: 1002, IdempotencyKey: "monday", TimeoutMS: 60_000, Plan: "free", Concurrent: 1, Source: event.SourceWeb, SubmittedAt: "2026-08-01T12:00:00.000Z"}
}

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of a job's stream with its event types.
func Model() decider.Model[Command, State] {
	s := Sample()
	const nonce, slot, at = "0198a1b2-0000-7000-8000-00000000abcd", "0198a1b2-0000-7000-8000-000000005107", "2026-08-01T12:00:00.000Z"
	outcome := Outcome{JobID: s.JobID, Nonce: nonce,
		Publish: []event.Embedded{{Name: "run.evaluated", Version: 1, Data: json.RawMessage(`{}`)}}, PublishTo: "run-1002", FinishedAt: at}
	failed := Outcome{JobID: s.JobID, Nonce: nonce, Error: "the engine failed: crashed", FinishedAt: at}
	const noAnswer, noTry = "says in words why there is no answer", "says in words why it could not be tried"
	of := func(jobID string) event.Address { return event.Address{Stream: Stream(jobID)} }
	return decider.Model[Command, State]{Decider: Decider, Live: State.live, Slim: withoutTexts, End: endOf, Ended: stateOf, Types: []decider.Type[Command, State]{
		decider.On(WasQueued{Submission: s, SlotID: slot, Day: "2026-08-01"},
			func(e WasQueued) event.Address { return event.Address{Stream: Stream(e.JobID), Account: e.Account} },
			func(e WasQueued, _ State, _ event.Metadata) Command { return Queue{Queued: e} }),
		decider.On(WasClaimed{JobID: s.JobID, Runner: "0198a1b2-0000-7000-8000-0000000000ff", Nonce: nonce, Attempt: 1, StartedAt: at},
			func(e WasClaimed) event.Address { return of(e.JobID) },
			func(e WasClaimed, _ State, _ event.Metadata) Command {
				return Claim{Runner: e.Runner, Nonce: e.Nonce, Now: e.StartedAt}
			},
			event.Given("started_at", func(e WasClaimed) string { return e.StartedAt }), event.Free{"runner": event.OfProcess}),
		decider.On(WasReleased{JobID: s.JobID, Nonce: nonce, Reason: Untried, Lacked: "the store of large bytes could not be reached", NotBefore: "2026-08-01T12:00:01.000Z"},
			func(e WasReleased) event.Address { return of(e.JobID) },
			releasing, event.Upcast(withoutUntried),
			event.Free{
				"lacked": noTry, "not_before": "when it was to be tried again, which no claim is bound to",
				"reason": "says why an attempt ended, of which others followed",
			}),
		decider.On(WasExcused{JobID: s.JobID, Nonce: nonce},
			func(e WasExcused) event.Address { return of(e.JobID) },
			func(e WasExcused, _ State, _ event.Metadata) Command { return Excuse{Nonce: e.Nonce} }),
		decider.On(HasSucceeded{outcome},
			func(e HasSucceeded) event.Address { return of(e.JobID) },
			func(e HasSucceeded, _ State, _ event.Metadata) Command {
				return Finish{Status: Succeeded, Outcome: e.Outcome}
			},
			event.Upcast(withoutAnswer),
			event.Given("finished_at", func(e HasSucceeded) string { return e.FinishedAt })),
		decider.On(HasFailed{failed},
			func(e HasFailed) event.Address { return of(e.JobID) },
			func(e HasFailed, _ State, _ event.Metadata) Command {
				return Finish{Status: Failed, Outcome: e.Outcome}
			},
			event.Upcast(withoutAnswer),
			event.Given("finished_at", func(e HasFailed) string { return e.FinishedAt }), event.Free{"error": noAnswer}),
		decider.On(HasTimedOut{Outcome{JobID: s.JobID, Nonce: nonce, Error: "the compute budget is exhausted", FinishedAt: at}},
			func(e HasTimedOut) event.Address { return of(e.JobID) },
			func(e HasTimedOut, _ State, _ event.Metadata) Command {
				return Finish{Status: TimedOut, Outcome: e.Outcome}
			},
			event.Upcast(withoutAnswer),
			event.Given("finished_at", func(e HasTimedOut) string { return e.FinishedAt }), event.Free{"error": noAnswer}),
		decider.On(WasCancelled{JobID: s.JobID, Early: true, SlotID: slot, Day: "2026-08-01", FinishedAt: at},
			func(e WasCancelled) event.Address { return of(e.JobID) },
			func(e WasCancelled, s State, _ event.Metadata) Command {
				return Cancel{Account: s.Queued.Account, Now: e.FinishedAt}
			},
			event.Given("finished_at", func(e WasCancelled) string { return e.FinishedAt })),
		decider.On(WasLost{JobID: s.JobID, Nonce: nonce, Attempts: 9, Why: NeverTried, Lacked: "the store of large bytes could not be reached", Refunded: true, FinishedAt: at},
			func(e WasLost) event.Address { return of(e.JobID) },
			losing, event.Upcast(withoutWhy), event.Upcast(withoutRunnersEnded),
			event.Given("finished_at", func(e WasLost) string { return e.FinishedAt }), event.Free{"lacked": noTry}),
	}}
}

// releasing is the command that puts a job back into the queue so.
func releasing(e WasReleased, s State, _ event.Metadata) Command {
	switch e.Reason {
	case Untried:
		again, _ := event.ParseTimestamp(e.NotBefore) // a time that none is leads to another event
		return Return{Nonce: e.Nonce, Lacked: e.Lacked, Now: again.Add(-PauseAfter(s.Untried + 1))}
	case Interrupted:
		return Abandon{Nonce: e.Nonce}
	case Abandoned:
		return Abandon{Nonce: e.Nonce, Spent: true}
	case Drained:
	}
	return Release{Nonce: e.Nonce}
}

// losing is the command that loses a job so.
func losing(e WasLost, _ State, m event.Metadata) Command {
	spent := Abandon{Nonce: e.Nonce, Now: e.FinishedAt, Spent: true}
	if m.Version == 1 {
		return abandonUnrecorded{spent}
	}
	if e.Why == NeverTried {
		now, _ := event.ParseTimestamp(e.FinishedAt)
		return Return{Nonce: e.Nonce, Lacked: e.Lacked, Now: now}
	}
	spent.Shown = e.Why == SpentAttempts
	return spent
}

// withoutTexts keeps of a job what judgements need.
func withoutTexts(s State) State {
	s.Queued.Payload, s.Outcome = event.Text{}, Outcome{}
	return s
}

// left is what is left to know of a job that has ended: by what its run, its certificate and its refund are judged.
type left struct {
	status                                                   Status
	kind                                                     Kind
	jobID, account, slotID, uploadID, certificateID, session string
	runID, aboutRunID, timeoutMS                             int64
}

func endOf(s State) any {
	if !s.Terminal() {
		return nil
	}
	q := s.Queued
	return &left{
		status: s.Status, kind: q.Kind, jobID: q.JobID, account: unique.Make(q.Account).Value(), // one text for all jobs of the account
		slotID: q.SlotID, uploadID: q.UploadID, certificateID: q.CertificateID, session: q.SessionID, runID: q.RunID, aboutRunID: q.AboutRunID, timeoutMS: q.TimeoutMS,
	}
}

func stateOf(of any) State {
	l := of.(*left)
	return State{Status: l.status, Queued: WasQueued{SlotID: l.slotID, Submission: Submission{
		Kind: l.kind, JobID: l.jobID, Account: l.account, UploadID: l.uploadID, CertificateID: l.certificateID, SessionID: l.session,
		RunID: l.runID, AboutRunID: l.aboutRunID, TimeoutMS: l.timeoutMS,
	}}}
}
