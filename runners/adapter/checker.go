package adapter

import (
	"context"
	"errors"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/verification"
	"reckon/internal/tracing"
	"reckon/runners/checker"
	"reckon/runners/engine"
	"reckon/runners/fair"
)

// Checker is the independent checker as a commands.Checker.
type Checker struct {
	Engine  *engine.Engine // asked only how it reads the expression
	Checker *checker.Checker
	Places  *fair.Pool // one for each check that runs
}

// Check is commands.Checker: it derives a plan from the shape of the expression,
// makes sure that the engine reads the expression as the service's parser does,
// and has the plan carried out. What both take counts against the account's share.
func (c Checker) Check(ctx context.Context, r commands.CheckRequest) (run.Check, error) {
	ctx, span := tracing.Below(ctx, tracing.Check, "")
	defer span.End()
	started := time.Now()
	outcome, err := c.check(ctx, r)
	span.Set(tracing.Text(tracing.Verdict, string(outcome.Verdict)), tracing.Text(tracing.Basis, string(outcome.Basis)))
	if err != nil {
		span.Fail()
	}
	return run.Check{
		Verdict: run.Verdict(outcome.Verdict), Basis: run.Basis(outcome.Basis), Method: outcome.Method, Check: outcome.Check,
		Residual: outcome.Residual, Reason: run.InconclusiveReason(outcome.Reason), ElapsedMS: time.Since(started).Milliseconds(),
	}, err
}

func (c Checker) check(ctx context.Context, r commands.CheckRequest) (verification.Outcome, error) {
	if r.Tree == nil {
		return inconclusive(verification.ReasonNoShape), nil
	}
	answer, err := expression.Parse(r.Answer)
	if err != nil {
		return inconclusive(verification.ReasonAnswerNotUsable), nil
	}
	plan, err := verification.Derive(r.Tree, answer)
	var none *verification.NoPlanError
	if errors.As(err, &none) {
		return verification.OutcomeOf(none), nil
	}
	if err != nil {
		return inconclusive(verification.ReasonEngineError), nil
	}
	place, err := c.Places.Acquire(ctx, r.Account, r.QueueWait, readBudget+2*r.Steps.Processor())
	if err != nil {
		return verification.Outcome{}, translate(err)
	}
	defer place.Release()
	outcome, err := c.carryOut(fair.At(ctx, place), r, plan)
	if ctx.Err() != nil { // who went away is told nothing, and nothing is kept of it
		err = ctx.Err()
	}
	return outcome, translate(err)
}

// carryOut reads the expression with the engine and computes the check. Its error is a *fair.SaturatedError.
func (c Checker) carryOut(ctx context.Context, r commands.CheckRequest, plan verification.Plan) (verification.Outcome, error) {
	if outcome, same, err := c.engineReadsTheSame(ctx, r); !same {
		return outcome, err
	}
	finding, err := c.Checker.Check(ctx, plan, r.Steps)
	if err != nil {
		return inconclusive(verification.ReasonEngineError), saturated(err)
	}
	return verification.Conclude(plan, finding), nil
}

// saturated is the error if it says that others had the place for too long.
func saturated(err error) error {
	if _, is := errors.AsType[*fair.SaturatedError](err); is {
		return err
	}
	return nil
}

// readBudget is wall time that the engine gets to read an expression, which takes it milliseconds: a machine that is busy must
// not change a verdict.
const readBudget = 20 * time.Second

// engineReadsTheSame asks a throwaway worker how the engine reads the expression.
// Where it reads something else than the service's parser, a check of the
// parser's reading would say nothing about the answer.
func (c Checker) engineReadsTheSame(ctx context.Context, r commands.CheckRequest) (_ verification.Outcome, same bool, err error) {
	engineForm, err := c.Engine.InputFullForm(ctx, r.Code, readBudget)
	switch {
	case errors.Is(err, engine.ErrBudgetExhausted):
		return inconclusive(verification.ReasonTimedOut), false, nil
	case err != nil:
		return inconclusive(verification.ReasonEngineError), false, saturated(err)
	case !expression.SameAsEngine(r.Tree, engineForm):
		return inconclusive(verification.ReasonNotPermitted), false, nil
	}
	return verification.Outcome{}, true, nil
}

func inconclusive(reason verification.Reason) verification.Outcome {
	return verification.Outcome{Verdict: verification.VerdictInconclusive, Reason: reason}
}
