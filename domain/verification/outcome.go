package verification

import (
	"strings"

	"reckon/domain/expression"
)

// Verdict is the outcome of a check (section 2.5).
type Verdict string

// Verdicts of section 2.5.
const (
	VerdictVerified     Verdict = "verified"
	VerdictRefuted      Verdict = "refuted"
	VerdictInconclusive Verdict = "inconclusive"
)

// Basis is what a verdict rests on (section 2.3). It is empty when nothing was learned.
type Basis string

// Bases of section 2.3.
const (
	BasisExact      Basis = "exact"
	BasisNumeric    Basis = "numeric"
	BasisCrossCheck Basis = "cross_check"
)

// Reason says why a verdict is inconclusive (section 2.5). It is empty for every other verdict.
type Reason string

// Reasons of section 2.5, given with an inconclusive verdict.
const (
	ReasonCrossCheckAgrees Reason = "cross_check_agrees"
	ReasonNoHead           Reason = "no_check_for_head"
	ReasonNoShape          Reason = "no_check_for_shape"
	ReasonAnswerNotUsable  Reason = "answer_not_usable"
	ReasonNotReduced       Reason = "simplify_did_not_reduce"
	ReasonTimedOut         Reason = "check_timed_out"
	ReasonEngineError      Reason = "check_engine_error"
	ReasonNotPermitted     Reason = "check_not_permitted"
)

// NoPlanError says why there is no plan. Reason is one of ReasonNoHead, ReasonNoShape, ReasonAnswerNotUsable and
// ReasonNotPermitted; Detail is for people.
type NoPlanError struct {
	Reason Reason
	Detail string
}

func (e *NoPlanError) Error() string { return string(e.Reason) + ": " + e.Detail }

func noHead(detail string) error   { return &NoPlanError{ReasonNoHead, detail} }
func noShape(detail string) error  { return &NoPlanError{ReasonNoShape, detail} }
func noAnswer(detail string) error { return &NoPlanError{ReasonAnswerNotUsable, detail} }

// Status is what the checker reports about the claim of a plan.
type Status string

// Statuses of a Finding.
const (
	StatusProved   Status = "proved"  // shown to hold: exactly, or numerically as the rule states
	StatusAgrees   Status = "agrees"  // supported: no difference where it was looked
	StatusRefuted  Status = "refuted" // proved not to hold; Residual is the proof as a sentence
	StatusOpen     Status = "open"    // neither
	StatusTimedOut Status = "timeout" // the check ran past its budget
	StatusFailed   Status = "crashed" // the checker died or failed
)

// Finding is the checker's result for a plan.
type Finding struct {
	Status    Status `json:"status"`
	Residual  string `json:"residual"`   // the computed difference; of a refutation its proof: where, the expected value, the given one
	Exact     bool   `json:"exact"`      // by exact algebra, not by numbers
	Why       string `json:"why"`        // for an open finding
	CPUMicros int64  `json:"cpu_us"`     // processor time of the procedure
	ElapsedMS int64  `json:"elapsed_ms"` // of the whole check, by the wall clock
}

// unsupported begins the Why of a finding about something the checker does not handle; the name follows.
const unsupported = "unsupported: "

// Outcome is the verification object of section 2.5 but for its time.
type Outcome struct {
	Verdict  Verdict
	Basis    Basis // "" when there is none
	Method   string
	Check    string
	Residual string
	Reason   Reason // only with VerdictInconclusive
}

// Conclude derives the outcome of a plan from the checker's finding.
func Conclude(plan Plan, finding Finding) Outcome {
	var outcome Outcome
	rule := plan.rule
	if sampled, ok := rule.(SampledRule); ok && finding.Status == StatusProved {
		rule = sampled.proof
	}
	switch {
	case finding.Status == StatusTimedOut:
		outcome = Outcome{Verdict: VerdictInconclusive, Reason: ReasonTimedOut}
	case finding.Status == StatusFailed:
		outcome = Outcome{Verdict: VerdictInconclusive, Reason: ReasonEngineError}
	case strings.HasPrefix(finding.Why, unsupported):
		outcome = Outcome{Verdict: VerdictInconclusive, Reason: plan.unsupportedReason(strings.TrimPrefix(finding.Why, unsupported))}
	default:
		outcome = rule.conclude(finding)
	}
	outcome.Method, outcome.Check, outcome.Residual = rule.Declare().Slug, plan.Check, finding.Residual
	return outcome
}

// unsupportedReason is ReasonNoShape when the input contains the name that the checker does not handle, and
// ReasonAnswerNotUsable when only the answer does.
func (p Plan) unsupportedReason(name string) Reason {
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
