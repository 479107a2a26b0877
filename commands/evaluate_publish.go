package commands

import (
	"context"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/session"
)

// Computed is an evaluation with its receipt, or how it ended without an answer;
// it is not in the log yet.
type Computed struct {
	runID  int64
	record run.Command
	answer Evaluation
	cause  error // why there is no answer; nil with one
	ended  session.EndReason
}

// withoutAnswer is a computation that has no answer to seal.
func (c computation) withoutAnswer() Computed {
	return Computed{runID: c.runID, record: c.ended, cause: c.cause, ended: c.outcome.SessionEnded}
}

// Events are the events that the outcome appends to its run's stream.
func (c Computed) Events() ([]event.Event, error) {
	return run.Decider.Decide(c.record, run.Decider.Initial())
}

// Answer is the evaluation, without a position; or ErrBudgetExhausted or an
// EngineFailedError when there is no answer.
func (c Computed) Answer() (Evaluation, error) { return c.answer, c.cause }

// RunEndedError is an evaluation that was logged and has no answer.
type RunEndedError struct {
	RunID    int64
	Position event.Position
	Cause    error // ErrBudgetExhausted or *EngineFailedError
	// SessionEnded is why the session in which it ran ended with it, its variables and definitions gone; empty: it did not.
	SessionEnded session.EndReason
}

func (e *RunEndedError) Error() string { return e.Cause.Error() }

// Unwrap is the cause.
func (e *RunEndedError) Unwrap() error { return e.Cause }

// Publish logs an outcome, in one append: the run with its receipt, or how it
// ended. It returns the answer, a RunEndedError for an outcome without one,
// run.ErrRunIDUsed when the run id names another evaluation, or an error of the log. A
// job's outcome may be published again; that changes nothing.
func (ev *Evaluator) Publish(ctx context.Context, in Intent, c Computed) (Evaluation, error) {
	_, at, err := Create(ctx, ev.config.Store, run.Decider, run.Stream(c.runID), in, c.record)
	if err != nil {
		return Evaluation{}, err
	}
	if c.cause != nil {
		return Evaluation{}, &RunEndedError{RunID: c.runID, Position: at, Cause: c.cause, SessionEnded: c.ended}
	}
	c.answer.Position = at
	return c.answer, nil
}
