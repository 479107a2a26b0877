package run

import (
	"strconv"

	"reckon/domain/event"
)

// Stream names a run's stream.
func Stream(runID int64) string { return "run-" + strconv.FormatInt(runID, 10) }

// ReservationStream is where processes reserve run ids.
const ReservationStream = "runids"

// BlockSize is how many run ids one reservation holds.
const BlockSize = 1000

// Reserved takes a block of run ids: its own revision N holds N·BlockSize+1 to (N+1)·BlockSize.
type Reserved struct {
	Process string `json:"process"`
}

// Block returns the first and the last run id of a reservation's revision.
func Block(at event.Revision) (first, last int64) {
	return int64(at)*BlockSize + 1, (int64(at) + 1) * BlockSize
}

// Statuses of a run in the log. Success, Unevaluated and PlotOmitted have a receipt.
const (
	Success     = "success"
	Unevaluated = "unevaluated"
	PlotOmitted = "plot_omitted"
	Timeout     = "timeout"
	Error       = "error"
)

// Sources of a run.
const (
	Web = "web"
	MCP = "mcp"
	Job = "job"
)

// Subject is what every outcome of an evaluation names.
type Subject struct {
	RunID      int64      `json:"run_id"`
	Account    string     `json:"account"`
	Expression event.Text `json:"expression"`
	SessionID  string     `json:"session_id,omitempty"`
	Source     string     `json:"source"`
	JobID      string     `json:"job_id,omitempty"`
}

// Engine names what computed an answer.
type Engine struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
}

// Check is a verdict on an answer, or why there is none.
type Check struct {
	Verdict   string `json:"verdict"` // verified, refuted, inconclusive
	Basis     string `json:"basis,omitempty"`
	Method    string `json:"method,omitempty"`
	Check     string `json:"check,omitempty"`
	Residual  string `json:"residual,omitempty"`
	Reason    string `json:"reason,omitempty"`
	ElapsedMS int64  `json:"elapsed_ms"`
	Automatic bool   `json:"automatic"`
}

// Conclusive tells whether something was learned.
func (c Check) Conclusive() bool { return c.Verdict == "verified" || c.Verdict == "refuted" }

// Evaluated is a finished evaluation.
type Evaluated struct {
	Subject
	Answer      event.Text  `json:"answer"`           // as rendered
	InputForm   event.Text  `json:"input_form"`       // the answer in a form that parses back
	Checkable   bool        `json:"checkable"`        // nothing earlier in a session could have changed what the expression means
	Status      string      `json:"status"`           // Success, Unevaluated, PlotOmitted
	Stdout      *event.Text `json:"stdout,omitempty"` // absent: nothing was printed
	Warnings    []string    `json:"warnings,omitempty"`
	Plot        *event.Blob `json:"plot,omitempty"` // SVG
	Engine      Engine      `json:"engine"`
	Check       *Check      `json:"check,omitempty"` // the automatic check, when it reached a verdict
	ExecutionMS int64       `json:"execution_time_ms"`
	EvaluatedAt string      `json:"evaluated_at"` // RFC 3339, UTC, milliseconds
}

// Sealed is the receipt of the evaluation it was appended with.
type Sealed struct {
	RunID          int64      `json:"run_id"`
	ReceiptID      string     `json:"receipt_id"` // SHA-256 of the canonical bytes
	Canonical      event.Text `json:"canonical"`
	Signature      string     `json:"signature,omitempty"`
	KID            string     `json:"kid,omitempty"`
	UnsignedReason string     `json:"unsigned_reason,omitempty"`
}

// TimedOut is an evaluation killed at the end of its budget.
type TimedOut struct {
	Subject
	BudgetMS int64 `json:"budget_ms"`
}

// Failed is an evaluation whose engine did not survive it.
type Failed struct {
	Subject
	Reason      string `json:"reason"` // crashed, memory, quit, output_too_large …
	Detail      string `json:"detail,omitempty"`
	ExecutionMS int64  `json:"execution_time_ms"`
}

// Verified is a check made on request.
type Verified struct {
	RunID   int64  `json:"run_id"`
	Account string `json:"account"`
	Check
}

func (Reserved) EventName() string  { return "runids.reserved" }
func (Evaluated) EventName() string { return "run.evaluated" }
func (Sealed) EventName() string    { return "receipt.sealed" }
func (TimedOut) EventName() string  { return "run.timed_out" }
func (Failed) EventName() string    { return "run.failed" }
func (Verified) EventName() string  { return "run.verified" }

// Events declares this package's event types.
func Events() []event.Type {
	const account, session = "0198a1b2-0000-7000-8000-00000000000a", "notebook-1"
	subject := Subject{RunID: 1001, Account: account, Expression: event.Inline("Integrate[x^2, x]"), SessionID: session, Source: Web}
	stdout := event.Inline("hello\n")
	check := Check{Verdict: "verified", Basis: "exact", Method: "integrate_residual", Check: "D[x^3/3, x] - x^2", Residual: "0", ElapsedMS: 12, Automatic: true}
	sha := "3d0a62f999375c96e670d9d3cbdfb8e4ab470c5b1326d04131ece4d644362cb8"
	return []event.Type{
		event.Of(Reserved{Process: "0198a1b2-0000-7000-8000-0000000000ff"}),
		event.Of(Evaluated{Subject: subject, Answer: event.Inline("x^3/3"), InputForm: event.Inline("x^3/3"), Checkable: true, Status: Success,
			Stdout: &stdout, Warnings: []string{"Power::infy: Infinite expression 1/0 encountered."}, Plot: &event.Blob{SHA256: sha, Bytes: 512},
			Engine: Engine{Name: "woxi", Revision: "0.3.0"}, Check: &check, ExecutionMS: 3, EvaluatedAt: "2026-08-01T12:00:00.000Z"}),
		event.Of(Sealed{RunID: 1001, ReceiptID: sha, Canonical: event.Inline(`{"run_id":1001}`), Signature: "LU6z…", KID: "1IG2tMH7J2wbJZnOf8LJzQitKf7LMvoAElsuDMVM54Y"}),
		event.Of(TimedOut{Subject: subject, BudgetMS: 3000}),
		event.Of(Failed{Subject: subject, Reason: "crashed", Detail: "signal: aborted", ExecutionMS: 40}),
		event.Of(Verified{RunID: 1001, Account: account, Check: check}),
	}
}
