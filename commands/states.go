package commands

import (
	"container/list"
	"context"
	"fmt"
	"sync"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Bounds of the states that a process keeps. A day with 100,000 slots held takes 25 MB.
const (
	maxKeptStates     = 20_000
	maxKeptStateBytes = 64 << 20
	// keptEntryBytes is the size of an entry without its state: its names, its place in the list.
	keptEntryBytes = 512
)

// States holds folded states of streams between commands, for deciders with StateBytes. A state is kept as it was
// folded from events that were read, never from events that were only appended, and never serves alone: its
// user reads the newer events of the stream. The state that was used longest ago goes first. The zero value is
// ready for use, by any number of goroutines.
type States struct {
	mu      sync.Mutex
	kept    map[string]*list.Element // of *keptState, by stream
	recent  list.List                // the most recently used in front
	bytes   int
	loading map[string]chan struct{} // streams that are read whole now; closed when that has ended
}

// keptState is a state after an event that was read.
type keptState struct {
	stream   string
	snapshot any // snapshot[S]
	at       event.Position
	bytes    int
}

// take returns what is kept of a stream, nil if nothing is.
func (s *States) take(stream string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	element := s.kept[stream]
	if element == nil {
		return nil
	}
	s.recent.MoveToFront(element)
	return element.Value.(*keptState).snapshot
}

// keep replaces what is kept of a stream, unless that is of a later event.
func (s *States) keep(k keptState) {
	k.bytes += keptEntryBytes + len(k.stream)
	s.mu.Lock()
	defer s.mu.Unlock()
	if element := s.kept[k.stream]; element != nil {
		if k.at.Less(element.Value.(*keptState).at) {
			return
		}
		s.remove(element)
	}
	if k.bytes > maxKeptStateBytes {
		return // it would take the place of all others
	}
	if s.kept == nil {
		s.kept = map[string]*list.Element{}
	}
	s.kept[k.stream] = s.recent.PushFront(&k)
	s.bytes += k.bytes
	for len(s.kept) > maxKeptStates || s.bytes > maxKeptStateBytes {
		s.remove(s.recent.Back())
	}
}

// load lets one caller at a time read a stream whole, so that many requests at once, as after a start, do not each hold
// all of it in memory. done must be called when the stream was read. Where another caller read it meanwhile, mine is
// false: what that one kept may be taken. The error is the context's.
func (s *States) load(ctx context.Context, stream string) (done func(), mine bool, err error) {
	s.mu.Lock()
	other := s.loading[stream]
	if other == nil {
		if s.loading == nil {
			s.loading = map[string]chan struct{}{}
		}
		ended := make(chan struct{})
		s.loading[stream] = ended
		s.mu.Unlock()
		return func() {
			s.mu.Lock()
			delete(s.loading, stream)
			s.mu.Unlock()
			close(ended)
		}, true, nil
	}
	s.mu.Unlock()
	select {
	case <-other:
		return nil, false, nil
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// forget drops what is kept of a stream.
func (s *States) forget(stream string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if element := s.kept[stream]; element != nil {
		s.remove(element)
	}
}

func (s *States) remove(element *list.Element) {
	k := s.recent.Remove(element).(*keptState)
	delete(s.kept, k.stream)
	s.bytes -= k.bytes
}

// snapshot is a stream's state after its event of one revision.
type snapshot[S any] struct {
	state    S
	revision event.Revision // event.NoStream: before the first event
	id       string         // of the event, where it was read; empty before the first
	at       event.Position // of the event; zero before the first
}

// readState is a stream's present state. Its error is a StreamError.
func readState[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string) (S, error) {
	s, err := readSnapshot(ctx, store, d, stream)
	return s.state, err
}

// readSnapshot is a stream's present state with the revision to append at: of a state that is kept, only what the
// stream has gained since is read and folded. Its error is a StreamError.
func readSnapshot[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string) (snapshot[S], error) {
	if d.StateBytes == nil {
		return readWhole(ctx, store, d, stream)
	}
	for {
		known, kept := store.States().take(stream).(snapshot[S])
		read := readOn[C, S]
		if !kept {
			known, read = snapshot[S]{state: d.Initial(), revision: event.NoStream}, readOnAlone[C, S]
		}
		s, found, err := read(ctx, store, d, stream, known)
		if err != nil {
			return snapshot[S]{}, &StreamError{Stream: stream, Cause: err}
		}
		if found {
			return s, nil
		}
	}
}

// readOnAlone is readOn by one caller at a time. found is also false when another one has read the stream meanwhile.
func readOnAlone[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, s snapshot[S]) (_ snapshot[S], found bool, err error) {
	done, mine, err := store.States().load(ctx, stream)
	if err != nil {
		return s, false, Unanswered(ctx, fmt.Errorf("waiting for another read of the stream: %w", err))
	}
	if !mine {
		return s, false, nil
	}
	defer done()
	return readOn(ctx, store, d, stream, s)
}

// pageEvents is the number of events read at once, so that a long stream is never in memory as a whole.
const pageEvents = 500

// readOn reads what a stream has gained since s, page by page up to its end, and keeps the state then, or as far as it
// came before an error. found is false if the event after which s was taken is gone: the stream was truncated, or
// deleted and written again. Nothing is kept of it then.
func readOn[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string, s snapshot[S]) (_ snapshot[S], found bool, err error) {
	known := s.revision
	defer func() {
		if s.revision != known {
			store.States().keep(keptState{stream: stream, snapshot: s, at: s.at, bytes: d.StateBytes(s.state)})
		}
	}()
	for {
		page, err := store.ReadFrom(ctx, stream, max(0, s.revision), pageEvents)
		if err != nil {
			return s, false, err
		}
		full := len(page.Events) == pageEvents
		if s.revision != event.NoStream {
			if len(page.Events) == 0 || page.Events[0].Revision != s.revision || page.Events[0].ID != s.id {
				known = s.revision
				store.States().forget(stream)
				return s, false, nil
			}
			page.Events = page.Events[1:]
		}
		if len(page.Events) > 0 {
			s = foldOnto(d, s.state, page)
		}
		if !full {
			return s, true, nil
		}
	}
}

func readWhole[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string) (snapshot[S], error) {
	history, err := store.Read(ctx, stream)
	if err != nil {
		return snapshot[S]{}, &StreamError{Stream: stream, Cause: err}
	}
	return foldOnto(d, d.Initial(), history), nil
}

// foldOnto folds what was read onto a state.
func foldOnto[C, S any](d decider.Decider[C, S], state S, history History) snapshot[S] {
	s := snapshot[S]{state: d.FoldFrom(state, history.Domain()), revision: history.Revision, at: history.Last()}
	if n := len(history.Events); n > 0 {
		s.id = history.Events[n-1].ID
	}
	return s
}
