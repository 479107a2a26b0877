package commands

import (
	"context"
	"time"

	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/run"
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
	Budget    time.Duration    // processor time for computing the check; waiting is not counted
	QueueWait time.Duration    // longest wait for a worker before a SaturatedError
}

const (
	// minCheckBudget is the least that an automatic check gets: it gets a third of its evaluation's time, within both bounds.
	minCheckBudget = 300 * time.Millisecond
	// MaxCheckBudget is what a check that was asked for may take, and any check at most.
	MaxCheckBudget = 10 * time.Second
)

// check checks an answer alongside its evaluation. It is nil when nothing was
// learned, when there is no usable answer or earlier evaluations of the
// session could have changed what the expression means, when no worker was free
// within the check's budget, and when the caller went away.
func (ev *Evaluator) check(ctx context.Context, a admitted, c computation) *run.Check {
	if !c.evaluated.Checkable || c.evaluated.Status != run.Success {
		return nil
	}
	budget := min(max(minCheckBudget, c.outcome.Elapsed/3), MaxCheckBudget)
	checked, err := ev.config.Checker.Check(ctx, CheckRequest{
		Account: c.evaluated.Account, Code: a.Expression, Tree: a.tree, Answer: c.outcome.InputForm, Budget: budget, QueueWait: budget,
	})
	if err != nil || !checked.Conclusive() {
		return nil
	}
	checked = boundCheck(checked)
	checked.Automatic = true
	return &checked
}

// boundCheck keeps an event with a check small, whatever the check's output was.
func boundCheck(c run.Check) run.Check {
	c.Check, c.Residual = shorten(c.Check, event.MaxInlineBytes), shorten(c.Residual, event.MaxInlineBytes)
	return c
}
