package run

import (
	"errors"
	"fmt"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// State is a run as a fold of its stream; exactly one of Evaluated, TimedOut
// and Failed is set once the run exists.
type State struct {
	Evaluated *Evaluated
	Sealed    *Sealed
	TimedOut  *TimedOut
	Failed    *Failed
	Check     *Check // the best check so far: the automatic one, or a later one that said more
}

// Exists tells whether the run id has been used.
func (s State) Exists() bool { return s.Evaluated != nil || s.TimedOut != nil || s.Failed != nil }

// Subject is what was asked; the zero Subject before the run exists.
func (s State) Subject() Subject {
	switch {
	case s.Evaluated != nil:
		return s.Evaluated.Subject
	case s.TimedOut != nil:
		return s.TimedOut.Subject
	case s.Failed != nil:
		return s.Failed.Subject
	}
	return Subject{}
}

// Command is one of Record, RecordTimeout, RecordFailure, RecordCheck.
type Command interface{ runCommand() }

// Record keeps a finished evaluation with its receipt.
type Record struct {
	Evaluated Evaluated
	Sealed    Sealed
}

// RecordTimeout keeps an evaluation that ran past its budget.
type RecordTimeout struct{ TimedOut TimedOut }

// RecordFailure keeps an evaluation whose engine failed.
type RecordFailure struct{ Failed Failed }

// RecordCheck keeps a check made on request.
type RecordCheck struct{ Verified Verified }

func (Record) runCommand()        {}
func (RecordTimeout) runCommand() {}
func (RecordFailure) runCommand() {}
func (RecordCheck) runCommand()   {}

var (
	// ErrUsed means that the run id already names another evaluation.
	ErrUsed = errors.New("the run id is in use")
	// ErrNone means that the account has no such run.
	ErrNone = errors.New("no such run")
	// ErrNoAnswer means that the run ended without an answer to check.
	ErrNoAnswer = errors.New("the run has no answer")
)

// Decider is the write model of a run's stream.
var Decider = decider.Decider[Command, State]{
	Initial: func() State { return State{} },
	Decide:  decide,
	Evolve:  evolve,
}

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Record:
		return first(s, c.Evaluated.Subject, c.Evaluated, c.Sealed)
	case RecordTimeout:
		return first(s, c.TimedOut.Subject, c.TimedOut)
	case RecordFailure:
		return first(s, c.Failed.Subject, c.Failed)
	case RecordCheck:
		return check(s, c.Verified)
	}
	return nil, fmt.Errorf("run: unknown command %T", c)
}

// first admits the outcome of a run once. A job's outcome may be published
// again by whoever finds it unpublished; that changes nothing.
func first(s State, subject Subject, events ...event.Event) ([]event.Event, error) {
	if !s.Exists() {
		return events, nil
	}
	if subject.JobID != "" && s.Subject().JobID == subject.JobID {
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %d", ErrUsed, subject.RunID)
}

func check(s State, v Verified) ([]event.Event, error) {
	switch {
	case !s.Exists() || s.Subject().Account != v.Account:
		return nil, ErrNone
	case s.Evaluated == nil:
		return nil, ErrNoAnswer
	case s.Check != nil && s.Check.Conclusive() && !v.Conclusive():
		return nil, nil // a verdict is never replaced by "nothing was learned"
	case s.Check != nil && s.Check.Verdict == v.Verdict && s.Check.Method == v.Method && s.Check.Reason == v.Reason:
		return nil, nil // nothing new
	}
	return []event.Event{v}, nil
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Evaluated:
		s.Evaluated, s.Check = &e, e.Check
	case Sealed:
		s.Sealed = &e
	case TimedOut:
		s.TimedOut = &e
	case Failed:
		s.Failed = &e
	case Verified:
		s.Check = &e.Check
	}
	return s
}
