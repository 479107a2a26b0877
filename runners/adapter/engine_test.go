package adapter

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"reckon/commands"
	"reckon/domain/run"
	"reckon/runners/engine"
)

// TestErrorsOfTheEngine: every error that says something about the expression is one that commands log; any other passes as it is.
func TestErrorsOfTheEngine(t *testing.T) {
	for in, want := range map[error]error{
		engine.ErrBudgetExhausted: commands.ErrBudgetExhausted, engine.ErrSaturated: commands.ErrSaturated, engine.ErrClosed: commands.ErrSaturated,
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
	if got := translate(nil); got != nil {
		t.Errorf("no error: %v", got)
	}
}
