package commands

import (
	"context"
	"time"

	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/verification"
)

// Checker finds out independently whether an answer is right. What goes wrong is
// an inconclusive check with its reason. An error means that nothing was checked: a
// SaturatedError, or the context's error.
type Checker interface {
	Check(ctx context.Context, r CheckRequest) (run.Check, error)
}

// CheckRequest is one answer to check.
type CheckRequest struct {
	Account   string           // whose share of the checker's workers it takes
	Code      string           // the expression as submitted
	Tree      *expression.Expr // Code as the service's own parser reads it; nil: it does not
	Answer    string           // the engine's answer in a form that parses back
	Steps     verification.Steps
	QueueWait time.Duration // longest wait for a worker before a SaturatedError
}

const (
	// automaticSteps bounds an automatic check, always equally, so that its verdict depends on the expression and the
	// answer only. A plan whose evaluations have less time than they may take bounds them.
	automaticSteps verification.Steps = 60_000
	// MaxCheckSteps bounds a requested check, in steps of the checker.
	MaxCheckSteps verification.Steps = 500_000
	// automaticQueueWait is the longest wait of an automatic check for a worker: an evaluation's answer waits with it.
	automaticQueueWait = time.Second
)

// check checks an answer alongside its evaluation. It is nil when nothing was
// learned, when there is no usable answer or earlier evaluations of the
// session could have changed what the expression means, when no worker was free
// within automaticQueueWait, and when the caller went away.
func (ev *Evaluator) check(ctx context.Context, a admitted, c computation) *run.Check {
	if !c.evaluated.Checkable || c.evaluated.Status != run.Success {
		return nil
	}
	return checkOutcome(ctx, ev.config.Checker, c.outcome, CheckRequest{Account: c.evaluated.Account, Code: a.Expression, Tree: a.tree}, a.budget())
}

// checkOutcome is the automatic check of an answer; nil when nothing was learned.
func checkOutcome(ctx context.Context, checker Checker, o EngineOutcome, r CheckRequest, budget time.Duration) *run.Check {
	checked := o.Check
	if checked == nil {
		r.Answer = o.InputForm
		made, err := CheckAlongside(ctx, checker, r, budget)
		if err != nil {
			return nil
		}
		checked = &made
	}
	if !checked.Conclusive() {
		return nil
	}
	return checked
}

// CheckAlongside is an automatic check, within what an evaluation with this budget may be checked for, or within r.Steps where these are given.
// Its errors are the checker's.
func CheckAlongside(ctx context.Context, checker Checker, r CheckRequest, budget time.Duration) (run.Check, error) {
	if r.Steps == 0 {
		r.Steps = min(automaticSteps, verification.StepsWithin(budget))
	}
	r.QueueWait = automaticQueueWait
	checked, err := checker.Check(ctx, r)
	checked = boundCheck(checked)
	checked.Automatic = true
	return checked, err
}

// boundCheck keeps an event with a check small, whatever the check's output was.
func boundCheck(c run.Check) run.Check {
	c.Check, c.Residual = shorten(c.Check, event.MaxInlineBytes), shorten(c.Residual, event.MaxInlineBytes)
	return c
}
