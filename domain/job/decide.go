package job

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// MaxAbandoned is the number of spent attempts with which a job is lost. An attempt is spent when its runner ended under it, or
// when the job's work ended it.
const MaxAbandoned = 3

// GiveUpAfter is for how long a job that cannot be tried is offered to runners, from when the first could not try it.
const GiveUpAfter = 24 * time.Hour

const firstPause = time.Second

// MaxPause is the longest pause before a job is tried again that could not be tried.
const MaxPause = 5 * time.Minute

// PauseAfter is the pause before something is tried again that could not be tried n times in a row, n from 1: a second,
// then twice as long each time, up to MaxPause.
func PauseAfter(n int) time.Duration {
	const doublings = 9 // with more, the pause is longer than MaxPause
	return min(firstPause<<min(max(n-1, 0), doublings), MaxPause)
}

// State is a job as a fold of its stream.
type State struct {
	Status     Status // empty: no such job
	Queued     WasQueued
	Runner     string   // of the present attempt
	Nonce      string   // of the present attempt; empty while queued
	Attempt    int      // claims so far
	Spent      []string // nonces of the attempts that are spent
	Tried      bool     // an attempt that ended was tried
	Untried    int      // attempts in a row, the last included, that could not be tried
	Lacked     string   // why the last could not, in words; empty: Untried is 0
	NotBefore  string   // event.Timestamp at which it is to be tried again; empty: Untried is 0
	GiveUpAt   string   // event.Timestamp from which it is lost if it cannot be tried; empty: Untried is 0
	StartedAt  string   // of the latest attempt
	FinishedAt string
	Outcome    Outcome // once Status is Succeeded, Failed or TimedOut
	Why        Loss    // once Status is Lost
	Refunded   bool    // it ended, and its slot is refunded: it was cancelled before it was tried, or the service failed
}

// Exists tells whether the job has been queued.
func (s State) Exists() bool { return s.Status != "" }

// Terminal tells whether the job has ended.
func (s State) Terminal() bool { return s.Exists() && s.Status != Queued && s.Status != Running }

// live tells whether the job has not ended.
func (s State) live() bool { return s.Exists() && !s.Terminal() }

// Command is one of Queue, Claim, Release, Return, Abandon, Excuse, Finish, Cancel.
type Command interface{ jobCommand() }

// Queue puts the job in the queue on the slot it names. A job that exists stays
// as it is: the caller compares the slots.
type Queue struct{ Queued WasQueued }

// Claim gives the job to a runner, as the attempt that Nonce names; Now is an
// event.Timestamp. It is refused with ErrNotQueued.
type Claim struct{ Runner, Nonce, Now string }

// Release puts the job back into the queue unfinished, because its runner was told to stop. It is refused with
// ErrSuperseded unless Nonce names the present attempt.
type Release struct{ Nonce string }

// Return puts a job back into the queue that could not be tried, with the attempt; after GiveUpAfter of these the job is lost.
// Lacked says why, in words for the job's owner. It is refused with ErrSuperseded unless Nonce names the present attempt.
type Return struct {
	Nonce, Lacked string
	Now           time.Time
}

// Abandon takes the job from a runner that lost it: back into the queue, or lost. Spent: its runner ended, or the work ended the
// attempt; false: the runner lives, and so does the work. Shown: the runner lives and saw that the work ended the attempt.
type Abandon struct {
	Nonce, Now   string
	Spent, Shown bool
}

// abandonUnrecorded is Abandon as it was decided when job.lost had its first version: no slot of a lost job was given back.
type abandonUnrecorded struct{ Abandon }

// Excuse says that the runner of an attempt lives, which was cut off: the attempt is not spent, and no longer holds the job.
type Excuse struct{ Nonce, Now string }

// Finish ends the job with an outcome; Status is Succeeded, Failed or TimedOut. It is refused with ErrSuperseded unless the outcome's nonce
// names the present attempt, and with ErrAnsweredTwice.
type Finish struct {
	Status  Status
	Outcome Outcome
}

// Cancel ends the job on its owner's request.
type Cancel struct{ Account, Now string }

func (Queue) jobCommand()   {}
func (Claim) jobCommand()   {}
func (Release) jobCommand() {}
func (Return) jobCommand()  {}
func (Abandon) jobCommand() {}
func (Excuse) jobCommand()  {}

func (Finish) jobCommand() {}
func (Cancel) jobCommand() {}

var (
	// ErrNotFound means that the account has no such job.
	ErrNotFound = errors.New("no such job")
	// ErrNotQueued means that the job cannot be claimed now: it runs or has ended.
	ErrNotQueued = errors.New("the job is not in the queue")
	// ErrSuperseded means that the attempt no longer holds the job: what it computed must not be published.
	ErrSuperseded = errors.New("the job is no longer this runner's")
	// ErrAnsweredTwice means that an outcome has an answer beside the events that it publishes, from which its answer follows.
	ErrAnsweredTwice = errors.New("an outcome that publishes events has no other answer")
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
		return []event.Event{WasReleased{JobID: s.Queued.JobID, Nonce: c.Nonce, Reason: Drained}}, nil
	case Return:
		return giveBack(c, s)
	case Abandon:
		return abandon(c, s), nil
	case abandonUnrecorded:
		return unrecorded(abandon(c.Abandon, s)), nil
	case Excuse:
		return excuse(c, s), nil
	case Finish:
		return finish(c, s)
	case Cancel:
		return cancel(c, s)
	}
	return nil, fmt.Errorf("job: unknown command %T", c)
}

