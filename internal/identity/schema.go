package identity

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
)

// Times are Unix milliseconds: the same on both dialects, and no driver converts them.

type accountRow struct {
	bun.BaseModel `bun:"table:identity_accounts"`
	ID            string `bun:"id,pk"`     // UUID, the account as the log knows it
	Email         string `bun:"email"`     // as typed
	EmailKey      string `bun:"email_key"` // in lower case: what is unique
	PasswordHash  string `bun:"password_hash"`
	State         string `bun:"state"`
	CreatedAt     int64  `bun:"created_at"`
}

// States of an account's row.
const (
	accountPending = "pending" // account.registered may not be in the log yet
	accountActive  = "active"
)

type sessionRow struct {
	bun.BaseModel `bun:"table:identity_sessions"`
	Hash          string `bun:"hash,pk"` // SHA-256 of the cookie's secret
	Account       string `bun:"account"`
	CreatedAt     int64  `bun:"created_at"`
	ExpiresAt     int64  `bun:"expires_at"`
}

type windowRow struct {
	bun.BaseModel `bun:"table:identity_windows"`
	Key           string `bun:"key,pk"`
	StartedAt     int64  `bun:"started_at"`
	EndsAt        int64  `bun:"ends_at"`
	Used          int    `bun:"used"`
}

type tokenUseRow struct {
	bun.BaseModel `bun:"table:identity_token_use"`
	TokenID       string `bun:"token_id,pk"`
	LastUsedOn    string `bun:"last_used_on"` // UTC day, YYYY-MM-DD
}

// migrations are applied once each, in order; one that has been released is never edited.
var migrations = []string{
	`CREATE TABLE identity_accounts (
		id TEXT PRIMARY KEY, email TEXT NOT NULL, email_key TEXT NOT NULL UNIQUE,
		password_hash TEXT NOT NULL, state TEXT NOT NULL, created_at BIGINT NOT NULL);
	CREATE TABLE identity_sessions (
		hash TEXT PRIMARY KEY, account TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL);
	CREATE INDEX identity_sessions_expiry ON identity_sessions (expires_at);
	CREATE TABLE identity_windows (
		key TEXT PRIMARY KEY, started_at BIGINT NOT NULL, ends_at BIGINT NOT NULL, used BIGINT NOT NULL);
	CREATE INDEX identity_windows_end ON identity_windows (ends_at);
	CREATE TABLE identity_token_use (
		token_id TEXT PRIMARY KEY, last_used_on TEXT NOT NULL);`,
}

// migrationLock is the key of the PostgreSQL advisory lock under which migrations run.
const migrationLock = 0x7265636b6f6e

// migrate brings the tables up to what this binary knows. Processes on one
// PostgreSQL may start at the same time: one migrates, the others find it done.
func migrate(ctx context.Context, db *bun.DB) error {
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if tx.Dialect().Name() == dialect.PG {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", migrationLock); err != nil {
				return fmt.Errorf("identity: lock: %w", err)
			}
		}
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS identity_migrations (version BIGINT PRIMARY KEY)"); err != nil {
			return fmt.Errorf("identity: %w", err)
		}
		var applied int
		if err := tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM identity_migrations").Scan(&applied); err != nil {
			return fmt.Errorf("identity: %w", err)
		}
		for version := applied + 1; version <= len(migrations); version++ {
			if _, err := tx.ExecContext(ctx, migrations[version-1]); err != nil {
				return fmt.Errorf("identity: migration %d: %w", version, err)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO identity_migrations (version) VALUES (?)", version); err != nil {
				return fmt.Errorf("identity: migration %d: %w", version, err)
			}
		}
		return nil
	})
}
