package commands

import (
	"context"
	"errors"

	"reckon/domain/event"
)

// Store is the log as commands need it: one stream at a time.
type Store interface {
	// Enter queues behind this process's other writers of the stream; call leave when done.
	// It only saves wasted appends: what decides is the expected revision.
	Enter(ctx context.Context, stream string) (leave func(), err error)
	// Read returns the whole stream, oldest first; a stream that was never
	// written has no events and revision event.NoStream.
	Read(ctx context.Context, stream string) (History, error)
	// Append writes all events or none, at exactly the revision given. It returns
	// ErrConflict when the stream has moved on. A replay of an append that had
	// succeeded succeeds again (event ids are compared, payloads are not).
	Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (Appended, error)
}

// History is one stream as read.
type History struct {
	Events   []event.Recorded
	Revision event.Revision // of the last event
}

// Domain returns the events alone, for a fold.
func (h History) Domain() []event.Event { return event.Events(h.Events) }

// Last is the last event's position, the zero position of an empty stream.
func (h History) Last() event.Position {
	if len(h.Events) == 0 {
		return event.Position{}
	}
	return h.Events[len(h.Events)-1].Position
}

// Appended tells where the last event of an append stands.
type Appended struct {
	Revision event.Revision
	Position event.Position
}

var (
	// ErrConflict means that the stream was not at the expected revision.
	ErrConflict = errors.New("the stream has moved on")
	// ErrUnavailable means that the log cannot be reached or did not answer in
	// time; whether an append happened is unknown. Retry later.
	ErrUnavailable = errors.New("the event log is unavailable; retry in a moment")
)
