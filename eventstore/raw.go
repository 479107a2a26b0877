package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"reckon/domain/event"
)

// RawStream returns up to count events of a stream as they are stored, from a revision on; what the stream does not hold is left out.
func (s *Store) RawStream(ctx context.Context, stream string, from event.Revision, count int) ([]Raw, error) {
	if from < 0 || count < 1 {
		return nil, fmt.Errorf("read %d events of %s from revision %d: say 1 or more, from 0 or more", count, stream, from)
	}
	return retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) ([]Raw, error) {
		return readRaw(ctx, client, stream, esdb.Revision(uint64(from)), uint64(count))
	})
}

// Narrow lets the server leave out events of a live subscription: those whose streams' names begin with none of Streams or,
// where that is empty, whose types' names begin with none of Types. The zero value leaves out nothing.
type Narrow struct{ Streams, Types []string }

func (n Narrow) filter() *esdb.SubscriptionFilter {
	switch {
	case len(n.Streams) > 0:
		return &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: n.Streams}
	case len(n.Types) > 0:
		return &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: n.Types}
	}
	return nil
}

// RawAll yields every event after a position as it is stored, those outside the catalogue and the store's own too, up to the
// end the log has when the read reaches it. An error ends the sequence: commands.ErrUnavailable when the server has given nothing for RetryTimeout.
func (s *Store) RawAll(ctx context.Context, after event.Position) iter.Seq2[Raw, error] {
	return s.raws(ctx, RetryTimeout, after, openOnce)
}

// RawLive is RawAll that continues with every event as it is appended, across restarts of the server, until the context ends.
func (s *Store) RawLive(ctx context.Context, after event.Position, narrow Narrow) iter.Seq2[Raw, error] {
	filter := narrow.filter()
	if filter == nil {
		return s.raws(ctx, forEver, after, openLive)
	}
	return s.raws(ctx, forEver, after, func(ctx context.Context, client *esdb.Client, after event.Position) (rawSource, error) {
		return subscribe(ctx, client, esdb.SubscribeToAllOptions{From: allPosition(after), MaxSearchWindow: filterWindow, Filter: filter})
	})
}

func (s *Store) raws(ctx context.Context, patience time.Duration, after event.Position, open openSource) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		var current Raw
		each := func(_ context.Context, _ *sync.WaitGroup, next func() (Raw, error), pass func(event.Recorded, error) bool) (bool, error) {
			for {
				raw, err := next()
				if err != nil {
					return true, err
				}
				current = raw
				if !pass(event.Recorded{Position: raw.Position}, nil) {
					return false, nil
				}
			}
		}
		s.follow(ctx, patience, &after, open, each, func(_ event.Recorded, err error) bool {
			if err != nil {
				return yield(Raw{}, err)
			}
			return current.Name == "" || yield(current, nil) // without a name: how far a filter is
		})
	}
}

// backwardsPage is how many events RawBackwards holds in memory at once.
const backwardsPage = 64

// RawBackwards yields every event of the log as it is stored, newest first. An error ends the sequence.
func (s *Store) RawBackwards(ctx context.Context) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		var from esdb.AllPosition = esdb.End{}
		for {
			page, err := retry(ctx, s.connection, func(ctx context.Context, client *esdb.Client) ([]Raw, error) {
				return readBackwards(ctx, client, from, backwardsPage)
			})
			if err != nil {
				yield(Raw{}, err)
				return
			}
			for _, raw := range page {
				if !yield(raw, nil) {
					return
				}
			}
			if len(page) < backwardsPage {
				return
			}
			oldest := page[len(page)-1].Position
			from = esdb.Position{Commit: oldest.Commit, Prepare: oldest.Prepare}
		}
	}
}

// readBackwards reads up to count events before a position, newest first.
func readBackwards(ctx context.Context, client *esdb.Client, before esdb.AllPosition, count uint64) ([]Raw, error) {
	reader, err := client.ReadAll(ctx, esdb.ReadAllOptions{Direction: esdb.Backwards, From: before}, count)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var raws []Raw
	for {
		resolved, err := reader.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return raws, nil
		case err != nil:
			return nil, err
		}
		raws = append(raws, rawOf(resolved.OriginalEvent()))
	}
}
