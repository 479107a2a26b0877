package engine

import (
	"context"
	"iter"

	"reckon/domain/event"
)

// Log is the log as projections follow it. The sequence yields in the log's
// order: an event without Event is not ours, or not among the names given where
// any are, and only its position counts, which may stand for many events; an
// error beside a position is an event that cannot be read (its EventName method
// tells which); an error without one ends the sequence.
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
