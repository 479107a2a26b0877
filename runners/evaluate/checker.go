package evaluate

import (
	"context"
	"errors"
	"time"

	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/engine"
)

// Checker is the independent checker as commands see it.
type Checker struct {
	Engine  *engine.Engine // asked only how it reads the expression
	Checker *checker.Checker
}

// Check derives a plan from the shape of the expression, makes sure that the
// engine reads the expression as we do, and has the plan carried out.
func (c Checker) Check(ctx context.Context, code, answer string, budget time.Duration) run.Check {
	started := time.Now()
	outcome := c.check(ctx, code, answer, budget)
	return run.Check{
		Verdict: outcome.Verdict, Basis: outcome.Basis, Method: outcome.Method, Check: outcome.Check,
		Residual: outcome.Residual, Reason: outcome.Reason, ElapsedMS: time.Since(started).Milliseconds(),
	}
}

func (c Checker) check(ctx context.Context, code, answer string, budget time.Duration) verification.Outcome {
	input, err := expression.Parse(code)
	if err != nil {
		return inconclusive(verification.ReasonNoShape)
	}
	given, err := expression.Parse(answer)
	if err != nil {
		return inconclusive(verification.ReasonAnswerNotUsable)
	}
	plan, err := verification.Derive(input, given)
	var none *verification.NoPlanError
	if errors.As(err, &none) {
		return verification.OutcomeOf(none)
	}
	if err != nil {
		return inconclusive(verification.ReasonEngineError)
	}
	if outcome, same := c.readAlike(ctx, code, input, budget+readSlack); !same {
		return outcome
	}
	finding, err := c.Checker.Check(ctx, plan, budget)
	if err != nil {
		return inconclusive(verification.ReasonEngineError)
	}
	return verification.Conclude(plan, finding)
}

// readSlack is the wall time that the engine gets to read an expression, over the budget: a machine that is busy must not
// change a verdict.
const readSlack = 10 * time.Second

// readAlike asks a throwaway worker how the engine reads the expression. Where
// it reads something else, a check of our reading would say nothing.
func (c Checker) readAlike(ctx context.Context, code string, ours *expression.Expr, budget time.Duration) (verification.Outcome, bool) {
	theirs, err := c.Engine.InputFullForm(ctx, code, budget)
	switch {
	case errors.Is(err, engine.ErrBudgetExhausted):
		return inconclusive(verification.ReasonTimedOut), false
	case err != nil:
		return inconclusive(verification.ReasonEngineError), false
	case !expression.SameAsEngine(ours, theirs):
		return inconclusive(verification.ReasonNotPermitted), false
	}
	return verification.Outcome{}, true
}

func inconclusive(reason string) verification.Outcome {
	return verification.Outcome{Verdict: verification.VerdictInconclusive, Reason: reason}
}
