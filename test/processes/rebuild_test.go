package processes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/audit/audittest"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/token"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/blobs"
	"reckon/projections"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
	"reckon/test/e2e"
	"reckon/test/sweep"
	"reckon/test/wait"
)

const (
	runsPerKill   = 2500 // at least one transaction of history, which takes up to 2,000 events
	rebuildJobs   = 20   // every so many runs one comes from a job
	maxRebuilds   = 10
	rebuildsLimit = 10 * time.Minute
)

// TestKilledRebuild: a projector that is killed with kill -9 again and again while it builds every read model anew leaves the
// rows, the checkpoints and the indexes of one that was left alone.
func TestKilledRebuild(t *testing.T) {
	t.Parallel()
	kills := sweep.Size(t, "RECKON_TEST_KILLS", 2, 20)
	folder := t.TempDir()
	kept := filepath.Join(folder, "blobs")
	must(t, os.Mkdir(kept, 0o700))
	writeRebuildLog(t, filepath.Join(folder, "log"), kept, kills*runsPerKill)
	node, err := launch(t, "node", "--data", filepath.Join(folder, "log"))
	must(t, err)
	for name, address := range map[string]func(testing.TB) string{"sqlite": projectiontest.SQLite, "postgres": pgtest.Database} {
		t.Run(name, func(t *testing.T) {
			projector := func(address string) []string {
				return []string{"serve", "--init", "--data", e2e.DataFolder(t), "--roles", "project", "--eventstore", node.ready, "--database", address,
					"--blobs", "file://" + kept, "--keys", filepath.Join(folder, "keys"), "--grace", "1s"}
			}
			alone := address(t)
			finish(t, projector(alone))
			want := contents(t, alone)
			deadline := time.Now().Add(rebuildsLimit)
			done := 0
			for rebuild := 0; done < kills; rebuild++ {
				if rebuild == maxRebuilds || time.Now().After(deadline) {
					t.Fatalf("killed %d times only, in %d rebuilds", done, rebuild)
				}
				killed := address(t)
				again := projector(killed)
				db := projectiontest.Open(t, projections.Open, killed)
				for done < kills {
					moment := progressOf
					if done == kills-1 {
						moment = indexingOf
					}
					if !killWhileItBuilds(t, again, db, moment) {
						break
					}
					done++
				}
				finish(t, again)
				got := contents(t, killed)
				for table, rows := range want {
					if got[table] != rows {
						t.Errorf("rebuild %d leaves another %s than one that was left alone", rebuild, table)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%d tables, want %d", len(got), len(want))
				}
			}
			t.Logf("killed %d times, the last time while indexes were made: the same rows, checkpoints and indexes", done)
		})
	}
}

// killWhileItBuilds starts a projector and kills it a random time after the moment, which has come when its text is another one than before.
// It is false when everything was built first.
func killWhileItBuilds(t *testing.T, arguments []string, db *bun.DB, moment func(*bun.DB) string) bool {
	t.Helper()
	before := moment(db)
	p, ready, err := spawn(t, arguments...)
	must(t, err)
	for now := before; now == before || now == ""; now = moment(db) {
		select {
		case <-ready:
			p.kill()
			return false
		case <-p.exited:
			t.Fatalf("a projector ended by itself:\n%s", p.output)
		case <-time.After(time.Millisecond):
		}
	}
	wait.Pace(rand.N(50 * time.Millisecond)) // the place of the kill is to be any
	p.kill()
	select {
	case <-ready:
		return false
	default:
		return true
	}
}

// progressOf is every checkpoint; empty where there are none yet.
func progressOf(db *bun.DB) string {
	return column(db, "SELECT name || ' ' || position FROM projection_state ORDER BY 1")
}

// indexingOf is which index is being made, by which process; empty: none.
func indexingOf(db *bun.DB) string {
	if db.Dialect().Name() == dialect.PG {
		return column(db, "SELECT pid || ' ' || query FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'CREATE INDEX%'")
	}
	return column(db, "SELECT name || ' ' || process FROM projection_writers WHERE quiet")
}

// column is what a query returns, in lines; empty while the tables are not there, or a process that was killed still holds them.
func column(db *bun.DB, query string) string {
	var lines []string
	if err := db.NewRaw(query).Scan(context.Background(), &lines); err != nil {
		return ""
	}
	return strings.Join(lines, "\n")
}

// finish runs a projector until everything is built, and ends it in order.
func finish(t *testing.T, arguments []string) {
	t.Helper()
	p, err := launch(t, arguments...)
	must(t, err)
	status, err := p.interrupt()
	must(t, err)
	if status != 0 {
		t.Fatalf("a projector ends with %d:\n%s", status, p.output)
	}
}

// contents are the rows of every read model, the checkpoints and the definitions of all indexes, each as a hash.
func contents(t *testing.T, address string) map[string]string {
	t.Helper()
	db := projectiontest.Open(t, projections.Open, address)
	all := map[string]string{}
	for _, model := range projections.New(db, nil).All() {
		dump := projectiontest.Dump(t, db, model)
		if strings.HasPrefix(dump[strings.Index(dump, ":"):], ": 0 rows") {
			t.Errorf("the log makes no row of %s", model.Name)
		}
		all[model.Name] = audittest.Sum([]byte(dump))
	}
	indexes := "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1"
	if db.Dialect().Name() == dialect.PG {
		indexes = "SELECT indexname || ' ' || indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1"
	}
	for what, query := range map[string]string{"list of indexes": indexes,
		"table of checkpoints": "SELECT name || ' ' || version || ' ' || position || ' ' || phase || ' ' || reason FROM projection_state ORDER BY 1"} {
		var lines []string
		must(t, db.NewRaw(query).Scan(t.Context(), &lines))
		all[what] = strings.Join(lines, "\n")
	}
	return all
}

// writeRebuildLog writes, below the node, a log that has every type of event, and then runs with their receipts, some of them from jobs.
func writeRebuildLog(t *testing.T, folder, kept string, runs int) {
	t.Helper()
	log, err := eventlog.Open(eventlog.Options{Dir: folder})
	must(t, err)
	var last *eventlog.Pending
	l := audittest.True()
	l.Add("session-"+audittest.Alice+"-open", audittest.Alice, session.Opened{Account: audittest.Alice, SessionID: "open", Owner: audittest.Process, Epoch: 1})
	secret := audittest.Sum([]byte("another secret"))
	l.Add("token-"+secret, audittest.Alice, token.Minted{TokenID: secret, Account: audittest.Alice, Name: "desktop", Last4: "efgh", FullAccess: true})
	flush := func() {
		for _, s := range l.Stored(t) {
			if len(s.Metadata) == 0 {
				continue // the node names its log itself
			}
			last, err = log.Submit(t.Context(), s.Stream, eventlog.Any(), []eventlog.Proposed{{ID: uuid.MustParse(s.ID), Type: s.Name, JSON: true, Data: s.Data, Metadata: s.Metadata}})
			must(t, err)
		}
		l.Events = l.Events[:0]
	}
	flush()
	store, err := blobs.OpenFolder(kept)
	must(t, err)
	for _, content := range l.Blobs {
		_, err := store.Put(t.Context(), content)
		must(t, err)
	}
	const first = 1_000_000 // of the ids of runs: none that the log has
	for n := int64(first); n < int64(first+runs); n++ {
		addRun(l, n)
		flush()
	}
	_, err = last.Wait(t.Context())
	must(t, err)
	must(t, log.Close())
}

// addRun adds a run with its receipt; of many one is a job's.
func addRun(l *audittest.Log, n int64) {
	expression, answer := fmt.Sprintf("Integrate[x^%d Sin[x], x]", n), fmt.Sprintf("%d*Cos[x]", n)
	l.Now = l.Now.Add(time.Second)
	e := run.Evaluated{Subject: l.Subject(n, expression), Answer: event.Inline(answer), InputForm: event.Inline(answer), Checkable: true, Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: n % 50, EvaluatedAt: l.At()}
	if n%rebuildJobs != 0 {
		l.Add(run.Stream(n), audittest.Alice, e, l.Seal(e, expression, answer, ""))
		return
	}
	e.JobID, e.Source = l.NewID(), event.SourceJob
	l.Submit(job.Submission{JobID: e.JobID, Kind: "evaluate", Payload: event.Inline(expression), RunID: n})
	nonce := l.Claim(e.JobID, 1)
	sealed := l.Seal(e, expression, answer, "")
	l.Add(job.Stream(e.JobID), audittest.Alice, job.HasSucceeded{Outcome: job.Outcome{JobID: e.JobID, Nonce: nonce,
		Publish: audittest.Embed(e, sealed), PublishTo: run.Stream(n), FinishedAt: l.At()}})
	l.Add(run.Stream(n), audittest.Alice, e, sealed)
}
