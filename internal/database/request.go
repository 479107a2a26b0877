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

// backgroundLimit is the same for calls to PostgreSQL of what works in the background. It tries again, on another connection: one that a
// firewall or a proxy has forgotten never answers.
const backgroundLimit = 30 * time.Second

type limitKey struct{}

// OfRequest returns the context of a request, whose calls have RequestLimit each. What works in the background waits until a database answers:
// its calls to PostgreSQL have backgroundLimit each.
func OfRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, limitKey{}, RequestLimit)
}

// Unlimited returns the context of calls that take as long as a table is large.
func Unlimited(ctx context.Context) context.Context {
	return context.WithValue(ctx, limitKey{}, time.Duration(0))
}

// limitCalls is bun's hook before every call.
type limitCalls struct {
	part       string
	background time.Duration // limit of what is no request; 0: none
}

// limited returns the context of one call.
func (l limitCalls) limited(ctx context.Context) context.Context {
	limit, said := ctx.Value(limitKey{}).(time.Duration)
	if !said {
		limit = l.background
	}
	if limit == 0 {
		return ctx
	}
	bounded, release := context.WithTimeoutCause(ctx, limit, &UnavailableError{l.part, context.DeadlineExceeded})
	return callContext{bounded, release}
}

func (l limitCalls) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context {
	return l.limited(ctx)
}

// AfterQuery releases the timer of a statement that returns no rows, and of a transaction that has ended. Rows may be read, and transactions go
// on, after the hook: their timer ends with the caller's context, or runs out.
func (limitCalls) AfterQuery(ctx context.Context, e *bun.QueryEvent) {
	if call, is := ctx.(callContext); is && (e.IQuery != nil && e.IQuery.Operation() != "SELECT" || e.Query == "COMMIT" || e.Query == "ROLLBACK") {
		call.release()
		if begun, is := call.Context.Value(callKey{}).(callContext); is && e.IQuery == nil {
			begun.release()
		}
	}
}

// callContext is the context of one call. It says which part did not answer: database/sql returns Err where the pool has no connection
// to give.
type callContext struct {
	context.Context
	release context.CancelFunc
}

// callKey is the key of the callContext within which a context is.
type callKey struct{}

func (c callContext) Value(key any) any {
	if _, is := key.(callKey); is {
		return c
	}
	return c.Context.Value(key)
}

func (c callContext) Err() error {
	err := c.Context.Err()
	if away, ok := context.Cause(c.Context).(*UnavailableError); ok && err != nil { //nolint:errorlint // this very cause
		return away
	}
	return err
}
