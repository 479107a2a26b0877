package projections_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/eventstore/memory"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
)

// statements keeps the SELECT statements that are run.
type statements struct {
	mu  sync.Mutex
	all []string
}

func (s *statements) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (s *statements) AfterQuery(_ context.Context, e *bun.QueryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(e.Query, "SELECT") || strings.HasPrefix(e.Query, "WITH") {
		s.all = append(s.all, e.Query)
	}
}

// TestListQueriesUseIndexes: no question that a list, a place in the queue or a claim asks of a database reads a whole table or
// sorts an account's rows. What is asked is taken from the questions themselves, so that a new one is judged as well.
func TestListQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		asked := &statements{}
		models := projections.New(db.WithQueryHook(asked), nil)
		if err := models.Queue.CreateProposalsTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := engine.New(t.Context(), engine.Config{DB: db, Log: memory.New(domain.Catalogue())}, models.All()...); err != nil {
			t.Fatal(err)
		}
		past, events := pastOf(newRandom(), 300)
		applyAll(t, db, models.History.Projection(), events)
		applyAll(t, db, models.Jobs.Projection(), jobsOf(300))
		applyAll(t, db, models.Queue.Projection(), jobsOf(300))
		applyAll(t, db, models.Bursts.Projection(), events)
		if _, err := db.ExecContext(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
		questions := map[string]func() error{
			"certificates": func() error {
				_, _, err := models.Certificates.List(t.Context(), alice, projections.Page{Limit: 10, Before: "1000000"})
				return err
			},
			"tokens": func() error {
				_, _, err := models.Tokens.List(t.Context(), alice, projections.Page{Limit: 10, Before: "1000000"})
				return err
			},
			"invoices": func() error {
				_, _, err := models.Invoices.List(t.Context(), alice, projections.Page{Limit: 10, Before: "1000000"})
				return err
			},
			"subscription": func() error { _, err := models.Subscriptions.Of(t.Context(), alice); return err },
			"subscriptions that are due": func() error {
				_, err := models.Subscriptions.DueSubscriptions(t.Context(), time.Now(), billing.Due{}, 10)
				return err
			},
			"subscriptions that are due, after one": func() error {
				_, err := models.Subscriptions.DueSubscriptions(t.Context(), time.Now(), billing.Due{Account: alice, At: time.Now()}, 10)
				return err
			},
			"sessions": func() error { _, err := models.Sessions.List(t.Context(), alice); return err },
			"place":    func() error { _, _, err := models.Queue.Place(t.Context(), "1"); return err },
			"place, after a change": func() error {
				l := newJobLog()
				for range 1000 {
					l.queue("later", alice)
				}
				applyAll(t, db, models.Queue.Projection(), l.Events[999:])
				_, _, err := models.Queue.Place(t.Context(), "later")
				return err
			},
			"claim": func() error {
				_, _, err := models.Queue.ProposeJobs(t.Context(), projections.Claimant{Runner: "r", Kinds: []job.Kind{one}}, 2)
				return err
			},
			"claim of nothing": func() error {
				_, _, err := models.Queue.ProposeJobs(t.Context(), projections.Claimant{Runner: "r", Kinds: []job.Kind{three}}, 2)
				return err
			},
		}
		lately := past[len(past)-1].at
		newest, err := models.Bursts.List(t.Context(), alice, lately, projections.Page{Limit: 1})
		if err != nil || newest.Next == "" {
			t.Fatalf("%+v, %v", newest, err)
		}
		newestID, place := newest.Bursts[0].ID(), newest.Next
		questions["bursts"] = func() error {
			_, err := models.Bursts.List(t.Context(), alice, lately, projections.Page{Limit: 10})
			return err
		}
		questions["bursts, a later page"] = func() error {
			_, err := models.Bursts.List(t.Context(), alice, lately, projections.Page{Limit: 10, Before: place})
			return err
		}
		questions["timeline"] = func() error {
			_, _, err := models.Bursts.Timeline(t.Context(), alice, newestID, 10, "")
			return err
		}
		questions["timeline, a later part"] = func() error {
			_, _, err := models.Bursts.Timeline(t.Context(), alice, newestID, 10, place)
			return err
		}
		questions["burst of a run"] = func() error { _, err := models.Bursts.OfRun(t.Context(), alice, past[0].id); return err }
		questions["burst of a job"] = func() error { _, err := models.Bursts.OfJob(t.Context(), alice, "none"); return err }
		for _, q := range []projections.HistoryQuery{
			{}, {Offset: 20}, {Before: "1000000"}, {Status: "timeout"}, {Source: "job"}, {Verdict: "verified"}, {From: "2026-08-02"}, {To: "2026-08-02"}, {From: "2026-08-02", To: "2026-08-04"},
			{Query: "needle"}, {Query: "x"}, {Status: "success", Source: "web"}, {Status: "success", Verdict: "verified"}, {Source: "web", Verdict: "verified"}, {Status: "success", Source: "web", Verdict: "verified"},
			{Status: "success", From: "2026-08-02"}, {Source: "web", Query: "needle"}, {Verdict: "verified", Query: "e"}, {Query: "needle", To: "2026-08-03"},
		} {
			questions[fmt.Sprintf("history %+v", q)] = func() error { _, err := models.History.List(t.Context(), alice, q); return err }
		}
		for _, q := range []projections.JobsQuery{{}, {Status: job.Queued}, {Kind: one}, {Status: job.Queued, Kind: one}} {
			q.Page = projections.Page{Limit: 10, Before: "1000000"}
			questions[fmt.Sprintf("jobs %+v", q)] = func() error { _, _, err := models.Jobs.List(t.Context(), alice, q); return err }
		}
		if len(past) == 0 {
			t.Fatal("no runs")
		}
		for name, ask := range questions {
			asked.all = nil
			if err := ask(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if len(asked.all) == 0 {
				t.Errorf("%s: nothing was asked", name)
			}
			for _, statement := range asked.all {
				if fault := faultInPlan(t, db, statement); fault != "" {
					t.Errorf("%s: %s\n%s", name, fault, statement)
				}
			}
		}
		for _, bad := range []string{"SELECT * FROM history_v3 WHERE agent = 'x'", "SELECT position FROM history_v3 WHERE account = 'x' ORDER BY created_ms"} {
			if faultInPlan(t, db, bad) == "" {
				t.Errorf("%s is taken for a walk along an index", bad)
			}
		}
	})
}

