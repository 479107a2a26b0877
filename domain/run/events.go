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

// Block returns the first and the last run id that the reservation of this revision holds.
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

// Subject is what was to be evaluated: part of every event that ends a run.
type Subject struct {
	RunID      int64      `json:"run_id"`
	Account    string     `json:"account"`
	Expression event.Text `json:"expression"`           // as submitted
	SessionID  string     `json:"session_id,omitempty"` // empty: no session
	Source     string     `json:"source"`               // Web, MCP, Job
	JobID      string     `json:"job_id,omitempty"`     // empty: no job's run
}

// Engine names the program that computed an answer.
type Engine struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
}

// Check is a verdict on an answer, or why there is none.
type Check struct {
	Verdict   string `json:"verdict"`            // verified, refuted, inconclusive
	Basis     string `json:"basis,omitempty"`    // of a verdict: exact, numeric, cross_check
	Method    string `json:"method,omitempty"`   // slug of the rule; empty: no rule applied
	Check     string `json:"check,omitempty"`    // the expression that was computed
	Residual  string `json:"residual,omitempty"` // what it came to
	Reason    string `json:"reason,omitempty"`   // why it is inconclusive: a slug
	ElapsedMS int64  `json:"elapsed_ms"`         // wall time
	Automatic bool   `json:"automatic"`          // made alongside the evaluation, not on request
}

// Conclusive tells whether the check reached a verdict: verified or refuted.
func (c Check) Conclusive() bool { return c.Verdict == "verified" || c.Verdict == "refuted" }

// Evaluated is an evaluation with an answer.
type Evaluated struct {
	Subject
	Answer      event.Text  `json:"answer"`             // as rendered for people
	InputForm   event.Text  `json:"input_form"`         // the answer in a form that parses back
	Checkable   bool        `json:"checkable"`          // nothing earlier in a session could have changed what the expression means
	Status      string      `json:"status"`             // Success, Unevaluated, PlotOmitted
	Stdout      *event.Text `json:"stdout,omitempty"`   // absent: nothing was printed
	Warnings    []string    `json:"warnings,omitempty"` // at most 101 of at most 1 KiB each
	Plot        *event.Blob `json:"plot,omitempty"`     // SVG; absent: no graphic was made
	Engine      Engine      `json:"engine"`
	Check       *Check      `json:"check,omitempty"`   // the automatic check; absent: it reached no verdict
	ExecutionMS int64       `json:"execution_time_ms"` // wall time of computing
	EvaluatedAt string      `json:"evaluated_at"`      // RFC 3339, UTC, milliseconds
}

// Sealed is the receipt of the evaluation that it was appended with.
type Sealed struct {
	RunID          int64      `json:"run_id"`
	ReceiptID      string     `json:"receipt_id"`                // SHA-256 of the canonical bytes
	Canonical      event.Text `json:"canonical"`                 // the canonical bytes that were signed
	Signature      string     `json:"signature,omitempty"`       // Ed25519, base64; empty: unsigned
	KID            string     `json:"kid,omitempty"`             // of the key that signed
	UnsignedReason string     `json:"unsigned_reason,omitempty"` // why there is no signature
}

// TimedOut is an evaluation killed at the end of its budget.
type TimedOut struct {
	Subject
	BudgetMS int64 `json:"budget_ms"` // wall time it was given
}

// Failed is an evaluation that the engine's worker did not survive.
type Failed struct {
	Subject
	Reason      string `json:"reason"`            // crashed, memory, quit, output_too_large …
	Detail      string `json:"detail,omitempty"`  // for people, at most 1 KiB
	ExecutionMS int64  `json:"execution_time_ms"` // wall time until it ended
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
