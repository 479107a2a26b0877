package projections_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/eventstore/memory"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
	"reckon/test/wait"
)

const (
	alice = "0198a1b2-0000-7000-8000-00000000000a"
	bob   = "0198a1b2-0000-7000-8000-00000000000b"
	carol = "0198a1b2-0000-7000-8000-00000000000c"
)

// jobLog writes the events of jobs.
type jobLog struct {
	projectiontest.Log
	now time.Time
}

func newJobLog() *jobLog { return &jobLog{now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)} }

func (l *jobLog) add(stream string, e event.Event) event.Recorded {
	l.now = l.now.Add(time.Second)
	return l.Add(stream, l.now, e, event.Metadata{Correlation: "c-" + stream, Traceparent: "t-" + fmt.Sprint(len(l.Events)) + "-" + stream})
}

func (l *jobLog) queue(id, account string, change ...func(*job.Submission)) event.Recorded {
	s := job.Submission{JobID: id, Account: account, Kind: one, Payload: event.Inline("1+1"), RunID: 7, TimeoutMS: 1000, Concurrent: 2}
	for _, f := range change {
		f(&s)
	}
	return l.add(job.Stream(id), job.WasQueued{Submission: s, SlotID: "s-" + id, Day: "2026-08-01"})
}

func (l *jobLog) claim(id, nonce string, attempt int) event.Recorded {
	return l.add(job.Stream(id), job.WasClaimed{JobID: id, Runner: "r", Nonce: nonce, Attempt: attempt})
}

func (l *jobLog) release(id, nonce string) event.Recorded {
	return l.add(job.Stream(id), job.WasReleased{JobID: id, Nonce: nonce, Reason: job.Drained})
}

func (l *jobLog) untried(id, nonce string, again time.Time) event.Recorded {
	return l.add(job.Stream(id), job.WasReleased{JobID: id, Nonce: nonce, Reason: job.Untried, Lacked: "x", NotBefore: event.Timestamp(again)})
}

func (l *jobLog) succeed(id, nonce string) event.Recorded {
	return l.add(job.Stream(id), job.HasSucceeded{Outcome: job.Outcome{JobID: id, Nonce: nonce, PublishTo: "run-7"}})
}

func inSession(id string) func(*job.Submission) {
	return func(s *job.Submission) { s.SessionID = id }
}

// Kinds of job: the read models ask nothing of a kind but its name.
const (
	one   job.Kind = "one"
	two   job.Kind = "two"
	three job.Kind = "three"
)

func of(kind job.Kind) func(*job.Submission) { return func(s *job.Submission) { s.Kind = kind } }

func within(budget time.Duration) func(*job.Submission) {
	return func(s *job.Submission) { s.TimeoutMS = budget.Milliseconds() }
}

func concurrent(n int) func(*job.Submission) { return func(s *job.Submission) { s.Concurrent = n } }

