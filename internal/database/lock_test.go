package database_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"reckon/internal/database"
	"reckon/projections/pgtest"
)

// TestASilentClientKeepsNoLock: a process that is cut off in a transaction does not keep the others from the lock that it has.
func TestASilentClientKeepsNoLock(t *testing.T) {
	t.Parallel()
	pool, err := database.Postgres(part, pgtest.Database(t), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	begin := func() bun.Tx {
		t.Helper()
		tx, err := pool.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	lock := func(ctx context.Context, tx bun.Tx, name string) {
		t.Helper()
		if err := database.Lock(ctx, tx, name); err != nil {
			t.Fatal(err)
		}
	}
	silent, other, long := begin(), begin(), begin()
	lock(t.Context(), silent, "queue")
	lock(t.Context(), other, "places")
	if err := other.Rollback(); err != nil {
		t.Errorf("another lock: %v", err)
	}
	if err := database.LongReading(t.Context(), long); err != nil {
		t.Fatal(err)
	}

	next := begin()
	lock(t.Context(), next, "queue")
	if err := next.Commit(); err != nil {
		t.Error(err)
	}
	_, err = silent.ExecContext(t.Context(), "SELECT 1")
	wantAway(t, "a transaction whose client was silent", err)
	if _, err := long.ExecContext(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("a long reading: %v", err)
	}
	if err := long.Rollback(); err != nil {
		t.Error(err)
	}
	var silence string
	if err := pool.QueryRowContext(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&silence); err != nil || silence != "1min" {
		t.Errorf("every transaction's silence is bounded by %q, %v", silence, err)
	}
}
