package adapter

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/runners/engine"
	"reckon/runners/fair"
)

// TestErrorsOfTheEngine: every error that says something about the expression is one that commands log; any other passes as it is.
func TestErrorsOfTheEngine(t *testing.T) {
	t.Parallel()
	for in, want := range map[error]error{
		engine.ErrBudgetExhausted: commands.ErrBudgetExhausted, &fair.SaturatedError{}: commands.ErrSaturated, engine.ErrClosed: commands.ErrSaturated,
		context.Canceled: context.Canceled,
	} {
		if got := translate(fmt.Errorf("evaluate: %w", in)); !errors.Is(got, want) {
			t.Errorf("%v: %v", in, got)
		}
	}
	var failed *commands.EngineFailedError
	if got := translate(&engine.FailedError{Reason: run.FailureCrashed, Detail: "signal: aborted"}); !errors.As(got, &failed) || *failed != (commands.EngineFailedError{Reason: "crashed", Detail: "signal: aborted"}) {
		t.Errorf("a crash: %v", got)
	}
	if got := translate(engine.ErrSessionClosed); !errors.As(got, &failed) || failed.Reason != "session_closed" {
		t.Errorf("a session closed meanwhile: %v", got)
	}
	if got := translate(fmt.Errorf("%w: %w", engine.ErrCancelled, context.Canceled)); !errors.As(got, &failed) || failed.Reason != "cancelled" {
		t.Errorf("a caller who left while it computed: %v", got)
	}
	var saturated *commands.SaturatedError
	if got := translate(&fair.SaturatedError{RetryAfter: time.Second}); !errors.As(got, &saturated) || saturated.RetryAfter != time.Second {
		t.Errorf("no worker: %v", got)
	}
	for in, want := range map[engine.ExpiryReason]session.EndReason{
		engine.ExpiredIdle: "idle", engine.ExpiredBudget: "worker_died", engine.ExpiredDied: "worker_died", engine.ExpiredMemory: "memory",
		engine.ExpiredKilled: "cut_off", engine.ExpiredClosed: "worker_died", "": "",
	} {
		var ended *commands.SessionEndedError
		if got := translate(&engine.SessionEndedError{Reason: in}); !errors.As(got, &ended) || ended.Reason != want {
			t.Errorf("a session that ended (%s): %v", in, got)
		}
	}
	if got := translate(nil); got != nil {
		t.Errorf("no error: %v", got)
	}
}
