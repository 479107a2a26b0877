package writeapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
)

// maxAnonymousBudget is the longest that an evaluation without an account computes; less where the first plan's own is short.
const maxAnonymousBudget = time.Second

// Anonymous is evaluation without an account.
type Anonymous struct {
	// Evaluate is that of a commands.Anonymous.
	Evaluate func(context.Context, commands.AdmittedAnonymously) (commands.AnonymousEvaluation, error)
	PerHour  int               // evaluations per client address; 0: the operator switched it off
	Limiter  ratelimit.Limiter // of them
	// Caller names a client address in an hour by something that tells nothing of it.
	Caller func(ctx context.Context, address string, hour time.Time) (string, error)
}

type anonymousInput struct {
	Body struct {
		Expression string `json:"expression" minLength:"1" describedMaxLength:"400" doc:"Mathematics, at most 400 bytes of UTF-8" example:"Integrate[x^2 Sin[x], x]"`
	}
}

type anonymousOutput struct {
	Body struct {
		Result      string               `json:"result" doc:"The answer as rendered for people"`
		Status      run.Status           `json:"status" enum:"success,unevaluated,plot_omitted" doc:"unevaluated: the engine returned the input unchanged, so the result is no answer"`
		Stdout      *string              `json:"stdout" doc:"What the expression printed; null when it printed nothing"`
		Warnings    []string             `json:"warnings" doc:"Messages of the engine and of suggestions, in order; empty when there were none"`
		Suggestions []httpkit.Suggestion `json:"suggestions" doc:"What parts of the expression were probably meant to be; it was evaluated as given"`
		ElapsedMS   int64                `json:"elapsed_ms" doc:"Time the evaluation took, in milliseconds"`
		// Verification is as an account gets it, but that it is kept and signed nowhere.
		Verification *view.Verification `json:"verification" doc:"The automatic check, when a rule covers the expression and reached a verdict; null means that nothing was learned"`
		Engines      []run.Asked        `json:"engines,omitempty" doc:"What became of asking each engine, in order, when the first one had no answer or a refuted one; absent when it was the only one asked"`
	}
}

func (s Services) registerAnonymous(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/api/public/evaluate", ID: "evaluate-anonymously", Tag: "Evaluation", Summary: "Evaluate mathematics without an account",
		Description: "Only functions of a list of mathematics may be used: a 403 names the one that is not and gives the list. The budget is shorter than any plan's. The answer is checked as an account's is. Nothing is stored: no run and no receipt.",
		Limit:       &httpkit.Limit{Allowance: s.anonymousLeft, Exceeded: httpkit.RateLimited, Counts: "evaluations without an account from the client's address in a clock hour"},
		Errors:      problems,
		Kinds: []httpkit.Kind{
			httpkit.ExpressionRequired, httpkit.NotMathematics, httpkit.AnonymousOff, httpkit.BudgetExhausted, httpkit.ExpressionTooLong, httpkit.SyntaxError,
			httpkit.EngineRefused, httpkit.OutputTooLarge, httpkit.EngineQuit, httpkit.EngineCrashed, httpkit.Cancelled, httpkit.Saturated, httpkit.Unavailable,
		},
		MissingFieldKinds: map[string]httpkit.Kind{"expression": httpkit.ExpressionRequired},
		MisnamedFields:    map[string]string{"input": "expression", "code": "expression"},
	}, s.evaluateAnonymously)
}

func (s Services) evaluateAnonymously(ctx context.Context, in *anonymousInput) (*anonymousOutput, error) {
	if s.Anonymous.PerHour == 0 {
		return nil, httpkit.AnonymousOff.Problem("evaluation without an account is switched off here: open one with POST /auth/register")
	}
	caller, err := s.anonymousCaller(ctx)
	if err != nil {
		return nil, err
	}
	command := commands.EvaluateAnonymous{Expression: in.Body.Expression, Caller: caller, Budget: s.AnonymousBudget()}
	admitted, err := commands.AdmitAnonymous(command)
	if err != nil {
		return nil, explainAnonymous(err, command)
	}
	allowance, err := s.inThisHour(ctx, caller, s.Anonymous.Limiter.Count)
	if err != nil {
		return nil, err
	}
	if err := s.rejectIfOverLimit(ctx, allowance, "%d evaluations an hour are answered without an account; open one, or wait", allowance.Limit); err != nil {
		return nil, err
	}
	answer, err := s.answerAnonymously(ctx, admitted, command.Budget)
	if err = giveBackIfRefusedForNow(ctx, s.Anonymous.Limiter, caller, allowance, err); err != nil {
		return nil, explainAnonymous(err, command)
	}
	out := &anonymousOutput{}
	out.Body.Result, out.Body.Status, out.Body.Stdout = answer.Result, answer.Status, view.NullIfEmpty(answer.Stdout)
	out.Body.Warnings, out.Body.Suggestions = append([]string{}, answer.Warnings...), view.SuggestionsOf(answer.Suggestions)
	out.Body.ElapsedMS, out.Body.Verification = answer.Elapsed.Milliseconds(), view.VerificationOf(answer.Check)
	out.Body.Engines = answer.Engines
	return out, nil
}

