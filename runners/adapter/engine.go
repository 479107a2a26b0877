package adapter

import (
	"context"
	"errors"

	"reckon/commands"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/internal/tracing"
	"reckon/runners/engine"
	"reckon/runners/fair"
)

// Engine is the evaluation engine as a commands.Engine.
type Engine struct {
	Engine *engine.Engine
	Places *fair.Pool // of its own; nil: evaluations share those of the engine, which no other Engine's can then hold up
}

// Evaluate is commands.Engine.
func (e Engine) Evaluate(ctx context.Context, r commands.EngineRequest) (commands.EngineOutcome, error) {
	ctx, span := tracing.Below(ctx, tracing.Evaluate, "")
	defer span.End()
	span.Set(tracing.Flag(tracing.Session, r.Session != ""))
	outcome, err := e.evaluate(ctx, r)
	_, failed := errors.AsType[*commands.EngineFailedError](err)
	switch {
	case err == nil:
		span.Set(tracing.Text(tracing.Outcome, "answered"))
	case failed, errors.Is(err, commands.ErrBudgetExhausted):
		span.Set(tracing.Text(tracing.Outcome, "ended"))
	default:
		span.Fail()
	}
	return outcome, err
}

func (e Engine) evaluate(ctx context.Context, r commands.EngineRequest) (commands.EngineOutcome, error) {
	if e.Places != nil {
		place, err := e.Places.Acquire(ctx, r.Account, r.QueueWait, r.Budget)
		if err != nil {
			return commands.EngineOutcome{}, translate(err)
		}
		defer place.Release()
		ctx = fair.At(ctx, place)
	}
	o, err := e.Engine.Evaluate(ctx, engine.Request{
		Code: r.Code, Account: r.Account, OwnWorker: r.OwnWorker || e.Places != nil, Session: r.Session, Weight: r.Weight, Budget: r.Budget, QueueWait: r.QueueWait, Counted: r.Counted,
	})
	outcome := commands.EngineOutcome{
		Result: o.Result, InputForm: o.InputForm, Stdout: o.Stdout, Messages: o.Messages, SVG: o.SVG,
		PlotOmitted: o.PlotOmitted, Unevaluated: o.Unevaluated, Elapsed: o.Elapsed,
		Line: o.Line, SessionOpened: o.SessionOpened, SessionEnded: EndReason(o.SessionEnded),
	}
	return outcome, translate(err)
}

func translate(err error) error {
	var failed *engine.FailedError
	var ended *engine.SessionEndedError
	var saturated *fair.SaturatedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrBudgetExhausted):
		return commands.ErrBudgetExhausted
	case errors.As(err, &saturated):
		return &commands.SaturatedError{RetryAfter: saturated.RetryAfter}
	case errors.Is(err, engine.ErrClosed):
		return commands.ErrSaturated
	case errors.Is(err, engine.ErrLost):
		return commands.ErrEngineLost
	case errors.Is(err, engine.ErrCancelled):
		return &commands.EngineFailedError{Reason: run.FailureCancelled, Detail: "whoever asked went away while it was computing"}
	case errors.As(err, &ended):
		return &commands.SessionEndedError{Reason: EndReason(ended.Reason)}
	case errors.Is(err, engine.ErrSessionClosed):
		return &commands.EngineFailedError{Reason: run.FailureSessionClosed, Detail: "the session was closed while it evaluated"}
	case errors.As(err, &failed):
		return &commands.EngineFailedError{Reason: failed.Reason, Detail: failed.Detail}
	}
	return err
}

// EndReason is why a session ended, as the log says it; empty for no reason. Sessions are killed where their owner could not
// report that it lives.
func EndReason(reason engine.ExpiryReason) session.EndReason {
	switch reason {
	case engine.ExpiredIdle:
		return session.EndIdle
	case engine.ExpiredMemory:
		return session.EndMemory
	case engine.ExpiredBudget, engine.ExpiredDied, engine.ExpiredClosed: // of a closed one the log has the end, with its reason
		return session.EndWorkerDied
	case engine.ExpiredKilled:
		return session.EndCutOff
	}
	return ""
}

// CloseSession is commands.Engine.
func (e Engine) CloseSession(key string) bool { return e.Engine.CloseSession(key) }

// SetValue makes a text the value of a line of a session.
func (e Engine) SetValue(ctx context.Context, session string, line int, text string) error {
	return translate(e.Engine.SetValue(ctx, session, line, text))
}

// Describe is commands.Engine.
func (e Engine) Describe() (name, revision string) { return e.Engine.Info() }
