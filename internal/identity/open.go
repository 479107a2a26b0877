package identity

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/uptrace/bun"

	"reckon/internal/database"
)

// sqlitePragmas: every commit is synced, because these tables cannot be built
// again; that is why they are in a file of their own, apart from the read models. What is deleted is overwritten (secure_delete): a
// closed account's address is not left in free pages.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=secure_delete(ON)&_txlock=immediate"

const maxConnections = 8

// Where says where the identity tables are.
type Where struct {
	Address string // "sqlite:PATH" or "postgres://…"
	Schema  string // of PostgreSQL, which holds nothing else; made if it is missing
	Logger  *slog.Logger
}

// Open opens the identity tables and migrates them.
func Open(ctx context.Context, w Where) (*bun.DB, error) {
	db, err := connect(w)
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil { // also switches a new SQLite file to WAL before anyone shares it
		_ = db.Close() // the ping's error says more
		return nil, fmt.Errorf("identity database does not answer: %w", err)
	}
	if err := migrate(ctx, db, w); err != nil {
		_ = db.Close() // likewise
		return nil, err
	}
	return db, nil
}

// part is what users are told is away (database.UnavailableError).
const part = "the database of identities"

func connect(w Where) (*bun.DB, error) {
	switch scheme, rest, _ := strings.Cut(w.Address, ":"); scheme {
	case "sqlite":
		return database.SQLite(part, rest, sqlitePragmas, maxConnections)
	case "postgres", "postgresql":
		if w.Schema == "" {
			return nil, fmt.Errorf("identity database: PostgreSQL without a schema") // a mistake of the caller's
		}
		return database.PostgresSchema(part, w.Address, w.Schema, maxConnections)
	}
	return nil, fmt.Errorf("identity database: say sqlite:PATH or postgres://…")
}