// holds tells whether the job runs as the attempt of this nonce.
func holds(s State, nonce string) bool { return s.Status == Running && s.Nonce == nonce }

func giveBack(c Return, s State) ([]event.Event, error) {
	if !holds(s, c.Nonce) {
		return nil, ErrSuperseded
	}
	if now := event.Timestamp(c.Now); s.Untried > 0 && now >= s.GiveUpAt {
		lost := lose(s, NeverTried, now)
		lost.Lacked = c.Lacked
		return []event.Event{lost}, nil
	}
	again := event.Timestamp(c.Now.Add(PauseAfter(s.Untried + 1)))
	return []event.Event{WasReleased{JobID: s.Queued.JobID, Nonce: c.Nonce, Reason: Untried, Lacked: c.Lacked, NotBefore: again}}, nil
}

func abandon(c Abandon, s State) []event.Event {
	reason := Interrupted
	if c.Spent {
		reason = Abandoned
	}
	switch {
	case !holds(s, c.Nonce):
		return nil // that attempt has ended already
	case !s.Queued.Rerunnable():
		return []event.Event{lose(s, InSession, c.Now)}
	case c.Spent && len(s.Spent)+1 >= MaxAbandoned:
		why := RunnersEnded
		if c.Shown {
			why = SpentAttempts
		}
		return []event.Event{lose(s, why, c.Now)}
	}
	return []event.Event{WasReleased{JobID: s.Queued.JobID, Nonce: c.Nonce, Reason: reason}}
}

func excuse(c Excuse, s State) []event.Event {
	if !s.Terminal() && slices.Contains(s.Spent, c.Nonce) {
		return []event.Event{WasExcused{JobID: s.Queued.JobID, Nonce: c.Nonce}}
	}
	return abandon(Abandon{Nonce: c.Nonce, Now: c.Now}, s)
}

// unrecorded leaves out of a loss what the first version of job.lost did not say.
func unrecorded(events []event.Event) []event.Event {
	for i, e := range events {
		if lost, is := e.(WasLost); is {
			lost.Why, lost.Lacked, lost.Refunded = Unrecorded, "", false
			events[i] = lost
		}
	}
	return events
}

// lose ends a job that is not tried again.
func lose(s State, why Loss, now string) WasLost {
	return WasLost{JobID: s.Queued.JobID, Nonce: s.Nonce, Attempts: s.Attempt, Why: why, Refunded: why != SpentAttempts, FinishedAt: now}
}

func finish(c Finish, s State) ([]event.Event, error) {
	if !holds(s, c.Outcome.Nonce) {
		return nil, ErrSuperseded
	}
	if len(c.Outcome.Publish) > 0 && (c.Outcome.Output != event.Text{} || c.Outcome.Result != event.Text{}) {
		return nil, ErrAnsweredTwice
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
	return []event.Event{WasCancelled{JobID: s.Queued.JobID, Early: s.Status == Queued && !s.Tried, Nonce: s.Nonce,
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
		s = released(s, e)
	case WasExcused:
		s.Spent = slices.DeleteFunc(slices.Clone(s.Spent), func(nonce string) bool { return nonce == e.Nonce })
	case HasSucceeded:
		end(Succeeded, e.Outcome)
	case HasFailed:
		end(Failed, e.Outcome)
	case HasTimedOut:
		end(TimedOut, e.Outcome)
	case WasCancelled:
		s.Status, s.Refunded, s.FinishedAt = Cancelled, e.Early, e.FinishedAt
	case WasLost:
		s.Status, s.Why, s.Lacked, s.Refunded, s.FinishedAt = Lost, e.Why, e.Lacked, e.Refunded, e.FinishedAt
	}
	return s
}

func released(s State, e WasReleased) State {
	s.Status, s.Runner, s.Nonce = Queued, "", ""
	if e.Reason != Untried {
		s.Tried, s.Untried, s.Lacked, s.NotBefore, s.GiveUpAt = true, 0, "", "", ""
		if e.Reason == Abandoned {
			s.Spent = append(slices.Clone(s.Spent), e.Nonce)
		}
		return s
	}
	if s.Untried++; s.Untried == 1 {
		if first, err := event.ParseTimestamp(e.NotBefore); err == nil {
			s.GiveUpAt = event.Timestamp(first.Add(GiveUpAfter))
		}
	}
	s.Lacked, s.NotBefore = e.Lacked, e.NotBefore
	return s
}
