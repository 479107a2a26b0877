package job_test

import (
	"fmt"
	"testing"
	"time"

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
	abandon := func(nonce string) job.Abandon { return job.Abandon{Nonce: nonce, Now: now, Spent: true} }
	given(t, job.Decider, queued(), claimed("n", 1)).When(abandon("n")).Then(released("n", job.Abandoned))
	given(t, job.Decider, queued(), claimed("n", 1)).When(abandon("other")).ThenNothing()
	given(t, job.Decider, queued()).When(abandon("n")).ThenNothing()
	twice := []event.Event{queued(), claimed("1", 1), released("1", job.Abandoned), claimed("2", 2), released("2", job.Abandoned), claimed("3", 3)}
	given(t, job.Decider, twice...).When(abandon("3")).Then(job.WasLost{JobID: "j", Nonce: "3", Attempts: 3, Why: job.RunnersEnded, Refunded: true, FinishedAt: now})
	given(t, job.Decider, twice...).When(job.Abandon{Nonce: "3", Now: now, Spent: true, Shown: true}).
		Then(job.WasLost{JobID: "j", Nonce: "3", Attempts: 3, Why: job.SpentAttempts, FinishedAt: now})

	// A runner that lives was not ended by the work: the attempt is not spent, however often.
	lives := func(nonce string) job.Abandon { return job.Abandon{Nonce: nonce, Now: now} }
	given(t, job.Decider, twice...).When(lives("3")).Then(released("3", job.Interrupted))
	given(t, job.Decider, append(twice, released("3", job.Interrupted), claimed("4", 4))...).When(lives("4")).Then(released("4", job.Interrupted))
	given(t, job.Decider, append(twice, released("3", job.Interrupted), claimed("4", 4))...).When(abandon("4")).
		Then(job.WasLost{JobID: "j", Nonce: "4", Attempts: 4, Why: job.RunnersEnded, Refunded: true, FinishedAt: now})

	drained := []event.Event{queued(), claimed("1", 1), released("1", job.Drained), claimed("2", 2), released("2", job.Drained), claimed("3", 3)}
	given(t, job.Decider, drained...).When(abandon("3")).Then(released("3", job.Abandoned))

	inSession := queued()
	inSession.SessionID = "notebook"
	lost := job.WasLost{JobID: "j", Nonce: "n", Attempts: 1, Why: job.InSession, Refunded: true, FinishedAt: now}
	given(t, job.Decider, inSession, claimed("n", 1)).When(abandon("n")).Then(lost)
	given(t, job.Decider, inSession, claimed("n", 1)).When(lives("n")).Then(lost)
	given(t, job.Decider, inSession, claimed("n", 1)).When(job.Return{Nonce: "n", Lacked: "x", Now: at(0)}).Then(untried("n", at(time.Second)))
}

// TestExcusing: a runner that was cut off and lives gives its attempts back, also when others have counted them.
func TestExcusing(t *testing.T) {
	given := decidertest.Given[job.Command, job.State]
	excuse := func(nonce string) job.Excuse { return job.Excuse{Nonce: nonce, Now: now} }
	excused := func(nonce string) job.WasExcused { return job.WasExcused{JobID: "j", Nonce: nonce} }
	lost := job.WasLost{JobID: "j", Nonce: "3", Attempts: 3, Why: job.SpentAttempts, FinishedAt: now}
	twice := []event.Event{queued(), claimed("1", 1), released("1", job.Abandoned), claimed("2", 2), released("2", job.Abandoned), claimed("3", 3)}
	given(t, job.Decider, queued(), claimed("n", 1)).When(excuse("n")).Then(released("n", job.Interrupted))
	given(t, job.Decider, twice...).When(excuse("1")).Then(excused("1"))
	given(t, job.Decider, append(twice, excused("1"))...).When(excuse("1")).ThenNothing()
	given(t, job.Decider, append(twice, excused("1"))...).When(job.Abandon{Nonce: "3", Now: now, Spent: true}).Then(released("3", job.Abandoned))
	given(t, job.Decider, append(twice, lost)...).When(excuse("1")).ThenNothing()
	given(t, job.Decider, queued(), claimed("n", 1), released("n", job.Interrupted)).When(excuse("n")).ThenNothing()
	given(t, job.Decider).When(excuse("n")).ThenRefused(job.ErrNotFound)
}

