package commands

import (
	"context"
	"errors"
	"strings"
	"time"

	"reckon/domain/event"
	"reckon/domain/run"
)

// Checker finds out independently whether an answer is right. It never fails:
// what goes wrong is an inconclusive check with its reason.
type Checker interface {
	// Check answers within the budget. code is the expression as submitted,
	// answer the engine's answer in a form that parses back.
	Check(ctx context.Context, code, answer string, budget time.Duration) run.Check
}

const (
	minAutomaticBudget = 300 * time.Millisecond
	// requestedBudget is what a check asked for may take. Automatic ones get a
	// third of their evaluation's time, within these bounds.
	requestedBudget = 10 * time.Second
)

// automaticCheck checks an answer alongside its evaluation.
func (ev *Evaluator) automaticCheck(ctx context.Context, code string, o EngineOutcome) run.Check {
	check := ev.Checker.Check(ctx, code, o.InputForm, min(max(minAutomaticBudget, o.Elapsed/3), requestedBudget))
	check.Automatic = true
	return boundCheck(check)
}

// Verify is the intention to check an answer: of a run, or of a pair.
type Verify struct {
	RunID  int64  // 0: the pair
	Code   string // the original expression
	Result string // the answer to check
}

// Verification is the answer to a Verify.
type Verification struct {
	run.Check
	Position event.Position // of the run's last event, the check when it was kept; zero for a pair
}

// ErrVerifyForm means that a request named neither a run nor a complete pair, or both.
var ErrVerifyForm = errors.New("give either run_id alone, or both code and result")

// Verify checks an answer with the longer budget and stores what it learned on
// the run. A pair is checked and stored nowhere.
func (ev *Evaluator) Verify(ctx context.Context, in Intent, c Verify) (Verification, error) {
	pair := strings.TrimSpace(c.Code) != "" && strings.TrimSpace(c.Result) != ""
	switch {
	case c.RunID != 0 && (c.Code != "" || c.Result != ""), c.RunID == 0 && !pair:
		return Verification{}, ErrVerifyForm
	case c.RunID == 0:
		return Verification{Check: boundCheck(ev.Checker.Check(ctx, c.Code, c.Result, requestedBudget))}, nil
	}
	history, err := ev.Store.Read(ctx, run.Stream(c.RunID))
	if err != nil {
		return Verification{}, err
	}
	s := run.Decider.Fold(history.Domain())
	if !s.Exists() || s.Subject().Account != in.Account {
		return Verification{}, run.ErrNone
	}
	check, err := ev.checkRun(ctx, s)
	if err != nil {
		return Verification{}, err
	}
	if s.Evaluated == nil {
		return Verification{Check: check}, nil
	}
	_, at, err := Handle(ctx, ev.Store, run.Decider, run.Stream(c.RunID), in,
		run.Command(run.RecordCheck{Verified: run.Verified{RunID: c.RunID, Account: in.Account, Check: check}}))
	return Verification{Check: check, Position: at}, err
}

func (ev *Evaluator) checkRun(ctx context.Context, s run.State) (run.Check, error) {
	switch {
	case s.Evaluated == nil, s.Evaluated.Status != run.Success:
		return run.Check{Verdict: "inconclusive", Reason: "answer_not_usable"}, nil
	case !s.Evaluated.Checkable:
		return run.Check{Verdict: "inconclusive", Reason: "check_not_permitted"}, nil
	}
	code, err := loadText(ctx, ev.Blobs, s.Evaluated.Expression)
	if err != nil {
		return run.Check{}, err
	}
	answer, err := loadText(ctx, ev.Blobs, s.Evaluated.InputForm)
	if err != nil {
		return run.Check{}, err
	}
	return boundCheck(ev.Checker.Check(ctx, code, answer, requestedBudget)), nil
}

// boundCheck keeps an event with a check small, whatever the check's output was.
func boundCheck(c run.Check) run.Check {
	c.Check, c.Residual = cut(c.Check, event.MaxInlineBytes), cut(c.Residual, event.MaxInlineBytes)
	return c
}
