package view

import (
	"reckon/domain/run"
	"reckon/domain/slips"
	"reckon/internal/httpkit"
)

// Evaluation is an answered evaluation (interface §2.2), as POST /api/evaluate answers
// it and as the result of an evaluate job holds it.
type Evaluation struct {
	Result          string     `json:"result" doc:"The answer as rendered for people"`
	Status          run.Status `json:"status" enum:"success,unevaluated,plot_omitted" doc:"unevaluated: the engine returned the input unchanged, so the result is no answer. plot_omitted: a graphic was made and is too large to keep"`
	ExecutionTimeMS int64      `json:"execution_time_ms" doc:"Time the evaluation took, in milliseconds"`
	RunID           *int64     `json:"run_id" minimum:"1" maximum:"9007199254740991" doc:"Id of the run in the execution log: an integer from 1"`
	PlotURL         *string    `json:"plot_url" format:"uri-reference" doc:"Path of the graphic (SVG), /api/plots/{run_id}; null when none was kept"`
	ReceiptURL      *string    `json:"receipt_url" format:"uri-reference" doc:"Path of the signed receipt, /api/receipts/{run_id}"`
	Stdout          *string    `json:"stdout" doc:"What the expression printed; null when it printed nothing"`
	Warnings        []string   `json:"warnings" doc:"Messages of the engine, whether the session was lost, and the messages of suggestions, in order; empty when there were none"`
	// Suggestions say what the expression was probably meant to be.
	Suggestions  []httpkit.Suggestion `json:"suggestions" doc:"What parts of the expression were probably meant to be, when they look like slips (sin(x) is a product); the expression was evaluated as given"`
	Verification *Verification        `json:"verification" doc:"The automatic check, when a rule covers the expression and reached a verdict; null means that nothing was learned"`
	Engines      []run.Asked          `json:"engines,omitempty" doc:"What became of asking each engine, in order, when the first one had no answer or a refuted one; absent when it was the only one asked"`
}

// Verification is a check that reached a verdict (interface §2.3).
type Verification struct {
	Verdict   run.Verdict `json:"verdict" enum:"verified,refuted" doc:"What the check found of the answer"`
	Basis     run.Basis   `json:"basis" enum:"exact,numeric,cross_check" doc:"What the verdict rests on. exact: symbolic computation. numeric: values at sample points. cross_check: another way to the same answer"`
	Method    string      `json:"method" doc:"Name of the verification rule" example:"integrate_residual"`
	Check     string      `json:"check" doc:"The expression evaluated for the check"`
	Residual  string      `json:"residual" doc:"What the expression of check returned"`
	ElapsedMS int64       `json:"elapsed_ms" doc:"Time the check took, in milliseconds"`
	Automatic bool        `json:"automatic" doc:"True: the check ran unasked, with the evaluation. False: it was requested"`
}

// SuggestionsOf is the view of suggestions.
func SuggestionsOf(found []slips.Suggestion) []httpkit.Suggestion {
	all := make([]httpkit.Suggestion, len(found))
	for i, s := range found {
		all[i] = httpkit.Suggestion{Code: string(s.Code), Message: s.Message, Replacement: s.Replacement, Range: httpkit.Range(s.Range)}
	}
	return all
}

// EvaluationOf is the view of an evaluation; result and stdout are its whole
// texts, which e may name as blobs.
func EvaluationOf(e run.Evaluated, result, stdout string, suggestions []slips.Suggestion) Evaluation {
	receiptURL := ReceiptPath(e.RunID)
	v := Evaluation{
		Result: result, Status: e.Status, ExecutionTimeMS: e.ExecutionMS, RunID: &e.RunID, ReceiptURL: &receiptURL,
		Stdout: NullIfEmpty(stdout), Warnings: e.Warnings, Suggestions: SuggestionsOf(suggestions), Verification: VerificationOf(e.Check), Engines: e.Asked,
	}
	if v.Warnings == nil {
		v.Warnings = []string{}
	}
	if e.Plot != nil {
		v.PlotURL = NullIfEmpty(PlotPath(e.RunID))
	}
	return v
}

// verificationOf is nil without a verdict: there is no inconclusive placeholder.
// VerificationOf is the view of a check; nil where nothing was learned.
func VerificationOf(c *run.Check) *Verification {
	if c == nil || !c.Conclusive() {
		return nil
	}
	return &Verification{Verdict: c.Verdict, Basis: c.Basis, Method: c.Method, Check: c.Check, Residual: c.Residual, ElapsedMS: c.ElapsedMS, Automatic: c.Automatic}
}
