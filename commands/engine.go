package commands

import (
	"context"
	"errors"
	"time"

	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/session"
)

// Engine evaluates expressions in worker processes: one of its own for each
// evaluation, and one for each live session.
type Engine interface {
	// Evaluate evaluates one expression. It returns ErrBudgetExhausted when it
	// killed the worker at the end of the budget or the session's worker was busy
	// for that long, an EngineFailedError when the worker did not survive, a
	// SaturatedError when no worker became free in time, ErrEngineLost when all workers ended at once, or a SessionEndedError for
	// a session that had a worker and has ended, for whatever reason: a session gets no second one. When the context is cancelled it kills the
	// worker at once: an EngineFailedError of run.FailureCancelled if it was computing,
	// else the context's error. The outcome's Elapsed and SessionEnded are set with an error too.
	Evaluate(ctx context.Context, r EngineRequest) (EngineOutcome, error)
	// CloseSession kills a session's worker and tells whether there was one. What
	// the worker evaluates ends with an EngineFailedError.
	CloseSession(key string) bool
	// Describe names the engine and its revision, as receipts do.
	Describe() (name, revision string)
}

// EngineRequest is one expression to evaluate.
type EngineRequest struct {
	Code      string
	Tree      *expression.Expr // Code as the service's own parser reads it; nil: it does not, or there are several expressions
	Account   string           // whose share of the workers it takes
	OwnWorker bool             // it takes no share: it is a job, and the runner bounds how many run at a time
	Session   string           // SessionKey of the worker, made when there is none; empty: a worker for this evaluation alone
	Weight    int              // of the account's plan, by which the memory of sessions is shared
	Budget    time.Duration    // wall time for computing and for waiting until the session's worker is free; waiting for a worker is not counted
	QueueWait time.Duration    // longest wait for a worker before a SaturatedError; 0: no wait
	// Counted: Budget is processor time, so that what else the machine does decides nothing; the wall clock only guards, far outside.
	Counted bool
}

// EngineOutcome is the engine's answer.
type EngineOutcome struct {
	By          run.Engine  // what answered; zero: the engine that Describe names
	Asked       []run.Asked // every engine that was asked, in order, where more than one was
	Check       *run.Check  // of the answer, as CheckAlongside makes it, where it was checked already; its verdict may be inconclusive
	Result      string      // the answer as rendered
	InputForm   string      // the answer in a form that parses back
	Stdout      string      // what was printed; empty: nothing
	Messages    []string    // the engine's warnings, in order
	SVG         []byte      // the graphic without scripts and references to elsewhere; nil: none was made
	PlotOmitted bool        // a graphic was made and is too large to keep
	Unevaluated bool        // the engine returned the input unchanged
	Line        int         // of the session; 0: of none
	// SessionOpened: this was the first evaluation of its session's worker, so that nothing was defined before it.
	SessionOpened bool
	SessionEnded  session.EndReason // the session ended by this evaluation, which has no answer; empty: it did not
	Elapsed       time.Duration     // wall time of computing
}

var (
	// ErrBudgetExhausted means that the evaluation was stopped at the end of its budget.
	ErrBudgetExhausted = errors.New("the compute budget is exhausted")
	// ErrSaturated means that no worker was free in time; retry later. A SaturatedError is one.
	ErrSaturated = errors.New("all workers are busy; retry in a moment")
	// ErrEngineLost means that the engine itself ended while it evaluated, which says nothing about the expression.
	ErrEngineLost = errors.New("the engine's process ended under the evaluation, of which nothing was logged; retry in a moment")
)

// SaturatedError is an ErrSaturated that knows when a worker comes free.
type SaturatedError struct{ RetryAfter time.Duration }

func (e *SaturatedError) Error() string { return ErrSaturated.Error() }

// Is makes it an ErrSaturated.
func (e *SaturatedError) Is(target error) bool { return target == ErrSaturated }

// SessionEndedError means that the session of this key has ended; its key is not used again.
type SessionEndedError struct{ Reason session.EndReason }

func (e *SessionEndedError) Error() string { return "the session has ended: " + string(e.Reason) }

// EngineFailedError means that one evaluation has no answer although its budget was not exhausted.
type EngineFailedError struct {
	Reason run.FailureReason
	Detail string // for people; may be empty
}

func (e *EngineFailedError) Error() string {
	if e.Detail == "" {
		return "the engine failed: " + string(e.Reason)
	}
	return "the engine failed: " + string(e.Reason) + ": " + e.Detail
}
