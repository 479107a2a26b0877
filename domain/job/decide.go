package job

import (
	"errors"
	"fmt"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// MaxAbandoned is how often a job may be abandoned before it is lost. A job
// handed back by a draining runner has not been abandoned.
const MaxAbandoned = 3

// State is a job as a fold of its stream.
type State struct {
	Status     Status // empty: no such job
	Queued     WasQueued
	Runner     string // of the present attempt
	Nonce      string // of the present attempt; empty while queued
	Attempt    int    // claims so far
	Abandoned  int    // attempts that were taken from their runners
	StartedAt  string // of the latest attempt
	FinishedAt string
	Outcome    Outcome // once Status is Succeeded, Failed or TimedOut
	Early      bool    // cancelled before any runner claimed it: the slot is refunded
}

// Exists tells whether the job has been queued.
func (s State) Exists() bool { return s.Status != "" }

// Terminal tells whether the job has ended.
func (s State) Terminal() bool { return s.Exists() && s.Status != Queued && s.Status != Running }

// Command is one of Queue, Claim, Release, Abandon, Finish, Cancel.
type Command interface{ jobCommand() }

// Queue puts the job in the queue on the slot it names. A job that exists stays
// as it is: the caller compares the slots.
type Queue struct{ Queued WasQueued }

// Claim gives the job to a runner, as the attempt that Nonce names; Now is an
// event.Timestamp. It is refused with ErrNotQueued.
type Claim struct{ Runner, Nonce, Now string }

// Release puts the job back into the queue unfinished. It is refused with
// ErrSuperseded unless Nonce names the present attempt.
type Release struct {
	Nonce  string
	Reason ReleaseReason
}

// Abandon takes the job from a runner that stopped reporting it: back into the
// queue, or lost.
type Abandon struct{ Nonce, Now string }

// Finish ends the job with an outcome; Status is Succeeded, Failed or TimedOut.
type Finish struct {
	Status  Status
	Outcome Outcome
}

// Cancel ends the job on its owner's request.
type Cancel struct{ Account, Now string }

func (Queue) jobCommand()   {}
func (Claim) jobCommand()   {}
func (Release) jobCommand() {}
func (Abandon) jobCommand() {}
func (Finish) jobCommand()  {}
func (Cancel) jobCommand()  {}

var (
	// ErrNotFound means that the account has no such job.
	ErrNotFound = errors.New("no such job")
	// ErrNotQueued means that the job cannot be claimed now: it runs or has ended.
	ErrNotQueued = errors.New("the job is not in the queue")
	// ErrSuperseded means that the attempt no longer holds the job: what it computed must not be published.
	ErrSuperseded = errors.New("the job is no longer this runner's")
)

// Decider is the write model of a job's stream.
var Decider = decider.Decider[Command, State]{
	Initial: func() State { return State{} },
	Decide:  decide,
	Evolve:  evolve,
}

func decide(c Command, s State) ([]event.Event, error) {
	if c, ok := c.(Queue); ok {
		if s.Exists() {
			return nil, nil
		}
		return []event.Event{c.Queued}, nil
	}
	if !s.Exists() {
		return nil, ErrNotFound
	}
	switch c := c.(type) {
	case Claim:
		if s.Status != Queued {
			return nil, ErrNotQueued
		}
		return []event.Event{WasClaimed{JobID: s.Queued.JobID, Runner: c.Runner, Nonce: c.Nonce, Attempt: s.Attempt + 1, StartedAt: c.Now}}, nil
	case Release:
		if !holds(s, c.Nonce) {
			return nil, ErrSuperseded
		}
		return []event.Event{WasReleased{JobID: s.Queued.JobID, Nonce: c.Nonce, Reason: c.Reason}}, nil
	case Abandon:
		return abandon(c, s)
	case Finish:
		return finish(c, s)
	case Cancel:
		return cancel(c, s)
	}
	return nil, fmt.Errorf("job: unknown command %T", c)
}

// holds tells whether the job runs as the attempt of this nonce.
func holds(s State, nonce string) bool { return s.Status == Running && s.Nonce == nonce }

func abandon(c Abandon, s State) ([]event.Event, error) {
	switch {
	case !holds(s, c.Nonce):
		return nil, nil // that attempt has ended already
	case s.Abandoned+1 >= MaxAbandoned || !s.Queued.Rerunnable():
		return []event.Event{WasLost{JobID: s.Queued.JobID, Nonce: c.Nonce, Attempts: s.Attempt, FinishedAt: c.Now}}, nil
	}
	return []event.Event{WasReleased{JobID: s.Queued.JobID, Nonce: c.Nonce, Reason: Abandoned}}, nil
}

func finish(c Finish, s State) ([]event.Event, error) {
	if !holds(s, c.Outcome.Nonce) {
		return nil, ErrSuperseded
	}
	switch c.Status {
	case Succeeded:
		return []event.Event{HasSucceeded{c.Outcome}}, nil
	case Failed:
		return []event.Event{HasFailed{c.Outcome}}, nil
	case TimedOut:
		return []event.Event{HasTimedOut{c.Outcome}}, nil
	}
	return nil, fmt.Errorf("job: %q is not an end a runner may report", c.Status)
}

func cancel(c Cancel, s State) ([]event.Event, error) {
	switch {
	case s.Queued.Account != c.Account:
		return nil, ErrNotFound
	case s.Terminal():
		return nil, nil
	}
	return []event.Event{WasCancelled{JobID: s.Queued.JobID, Early: s.Attempt == 0, Nonce: s.Nonce,
		SlotID: s.Queued.SlotID, Day: s.Queued.Day, UploadID: s.Queued.UploadID, FinishedAt: c.Now}}, nil
}

func evolve(s State, e event.Event) State {
	end := func(status Status, o Outcome) {
		s.Status, s.Outcome, s.FinishedAt = status, o, o.FinishedAt
	}
	switch e := e.(type) {
	case WasQueued:
		s.Status, s.Queued = Queued, e
	case WasClaimed:
		s.Status, s.Runner, s.Nonce, s.Attempt, s.StartedAt = Running, e.Runner, e.Nonce, e.Attempt, e.StartedAt
	case WasReleased:
		s.Status, s.Runner, s.Nonce = Queued, "", ""
		if e.Reason == Abandoned {
			s.Abandoned++
		}
	case HasSucceeded:
		end(Succeeded, e.Outcome)
	case HasFailed:
		end(Failed, e.Outcome)
	case HasTimedOut:
		end(TimedOut, e.Outcome)
	case WasCancelled:
		s.Status, s.Early, s.FinishedAt = Cancelled, e.Early, e.FinishedAt
	case WasLost:
		s.Status, s.FinishedAt = Lost, e.FinishedAt
	}
	return s
}