// answerAnonymously evaluates what was admitted.
func (s Services) answerAnonymously(ctx context.Context, admitted commands.AdmittedAnonymously, budget time.Duration) (commands.AnonymousEvaluation, error) {
	bounded, cancel := context.WithTimeout(ctx, s.Overhead+budget)
	defer cancel()
	return s.Anonymous.Evaluate(bounded, admitted)
}

// EvaluateForItself answers a question of the service itself, as one without an account is answered; it counts to nobody's allowance.
func (s Services) EvaluateForItself(ctx context.Context, source string) (view.Evaluation, error) {
	command := commands.EvaluateAnonymous{Expression: source, Budget: s.AnonymousBudget()}
	admitted, err := commands.AdmitAnonymous(command)
	if err != nil {
		return view.Evaluation{}, err
	}
	answer, err := s.answerAnonymously(ctx, admitted, command.Budget)
	return view.Evaluation{
		Result: answer.Result, Status: answer.Status, Warnings: answer.Warnings, Suggestions: view.SuggestionsOf(answer.Suggestions),
		ExecutionTimeMS: answer.Elapsed.Milliseconds(), Verification: view.VerificationOf(answer.Check), Engines: answer.Engines,
	}, err
}

// AnonymousBudget is shorter than that of the first plan, which is what one gets without paying.
func (s Services) AnonymousBudget() time.Duration {
	return min(maxAnonymousBudget, s.Plans[0].EvaluationBudget()/2)
}

// inThisHour counts a caller's requests, or looks at them, up to the end of this clock hour, in which a caller has one name.
func (s Services) inThisHour(ctx context.Context, caller string, count func(context.Context, string, ratelimit.Rule, time.Time) (ratelimit.Allowance, error)) (ratelimit.Allowance, error) {
	now := s.Clock.Now()
	end := now.Truncate(time.Hour).Add(time.Hour)
	allowance, err := count(ctx, caller, ratelimit.Rule{Requests: s.Anonymous.PerHour, Window: end.Sub(now)}, now)
	allowance.ResetAt = end // of the hour, whenever in it the caller's first request was
	return allowance, err
}

// anonymousCaller names who asks in this hour.
func (s Services) anonymousCaller(ctx context.Context) (string, error) {
	return s.Anonymous.Caller(ctx, httpkit.RequestOf(ctx).Address, s.Clock.Now().Truncate(time.Hour))
}

// anonymousLeft is what is left to the client's address.
func (s Services) anonymousLeft(ctx context.Context) (ratelimit.Allowance, error) {
	if s.Anonymous.PerHour == 0 {
		return ratelimit.Allowance{}, httpkit.AnonymousOff.Problem("evaluation without an account is switched off here")
	}
	caller, err := s.anonymousCaller(ctx)
	if err != nil {
		return ratelimit.Allowance{}, err
	}
	return s.inThisHour(ctx, caller, s.Anonymous.Limiter.Peek)
}

// explainAnonymous makes the problem of an evaluation without an account that has no answer. Any other error is returned as it is.
func explainAnonymous(err error, c commands.EvaluateAnonymous) error {
	if refusal, is := errors.AsType[*expression.Refusal](err); is {
		problem := httpkit.NotMathematics.Problem("%s; an account may use it", refusal.Error()).WithHead(refusal.Name, expression.Mathematics()).WithCause(err)
		problem.Suggestions = suggestionsFor(c)
		return problem
	}
	if long, is := errors.AsType[*commands.TooLongError](err); is {
		return httpkit.ExpressionTooLong.Problem("%s", long.Error()).WithCause(err)
	}
	if wrong, is := errors.AsType[*expression.SyntaxError](err); is {
		problem := httpkit.SyntaxError.Problem("%s", wrong.Error()+"\n"+wrong.Excerpt(c.Expression)).WithCause(err)
		problem.Suggestions = suggestionsFor(c)
		return problem
	}
	if errors.Is(err, commands.ErrBudgetExhausted) {
		return httpkit.BudgetExhausted.Problem("the evaluation ran past the %v that it has without an account and was stopped; an account has more", c.Budget).WithCause(err)
	}
	if failed, is := errors.AsType[*commands.EngineFailedError](err); is {
		return engineFailures[failed.Reason].Problem("%s", cmp.Or(failed.Detail, failed.Error())).WithCause(err)
	}
	return explainSaturation(err)
}

// suggestionsFor says what an expression that is not evaluated was probably meant to be.
func suggestionsFor(c commands.EvaluateAnonymous) []httpkit.Suggestion {
	return view.SuggestionsOf(commands.Evaluate{Expression: c.Expression}.Suggestions())
}
