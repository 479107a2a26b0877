package engine

import (
	"errors"
	"fmt"
)

// ErrBudgetExhausted says that the evaluation ran past its budget; its worker was killed.
var ErrBudgetExhausted = errors.New("the evaluation ran past its compute budget and was stopped")

// ErrSaturated says that no worker came free within the time the caller was willing to queue.
var ErrSaturated = errors.New("every engine worker is busy; try again shortly")

// ErrClosed says that the engine is shutting down.
var ErrClosed = errors.New("the engine is closed")

// FailureReason says why the engine gave no answer.
type FailureReason string

// Reasons of a FailedError.
const (
	ReasonCrashed        FailureReason = "crashed"          // the process ended by a fault (a stack that ran over, an internal error)
	ReasonMemory         FailureReason = "memory"           // the process ran over its memory limit
	ReasonQuit           FailureReason = "quit"             // the expression ended its own process (Quit, Exit)
	ReasonOutputTooLarge FailureReason = "output_too_large" // result or standard output over OutputLimitBytes
	ReasonRefused        FailureReason = "refused"          // the engine could not read or evaluate the input; Detail is its own message
)

// FailedError says that the engine gave no answer for this one evaluation. The service itself is unharmed.
type FailedError struct {
	Reason FailureReason
	Detail string // for people; bounded
}

func (e *FailedError) Error() string {
	if e.Detail == "" {
		return "the engine failed: " + string(e.Reason)
	}
	return fmt.Sprintf("the engine failed: %s: %s", e.Reason, e.Detail)
}

// UnsafeError says that the workers could not be walled in as required.
type UnsafeError struct {
	Open []string // what a worker was still able to do
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("the engine's workers cannot be isolated on this machine (%v possible); "+
		"run on Linux 5.13 or later with seccomp, or accept the risk with --engine-sandbox=off inside a container of your own", e.Open)
}
