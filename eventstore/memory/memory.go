// Package memory is a log in memory for the tests of commands and for simulations. It
// keeps the contract of storetest, except that nothing is durable.
//
// Events are encoded and decoded by the codec of the real log: an event that the real
// log refuses is refused here too. The server never uses this package.
package memory

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/transparency"
	"reckon/eventstore"
)

// Store is a log in memory with the catalogue of one binary.
type Store struct {
	eventstore.Queues
	*log
	codec  eventstore.Codec
	states commands.States
}

type log struct {
	id string

	mu         sync.RWMutex
	all        []eventstore.Raw
	streams    map[string][]int // indexes in all
	keepNewest map[string]int   // for streams with such a limit: how many newest events Read returns
	grown      chan struct{}    // closed by the next append
}

// New returns an empty log.
func New(catalogue event.Catalogue) *Store {
	return &Store{
		codec: eventstore.NewCodec(catalogue),
		log:   &log{id: uuid.NewString(), streams: map[string][]int{}, keepNewest: map[string]int{}, grown: make(chan struct{})},
	}
}

// WithCatalogue returns a Store over the same log that decodes with another catalogue,
// as a binary of another version does.
func (s *Store) WithCatalogue(catalogue event.Catalogue) *Store {
	return &Store{codec: eventstore.NewCodec(catalogue), log: s.log}
}

// Append writes all events or none at exactly the revision given.
func (s *Store) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if at < event.NoStream {
		return commands.Appended{}, fmt.Errorf("append to %s at revision %d: say a revision or event.NoStream", stream, at)
	}
	return s.append(ctx, stream, &at, events)
}

// Reserve writes one event at the stream's next revision and returns it.
func (s *Store) Reserve(ctx context.Context, stream string, e event.Proposed) (event.Revision, error) {
	appended, err := s.append(ctx, stream, nil, []event.Proposed{e})
	return appended.Revision, err
}

// append writes the events after revision at, or at the end when at is nil.
func (s *Store) append(ctx context.Context, stream string, at *event.Revision, events []event.Proposed) (commands.Appended, error) {
	if err := ctx.Err(); err != nil {
		return commands.Appended{}, commands.Unanswered(ctx, err)
	}
	if len(events) == 0 {
		return commands.Appended{}, fmt.Errorf("append to %s: no events", stream)
	}
	raws, err := s.codec.Encode(events)
	if err != nil {
		return commands.Appended{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := event.Revision(len(s.streams[stream])) - 1
	if at != nil && *at != last {
		return s.replayed(stream, *at, raws)
	}
	for i, raw := range raws {
		raw.Stream, raw.Revision = stream, last+1+event.Revision(i)
		place := uint64(len(s.all) + 1)
		raw.Position = event.Position{Commit: place, Prepare: place}
		s.streams[stream] = append(s.streams[stream], len(s.all))
		s.all = append(s.all, raw)
	}
	close(s.grown)
	s.grown = make(chan struct{})
	return appended(s.all[len(s.all)-1]), nil
}

// replayed returns the result of an append whose events, by their ids, are in the stream
// already after revision at, or commands.ErrConflict.
func (s *Store) replayed(stream string, at event.Revision, raws []eventstore.Raw) (commands.Appended, error) {
	places := s.streams[stream]
	first := int(at) + 1
	if first > len(places) || first+len(raws) > len(places) {
		return commands.Appended{}, commands.ErrConflict
	}
	for i, raw := range raws {
		if s.all[places[first+i]].ID != raw.ID {
			return commands.Appended{}, commands.ErrConflict
		}
	}
	return appended(s.all[places[first+len(raws)-1]]), nil
}

func appended(last eventstore.Raw) commands.Appended {
	return commands.Appended{Revision: last.Revision, Position: last.Position}
}

// States are the states that commands keep between each other.
func (s *Store) States() *commands.States { return &s.states }

// Read returns the whole stream, oldest first.
func (s *Store) Read(ctx context.Context, stream string) (commands.History, error) {
	return s.ReadFrom(ctx, stream, 0, math.MaxInt)
}

// ReadFrom is Read of up to count events from the event of a revision on; what the stream does not hold is left out.
func (s *Store) ReadFrom(ctx context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	history := commands.History{Revision: event.NoStream}
	if err := ctx.Err(); err != nil {
		return history, commands.Unanswered(ctx, err)
	}
	if from < 0 || count < 1 {
		return history, fmt.Errorf("read %d events of %s from revision %d: say 1 or more, from 0 or more", count, stream, from)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	places := s.streams[stream]
	first := min(int(from), len(places))
	if count, bounded := s.keepNewest[stream]; bounded {
		first = max(first, len(places)-count)
	}
	for _, place := range places[first:min(len(places), first+min(count, len(places)))] {
		r, err := s.codec.Decode(s.all[place])
		if err != nil {
			return commands.History{Revision: event.NoStream}, err
		}
		history.Events = append(history.Events, r)
		history.Revision = r.Revision
	}
	return history, nil
}

// KeepNewest makes Read return the newest count events of a stream.
func (s *Store) KeepNewest(_ context.Context, stream string, count int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepNewest[stream] = count
	return nil
}

// Event returns one event by its stream and revision.
func (s *Store) Event(_ context.Context, stream string, revision event.Revision) (event.Recorded, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	places := s.streams[stream]
	if revision < 0 || int(revision) >= len(places) {
		return event.Recorded{}, fmt.Errorf("stream %s has no event %d", stream, revision)
	}
	return s.codec.Decode(s.all[places[revision]])
}

// Chain is that of no event: nothing is chained in memory.
func (s *Store) Chain(context.Context, string, event.Revision) (*transparency.Chain, error) {
	return nil, nil
}

// ReadAll yields what the log holds after a position, up to its present end.
func (s *Store) ReadAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	return s.follow(ctx, after, s.codec.Only(only...), false)
}

// SubscribeAll is ReadAll that goes on with every event as it is appended.
func (s *Store) SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error] {
	return s.follow(ctx, after, s.codec.Only(only...), true)
}

func (s *Store) follow(ctx context.Context, after event.Position, codec eventstore.Codec, live bool) iter.Seq2[event.Recorded, error] {
	return func(yield func(event.Recorded, error) bool) {
		for next := int(after.Commit); ; {
			s.mu.RLock()
			batch, grown := s.all[min(next, len(s.all)):], s.grown
			s.mu.RUnlock()
			for _, raw := range batch {
				if ctx.Err() != nil {
					break
				}
				r, err := codec.DecodeAny(raw)
				if !yield(r, err) {
					return
				}
				next++
			}
			switch {
			case ctx.Err() != nil:
				yield(event.Recorded{}, ctx.Err())
				return
			case !live:
				return
			}
			select {
			case <-grown:
			case <-ctx.Done():
			}
		}
	}
}

// Head is the position of the log's last event; the zero position when it has none.
func (s *Store) Head(context.Context) (event.Position, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.all) == 0 {
		return event.Position{}, nil
	}
	return s.all[len(s.all)-1].Position, nil
}

// LogID returns the id of the log.
func (s *Store) LogID(context.Context) (string, error) { return s.id, nil }
