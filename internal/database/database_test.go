package database_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

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
	t.Parallel()
	way, through := pgtest.Behind(t, pgtest.Database(t))
	pool, err := database.Postgres(part, through, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
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
	way.Refuse()
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

	way.Mend()
	for what, ask := range all {
		if err := ask(); err != nil {
			t.Errorf("%s once it is back: %v", what, err)
		}
	}
}

// TestPostgresThatStops: a server that ends its sessions, or has none left, is away; one that refuses a statement is not.
func TestPostgresThatStops(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	pool, err := database.Postgres(part, address, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ctx := t.Context()
	other, err := database.Postgres("the operator", address, 8)
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
	if err := other.QueryRowContext(ctx, "SELECT pg_terminate_backend(?)", pid).Scan(new(bool)); err != nil {
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

// TestPostgresFrozen: what requests ask of a PostgreSQL that accepts connections and answers nothing says that it is away; so does a
// request that finds the pool empty, which names the part too. Whoever waits in the background is answered once it goes on.
func TestPostgresFrozen(t *testing.T) {
	t.Parallel()
	server := pgtest.NewFreezable(t)
	const connections = 4
	pool, err := database.Postgres(part, server.Address(), connections)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ctx := t.Context()
	if _, err := pool.ExecContext(ctx, "CREATE TABLE t (n integer)"); err != nil {
		t.Fatal(err)
	}
	server.Freeze()
	background := make(chan error, connections-1)
	for range cap(background) {
		go func() { _, err := pool.ExecContext(ctx, "INSERT INTO t VALUES (1)"); background <- err }()
	}
	request := database.OfRequest(ctx)
	asked := map[string]func() error{
		"exec":  func() error { _, err := pool.ExecContext(request, "SELECT 1"); return err },
		"query": func() error { return pool.QueryRowContext(request, "SELECT 1").Scan(new(int)) },
		"model": func() error { _, err := pool.NewSelect().Table("t").Count(request); return err },
		"transaction": func() error {
			return pool.RunInTx(request, nil, func(context.Context, bun.Tx) error { return nil })
		},
	}
	var group sync.WaitGroup
	for range connections {
		for what, ask := range asked {
			group.Go(func() { wantAway(t, what+" of a frozen server", ask()) })
		}
	}
	group.Wait()
	server.Thaw()
	for range cap(background) {
		if err := <-background; err != nil {
			if _, away := errors.AsType[*database.UnavailableError](err); !away { // a connection could not be made in time
				t.Error(err)
			}
		}
	}
	for what, ask := range asked {
		if err := ask(); err != nil {
			t.Errorf("%s once it goes on: %v", what, err)
		}
	}
}

// TestSQLiteThatCannotWork: a file that another process holds locked is away; a refused statement is not.
func TestSQLiteThatCannotWork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a?b#c%.db")
	open := func() *bun.DB {
		pool, err := database.SQLite(part, path, "_txlock=immediate", 8)
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
	_, err = two.ExecContext(database.OfRequest(ctx), "CREATE TABLE t (n INTEGER UNIQUE)")
	wantAway(t, "a locked file", err)
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = two.BeginTx(short, nil)
	wantAway(t, "a file that is locked for longer than the context lasts", err)
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
	if _, err := database.SQLite(part, "", "", 8); err == nil {
		t.Error("an address without a file is taken")
	}
}
