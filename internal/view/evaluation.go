package view

import "reckon/domain/run"

// Evaluation is an answered evaluation (interface §2.2), as POST /api/evaluate answers
// it and as the result of an evaluate job holds it.
type Evaluation struct {
	Result          string        `json:"result" doc:"Rendered result"`
	Status          string        `json:"status" enum:"success,unevaluated,plot_omitted" doc:"unevaluated: the engine returned the input unchanged, so the result is no answer. plot_omitted: a graphic was made and is too large to keep"`
	ExecutionTimeMS int64         `json:"execution_time_ms" doc:"Elapsed time in milliseconds"`
	RunID           *int64        `json:"run_id" doc:"Execution-log row id"`
	PlotURL         *string       `json:"plot_url" doc:"/api/plots/{run_id}, when a graphic was rendered"`
	ReceiptURL      *string       `json:"receipt_url" doc:"/api/receipts/{run_id}"`
	Stdout          *string       `json:"stdout" doc:"Captured output"`
	Warnings        []string      `json:"warnings" doc:"Engine warnings"`
	Verification    *Verification `json:"verification" doc:"Automatic check, when a rule covers the expression and reached a verdict; absence means that nothing was learned"`
}

// Verification is a check that reached a verdict (interface §2.3).
type Verification struct {
	Verdict   string `json:"verdict" enum:"verified,refuted"`
	Basis     string `json:"basis" enum:"exact,numeric,cross_check"`
	Method    string `json:"method" doc:"Slug of the derivation rule" example:"integrate_residual"`
	Check     string `json:"check" doc:"The expression evaluated for the check"`
	Residual  string `json:"residual" doc:"What it returned"`
	ElapsedMS int64  `json:"elapsed_ms"`
	Automatic bool   `json:"automatic" doc:"The check ran unasked alongside the evaluation"`
}

// EvaluationOf is the view of an evaluation; result and stdout are its whole
// texts, which e may name as blobs.
func EvaluationOf(e run.Evaluated, result, stdout string) Evaluation {
	receiptURL := ReceiptPath(e.RunID)
	v := Evaluation{
		Result: result, Status: e.Status, ExecutionTimeMS: e.ExecutionMS, RunID: &e.RunID, ReceiptURL: &receiptURL,
		Stdout: Optional(stdout), Warnings: e.Warnings, Verification: verificationOf(e.Check),
	}
	if v.Warnings == nil {
		v.Warnings = []string{}
	}
	if e.Plot != nil {
		v.PlotURL = Optional(PlotPath(e.RunID))
	}
	return v
}

// verificationOf is nil without a verdict: there is no inconclusive placeholder.
func verificationOf(c *run.Check) *Verification {
	if c == nil || !c.Conclusive() {
		return nil
	}
	return &Verification{Verdict: c.Verdict, Basis: c.Basis, Method: c.Method, Check: c.Check, Residual: c.Residual, ElapsedMS: c.ElapsedMS, Automatic: c.Automatic}
}
