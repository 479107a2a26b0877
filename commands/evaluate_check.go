package commands

import (
	"context"
	"time"

	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/run"
)

// Checker finds out independently whether an answer is right. It has no errors:
// what goes wrong is an inconclusive check with its reason.
type Checker interface {
	Check(ctx context.Context, r CheckRequest) run.Check
}

// CheckRequest is one answer to check.
type CheckRequest struct {
	Code   string           // the expression as submitted
	Tree   *expression.Expr // Code as the service's own parser reads it; nil: it does not
	Answer string           // the engine's answer in a form that parses back
	Budget time.Duration    // processor time for computing the check; waiting is not counted
}

// A check that was asked for may take maxCheckBudget; an automatic one gets a
// third of its evaluation's time, within both bounds.
const (
	minCheckBudget = 300 * time.Millisecond
	maxCheckBudget = 10 * time.Second
)

// check checks an answer alongside its evaluation. It is nil when nothing was
// learned, and when there is no usable answer or earlier evaluations of the
// session could have changed what the expression means.
func (ev *Evaluator) check(ctx context.Context, a admitted, c computation) *run.Check {
	if !c.evaluated.Checkable || c.evaluated.Status != run.Success {
		return nil
	}
	checked := boundCheck(ev.config.Checker.Check(ctx, CheckRequest{
		Code: a.Expression, Tree: a.tree, Answer: c.outcome.InputForm, Budget: min(max(minCheckBudget, c.outcome.Elapsed/3), maxCheckBudget),
	}))
	if !checked.Conclusive() {
		return nil
	}
	checked.Automatic = true
	return &checked
}

// boundCheck keeps an event with a check small, whatever the check's output was.
func boundCheck(c run.Check) run.Check {
	c.Check, c.Residual = shorten(c.Check, event.MaxInlineBytes), shorten(c.Residual, event.MaxInlineBytes)
	return c
}
