package run

import (
	"errors"
	"fmt"
	"unique"

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

	slim slim // in place of the first of Evaluated, TimedOut and Failed, in a state without texts
}

// slim is what it takes to judge events of a run that has ended. The runs of an account share two; zero: the state has its texts.
type slim = unique.Handle[ended]

// ended lacks the job: another outcome of the run contradicts the log, whether its job publishes it twice or somebody else does.
type ended struct {
	account  string
	answered bool
}

// Exists tells whether the run id has been used.
func (s State) Exists() bool {
	return s.Evaluated != nil || s.TimedOut != nil || s.Failed != nil || s.slim != (slim{})
}

// answered tells whether the run has an answer.
func (s State) answered() bool {
	return s.Evaluated != nil || s.slim != (slim{}) && s.slim.Value().answered
}

// Subject is the evaluated expression and its context, in a state without texts the account; zero before the run exists.
func (s State) Subject() Subject {
	switch {
	case s.Evaluated != nil:
		return s.Evaluated.Subject
	case s.TimedOut != nil:
		return s.TimedOut.Subject
	case s.Failed != nil:
		return s.Failed.Subject
	case s.slim != (slim{}):
		return Subject{Account: s.slim.Value().account}
	}
	return Subject{}
}

// Command is one of Record, RecordTimeout, RecordFailure, RecordCheck.
type Command interface{ runCommand() }

// Record records an answer with its receipt, in one append.
type Record struct {
	Evaluated Evaluated
	Sealed    Sealed
}

// RecordTimeout records an evaluation that was killed at the end of its budget.
type RecordTimeout struct{ TimedOut TimedOut }

// RecordFailure records an evaluation that the engine's worker did not survive.
type RecordFailure struct{ Failed Failed }

// RecordCheck records a check made on request, if it says something new: a verdict is
// not replaced by an inconclusive check.
type RecordCheck struct{ Verified Verified }

// seal is the second event of Record.
type seal struct{ Sealed Sealed }

func (Record) runCommand()        {}
func (seal) runCommand()          {}
func (RecordTimeout) runCommand() {}
func (RecordFailure) runCommand() {}
func (RecordCheck) runCommand()   {}

var (
	// ErrRunIDUsed means that the run id already names another evaluation.
	ErrRunIDUsed = errors.New("the run id is in use")
	// ErrNotFound means that the account has no run of this id.
	ErrNotFound = errors.New("no such run")
	// ErrNoAnswer means that the run ended without an answer that could be checked.
	ErrNoAnswer = errors.New("the run has no answer")
)

// Decider is the write model of a run's stream. It refuses with ErrRunIDUsed,
// ErrNotFound and ErrNoAnswer.
var Decider = decider.Decider[Command, State]{
	Initial: func() State { return State{} },
	Decide:  decide,
	Evolve:  evolve,
}

func decide(c Command, s State) ([]event.Event, error) {
	switch c := c.(type) {
	case Record:
		return recordOnce(s, c.Evaluated.Subject, c.Evaluated, c.Sealed)
	case seal:
		if !s.answered() || s.Sealed != nil {
			return nil, ErrNoAnswer
		}
		return []event.Event{c.Sealed}, nil
	case RecordTimeout:
		return recordOnce(s, c.TimedOut.Subject, c.TimedOut)
	case RecordFailure:
		return recordOnce(s, c.Failed.Subject, c.Failed)
	case RecordCheck:
		return recordCheck(s, c.Verified)
	}
	return nil, fmt.Errorf("run: unknown command %T", c)
}

// recordOnce records the outcome of a run that does not exist yet. For the outcome of a
// job whose run exists it decides nothing: runner and reaction may both publish it. For
// any other run that exists it returns ErrRunIDUsed.
func recordOnce(s State, subject Subject, events ...event.Event) ([]event.Event, error) {
	if !s.Exists() {
		return events, nil
	}
	if subject.JobID != "" && s.Subject().JobID == subject.JobID {
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %d", ErrRunIDUsed, subject.RunID)
}

// recordCheck records a check that says something new about an answer.
func recordCheck(s State, v Verified) ([]event.Event, error) {
	switch {
	case !s.Exists() || s.Subject().Account != v.Account:
		return nil, ErrNotFound
	case !s.answered():
		return nil, ErrNoAnswer
	case s.Check != nil && s.Check.Conclusive() && !v.Conclusive():
		return nil, nil // a verdict is never replaced by "nothing was learned"
	case s.Check != nil && s.Check.Verdict == v.Verdict && s.Check.Method == v.Method && s.Check.Reason == v.Reason:
		return nil, nil // it says the same as the check before
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
