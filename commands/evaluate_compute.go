package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/slips"
)

// Bounds of what a run keeps of its warnings.
const (
	maxWarnings     = 100
	maxWarningBytes = 1 << 10
)

// computation is the engine's outcome of an evaluation.
type computation struct {
	runID     int64
	outcome   EngineOutcome
	evaluated run.Evaluated // with an answer
	ended     run.Command   // without an answer: how the run ended
	cause     error         // why there is no answer: ErrBudgetExhausted or *EngineFailedError; nil with one
	slips     []slips.Suggestion
}

// compute has the engine evaluate, and stores what is too long for an event. An
// evaluation that ran out of its budget, did not leave the engine alive or lost its
// caller is a computation without an answer; an error is one that says nothing about
// the expression: ErrSaturated, ErrEngineLost, SessionEndedError, the context's, or of the blobs.
// Once the engine has computed, the end of the context stops nothing any more, but that of a job's does.
func (ev *Evaluator) compute(ctx context.Context, in Intent, subject run.Subject, a admitted, owned ownedSession) (computation, error) {
	request := EngineRequest{Code: a.Expression, Tree: a.tree, Account: in.Account, OwnWorker: subject.JobID != "", Budget: a.budget(), QueueWait: ev.config.QueueWait}
	if owned.id != "" {
		request.Session, request.Weight = SessionKey(in.Account, owned.id, owned.Epoch), a.Plan.LiveSessions
	}
	o, err := ev.config.Engine.Evaluate(ctx, request)
	ctx, done := settling(ctx, err == nil)
	defer done()
	c := computation{runID: subject.RunID, outcome: o, cause: err}
	var failed *EngineFailedError
	switch {
	case err == nil:
		if c.slips = slips.Find(a.Expression); owned.id != "" && !o.SessionOpened {
			c.slips = slips.Standing(c.slips, o.InputForm)
		}
		c.evaluated, err = ev.evaluated(ctx, subject, a, o, owned)
		for _, s := range c.slips {
			c.evaluated.Warnings = append(c.evaluated.Warnings, shorten(s.Message, maxWarningBytes))
		}
		return c, err
	case errors.Is(err, ErrBudgetExhausted):
		c.ended = run.RecordTimeout{TimedOut: run.TimedOut{Subject: subject, BudgetMS: request.Budget.Milliseconds(), Asked: o.Asked}}
	case errors.As(err, &failed):
		c.ended = run.RecordFailure{Failed: run.Failed{Subject: subject, Reason: failed.Reason, Detail: shorten(failed.Detail, maxWarningBytes), ExecutionMS: o.Elapsed.Milliseconds(), Asked: o.Asked}}
	default:
		return computation{}, err
	}
	if o.SessionEnded != "" {
		// An error of the log is dropped: the next evaluation hears of the end from the engine.
		_ = ev.expire(ctx, in, owned, o.SessionEnded)
	}
	return c, nil
}

// evaluated is the event of an answer, not checked yet. Whatever is long is durable
// as a blob when it returns.
func (ev *Evaluator) evaluated(ctx context.Context, subject run.Subject, a admitted, o EngineOutcome, owned ownedSession) (run.Evaluated, error) {
	e := run.Evaluated{
		Subject: subject, Status: statusOf(o), Checkable: owned.id == "" || o.SessionOpened,
		Warnings: boundWarnings(o.Messages), Engine: o.By, Asked: o.Asked,
		ExecutionMS: o.Elapsed.Milliseconds(), EvaluatedAt: event.Timestamp(ev.config.Clock.Now()),
	}
	if e.Engine == (run.Engine{}) {
		e.Engine.Name, e.Engine.Revision = ev.config.Engine.Describe()
	}
	if warning := owned.lossWarning(a.Evaluate); warning != "" {
		e.Warnings = append(e.Warnings, warning)
	}
	var err error
	if e.Answer, err = storeText(ctx, ev.config.Blobs, o.Result); err != nil {
		return e, err
	}
	if e.InputForm, err = storeText(ctx, ev.config.Blobs, o.InputForm); err != nil {
		return e, err
	}
	if e.Stdout, err = ev.storeStdout(ctx, o.Stdout); err != nil {
		return e, err
	}
	e.Plot, err = ev.storePlot(ctx, o)
	return e, err
}

func statusOf(o EngineOutcome) run.Status {
	switch {
	case o.PlotOmitted:
		return run.PlotOmitted
	case o.Unevaluated:
		return run.Unevaluated
	}
	return run.Success
}

// storeStdout is nil when nothing was printed.
func (ev *Evaluator) storeStdout(ctx context.Context, stdout string) (*event.Text, error) {
	if stdout == "" {
		return nil, nil
	}
	text, err := storeText(ctx, ev.config.Blobs, stdout)
	return &text, err
}

// storePlot is nil without a graphic to keep.
func (ev *Evaluator) storePlot(ctx context.Context, o EngineOutcome) (*event.Blob, error) {
	if o.SVG == nil || o.PlotOmitted {
		return nil, nil
	}
	plot, err := StoreBlob(ctx, ev.config.Blobs, o.SVG)
	return &plot, err
}

// boundWarnings keeps the first maxWarnings messages, each shortened to
// maxWarningBytes, and one more that counts the rest.
func boundWarnings(messages []string) []string {
	var kept []string
	for i, m := range messages {
		if i == maxWarnings {
			return append(kept, fmt.Sprintf("%d more warnings", len(messages)-maxWarnings))
		}
		kept = append(kept, shorten(m, maxWarningBytes))
	}
	return kept
}

// shorten cuts s to at most maxBytes at a character's border and ends it with an
// ellipsis, unless it is short enough already.
func shorten(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxBytes-len("…")], "") + "…"
}
