package database

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

const (
	// silentInTransaction is after how long PostgreSQL ends a transaction whose client is silent: it may be cut off or frozen, and
	// others wait for the rows that it has changed.
	silentInTransaction = 10 * time.Second
	// silentWithLock is the same for a client that has a Lock, for which every other process waits.
	silentWithLock = 5 * time.Second
	// lockPatience is how long a transaction waits for a Lock. Of many that were cut off while they waited each has the lock in its turn and
	// is silent then: all but the first have given up.
	lockPatience = silentWithLock + 2*time.Second
)

// Lock returns once the transaction has the lock of a name, which no other has until it ends. SQLite's transactions are alone. Its error is an
// *UnavailableError where another has the lock for longer than lockPatience.
func Lock(ctx context.Context, tx bun.Tx, name string) error {
	if tx.Dialect().Name() != dialect.PG {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = ?; SET LOCAL lock_timeout = ?; SELECT pg_advisory_xact_lock(hashtextextended(?, 0)); SET LOCAL lock_timeout TO DEFAULT",
		silentWithLock.Milliseconds(), lockPatience.Milliseconds(), name)
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

// EndSilent ends the transactions that keep a lock or have changed a row while the server waits for their client in the middle of a statement: for
// the rows of a COPY, or for room for its answer. PostgreSQL bounds no such wait. It returns how many there were. SQLite has none.
func EndSilent(ctx context.Context, db bun.IDB) (ended int, err error) {
	if db.Dialect().Name() != dialect.PG {
		return 0, nil
	}
	err = db.NewRaw(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity AS a
		WHERE datname = current_database() AND usename = current_user AND state = 'active' AND wait_event IN ('ClientRead', 'ClientWrite')
		AND query_start < clock_timestamp() - ? * interval '1 millisecond'
		AND (backend_xid IS NOT NULL OR EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND l.locktype = 'advisory' AND l.granted))`, silentInTransaction.Milliseconds()).Scan(ctx, &ended)
	return ended, err
}

// Times after which the server takes a client for gone that does not answer on the way to it, and a client the server. Neither tells a process that
// is frozen: its machine answers.
const (
	firstKeepalive = 15 * time.Second // without anything received
	keepalivePause = 5 * time.Second
	keepalives     = 3
	// unacknowledged is how long what was sent may wait for its receipt.
	unacknowledged = firstKeepalive + keepalives*keepalivePause
)

// settings are those of every connection to PostgreSQL. They keep the server from compiling a connection's queries, which takes longer than any of
// ours runs, and from keeping what a client holds that is gone or silent.
func settings() string {
	return fmt.Sprintf("SET jit = off; SET idle_in_transaction_session_timeout = %d; SET tcp_user_timeout = %d; SET tcp_keepalives_idle = %d; SET tcp_keepalives_interval = %d; SET tcp_keepalives_count = %d",
		silentInTransaction.Milliseconds(), unacknowledged.Milliseconds(), int(firstKeepalive.Seconds()), int(keepalivePause.Seconds()), keepalives)
}
