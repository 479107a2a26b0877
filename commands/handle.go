package commands

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Before the second attempt a writer waits between 0 and twice firstBackoff; the
// range doubles with every attempt, up to twice maxBackoff.
const (
	firstBackoff = time.Millisecond
	maxBackoff   = 50 * time.Millisecond
)

// Handle is the one append loop: read, fold, decide, append at the revision
// read, and again when another writer was first, until the context's deadline.
// It returns the state after the stream's last event and that event's position,
// also with a refusal; with any other error it returns neither.
//
// Writers of one stream within this process queue behind each other, so that a
// busy stream costs waiting and not wasted appends; across processes the store
// decides and the loser waits a random while.
func Handle[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, in Intent, command C) (S, event.Position, error) {
	h, err := handle(ctx, store, d, stream, in, command)
	return h.state, h.at, err
}

// handled is what a command led to.
type handled[S any] struct {
	state    S              // after the stream's last event
	at       event.Position // of that event
	appended bool           // by this command; false: it was already so
}

// handle is Handle for those who must know whether it was their command.
func handle[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, in Intent, command C) (handled[S], error) {
	leave, err := store.Enter(ctx, stream)
	if err != nil {
		return handled[S]{}, errors.Join(ErrUnavailable, err)
	}
	defer leave()
	pause := backoff.ExponentialBackOff{InitialInterval: firstBackoff, RandomizationFactor: 1, Multiplier: 2, MaxInterval: maxBackoff}
	for {
		history, err := store.Read(ctx, stream)
		if err != nil {
			return handled[S]{}, err
		}
		state := d.Fold(history.Domain())
		events, err := d.Decide(command, state)
		if err != nil || len(events) == 0 {
			return handled[S]{state: state, at: history.Last()}, err
		}
		appended, err := store.Append(ctx, stream, history.Revision, in.Propose(events))
		switch {
		case err == nil:
			return handled[S]{state: d.FoldFrom(state, events), at: appended.Position, appended: true}, nil
		case !errors.Is(err, ErrConflict):
			return handled[S]{}, err
		}
		select {
		case <-ctx.Done():
			return handled[S]{}, errors.Join(ErrUnavailable, ErrConflict, ctx.Err())
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// Create is Handle for a stream that should not exist yet: it appends without
// reading first, and only a stream that does exist is read after all.
func Create[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, in Intent, command C) (S, event.Position, error) {
	var none S
	state := d.Initial()
	events, err := d.Decide(command, state)
	if err != nil {
		return none, event.Position{}, err
	}
	appended, err := store.Append(ctx, stream, event.NoStream, in.Propose(events))
	switch {
	case err == nil:
		return d.FoldFrom(state, events), appended.Position, nil
	case errors.Is(err, ErrConflict):
		return Handle(ctx, store, d, stream, in, command)
	}
	return none, event.Position{}, err
}
