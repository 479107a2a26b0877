//go:build bench

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
)

const (
	bootRuns      = 10_000
	eventsPerRun  = 2   // run.evaluated and receipt.sealed; history makes one row of them
	bootBatch     = 500 // rows in one transaction of a boot
	bootStatement = 250 // rows in one of its statements
	bootRounds    = 7   // the best counts
	bootWriters   = 16
	bootRatioGoal = 0.5
)

// BenchmarkProjectionBoot measures building history from the log of an embedded
// node, as a ratio to inserting the same rows with bun in the same batches:
// 1 would mean that reading, decoding and dispatching cost nothing.
func BenchmarkProjectionBoot(b *testing.B) {
	store := bootLog(b)
	for name, address := range map[string]func(testing.TB) string{"sqlite": projectiontest.SQLite, "postgres": pgtest.Database} {
		b.Run(name, func(b *testing.B) {
			db := projectiontest.Open(b, projections.Open, address(b))
			for b.Loop() {
				const never = time.Duration(1 << 62)
				boot, plain, lean, read := never, never, never, never
				for range bootRounds {
					read = min(read, readOnly(b, store))
					boot = min(boot, bootOnce(b, db, store))
					plain = min(plain, insertRows(b, db, func(q *bun.InsertQuery) *bun.InsertQuery { return q }))
					boot = min(boot, bootOnce(b, db, store))
					lean = min(lean, insertRows(b, db, func(q *bun.InsertQuery) *bun.InsertQuery { return q.Returning("NULL") }))
				}
				ratio := plain.Seconds() / boot.Seconds()
				b.ReportMetric(bootRuns*eventsPerRun/boot.Seconds(), "events/s")
				b.ReportMetric(bootRuns*eventsPerRun/read.Seconds(), "read-events/s")
				b.ReportMetric(bootRuns/plain.Seconds(), "bare-rows/s")
				b.ReportMetric(bootRuns/lean.Seconds(), "lean-rows/s")
				b.ReportMetric(ratio, "ratio")
				b.ReportMetric(lean.Seconds()/boot.Seconds(), "lean-ratio")
				b.ReportMetric(0, "ns/op")
				if ratio < bootRatioGoal {
					b.Logf("boot is %.2f of inserting the same rows; goal %.2f", ratio, bootRatioGoal)
				}
			}
		})
	}
}

// bootLog is a log of evaluations on an embedded node.
func bootLog(b *testing.B) *eventstore.Store {
	quiet := slog.New(slog.DiscardHandler)
	n, err := node.Open(node.Config{Dir: b.TempDir(), Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := n.Close(ctx); err != nil {
			b.Error(err)
		}
	})
	store, err := eventstore.Connect(b.Context(), eventstore.Config{Connection: n.ConnectionString(), Catalogue: domain.Catalogue(), Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(store.Close)
	var group sync.WaitGroup
	for w := range bootWriters {
		group.Go(func() {
			for id := int64(w) + 1; id <= bootRuns; id += bootWriters {
				if err := appendRun(b.Context(), store, id); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return store
}

func appendRun(ctx context.Context, store *eventstore.Store, id int64) error {
	at := time.UnixMilli(1_785_000_000_000 + id).UTC()
	metadata := event.Metadata{Correlation: uuid.NewString(), At: at, Account: "a", Actor: "token:t", Source: event.SourceWeb, Agent: "curl/8.0", Build: "bench"}
	evaluated := run.Evaluated{
		Subject: run.Subject{RunID: id, Account: "a", Expression: event.Inline(fmt.Sprintf("Integrate[x^%d Sin[x], x]", id)), Source: event.SourceWeb},
		Answer:  event.Inline("-x Cos[x] + Sin[x]"), InputForm: event.Inline("-x Cos[x] + Sin[x]"), Checkable: true, Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "0.3.0"}, ExecutionMS: 3, EvaluatedAt: at.Format(time.RFC3339Nano),
		Check: &run.Check{Verdict: "verified", Basis: "exact", Method: "integrate_residual", Check: "D[...]", Residual: "0", ElapsedMS: 12, Automatic: true},
	}
	sealed := run.Sealed{RunID: id, ReceiptID: uuid.NewString(), Canonical: event.Inline(fmt.Sprintf(`{"account":"a","answer":"-x Cos[x] + Sin[x]","run_id":%d}`, id)), Signature: "c2lnbmF0dXJl", KID: "k"}
	_, err := store.Append(ctx, run.Stream(id), event.NoStream, []event.Proposed{
		{ID: uuid.NewString(), Event: evaluated, Metadata: metadata},
		{ID: uuid.NewString(), Event: sealed, Metadata: metadata},
	})
	return err
}

// bootOnce builds history from the first event and returns how long that took.
func bootOnce(b *testing.B, db *bun.DB, store *eventstore.Store) time.Duration {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	history := projections.New(db, nil).History.Projection()
	config := engine.Config{DB: db, Log: store, Logger: slog.New(slog.DiscardHandler)}
	if _, err := engine.New(ctx, config, history); err != nil { // there is something to tear down
		b.Fatal(err)
	}
	if err := engine.TearDown(ctx, db, history.Name, history.Version); err != nil {
		b.Fatal(err)
	}
	head, err := store.Head(ctx)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	e, err := engine.New(ctx, config, history)
	if err != nil {
		b.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	if err := e.Wait(ctx, history.Name, head); err != nil {
		b.Fatal(err)
	}
	took := time.Since(begin)
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	if n, err := db.NewSelect().Model((*projections.HistoryRow)(nil)).Count(ctx); err != nil || n != bootRuns {
		b.Fatalf("%d rows, %v", n, err)
	}
	return took
}

// readOnly reads the log and decodes nothing: what the protocol alone takes.
func readOnly(b *testing.B, store *eventstore.Store) time.Duration {
	begin := time.Now()
	for _, err := range store.ReadAll(b.Context(), event.Position{}, "no.such_event") {
		if err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begin)
}

// insertRows inserts the rows history holds into an empty table like it, in the
// batches a boot makes, and returns how long that took. The statement is bun's
// as it is, which reads empty nullable columns back, or with a setting more.
func insertRows(b *testing.B, db *bun.DB, set func(*bun.InsertQuery) *bun.InsertQuery) time.Duration {
	ctx := b.Context()
	var rows []projections.HistoryRow
	if err := db.NewSelect().Model(&rows).Order("position").Scan(ctx); err != nil {
		b.Fatal(err)
	}
	history := projections.New(db, nil).History.Projection()
	if _, err := db.NewDropTable().Model((*projections.HistoryRow)(nil)).Exec(ctx); err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	if err := history.Create(ctx, db); err != nil {
		b.Fatal(err)
	}
	for len(rows) > 0 {
		batch := rows[:min(bootBatch, len(rows))]
		rows = rows[len(batch):]
		err := db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
			for len(batch) > 0 {
				part := batch[:min(bootStatement, len(batch))]
				batch = batch[len(part):]
				if _, err := set(tx.NewInsert().Model(&part)).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begin)
}