// TestReturning: what could not be tried goes back with its attempt, is tried again after a pause that grows, and ends after a day.
func TestReturning(t *testing.T) {
	given := decidertest.Given[job.Command, job.State]
	giveBack := func(nonce string, after time.Duration) job.Return {
		return job.Return{Nonce: nonce, Lacked: "x", Now: at(after)}
	}
	given(t, job.Decider, queued()).When(giveBack("n", 0)).ThenRefused(job.ErrSuperseded)
	given(t, job.Decider, queued(), claimed("n", 1)).When(giveBack("m", 0)).ThenRefused(job.ErrSuperseded)
	history := []event.Event{queued()}
	for i, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		nonce := fmt.Sprint(i)
		history = append(history, claimed(nonce, i+1))
		back := untried(nonce, at(time.Hour+pause*time.Second))
		given(t, job.Decider, history...).When(giveBack(nonce, time.Hour)).Then(back)
		history = append(history, back)
	}
	// It has not been tried, so that cancelling it refunds the slot.
	given(t, job.Decider, history...).When(job.Cancel{Account: "a", Now: now}).Then(job.WasCancelled{JobID: "j", Early: true, SlotID: "s", Day: "2026-08-01", FinishedAt: now})
	// A day after the first could not try it, it is lost.
	history = append(history, claimed("last", 12))
	first := time.Hour + time.Second
	given(t, job.Decider, history...).When(giveBack("last", first+job.GiveUpAfter-1)).Then(untried("last", at(first+job.GiveUpAfter-1+5*time.Minute)))
	given(t, job.Decider, history...).When(giveBack("last", first+job.GiveUpAfter)).
		Then(job.WasLost{JobID: "j", Nonce: "last", Attempts: 12, Why: job.NeverTried, Lacked: "x", Refunded: true, FinishedAt: event.Timestamp(at(first + job.GiveUpAfter))})
	// An attempt that is tried begins the count anew.
	history = append(history, released("last", job.Interrupted), claimed("again", 13))
	given(t, job.Decider, history...).When(giveBack("again", 30*time.Hour)).Then(untried("again", at(30*time.Hour+time.Second)))
}

// at is a time after now.
func at(after time.Duration) time.Time {
	moment, err := event.ParseTimestamp(now)
	if err != nil {
		panic(err)
	}
	return moment.Add(after)
}

func untried(nonce string, again time.Time) job.WasReleased {
	return job.WasReleased{JobID: "j", Nonce: nonce, Reason: job.Untried, Lacked: "x", NotBefore: event.Timestamp(again)}
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
	outcome.Publish = []event.Embedded{{Name: "run.evaluated"}}
	given(t, job.Decider, queued(), claimed("n", 1)).When(finish(job.Succeeded)).ThenRefused(job.ErrAnsweredTwice)
	outcome.Output = event.Text{}
	given(t, job.Decider, queued(), claimed("n", 1)).When(finish(job.Succeeded)).Then(job.HasSucceeded{Outcome: outcome})
	given(t, job.Decider, queued(), claimed("n", 1)).When(job.Release{Nonce: "n"}).Then(released("n", job.Drained))
	given(t, job.Decider, queued(), claimed("n", 1)).When(job.Release{Nonce: "m"}).ThenRefused(job.ErrSuperseded)
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
	// Once tried, a job has cost its slot, even if it stands in the queue again.
	given(t, job.Decider, queued(), claimed("n", 1), released("n", job.Drained)).When(cancel).Then(late)
}
