package evaluate

import (
	"context"
	"errors"
	"fmt"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/runners"
)

// Jobs runs jobs of kind evaluate. Each writes the run that was promised when it
// was submitted, with its receipt (or that it timed out or failed).
type Jobs struct {
	Evaluator *commands.Evaluator
	Plans     account.Plans
	Catalogue event.Catalogue
}

// Run is runners.Kind.
func (j Jobs) Run(ctx context.Context, in commands.Intent, w runners.Work) (runners.End, error) {
	plan := j.Plans.InForce(w.Plan)
	in.Source = run.Job
	computed, err := j.Evaluator.Compute(ctx, in, w.RunID, w.JobID, commands.Evaluate{Expression: w.Content, SessionID: w.SessionID, Plan: plan, Budget: w.Budget})
	switch {
	case errors.Is(err, commands.ErrTooManySessions):
		return runners.End{Status: job.Failed, Outcome: job.Outcome{Error: err.Error()}}, nil
	case err != nil:
		return runners.End{}, err
	case ctx.Err() != nil:
		return runners.End{}, context.Cause(ctx) // killed: whatever the engine said of it is not the job's doing
	}
	events, err := computed.Events()
	if err != nil {
		return runners.End{}, err
	}
	end := runners.End{Status: job.Succeeded, Outcome: job.Outcome{PublishTo: run.Stream(w.RunID)}}
	if end.Outcome.Publish, err = j.Catalogue.Embed(events...); err != nil {
		return runners.End{}, err
	}
	answer, cause := computed.Answer()
	switch {
	case errors.Is(cause, commands.ErrBudgetExhausted):
		end.Status = job.TimedOut
		end.Outcome.Error = fmt.Sprintf("the evaluation ran past the job's time budget of %v and was stopped", w.Budget)
	case cause != nil:
		end.Status, end.Outcome.Error = job.Failed, cause.Error()
	default:
		result, err := event.Marshal(resultOf(answer))
		if err != nil {
			return runners.End{}, err
		}
		end.Outcome.Output, end.Outcome.Result = event.Inline(answer.Result), event.Inline(string(result))
	}
	return end, nil
}

// result is the structured result of an evaluate job: the fields of an evaluate
// response (spec §2.2).
type result struct {
	Result          string   `json:"result"`
	Status          string   `json:"status"`
	ExecutionTimeMS int64    `json:"execution_time_ms"`
	RunID           int64    `json:"run_id"`
	PlotURL         *string  `json:"plot_url"`
	ReceiptURL      string   `json:"receipt_url"`
	Stdout          *string  `json:"stdout"`
	Warnings        []string `json:"warnings"`
	Verification    *checked `json:"verification"`
}

// checked is spec §2.3.
type checked struct {
	Verdict   string `json:"verdict"`
	Basis     string `json:"basis"`
	Method    string `json:"method"`
	Check     string `json:"check"`
	Residual  string `json:"residual"`
	ElapsedMS int64  `json:"elapsed_ms"`
	Automatic bool   `json:"automatic"`
}

func resultOf(a commands.Evaluation) result {
	r := result{
		Result: a.Result, Status: a.Run.Status, ExecutionTimeMS: a.Run.ExecutionMS, RunID: a.RunID,
		ReceiptURL: fmt.Sprintf("/api/receipts/%d", a.RunID), Warnings: a.Run.Warnings,
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	if a.Stdout != "" {
		r.Stdout = &a.Stdout
	}
	if a.Run.Plot != nil {
		plotURL := fmt.Sprintf("/api/plots/%d", a.RunID)
		r.PlotURL = &plotURL
	}
	if c := a.Run.Check; c != nil && c.Conclusive() {
		r.Verification = &checked{Verdict: c.Verdict, Basis: c.Basis, Method: c.Method, Check: c.Check, Residual: c.Residual, ElapsedMS: c.ElapsedMS, Automatic: c.Automatic}
	}
	return r
}
