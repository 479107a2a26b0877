package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"reckon/domain/decider"
	"reckon/domain/event"
	"reckon/internal/tracing"
)

// The wait after a conflict is random: between 0 and twice firstBackoff after the
// first; the range doubles with each further one, up to twice maxBackoff.
const (
	firstBackoff = time.Millisecond
	maxBackoff   = 50 * time.Millisecond
)

// StreamError says which stream could not be read or appended to, after how many
// append attempts, and why, in one line. It is an ErrUnavailable when the same
// command may succeed later, and an ErrCancelled when the caller no longer waits.
type StreamError struct {
	Stream   string
	Attempts int // appends that were tried; 0: it failed before the first
	Cause    error
}

func (e *StreamError) Error() string {
	return fmt.Sprintf("stream %s, after %d append attempts: %v", e.Stream, e.Attempts, e.Cause)
}

// Unwrap is the cause.
func (e *StreamError) Unwrap() error { return e.Cause }

// Handle is the one append loop: read, fold, decide, append at the revision
// read, and again when another writer was first, until the context's deadline.
// Of a stream whose state is kept (decider.Decider.StateBytes) only the events
// since are read and folded; whatever is decided, is decided on all of the log.
// It returns the state after the stream's last event and that event's position,
// also with a refusal, which is the decider's own error; with any other error, a
// StreamError, it returns neither.
//
// Writers of one stream within this process queue behind each other, so that a
// busy stream costs waiting and not wasted appends; across processes the store
// decides and the loser waits a random while.
func Handle[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, in Intent, command C) (S, event.Position, error) {
	h, err := handle(ctx, store, d, stream, in, command)
	return h.state, h.at, err
}

// handled is the result of a command.
type handled[S any] struct {
	snapshot[S]      // of the stream's last event
	appended    bool // this command appended; false: the state was already as the command wants it
}

// handle is Handle for callers that must know whether this command appended.
func handle[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, in Intent, command C) (handled[S], error) {
	return handleFrom(ctx, store, d, stream, nil, in, command)
}

// handleFrom is handle for callers that have read the stream already: the first
// attempt decides on known, and the stream is read only after a conflict. With
// known nil it is read first.
func handleFrom[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, known *snapshot[S], in Intent, command C) (h handled[S], err error) {
	ctx, span := beginCommand(ctx, stream, command)
	defer func() { endCommand(span, h.appended, err) }()
	attempts := 0
	failed := func(cause error) (handled[S], error) {
		return handled[S]{}, &StreamError{Stream: stream, Attempts: attempts, Cause: cause}
	}
	leave, err := store.Enter(ctx, stream)
	if err != nil {
		return failed(Unanswered(ctx, fmt.Errorf("waiting for this process's other writers: %w", err)))
	}
	defer leave()
	for pause := (&backoff.ExponentialBackOff{InitialInterval: firstBackoff, RandomizationFactor: 1, Multiplier: 2, MaxInterval: maxBackoff}); ; {
		if known == nil {
			read, err := readSnapshot(ctx, store, d, stream)
			if err != nil {
				return failed(errors.Unwrap(err))
			}
			known = &read
		}
		events, err := d.Decide(command, known.state)
		if err != nil || len(events) == 0 {
			return handled[S]{snapshot: *known}, err
		}
		appended, err := store.Append(ctx, stream, known.revision, in.Propose(stream, events))
		attempts++
		switch {
		case err == nil:
			after := snapshot[S]{state: d.FoldFrom(known.state, events), revision: appended.Revision, at: appended.Position}
			return handled[S]{snapshot: after, appended: true}, nil
		case !errors.Is(err, ErrConflict):
			return failed(err)
		}
		known = nil
		select {
		case <-ctx.Done():
			return failed(Unanswered(ctx, fmt.Errorf("%w: %w", ErrConflict, ctx.Err())))
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// Create is Handle for a stream that should not exist yet: it appends without
// reading first, and only a stream that does exist is read after all. Its errors
// are Handle's.
func Create[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, in Intent, command C) (S, event.Position, error) {
	var none S
	state := d.Initial()
	events, err := d.Decide(command, state)
	if err != nil {
		return none, event.Position{}, err
	}
	spanned, span := beginCommand(ctx, stream, command)
	appended, err := store.Append(spanned, stream, event.NoStream, in.Propose(stream, events))
	endCommand(span, err == nil, err)
	switch {
	case err == nil:
		return d.FoldFrom(state, events), appended.Position, nil
	case errors.Is(err, ErrConflict):
		return Handle(ctx, store, d, stream, in, command)
	}
	return none, event.Position{}, &StreamError{Stream: stream, Attempts: 1, Cause: err}
}

// beginCommand begins the span of a command on one stream.
func beginCommand(ctx context.Context, stream string, command any) (context.Context, tracing.Span) {
	kind := tracing.TypeName(command)
	ctx, span := tracing.Below(ctx, tracing.Command, kind)
	if span.Recording() {
		category, _, _ := strings.Cut(stream, "-")
		span.Set(tracing.Text(tracing.CommandKind, kind), tracing.Text(tracing.StreamCategory, category))
	}
	return ctx, span
}

func endCommand(span tracing.Span, appended bool, err error) {
	if span.Recording() {
		outcome := "unchanged"
		_, unanswered := errors.AsType[*StreamError](err)
		switch {
		case errors.Is(err, ErrCancelled):
			outcome = "cancelled"
		case unanswered:
			outcome = "unavailable"
			span.Fail()
		case errors.Is(err, ErrConflict):
			outcome = "conflict"
		case err != nil:
			outcome = "refused"
		case appended:
			outcome = "appended"
		}
		span.Set(tracing.Text(tracing.Outcome, outcome))
	}
	span.End()
}
