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
	in.Source = event.SourceJob
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
	switch _, cause := computed.Answer(); {
	case errors.Is(cause, commands.ErrBudgetExhausted):
		end.Status = job.TimedOut
		end.Outcome.Error = fmt.Sprintf("the evaluation ran past the job's time budget of %v and was stopped", w.Budget)
	case cause != nil:
		end.Status, end.Outcome.Error = job.Failed, cause.Error()
		for _, s := range (commands.Evaluate{Expression: w.Content, SessionID: w.SessionID}).Suggestions() {
			end.Outcome.Error += "\n" + s.Message
		}
	}
	return end, nil
}
