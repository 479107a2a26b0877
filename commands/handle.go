package commands

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// firstBackoff is the longest wait before the second attempt; it doubles up to maxBackoff.
const (
	firstBackoff = 2 * time.Millisecond
	maxBackoff   = 100 * time.Millisecond
)

// Handle is the one append loop: read, fold, decide, append at the revision
// read, and again when another writer was first, until the context's deadline.
// It returns the state after the stream's last event and that event's position.
//
// Writers of one stream within this process queue behind each other, so that a
// busy stream costs waiting and not wasted appends; across processes the store
// decides and the loser waits a random while.
func Handle[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, in Intent, command C) (S, event.Position, error) {
	var none S
	leave, err := store.Enter(ctx, stream)
	if err != nil {
		return none, event.Position{}, errors.Join(ErrUnavailable, err)
	}
	defer leave()
	backoff := firstBackoff
	for {
		history, err := store.Read(ctx, stream)
		if err != nil {
			return none, event.Position{}, err
		}
		state := d.Fold(history.Domain())
		events, err := d.Decide(command, state)
		if err != nil || len(events) == 0 {
			return state, history.Last(), err
		}
		appended, err := store.Append(ctx, stream, history.Revision, in.Propose(events))
		switch {
		case err == nil:
			return d.FoldFrom(state, events), appended.Position, nil
		case !errors.Is(err, ErrConflict):
			return none, event.Position{}, err
		}
		select {
		case <-ctx.Done():
			return none, event.Position{}, errors.Join(ErrUnavailable, ErrConflict, ctx.Err())
		case <-time.After(rand.N(backoff)):
			backoff = min(2*backoff, maxBackoff)
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
