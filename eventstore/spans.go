package eventstore

import (
	"context"
	"errors"
	"strings"

	"reckon/commands"
	"reckon/internal/tracing"
)

// beginAppend begins the span of an append. Of the stream it has the category only: the names of some streams hold an account.
func beginAppend(ctx context.Context, stream string, events int) (context.Context, tracing.Span) {
	category, _, _ := strings.Cut(stream, "-")
	ctx, span := tracing.Below(ctx, tracing.Append, category)
	span.Set(tracing.Text(tracing.StreamCategory, category), tracing.Int(tracing.Events, int64(events)))
	return ctx, span
}

func endAppend(span tracing.Span, appended commands.Appended, err error) {
	outcome := "ok"
	switch {
	case err == nil:
		span.Set(tracing.Int(tracing.Revision, int64(appended.Revision)))
	case errors.Is(err, commands.ErrConflict):
		outcome = "conflict"
	case errors.Is(err, commands.ErrCancelled):
		outcome = "cancelled"
	case errors.Is(err, commands.ErrUnavailable):
		outcome = "unavailable"
		span.Fail()
	default:
		outcome = "refused"
		span.Fail()
	}
	span.Set(tracing.Text(tracing.Outcome, outcome))
	span.End()
}