func TestJobsProjection(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		jobs := projections.New(db, nil).Jobs
		l := newJobLog()
		l.queue("1", alice)
		l.queue("2", alice, of(two))
		l.queue("3", alice)
		l.queue("4", alice)
		l.queue("5", bob)
		l.claim("1", "n1", 1)
		l.succeed("1", "n1")
		l.add(run.Stream(7), run.Evaluated{Subject: run.Subject{RunID: 7, Account: alice, JobID: "1"}, Check: &run.Check{Verdict: run.VerdictRefuted}})
		l.claim("2", "n2", 1)
		l.release("2", "n2")
		l.claim("2", "n3", 2)
		l.add(job.Stream("3"), job.WasCancelled{JobID: "3", Early: true})
		l.claim("5", "n4", 1)
		l.add(job.Stream("5"), job.HasFailed{Outcome: job.Outcome{JobID: "5", Nonce: "n4", Error: "the engine failed\x00"}})
		rows := func(ctx context.Context) (any, error) {
			var all []string
			for _, account := range []string{alice, bob} {
				list, _, err := jobs.List(ctx, account, projections.JobsQuery{Page: projections.Page{Limit: 10}})
				if err != nil {
					return nil, err
				}
				for _, r := range list {
					all = append(all, fmt.Sprintf("%s %s %s attempt %d published %t %q %q %q %v %v", r.JobID, r.Kind, r.Status, r.Attempt, r.Published, string(r.Error), string(r.Preview), r.Verdict,
						r.CreatedAt().Second(), []bool{r.StartedAt().IsZero(), r.FinishedAt().IsZero()}))
				}
			}
			return all, nil
		}
		projectiontest.Given(t, db, jobs.Projection()).When(l.Events...).Then(rows, []string{
			`4 one queued attempt 0 published false "" "1+1" "" 4 [true true]`,
			`3 one cancelled attempt 0 published false "" "1+1" "" 3 [true false]`,
			`2 two running attempt 2 published false "" "1+1" "" 2 [false true]`,
			`1 one succeeded attempt 1 published true "" "1+1" "refuted" 1 [false false]`,
			"5 one failed attempt 1 published false \"the engine failed\\x00\" \"1+1\" \"\" 5 [false false]",
		})

		list := func(q projections.JobsQuery) (ids []string, next string) {
			t.Helper()
			found, next, err := jobs.List(t.Context(), alice, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range found {
				ids = append(ids, r.JobID)
			}
			return ids, next
		}
		first, next := list(projections.JobsQuery{Page: projections.Page{Limit: 3}})
		rest, end := list(projections.JobsQuery{Page: projections.Page{Limit: 3, Before: next}})
		if !slices.Equal(first, []string{"4", "3", "2"}) || !slices.Equal(rest, []string{"1"}) || next == "" || end != "" {
			t.Errorf("pages %v %q, %v %q", first, next, rest, end)
		}
		if ids, _ := list(projections.JobsQuery{Page: projections.Page{Limit: 3}, Kind: two}); !slices.Equal(ids, []string{"2"}) {
			t.Errorf("jobs of the second kind: %v", ids)
		}
		if ids, _ := list(projections.JobsQuery{Page: projections.Page{Limit: 3}, Status: job.Succeeded}); !slices.Equal(ids, []string{"1"}) {
			t.Errorf("succeeded jobs: %v", ids)
		}
		for _, bad := range []projections.JobsQuery{
			{Page: projections.Page{Limit: 0}}, {Page: projections.Page{Limit: 201}}, {Page: projections.Page{Limit: 1, Before: "x' OR 1"}},
			{Page: projections.Page{Limit: 1}, Status: "done"},
		} {
			var refused *projections.QueryError
			if _, _, err := jobs.List(t.Context(), alice, bad); !errors.As(err, &refused) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
	})
}

// queueTest is a queue with its tables, fed by hand.
type queueTest struct {
	*jobLog
	t      *testing.T
	db     *bun.DB
	models *projections.ReadModels
	fed    int
}

func newQueueTest(t *testing.T, db *bun.DB) *queueTest {
	models := projections.New(db, nil)
	if err := models.Queue.CreateProposalsTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	config := engine.Config{DB: db, Log: memory.New(domain.Catalogue())} // for its tables only
	if _, err := engine.New(t.Context(), config, models.Queue.Projection(), models.Sessions.Projection()); err != nil {
		t.Fatal(err)
	}
	return &queueTest{jobLog: newJobLog(), t: t, db: db, models: models}
}

