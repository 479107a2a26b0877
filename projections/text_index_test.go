package projections_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/run"
	"reckon/internal/database"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
)

// TestTrigramsTakeNoSuperuser: a PostgreSQL user with the right to create in the database gets the index; without that right text is
// searched in the newest runs, and the answer says so.
func TestTrigramsTakeNoSuperuser(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	admin := projectiontest.Open(t, projections.Open, address)
	exec := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	role := "r" + strings.ReplaceAll(uuid.NewString(), "-", "")
	exec("CREATE ROLE " + role + " LOGIN")
	exec("GRANT ALL ON SCHEMA public TO " + role)
	parsed.User = url.User(role)
	past, events := pastOf(newRandom(), 6000)
	for _, allowed := range []bool{false, true} {
		if allowed {
			exec("GRANT CREATE ON DATABASE " + strings.TrimPrefix(parsed.Path, "/") + " TO " + role)
		}
		db := projectiontest.Open(t, projections.Open, parsed.String())
		history := projections.New(db, nil).History
		applyAll(t, db, history.Projection(), events)
		if has, err := engine.HasTrigrams(t.Context(), db, "history_v3_text"); err != nil || has != allowed {
			t.Errorf("may create %t: trigrams %t, %v", allowed, has, err)
		}
		page, err := history.List(t.Context(), alice, projections.HistoryQuery{Query: "needle"})
		if err != nil || page.SearchTruncated == allowed || len(page.Rows) != map[bool]int{false: 1, true: 2}[allowed] {
			t.Errorf("may create %t: %d rows, truncated %t, %v", allowed, len(page.Rows), page.SearchTruncated, err)
		}
		checkPagesJoin(t, history, past, projections.HistoryQuery{Query: "needle", Limit: 1})
		if allowed {
			checkAgainstPlain(t, history, past, projections.HistoryQuery{Query: "needle", Limit: 50})
		}
		for _, table := range history.Projection().TableNames(db) {
			if err := engine.DropTable(t.Context(), db, table); err != nil {
				t.Fatal(err)
			}
		}
	}
	exec("DROP OWNED BY " + role)
	exec("DROP ROLE " + role)
}

// TestTheTextIndexGoesWithItsTable: a run is in the index once however often its event is applied, and nothing is left of it without the table.
func TestTheTextIndexGoesWithItsTable(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		history := projections.New(db, nil).History
		var l projectiontest.Log
		l.Add(run.Stream(1), noon, evaluated(subject(1, alice, "Sin[x]"), "2"))
		for range 3 {
			applyAll(t, db, history.Projection(), l.Events)
		}
		if page, err := history.List(t.Context(), alice, projections.HistoryQuery{Query: "Sin["}); err != nil || len(page.Rows) != 1 {
			t.Errorf("%v, %v", page.Rows, err)
		}
		for _, table := range history.Projection().TableNames(db) {
			if err := engine.DropTable(t.Context(), db, table); err != nil {
				t.Fatal(err)
			}
		}
		named := "SELECT name FROM sqlite_master WHERE name LIKE 'history%'"
		if db.Dialect().Name() == dialect.PG {
			named = "SELECT relname FROM pg_class WHERE relname LIKE 'history%'"
		}
		var left []string
		if err := db.NewRaw(named).Scan(t.Context(), &left); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

// TestASearchEndsInTime: a statement that PostgreSQL ends for its time is told from one that fails.
func TestASearchEndsInTime(t *testing.T) {
	t.Parallel()
	db := projectiontest.Open(t, projections.Open, pgtest.Database(t))
	err := db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 1"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "SELECT pg_sleep(60)")
		return err
	})
	if !database.Canceled(err) {
		t.Errorf("%v is not told as ended for its time", err)
	}
	if _, err := db.ExecContext(t.Context(), "SELECT nothing"); database.Canceled(err) {
		t.Errorf("%v is taken for an end in time", err)
	}
}