// faultInPlan returns the step of a statement's plan that reads a whole table or sorts; empty: there is none. PostgreSQL is told to do
// neither where it can be avoided, because its tables are small here.
func faultInPlan(t *testing.T, db *bun.DB, statement string) string {
	t.Helper()
	var steps []string
	err := db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
		if tx.Dialect().Name() == dialect.PG {
			for _, setting := range []string{"enable_seqscan", "enable_sort", "enable_incremental_sort", "enable_bitmapscan"} {
				if setting == "enable_bitmapscan" && strings.Contains(statement, "LIKE") {
					continue // a GIN index is read as a bitmap
				}
				if _, err := tx.ExecContext(ctx, "SET LOCAL "+setting+" = off"); err != nil {
					return err
				}
			}
			return tx.NewRaw("EXPLAIN "+escaped(statement)).Scan(ctx, &steps)
		}
		var rows []struct {
			ID, Parent, Notused int
			Detail              string
		}
		err := tx.NewRaw("EXPLAIN QUERY PLAN "+escaped(statement)).Scan(ctx, &rows)
		for _, r := range rows {
			steps = append(steps, r.Detail)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	for _, step := range steps {
		switch {
		case strings.Contains(step, "queue_proposals"), strings.Contains(step, "SCAN p"): // at most one for each place of a runner
		case strings.Contains(step, "VIRTUAL TABLE INDEX"), strings.Contains(step, "CONSTANT ROW"), strings.Contains(step, "SCAN (subquery"), step == "SCAN scanned": // the last: of what a LIMIT bounds
		case strings.Contains(step, "Sort") && strings.HasPrefix(statement, "WITH m AS MATERIALIZED"): // of what the trigrams found
		case strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "SCAN branches"), strings.Contains(step, "TEMP B-TREE"), strings.Contains(step, "Seq Scan"), strings.Contains(step, "Sort  ("):
			return strings.Join(steps, "\n")
		}
	}
	return ""
}

// escaped is a statement that bun does not fill in again.
func escaped(statement string) string { return strings.ReplaceAll(statement, "?", `\?`) }

// jobsOf are jobs of alice, every third ended.
func jobsOf(n int) []event.Recorded {
	l := newJobLog()
	for i := range n {
		id := fmt.Sprint(i)
		l.queue(id, alice)
		if i%3 == 0 {
			l.claim(id, "n", 1)
			l.succeed(id, "n")
		}
	}
	return l.Events
}

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
