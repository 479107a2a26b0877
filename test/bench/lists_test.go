//go:build bench

package bench

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
)

// What a list and a place in the queue cost an account with a long past, as a share of a limit: 1 is the limit.
var (
	listRuns     = flag.Int("lists.runs", 20_000, "runs of the account whose history is read")
	listQueries  = flag.Int("lists.queries", 200, "how often each query is asked; fewer of one that takes over a tenth of a second")
	queueJobs    = flag.Int("queue.jobs", 5_000, "jobs in the queue")
	listDatabase = flag.String("lists.database", "sqlite,postgres", "databases to measure")
)

const (
	filterLimit = 20 * time.Millisecond // p99 of every single filter
	queueLimit  = 5 * time.Millisecond  // a place, a claim
	loadBatch   = 5_000                 // events in one transaction
)

func onListDatabases(b *testing.B, measure func(*testing.B, *bun.DB)) {
	addresses := map[string]func(testing.TB) string{"sqlite": projectiontest.SQLite, "postgres": pgtest.Database}
	for _, name := range strings.Split(*listDatabase, ",") {
		b.Run(name, func(b *testing.B) { measure(b, projectiontest.Open(b, projections.Open, addresses[name](b))) })
	}
}

// load applies events to the tables of projections as a boot does: indexes are made when the rows are there.
func load(b *testing.B, db *bun.DB, n int, event func(i int) event.Recorded, all ...engine.Projection) {
	b.Helper()
	begin := time.Now()
	for _, p := range all {
		if err := p.Create(b.Context(), db); err != nil {
			b.Fatal(err)
		}
	}
	dropIndexes(b, db)
	for from := 0; from < n; from += loadBatch {
		err := engine.InTx(b.Context(), db, func(ctx context.Context, tx *engine.Tx) error {
			for i := from; i < min(n, from+loadBatch); i++ {
				for _, p := range all {
					if err := p.Apply(ctx, tx, event(i)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	rows := time.Since(begin)
	for _, p := range all {
		if err := p.Create(b.Context(), db); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d events in %v, then indexes in %v", n, rows.Round(time.Millisecond), (time.Since(begin) - rows).Round(time.Millisecond))
	analyze := "ANALYZE"
	if db.Dialect().Name() == dialect.PG {
		analyze = "VACUUM ANALYZE" // as autovacuum does in time
	}
	if _, err := db.ExecContext(b.Context(), analyze); err != nil && db.Dialect().Name() == dialect.PG {
		b.Fatal(err)
	}
}

// dropIndexes drops every index but those of keys.
func dropIndexes(b *testing.B, db *bun.DB) {
	find, drop := "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL UNION ALL SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'", func(name string) []string {
		if strings.HasSuffix(name, "_text") {
			return []string{"DROP TRIGGER " + name + "_added", "DROP TABLE " + name}
		}
		return []string{"DROP INDEX " + name}
	}
	if db.Dialect().Name() == dialect.PG {
		find, drop = "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%_pkey'", func(name string) []string { return []string{"DROP INDEX " + name} }
	}
	var names []string
	if err := db.NewRaw(find).Scan(b.Context(), &names); err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		for _, statement := range drop(name) {
			if _, err := db.ExecContext(b.Context(), statement); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// quantiles asks a question many times and returns its best time, p50 and p99.
func quantiles(b *testing.B, ask func(i int) error) (best, p50, p99 time.Duration) {
	b.Helper()
	return quantilesAfter(b, func(int) error { return nil }, ask)
}

// quantilesAfter does something before each question, whose time does not count.
func quantilesAfter(b *testing.B, before, ask func(i int) error) (best, p50, p99 time.Duration) {
	b.Helper()
	var took []time.Duration
	for i := range *listQueries {
		if err := before(i); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if err := ask(i); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
		if i >= 4 && took[i] > 100*time.Millisecond {
			break
		}
	}
	slices.Sort(took)
	return took[0], took[len(took)/2], took[len(took)*99/100]
}

const (
	pastAccount = "0198a1b2-0000-7000-8000-00000000000a"
	firstDay    = "2026-01-01"
)

// pastRun is a run of a long past: most are verified successes from the web; one in a hundred is something else, and what is rare
// happened at the beginning only.
func pastRun(i int) event.Recorded {
	begin, _ := time.Parse(time.DateOnly, firstDay)
	at := begin.Add(time.Duration(i) * 25 * time.Second) // 1,000,000 runs in 290 days
	id := int64(i + 1)
	s := run.Subject{RunID: id, Account: pastAccount, Expression: event.Inline(fmt.Sprintf("Integrate[x^%d Sin[%d x], {x, 0, %d}]", i, i%97, i%1009)), Source: event.SourceWeb}
	r := event.Recorded{Stream: run.Stream(id), Position: event.Position{Commit: uint64(i+1) * 2000, Prepare: uint64(i+1) * 2000}, Metadata: event.Metadata{At: at, Agent: "curl/8.0"}}
	e := run.Evaluated{Status: run.Success, Answer: event.Inline("-x Cos[x] + Sin[x]"), ExecutionMS: 3}
	switch {
	case i < 10:
		s.Expression = event.Inline(fmt.Sprintf("LegendreP[%d, ∞]", i))
		e.Check = &run.Check{Verdict: "refuted", Basis: "exact", Method: "m"}
		s.Source = event.SourceMCP
	case i%100 == 1:
		s.Source = event.SourceJob
		e.Status = run.Unevaluated
	case i%3 == 0:
		e.Check = &run.Check{Verdict: "verified", Basis: "exact", Method: "m", Automatic: true}
	case i%5 == 0:
		e.Check = &run.Check{Verdict: "inconclusive", Reason: "check_timed_out", Automatic: true}
	}
	if i%1000 == 2 {
		r.Event = run.TimedOut{Subject: s, BudgetMS: 3000}
		return r
	}
	e.Subject = s
	r.Event = e
	return r
}

// BenchmarkHistory asks for pages of one account's history, each filter alone and some together.
func BenchmarkHistory(b *testing.B) {
	onListDatabases(b, func(b *testing.B, db *bun.DB) {
		history := projections.New(db, nil).History
		load(b, db, *listRuns, pastRun, history.Projection())
		middle := pastRun(*listRuns / 2).Metadata.At.Format(time.DateOnly)
		for _, c := range []struct {
			name  string
			query projections.HistoryQuery
		}{
			{"newest", projections.HistoryQuery{}},
			{"offset 10,000", projections.HistoryQuery{Offset: min(10_000, *listRuns/2)}},
			{"status success", projections.HistoryQuery{Status: run.Success}},
			{"status timeout", projections.HistoryQuery{Status: run.Timeout}},
			{"status error (none)", projections.HistoryQuery{Status: run.Error}},
			{"verdict verified", projections.HistoryQuery{Verdict: "verified"}},
			{"verdict refuted (oldest 10)", projections.HistoryQuery{Verdict: "refuted"}},
			{"source job", projections.HistoryQuery{Source: event.SourceJob}},
			{"source mcp (oldest 10)", projections.HistoryQuery{Source: event.SourceMCP}},
			{"first day", projections.HistoryQuery{From: firstDay, To: firstDay}},
			{"day in the middle", projections.HistoryQuery{From: middle, To: middle}},
			{"since the middle", projections.HistoryQuery{From: middle}},
			{"until the middle", projections.HistoryQuery{To: middle}},
			{"text in most", projections.HistoryQuery{Query: "Sin["}},
			{"text in 1 of 97", projections.HistoryQuery{Query: "Sin[13 x]"}},
			{"text in 1 of 1,009", projections.HistoryQuery{Query: "{x, 0, 77}"}},
			{"text in 1", projections.HistoryQuery{Query: fmt.Sprintf("x^%d ", *listRuns/2)}},
			{"text in the oldest 10", projections.HistoryQuery{Query: "LegendreP"}},
			{"text in none", projections.HistoryQuery{Query: "zzz"}},
			{"short text in most", projections.HistoryQuery{Query: "x"}},
			{"short text in none", projections.HistoryQuery{Query: "zz"}},
			{"status and verdict", projections.HistoryQuery{Status: run.Success, Verdict: "refuted"}},
			{"status and source", projections.HistoryQuery{Status: run.Timeout, Source: event.SourceWeb}},
			{"verdict, day", projections.HistoryQuery{Verdict: "verified", To: firstDay}},
			{"verdict, text", projections.HistoryQuery{Verdict: "refuted", Query: "LegendreP"}},
			{"status, rare text", projections.HistoryQuery{Status: run.Success, Query: "LegendreP"}},
			{"source, text in most", projections.HistoryQuery{Source: event.SourceMCP, Query: "Sin["}},
		} {
			b.Run(c.name, func(b *testing.B) {
				for b.Loop() {
					// The processor's time tells on a busy machine what the clock cannot. SQLite is in it, PostgreSQL is not.
					rows, asked, used := 0, 0, processorTime(b)
					best, p50, p99 := quantiles(b, func(int) error {
						page, err := history.List(b.Context(), pastAccount, c.query)
						rows = len(page.Rows)
						asked++
						return err
					})
					b.ReportMetric((processorTime(b)-used).Seconds()*1000/float64(asked), "cpu-ms")
					reportShare(b, best, p50, p99, filterLimit)
					b.ReportMetric(float64(rows), "rows")
				}
			})
		}
	})
}

func reportShare(b *testing.B, best, p50, p99, limit time.Duration) {
	b.ReportMetric(best.Seconds()*1000, "best-ms")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(p50.Seconds()*1000, "p50-ms")
	b.ReportMetric(p99.Seconds()*1000, "p99-ms")
	b.ReportMetric(p99.Seconds()/limit.Seconds(), "p99-of-limit")
}

// BenchmarkQueue asks for places of jobs all over the queue, and claims, with the same number of jobs of few and of many accounts.
// After every tenth question one job leaves, so that what was read once is not enough.
func BenchmarkQueue(b *testing.B) {
	onListDatabases(b, func(b *testing.B, db *bun.DB) {
		for _, accounts := range []int{1, max(1, *queueJobs/1000), max(1, *queueJobs/10), *queueJobs} {
			b.Run(fmt.Sprintf("%d accounts", accounts), func(b *testing.B) {
				models := projections.New(db, nil)
				for _, p := range []engine.Projection{models.Queue.Projection(), models.Sessions.Projection()} {
					for _, table := range p.TableNames(db) {
						if _, err := db.NewDropTable().Table(table).IfExists().Exec(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
				}
				if err := models.Queue.CreateProposalsTable(b.Context()); err != nil {
					b.Fatal(err)
				}
				if _, err := db.ExecContext(b.Context(), "DELETE FROM queue_proposals"); err != nil {
					b.Fatal(err)
				}
				if err := models.Sessions.Projection().Create(b.Context(), db); err != nil {
					b.Fatal(err)
				}
				id := func(i int) string { return fmt.Sprintf("0198a1b2-0000-7000-8000-%012d", i) }
				load(b, db, *queueJobs, func(i int) event.Recorded {
					s := job.Submission{JobID: id(i), Account: fmt.Sprint("account-", i%accounts), Kind: "one", TimeoutMS: 1000, Concurrent: 4}
					at := event.Position{Commit: uint64(i+1) * 3000, Prepare: uint64(i+1) * 3000}
					return event.Recorded{Stream: job.Stream(s.JobID), Position: at, Event: job.WasQueued{Submission: s}, Metadata: event.Metadata{At: time.UnixMilli(1_785_000_000_000)}}
				}, models.Queue.Projection())
				ends := 0
				end := func() error { // of a job somewhere
					e := event.Recorded{Stream: job.Stream(id(ends * 7)), Revision: 1, Position: event.Position{Commit: uint64(*queueJobs+ends+2) * 3000}, Event: job.WasCancelled{JobID: id(ends * 7)}}
					ends++
					return engine.InTx(b.Context(), db, func(ctx context.Context, tx *engine.Tx) error { return models.Queue.Projection().Apply(ctx, tx, e) })
				}
				for b.Loop() {
					begin := time.Now()
					if _, err := placeOf(b.Context(), models.Queue, id(1)); err != nil {
						b.Fatal(err)
					}
					first := time.Since(begin)
					ask := func(question func(i int) error) func(int) error {
						return func(i int) error {
							if i%10 == 0 {
								if err := end(); err != nil {
									return err
								}
							}
							return question(i)
						}
					}
					place0, place50, place99 := quantiles(b, ask(func(i int) error {
						_, err := placeOf(b.Context(), models.Queue, id(i*9973%*queueJobs))
						return err
					}))
					claim0, claim50, claim99 := quantiles(b, ask(func(i int) error {
						_, _, err := models.Queue.ProposeJobs(b.Context(), projections.Claimant{Runner: "r", Kinds: []job.Kind{"one"}}, 2)
						return err
					}))
					reportShare(b, place0, place50, place99, queueLimit)
					b.ReportMetric(claim0.Seconds()*1000, "claim-best-ms")
					b.ReportMetric(claim50.Seconds()*1000, "claim-p50-ms")
					b.ReportMetric(claim99.Seconds()*1000, "claim-p99-ms")
					b.ReportMetric(first.Seconds()*1000, "first-ms")
				}
			})
		}
	})
}

func placeOf(ctx context.Context, queue *projections.Queue, id string) (int, error) {
	place, _, err := queue.Place(ctx, id)
	return place, err
}

const (
	shortPastAccount = "0198a1b2-0000-7000-8000-00000000000b"
	shortPast        = 1_000 // its runs
)

// BenchmarkHistoryFirstPage asks for the first page of two accounts in turns, one with -lists.runs runs and one with 1,000, whose runs are spread
// over the same time in the same table. The ratio of what they cost is 1 where the length of a past costs nothing.
func BenchmarkHistoryFirstPage(b *testing.B) {
	onListDatabases(b, func(b *testing.B, db *bun.DB) {
		history := projections.New(db, nil).History
		each := max(1, *listRuns/shortPast)
		load(b, db, *listRuns+shortPast, func(i int) event.Recorded {
			r := pastRun(i)
			if i%(each+1) != each {
				return r
			}
			switch e := r.Event.(type) {
			case run.Evaluated:
				e.Account = shortPastAccount
				r.Event = e
			case run.TimedOut:
				e.Account = shortPastAccount
				r.Event = e
			}
			return r
		}, history.Projection())
		page := func(account string) func(int) error {
			return func(int) error {
				p, err := history.List(b.Context(), account, projections.HistoryQuery{})
				if err == nil && len(p.Rows) != projections.HistoryDefaultLimit {
					return fmt.Errorf("a page of %d runs", len(p.Rows))
				}
				return err
			}
		}
		for b.Loop() {
			longBest, longMedian, _ := quantilesAfter(b, page(shortPastAccount), page(pastAccount))
			shortBest, shortMedian, _ := quantilesAfter(b, page(pastAccount), page(shortPastAccount))
			b.ReportMetric(longMedian.Seconds()*1000, "long-p50-ms")
			b.ReportMetric(shortMedian.Seconds()*1000, "short-p50-ms")
			b.ReportMetric(longBest.Seconds()/shortBest.Seconds(), "ratio-best")
			b.ReportMetric(longMedian.Seconds()/shortMedian.Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		}
	})
}
