package commands

import (
	"context"
	"errors"
	"time"
)

// Engine evaluates expressions, each in a process of its own.
type Engine interface {
	// Evaluate runs code; it kills the worker at the end of the budget
	// (ErrBudgetExhausted) and answers EngineFailedError when the engine did not survive.
	Evaluate(ctx context.Context, r EngineRequest) (EngineOutcome, error)
	// CloseSession ends a session's worker, if there is one.
	CloseSession(key string) bool
	// LiveSessions counts the workers whose key begins with prefix.
	LiveSessions(prefix string) int
	// Describe names the engine and its revision, as receipts do.
	Describe() (name, revision string)
}

// EngineRequest is one evaluation.
type EngineRequest struct {
	Code      string
	Session   string        // empty: a fresh process; else the worker of this key, made when there is none
	Budget    time.Duration // of computing and of waiting for the session's turn; waiting for a worker is not counted
	QueueWait time.Duration // longest wait for a worker before ErrSaturated
}

// EngineOutcome is what an evaluation gave.
type EngineOutcome struct {
	Result      string // as rendered
	InputForm   string // the answer in a form that parses back
	Stdout      string
	Messages    []string
	SVG         []byte // cleaned; nil without a graphic
	PlotOmitted bool   // a graphic was made and is too large to keep
	Unevaluated bool   // the engine returned the input unchanged
	// SessionOpened: this ran first in its session's worker, so that nothing was defined before it.
	SessionOpened bool
	SessionLost   bool // the session's worker had died unnoticed: this ran in a fresh one
	Elapsed       time.Duration
}

var (
	// ErrBudgetExhausted means that the evaluation was killed at the end of its budget.
	ErrBudgetExhausted = errors.New("the compute budget is exhausted")
	// ErrSaturated means that no worker was free in time; retry later.
	ErrSaturated = errors.New("all workers are busy; retry in a moment")
)

// EngineFailedError means that the engine did not survive one evaluation.
type EngineFailedError struct {
	Reason string // crashed, memory, quit, output_too_large …: a stable slug
	Detail string
}

func (e *EngineFailedError) Error() string {
	if e.Detail == "" {
		return "the engine failed: " + e.Reason
	}
	return "the engine failed: " + e.Reason + ": " + e.Detail
}
