package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/driver/sqliteshim"
	"github.com/uptrace/bun/schema"

	"reckon/internal/private"
)

// SQLite returns a pool of at most so many connections to a file, which is created for this user only if it is missing.
// pragmas are the query of the driver's address, "_pragma=…&_txlock=…", but for busy_timeout.
func SQLite(part, path, pragmas string, connections int) (*bun.DB, error) {
	if path == "" {
		return nil, fmt.Errorf("%s: the address names no file: say sqlite:PATH", part)
	}
	if err := private.MakeFile(path); err != nil { // SQLite gives its journals the same mode
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	file := fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&%s", (&url.URL{Path: path}).EscapedPath(), RequestLimit.Milliseconds(), pragmas)
	return pool(&connector{part: part, Connector: fileConnector(file), locks: true}, sqlitedialect.New(), connections), nil
}

// SQLiteForReading returns a pool of connections to a file that is there and that they do not change. Where nothing lies beside the
// file that says that somebody has it open, it is read as it is, so that it may lie in a folder that cannot be written.
func SQLiteForReading(part, path string, connections int) (*bun.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	still := ""
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		still = "&immutable=1"
	}
	file := fmt.Sprintf("file:%s?mode=ro&_pragma=busy_timeout(%d)&_txlock=deferred%s", (&url.URL{Path: path}).EscapedPath(), RequestLimit.Milliseconds(), still)
	return pool(&connector{part: part, Connector: fileConnector(file), locks: true}, sqlitedialect.New(), connections), nil
}

// idleTime is how long a connection that nothing uses stays open: calls that follow each other share it, and a process at rest has none.
const idleTime = 5 * time.Second

// pool makes connections; calls of requests are limited in time (OfRequest). By default database/sql keeps two idle connections and makes the others
// anew for each call.
func pool(c *connector, dialect schema.Dialect, connections int) *bun.DB {
	connecting := sql.OpenDB(c)
	connecting.SetMaxOpenConns(connections)
	connecting.SetMaxIdleConns(connections)
	connecting.SetConnMaxIdleTime(idleTime)
	return bun.NewDB(connecting, dialect).WithQueryHook(limitCalls{c.part, c.limit})
}

// Postgres returns a pool of at most so many connections to a PostgreSQL database.
func Postgres(part, address string, connections int) (*bun.DB, error) {
	return PostgresSchema(part, address, "", connections)
}

// PostgresSchema is Postgres where tables are looked for and made in one schema and nowhere else; "" is the server's own search path.
func PostgresSchema(part, address, namespace string, connections int) (*bun.DB, error) {
	return postgres(connector{part: part, limit: backgroundLimit}, address, namespace, connections)
}

// PostgresForReading is Postgres for a command that reads whole tables, which takes as long as they are large.
func PostgresForReading(part, address string, connections int) (*bun.DB, error) {
	return postgres(connector{part: part}, address, "", connections)
}

func postgres(c connector, address, namespace string, connections int) (*bun.DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.part, err)
	}
	config.DialFunc = dial
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // bun writes its arguments into the statement
	if namespace != "" {
		config.RuntimeParams["search_path"] = pgx.Identifier{namespace}.Sanitize()
	}
	c.Connector = stdlib.GetConnector(*config, stdlib.OptionAfterConnect(settle))
	return pool(&c, pgdialect.New(), connections), nil
}

func settle(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, settings())
	return err
}

// fileConnector connects to a SQLite file by its address.
type fileConnector string

func (c fileConnector) Connect(context.Context) (driver.Conn, error) {
	return sqliteshim.Driver().Open(string(c))
}

func (fileConnector) Driver() driver.Driver { return sqliteshim.Driver() }
