//go:build bench

package bench

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
)

var (
	bootRuns   = flag.Int("boot.runs", 10_000, "runs in the log that read models are built from")
	bootRounds = flag.Int("boot.rounds", 7, "how often each is measured; the best counts")
	bootPeers  = flag.Bool("boot.peers", true, "measure the plain inserts too")
	bootFolder = flag.String("boot.log", "", "folder of the log, made when it is empty and kept; default: a temporary one")
)

const (
	bootJobEvery  = 20  // every so many runs one comes from a job: three more events
	bootBatch     = 500 // rows in one transaction of the peer
	bootStatement = 250 // rows in one of its statements
	bootInFlight  = 4096
	bootRatioGoal = 0.5
)

// BenchmarkProjectionBoot measures building read models from the log of an embedded
// node, as a ratio to inserting the rows of history with bun in a plain way:
// 1 would mean that reading, decoding and dispatching cost nothing.
func BenchmarkProjectionBoot(b *testing.B) {
	store, events := bootLog(b)
	for name, address := range map[string]func(testing.TB) string{"sqlite": projectiontest.SQLite, "postgres": pgtest.Database} {
		for _, all := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/all=%t", name, all), func(b *testing.B) {
				db := projectiontest.Open(b, projections.Open, address(b))
				for b.Loop() {
					reportBoot(b, db, store, events, all)
				}
			})
		}
	}
}

func reportBoot(b *testing.B, db *bun.DB, store *eventstore.Store, events int, all bool) {
	const never = time.Duration(1 << 62)
	boot, processor, plain, lean, read := never, never, never, never, never
	for range *bootRounds {
		took, busy := bootOnce(b, db, store, all)
		boot, processor = min(boot, took), min(processor, busy)
		if !*bootPeers {
			continue
		}
		read = min(read, readOnly(b, store))
		plain = min(plain, insertRows(b, db, func(q *bun.InsertQuery) *bun.InsertQuery { return q }))
		lean = min(lean, insertRows(b, db, func(q *bun.InsertQuery) *bun.InsertQuery { return q.Returning("NULL") }))
	}
	b.ReportMetric(boot.Seconds(), "boot-s")
	b.ReportMetric(float64(events)/boot.Seconds(), "events/s")
	b.ReportMetric(processor.Seconds(), "processor-s")
	b.ReportMetric(float64(events)/processor.Seconds(), "events/processor-s")
	b.ReportMetric(0, "ns/op")
	if !*bootPeers {
		return
	}
	ratio := plain.Seconds() / boot.Seconds()
	b.ReportMetric(float64(events)/read.Seconds(), "read-events/s")
	b.ReportMetric(float64(*bootRuns)/plain.Seconds(), "bare-rows/s")
	b.ReportMetric(float64(*bootRuns)/lean.Seconds(), "lean-rows/s")
	b.ReportMetric(ratio, "ratio")
	b.ReportMetric(lean.Seconds()/boot.Seconds(), "lean-ratio")
	if ratio < bootRatioGoal {
		b.Logf("boot is %.2f of inserting the same rows; goal %.2f", ratio, bootRatioGoal)
	}
}

// bootLog opens a log of evaluations and jobs on an embedded node, and writes it first where there is none. It returns
// how many events the log holds.
func bootLog(b *testing.B) (*eventstore.Store, int) {
	quiet := slog.New(slog.DiscardHandler)
	folder := *bootFolder
	if folder == "" {
		folder = b.TempDir()
	}
	if written, err := filepath.Glob(filepath.Join(folder, "*")); err != nil {
		b.Fatal(err)
	} else if len(written) == 0 {
		writeBootLog(b, folder)
	}
	n, err := node.Open(node.Config{Dir: folder, Logger: quiet})
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
	return store, *bootRuns*2 + *bootRuns/bootJobEvery*3
}

