package database

import (
	"context"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

const (
	// silentInTransaction is after how long PostgreSQL ends a transaction whose client is silent: it may be cut off, and what it has locked
	// would stay locked for ever.
	silentInTransaction = time.Minute
	// silentWithLock is the same for a client that has a Lock, for which every other process waits.
	silentWithLock = 5 * time.Second
)

// Lock returns once the transaction has the lock of a name, which no other has until it ends. SQLite's transactions are alone.
func Lock(ctx context.Context, tx bun.Tx, name string) error {
	if tx.Dialect().Name() != dialect.PG {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = ?; SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", silentWithLock.Milliseconds(), name)
	return err
}

// LongReading lets a transaction that only reads, and so locks nothing, be silent for as long as its client works.
func LongReading(ctx context.Context, tx bun.Tx) error {
	if tx.Dialect().Name() != dialect.PG {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0")
	return err
}
