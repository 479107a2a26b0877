package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/domain/slips"
)

// MaxAnonymousBytes is the longest expression that is evaluated without an account.
const MaxAnonymousBytes = 400

// TooLongError means that an anonymous expression has more than MaxAnonymousBytes.
type TooLongError struct{ Bytes int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the expression has %d bytes of UTF-8, and at most %d are evaluated without an account", e.Bytes, MaxAnonymousBytes)
}

// EvaluateAnonymous is the command to evaluate one expression without an account.
type EvaluateAnonymous struct {
	Expression string
	Caller     string // who shares a part of the places: anything that tells callers apart
	Budget     time.Duration
}

// AnonymousEvaluation is its answer. It is not stored.
type AnonymousEvaluation struct {
	Result      string
	Status      run.Status
	Stdout      string
	Warnings    []string
	Suggestions []slips.Suggestion
	Elapsed     time.Duration
	Check       *run.Check  // nil: nothing was learned
	Engines     []run.Asked // every engine that was asked, where more than one was
}

// Anonymous evaluates without an account: mathematics only, and stores nothing.
type Anonymous struct {
	Engine    Engine
	Checker   Checker
	QueueWait time.Duration // as EvaluatorConfig has it
}

// mathematics are the names that an anonymous expression may use.
var mathematics = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range expression.Mathematics() {
		set[name] = true
	}
	return set
}()

// AdmittedAnonymously is an expression that may be evaluated without an account.
type AdmittedAnonymously struct {
	command EvaluateAnonymous
	code    string           // what the engine evaluates
	tree    *expression.Expr // nil: there are several, and the answer is to the last one
}

// AdmitAnonymous decides without the engine whether an expression may be evaluated. Its errors are ErrExpressionRequired,
// *TooLongError, *expression.Refusal and *expression.SyntaxError.
//
// The engine is not given the text but the tree that was admitted, written out again: spellings, escapes and spaces that it might read
// otherwise than the service's parser do not reach it.
func AdmitAnonymous(c EvaluateAnonymous) (AdmittedAnonymously, error) {
	switch {
	case len(c.Expression) > MaxAnonymousBytes:
		return AdmittedAnonymously{}, &TooLongError{len(c.Expression)}
	case strings.TrimSpace(c.Expression) == "":
		return AdmittedAnonymously{}, ErrExpressionRequired
	}
	all, err := expression.Allowlisted(c.Expression, mathematics)
	if err != nil {
		return AdmittedAnonymously{}, err
	}
	lines := make([]string, len(all))
	for i, e := range all {
		lines[i] = e.Source()
	}
	admitted := AdmittedAnonymously{command: c, code: strings.Join(lines, "\n")}
	if len(all) == 1 {
		admitted.tree = all[0]
	}
	return admitted, nil
}

// Evaluate has the engine evaluate, and the answer checked as an account's is. It returns ErrBudgetExhausted, an EngineFailedError, a SaturatedError, or the context's error.
func (a Anonymous) Evaluate(ctx context.Context, admitted AdmittedAnonymously) (AnonymousEvaluation, error) {
	c := admitted.command
	o, err := a.Engine.Evaluate(ctx, EngineRequest{Code: admitted.code, Tree: admitted.tree, Account: c.Caller, Budget: c.Budget, QueueWait: a.QueueWait})
	if err != nil {
		return AnonymousEvaluation{}, err
	}
	answer := AnonymousEvaluation{
		Result: o.Result, Status: statusOf(o), Stdout: o.Stdout, Warnings: boundWarnings(o.Messages), Suggestions: slips.Find(c.Expression), Elapsed: o.Elapsed, Engines: o.Asked,
	}
	for _, s := range answer.Suggestions {
		answer.Warnings = append(answer.Warnings, shorten(s.Message, maxWarningBytes))
	}
	if answer.Status == run.Success {
		answer.Check = checkOutcome(ctx, a.Checker, o, CheckRequest{Account: c.Caller, Code: admitted.code, Tree: admitted.tree}, c.Budget)
	}
	return answer, nil
}
