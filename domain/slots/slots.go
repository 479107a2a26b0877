// Package slots is one account's daily allowance of jobs: which slots of a UTC
// day are spent, and which were given back.
//
// It promises that a job holds at most one slot of a day, and at most one refund
// per slot.
// The day is in the stream's name: deciding needs no clock.
package slots

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/domain/job"
)

// Stream names the stream of an account's UTC day (YYYY-MM-DD).
func Stream(account, day string) string { return "slots-" + account + "-" + day }

// Spent takes a slot. It carries the whole submission: a process that finds this event
// without its job can finish what the submitter began.
type Spent struct {
	SlotID     string         `json:"slot_id" format:"uuid" doc:"The slot"`
	Day        string         `json:"day" format:"date" doc:"UTC day whose allowance it is of"`
	Submission job.Submission `json:"submission" doc:"The job it is spent for, whole"`
}

// Refunded gives a slot back to the day it was of.
type Refunded struct {
	SlotID string       `json:"slot_id" format:"uuid" doc:"The slot"`
	JobID  string       `json:"job_id" format:"uuid" doc:"The job it was spent for"`
	Reason RefundReason `json:"reason" enum:"cancelled_early,duplicate,upload_used,service_failed" doc:"cancelled_early: the job was cancelled before it started. duplicate: the job lives on another slot. upload_used: another job checks its upload. service_failed: the service lost the job"`
}

// RefundReason is why a slot was given back.
type RefundReason string

// Reasons of a refund.
const (
	CancelledEarly RefundReason = "cancelled_early" // the job was cancelled before any runner tried it
	Duplicate      RefundReason = "duplicate"       // another submission of the same idempotency key spent a slot first
	UploadUsed     RefundReason = "upload_used"     // another job holds the upload, or there is none
	ServiceFailed  RefundReason = "service_failed"  // the service lost the job, and not by the job's work
)

func (Spent) EventName() string    { return "slots.spent" }
func (Refunded) EventName() string { return "slots.refunded" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of a day's stream with its event types.
func Model() decider.Model[Command, State] {
	const (
		slot   = "0198a1b2-0000-7000-8000-000000005107"
		unused = "nothing in the log follows from it where the slot was given back before its job was queued; otherwise the job repeats it"
	)
	shown := func(s State) any { return struct{ SlotsUsed int }{s.SlotsUsed()} }
	return decider.Model[Command, State]{Decider: Decider, Shown: shown, Types: []decider.Type[Command, State]{
		decider.On(Spent{SlotID: slot, Day: "2026-08-01", Submission: job.Sample()},
			func(e Spent) event.Address {
				return event.Address{Stream: Stream(e.Submission.Account, e.Day), Account: e.Submission.Account}
			},
			func(e Spent, _ State, _ event.Metadata) Command {
				return Spend{SlotID: e.SlotID, Day: e.Day, Submission: e.Submission, Allowance: math.MaxInt} // plans are the operator's, and not in the log
			},
			event.Begins(), event.Given("submitted_at", func(e Spent) string { return e.Submission.SubmittedAt }),
			event.Free{
				"submission.certificate_id": unused, "submission.concurrent": unused, "submission.kind": unused,
				"submission.payload.inline": unused, "submission.source": unused, "submission.timeout_ms": unused, "submission.upload_id": unused,
			}),
		decider.On(Refunded{SlotID: slot, JobID: job.Sample().JobID, Reason: ServiceFailed},
			func(Refunded) event.Address { return event.Address{} }, // the day is that of the slot
			func(e Refunded, _ State, _ event.Metadata) Command { return Refund(e) },
			event.Upcast(withoutServiceFailed)),
	}}
}

// withoutServiceFailed reads version 1 of slots.refunded: no slot of a lost job was refunded.
func withoutServiceFailed(v1 json.RawMessage) (json.RawMessage, error) { return v1, nil }

// State maps the slots of a day to the jobs that hold them. It does not keep submissions, whose size has no
// part in the cost of the next one, nor slots that were given back.
type State struct {
	held   decider.Map[Slot] // by job id
	events event.Revision    // how many events were folded: the revision of the next one
}

// Slot is a slot that a job holds.
type Slot struct {
	ID      string
	SpentAt event.Revision // of the event that spent it
}

// SlotsUsed counts the slots that are spent and not refunded. A job holds at most one.
func (s State) SlotsUsed() int { return s.held.Len() }

// HeldBy returns the slot of this day that a job holds; false if it holds none.
func (s State) HeldBy(jobID string) (slot Slot, holds bool) { return s.held.Get(jobID) }

// Command is one of Spend, Refund.
type Command interface{ slotsCommand() }

// Spend takes a slot for a submission. A job that holds a slot of this day keeps that
// slot; a job whose slot was refunded may spend another. It is refused with ErrAllowanceSpent.
type Spend struct {
	SlotID     string
	Day        string
	Submission job.Submission
	Allowance  int // slots a day, by the plan
}

// Refund gives back the slot that a job holds; one that the job does not hold stays as it is.
type Refund struct {
	SlotID string
	JobID  string
	Reason RefundReason
}

func (Spend) slotsCommand()  {}
func (Refund) slotsCommand() {}

// ErrAllowanceSpent means that the day's allowance is used up.
var ErrAllowanceSpent = errors.New("the daily job allowance is spent; it is renewed at 00:00 UTC")

// Decider is the write model of a day's stream.
var Decider = decider.Decider[Command, State]{
	Initial:    func() State { return State{} },
	Decide:     decide,
	Evolve:     evolve,
	StateBytes: func(s State) int { return s.held.Len() * heldBytes },
}

// heldBytes is the memory that a held slot takes: two UUIDs as text and their place in the map.
const heldBytes = 256

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Spend:
		if _, has := s.HeldBy(c.Submission.JobID); has {
			return nil, nil
		}
		if s.SlotsUsed() >= c.Allowance {
			return nil, ErrAllowanceSpent
		}
		return []event.Event{Spent{SlotID: c.SlotID, Day: c.Day, Submission: c.Submission}}, nil
	case Refund:
		if slot, holds := s.HeldBy(c.JobID); !holds || slot.ID != c.SlotID {
			return nil, nil
		}
		return []event.Event{Refunded(c)}, nil
	}
	return nil, fmt.Errorf("slots: unknown command %T", c)
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Spent:
		s.held = s.held.With(e.Submission.JobID, Slot{ID: e.SlotID, SpentAt: s.events})
	case Refunded:
		if slot, holds := s.HeldBy(e.JobID); holds && slot.ID == e.SlotID {
			s.held = s.held.Without(e.JobID)
		}
	}
	s.events++
	return s
}