// writeBootLog writes the log below the node, whose clients wait for every append: a million runs take a minute so.
func writeBootLog(b *testing.B, folder string) {
	log, err := eventlog.Open(eventlog.Options{Dir: folder})
	if err != nil {
		b.Fatal(err)
	}
	codec := eventstore.NewCodec(domain.Catalogue())
	var waiting []*eventlog.Pending
	wait := func() {
		for _, p := range waiting {
			if _, err := p.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		waiting = waiting[:0]
	}
	submit := func(stream string, events []event.Proposed) {
		raws, err := codec.Encode(events)
		if err != nil {
			b.Fatal(err)
		}
		proposed := make([]eventlog.Proposed, len(raws))
		for i, raw := range raws {
			proposed[i] = eventlog.Proposed{ID: raw.ID, Type: raw.Name, JSON: true, Data: raw.Data, Metadata: raw.Metadata}
		}
		p, err := log.Submit(b.Context(), stream, eventlog.NoStream(), proposed)
		if err != nil {
			b.Fatal(err)
		}
		if waiting = append(waiting, p); len(waiting) == bootInFlight {
			wait()
		}
	}
	for id := range int64(*bootRuns) {
		jobID := ""
		if (id+1)%bootJobEvery == 0 {
			jobID = uuid.NewString()
			submit(job.Stream(jobID), jobEvents(id+1, jobID))
		}
		submit(run.Stream(id+1), runEvents(id+1, jobID))
	}
	wait()
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}

func bootMetadata(id int64) event.Metadata {
	at := time.UnixMilli(1_785_000_000_000 + id*1000).UTC()
	return event.Metadata{Correlation: uuid.NewString(), At: at, Account: "0198a1b2-0000-7000-8000-00000000000a", Actor: "token:t", Source: event.SourceWeb, Agent: "curl/8.0", Build: "bench"}
}

// runEvents are an evaluation and its receipt.
func runEvents(id int64, jobID string) []event.Proposed {
	metadata := bootMetadata(id)
	evaluated := run.Evaluated{
		Subject: run.Subject{RunID: id, Account: metadata.Account, Expression: event.Inline(fmt.Sprintf("Integrate[x^%d Sin[x], x]", id)), Source: event.SourceWeb, JobID: jobID},
		Answer:  event.Inline("-x Cos[x] + Sin[x]"), InputForm: event.Inline("-x Cos[x] + Sin[x]"), Checkable: true, Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "0.3.0"}, ExecutionMS: 3, EvaluatedAt: metadata.At.Format(time.RFC3339Nano),
		Check: &run.Check{Verdict: "verified", Basis: "exact", Method: "integrate_residual", Check: "D[...]", Residual: "0", ElapsedMS: 12, Automatic: true},
	}
	sealed := run.Sealed{RunID: id, ReceiptID: uuid.NewString(), Canonical: event.Inline(fmt.Sprintf(`{"account":"a","answer":"-x Cos[x] + Sin[x]","run_id":%d}`, id)), Signature: "c2lnbmF0dXJl", KID: "k"}
	return []event.Proposed{{ID: uuid.NewString(), Event: evaluated, Metadata: metadata}, {ID: uuid.NewString(), Event: sealed, Metadata: metadata}}
}

// jobEvents are a job from its queueing to its end.
func jobEvents(id int64, jobID string) []event.Proposed {
	metadata, nonce := bootMetadata(id), uuid.NewString()
	submission := job.Sample()
	submission.JobID, submission.Account, submission.RunID = jobID, metadata.Account, id
	at := event.Timestamp(metadata.At)
	var proposed []event.Proposed
	for _, e := range []event.Event{
		job.WasQueued{Submission: submission, SlotID: uuid.NewString(), Day: at[:10]},
		job.WasClaimed{JobID: jobID, Runner: uuid.NewString(), Nonce: nonce, Attempt: 1, StartedAt: at},
		job.HasSucceeded{Outcome: job.Outcome{JobID: jobID, Nonce: nonce, Output: event.Inline("x^3/3"), Result: event.Inline(`{"result":"x^3/3"}`), PublishTo: run.Stream(id), FinishedAt: at}},
	} {
		proposed = append(proposed, event.Proposed{ID: uuid.NewString(), Event: e, Metadata: metadata})
	}
	return proposed
}

// bootOnce builds history, or all read models, from the first event and returns how long that took.
func bootOnce(b *testing.B, db *bun.DB, store *eventstore.Store, all bool) (took, processor time.Duration) {
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	models := projections.New(db, nil).All()
	if !all {
		models = []engine.Projection{projections.New(db, nil).History.Projection()}
	}
	config := engine.Config{DB: db, Log: store, Logger: slog.New(slog.DiscardHandler)}
	if _, err := engine.New(ctx, config, models...); err != nil { // there is something to tear down
		b.Fatal(err)
	}
	for _, p := range models {
		if err := engine.TearDown(ctx, db, p.Name, p.Version); err != nil {
			b.Fatal(err)
		}
	}
	head, err := store.Head(ctx)
	if err != nil {
		b.Fatal(err)
	}
	begin, used := time.Now(), processorTime(b)
	e, err := engine.New(ctx, config, models...)
	if err != nil {
		b.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(running) }()
	for _, p := range models {
		if err := e.Wait(ctx, p.Name, head); err != nil {
			b.Fatal(err)
		}
	}
	took, processor = time.Since(begin), processorTime(b)-used
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	if n, err := db.NewSelect().Model((*projections.HistoryRow)(nil)).Count(ctx); err != nil || n != int64(*bootRuns) {
		b.Fatalf("%d rows, %v", n, err)
	}
	return took, processor
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
