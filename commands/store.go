package commands

import (
	"context"
	"errors"
	"fmt"

	"reckon/domain/event"
)

// Store is the log as commands need it: one stream at a time. Every method returns
// ErrUnavailable when the log cannot be reached or does not answer in time, and ErrCancelled when the caller's context is cancelled.
type Store interface {
	// Enter waits for this process's other writers of the stream to leave; leave must
	// be called when done. It saves appends that would conflict; what decides is the
	// expected revision.
	Enter(ctx context.Context, stream string) (leave func(), err error)
	// States are the states that this process keeps between commands.
	States() *States
	// Read returns the whole stream, oldest first; a stream that was never
	// written has no events and revision event.NoStream.
	Read(ctx context.Context, stream string) (History, error)
	// ReadFrom is Read of up to count events from the event of a revision on. What the stream does not hold (any
	// more) is left out: a stream that was truncated begins later, one that ends before that revision has no events.
	ReadFrom(ctx context.Context, stream string, from event.Revision, count int) (History, error)
	// Event returns one event by its revision; an error if the stream does not hold it.
	Event(ctx context.Context, stream string, revision event.Revision) (event.Recorded, error)
	// Append writes all events or none, directly after the revision given. It returns
	// ErrConflict when the stream's last event has another revision. An append that
	// stands in the log already, by its event ids, succeeds again; the payloads are
	// not compared.
	Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (Appended, error)
}

// History is one stream as it was read.
type History struct {
	Events   []event.Recorded // oldest first
	Revision event.Revision   // of the last event; event.NoStream without one
}

// Domain returns the events without ids and metadata, for a fold.
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
	// ErrCancelled means that the caller no longer waits for the answer; whether an append happened is unknown. It is
	// context.Canceled to errors.Is, for those who do not know commands.
	ErrCancelled error = cancelled{}
)

type cancelled struct{}

func (cancelled) Error() string { return "the call was cancelled" }

// Is is for errors.Is.
func (cancelled) Is(target error) bool { return target == context.Canceled } //nolint:errorlint // as errors.Is asks

// Unanswered is the error of a call to the log that has no answer, with its cause: ErrCancelled where the caller's context was
// cancelled, and else ErrUnavailable.
func Unanswered(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%w: %w", ErrCancelled, cause)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, cause)
}

// IsAway tells whether an error says that the log, or another part that a command needs, cannot be reached now.
func IsAway(err error) bool {
	_, part := errors.AsType[interface {
		error
		UnavailablePart() string
	}](err)
	return part || errors.Is(err, ErrUnavailable)
}
