package database

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

// RequestLimit is how long one call of a request may take in all: waiting for a connection of the pool, making one, the
// statement with its rows, a transaction from its beginning to its end. Then its error is an *UnavailableError.
// It is also how long making a connection may take, and waiting for a lock of SQLite, for whoever calls.
const RequestLimit = 5 * time.Second

type requestKey struct{}

// OfRequest returns the context of a request, whose calls have RequestLimit each. What works in the background
// waits until a database answers.
func OfRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, true)
}

// limitCalls is bun's hook before every call.
type limitCalls struct{ part string }

func (l limitCalls) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context {
	if ctx.Value(requestKey{}) == nil {
		return ctx
	}
	limited, release := context.WithTimeoutCause(ctx, RequestLimit, &UnavailableError{l.part, context.DeadlineExceeded})
	return callContext{limited, release}
}

func (limitCalls) AfterQuery(context.Context, *bun.QueryEvent) {}

// callContext is the context of one call. It says which part did not answer: database/sql returns Err where the pool has no connection
// to give.
type callContext struct {
	context.Context
	// release is not called: rows are read, and transactions go on, after the hook. The request's end releases the timer.
	release context.CancelFunc
}

func (c callContext) Err() error {
	err := c.Context.Err()
	if away, ok := context.Cause(c.Context).(*UnavailableError); ok && err != nil { //nolint:errorlint // this very cause
		return away
	}
	return err
}
