package simulation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/domain/upload"
)

var (
	days = []time.Time{time.Date(2026, 8, 1, 23, 59, 0, 0, time.UTC), time.Date(2026, 8, 2, 0, 1, 0, 0, time.UTC)}
	plan = account.Plan{Name: "free", JobsPerDay: 5, JobBudgetMS: 60_000, ConcurrentJobs: 1}
)

const theAccount, theUpload = "a", "u"

// reserver answers run ids without a store operation: no conflict is possible there.
type reserver struct{}

func (reserver) Reserve(context.Context, string, event.Proposed) (event.Revision, error) {
	return 0, nil
}

func jobs(store commands.Store) *commands.Jobs {
	return &commands.Jobs{Store: store, Runs: commands.NewRunIDs(reserver{}, "p")}
}

// intent has a command id of its own, the same in every execution of the schedule.
func intent(name string, at time.Time) commands.Intent {
	return commands.Intent{ID: uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)), At: at, Account: theAccount, Actor: name}
}

func submit(name, key string, day int, uploadID string) process {
	return process{name, func(store commands.Store) {
		j := jobs(store)
		s := job.Submission{Kind: "evaluate", Payload: event.Inline("1+1"), IdempotencyKey: key, UploadID: uploadID}
		publishes := job.PublishesRun
		if uploadID != "" {
			s.Kind, publishes = "other", job.PublishesNothing // the upload is what counts
		}
		_, _ = j.SubmitJob(context.Background(), intent(name, days[day]), commands.SubmitJob{
			Submission: s, Plan: plan, Publishes: publishes, Prepare: func(context.Context, commands.Intent, *job.Submission) error { return nil }})
	}}
}

