package adapter

import (
	"context"
	"errors"
	"strings"

	"reckon/commands"
	"reckon/domain/run"
	"reckon/runners/engine"
)

// Engine is the evaluation engine as a commands.Engine.
type Engine struct{ Engine *engine.Engine }

// Evaluate is commands.Engine.
func (e Engine) Evaluate(ctx context.Context, r commands.EngineRequest) (commands.EngineOutcome, error) {
	o, err := e.Engine.Evaluate(ctx, engine.Request{Code: r.Code, Session: r.Session, Budget: r.Budget, QueueWait: r.QueueWait})
	outcome := commands.EngineOutcome{
		Result: o.Result, InputForm: o.InputForm, Stdout: o.Stdout, Messages: o.Messages, SVG: o.SVG,
		PlotOmitted: o.PlotOmitted, Unevaluated: o.Unevaluated, Elapsed: o.Elapsed,
		SessionOpened: o.SessionOpened, SessionLost: o.SessionReplaced,
	}
	return outcome, translate(err)
}

func translate(err error) error {
	var failed *engine.FailedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrBudgetExhausted):
		return commands.ErrBudgetExhausted
	case errors.Is(err, engine.ErrSaturated), errors.Is(err, engine.ErrClosed):
		return commands.ErrSaturated
	case errors.Is(err, engine.ErrSessionClosed):
		return &commands.EngineFailedError{Reason: run.FailureSessionClosed, Detail: "the session was closed while it evaluated"}
	case errors.As(err, &failed):
		return &commands.EngineFailedError{Reason: failed.Reason, Detail: failed.Detail}
	}
	return err
}

// CloseSession is commands.Engine.
func (e Engine) CloseSession(key string) bool { return e.Engine.CloseSession(key) }

// LiveSessions is commands.Engine.
func (e Engine) LiveSessions(prefix string) int {
	return len(e.Engine.Sessions(strings.TrimSuffix(prefix, "/")))
}

// Describe is commands.Engine.
func (e Engine) Describe() (name, revision string) { return e.Engine.Info() }
