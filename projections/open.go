package projections

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/uptrace/bun"

	"reckon/internal/database"
)

// sqlitePragmas: readers do not wait for the writer, a writer waits for another,
// and a commit is not fsynced, because every table can be built again from the log.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=temp_store(MEMORY)&_txlock=immediate"

const (
	sqliteConnections   = 8
	postgresConnections = 16
)

// DB is a database of read models. It is named here so that cmd need not import bun.
type DB = bun.DB

// Open opens a database of read models, "sqlite:PATH" or "postgres://…", and returns an
// error when it does not answer. A SQLite file is created if it is missing.
func Open(ctx context.Context, address string) (*bun.DB, error) {
	db, err := open(address)
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close() // the ping's error says more
		return nil, fmt.Errorf("database %s does not answer: %w", redacted(address), err)
	}
	return db, nil
}

// OpenForReading is Open of a database that is there and is not changed.
func OpenForReading(ctx context.Context, address string) (*bun.DB, error) {
	var db *bun.DB
	var err error
	if path, local := strings.CutPrefix(address, "sqlite:"); local {
		db, err = database.SQLiteForReading(part, path, sqliteConnections)
	} else {
		db, err = openPostgres(address, database.PostgresForReading)
	}
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close() // the ping's error says more
		return nil, fmt.Errorf("database %s does not answer: %w", redacted(address), err)
	}
	return db, nil
}

// part is what users are told is away (database.UnavailableError).
const part = "the database of read models"

func open(address string) (*bun.DB, error) {
	if path, local := strings.CutPrefix(address, "sqlite:"); local {
		return database.SQLite(part, path, sqlitePragmas, sqliteConnections)
	}
	return openPostgres(address, database.Postgres)
}

func openPostgres(address string, open func(part, address string, connections int) (*bun.DB, error)) (*bun.DB, error) {
	if scheme, _, _ := strings.Cut(address, ":"); scheme == "postgres" || scheme == "postgresql" {
		return open(part, address, postgresConnections)
	}
	return nil, fmt.Errorf("database %q: say sqlite:PATH or postgres://…", redacted(address))
}

// redacted is an address without its password.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		scheme, _, _ := strings.Cut(address, ":")
		return scheme + ":…"
	}
	return u.Redacted()
}
