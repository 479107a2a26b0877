package adapter

import (
	"context"
	"errors"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/verification"
	"reckon/runners/checker"
	"reckon/runners/engine"
)

// Checker is the independent checker as a commands.Checker.
type Checker struct {
	Engine  *engine.Engine // asked only how it reads the expression
	Checker *checker.Checker
}

// Check is commands.Checker: it derives a plan from the shape of the expression,
// makes sure that the engine reads the expression as the service's parser does,
// and has the plan carried out.
func (c Checker) Check(ctx context.Context, r commands.CheckRequest) run.Check {
	started := time.Now()
	outcome := c.check(ctx, r)
	return run.Check{
		Verdict: run.Verdict(outcome.Verdict), Basis: run.Basis(outcome.Basis), Method: outcome.Method, Check: outcome.Check,
		Residual: outcome.Residual, Reason: run.InconclusiveReason(outcome.Reason), ElapsedMS: time.Since(started).Milliseconds(),
	}
}

func (c Checker) check(ctx context.Context, r commands.CheckRequest) verification.Outcome {
	if r.Tree == nil {
		return inconclusive(verification.ReasonNoShape)
	}
	answer, err := expression.Parse(r.Answer)
	if err != nil {
		return inconclusive(verification.ReasonAnswerNotUsable)
	}
	plan, err := verification.Derive(r.Tree, answer)
	var none *verification.NoPlanError
	if errors.As(err, &none) {
		return verification.OutcomeOf(none)
	}
	if err != nil {
		return inconclusive(verification.ReasonEngineError)
	}
	if outcome, same := c.engineReadsTheSame(ctx, r); !same {
		return outcome
	}
	finding, err := c.Checker.Check(ctx, plan, r.Budget)
	if err != nil {
		return inconclusive(verification.ReasonEngineError)
	}
	return verification.Conclude(plan, finding)
}

// readSlack is wall time that the engine gets to read an expression, in addition to the budget: a machine that is busy must
// not change a verdict.
const readSlack = 10 * time.Second

// engineReadsTheSame asks a throwaway worker how the engine reads the expression.
// Where it reads something else than the service's parser, a check of the
// parser's reading would say nothing about the answer.
func (c Checker) engineReadsTheSame(ctx context.Context, r commands.CheckRequest) (verification.Outcome, bool) {
	engineForm, err := c.Engine.InputFullForm(ctx, r.Code, r.Budget+readSlack)
	switch {
	case errors.Is(err, engine.ErrBudgetExhausted):
		return inconclusive(verification.ReasonTimedOut), false
	case err != nil:
		return inconclusive(verification.ReasonEngineError), false
	case !expression.SameAsEngine(r.Tree, engineForm):
		return inconclusive(verification.ReasonNotPermitted), false
	}
	return verification.Outcome{}, true
}

func inconclusive(reason verification.Reason) verification.Outcome {
	return verification.Outcome{Verdict: verification.VerdictInconclusive, Reason: reason}
}