// feed applies what was written since.
func (q *queueTest) feed() {
	q.t.Helper()
	err := engine.InTx(q.t.Context(), q.db, func(ctx context.Context, tx *engine.Tx) error {
		for _, r := range q.Events[q.fed:] {
			for _, p := range []engine.Projection{q.models.Queue.Projection(), q.models.Sessions.Projection()} {
				if err := p.Apply(ctx, tx, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		q.t.Fatal(err)
	}
	q.fed = len(q.Events)
}

func (q *queueTest) propose(c projections.Claimant, n int) []string {
	q.t.Helper()
	q.feed()
	if c.Kinds == nil {
		c.Kinds = []job.Kind{one, two}
	}
	list, _, err := q.models.Queue.ProposeJobs(q.t.Context(), c, n)
	if err != nil {
		q.t.Fatal(err)
	}
	ids := []string{}
	for _, p := range list {
		ids = append(ids, p.JobID)
	}
	return ids
}

func (q *queueTest) want(got []string, want ...string) {
	q.t.Helper()
	if !slices.Equal(got, want) {
		q.t.Errorf("proposed %v, want %v", got, want)
	}
}

func (q *queueTest) wantPlaces(want map[string]int) {
	q.t.Helper()
	q.feed()
	for id, place := range want {
		if got, known, err := q.models.Queue.Place(q.t.Context(), id); err != nil || got != place || known != (place > 0) {
			q.t.Errorf("place of %s: %d, %t, %v; want %d", id, got, known, err, place)
		}
	}
}

func TestQueueIsFairBetweenAccounts(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		for _, id := range []string{"a1", "a2", "a3", "a4"} {
			q.queue(id, alice)
		}
		q.queue("b1", bob)
		q.queue("c1", carol, concurrent(1))
		q.queue("c2", carol, concurrent(1))
		q.wantPlaces(map[string]int{"a1": 1, "b1": 2, "c1": 3, "a2": 4, "c2": 5, "a3": 6, "a4": 7, "unknown": 0})
		one := projections.Claimant{Runner: "one"}
		q.want(q.propose(one, 3), "a1", "b1", "c1")
		q.want(q.propose(projections.Claimant{Runner: "two"}, 10), "a2") // two of alice's, one of carol's: the limits
		q.want(q.propose(one, 10))
		if _, again, err := q.models.Queue.ProposeJobs(t.Context(), one, 1); err != nil || again <= 0 || again > time.Minute+time.Second { // rounded up
			t.Errorf("ask again in %v, %v", again, err)
		}
		q.claim("a1", "n1", 1)
		q.claim("c1", "n2", 1)
		q.want(q.propose(one, 10))
		q.succeed("a1", "n1")
		q.want(q.propose(one, 10), "a3")
		q.release("c1", "n2") // handed back: the proposal of the first attempt holds nothing up
		q.want(q.propose(one, 10), "c1")
	})
}

func TestQueueProposesWhatARunnerCanDo(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		q.queue("proof", alice, of(three))
		q.queue("circuit", alice, of(two))
		q.want(q.propose(projections.Claimant{Runner: "one", Kinds: []job.Kind{two}}, 10), "circuit")
		q.want(q.propose(projections.Claimant{Runner: "one", Kinds: []job.Kind{two}, OwnSessionsOnly: true}, 10))
	})
}

// TestQueuePassesOverWhatARunnerHasNoRoomFor: the job keeps its place for others, and is theirs once the reservation is withdrawn.
func TestQueuePassesOverWhatARunnerHasNoRoomFor(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		for _, id := range []string{"large", "small", "later"} {
			q.queue(id, alice)
		}
		full := projections.Claimant{Runner: "full"}
		q.want(q.propose(full, 1), "large")
		other := projections.Claimant{Runner: "other"}
		if err := q.models.Queue.WithdrawProposals(t.Context(), "other", []string{"large"}); err != nil { // not its own
			t.Fatal(err)
		}
		full.Except = map[string]bool{"large": true}
		if err := q.models.Queue.WithdrawProposals(t.Context(), "full", []string{"large"}); err != nil {
			t.Fatal(err)
		}
		q.want(q.propose(full, 1), "small")
		q.wantPlaces(map[string]int{"small": 1, "large": 1, "later": 2})
		q.want(q.propose(other, 1), "large")
	})
}

// TestQueueKeepsBackWhatCouldNotBeTried until its pause is over, which no event tells.
func TestQueueKeepsBackWhatCouldNotBeTried(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		one := projections.Claimant{Runner: "one"}
		q.queue("a1", alice)
		q.queue("a2", alice)
		q.claim("a1", "n", 1)
		q.untried("a1", "n", time.Now().Add(time.Minute))
		q.want(q.propose(one, 10), "a2")
		q.claim("a2", "n", 1)
		q.want(q.propose(one, 10))
		if _, again, err := q.models.Queue.ProposeJobs(t.Context(), one, 1); err != nil || again <= 0 || again > time.Minute+time.Second { // rounded up
			t.Errorf("ask again in %v, %v", again, err)
		}
		q.claim("a1", "m", 2) // a runner that knows better may
		q.untried("a1", "m", time.Now().Add(-time.Second))
		q.want(q.propose(one, 10), "a1")
	})
}

// TestQueueLeavesToOthersWhatIsNew: a runner that asks for jobs that have been ready for a while gets no other.
func TestQueueLeavesToOthersWhatIsNew(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		patient, soon := projections.Claimant{Runner: "one", ReadyFor: time.Hour}, projections.Claimant{Runner: "one", ReadyFor: 10 * time.Millisecond}
		q.queue("a1", alice)
		q.want(q.propose(patient, 1))
		if _, again, err := q.models.Queue.ProposeJobs(t.Context(), patient, 1); err != nil || again != time.Hour {
			t.Errorf("ask again in %v, %v", again, err)
		}
		wait.Until(t, "it has been ready for long enough", func() bool { return slices.Equal(q.propose(soon, 1), []string{"a1"}) })
		q.claim("a1", "n", 1)
		q.untried("a1", "n", time.Now().Add(-time.Minute))
		q.want(q.propose(patient, 1))
		q.want(q.propose(projections.Claimant{Runner: "two"}, 1), "a1")
	})
}

