package database_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"reckon/internal/database"
	"reckon/projections/pgtest"
)

const part = "the shelf"

// wantAway wants an error that names the part that is away.
func wantAway(t *testing.T, what string, err error) {
	t.Helper()
	away, ok := errors.AsType[*database.UnavailableError](err)
	if !ok || away.UnavailablePart() != part {
		t.Errorf("%s: %v (%T), want the shelf to be away", what, err, err)
	}
}

// TestPostgresAway: whatever is asked of a PostgreSQL that is away says so, and works again once it is back.
func TestPostgresAway(t *testing.T) {
	line := pgtest.NewLine(t, pgtest.Database(t))
	pool, err := database.Postgres(part, line.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(8)
	ctx := t.Context()
	exec := func() error { _, err := pool.ExecContext(ctx, "SELECT 1"); return err }
	query := func() error { return pool.QueryRowContext(ctx, "SELECT 1").Scan(new(int)) }
	begin := func() error {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return tx.Rollback()
	}
	prepare := func() error {
		prepared, err := pool.PrepareContext(ctx, "SELECT 1")
		if err != nil {
			return err
		}
		return prepared.Close()
	}
	ping := func() error { return pool.PingContext(ctx) }
	all := map[string]func() error{"exec": exec, "query": query, "begin": begin, "prepare": prepare, "ping": ping}
	for what, ask := range all {
		if err := ask(); err != nil {
			t.Errorf("%s of a server that works: %v", what, err)
		}
	}

	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	held, err := pool.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := pool.PrepareContext(ctx, "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	streaming, err := held.QueryContext(ctx, "SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
	if err != nil {
		t.Fatal(err)
	}
	line.Cut()
	for streaming.Next() {
	}
	wantAway(t, "rows under way", streaming.Err())
	if err := streaming.Close(); err != nil {
		wantAway(t, "closing them", err)
	}
	wantAway(t, "a statement on that connection", held.PingContext(ctx))
	_ = held.Close() // broken
	wantAway(t, "commit", tx.Commit())
	_, err = prepared.ExecContext(ctx)
	wantAway(t, "a prepared statement", err)
	_, err = prepared.QueryContext(ctx) //nolint:sqlclosecheck // there are no rows
	wantAway(t, "a prepared query", err)
	for what, ask := range all {
		wantAway(t, what, ask())
	}

	line.Mend()
	for what, ask := range all {
		if err := ask(); err != nil {
			t.Errorf("%s once it is back: %v", what, err)
		}
	}
}

// TestPostgresThatStops: a server that ends its sessions, or has none left, is away; one that refuses a statement is not.
func TestPostgresThatStops(t *testing.T) {
	address := pgtest.Database(t)
	pool, err := database.Postgres(part, address)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ctx := t.Context()
	other, err := database.Postgres("the operator", address)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()

	held, err := pool.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	var pid int
	if err := held.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if err := other.QueryRowContext(ctx, "SELECT pg_terminate_backend($1)", pid).Scan(new(bool)); err != nil {
		t.Fatal(err)
	}
	_, err = held.ExecContext(ctx, "SELECT 1")
	wantAway(t, "a session that the server ended", err)

	for _, refused := range []string{"SELECT nothing", "SELEC", "SELECT 1/0", "CREATE TABLE t (n integer UNIQUE); INSERT INTO t VALUES (1), (1)"} {
		_, err := pool.ExecContext(ctx, refused)
		if _, away := errors.AsType[*database.UnavailableError](err); err == nil || away {
			t.Errorf("%s: %v, want the refusal as it is", refused, err)
		}
	}
	if err := pool.QueryRowContext(ctx, "SELECT 1 WHERE false").Scan(new(int)); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("no rows: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := pool.ExecContext(ended, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that ended: %v", err)
	}
}

// TestSQLiteThatCannotWork: a file that another process holds locked is away; a refused statement is not.
func TestSQLiteThatCannotWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?b#c%.db")
	open := func() *sql.DB {
		pool, err := database.SQLite(part, path, "_pragma=busy_timeout(0)&_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pool.Close() })
		return pool
	}
	one, two := open(), open()
	ctx := t.Context()
	tx, err := one.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = two.ExecContext(ctx, "CREATE TABLE t (n INTEGER UNIQUE)")
	wantAway(t, "a locked file", err)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := two.ExecContext(ctx, "CREATE TABLE t (n INTEGER UNIQUE)"); err != nil {
		t.Fatal(err)
	}
	_, err = two.ExecContext(ctx, "INSERT INTO t VALUES (1), (1)")
	if _, away := errors.AsType[*database.UnavailableError](err); err == nil || away {
		t.Errorf("a repeated key: %v, want the refusal as it is", err)
	}
	if err := two.QueryRowContext(ctx, "SELECT n FROM t").Scan(new(int)); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("no rows: %v", err)
	}
	if _, err := database.SQLite(part, "", ""); err == nil {
		t.Error("an address without a file is taken")
	}
}
