package identity

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/internal/database"
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
	Agent         string `bun:"agent"`        // the client's name, at most maxAgentBytes
	Network       string `bun:"network"`      // the client's IPv4 /24 or IPv6 /48; empty: not known
	LastUsedOn    string `bun:"last_used_on"` // UTC day, YYYY-MM-DD; empty: not since it was opened
}

type windowRow struct {
	bun.BaseModel `bun:"table:identity_windows"`
	Key           string `bun:"key,pk"`
	StartedAt     int64  `bun:"started_at"`
	EndsAt        int64  `bun:"ends_at"`
	Used          int    `bun:"used"`
}

// placeRow is the place that a session of an account takes of those on its plan.
type placeRow struct {
	bun.BaseModel `bun:"table:identity_places"`
	Account       string `bun:"account,pk"`
	SessionID     string `bun:"session_id,pk"`
	TakenAt       int64  `bun:"taken_at"`
	Opened        bool   `bun:"opened"` // the log has it; false: it is about to be opened
}

type tokenUseRow struct {
	bun.BaseModel `bun:"table:identity_token_use"`
	TokenID       string `bun:"token_id,pk"`
	LastUsedOn    string `bun:"last_used_on"` // UTC day, YYYY-MM-DD
}

// migration is a change of the tables: on both dialects, then on PostgreSQL only.
type migration struct{ both, postgres string }

// migrations are applied once each, in order; one that has been released is never edited.
var migrations = []migration{
	{both: `CREATE TABLE identity_accounts (
		id TEXT PRIMARY KEY, email TEXT NOT NULL, email_key TEXT NOT NULL UNIQUE,
		password_hash TEXT NOT NULL, state TEXT NOT NULL, created_at BIGINT NOT NULL);
	CREATE TABLE identity_sessions (
		hash TEXT PRIMARY KEY, account TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL);
	CREATE INDEX identity_sessions_expiry ON identity_sessions (expires_at);
	CREATE TABLE identity_windows (
		key TEXT PRIMARY KEY, started_at BIGINT NOT NULL, ends_at BIGINT NOT NULL, used BIGINT NOT NULL);
	CREATE INDEX identity_windows_end ON identity_windows (ends_at);
	CREATE TABLE identity_token_use (
		token_id TEXT PRIMARY KEY, last_used_on TEXT NOT NULL);`},
	// Counters are not worth a write to the disk each: after a crash of PostgreSQL every window begins anew.
	{
		both: `CREATE TABLE identity_salts (name TEXT PRIMARY KEY, salt TEXT NOT NULL);
		CREATE TABLE identity_places (
			account TEXT NOT NULL, session_id TEXT NOT NULL, taken_at BIGINT NOT NULL, opened BOOLEAN NOT NULL,
			PRIMARY KEY (account, session_id));`,
		postgres: `ALTER TABLE identity_windows SET UNLOGGED;`,
	},
	{both: `ALTER TABLE identity_sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
		ALTER TABLE identity_sessions ADD COLUMN network TEXT NOT NULL DEFAULT '';
		ALTER TABLE identity_sessions ADD COLUMN last_used_on TEXT NOT NULL DEFAULT '';
		CREATE INDEX identity_sessions_account ON identity_sessions (account);`},
	{both: oauthTables},
	{both: `ALTER TABLE identity_oauth_clients ADD COLUMN scopes TEXT NOT NULL DEFAULT '';`},
}

// migrate brings the tables up to what this binary knows. Processes on one
// PostgreSQL may start at the same time: one migrates, the others find it done.
func migrate(ctx context.Context, db *bun.DB, w Where) error {
	return db.RunInTx(database.Unlimited(ctx), nil, func(ctx context.Context, tx bun.Tx) error {
		if err := database.Lock(ctx, tx, "tables of identities"); err != nil {
			return fmt.Errorf("identity: lock: %w", err)
		}
		if tx.Dialect().Name() == dialect.PG {
			if err := makeSchema(ctx, tx, w); err != nil {
				return err
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
			if err := migrations[version-1].apply(ctx, tx); err != nil {
				return fmt.Errorf("identity: migration %d: %w", version, err)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO identity_migrations (version) VALUES (?)", version); err != nil {
				return fmt.Errorf("identity: migration %d: %w", version, err)
			}
		}
		return nil
	})
}

func (m migration) apply(ctx context.Context, tx bun.Tx) error {
	if _, err := tx.ExecContext(ctx, m.both); err != nil || m.postgres == "" || tx.Dialect().Name() != dialect.PG {
		return err
	}
	_, err := tx.ExecContext(ctx, m.postgres)
	return err
}

// makeSchema makes the schema if it is missing, and moves tables into it that lie among the read models.
func makeSchema(ctx context.Context, tx bun.Tx, w Where) error {
	var found, here, misplaced bool
	// From the catalogue, which everyone may read: the user may have no right to use public.
	err := tx.QueryRowContext(ctx, `WITH tables AS (SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'identity_migrations')
		SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?), EXISTS (SELECT 1 FROM tables WHERE nspname = ?), EXISTS (SELECT 1 FROM tables WHERE nspname = 'public')`,
		w.Schema, w.Schema).Scan(&found, &here, &misplaced)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	if !found { // not IF NOT EXISTS, which needs the right to create schemas even where there is one
		if _, err := tx.ExecContext(ctx, "CREATE SCHEMA ?", bun.Ident(w.Schema)); err != nil {
			return fmt.Errorf("identity: schema %[1]s: %[2]w; let an administrator run CREATE SCHEMA %[1]s AUTHORIZATION and the service's user", w.Schema, err)
		}
	}
	if here || !misplaced {
		return nil
	}
	for _, table := range []string{"identity_accounts", "identity_sessions", "identity_windows", "identity_token_use", "identity_migrations"} {
		if _, err := tx.ExecContext(ctx, "ALTER TABLE public.? SET SCHEMA ?", bun.Ident(table), bun.Ident(w.Schema)); err != nil {
			return fmt.Errorf("identity: move %s into schema %s: %w", table, w.Schema, err)
		}
	}
	w.Logger.Info("the identity tables were moved out of the schema of the read models", "schema", w.Schema)
	return nil
}
