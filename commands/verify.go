package commands

import (
	"context"
	"errors"
	"strings"

	"reckon/domain/event"
	"reckon/domain/run"
)

// Verify is the intention to check an answer: of a run, or of an expression and a
// result that the caller brings. It has either RunID, or both Code and Result.
type Verify struct {
	RunID  int64  // 0: Code and Result are checked
	Code   string // the expression
	Result string // the answer to check
}

// Verification is the result of a Verify.
type Verification struct {
	run.Check
	Position event.Position // of the run's last event, which is the check if it was kept; zero without a run
}

// ErrInvalidVerifyRequest means that a request named neither a run nor a complete pair, or both.
var ErrInvalidVerifyRequest = errors.New("give either run_id alone, or both code and result")

// Validate refuses a request that names neither a run nor an expression with its result, or both, at no cost: it returns
// ErrInvalidVerifyRequest.
func (c Verify) Validate() error {
	hasBoth := strings.TrimSpace(c.Code) != "" && strings.TrimSpace(c.Result) != ""
	if c.RunID != 0 && (c.Code != "" || c.Result != "") || c.RunID == 0 && !hasBoth {
		return ErrInvalidVerifyRequest
	}
	return nil
}

// Verify checks an answer within MaxCheckSteps and logs what it learned with the
// run. Without a run nothing is logged. It returns ErrInvalidVerifyRequest, run.ErrNotFound for a run
// that the intent's account does not have, ErrSaturated, or an error of the log or the blobs.
func (ev *Evaluator) Verify(ctx context.Context, in Intent, c Verify) (Verification, error) {
	if err := c.Validate(); err != nil {
		return Verification{}, err
	}
	if c.RunID == 0 {
		check, err := ev.checkOnRequest(ctx, in, c.Code, c.Result)
		return Verification{Check: check}, err
	}
	s, err := readState(ctx, ev.config.Store, run.Decider, run.Stream(c.RunID))
	if err != nil {
		return Verification{}, err
	}
	if !s.Exists() || s.Subject().Account != in.Account {
		return Verification{}, run.ErrNotFound
	}
	check, err := ev.checkRun(ctx, in, s)
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
func (ev *Evaluator) checkRun(ctx context.Context, in Intent, s run.State) (run.Check, error) {
	switch {
	case s.Evaluated == nil, s.Evaluated.Status != run.Success:
		return run.Check{Verdict: run.VerdictInconclusive, Reason: run.ReasonAnswerNotUsable}, nil
	case !s.Evaluated.Checkable:
		return run.Check{Verdict: run.VerdictInconclusive, Reason: run.ReasonNotPermitted}, nil
	}
	code, err := s.Evaluated.Expression.Load(ctx, ev.config.Blobs)
	if err != nil {
		return run.Check{}, err
	}
	answer, err := s.Evaluated.InputForm.Load(ctx, ev.config.Blobs)
	if err != nil {
		return run.Check{}, err
	}
	return ev.checkOnRequest(ctx, in, code, answer)
}

func (ev *Evaluator) checkOnRequest(ctx context.Context, in Intent, code, answer string) (run.Check, error) {
	check, err := ev.config.Checker.Check(ctx, CheckRequest{
		Account: in.Account, Code: code, Tree: parseOrNil(code), Answer: answer, Steps: MaxCheckSteps, QueueWait: ev.config.QueueWait,
	})
	return boundCheck(check), err
}
