package run

import (
	"encoding/json"
	"strconv"
	"unique"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream names a run's stream.
func Stream(runID int64) string { return "run-" + strconv.FormatInt(runID, 10) }

// ReservationStream is where processes reserve run ids.
const ReservationStream = "runids"

// BlockSize is the number of run ids in one reservation.
const BlockSize = 1000

// Reserved takes a block of run ids: its own revision N holds N·BlockSize+1 to (N+1)·BlockSize.
type Reserved struct {
	Process string `json:"process" format:"uuid" doc:"Runner id of the process that uses the ids"`
}

// Block returns the first and the last run id that the reservation of this revision holds.
func Block(at event.Revision) (first, last int64) {
	return int64(at)*BlockSize + 1, (int64(at) + 1) * BlockSize
}

// Status is the status of an ended run.
type Status string

// Statuses of a run. Success, Unevaluated and PlotOmitted have a receipt and are part
// of run.evaluated; Timeout stands for run.timed_out and Error for run.failed.
const (
	Success     Status = "success"
	Unevaluated Status = "unevaluated"  // the engine returned the input unchanged
	PlotOmitted Status = "plot_omitted" // a graphic was made and is over 2 MiB
	Timeout     Status = "timeout"      // the evaluation was killed at the end of its budget
	Error       Status = "error"        // the engine's worker did not survive it
)

// Statuses lists them all.
func Statuses() []Status {
	return []Status{Success, Unevaluated, PlotOmitted, Timeout, Error}
}

// Verdict is a check's verdict on an answer.
type Verdict string

// Verdicts of a check.
const (
	VerdictVerified     Verdict = "verified"
	VerdictRefuted      Verdict = "refuted"
	VerdictInconclusive Verdict = "inconclusive" // nothing was learned; Check.Reason says why
)

// Verdicts lists them all.
func Verdicts() []Verdict {
	return []Verdict{VerdictVerified, VerdictRefuted, VerdictInconclusive}
}

// Basis is the basis of a verdict.
type Basis string

// Bases of a verdict.
const (
	BasisExact      Basis = "exact"       // a proof by exact arithmetic
	BasisNumeric    Basis = "numeric"     // values in proved enclosures
	BasisCrossCheck Basis = "cross_check" // a second computation
)

// InconclusiveReason is why a check learned nothing.
type InconclusiveReason string

// Reasons of VerdictInconclusive (interface §2.5).
const (
	ReasonCrossCheckAgrees InconclusiveReason = "cross_check_agrees"      // a second computation agrees, which proves nothing
	ReasonNoHead           InconclusiveReason = "no_check_for_head"       // no rule checks this function
	ReasonNoShape          InconclusiveReason = "no_check_for_shape"      // no rule checks an expression of this form
	ReasonAnswerNotUsable  InconclusiveReason = "answer_not_usable"       // there is no answer, or the service's parser does not read it
	ReasonNotReduced       InconclusiveReason = "simplify_did_not_reduce" // the check neither proved nor refuted the answer
	ReasonTimedOut         InconclusiveReason = "check_timed_out"         // the check ran past its budget
	ReasonEngineError      InconclusiveReason = "check_engine_error"      // the checker or the engine failed
	ReasonNotPermitted     InconclusiveReason = "check_not_permitted"     // the session or the engine may read the expression otherwise than the checker
)

// FailureReason is why an evaluation has no answer although its budget was not exhausted.
type FailureReason string

// Reasons of Failed.
const (
	FailureCrashed        FailureReason = "crashed"          // the worker process ended by a fault (a stack that ran over, an internal error)
	FailureMemory         FailureReason = "memory"           // the worker process ran over its memory limit
	FailureQuit           FailureReason = "quit"             // the expression ended its own process (Quit, Exit)
	FailureOutputTooLarge FailureReason = "output_too_large" // result or standard output over the engine's limit
	FailureSyntax         FailureReason = "syntax"           // the text is not in the language
	FailureRefused        FailureReason = "refused"          // the engine read the text and would not evaluate it
	FailureSessionClosed  FailureReason = "session_closed"   // the session was cleared while it evaluated
	FailureCancelled      FailureReason = "cancelled"        // the client disconnected during the computation, and its worker was killed
)

// Subject is the expression and its context: part of every event that ends a run.
type Subject struct {
	RunID      int64        `json:"run_id" unit:"run id" doc:"The run"`
	Account    string       `json:"account" format:"uuid" doc:"The account"`
	Expression event.Text   `json:"expression" doc:"Source text, exactly as submitted"`
	SessionID  string       `json:"session_id,omitempty" doc:"The session it ran in; absent: in none"`
	Source     event.Source `json:"source" enum:"web,mcp,job" doc:"Where it came from"`
	JobID      string       `json:"job_id,omitempty" format:"uuid" doc:"The job that ran it; absent: none did"`
}

// Engine names the program that computed an answer.
type Engine struct {
	Name     string `json:"name" doc:"Name of the engine"`
	Revision string `json:"revision" doc:"Version of the engine"`
}

// Asked is the outcome of one engine, where more than one was asked.
type Asked struct {
	Engine
	Outcome AskedOutcome `json:"outcome" enum:"answered,overruled,refuted,unevaluated,not_asked,not_translated,timeout,failed" doc:"answered: the run's answer is its. overruled: another engine's answer was checked to be better. refuted: the check refuted its answer. unevaluated: it returned the question. not_asked: its table does not have the question. not_translated: its answer is not one of the language. timeout: it ran out of its time. failed: its process did not survive"`
}

// AskedOutcome is the outcome of asking an engine.
type AskedOutcome string

// Outcomes of Asked.
const (
	AskedAnswered      AskedOutcome = "answered"
	AskedOverruled     AskedOutcome = "overruled"
	AskedRefuted       AskedOutcome = "refuted"
	AskedUnevaluated   AskedOutcome = "unevaluated"
	AskedNot           AskedOutcome = "not_asked"
	AskedNotTranslated AskedOutcome = "not_translated"
	AskedTimeout       AskedOutcome = "timeout"
	AskedFailed        AskedOutcome = "failed"
)

// Check is a verdict on an answer, or why there is none.
type Check struct {
	Verdict   Verdict            `json:"verdict" enum:"verified,refuted,inconclusive" doc:"inconclusive: nothing was learned"`
	Basis     Basis              `json:"basis,omitempty" enum:"exact,numeric,cross_check" doc:"What the verdict rests on"`
	Method    string             `json:"method,omitempty" doc:"Name of the verification rule"`
	Check     string             `json:"check,omitempty" doc:"The expression evaluated for the check"`
	Residual  string             `json:"residual,omitempty" doc:"What it returned"`
	Reason    InconclusiveReason `json:"reason,omitempty" enum:"cross_check_agrees,no_check_for_head,no_check_for_shape,answer_not_usable,simplify_did_not_reduce,check_timed_out,check_engine_error,check_not_permitted" doc:"Why nothing was learned; absent with a verdict"`
	ElapsedMS int64              `json:"elapsed_ms" doc:"Time the check took"`
	Automatic bool               `json:"automatic" doc:"The check ran unasked, with the evaluation"`
}

// Conclusive tells whether the check reached a verdict: verified or refuted.
func (c Check) Conclusive() bool { return c.Verdict == VerdictVerified || c.Verdict == VerdictRefuted }

// Evaluated is an evaluation with an answer.
type Evaluated struct {
	Subject
	Answer      event.Text  `json:"answer" doc:"The answer as rendered for people"`
	InputForm   event.Text  `json:"input_form" doc:"The answer in a form that parses back to it"`
	Checkable   bool        `json:"checkable" doc:"Nothing earlier in its session could have changed what the expression means, so that it may be checked elsewhere"`
	Status      Status      `json:"status" enum:"success,unevaluated,plot_omitted" doc:"unevaluated: the engine returned the input unchanged. plot_omitted: a graphic was made and is over 2 MiB"`
	Stdout      *event.Text `json:"stdout,omitempty" doc:"What it printed; absent: nothing"`
	Warnings    []string    `json:"warnings,omitempty" doc:"Messages of the engine, and whether the session was lost, in order: at most 101, of at most 1 KiB each"`
	Plot        *event.Blob `json:"plot,omitempty" doc:"The graphic, SVG; absent: none"`
	Engine      Engine      `json:"engine" doc:"What computed the answer"`
	Asked       []Asked     `json:"asked,omitempty" doc:"Every engine that was asked, in order; absent: the one that answered was the only one"`
	Check       *Check      `json:"check,omitempty" doc:"The automatic check, when it reached a verdict"`
	ExecutionMS int64       `json:"execution_time_ms" doc:"Time the evaluation took"`
	EvaluatedAt string      `json:"evaluated_at" format:"date-time" doc:"When it ended"`
}

// Sealed is the receipt of the evaluation that it was appended with.
type Sealed struct {
	RunID          int64      `json:"run_id" unit:"run id" doc:"The run"`
	ReceiptID      string     `json:"receipt_id" format:"sha256" doc:"Id of the receipt: the hash of its canonical bytes"`
	Canonical      event.Text `json:"canonical" doc:"The canonical bytes: JSON with keys sorted, no whitespace, non-ASCII characters escaped"`
	Signature      string     `json:"signature,omitempty" doc:"Ed25519 over the canonical bytes, base64; absent without a key"`
	KID            string     `json:"kid,omitempty" doc:"Id of the key that signed; absent without a key"`
	UnsignedReason string     `json:"unsigned_reason,omitempty" doc:"Why there is no signature; absent with one"`
}

// TimedOut is an evaluation killed at the end of its budget.
type TimedOut struct {
	Subject
	BudgetMS int64   `json:"budget_ms" doc:"The compute budget it ran past"`
	Asked    []Asked `json:"asked,omitempty" doc:"Every engine that was asked, in order; absent: one was"`
}

// Failed is an evaluation that the engine's worker did not survive.
type Failed struct {
	Subject
	Reason      FailureReason `json:"reason" enum:"crashed,memory,quit,output_too_large,syntax,refused,session_closed,cancelled" doc:"crashed: the worker process ended by a fault. memory: it ran over its memory limit, or the sessions of its process together over theirs. quit: the expression ended its process. output_too_large: result or output over the limit. syntax: the text is not in the language. refused: the engine read it and would not evaluate it (in older events also: could not read it). session_closed: its session was cleared meanwhile. cancelled: whoever asked went away while it was computing, and it was stopped"`
	Detail      string        `json:"detail,omitempty" doc:"What the engine or the system said, at most 1 KiB"`
	ExecutionMS int64         `json:"execution_time_ms" doc:"Time until it failed"`
	Asked       []Asked       `json:"asked,omitempty" doc:"Every engine that was asked, in order; absent: one was"`
}

// Verified is a check made on request.
type Verified struct {
	RunID   int64  `json:"run_id" unit:"run id" doc:"The run"`
	Account string `json:"account" format:"uuid" doc:"The account"`
	Check
}

func (Reserved) EventName() string  { return "runids.reserved" }
func (Evaluated) EventName() string { return "run.evaluated" }
func (Sealed) EventName() string    { return "receipt.sealed" }
func (TimedOut) EventName() string  { return "run.timed_out" }
func (Failed) EventName() string    { return "run.failed" }
func (Verified) EventName() string  { return "run.verified" }

// SubjectOf is what an event that ends a run is about; false for any other event.
func SubjectOf(e event.Event) (Subject, bool) {
	if ends, is := e.(interface{ of() Subject }); is {
		return ends.of(), true
	}
	return Subject{}, false
}

// of is what the events that a Subject is part of are about.
func (s Subject) of() Subject { return s }

// Events declares this package's event types.
func Events() []event.Type { return append(Model().Events(), reserved()) }

func reserved() event.Type {
	return decider.Undecided(Reserved{Process: "0198a1b2-0000-7000-8000-0000000000ff"},
		func(Reserved) event.Address { return event.Address{Stream: ReservationStream} }, event.Free{"process": event.OfProcess})
}

// Reasons why nothing else in a log follows from a field.
const (
	measured = "measured once"
	detail   = "a detail of one check that no signature covers; --reverify asks for the verdict again"
	unsigned = "of a run without an answer, which has no receipt"
	ofOthers = "what became of asking engines whose answer is not the run's"
)

// Model is the decider of a run's stream with its event types.
func Model() decider.Model[Command, State] {
	const account, session = "0198a1b2-0000-7000-8000-00000000000a", "notebook-1"
	subject := Subject{RunID: 1001, Account: account, Expression: event.Inline("Integrate[x^2, x]"), SessionID: session, Source: event.SourceWeb}
	stdout := event.Inline("hello\n")
	check := Check{Verdict: VerdictVerified, Basis: BasisExact, Method: "integrate_residual", Check: "D[x^3/3, x] - x^2", Residual: "0", ElapsedMS: 12, Automatic: true}
	sha := "3d0a62f999375c96e670d9d3cbdfb8e4ab470c5b1326d04131ece4d644362cb8"
	asked := func(first, second AskedOutcome) []Asked {
		return []Asked{{Engine{Name: "woxi", Revision: "0.3.0"}, first}, {Engine{Name: "giac", Revision: "1.9.0.996"}, second}}
	}
	return decider.Model[Command, State]{Decider: Decider, Slim: withoutTexts, Key: keyOf, Types: []decider.Type[Command, State]{
		decider.On(Evaluated{Subject: subject, Answer: event.Inline("x^3/3"), InputForm: event.Inline("x^3/3"), Checkable: true, Status: Success,
			Stdout: &stdout, Warnings: []string{"Power::infy: Infinite expression 1/0 encountered."}, Plot: &event.Blob{SHA256: sha, Bytes: 512},
			Engine: Engine{Name: "giac", Revision: "1.9.0.996"}, Asked: asked(AskedUnevaluated, AskedAnswered), Check: &check, ExecutionMS: 3, EvaluatedAt: "2026-08-01T12:00:00.000Z"},
			func(e Evaluated) event.Address { return e.address() },
			func(e Evaluated, _ State, _ event.Metadata) Command { return Record{Evaluated: e} },
			event.Upcast(oneEngine), event.BeginsIf(func(e Evaluated) bool { return e.JobID == "" }), // a job begins with its slot
			event.Free{
				"asked[].name": ofOthers, "asked[].outcome": ofOthers, "asked[].revision": ofOthers, "check.check": detail, "check.elapsed_ms": measured, "check.residual": detail,
				"checkable": "said by the engine; the receipt does not have it", "execution_time_ms": measured, "input_form.inline": "the answer in another form; the receipt has the answer",
			}),
		decider.On(Sealed{RunID: 1001, ReceiptID: sha, Canonical: event.Inline(`{"run_id":1001}`), Signature: "LU6z…", KID: "1IG2tMH7J2wbJZnOf8LJzQitKf7LMvoAElsuDMVM54Y"},
			func(e Sealed) event.Address { return event.Address{Stream: Stream(e.RunID)} },
			func(e Sealed, _ State, _ event.Metadata) Command { return seal{e} }),
		decider.On(TimedOut{Subject: subject, BudgetMS: 3000, Asked: asked(AskedTimeout, AskedNot)},
			func(e TimedOut) event.Address { return e.address() },
			func(e TimedOut, _ State, _ event.Metadata) Command { return RecordTimeout{TimedOut: e} },
			event.Upcast(oneEngine), event.BeginsIf(func(e TimedOut) bool { return e.JobID == "" }),
			event.Free{
				"asked[].name": ofOthers, "asked[].outcome": ofOthers, "asked[].revision": ofOthers, "budget_ms": "of the plan, which the operator's catalogue has",
				"expression.inline": unsigned, "session_id": unsigned, "source": unsigned,
			}),
		decider.On(Failed{Subject: subject, Reason: FailureCrashed, Detail: "signal: aborted", ExecutionMS: 40, Asked: asked(AskedFailed, AskedNotTranslated)},
			func(e Failed) event.Address { return e.address() },
			func(e Failed, _ State, _ event.Metadata) Command { return RecordFailure{Failed: e} },
			event.Upcast(oneEngine), event.BeginsIf(func(e Failed) bool { return e.JobID == "" }),
			event.Free{
				"asked[].name": ofOthers, "asked[].outcome": ofOthers, "asked[].revision": ofOthers, "detail": unsigned, "execution_time_ms": measured,
				"expression.inline": unsigned, "reason": unsigned, "session_id": unsigned, "source": unsigned,
			}),
		decider.On(Verified{RunID: 1001, Account: account, Check: check},
			func(e Verified) event.Address { return event.Address{Stream: Stream(e.RunID), Account: e.Account} },
			func(e Verified, s State, _ event.Metadata) Command {
				if s.answered() && s.Sealed == nil {
					return nil // the receipt is in the append of the answer
				}
				return RecordCheck{Verified: e}
			},
			event.Free{
				"automatic": detail, "basis": detail, "check": detail, "elapsed_ms": measured, "method": detail, "reason": detail, "residual": detail,
				"verdict": "asked for after the receipt, and no signature covers it; --reverify asks for it again",
			}),
	}}
}

// address is that of an event that ends a run.
func (s Subject) address() event.Address {
	return event.Address{Stream: Stream(s.RunID), Account: s.Account}
}

// withoutTexts keeps of a run what decisions need.
func withoutTexts(s State) State {
	if s.Exists() && s.slim == (slim{}) {
		of := s.Subject()
		s.slim = unique.Make(ended{of.Account, s.answered()})
	}
	s.Evaluated, s.TimedOut, s.Failed = nil, nil, nil
	if s.Sealed != nil {
		s.Sealed = anySealed
	}
	if s.Check != nil {
		s.Check = &Check{Verdict: s.Check.Verdict, Method: s.Check.Method, Reason: s.Check.Reason}
	}
	return s
}

// key is all that a state without texts has.
type key struct {
	slim                    slim
	sealed, checked         bool
	verdict, method, reason string
}

func keyOf(s State) any {
	k := key{slim: s.slim, sealed: s.Sealed != nil, checked: s.Check != nil}
	if s.Check != nil {
		k.verdict, k.method, k.reason = string(s.Check.Verdict), s.Check.Method, string(s.Check.Reason)
	}
	return k
}

// anySealed stands for every receipt in states of which only is asked whether they have one.
var anySealed = &Sealed{}

// oneEngine is the upcast of the versions before several engines were asked: there was one.
func oneEngine(old json.RawMessage) (json.RawMessage, error) { return old, nil }