func TestQueueInSessions(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		notebook := session.Stream(alice, "notebook")
		q.add(notebook, session.Opened{Account: alice, SessionID: "notebook", Owner: "owner", Epoch: 1})
		q.queue("s1", alice, inSession("notebook"))
		q.queue("s2", alice, inSession("notebook"))
		q.queue("s3", alice, inSession("notebook"))
		q.queue("n1", bob, inSession("new"), concurrent(1))
		q.queue("n2", bob, inSession("new"), concurrent(1))
		q.queue("free", bob, concurrent(1))
		other := projections.Claimant{Runner: "other"}
		q.want(q.propose(other, 1), "n1") // nobody's yet; and nothing of a session that is another's
		owner := projections.Claimant{Runner: "owner", OwnSessionsOnly: true}
		q.want(q.propose(owner, 10), "s1") // one at a time, in the order they were submitted
		q.claim("s1", "x", 1)
		q.want(q.propose(owner, 10))
		q.succeed("s1", "x")
		q.want(q.propose(owner, 10), "s2")
		q.add(notebook, session.Expired{Account: alice, SessionID: "notebook", Epoch: 1, Reason: "owner_lost"})
		q.claim("s2", "y", 1)
		q.add(job.Stream("s2"), job.WasLost{JobID: "s2", Nonce: "y"})
		q.want(q.propose(other, 10), "s3")
		q.claim("n1", "z", 1)
		q.succeed("n1", "z")
		q.want(q.propose(other, 1), "n2")
		q.add(job.Stream("n2"), job.WasCancelled{JobID: "n2", Early: true})
		q.want(q.propose(other, 10), "free")
	})
}

// TestProposalsRace: however many runners ask at once, no job is proposed twice
// and no account gets more than it may run.
func TestProposalsRace(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		for i := range 30 {
			q.queue(fmt.Sprint("a", i), alice, concurrent(4))
			q.queue(fmt.Sprint("b", i), bob, concurrent(1))
		}
		q.feed()
		type answer struct {
			proposals []projections.Proposal
			err       error
		}
		answers := make(chan answer)
		for i := range 8 {
			go func() {
				list, _, err := q.models.Queue.ProposeJobs(t.Context(), projections.Claimant{Runner: fmt.Sprint(i), Kinds: []job.Kind{one}}, 2)
				answers <- answer{list, err}
			}()
		}
		var ids []string
		for range 8 {
			a := <-answers
			if a.err != nil {
				t.Error(a.err)
			}
			for _, p := range a.proposals {
				ids = append(ids, p.JobID)
			}
		}
		slices.Sort(ids)
		if want := []string{"a0", "a1", "a2", "a3", "b0"}; !slices.Equal(ids, want) {
			t.Errorf("proposed %v, want %v", ids, want)
		}
	})
}

func TestQueueProjection(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		q := newQueueTest(t, db)
		q.queue("1", alice, inSession("s"))
		q.queue("2", alice)
		q.queue("3", bob)
		q.claim("2", "n1", 1)
		q.release("2", "n1")
		claimed := q.claim("2", "n2", 2)
		q.claim("3", "n3", 1)
		q.succeed("3", "n3")
		q.add(session.Stream(bob, "x"), session.Opened{Account: bob, SessionID: "x", Owner: "o", Epoch: 3})
		rows := func(ctx context.Context) (any, error) {
			running, _, _, err := q.models.Queue.Snapshot(ctx, q.models.Sessions)
			var all []string
			for _, r := range running {
				all = append(all, fmt.Sprintf("%s %s %s %d of %s in %s by %s", r.JobID, r.Runner, r.Nonce, r.Attempt, r.Correlation, r.Traceparent, r.Cause))
			}
			return all, err
		}
		projectiontest.Given(t, db, q.models.Queue.Projection()).When(q.Events...).Then(rows, []string{"2 r n2 2 of c-job-2 in t-1-job-2 by " + claimed.ID})
	})
}
