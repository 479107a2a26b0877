package reference

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/expression"
	"reckon/domain/reference"
	"reckon/domain/run"
	"reckon/runners/engine"
)

// reader is the account whose share of the workers examples take.
const reader = "reference"

// queueWait is how long an example waits for a worker: it is not in a hurry.
const queueWait = time.Hour

// Runner runs examples.
type Runner struct {
	Engine  commands.Engine
	Checker commands.Checker
	Plan    account.Plan  // whose permissions examples have
	Budget  time.Duration // of one evaluation, and of one job
	jobs    *jobs
}

// Run evaluates an example's input and has the answer checked, or runs the job that it submits. The error is one that says nothing about the example: the context's, a
// worker that did not come free.
func (r Runner) Run(ctx context.Context, example reference.Example) (reference.Ran, error) {
	if body, ok := example.JobRequest(); ok {
		return r.jobs.run(ctx, body, r.Plan, r.Budget)
	}
	ran, err := r.evaluate(ctx, example.Input)
	if err != nil || ran.Refused != "" || example.Right.Way != reference.ByValue {
		return ran, err
	}
	tree, err := expression.Parse(example.Input)
	if err != nil { // several expressions, or what only the engine reads
		ran.Check.About = "the checker reads one expression of the language"
	} else if ran.Check, err = r.verdict(ctx, example.Input, tree, ran.Answer.InputForm); err != nil {
		return ran, err
	}
	if same, _ := reference.Compare(example.Right, ran.Answer); same || ran.Check.Refuted {
		return ran, nil
	}
	if example.Right.Checked {
		if ran.Check.Verified {
			ran.Given, err = r.verdict(ctx, example.Input, tree, example.Right.Value.Source())
		}
		return ran, err
	}
	if question, ok := example.Right.Question(); ok {
		ran.Equal, err = r.verdict(ctx, question.Source(), question, ran.Answer.InputForm)
	}
	return ran, err
}

func (r Runner) evaluate(ctx context.Context, input string) (ran reference.Ran, err error) {
	err = commands.Admit(commands.Evaluate{Expression: input, Plan: r.Plan})
	var denied *commands.DeniedError
	if errors.As(err, &denied) {
		return reference.Ran{Refused: err.Error(), Denied: true}, nil
	}
	if err != nil {
		return reference.Ran{Refused: err.Error()}, nil
	}
	outcome, err := r.Engine.Evaluate(ctx, commands.EngineRequest{Code: input, Account: reader, Budget: r.Budget, QueueWait: queueWait})
	var failed *commands.EngineFailedError
	switch {
	case errors.Is(err, commands.ErrBudgetExhausted):
		return reference.Ran{Refused: fmt.Sprintf("it takes longer than %v", r.Budget), OutOfTime: true}, nil
	case errors.As(err, &failed) && failed.Detail == engine.NoAccess:
		return reference.Ran{Refused: failed.Detail, Denied: true}, nil
	case errors.As(err, &failed) && failed.Reason != run.FailureCancelled:
		return reference.Ran{Refused: string(failed.Reason) + ": " + failed.Detail}, nil
	case err != nil:
		return reference.Ran{}, err
	}
	ran.Unevaluated = outcome.Unevaluated
	ran.Answer = reference.Answer{
		Result: outcome.Result, InputForm: outcome.InputForm, Stdout: outcome.Stdout, Messages: outcome.Messages, SVG: outcome.SVG,
	}
	return ran, nil
}

func (r Runner) verdict(ctx context.Context, code string, tree *expression.Expr, answer string) (reference.Verdict, error) {
	check, err := r.Checker.Check(ctx, commands.CheckRequest{
		Account: reader, Code: code, Tree: tree, Answer: answer, Steps: commands.MaxCheckSteps, QueueWait: queueWait,
	})
	if err != nil {
		return reference.Verdict{}, err
	}
	v := reference.Verdict{Verified: check.Verdict == run.VerdictVerified, Refuted: check.Verdict == run.VerdictRefuted}
	switch v.About = fmt.Sprintf("%s, %s", check.Method, check.Basis); {
	case v.Refuted:
		v.About += ": " + check.Residual
	case !v.Verified:
		v.About = string(check.Reason)
	}
	return v, nil
}
