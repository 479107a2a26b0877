package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun/driver/sqliteshim"

	"reckon/internal/private"
)

// SQLite returns a pool of connections to a file, which is created for this user only if it is missing.
// pragmas are the query of the driver's address: "_pragma=…&_txlock=…".
func SQLite(part, path, pragmas string) (*sql.DB, error) {
	if path == "" {
		return nil, fmt.Errorf("%s: the address names no file: say sqlite:PATH", part)
	}
	if err := private.MakeFile(path); err != nil { // SQLite gives its journals the same mode
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	file := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + pragmas
	return sql.OpenDB(&connector{part, fileConnector(file)}), nil
}

// Postgres returns a pool of connections to a PostgreSQL database.
func Postgres(part, address string) (*sql.DB, error) { return PostgresSchema(part, address, "") }

// PostgresSchema is Postgres where tables are looked for and made in one schema and nowhere else; "" is the server's own search path.
func PostgresSchema(part, address, schema string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // bun writes its arguments into the statement
	if schema != "" {
		config.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	}
	return sql.OpenDB(&connector{part, stdlib.GetConnector(*config, stdlib.OptionAfterConnect(withoutJIT))}), nil
}

// withoutJIT keeps the server from compiling a connection's queries: that takes longer than any of ours runs.
func withoutJIT(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SET jit = off")
	return err
}

// fileConnector connects to a SQLite file by its address.
type fileConnector string

func (c fileConnector) Connect(context.Context) (driver.Conn, error) {
	return sqliteshim.Driver().Open(string(c))
}

func (fileConnector) Driver() driver.Driver { return sqliteshim.Driver() }
