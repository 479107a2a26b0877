package commands

import (
	"container/list"
	"context"
	"sync"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Bounds of the states that a process keeps. A day with 100,000 slots held takes 25 MB.
const (
	maxKeptStates     = 20_000
	maxKeptStateBytes = 64 << 20
	// keptEntryBytes is what an entry takes beside its state: its names, its place in the list.
	keptEntryBytes = 512
)

// States holds folded states of streams between commands, for deciders with StateBytes. A state is kept as it was
// folded from events that were read, never from events that were only appended, and never serves alone: whoever
// takes it reads what the stream has gained since. The state that was used longest ago goes first. The zero value is
// ready for use, by any number of goroutines.
type States struct {
	mu     sync.Mutex
	kept   map[string]*list.Element // of *keptState, by stream
	recent list.List                // the most recently used in front
	bytes  int
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
	known, kept := store.States().take(stream).(snapshot[S])
	if !kept {
		return readAndKeep(ctx, store, d, stream)
	}
	tail, err := store.ReadFrom(ctx, stream, known.revision)
	if err != nil {
		return snapshot[S]{}, &StreamError{Stream: stream, Cause: err}
	}
	if len(tail.Events) == 0 || tail.Events[0].Revision != known.revision || tail.Events[0].ID != known.id {
		// The event is gone: the stream was truncated, or deleted and written again.
		store.States().forget(stream)
		return readAndKeep(ctx, store, d, stream)
	}
	if len(tail.Events) == 1 {
		return known, nil
	}
	known = foldOnto(d, known.state, History{Events: tail.Events[1:], Revision: tail.Revision})
	keepState(store, d, stream, known)
	return known, nil
}

func readAndKeep[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string) (snapshot[S], error) {
	s, err := readWhole(ctx, store, d, stream)
	if err == nil && s.revision != event.NoStream {
		keepState(store, d, stream, s)
	}
	return s, err
}

func readWhole[C, S any](ctx context.Context, store Store, d decider.Decider[C, S], stream string) (snapshot[S], error) {
	history, err := store.Read(ctx, stream)
	if err != nil {
		return snapshot[S]{}, &StreamError{Stream: stream, Cause: err}
	}
	return foldOnto(d, d.Initial(), history), nil
}

func keepState[C, S any](store Store, d decider.Decider[C, S], stream string, s snapshot[S]) {
	store.States().keep(keptState{stream: stream, snapshot: s, at: s.at, bytes: d.StateBytes(s.state)})
}

// foldOnto folds what was read onto a state.
func foldOnto[C, S any](d decider.Decider[C, S], state S, history History) snapshot[S] {
	s := snapshot[S]{state: d.FoldFrom(state, history.Domain()), revision: history.Revision, at: history.Last()}
	if n := len(history.Events); n > 0 {
		s.id = history.Events[n-1].ID
	}
	return s
}
