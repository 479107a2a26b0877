package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
)

// replayLog is a log that has ended.
type replayLog struct{ *projectiontest.Log }

const replayLogID = "0198a1b2-0000-7000-8000-00000000aaaa"

// differences are those between a database and what the log makes.
func differences(t *testing.T, db *bun.DB, id string, log replayLog) []engine.Difference {
	t.Helper()
	fresh := projectiontest.Open(t, projections.Open, projectiontest.SQLite(t))
	r, err := engine.NewReplay(t.Context(), fresh, db, projections.New(fresh, nil).All()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log.Events {
		if err := r.Take(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var found []engine.Difference
	err = r.Compare(t.Context(), id, log.Events[len(log.Events)-1].Position, func(d engine.Difference) error {
		found = append(found, d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestReplay: given tables that were built from a log, then nothing differs; when they are behind it, beyond it, of another log, or were
// never built, that is said; when a row is changed, removed or added, it is named.
func TestReplay(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		log := replayLog{&projectiontest.Log{}}
		for i := range int64(5) {
			log.Add(run.Stream(i+1), time.Date(2026, 8, 1, 12, 0, int(i), 0, time.UTC), run.TimedOut{
				Subject: run.Subject{RunID: i + 1, Account: "0198a1b2-0000-7000-8000-00000000000a", Expression: event.Inline(fmt.Sprint("é", i)), Source: event.SourceWeb}, BudgetMS: 3})
		}
		if _, err := engine.New(t.Context(), engine.Config{DB: db, Log: ended{replayLog: log}}, projections.New(db, nil).All()...); err != nil {
			t.Fatal(err)
		}
		models := projections.New(db, nil).All()
		build := func(events []event.Recorded) {
			err := engine.InTx(t.Context(), db, func(ctx context.Context, tx *engine.Tx) error {
				for _, p := range models {
					for _, e := range events {
						if err := p.Apply(ctx, tx, e); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		set := func(statement string, arguments ...any) {
			t.Helper()
			if _, err := db.NewRaw(statement, arguments...).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		moveTo := func(p event.Position) {
			set("UPDATE projection_state SET position = ?, prepare = ?", int64(p.Commit), int64(p.Prepare))
		}
		only := func(name string, kind engine.DifferenceKind, found []engine.Difference) {
			t.Helper()
			if len(found) == 0 || slices.ContainsFunc(found, func(d engine.Difference) bool { return d.Kind != kind }) {
				t.Errorf("%s: %+v", name, found)
			}
		}
		build(log.Events[:3])
		moveTo(log.Events[2].Position)
		only("behind", engine.Behind, differences(t, db, replayLogID, log))
		build(log.Events)
		moveTo(log.Events[4].Position)
		if found := differences(t, db, replayLogID, log); len(found) > 0 {
			t.Errorf("as it was built: %+v", found)
		}
		only("another log", engine.State, differences(t, db, "another", log))
		only("beyond", engine.State, differences(t, db, replayLogID, replayLog{&projectiontest.Log{Events: log.Events[:4]}}))

		set("UPDATE history_v3 SET expression = 'other' WHERE run_id = 2")
		set("DELETE FROM history_v3 WHERE run_id = 3")
		set("UPDATE history_v3 SET run_id = 9 WHERE run_id = 4")
		want := []engine.Difference{
			{Kind: engine.Differs, Projection: "history_v3", Table: "history_v3", Key: "2", Column: "expression", Want: "é1", Have: "other"},
			{Kind: engine.Missing, Projection: "history_v3", Table: "history_v3", Key: "3", Want: "a row", Have: "none"},
			{Kind: engine.Missing, Projection: "history_v3", Table: "history_v3", Key: "4", Want: "a row", Have: "none"},
			{Kind: engine.Extra, Projection: "history_v3", Table: "history_v3", Key: "9", Want: "no row", Have: "a row"},
		}
		if found := differences(t, db, replayLogID, log); !slices.Equal(found, want) {
			t.Errorf("rows:\ngot  %+v\nwant %+v", found, want)
		}
		set("DROP TABLE certificates_v1")
		only("a table that is gone", engine.State, slices.DeleteFunc(differences(t, db, replayLogID, log), func(d engine.Difference) bool { return d.Table != "certificates_v1" }))
		set("DELETE FROM projection_state")
		only("checkpoints that are gone", engine.Missing, differences(t, db, replayLogID, log)[:1])
		for _, p := range models {
			for _, table := range p.TableNames(db) {
				set("DROP TABLE IF EXISTS " + table)
			}
		}
		only("never built", engine.Behind, differences(t, db, replayLogID, log))
	})
}

// ended is the log for the engine that makes the tables, and asks for no event.
type ended struct {
	engine.Log
	replayLog
}

func (e ended) Head(context.Context) (event.Position, error) { return e.Events[0].Position, nil }

func (ended) LogID(context.Context) (string, error) { return replayLogID, nil }