func jobID(t *testing.T, key string) string {
	t.Helper()
	id, err := commands.JobID(theAccount, key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func cancel(id string) process {
	return process{"cancel", func(store commands.Store) {
		_, _ = jobs(store).CancelJob(context.Background(), intent("cancel", days[1]), id)
	}}
}

// runner claims the job and finishes it, as late as the schedule likes.
func runner(name, id string) process {
	return process{name, func(store commands.Store) {
		j := jobs(store)
		in := intent(name, days[1])
		claimed, _, err := j.ClaimJob(context.Background(), in, id, name, name)
		if err != nil {
			return
		}
		runID := claimed.Queued.RunID
		embedded, err := domain.Catalogue().Embed(run.Failed{Subject: run.Subject{RunID: runID, Account: theAccount, Source: event.SourceJob, JobID: id}, Reason: run.FailureReason(name)})
		if err != nil {
			panic(err)
		}
		_, _ = j.FinishJob(context.Background(), intent(name+"-finish", days[1]), job.Succeeded,
			job.Outcome{JobID: id, Nonce: name, Publish: embedded, PublishTo: run.Stream(runID)})
	}}
}

// closer closes the account.
var closer = process{"close", func(store commands.Store) {
	_, _ = commands.CloseAccount(context.Background(), store, intent("close", days[1]))
}}

// holdings are the jobs of these ids that have not ended, as a read model that has caught up knows them.
type holdings struct {
	jobs *commands.Jobs
	ids  []string
}

func (h holdings) Of(ctx context.Context, _ string, _ event.Position) (held commands.Held, err error) {
	for _, id := range h.ids {
		s, err := h.jobs.Read(ctx, id)
		if err != nil {
			return held, err
		}
		if s.Exists() && !s.Terminal() {
			held.Jobs = append(held.Jobs, id)
		}
	}
	return held, nil
}

// nobody is forgotten: identity is no part of the log.
type nobody struct{}

func (nobody) Forget(context.Context, string, []string) error { return nil }

// rescuer believes that the named runner has stopped reporting.
func rescuer(id, nonce string) process {
	return process{"rescuer", func(store commands.Store) {
		_, _ = jobs(store).AbandonJob(context.Background(), intent("rescuer", days[1]), id, nonce, true)
	}}
}

// inTurn is a process that does one thing after the other: what it keeps of a stream from the first is old by the second.
func inTurn(name string, steps ...process) process {
	return process{name, func(store commands.Store) {
		for _, step := range steps {
			step.run(store)
		}
	}}
}

// reaction is one of those that run on events; recovery runs all of them.
type reaction struct {
	name string
	on   func(j *commands.Jobs, in commands.Intent, e event.Event) error
}

var reactions = []reaction{
	{"complete_submission", func(j *commands.Jobs, in commands.Intent, e event.Event) error {
		if e, ok := e.(slots.Spent); ok {
			_, _, err := j.FinishSubmission(context.Background(), in, e)
			return err
		}
		return nil
	}},
	{"settle_cancellation", func(j *commands.Jobs, in commands.Intent, e event.Event) error {
		if e, ok := e.(job.WasCancelled); ok {
			s, err := j.Read(context.Background(), e.JobID)
			if err != nil {
				return err
			}
			return j.SettleRefund(context.Background(), in, s)
		}
		return nil
	}},
	{"end_closed", func(j *commands.Jobs, in commands.Intent, e event.Event) error {
		var ids []string
		for _, key := range []string{"k", "other"} {
			id, err := commands.JobID(theAccount, key)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		closing := &commands.Closing{Jobs: j, Holdings: holdings{j, ids}, People: nobody{}}
		switch e := e.(type) {
		case account.Closed:
			return closing.EndAll(context.Background(), in, e.Account, event.Position{})
		case job.WasQueued:
			return closing.EndJob(context.Background(), in, e.Account, e.JobID)
		}
		return nil
	}},
	{"publish_outcome", func(j *commands.Jobs, in commands.Intent, e event.Event) error {
		if e, ok := e.(job.HasSucceeded); ok {
			s, err := j.Read(context.Background(), e.JobID)
			if err != nil {
				return err
			}
			return j.PublishOutcome(context.Background(), in, s)
		}
		return nil
	}},
}

// recovery delivers every event after the acknowledged ones to every reaction,
// in the log's order, until nothing new is appended. Each delivery happens
// twice: reactions are redelivered.
func recovery(with []reaction) func(*log, int) error {
	return func(l *log, acked int) error {
		j := jobs(newDirectStore(l))
		for i := acked; i < len(l.order); i++ {
			for _, r := range with {
				for range 2 {
					err := r.on(j, intent(fmt.Sprint(r.name, i), days[1]), l.order[i].event)
					if err != nil && !errors.Is(err, upload.ErrUploadUsed) {
						return fmt.Errorf("reaction %s to %T: %w", r.name, l.order[i].event, err)
					}
				}
			}
		}
		return nil
	}
}

// invariants are those of docs/architecture.md#protocols, for logs in which all reactions have run.
func invariants(ids ...string) func(*log) error {
	return func(l *log) error {
		holders := 0
		for _, id := range ids {
			if err := jobInvariants(l, id); err != nil {
				return err
			}
			if s := stateOf(l, id); s.Exists() && !s.Terminal() && account.Decider.Fold(l.streams[account.Stream(theAccount)]).Closed {
				return fmt.Errorf("job %s of the closed account is %s", id, s.Status)
			}
			if s := stateOf(l, id); s.Exists() && s.Queued.UploadID != "" && !s.Refunded {
				holders++
			}
		}
		up := upload.Decider.Fold(l.streams[upload.Stream(theUpload)])
		switch {
		case holders > 1:
			return errors.New("two jobs check one upload")
		case holders == 0 && up.Job != "":
			return fmt.Errorf("the upload is held by %s, which does not need it", up.Job)
		case holders == 1 && up.Job == "":
			return errors.New("a job checks an upload it does not hold")
		}
		return nil
	}
}

func stateOf(l *log, id string) job.State { return job.Decider.Fold(l.streams[job.Stream(id)]) }

func jobInvariants(l *log, id string) error {
	s := stateOf(l, id)
	net := 0
	for _, day := range days {
		refunds := map[string]int{}
		for _, e := range l.streams[slots.Stream(theAccount, commands.Day(day))] {
			switch e := e.(type) {
			case slots.Spent:
				if e.Submission.JobID == id {
					net++
				}
			case slots.Refunded:
				if refunds[e.SlotID]++; refunds[e.SlotID] > 1 {
					return fmt.Errorf("slot %s is refunded twice", e.SlotID)
				}
				if e.JobID == id {
					net--
				}
				if s.Exists() && e.SlotID == s.Queued.SlotID && s.Attempt > 0 {
					return errors.New("the job was claimed and its slot refunded")
				}
			}
		}
	}
	want := 0
	if s.Exists() && !s.Refunded {
		want = 1
	}
	if net != want {
		return fmt.Errorf("job %s (%s): %d slots spent, want %d", id, s.Status, net, want)
	}
	return runInvariants(l, id, s)
}

func runInvariants(l *log, id string, s job.State) error {
	for stream, events := range l.streams {
		if !strings.HasPrefix(stream, "run-") {
			continue
		}
		r := run.Decider.Fold(events)
		if r.Subject().JobID != id {
			continue
		}
		if s.Status != job.Succeeded || s.Outcome.PublishTo != stream {
			return fmt.Errorf("run %s of a job that is %s", stream, s.Status)
		}
		if string(r.Failed.Reason) != s.Outcome.Nonce {
			return fmt.Errorf("the run is %s's, the job ended by %s", r.Failed.Reason, s.Outcome.Nonce)
		}
		return nil
	}
	if s.Status == job.Succeeded {
		return errors.New("the job succeeded and its run is not there")
	}
	return nil
}

func ending(id string) func(*log) string {
	return func(l *log) string {
		s := stateOf(l, id)
		return fmt.Sprintf("%s refunded=%v", s.Status, s.Refunded)
	}
}

func none(*log) {}

func storedUpload(l *log) {
	_, _ = l.append(upload.Stream(theUpload), event.NoStream, []event.Proposed{{Event: upload.Stored{UploadID: theUpload, Account: theAccount}}})
}

// queuedJob starts with a job in the queue, so that deeper scenarios stay small.
func queuedJob(id string) func(*log) {
	return func(l *log) {
		submit("before", "k", 0, "").run(newDirectStore(l))
		if !stateOf(l, id).Exists() {
			panic("the job is not queued")
		}
	}
}

func scenarios(t *testing.T) map[string]scenario {
	t.Helper()
	k, other := jobID(t, "k"), jobID(t, "other")
	return map[string]scenario{
		"two submits of one key on two days, a cancel": {start: none, check: invariants(k),
			processes: []process{submit("submit-day-1", "k", 0, ""), submit("submit-day-2", "k", 1, ""), cancel(k)}},
		"two submits on one day, a cancel": {start: none, check: invariants(k),
			processes: []process{submit("submit-a", "k", 0, ""), submit("submit-b", "k", 0, ""), cancel(k)}},
		"a submit, a claim, a cancel": {start: none, check: invariants(k),
			processes: []process{submit("submit", "k", 0, ""), runner("r1", k), cancel(k)}},
		"a queued job, a claim, a cancel": {start: queuedJob(k), check: invariants(k),
			processes: []process{runner("r1", k), cancel(k)}},
		"a lost runner that finishes late, a second runner, a cancel": {start: queuedJob(k), check: invariants(k),
			processes: []process{runner("r1", k), rescuer(k, "r1"), runner("r2", k), cancel(k)}},
		"an upload used by two jobs, a cancel": {start: storedUpload, check: invariants(k, other),
			processes: []process{submit("submit", "k", 0, theUpload), submit("other", "other", 0, theUpload), cancel(k)}},
		"an upload, one key on two days, a cancel": {start: storedUpload, check: invariants(k),
			processes: []process{submit("submit-day-1", "k", 0, theUpload), submit("submit-day-2", "k", 1, theUpload), cancel(k)}},
		"reactions delivered again while the job moves on": {start: queuedJob(k), check: invariants(k),
			processes: []process{redelivered(reactions[0], k), runner("r1", k), cancel(k), redelivered(reactions[1], k)}},
		"two processes that each know the day from a submission before": {start: none, check: invariants(k),
			processes: []process{
				inTurn("first", submit("submit-a", "k", 0, ""), cancel(k), submit("submit-b", "k", 0, "")),
				inTurn("second", submit("submit-c", "another", 0, ""), submit("submit-d", "k", 0, ""), cancel(k)),
			}},
		"an account is closed while a job is submitted": {start: openAccount(none), check: invariants(k),
			processes: []process{submit("submit", "k", 0, ""), closer}},
		"an account is closed while its job is claimed": {start: openAccount(queuedJob(k)), check: invariants(k),
			processes: []process{runner("r1", k), closer}},
		"an account is closed while two jobs want one upload": {start: openAccount(storedUpload), check: invariants(k, other),
			processes: []process{submit("submit", "k", 0, theUpload), submit("other", "other", 0, theUpload), closer}},
		"an account is closed while a reaction is delivered again": {start: openAccount(queuedJob(k)), check: invariants(k),
			processes: []process{closer, redelivered(reactions[0], k), redelivered(reactions[2], k), runner("r1", k)}},
		"an upload and a reaction delivered late": {start: lateUpload, unacked: true, check: invariants(k, other),
			processes: []process{redelivered(reactions[0], k), submit("other", "other", 0, theUpload), cancel(k)}},
	}
}

// openAccount starts with an account and whatever else.
func openAccount(more func(*log)) func(*log) {
	return func(l *log) {
		_, _ = l.append(account.Stream(theAccount), event.NoStream, []event.Proposed{{Event: account.Registered{Account: theAccount, Plan: plan.Name}}})
		more(l)
	}
}

// lateUpload starts with a slot spent for a job with an upload, and nothing after it.
func lateUpload(l *log) {
	storedUpload(l)
	id, _ := commands.JobID(theAccount, "k")
	_, _ = l.append(slots.Stream(theAccount, commands.Day(days[0])), event.NoStream, []event.Proposed{{Event: slots.Spent{
		SlotID: uuid.NewSHA1(uuid.NameSpaceOID, []byte("slot")).String(), Day: commands.Day(days[0]),
		Submission: job.Submission{JobID: id, Account: theAccount, Kind: "other", UploadID: theUpload, IdempotencyKey: "k"}}}})
}

// redelivered reads what its reaction is for and acts on it, step by step.
func redelivered(r reaction, id string) process {
	return process{"redelivered-" + r.name, func(store commands.Store) {
		ctx := context.Background()
		for _, stream := range []string{slots.Stream(theAccount, commands.Day(days[0])), job.Stream(id)} {
			history, err := store.Read(ctx, stream)
			if err != nil {
				return
			}
			for _, e := range history.Events {
				_ = r.on(jobs(store), intent("late-"+r.name, days[1]), e.Event)
			}
		}
	}}
}

func TestEveryInterleavingKeepsTheRules(t *testing.T) {
	t.Parallel()
	for name, s := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			s.recover = recovery(reactions)
			r, err := s.explore(t, ending(jobID(t, "k")))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, each with a crash and a recovery: %v", r.states, r.endings)
			if r.states < 10 || len(r.endings) < 2 {
				t.Errorf("the scenario hardly moves: %d states, endings %v", r.states, r.endings)
			}
		})
	}
}

// TestEveryReactionIsNeeded removes each reaction in turn: some scenario must then fail.
func TestEveryReactionIsNeeded(t *testing.T) {
	t.Parallel()
	for i, missing := range reactions {
		t.Run(missing.name, func(t *testing.T) {
			var rest []reaction
			rest = append(append(rest, reactions[:i]...), reactions[i+1:]...)
			for name, s := range scenarios(t) {
				s.recover = recovery(rest)
				if _, err := s.explore(t, ending(jobID(t, "k"))); err != nil {
					t.Logf("as it should: %s: %v", name, strings.SplitN(err.Error(), "\n", 2)[0])
					return
				}
			}
			t.Errorf("nothing breaks without %s", missing.name)
		})
	}
}
