package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/receipt"
	"reckon/domain/run"
	"reckon/domain/session"
)

// Bounds of what a run keeps of its warnings.
const (
	maxWarnings     = 100
	maxWarningBytes = 1 << 10
)

// Evaluator evaluates expressions and logs them with their receipts. All fields
// are set once, by whoever wires the service.
type Evaluator struct {
	Store   Store
	Runs    *RunIDs
	Engine  Engine
	Checker Checker
	Blobs   Blobs
	Owners  Owners
	Clock   Clock
	Signer  func() *receipt.Signer // the key that seals now; nil: no key
	Process string                 // this process's runner id: who owns the sessions opened here
	Address string                 // where other processes reach this one
	// QueueWait is the longest wait for a worker before an evaluation is refused as saturated.
	QueueWait time.Duration
}

// Evaluate is the intention to evaluate one expression.
type Evaluate struct {
	Expression string
	SessionID  string // empty: no session
	Plan       account.Plan
	Budget     time.Duration // of a job; 0: the plan's for an evaluation
}

func (c Evaluate) budget() time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	return c.Plan.EvaluationBudget()
}

// Evaluation is what an evaluation answers: the run as it was logged, with its
// long texts at hand.
type Evaluation struct {
	RunID    int64
	Result   string
	Stdout   string
	Run      run.Evaluated
	Position event.Position
}

// Errors of Evaluate beyond those of Engine and Store.
var (
	ErrExpressionRequired = errors.New("expression is required")
	ErrBadSessionID       = fmt.Errorf("session_id must be 1 to %d characters of A-Z a-z 0-9 . _ -", session.MaxIDBytes)
	ErrTooManySessions    = errors.New("the plan's live sessions are all in use; DELETE one or wait until it expires")
)

// DeniedError means that the plan denies a head; nothing was logged.
type DeniedError struct{ Head string }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s is not available here: the service does no input, output or network access", e.Head)
}

// RunEndedError is an evaluation that was logged and has no answer.
type RunEndedError struct {
	RunID    int64
	Position event.Position
	Cause    error // ErrBudgetExhausted or *EngineFailedError
}

func (e *RunEndedError) Error() string { return e.Cause.Error() }
func (e *RunEndedError) Unwrap() error { return e.Cause }

// Evaluate computes, checks, seals and logs. Whatever it answers with a run id
// is durable, receipt included.
func (ev *Evaluator) Evaluate(ctx context.Context, in Intent, c Evaluate) (Evaluation, error) {
	if err := Admit(c); err != nil {
		return Evaluation{}, err
	}
	runID, err := ev.Runs.Next(ctx, in)
	if err != nil {
		return Evaluation{}, err
	}
	computed, err := ev.Compute(ctx, in, runID, "", c)
	if err != nil {
		return Evaluation{}, err
	}
	return ev.Publish(ctx, in, computed)
}

// Admit refuses what no worker should see. It decides by our own parser alone.
func Admit(c Evaluate) error {
	if strings.TrimSpace(c.Expression) == "" {
		return ErrExpressionRequired
	}
	if c.SessionID != "" && !session.ValidID(c.SessionID) {
		return ErrBadSessionID
	}
	tree, err := expression.Parse(c.Expression)
	if err != nil {
		return refusedBound(c.Expression, err)
	}
	if head, denied := deniedHead(tree, c.Plan.DeniedHeads); denied {
		return &DeniedError{Head: head}
	}
	return nil
}

// refusedBound keeps the refusals that protect the engine. Any other text our
// parser does not read is the engine's to judge, if it is not nested so deep that
// the engine would die of it.
func refusedBound(code string, err error) error {
	var refused *expression.SyntaxError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Reason {
	case expression.ReasonTooDeep, expression.ReasonTooLong, expression.ReasonTooMany:
		return refused
	}
	depth, deepest := 0, 0
	for _, c := range []byte(code) {
		switch c {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth = max(0, depth-1) // one that closes nothing makes no room
		}
	}
	if deepest > expression.MaxDepth {
		return &expression.SyntaxError{Reason: expression.ReasonTooDeep, Pos: refused.Pos, Message: fmt.Sprintf("brackets are nested deeper than %d", expression.MaxDepth)}
	}
	return nil
}

// deniedHead finds a call of a denied head that evaluation would reach; held
// code is only looked at, not run. This is a courtesy message and no boundary.
func deniedHead(tree *expression.Expr, denied []string) (string, bool) {
	banned := make(map[string]bool, len(denied))
	for _, name := range denied {
		banned[name] = true
	}
	found := ""
	tree.Walk(func(e *expression.Expr) bool {
		if found != "" || e.IsCall("Hold") || e.IsCall("HoldForm") || e.IsCall("HoldComplete") {
			return false
		}
		if e.Kind == expression.Call && banned[e.HeadName()] {
			found = e.HeadName()
		}
		return true
	})
	return found, found != ""
}

