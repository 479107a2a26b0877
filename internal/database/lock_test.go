package database_test

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/internal/database"
	"reckon/projections/pgtest"
	"reckon/test/wait"
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
	if err := pool.QueryRowContext(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&silence); err != nil || silence != "10s" {
		t.Errorf("every transaction's silence is bounded by %q, %v", silence, err)
	}
}

// TestALockIsWaitedForWithinBounds: whoever waits for a lock that another uses for long is told that the database is away.
func TestALockIsWaitedForWithinBounds(t *testing.T) {
	t.Parallel()
	pool, err := database.Postgres(part, pgtest.Database(t), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	working, stop := context.WithCancel(t.Context())
	locked, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- pool.RunInTx(working, nil, func(ctx context.Context, tx bun.Tx) error {
			if err := database.Lock(ctx, tx, "queue"); err != nil {
				return err
			}
			close(locked)
			_, err := tx.ExecContext(ctx, "SELECT pg_sleep(60)")
			return err
		})
	}()
	defer func() {
		stop()
		if err := <-ended; err == nil {
			t.Error("it was not interrupted")
		}
	}()
	select {
	case <-locked:
	case err := <-ended:
		t.Fatal(err)
	}
	waiting, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantAway(t, "waiting for a lock", database.Lock(t.Context(), waiting, "queue"))
	if err := waiting.Rollback(); err != nil {
		t.Error(err)
	}
}

// TestALostConnectionIsGivenUp: what works in the background goes on after a connection was lost on which nobody answers any more.
func TestALostConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	way, address := pgtest.Behind(t, pgtest.Database(t))
	pool, err := database.Postgres(part, address, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	limited := database.WithBackgroundLimit(pool, part, 300*time.Millisecond)
	query := func(ctx context.Context, db bun.IDB) error { return db.NewRaw("SELECT 1").Scan(ctx, new(int)) }
	never := func() {}
	within := func(lose func()) func() error {
		return func() error {
			return limited.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
				defer lose()
				return query(ctx, tx)
			})
		}
	}
	for what, calls := range map[string]struct{ sound, lost func() error }{
		"a query":     {within(never), func() error { way.Lose(); return query(t.Context(), limited) }},
		"a statement": {within(never), func() error { way.Lose(); _, err := limited.ExecContext(t.Context(), "SELECT 1"); return err }},
		"a beginning": {within(never), func() error { way.Lose(); return within(never)() }},
		"a commit":    {within(never), within(way.Lose)},
	} {
		if err := calls.sound(); err != nil {
			t.Fatalf("before %s: %v", what, err)
		}
		wantAway(t, what, calls.lost())
	}
	if err := query(database.Unlimited(t.Context()), limited); err != nil {
		t.Errorf("without a limit, on a new connection: %v", err)
	}
}

// TestASilentReaderKeepsNoLock: a process that takes no more of an answer while it has a lock does not keep the others from it.
func TestASilentReaderKeepsNoLock(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	way, through := pgtest.Behind(t, address)
	open := func(address string) *bun.DB {
		t.Helper()
		pool, err := database.Postgres(part, address, 4)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		return pool
	}
	pool, frozen := open(address), open(through)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	way.LoseOn("generate_series")
	go func() {
		ended <- frozen.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
			if err := database.Lock(ctx, tx, "queue"); err != nil {
				return err
			}
			var rows []string
			return tx.NewRaw("SELECT repeat('x', 1000) FROM generate_series(1, 100000)").Scan(ctx, &rows)
		})
	}()
	defer func() {
		stop()
		if err := <-ended; err == nil {
			t.Error("it was not interrupted")
		}
	}()
	wait.Until(t, "it is silent", func() bool { return way.Lost() > 0 })
	if n, err := database.EndSilent(t.Context(), pool); n != 0 || err != nil {
		t.Errorf("ended at once: %d, %v", n, err)
	}
	wait.Until(t, "it is ended", func() bool {
		n, err := database.EndSilent(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	})
	err := pool.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error { return database.Lock(ctx, tx, "queue") })
	if err != nil {
		t.Error(err)
	}
}
