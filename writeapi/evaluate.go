package writeapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// evaluateInput is interface §2.1.
type evaluateInput struct {
	Body struct {
		Expression string `json:"expression" minLength:"1" describedMaxLength:"1048576" doc:"Source text, evaluated as given" example:"Integrate[x^2 Sin[x], x]"`
		SessionID  string `json:"session_id,omitempty" describedPattern:"^[A-Za-z0-9._-]{1,64}$" doc:"Persistent session to run in: your own name for it, 1 to 64 of A-Z a-z 0-9 . _ -" example:"notebook-1"`
	}
}

type evaluateOutput struct{ Body view.Evaluation }

func (s Services) registerEvaluate(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/evaluate", ID: "evaluate", Tag: "Evaluation", Summary: "Evaluate an expression",
		Description: "Evaluates within the plan's compute budget, checks the answer where a rule covers it, and logs the run with its signed receipt before answering. When the client goes away the evaluation is stopped: its run is logged as failed, and a session's variables are gone.",
		Access:      httpkit.Bearer, Scope: "evaluate", Limit: s.perMinute(), ReturnsToken: true, Errors: problems,
		Kinds: []httpkit.Kind{
			httpkit.ExpressionRequired, httpkit.TooComplex, httpkit.InvalidSessionID,
			httpkit.ExpressionDenied, httpkit.BudgetExhausted, httpkit.TooManySessions, httpkit.TooMany, httpkit.SyntaxError, httpkit.EngineRefused, httpkit.OutputTooLarge,
			httpkit.EngineQuit, httpkit.EngineCrashed, httpkit.SessionClosed, httpkit.Cancelled, httpkit.Saturated, httpkit.Unavailable,
		},
		MissingFieldKinds: map[string]httpkit.Kind{"expression": httpkit.ExpressionRequired, "session_id": httpkit.InvalidSessionID},
		MisnamedFields:    map[string]string{"input": "expression", "code": "expression"},
	}, s.evaluate)
}

func (s Services) evaluate(ctx context.Context, in *evaluateInput) (*evaluateOutput, error) {
	plan := s.plan(ctx)
	// When the client closes the connection the worker is stopped; the run is logged all the same.
	ctx, cancel := context.WithTimeout(ctx, s.Overhead+plan.EvaluationBudget())
	defer cancel()
	intent := s.intent(ctx)
	command := commands.Evaluate{Expression: in.Body.Expression, SessionID: in.Body.SessionID, Plan: plan}
	if err := command.Validate(); err != nil {
		return nil, err
	}
	var answer commands.Evaluation
	err := s.withinLimits(ctx, plan, plan.EvaluationBudget(), func() (err error) {
		answer, err = s.Evaluate(ctx, intent, command)
		return err
	})
	if err != nil {
		return nil, s.explainFailure(ctx, intent.Account, command, err)
	}
	s.announceWrite(ctx, intent.Account, answer.Position)
	return &evaluateOutput{view.EvaluationOf(answer.Run, answer.Result, answer.Stdout, answer.Suggestions)}, nil
}

// explainFailure makes the problem of an error that says more than its kind: which
// head is denied, what the parser refused, which run was logged without an answer.
// Any other error is returned as it is, for the table of problems.
func (s Services) explainFailure(ctx context.Context, accountID string, c commands.Evaluate, err error) error {
	var ended *commands.RunEndedError
	if errors.As(err, &ended) {
		s.announceWrite(ctx, accountID, ended.Position)
		return runEnded(ended, c)
	}
	return explainRefusal(explainSaturation(err))
}

// explainSaturation makes the problem of a request for which no worker was free, with the time when one will be. Any
// other error is returned as it is.
func explainSaturation(err error) error {
	if late, is := errors.AsType[*commands.SaturatedError](err); is {
		return httpkit.Saturated.Problem("%s", late.Error()).WithRetryAfter(late.RetryAfter).WithCause(err)
	}
	return err
}

// explainRefusal makes the problem of an expression that is not admitted. Any other
// error is returned as it is.
func explainRefusal(err error) error {
	var denied *commands.DeniedError
	var refused *expression.SyntaxError
	var unread *commands.NotInLanguageError
	switch {
	case errors.As(err, &unread):
		problem := atSubmission(httpkit.SyntaxError).Problem("%s", unread.Detail).WithCause(err)
		problem.Suggestions = view.SuggestionsOf(unread.Suggestions)
		return problem
	case errors.As(err, &denied):
		return httpkit.ExpressionDenied.Problem("%s", denied.Error()).WithCause(err)
	case errors.As(err, &refused):
		return httpkit.TooComplex.Problem("%s", refused.Error()).WithCause(err)
	}
	return err
}

// engineFailures says of which kind the problem of each failure is.
var engineFailures = map[run.FailureReason]httpkit.Kind{
	run.FailureSyntax: httpkit.SyntaxError, run.FailureRefused: httpkit.EngineRefused, run.FailureOutputTooLarge: httpkit.OutputTooLarge,
	run.FailureQuit: httpkit.EngineQuit, run.FailureCrashed: httpkit.EngineCrashed, run.FailureMemory: httpkit.EngineCrashed,
	run.FailureSessionClosed: httpkit.SessionClosed, run.FailureCancelled: httpkit.Cancelled,
}

// runEnded makes the problem of a run that was logged without an answer.
func runEnded(ended *commands.RunEndedError, c commands.Evaluate) error {
	var failed *commands.EngineFailedError
	var problem *httpkit.Problem
	switch {
	case errors.Is(ended, commands.ErrBudgetExhausted):
		problem = httpkit.BudgetExhausted.Problem("the evaluation ran past the plan's compute budget of %v and was stopped; simplify it or submit it as a job", c.Plan.EvaluationBudget()).WithRun(ended.RunID)
	case errors.As(ended, &failed):
		problem = engineFailures[failed.Reason].Problem("%s", cmp.Or(failed.Detail, failed.Error())).WithRun(ended.RunID)
		problem.Suggestions = view.SuggestionsOf(c.Suggestions())
	default:
		return ended
	}
	if ended.SessionEnded != "" {
		problem = problem.WithSessionEnded(c.SessionID, httpkit.SessionEnd(ended.SessionEnded))
	}
	return problem
}