// Computed is an outcome that is not in the log yet.
type Computed struct {
	Command run.Command
	runID   int64
	cause   error // why there is no answer; nil with one
	answer  Evaluation
}

// Events are what an outcome appends to its run's stream.
func (c Computed) Events() ([]event.Event, error) {
	return run.Decider.Decide(c.Command, run.Decider.Initial())
}

// Answer is the evaluation, or ErrBudgetExhausted or *EngineFailedError without one.
func (c Computed) Answer() (Evaluation, error) { return c.answer, c.cause }

// Compute evaluates, checks and seals under a run id, and appends nothing but
// the session's ownership. jobID is empty for an evaluation that is no job's.
func (ev *Evaluator) Compute(ctx context.Context, in Intent, runID int64, jobID string, c Evaluate) (Computed, error) {
	source, err := storeText(ctx, ev.Blobs, c.Expression)
	if err != nil {
		return Computed{}, err
	}
	subject := run.Subject{RunID: runID, Account: in.Account, Expression: source, SessionID: c.SessionID, Source: in.Source, JobID: jobID}
	request := EngineRequest{Code: c.Expression, Budget: c.budget(), QueueWait: ev.QueueWait}
	var owned Ownership
	if c.SessionID != "" {
		if owned, err = ev.own(ctx, in, c); err != nil {
			return Computed{}, err
		}
		request.Session = SessionKey(in.Account, c.SessionID, owned.Epoch)
	}
	outcome, err := ev.Engine.Evaluate(ctx, request)
	var failed *EngineFailedError
	switch {
	case errors.Is(err, ErrBudgetExhausted):
		ev.loseWorker(ctx, in, c, owned)
		return Computed{runID: runID, cause: err, Command: run.RecordTimeout{TimedOut: run.TimedOut{Subject: subject, BudgetMS: request.Budget.Milliseconds()}}}, nil
	case errors.As(err, &failed):
		ev.loseWorker(ctx, in, c, owned)
		return Computed{runID: runID, cause: err, Command: run.RecordFailure{Failed: run.Failed{Subject: subject, Reason: failed.Reason, Detail: cut(failed.Detail, maxWarningBytes), ExecutionMS: outcome.Elapsed.Milliseconds()}}}, nil
	case err != nil:
		return Computed{}, err
	}
	evaluated, err := ev.evaluated(ctx, subject, outcome, owned)
	if err != nil {
		return Computed{}, err
	}
	if evaluated.Checkable && evaluated.Status == run.Success {
		if check := ev.automaticCheck(ctx, c.Expression, outcome); check.Conclusive() {
			evaluated.Check = &check
		}
	}
	sealed, err := ev.seal(ctx, c.Expression, outcome, evaluated)
	if err != nil {
		return Computed{}, err
	}
	return Computed{
		runID:   runID,
		Command: run.Record{Evaluated: evaluated, Sealed: sealed},
		answer:  Evaluation{RunID: runID, Result: outcome.Result, Stdout: outcome.Stdout, Run: evaluated},
	}, nil
}

// Publish logs an outcome. A job's outcome may be published again; that changes nothing.
func (ev *Evaluator) Publish(ctx context.Context, in Intent, c Computed) (Evaluation, error) {
	_, at, err := Create(ctx, ev.Store, run.Decider, run.Stream(c.runID), in, c.Command)
	if err != nil {
		return Evaluation{}, err
	}
	if c.cause != nil {
		return Evaluation{}, &RunEndedError{RunID: c.runID, Position: at, Cause: c.cause}
	}
	c.answer.Position = at
	return c.answer, nil
}

// SessionKey names the worker of one epoch of a session to the engine.
func SessionKey(accountID, sessionID string, epoch int) string {
	return fmt.Sprintf("%s/%s/%d", accountID, sessionID, epoch)
}

func (ev *Evaluator) own(ctx context.Context, in Intent, c Evaluate) (Ownership, error) {
	known, err := readSession(ctx, ev.Store, session.Stream(in.Account, c.SessionID))
	if err != nil {
		return Ownership{}, err
	}
	// One that lives already, here or elsewhere, is no new one.
	if !known.Live && c.Plan.LiveSessions <= ev.Engine.LiveSessions(in.Account+"/") {
		return Ownership{}, ErrTooManySessions
	}
	return OwnSession(ctx, ev.Store, ev.Owners, in, session.Open{Account: in.Account, SessionID: c.SessionID, Owner: ev.Process, Address: ev.Address})
}

