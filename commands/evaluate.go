package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/domain/slips"
)

// EvaluatorConfig configures an Evaluator. All of it is required but
// Address and QueueWait.
type EvaluatorConfig struct {
	Store   Store
	Runs    *RunIDs
	Engine  Engine
	Checker Checker
	Blobs   Blobs
	Owners  Owners
	Places  Places
	Clock   Clock
	// Signer is the key that seals now; nil for a deployment without one. Its error is receipt.ErrCannotSign.
	Signer  func() (*receipt.Signer, error)
	Process string // this process's runner id: the owner of the sessions opened here
	Address string // host:port where other processes reach this one; empty: none does
	// QueueWait is the longest wait for a worker before ErrSaturated; 0: no wait at all.
	QueueWait time.Duration
}

// Validate names every required field that is not set.
func (c EvaluatorConfig) Validate() error {
	var missing []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"Store", c.Store != nil}, {"Runs", c.Runs != nil}, {"Engine", c.Engine != nil}, {"Checker", c.Checker != nil}, {"Blobs", c.Blobs != nil},
		{"Owners", c.Owners != nil}, {"Places", c.Places != nil}, {"Clock", c.Clock != nil}, {"Signer", c.Signer != nil}, {"Process", c.Process != ""},
	} {
		if !field.set {
			missing = append(missing, field.name)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("EvaluatorConfig: %s must be set", strings.Join(missing, ", "))
	case c.QueueWait < 0:
		return fmt.Errorf("EvaluatorConfig: QueueWait is %v and must not be negative", c.QueueWait)
	}
	return nil
}

// Evaluator evaluates expressions, appends runs and their receipts to the log, and checks answers.
type Evaluator struct{ config EvaluatorConfig }

// NewEvaluator is the one way to make an Evaluator. Its error is Validate's.
func NewEvaluator(config EvaluatorConfig) (*Evaluator, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Evaluator{config}, nil
}

// Evaluate is the command to evaluate one expression.
type Evaluate struct {
	Expression string
	SessionID  string // empty: no session
	Plan       account.Plan
	Budget     time.Duration // of computing, for a job; 0: the plan's for an evaluation
	OwnerDied  bool          // the session was another process's, which died with the evaluation in its hands
}

// budget is the time that computing may take.
func (c Evaluate) budget() time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	return c.Plan.EvaluationBudget()
}

// Evaluation is the answer of an evaluation: the run as it was logged, with its
// result and its output in full, however long.
type Evaluation struct {
	RunID    int64
	Result   string
	Stdout   string
	Run      run.Evaluated
	Position event.Position // of the run's last event; zero while it is not in the log
	// Suggestions are probable corrections of parts of the expression; their messages are among the run's warnings.
	Suggestions []slips.Suggestion
}

// ErrTooManySessions means that the plan's live sessions are all in use. Nothing was logged.
var ErrTooManySessions = errors.New("the plan's live sessions are all in use; DELETE one or wait until it expires")

// Evaluate admits, computes, checks, seals and publishes one expression. When the
// context is cancelled its worker is stopped at once, and what was computed until
// then is logged all the same: an answer, or a run that failed as cancelled.
// Whatever it answers with a run id is durable, receipt included. It returns a
// RunEndedError for a run that was logged without an answer; with any other error
// no run was logged: an error of Admit, SessionElsewhereError, ErrTooManySessions,
// ErrSaturated, ErrEngineLost, ErrUnavailable, receipt.ErrCannotSign, or the context's.
func (ev *Evaluator) Evaluate(ctx context.Context, in Intent, c Evaluate) (Evaluation, error) {
	admitted, err := ev.admit(ctx, c)
	if err != nil {
		return Evaluation{}, err
	}
	if _, err := ev.config.Signer(); err != nil { // before anything is computed
		return Evaluation{}, err
	}
	runID, err := ev.config.Runs.Next(ctx, in)
	if err != nil {
		return Evaluation{}, err
	}
	computed, err := ev.computeAdmitted(ctx, in, runID, "", admitted)
	if err != nil {
		return Evaluation{}, err
	}
	ctx, done := detach(ctx)
	defer done()
	return ev.Publish(ctx, in, computed)
}

// settleTimeout bounds what is done for an evaluation after it was computed, where its context has no deadline.
const settleTimeout = 30 * time.Second

// detach returns a context that is not cancelled with ctx, but ends at its deadline if it has one: what was computed is
// logged although its caller went away.
func detach(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, has := ctx.Deadline()
	if !has {
		return context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	}
	return context.WithDeadline(context.WithoutCancel(ctx), deadline)
}

// settling is the context for what follows the engine's answer: for a job's work that of AfterWork, else that of detach.
func settling(ctx context.Context, computed bool) (context.Context, context.CancelFunc) {
	if work := ctx.Value(workKey{}); work != nil && computed {
		return AfterWork(ctx), func() {}
	}
	return detach(ctx)
}

// Compute evaluates a job that was admitted when it was submitted, checks and
// seals it under the run id that was promised. It appends nothing but the
// ownership of a session. Its errors are Evaluate's but for RunEndedError: why a
// run ended without an answer is part of Computed.
func (ev *Evaluator) Compute(ctx context.Context, in Intent, runID int64, jobID string, c Evaluate) (Computed, error) {
	admitted, err := ev.admittedBefore(ctx, c)
	if err != nil {
		return Computed{}, err
	}
	if _, err := ev.config.Signer(); err != nil {
		return Computed{}, err
	}
	return ev.computeAdmitted(ctx, in, runID, jobID, admitted)
}

// computeAdmitted does the common part of evaluations and jobs: session, compute,
// check, seal. jobID is empty for an evaluation that is no job's.
func (ev *Evaluator) computeAdmitted(ctx context.Context, in Intent, runID int64, jobID string, a admitted) (Computed, error) {
	subject := run.Subject{RunID: runID, Account: in.Account, Expression: a.source, SessionID: a.SessionID, Source: in.Source, JobID: jobID}
	outcome, err := ev.computeOwned(ctx, in, subject, a)
	if err != nil {
		return Computed{}, err
	}
	if outcome.cause != nil {
		return outcome.withoutAnswer(), nil
	}
	outcome.evaluated.Check = ev.check(ctx, a, outcome)
	ctx, done := settling(ctx, true)
	defer done()
	return ev.seal(ctx, a, outcome)
}

// computeOwned computes in a session that this process owns, if the evaluation has one. A session that has ended without
// the log knowing is logged to have, and opened anew.
func (ev *Evaluator) computeOwned(ctx context.Context, in Intent, subject run.Subject, a admitted) (computation, error) {
	for {
		owned, err := ev.ownSession(ctx, in, a)
		if err != nil {
			return computation{}, err
		}
		outcome, err := ev.compute(ctx, in, subject, a, owned)
		var ended *SessionEndedError
		if !errors.As(err, &ended) {
			return outcome, err
		}
		if err := ev.expire(ctx, in, owned, ended.Reason); err != nil {
			return computation{}, err
		}
	}
}
