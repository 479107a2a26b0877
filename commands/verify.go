package commands

import (
	"context"
	"errors"
	"strings"

	"reckon/domain/event"
	"reckon/domain/run"
)

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
		return Verification{Check: boundCheck(ev.config.Checker.Check(ctx, checkOnRequest(c.Code, c.Result)))}, nil
	}
	history, err := ev.config.Store.Read(ctx, run.Stream(c.RunID))
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
	_, at, err := Handle(ctx, ev.config.Store, run.Decider, run.Stream(c.RunID), in,
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
