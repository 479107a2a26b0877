package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"reckon/commands"
)

// isOutage tells whether an error says that the log, a database or the store of blobs is away, and not that it
// refuses something. So do time-outs and broken connections.
func isOutage(err error) bool {
	var network net.Error
	var coded interface{ SQLState() string }
	switch {
	case commands.IsAway(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.As(err, &network):
		return true
	case errors.As(err, &coded):
		// PostgreSQL, appendix A: 08 connection exception, 53 insufficient resources, 57P operator intervention
		state := coded.SQLState()
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "53") || strings.HasPrefix(state, "57P")
	}
	return false
}
