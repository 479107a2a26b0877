package run_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/run"
)

func TestRun(t *testing.T) {
	given := decidertest.Given[run.Command, run.State]
	subject := run.Subject{RunID: 5, Account: "a", Expression: event.Inline("1+1"), Source: event.SourceWeb}
	evaluated := run.Evaluated{Subject: subject, Answer: event.Inline("2"), Status: run.Success}
	sealed := run.Sealed{RunID: 5, ReceiptID: "id"}
	record := run.Record{Evaluated: evaluated, Sealed: sealed}
	timedOut, failed := run.TimedOut{Subject: subject, BudgetMS: 1}, run.Failed{Subject: subject, Reason: "crashed"}
	verdict := func(v run.Verdict, method string) run.Verified {
		return run.Verified{RunID: 5, Account: "a", Check: run.Check{Verdict: v, Method: method}}
	}

	given(t, run.Decider).When(record).Then(evaluated, sealed)
	given(t, run.Decider).When(run.RecordTimeout{TimedOut: timedOut}).Then(timedOut)
	given(t, run.Decider).When(run.RecordFailure{Failed: failed}).Then(failed)
	given(t, run.Decider, evaluated, sealed).When(record).ThenRefused(run.ErrRunIDUsed)
	given(t, run.Decider, timedOut).When(record).ThenRefused(run.ErrRunIDUsed)

	ofJob := evaluated
	ofJob.JobID = "j"
	given(t, run.Decider, ofJob, sealed).When(run.Record{Evaluated: ofJob, Sealed: sealed}).ThenNothing()
	given(t, run.Decider, ofJob, sealed).When(record).ThenRefused(run.ErrRunIDUsed)

	verified := verdict("verified", "m")
	given(t, run.Decider).When(run.RecordCheck{Verified: verified}).ThenRefused(run.ErrNotFound)
	given(t, run.Decider, timedOut).When(run.RecordCheck{Verified: verified}).ThenRefused(run.ErrNoAnswer)
	given(t, run.Decider, evaluated, sealed).When(run.RecordCheck{Verified: verified}).Then(verified)
	given(t, run.Decider, evaluated, sealed).When(run.RecordCheck{Verified: run.Verified{RunID: 5, Account: "b"}}).ThenRefused(run.ErrNotFound)
	given(t, run.Decider, evaluated, sealed, verified).When(run.RecordCheck{Verified: verdict("inconclusive", "")}).ThenNothing()
	given(t, run.Decider, evaluated, sealed, verified).When(run.RecordCheck{Verified: verified}).ThenNothing()
	given(t, run.Decider, evaluated, sealed, verified).When(run.RecordCheck{Verified: verdict("refuted", "n")}).Then(verdict("refuted", "n"))
	given(t, run.Decider, evaluated, sealed, verdict("inconclusive", "")).When(run.RecordCheck{Verified: verified}).Then(verified)

	automatic := evaluated
	automatic.Check = &run.Check{Verdict: "verified", Automatic: true}
	given(t, run.Decider, automatic, sealed).When(run.RecordCheck{Verified: verdict("inconclusive", "")}).ThenNothing()
}

func TestBlocksTouchAndDoNotOverlap(t *testing.T) {
	next := int64(1)
	for revision := range event.Revision(5) {
		first, last := run.Block(revision)
		if first != next || last-first != run.BlockSize-1 {
			t.Errorf("revision %d holds %d to %d, want from %d", revision, first, last, next)
		}
		next = last + 1
	}
}
