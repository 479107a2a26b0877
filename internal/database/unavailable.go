package database

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// UnavailableError is returned when a database does not answer, or answers that it cannot work now.
// Whether a statement or a commit that failed so has taken place is unknown.
type UnavailableError struct {
	Part string // which database, as a user may read it: "the database of read models"
	Err  error  // what the driver said; it may name machines and addresses
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s cannot be reached: %v", e.Part, e.Err)
}

// Unwrap is the driver's error.
func (e *UnavailableError) Unwrap() error { return e.Err }

// UnavailablePart names the part that is away (httpkit.Translate).
func (e *UnavailableError) UnavailablePart() string { return e.Part }

// unavailable tells whether a driver's error means that the database is away rather than that it
// refused a statement.
func unavailable(err error) bool {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return true
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return cannotWorkNow(refused.Code)
	}
	if failed, ok := errors.AsType[interface {
		error
		Code() int
	}](err); ok { // of SQLite
		return sqliteCannotWorkNow(failed.Code())
	}
	_, network := errors.AsType[net.Error](err)
	_, system := errors.AsType[*os.SyscallError](err)
	return network || system || errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// Canceled tells whether PostgreSQL ended a statement because it ran longer than statement_timeout, or on request.
func Canceled(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "57014" // query_canceled
}

// cannotWorkNow tells whether a PostgreSQL error code (PostgreSQL documentation, appendix A) is about the
// server and not about the statement: a broken connection, a client that was silent in a transaction, a lock that another has for too long, no resources left, the server stopping or starting,
// or a server that became a standby.
func cannotWorkNow(code string) bool {
	for _, class := range []string{"08", "25P03", "53", "55P03", "57P", "58"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return code == "25006"
}

// Primary result codes of SQLite (sqlite.org/rescode.html) that are about the file and not about the statement.
const (
	sqliteBusy     = 5
	sqliteLocked   = 6
	sqliteNoMemory = 7
	sqliteReadOnly = 8
	sqliteIOError  = 10
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteProtocol = 15
)

func sqliteCannotWorkNow(code int) bool {
	switch code & 0xff { // the rest of an extended code says more
	case sqliteBusy, sqliteLocked, sqliteNoMemory, sqliteReadOnly, sqliteIOError, sqliteFull, sqliteCantOpen, sqliteProtocol:
		return true
	}
	return false
}
