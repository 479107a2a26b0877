package evaluate

import (
	"context"
	"reflect"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/internal/view"
)

// Kind is the name of the kind.
const Kind job.Kind = "evaluate"

// Declare is runners.Kind.
func (j Jobs) Declare() commands.JobKind {
	return commands.JobKind{
		Declaration: job.Declaration{
			Name:    Kind,
			Summary: "evaluates an expression with a longer budget than a request has, and writes a run with a receipt",
			Fields: []job.Field{
				{Name: "expression", Type: job.Text, Required: true, Doc: "source text, evaluated as given", Most: expression.MaxBytes, Example: `"FactorInteger[2^128+1]"`, EmptyCode: "expression_required"},
				{Name: "session_id", Type: job.Text, Doc: "persistent session to run in. A job in a session is never run twice", EmptyCode: "invalid_session_id", Pattern: session.IDPattern},
			},
			PayloadField: "expression",
			Publishes:    job.PublishesRun,
			Result:       "the fields of an evaluate response",
			ResultType:   reflect.TypeFor[view.Evaluation](),
			Refusals:     []job.Refusal{{Code: "expression_required"}, {Code: "expression_too_complex"}, {Code: "invalid_session_id"}, {Code: "expression_denied"}, {Code: "syntax_error"}},
			Example:      `{"kind":"evaluate","expression":"Integrate[x^2, x]"}`,
		},
		Prepare: prepare,
	}
}

// prepare refuses what the engine would not be given and what it could not read.
func prepare(_ context.Context, _ commands.Intent, r commands.JobRequest, plan account.Plan, s *job.Submission) error {
	source := ""
	if given := r.Fields.Text("expression"); given != nil {
		source = *given
	}
	if session := r.Fields.Text("session_id"); session != nil {
		s.SessionID = *session
	}
	s.Payload = event.Inline(source)
	return commands.AdmitJob(commands.Evaluate{Expression: source, SessionID: s.SessionID, Plan: plan})
}
