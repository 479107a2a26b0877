package commands

import (
	"context"
	"errors"
	"strings"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/verification"
)

// Verify is the intention to check an answer: of a run, or of an expression and a
// result that the caller brings. It has either RunID, or both Code and Result.
type Verify struct {
	RunID  int64  // 0: Code and Result are checked
	Code   string // the expression
	Result string // the answer to check
}

// Verification is what a Verify found out.
type Verification struct {
	run.Check
	Position event.Position // of the run's last event, which is the check if it was kept; zero without a run
}

// ErrVerifyForm means that a request named neither a run nor a complete pair, or both.
var ErrVerifyForm = errors.New("give either run_id alone, or both code and result")

// Verify checks an answer within maxCheckBudget and logs what it learned with the
// run. Without a run nothing is logged. It returns ErrVerifyForm, run.ErrNotFound for a run
// that the intent's account does not have, or an error of the log or the blobs.
func (ev *Evaluator) Verify(ctx context.Context, in Intent, c Verify) (Verification, error) {
	hasBoth := strings.TrimSpace(c.Code) != "" && strings.TrimSpace(c.Result) != ""
	switch {
	case c.RunID != 0 && (c.Code != "" || c.Result != ""), c.RunID == 0 && !hasBoth:
		return Verification{}, ErrVerifyForm
	case c.RunID == 0:
		return Verification{Check: boundCheck(ev.config.Checker.Check(ctx, checkOnRequest(c.Code, c.Result)))}, nil
	}
	s, err := readState(ctx, ev.config.Store, run.Decider, run.Stream(c.RunID))
	if err != nil {
		return Verification{}, err
	}
	if !s.Exists() || s.Subject().Account != in.Account {
		return Verification{}, run.ErrNotFound
	}
	check, err := ev.checkRun(ctx, s)
	if err != nil {
		return Verification{}, err
	}
	if s.Evaluated == nil {
		return Verification{Check: check}, nil
	}
	_, at, err := Handle(ctx, ev.config.Store, run.Decider, run.Stream(c.RunID), in,
		run.Command(run.RecordCheck{Verified: run.Verified{RunID: c.RunID, Account: in.Account, Check: check}}))
	return Verification{Check: check, Position: at}, err
}

// checkRun checks a logged answer. It is inconclusive without asking the checker
// when the run has no answer to check, or when earlier evaluations of its session
// could have changed what the expression means.
func (ev *Evaluator) checkRun(ctx context.Context, s run.State) (run.Check, error) {
	switch {
	case s.Evaluated == nil, s.Evaluated.Status != run.Success:
		return run.Check{Verdict: string(verification.VerdictInconclusive), Reason: string(verification.ReasonAnswerNotUsable)}, nil
	case !s.Evaluated.Checkable:
		return run.Check{Verdict: string(verification.VerdictInconclusive), Reason: string(verification.ReasonNotPermitted)}, nil
	}
	code, err := loadText(ctx, ev.config.Blobs, s.Evaluated.Expression)
	if err != nil {
		return run.Check{}, err
	}
	answer, err := loadText(ctx, ev.config.Blobs, s.Evaluated.InputForm)
	if err != nil {
		return run.Check{}, err
	}
	return boundCheck(ev.config.Checker.Check(ctx, checkOnRequest(code, answer))), nil
}

func checkOnRequest(code, answer string) CheckRequest {
	return CheckRequest{Code: code, Tree: parseOrNil(code), Answer: answer, Budget: maxCheckBudget}
}
