package job_test

import (
	"testing"

	"reckon/domain/decider/decidertest"
	"reckon/domain/event"
	"reckon/domain/job"
)

const now = "2026-08-01T12:00:00.000Z"

func queued() job.WasQueued {
	return job.WasQueued{Submission: job.Submission{JobID: "j", Account: "a", Kind: "evaluate"}, SlotID: "s", Day: "2026-08-01"}
}

func claimed(nonce string, attempt int) job.WasClaimed {
	return job.WasClaimed{JobID: "j", Runner: "r", Nonce: nonce, Attempt: attempt, StartedAt: now}
}

func released(nonce string, reason job.ReleaseReason) job.WasReleased {
	return job.WasReleased{JobID: "j", Nonce: nonce, Reason: reason}
}

func TestClaims(t *testing.T) {
	given := decidertest.Given[job.Command, job.State]
	claim := job.Claim{Runner: "r", Nonce: "n", Now: now}
	given(t, job.Decider).When(job.Queue{Queued: queued()}).Then(queued())
	given(t, job.Decider, queued()).When(job.Queue{Queued: queued()}).ThenNothing()
	given(t, job.Decider).When(claim).ThenRefused(job.ErrNotFound)
	given(t, job.Decider, queued()).When(claim).Then(claimed("n", 1))
	given(t, job.Decider, queued(), claimed("m", 1)).When(claim).ThenRefused(job.ErrNotQueued)
	given(t, job.Decider, queued(), claimed("m", 1), released("m", job.Drained)).When(claim).Then(claimed("n", 2))
}

func TestAbandoning(t *testing.T) {
	given := decidertest.Given[job.Command, job.State]
	abandon := func(nonce string) job.Abandon { return job.Abandon{Nonce: nonce, Now: now} }
	given(t, job.Decider, queued(), claimed("n", 1)).When(abandon("n")).Then(released("n", job.Abandoned))
	given(t, job.Decider, queued(), claimed("n", 1)).When(abandon("other")).ThenNothing()
	given(t, job.Decider, queued()).When(abandon("n")).ThenNothing()
	twice := []event.Event{queued(), claimed("1", 1), released("1", job.Abandoned), claimed("2", 2), released("2", job.Abandoned), claimed("3", 3)}
	given(t, job.Decider, twice...).When(abandon("3")).Then(job.WasLost{JobID: "j", Nonce: "3", Attempts: 3, FinishedAt: now})

	drained := []event.Event{queued(), claimed("1", 1), released("1", job.Drained), claimed("2", 2), released("2", job.Drained), claimed("3", 3)}
	given(t, job.Decider, drained...).When(abandon("3")).Then(released("3", job.Abandoned))

	inSession := queued()
	inSession.SessionID = "notebook"
	given(t, job.Decider, inSession, claimed("n", 1)).When(abandon("n")).Then(job.WasLost{JobID: "j", Nonce: "n", Attempts: 1, FinishedAt: now})
}

func TestOnlyTheHolderEndsAJob(t *testing.T) {
	given := decidertest.Given[job.Command, job.State]
	outcome := job.Outcome{JobID: "j", Nonce: "n", Output: event.Inline("2"), FinishedAt: now}
	finish := func(status job.Status) job.Finish { return job.Finish{Status: status, Outcome: outcome} }
	given(t, job.Decider, queued(), claimed("n", 1)).When(finish(job.Succeeded)).Then(job.HasSucceeded{Outcome: outcome})
	given(t, job.Decider, queued(), claimed("n", 1)).When(finish(job.Failed)).Then(job.HasFailed{Outcome: outcome})
	given(t, job.Decider, queued(), claimed("n", 1)).When(finish(job.TimedOut)).Then(job.HasTimedOut{Outcome: outcome})
	given(t, job.Decider, queued(), claimed("m", 1)).When(finish(job.Succeeded)).ThenRefused(job.ErrSuperseded)
	given(t, job.Decider, queued()).When(finish(job.Succeeded)).ThenRefused(job.ErrSuperseded)
	given(t, job.Decider, queued(), claimed("n", 1), released("n", job.Abandoned), claimed("m", 2)).When(finish(job.Succeeded)).ThenRefused(job.ErrSuperseded)
	given(t, job.Decider, queued(), claimed("n", 1), job.WasCancelled{JobID: "j", Nonce: "n"}).When(finish(job.Succeeded)).ThenRefused(job.ErrSuperseded)
	given(t, job.Decider, queued(), claimed("n", 1), job.HasSucceeded{Outcome: outcome}).When(finish(job.Succeeded)).ThenRefused(job.ErrSuperseded)
	given(t, job.Decider, queued(), claimed("n", 1)).When(job.Release{Nonce: "n", Reason: job.Drained}).Then(released("n", job.Drained))
	given(t, job.Decider, queued(), claimed("n", 1)).When(job.Release{Nonce: "m", Reason: job.Drained}).ThenRefused(job.ErrSuperseded)
}

func TestCancelling(t *testing.T) {
	given := decidertest.Given[job.Command, job.State]
	cancel := job.Cancel{Account: "a", Now: now}
	early := job.WasCancelled{JobID: "j", Early: true, SlotID: "s", Day: "2026-08-01", FinishedAt: now}
	late := early
	late.Early = false
	running := late
	running.Nonce = "n"
	given(t, job.Decider).When(cancel).ThenRefused(job.ErrNotFound)
	given(t, job.Decider, queued()).When(job.Cancel{Account: "b", Now: now}).ThenRefused(job.ErrNotFound)
	given(t, job.Decider, queued()).When(cancel).Then(early)
	given(t, job.Decider, queued(), early).When(cancel).ThenNothing()
	given(t, job.Decider, queued(), early).When(job.Claim{Runner: "r", Nonce: "n", Now: now}).ThenRefused(job.ErrNotQueued)
	given(t, job.Decider, queued(), claimed("n", 1)).When(cancel).Then(running)
	// Once claimed, a job has cost its slot, even if it stands in the queue again.
	given(t, job.Decider, queued(), claimed("n", 1), released("n", job.Drained)).When(cancel).Then(late)
}
