package engine

import (
	"context"
	"iter"

	"reckon/domain/event"
)

// Log is the log that projections follow. SubscribeAll yields in the log's order. A
// Recorded without Event is of another type than those named, or none of this service's; its
// position may cover many events. An error with a position is an event that cannot be
// decoded (its method EventName returns the type); an error without position ends the sequence.
type Log interface {
	SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
	Event(ctx context.Context, stream string, revision event.Revision) (event.Recorded, error)
	Head(ctx context.Context) (event.Position, error)
	LogID(ctx context.Context) (string, error)
}

// item is one step of the log.
type item struct {
	recorded event.Recorded
	err      error // why recorded has no Event, when it should have one
}
