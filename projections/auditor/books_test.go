package auditor

import (
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/audit"
	"reckon/domain/event"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
)

const booksLog = "0198a1b2-0000-7000-8000-00000000aaaa"

// bookItem is the third event of the log that the rows are about.
func bookItem() *audit.Item {
	return &audit.Item{Name: "run.evaluated", Recorded: event.Recorded{ID: "0198a1b2-0000-7000-8000-000000000003", Stream: "run-7", Revision: 1, Position: event.Position{Commit: 3, Prepare: 3}}}
}

// TestBooks: given rows of projections and reactions that agree with a log, then nothing is found; when one column is changed to what the
// log or the column's form contradicts, or a row is added or removed, then the finding names table, key and column. A database
// that holds types strictly refuses some of these changes itself.
func TestBooks(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		ctx := t.Context()
		if _, err := engine.ListParked(ctx, db); err != nil { // makes the tables
			t.Fatal(err)
		}
		reactions, err := projections.NewReactionState(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		at, item := event.Position{Commit: 3, Prepare: 3}, bookItem()
		if err := reactions.CheckpointsOf(booksLog).Save(ctx, "refunds", at); err != nil {
			t.Fatal(err)
		}
		parked := projections.ParkedReaction{Reaction: "refunds", EventID: item.ID, Stream: item.Stream, Revision: 1, EventName: item.Name, Reason: "r", ParkedAt: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
		if err := reactions.Park(ctx, parked); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			`INSERT INTO projection_state (name, version, log_id, position, prepare, phase, reason, tables) VALUES ('history', 2, '` + booksLog + `', 3, 3, 'running', '', 'history_v3'), ('old', 1, '` + booksLog + `', 2, 2, 'paused', 'on request', 'old_v1')`,
			`INSERT INTO projection_parked (name, version, stream, revision, position, event_id, event_name, reason, parked_at) VALUES ('history', 2, 'run-7', 1, 3, '` + item.ID + `', 'run.evaluated', 'r', '2026-08-01 12:00:00.25+00:00')`,
			`INSERT INTO projection_writers (name, version, process, seen, quiet) VALUES ('history', 2, 'p', 1785585600.5, false)`,
		} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		// find returns what is found after a change, which is taken back; false: the database refused it.
		find := func(statement string) (found []audit.Finding, changed bool) {
			t.Helper()
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }() // it is to be undone
			if statement != "" {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return nil, false
				}
			}
			b, err := readBooks(ctx, tx, map[string]string{"history 2": "history_v3"})
			if err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			b.take(bookItem())
			return b.compare(booksLog, 3), true
		}
		if found, _ := find(""); len(found) > 0 {
			t.Errorf("as they were: %v", found)
		}
		refused := 0
		for _, c := range []struct {
			statement, table, key, column string
			kind                          audit.Kind
		}{
			{"UPDATE projection_state SET position = 'x' WHERE version = 2", tableState, "history 2", "position", audit.KindRow},
			{"UPDATE projection_state SET position = -1 WHERE version = 2", tableState, "history 2", "position", audit.KindRow},
			{"UPDATE projection_state SET version = 'x' WHERE version = 2", tableState, "history x", "version", audit.KindRow},
			{"UPDATE projection_state SET prepare = 2 WHERE version = 2", tableState, "history 2", "prepare", audit.KindRow},
			{"UPDATE projection_state SET prepare = x'00' WHERE version = 2", tableState, "history 2", "prepare", audit.KindRow},
			{"UPDATE projection_state SET phase = 'x' WHERE version = 2", tableState, "history 2", "phase", audit.KindRow},
			{"UPDATE projection_state SET reason = 'x' WHERE version = 2", tableState, "history 2", "reason", audit.KindRow},
			{"UPDATE projection_state SET tables = 'x' WHERE version = 2", tableState, "history 2", "tables", audit.KindRow},
			{"UPDATE projection_state SET tables = 'history_v3' WHERE version = 1", tableState, "old 1", "tables", audit.KindRow},
			{"UPDATE projection_state SET position = 4, prepare = 4 WHERE version = 1", tableState, "old 1", "position", audit.KindRow},
			{"UPDATE projection_state SET log_id = 'x' WHERE version = 1", tableState, "old 1", "log_id", audit.KindTableBehind},
			{"DELETE FROM projection_state WHERE version = 2", tableParked, "history 2 run-7 1", "", audit.KindRowExtra},
			{"UPDATE projection_parked SET revision = 'x'", tableParked, "history 2 run-7 x", "revision", audit.KindRow},
			{"UPDATE projection_parked SET revision = 9", tableParked, "history 2 run-7 9", "", audit.KindRowExtra},
			{"UPDATE projection_parked SET stream = 'x'", tableParked, "history 2 x 1", "", audit.KindRowExtra},
			{"UPDATE projection_parked SET name = 'x'", tableParked, "x 2 run-7 1", "", audit.KindRowExtra},
			{"UPDATE projection_parked SET position = 2", tableParked, "history 2 run-7 1", "position", audit.KindRow},
			{"UPDATE projection_parked SET event_id = 'x'", tableParked, "history 2 run-7 1", "event_id", audit.KindRow},
			{"UPDATE projection_parked SET event_name = 'x'", tableParked, "history 2 run-7 1", "event_name", audit.KindRow},
			{"UPDATE projection_parked SET parked_at = 'x'", tableParked, "history 2 run-7 1", "parked_at", audit.KindRow},
			{"UPDATE projection_writers SET seen = 'x'", tableWriters, "history 2", "seen", audit.KindRow},
			{"UPDATE projection_writers SET quiet = 7", tableWriters, "history 2", "quiet", audit.KindRow},
			{"UPDATE projection_writers SET name = 'x'", tableWriters, "x 2", "", audit.KindRowExtra},
			{"UPDATE reaction_state SET position = 'x'", tableReactions, "refunds " + booksLog, "position", audit.KindRow},
			{"UPDATE reaction_state SET position = 4, prepare = 4", tableReactions, "refunds " + booksLog, "position", audit.KindRow},
			{"UPDATE reaction_state SET prepare = 0", tableReactions, "refunds " + booksLog, "prepare", audit.KindRow},
			{"UPDATE reaction_state SET log_id = 'x'", tableReactions, "refunds x", "log_id", audit.KindTableBehind},
			{"UPDATE reaction_parked SET revision = 'x'", tableReactionParked, "refunds " + item.ID, "revision", audit.KindRow},
			{"UPDATE reaction_parked SET stream = 'x'", tableReactionParked, "refunds " + item.ID, "", audit.KindRowExtra},
			{"UPDATE reaction_parked SET event_id = 'x'", tableReactionParked, "refunds x", "event_id", audit.KindRow},
			{"UPDATE reaction_parked SET event_name = 'x'", tableReactionParked, "refunds " + item.ID, "event_name", audit.KindRow},
			{"UPDATE reaction_parked SET parked_at = 'x'", tableReactionParked, "refunds " + item.ID, "parked_at", audit.KindRow},
			{"DROP TABLE reaction_state", "", "", "", ""},
		} {
			found, changed := find(c.statement)
			switch {
			case !changed:
				refused++
			case c.table == "" && len(found) > 0:
				t.Errorf("%s: %v", c.statement, found)
			case c.table != "" && !slices.ContainsFunc(found, func(f audit.Finding) bool {
				return f.Kind == c.kind && f.Table == c.table && f.Key == c.key && f.Column == c.column
			}):
				t.Errorf("%s: %v", c.statement, found)
			}
		}
		const mostRefused = 10 // those that PostgreSQL's types forbid
		if refused > mostRefused {
			t.Errorf("the database refused %d changes", refused)
		}
	})
}
