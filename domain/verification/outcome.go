package verification

import (
	"strings"

	"reckon/domain/expression"
)

// Verdicts of section 2.5.
const (
	VerdictVerified     = "verified"
	VerdictRefuted      = "refuted"
	VerdictInconclusive = "inconclusive"
)

// Bases of section 2.3.
const (
	BasisExact      = "exact"
	BasisNumeric    = "numeric"
	BasisCrossCheck = "cross_check"
)

// Reasons of section 2.5, given with an inconclusive verdict.
const (
	ReasonCrossCheckAgrees = "cross_check_agrees"
	ReasonNoHead           = "no_check_for_head"
	ReasonNoShape          = "no_check_for_shape"
	ReasonAnswerNotUsable  = "answer_not_usable"
	ReasonNotReduced       = "simplify_did_not_reduce"
	ReasonTimedOut         = "check_timed_out"
	ReasonEngineError      = "check_engine_error"
	ReasonNotPermitted     = "check_not_permitted"
)

// NoPlanError says why there is no plan. Reason is one of ReasonNoHead, ReasonNoShape, ReasonAnswerNotUsable and
// ReasonNotPermitted; Detail is for people.
type NoPlanError struct{ Reason, Detail string }

func (e *NoPlanError) Error() string { return e.Reason + ": " + e.Detail }

func noHead(detail string) error   { return &NoPlanError{ReasonNoHead, detail} }
func noShape(detail string) error  { return &NoPlanError{ReasonNoShape, detail} }
func noAnswer(detail string) error { return &NoPlanError{ReasonAnswerNotUsable, detail} }

// Statuses of a Finding.
const (
	StatusProved   = "proved"  // shown to hold: exactly, or numerically as the rule states
	StatusAgrees   = "agrees"  // supported: no difference where it was looked
	StatusRefuted  = "refuted" // proved not to hold; Residual is the proof as a sentence
	StatusOpen     = "open"    // neither
	StatusTimedOut = "timeout" // the check ran past its budget
	StatusFailed   = "crashed" // the checker died or failed
)

// Finding is what the checker says about a plan.
type Finding struct {
	Status    string `json:"status"`
	Residual  string `json:"residual"`   // what the check came to; the proof of a refutation: where, what is expected, what is given
	Exact     bool   `json:"exact"`      // by exact algebra, not by numbers
	Why       string `json:"why"`        // for an open finding
	CPUMicros int64  `json:"cpu_us"`     // processor time of the procedure
	ElapsedMS int64  `json:"elapsed_ms"` // of the whole check, by the wall clock
}

// unsupported begins the Why of a finding about something the checker does not handle; the name follows.
const unsupported = "unsupported: "

// Outcome is the verification object of section 2.5 but for its time.
type Outcome struct {
	Verdict  string
	Basis    string // "" when there is none
	Method   string
	Check    string
	Residual string
	Reason   string // only with VerdictInconclusive
}

// Conclude turns what the checker found into the outcome of a plan.
func Conclude(plan Plan, finding Finding) Outcome {
	var outcome Outcome
	switch {
	case finding.Status == StatusTimedOut:
		outcome = Outcome{Verdict: VerdictInconclusive, Reason: ReasonTimedOut}
	case finding.Status == StatusFailed:
		outcome = Outcome{Verdict: VerdictInconclusive, Reason: ReasonEngineError}
	case strings.HasPrefix(finding.Why, unsupported):
		outcome = Outcome{Verdict: VerdictInconclusive, Reason: plan.unsupportedReason(strings.TrimPrefix(finding.Why, unsupported))}
	default:
		outcome = plan.rule.conclude(finding)
	}
	outcome.Method, outcome.Check, outcome.Residual = plan.Slug, plan.Check, finding.Residual
	return outcome
}

// unsupportedReason tells whether the input or the answer brought a name that the checker does not handle.
func (p Plan) unsupportedReason(name string) string {
	name = strings.TrimPrefix(name, "symbol ")
	if p.input.FreeOf(expression.Sym(name)) {
		return ReasonAnswerNotUsable
	}
	return ReasonNoShape
}

// OutcomeOf gives the outcome that belongs to an error of Derive: always inconclusive.
func OutcomeOf(err *NoPlanError) Outcome {
	return Outcome{Verdict: VerdictInconclusive, Reason: err.Reason}
}