// loseWorker says in the log that a session's variables are gone, if they are:
// an evaluation that ran out of time while it waited for its turn leaves the
// worker to the one that has it. If the log cannot be told, the session's owner
// finds out at the next evaluation.
func (ev *Evaluator) loseWorker(ctx context.Context, in Intent, c Evaluate, owned Ownership) {
	if c.SessionID == "" || ev.Engine.LiveSessions(in.Account+"/"+c.SessionID+"/") > 0 {
		return
	}
	_, _ = ExpireSession(ctx, ev.Store, in, session.Expire{Account: in.Account, SessionID: c.SessionID, Epoch: owned.Epoch, Reason: "worker_died"})
}

func (ev *Evaluator) evaluated(ctx context.Context, subject run.Subject, o EngineOutcome, owned Ownership) (run.Evaluated, error) {
	name, revision := ev.Engine.Describe()
	e := run.Evaluated{
		Subject: subject, Status: run.Success, Checkable: subject.SessionID == "" || o.SessionOpened,
		Warnings: boundWarnings(o.Messages), Engine: run.Engine{Name: name, Revision: revision},
		ExecutionMS: o.Elapsed.Milliseconds(), EvaluatedAt: stamp(ev.Clock.Now()),
	}
	switch {
	case o.PlotOmitted:
		e.Status = run.PlotOmitted
	case o.Unevaluated:
		e.Status = run.Unevaluated
	}
	if why := sessionLoss(o, owned); subject.SessionID != "" && why != "" {
		e.Warnings = append(e.Warnings, fmt.Sprintf("Session %s was lost (%s): its variables and definitions are gone; this evaluation ran in a fresh one.", subject.SessionID, why))
	}
	var err error
	if e.Answer, err = storeText(ctx, ev.Blobs, o.Result); err != nil {
		return e, err
	}
	if e.InputForm, err = storeText(ctx, ev.Blobs, o.InputForm); err != nil {
		return e, err
	}
	if o.Stdout != "" {
		stdout, err := storeText(ctx, ev.Blobs, o.Stdout)
		if err != nil {
			return e, err
		}
		e.Stdout = &stdout
	}
	if o.SVG != nil && !o.PlotOmitted {
		plot, err := ev.Blobs.Put(ctx, o.SVG)
		if err != nil {
			return e, err
		}
		e.Plot = &plot
	}
	return e, nil
}

// sessionLoss is why a session's variables are gone although nobody asked for
// that; empty when they are not, or when it was only idle.
func sessionLoss(o EngineOutcome, owned Ownership) string {
	switch {
	case o.SessionLost:
		return "worker_died"
	case owned.Fresh && owned.Before != "cleared" && owned.Before != "idle":
		return owned.Before
	}
	return ""
}

// seal makes the receipt of an evaluation.
func (ev *Evaluator) seal(ctx context.Context, source string, o EngineOutcome, e run.Evaluated) (run.Sealed, error) {
	stdout := sha256.Sum256([]byte(o.Stdout))
	record := receipt.Record{
		V: receipt.Version, RunID: e.RunID, Account: e.Account, Expression: source, Answer: o.Result, Status: e.Status,
		StdoutSHA256: hex.EncodeToString(stdout[:]), Warnings: e.Warnings, Engine: receipt.Engine(e.Engine),
		Source: e.Source, EvaluatedAt: e.EvaluatedAt,
	}
	if record.Warnings == nil {
		record.Warnings = []string{}
	}
	if e.Check != nil {
		record.Verification = &receipt.Verification{Verdict: e.Check.Verdict, Basis: e.Check.Basis, Method: e.Check.Method}
	}
	if e.SessionID != "" {
		record.SessionID = &e.SessionID
	}
	seal, err := receipt.SealJSON(record, ev.Signer())
	if err != nil {
		return run.Sealed{}, err
	}
	canonical, err := storeText(ctx, ev.Blobs, string(seal.Canonical))
	if err != nil {
		return run.Sealed{}, err
	}
	return run.Sealed{RunID: e.RunID, ReceiptID: seal.ID, Canonical: canonical, Signature: seal.Signature, KID: seal.KID, UnsignedReason: seal.UnsignedReason}, nil
}

func boundWarnings(messages []string) []string {
	var kept []string
	for i, m := range messages {
		if i == maxWarnings {
			return append(kept, fmt.Sprintf("%d more warnings", len(messages)-maxWarnings))
		}
		kept = append(kept, cut(m, maxWarningBytes))
	}
	return kept
}

// cut shortens s to at most n bytes at a character's border, and says so.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}
