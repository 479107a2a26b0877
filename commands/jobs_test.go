package commands_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/domain/upload"
	"reckon/runners"
	"reckon/runners/kinds"
)

// newJobs is the write side of jobs on a log.
func newJobs(l *log) *commands.Jobs {
	return &commands.Jobs{Store: l, Runs: commands.NewRunIDs(l, "p"), Blobs: l.blobs}
}

// jobKinds are the service's; no part of a process is at hand, so that only what needs none can be submitted.
var jobKinds = runners.Submittable(kinds.All(kinds.Parts{}))

// submission is an evaluate job that nothing refuses.
func submission(code, key string) commands.SubmitJob {
	return jobKinds.Command(commands.JobRequest{IdempotencyKey: key, Fields: commands.JobFields{"expression": code}}, plan)
}

func submit(t testing.TB, j *commands.Jobs, c commands.SubmitJob) commands.Submitted {
	t.Helper()
	got, err := j.SubmitJob(context.Background(), intentOf(anna), c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func claim(t testing.TB, j *commands.Jobs, jobID, nonce string) job.State {
	t.Helper()
	state, _, err := j.ClaimJob(context.Background(), intentOf(anna), jobID, "runner", nonce)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

var today = slots.Stream(anna, "2026-08-01")

func TestSubmitSpendsASlotAndQueues(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	in := intentOf(anna)
	got, err := j.SubmitJob(t.Context(), in, submission("1+1", ""))
	if err != nil {
		t.Fatal(err)
	}
	s := got.Job.Queued
	want := job.Submission{JobID: s.JobID, Account: anna, Kind: "evaluate", Payload: event.Inline("1+1"), RunID: 1, TimeoutMS: plan.JobBudgetMS,
		Plan: "free", Concurrent: 1, Source: event.SourceWeb, Agent: "test", SubmittedAt: "2026-08-01T12:00:00.000Z"}
	if s.Submission != want || got.Job.Status != job.Queued || s.Day != "2026-08-01" || s.SlotID != commands.EventID(in.ID, today, 0) {
		t.Errorf("%+v\nwant %+v", s, want)
	}
	if id, err := uuid.Parse(s.JobID); err != nil || id.Version() != 7 {
		t.Errorf("job id %s", s.JobID)
	}
	if head, _ := l.Head(t.Context()); got.Resubmit || got.JobsRemaining != 1 || got.Position != head {
		t.Errorf("%+v; head %v", got, head)
	}
	if l.names(today) != "slots.spent" || l.names(job.Stream(s.JobID)) != "job.queued" {
		t.Errorf("%s; %s", l.names(today), l.names(job.Stream(s.JobID)))
	}
	if cause := causeOf(t, l, job.Stream(s.JobID), 0); cause != s.SlotID || causeOf(t, l, today, 0) != "" {
		t.Errorf("the job was queued because of %q", cause)
	}
}

// causeOf is the id of the event that an event says it follows from.
func causeOf(t *testing.T, l *log, stream string, revision event.Revision) string {
	t.Helper()
	recorded, err := l.Event(t.Context(), stream, revision)
	if err != nil {
		t.Fatal(err)
	}
	return recorded.Metadata.Causation
}

// idOf is the id of an event.
func idOf(t *testing.T, l *log, stream string, revision event.Revision) string {
	t.Helper()
	recorded, err := l.Event(t.Context(), stream, revision)
	if err != nil {
		t.Fatal(err)
	}
	return recorded.ID
}

func TestALongPayloadIsABlob(t *testing.T) {
	j := newJobs(newLog(t))
	code := `f["` + strings.Repeat("x", event.MaxInlineBytes) + `"]`
	got := submit(t, j, submission(code, ""))
	if got.Job.Queued.Payload.Blob == nil {
		t.Error("kept inline")
	}
	if content, err := j.LoadPayload(t.Context(), got.Job.Queued.Submission); err != nil || content != code {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

func TestTheSameKeyIsTheSameJob(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	first := submit(t, j, submission("1+1", "monday"))
	appends := l.count()
	invalid := submission("", "monday") // answered before it is judged
	invalid.Submission.TimeoutMS = plan.JobBudgetMS + 1
	for _, c := range []commands.SubmitJob{submission("1+1", "monday"), submission("2+2", "monday"), invalid} {
		if got := submit(t, j, c); !got.Resubmit || got.Job.Queued != first.Job.Queued || got.JobsRemaining != 1 {
			t.Errorf("%+v", got)
		}
	}
	if l.count() != appends {
		t.Errorf("%d appends", l.count()-appends)
	}
	if other, err := j.SubmitJob(t.Context(), intentOf(bert), submission("1+1", "monday")); err != nil || other.Resubmit || other.Job.Queued.JobID == first.Job.Queued.JobID {
		t.Errorf("another account's key: %+v, %v", other, err)
	}
}

// TestTwoSubmissionsOfOneKeyOnTwoDays: the other's slot is of tomorrow and its
// job is first; ours is given back, and counts again in what remains.
func TestTwoSubmissionsOfOneKeyOnTwoDays(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	l.before = func(stream string) error {
		if stream != today {
			return nil
		}
		l.before = nil
		tomorrow := intentOf(anna)
		tomorrow.At = noon.AddDate(0, 0, 1)
		_, err := newJobs(l.elsewhere()).SubmitJob(t.Context(), tomorrow, submission("1+1", "monday"))
		return err
	}
	got := submit(t, j, submission("1+1", "monday"))
	if !got.Resubmit || got.Job.Queued.Day != "2026-08-02" || got.JobsRemaining != plan.JobsPerDay {
		t.Errorf("%+v", got)
	}
	if l.names(today) != "slots.spent slots.refunded" || l.names(slots.Stream(anna, "2026-08-02")) != "slots.spent" {
		t.Errorf("today %s; tomorrow %s", l.names(today), l.names(slots.Stream(anna, "2026-08-02")))
	}
}

// TestTwoSubmissionsOfOneKeyAtOnce: the other process spent the slot; both are
// answered the one job.
func TestTwoSubmissionsOfOneKeyAtOnce(t *testing.T) {
	for _, meetAt := range []string{"slots-", "job-"} {
		l := newLog(t)
		var theirs commands.Submitted
		l.before = func(stream string) (err error) {
			if strings.HasPrefix(stream, meetAt) {
				l.before = nil
				theirs, err = newJobs(l.elsewhere()).SubmitJob(t.Context(), intentOf(anna), submission("2+2", "monday"))
			}
			return err
		}
		ours := submit(t, newJobs(l), submission("1+1", "monday"))
		if ours.Job.Queued != theirs.Job.Queued || ours.Resubmit == theirs.Resubmit || ours.JobsRemaining != 1 || theirs.JobsRemaining != 1 {
			t.Errorf("meeting at %s:\n%+v\n%+v", meetAt, ours, theirs)
		}
		if l.names(today) != "slots.spent" || l.names(job.Stream(ours.Job.Queued.JobID)) != "job.queued" {
			t.Errorf("meeting at %s: %s; %s", meetAt, l.names(today), l.names(job.Stream(ours.Job.Queued.JobID)))
		}
	}
}

func TestTheAllowance(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	for want := plan.JobsPerDay - 1; want >= 0; want-- {
		if got := submit(t, j, submission("1+1", "")); got.JobsRemaining != want {
			t.Errorf("%d remaining, want %d", got.JobsRemaining, want)
		}
	}
	spent := l.names(today)
	if _, err := j.SubmitJob(t.Context(), intentOf(anna), submission("1+1", "")); !errors.Is(err, slots.ErrAllowanceSpent) || l.names(today) != spent {
		t.Errorf("one too many: %v", err)
	}
	late := intentOf(anna)
	late.At = time.Date(2026, 8, 2, 1, 0, 0, 0, time.FixedZone("", 2*3600)) // still 1 August in UTC
	if _, err := j.SubmitJob(t.Context(), late, submission("1+1", "")); !errors.Is(err, slots.ErrAllowanceSpent) {
		t.Errorf("days are UTC: %v", err)
	}
	late.At = noon.AddDate(0, 0, 1)
	if got, err := j.SubmitJob(t.Context(), late, submission("1+1", "")); err != nil || got.JobsRemaining != plan.JobsPerDay-1 {
		t.Errorf("the next day: %+v, %v", got, err)
	}
}

func TestARefusedSubmissionAppendsNothing(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	one := commands.JobFields{"expression": "1"}
	var denied *commands.DeniedError
	var syntax *expression.SyntaxError
	var unread *commands.NotInLanguageError
	var field *commands.JobFieldError
	var kind *commands.UnknownJobKindError
	var timeout *commands.TimeoutOverPlanError
	for name, c := range map[string]struct {
		request commands.JobRequest
		is      error
		as      any
	}{
		"nothing":           {commands.JobRequest{}, commands.ErrExpressionRequired, nil},
		"unknown kind":      {commands.JobRequest{Kind: job.Kind(strings.Repeat("x", 1000))}, nil, &kind},
		"denied":            {commands.JobRequest{Fields: commands.JobFields{"expression": `Run["ls"]`}}, nil, &denied},
		"too deep":          {commands.JobRequest{Fields: commands.JobFields{"expression": strings.Repeat("(", 10_000)}}, nil, &syntax},
		"not the language":  {commands.JobRequest{Fields: commands.JobFields{"expression": "1 +* 2"}}, nil, &unread},
		"no such operator":  {commands.JobRequest{Fields: commands.JobFields{"expression": "x**2"}}, nil, &unread},
		"bad session":       {commands.JobRequest{Fields: commands.JobFields{"expression": "1", "session_id": "a/b"}}, commands.ErrInvalidSessionID, nil},
		"timeout over plan": {commands.JobRequest{Fields: one, TimeoutMS: ms(plan.JobBudgetMS + 1)}, nil, &timeout},
		"timeout 0":         {commands.JobRequest{Fields: one, TimeoutMS: ms(0)}, nil, &field},
		"timeout negative":  {commands.JobRequest{Fields: one, TimeoutMS: ms(-1)}, nil, &field},
		"export with code":  {commands.JobRequest{Fields: commands.JobFields{"expression": "1", "export": ""}}, nil, &field},
		"wait_ms with code": {commands.JobRequest{Fields: one, WaitMS: ms(1)}, nil, &field},
	} {
		l := newLog(t)
		_, err := newJobs(l).SubmitJob(t.Context(), intentOf(anna), jobKinds.Command(c.request, plan))
		if c.is != nil && !errors.Is(err, c.is) || c.as != nil && !errors.As(err, c.as) {
			t.Errorf("%s: %v", name, err)
		}
		if len(fmt.Sprint(err)) > 400 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
		if l.count() != 0 {
			t.Errorf("%s: %d appends", name, l.count())
		}
	}
}

// TestASubmissionIsFinishedByWhoeverComes: the submitter died once its slot was spent.
func TestASubmissionIsFinishedByWhoeverComes(t *testing.T) {
	l := newLog(t)
	l.before = func(stream string) error {
		if strings.HasPrefix(stream, "job-") {
			return commands.ErrUnavailable
		}
		return nil
	}
	j := newJobs(l)
	if _, err := j.SubmitJob(t.Context(), intentOf(anna), submission("1+1", "")); !errors.Is(err, commands.ErrUnavailable) {
		t.Fatal(err)
	}
	l.before = nil
	history, err := l.Read(t.Context(), today)
	if err != nil {
		t.Fatal(err)
	}
	spent := history.Events[0].Event.(slots.Spent)
	for range 2 {
		state, _, err := j.FinishSubmission(t.Context(), intentOf(anna), spent)
		if err != nil || state.Status != job.Queued || state.Queued.SlotID != spent.SlotID {
			t.Errorf("%+v, %v", state, err)
		}
	}
	if got := l.names(job.Stream(spent.Submission.JobID)) + "; " + l.names(today); got != "job.queued; slots.spent" {
		t.Error(got)
	}
}

func TestAnUploadIsForOneJob(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	content, err := l.blobs.Put(t.Context(), []byte("export"))
	if err != nil {
		t.Fatal(err)
	}
	stored := upload.Stored{UploadID: "u", Account: anna, Blob: content}
	if _, _, err := commands.Handle(t.Context(), l, upload.Decider, upload.Stream("u"), intentOf(anna), upload.Command(upload.Store{Stored: stored})); err != nil {
		t.Fatal(err)
	}
	withUpload := func(key, id string) commands.SubmitJob {
		return commands.SubmitJob{Plan: plan, Prepare: func(context.Context, commands.Intent, *job.Submission) error { return nil },
			Submission: job.Submission{Kind: "certified", IdempotencyKey: key, UploadID: id}, Publishes: job.PublishesCertificate}
	}
	first := submit(t, j, withUpload("first", "u"))
	if first.Job.Queued.CertificateID == "" || l.names(upload.Stream("u")) != "upload.stored upload.claimed" {
		t.Errorf("%+v; %s", first, l.names(upload.Stream("u")))
	}
	for id, want := range map[string]error{"u": upload.ErrUploadUsed, "nosuch": upload.ErrNotFound} {
		if _, err := j.SubmitJob(t.Context(), intentOf(anna), withUpload("for "+id, id)); !errors.Is(err, want) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if got := l.names(today); got != "slots.spent slots.spent slots.refunded slots.spent slots.refunded" {
		t.Errorf("slots: %s", got)
	}
	if _, err := j.CancelJob(t.Context(), intentOf(anna), first.Job.Queued.JobID); err != nil {
		t.Fatal(err)
	}
	if again := submit(t, j, withUpload("again", "u")); again.Job.Status != job.Queued {
		t.Errorf("after the early cancel: %+v", again)
	}
}

func TestCancelling(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	cancel := func(id string) commands.Cancellation {
		t.Helper()
		got, err := j.CancelJob(t.Context(), intentOf(anna), id)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	queued := submit(t, j, submission("1+1", "")).Job.Queued.JobID
	if got := cancel(queued); !got.Cancelled || !got.Refunded || got.Job.Status != job.Cancelled || l.names(today) != "slots.spent slots.refunded" {
		t.Errorf("queued: %+v; %s", got, l.names(today))
	}
	if cause, cancelled := causeOf(t, l, today, 1), idOf(t, l, job.Stream(queued), 1); cause != cancelled {
		t.Errorf("refunded because of %q, cancelled by %q", cause, cancelled)
	}
	if got := cancel(queued); got.Cancelled || got.Refunded || l.names(today) != "slots.spent slots.refunded" {
		t.Errorf("again: %+v; %s", got, l.names(today))
	}
	if remaining, err := j.Remaining(t.Context(), intentOf(anna), plan); err != nil || remaining != plan.JobsPerDay {
		t.Errorf("%d remaining, %v", remaining, err)
	}

	running := submit(t, j, submission("1+1", "")).Job.Queued.JobID
	claim(t, j, running, "n")
	if got := cancel(running); !got.Cancelled || got.Refunded || got.Job.Status != job.Cancelled {
		t.Errorf("running: %+v", got)
	}
	if _, err := j.FinishJob(t.Context(), intentOf(anna), job.Succeeded, job.Outcome{JobID: running, Nonce: "n"}); !errors.Is(err, job.ErrSuperseded) {
		t.Errorf("the killed runner's outcome: %v", err)
	}

	ended := submit(t, j, submission("1+1", "")).Job.Queued.JobID
	claim(t, j, ended, "n")
	if _, err := j.FinishJob(t.Context(), intentOf(anna), job.Succeeded, job.Outcome{JobID: ended, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	if got := cancel(ended); got.Cancelled || got.Refunded || got.Job.Status != job.Succeeded {
		t.Errorf("ended: %+v", got)
	}
	for name, c := range map[string]struct{ account, id string }{"another account's": {bert, ended}, "never submitted": {anna, uuid.NewString()}} {
		if _, err := j.CancelJob(t.Context(), intentOf(c.account), c.id); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOfTwoCancelsOneCancelled: another request cancels between read and append.
func TestOfTwoCancelsOneCancelled(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	id := submit(t, j, submission("1+1", "")).Job.Queued.JobID
	var theirs commands.Cancellation
	l.before = func(string) (err error) {
		l.before = nil
		theirs, err = newJobs(l.elsewhere()).CancelJob(t.Context(), intentOf(anna), id)
		return err
	}
	ours, err := j.CancelJob(t.Context(), intentOf(anna), id)
	if err != nil || ours.Cancelled || ours.Refunded || !theirs.Cancelled || !theirs.Refunded || ours.Job.Status != job.Cancelled {
		t.Errorf("%v: %+v and %+v", err, ours, theirs)
	}
	if got := l.names(today); got != "slots.spent slots.refunded" {
		t.Errorf("slots: %s", got)
	}
}

// TestAClaimAndACancelRace: whoever appends first wins, and "started" and
// "refunded" do not both happen.
func TestAClaimAndACancelRace(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	id := submit(t, j, submission("1+1", "")).Job.Queued.JobID
	l.before = func(string) error {
		l.before = nil
		_, _, err := newJobs(l.elsewhere()).ClaimJob(t.Context(), intentOf(anna), id, "runner", "n")
		return err
	}
	if got, err := j.CancelJob(t.Context(), intentOf(anna), id); err != nil || !got.Cancelled || got.Refunded || got.Job.Nonce != "n" {
		t.Errorf("claimed first: %+v, %v", got, err)
	}
	id = submit(t, j, submission("1+1", "")).Job.Queued.JobID
	l.before = func(string) error {
		l.before = nil
		_, err := newJobs(l.elsewhere()).CancelJob(t.Context(), intentOf(anna), id)
		return err
	}
	if _, _, err := j.ClaimJob(t.Context(), intentOf(anna), id, "runner", "n"); !errors.Is(err, job.ErrNotQueued) {
		t.Errorf("cancelled first: %v", err)
	}
}

func TestHandingBackAndLosing(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	id := submit(t, j, submission("1+1", "")).Job.Queued.JobID
	claim(t, j, id, "1")
	if err := j.ReleaseJob(t.Context(), intentOf(anna), id, "other"); !errors.Is(err, job.ErrSuperseded) {
		t.Errorf("released by another: %v", err)
	}
	if err := j.ReleaseJob(t.Context(), intentOf(anna), id, "1"); err != nil {
		t.Fatal(err)
	}
	for attempt := 1; ; attempt++ {
		nonce := fmt.Sprint("a", attempt)
		claim(t, j, id, nonce)
		state, err := j.BlameWork(t.Context(), intentOf(anna), id, nonce)
		if err != nil {
			t.Fatal(err)
		}
		if state.Status == job.Lost {
			if attempt != job.MaxAbandoned {
				t.Errorf("lost after %d", attempt)
			}
			break
		}
		if state.Status != job.Queued || attempt > job.MaxAbandoned {
			t.Fatalf("attempt %d: %+v", attempt, state)
		}
	}
	if got := l.names(today); got != "slots.spent" {
		t.Errorf("a job whose work ended its attempts costs its slot: %s", got)
	}
}

// TestWhatTheServiceLosesIsRefunded: once, whoever settles it, and the upload is free again.
func TestWhatTheServiceLosesIsRefunded(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, j *commands.Jobs, id string) (job.State, error){
		"never tried": func(t *testing.T, j *commands.Jobs, id string) (job.State, error) {
			claim(t, j, id, "1")
			in := intentOf(anna)
			if s, err := j.ReturnJob(t.Context(), in, id, "1", "the store of large bytes could not be reached"); err != nil || s.Status != job.Queued || s.Tried {
				t.Fatalf("%+v %v", s, err)
			}
			claim(t, j, id, "2")
			in = intentOf(anna)
			in.At = in.At.Add(2 * job.GiveUpAfter)
			return j.ReturnJob(t.Context(), in, id, "2", "the store of large bytes could not be reached")
		},
		"in a session": func(t *testing.T, j *commands.Jobs, id string) (job.State, error) {
			claim(t, j, id, "1")
			return j.AbandonJob(t.Context(), intentOf(anna), id, "1", true)
		},
		"its runners ended": func(t *testing.T, j *commands.Jobs, id string) (state job.State, err error) {
			for attempt := range job.MaxAbandoned {
				claim(t, j, id, fmt.Sprint(attempt))
				if state, err = j.AbandonJob(t.Context(), intentOf(anna), id, fmt.Sprint(attempt), true); err != nil {
					return state, err
				}
			}
			return state, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			j := newJobs(l)
			c := submission("1+1", "")
			if name == "in a session" {
				c = jobKinds.Command(commands.JobRequest{Fields: commands.JobFields{"expression": "1+1", "session_id": "s"}}, plan)
			}
			id := submit(t, j, c).Job.Queued.JobID
			state, err := lose(t, j, id)
			if err != nil || state.Status != job.Lost || !state.Refunded {
				t.Fatalf("%+v, %v", state, err)
			}
			if err := j.SettleRefund(t.Context(), intentOf(anna), state); err != nil { // as the reaction does
				t.Fatal(err)
			}
			if got := l.names(today); got != "slots.spent slots.refunded" {
				t.Errorf("the day: %s", got)
			}
			history, err := l.Read(t.Context(), today)
			if err != nil {
				t.Fatal(err)
			}
			if refunded := history.Events[1]; refunded.Event.(slots.Refunded).Reason != slots.ServiceFailed || refunded.Metadata.Account != anna {
				t.Errorf("%+v", refunded)
			}
			if left, err := j.Remaining(t.Context(), intentOf(anna), plan); err != nil || left != plan.JobsPerDay {
				t.Errorf("%d left, %v", left, err)
			}
		})
	}
}

// finished is a running job's outcome with a run to publish.
func finished(t testing.TB, j *commands.Jobs, s job.State, answer string) job.Outcome {
	t.Helper()
	publish, err := domain.Catalogue().Embed(run.Evaluated{
		Subject: run.Subject{RunID: s.Queued.RunID, Account: s.Queued.Account, Expression: s.Queued.Payload, Source: event.SourceJob, JobID: s.Queued.JobID},
		Answer:  event.Inline(answer), Status: run.Success,
	})
	if err != nil {
		t.Fatal(err)
	}
	return job.Outcome{JobID: s.Queued.JobID, Nonce: s.Nonce, Publish: publish, PublishTo: run.Stream(s.Queued.RunID)}
}

func TestAFinishedJobIsPublishedOnce(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	s := claim(t, j, submit(t, j, submission("1+1", "")).Job.Queued.JobID, "n")
	runner := commands.Intent{ID: uuid.New(), At: noon.Add(time.Second), Account: "", Actor: "runner:r"}
	state, err := j.FinishJob(t.Context(), runner, job.Succeeded, finished(t, j, s, "2"))
	if err != nil || state.Status != job.Succeeded || state.FinishedAt != "2026-08-01T12:00:01.000Z" {
		t.Fatalf("%+v, %v", state, err)
	}
	for range 2 { // the reaction, redelivered
		if err := j.PublishOutcome(t.Context(), intentOf(""), state); err != nil {
			t.Errorf("published again: %v", err)
		}
	}
	history, err := l.Read(t.Context(), run.Stream(s.Queued.RunID))
	if err != nil || len(history.Events) != 1 {
		t.Fatalf("%d events, %v", len(history.Events), err)
	}
	if m := history.Events[0].Metadata; m.Account != anna || m.Source != event.SourceJob || m.Agent != "test" || m.Actor != "runner:r" || m.Correlation != runner.ID.String() || m.Causation != idOf(t, l, job.Stream(s.Queued.JobID), 2) {
		t.Errorf("%+v", m)
	}
}

func TestLongAnswersAreBlobs(t *testing.T) {
	j := newJobs(newLog(t))
	s := claim(t, j, submit(t, j, submission("1+1", "")).Job.Queued.JobID, "n")
	long := event.Inline(strings.Repeat("7", event.MaxInlineBytes+1))
	state, err := j.FinishJob(t.Context(), intentOf(""), job.Succeeded, job.Outcome{JobID: s.Queued.JobID, Nonce: s.Nonce, Output: long, Result: long})
	if err != nil || state.Outcome.Output.Blob == nil || state.Outcome.Result.Blob == nil {
		t.Fatalf("%+v, %v", state, err)
	}
}

// TestALateFinisherPublishesNothing: the job is somebody else's by now.
func TestALateFinisherPublishesNothing(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	late := claim(t, j, submit(t, j, submission("1+1", "")).Job.Queued.JobID, "late")
	if _, err := j.AbandonJob(t.Context(), intentOf(anna), late.Queued.JobID, "late", true); err != nil {
		t.Fatal(err)
	}
	if _, err := j.FinishJob(t.Context(), intentOf(anna), job.Succeeded, finished(t, j, late, "2")); !errors.Is(err, job.ErrSuperseded) {
		t.Errorf("while queued: %v", err)
	}
	second := claim(t, j, late.Queued.JobID, "second")
	if _, err := j.FinishJob(t.Context(), intentOf(anna), job.Succeeded, finished(t, j, late, "2")); !errors.Is(err, job.ErrSuperseded) {
		t.Errorf("while another has it: %v", err)
	}
	if got := l.names(run.Stream(late.Queued.RunID)); got != "" {
		t.Errorf("published: %s", got)
	}
	if _, err := j.FinishJob(t.Context(), intentOf(anna), job.TimedOut, finished(t, j, second, "3")); err != nil {
		t.Error(err)
	}
	if _, err := j.FinishJob(t.Context(), intentOf(anna), job.Succeeded, finished(t, j, late, "2")); !errors.Is(err, job.ErrSuperseded) {
		t.Errorf("after the end: %v", err)
	}
}

// TestSlotsAndJobsAgree under any order of submissions, cancels and claims on
// two days: a job holds one slot, or none if it was cancelled before any claim,
// and no day spends more than its allowance.
func TestSlotsAndJobsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		l := newBareLog(t)
		j := newJobs(l)
		days := []string{"2026-08-01", "2026-08-02"}
		ids, n := []string{}, 0
		at := func(t *rapid.T) commands.Intent {
			in := intentOf(anna)
			in.At = noon.AddDate(0, 0, rapid.IntRange(0, 1).Draw(t, "day"))
			return in
		}
		some := func(t *rapid.T) string {
			if len(ids) == 0 {
				t.Skip("no job yet")
			}
			return rapid.SampledFrom(ids).Draw(t, "job")
		}
		t.Repeat(map[string]func(*rapid.T){
			"submit": func(t *rapid.T) {
				got, err := j.SubmitJob(ctx, at(t), submission("1+1", rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key")))
				if errors.Is(err, slots.ErrAllowanceSpent) {
					return
				}
				if err != nil || got.JobsRemaining < 0 {
					t.Fatalf("%+v, %v", got, err)
				}
				if id := got.Job.Queued.JobID; got.Resubmit != slices.Contains(ids, id) {
					t.Fatalf("resubmit %v of %s among %v", got.Resubmit, id, ids)
				} else if !got.Resubmit {
					ids = append(ids, id)
				}
			},
			"cancel": func(t *rapid.T) {
				if _, err := j.CancelJob(ctx, at(t), some(t)); err != nil {
					t.Fatal(err)
				}
			},
			"claim": func(t *rapid.T) {
				n++
				if _, _, err := j.ClaimJob(ctx, at(t), some(t), "r", fmt.Sprint(n)); err != nil && !errors.Is(err, job.ErrNotQueued) {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				held, used := map[string]int{}, 0
				for _, day := range days {
					history, err := l.Read(ctx, slots.Stream(anna, day))
					if err != nil {
						t.Fatal(err)
					}
					state := slots.Decider.Fold(history.Domain())
					if state.SlotsUsed() > plan.JobsPerDay {
						t.Fatalf("%s: %d slots used", day, state.SlotsUsed())
					}
					for _, id := range ids {
						if _, holds := state.HeldBy(id); holds {
							held[id]++
						}
					}
					used += state.SlotsUsed()
				}
				for _, id := range ids {
					s, err := j.Read(ctx, id)
					if err != nil {
						t.Fatal(err)
					}
					want := 1
					if s.Status == job.Cancelled && s.Attempt == 0 {
						want = 0
					}
					if held[id] != want {
						t.Fatalf("job %s (%s, %d claims) holds %d slots", id, s.Status, s.Attempt, held[id])
					}
				}
				for _, n := range held {
					used -= n
				}
				if used != 0 {
					t.Fatalf("%d slots are used by jobs nobody was told of", used)
				}
			},
		})
	})
}
