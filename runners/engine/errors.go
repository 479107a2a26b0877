package engine

import (
	"errors"
	"fmt"

	"reckon/domain/run"
)

// ErrBudgetExhausted says that the evaluation ran past its budget; its worker was killed.
var ErrBudgetExhausted = errors.New("the evaluation ran past its compute budget and was stopped")

// ErrCancelled says that the caller's context was cancelled while the worker computed; the worker was killed.
var ErrCancelled = errors.New("the evaluation was cancelled while it was computing")

// ErrLost says that a worker ended with the process that forks the workers, which says nothing about the evaluation.
var ErrLost = errors.New("the engine's process ended under the evaluation")

// ErrClosed says that the engine is shutting down.
var ErrClosed = errors.New("the engine is closed")

// FailedError says that the engine gave no answer for this one evaluation. The service itself is unharmed.
type FailedError struct {
	Reason run.FailureReason // any but run.FailureSessionClosed
	Detail string            // for people; with run.FailureRefused the engine's own message
}

func (e *FailedError) Error() string {
	if e.Detail == "" {
		return "the engine failed: " + string(e.Reason)
	}
	return fmt.Sprintf("the engine failed: %s: %s", e.Reason, e.Detail)
}

// SpawnError says that no worker could be started. The next one may be.
type SpawnError struct{ Err error }

func (e *SpawnError) Error() string { return "the engine could not start a worker: " + e.Err.Error() }

// Unwrap is why.
func (e *SpawnError) Unwrap() error { return e.Err }

// UnavailablePart is for the answer to people (httpkit.Translate).
func (e *SpawnError) UnavailablePart() string { return "the engine" }

// UnsafeError says that the workers could not be isolated as the Sandbox option requires.
type UnsafeError struct {
	Open []string // what a worker was able to do although it must not
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("the engine's workers cannot be isolated on this machine (%v possible); "+
		"run on Linux 5.13 or later with seccomp, or accept the risk with --engine-sandbox=off inside a container of your own", e.Open)
}

// ErrNoAnswer says that another engine left the question as it was, or that it has no value there.
var ErrNoAnswer = errors.New("the engine has no answer")

// UntranslatableError says which part of a question another engine cannot be given: it is not asked then.
type UntranslatableError struct{ Engine, Part string }

func (e *UntranslatableError) Error() string { return e.Engine + " is not given " + e.Part }

// UnreadableError says why the answer of another engine is not one of the language: it is not returned then.
type UnreadableError struct{ Engine, Why string }

func (e *UnreadableError) Error() string {
	return "the answer of " + e.Engine + " does not translate: " + e.Why
}
