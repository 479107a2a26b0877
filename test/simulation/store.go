// Package simulation interleaves the real commands of jobs, slots and uploads
// over a log in memory, one store operation at a time, with a crash possible
// after every one (docs/architecture.md#protocols).
//
// It promises to visit every reachable state of a scenario: processes are
// deterministic in what the store answered them, so a state is the log and, for
// each process, its answers so far. It never sleeps and never reads a clock.
package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/event"
)

// log is the whole store: streams of events, in memory.
type log struct {
	streams map[string][]event.Event
	ids     map[string][]string // of each stream's events
	digests map[string]uint64   // of each stream's events
	order   []entry             // $all
}

type entry struct {
	stream string
	event  event.Event
}

func newLog() *log {
	return &log{streams: map[string][]event.Event{}, ids: map[string][]string{}, digests: map[string]uint64{}}
}

// key tells logs apart by what each stream holds. The order between streams is
// left out: no command reads it.
func (l *log) key() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.digests)) {
		fmt.Fprintf(&b, "%s=%x;", name, l.digests[name])
	}
	return b.String()
}

func (l *log) read(stream string, from event.Revision, count int) commands.History {
	h := commands.History{Revision: event.NoStream}
	for i := int(from); i < len(l.streams[stream]) && len(h.Events) < count; i++ {
		h.Events = append(h.Events, l.recorded(stream, i))
		h.Revision = event.Revision(i)
	}
	return h
}

func (l *log) recorded(stream string, i int) event.Recorded {
	return event.Recorded{ID: l.ids[stream][i], Stream: stream, Revision: event.Revision(i), Event: l.streams[stream][i]}
}

func (l *log) event(stream string, at event.Revision) (event.Recorded, error) {
	if int(at) >= len(l.streams[stream]) {
		return event.Recorded{}, fmt.Errorf("stream %s has no event %d", stream, at)
	}
	return l.recorded(stream, int(at)), nil
}

func (l *log) append(stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if int(at)+1 != len(l.streams[stream]) {
		return commands.Appended{}, commands.ErrConflict
	}
	for _, proposed := range events {
		e, err := asRead(proposed.Event)
		if err != nil {
			return commands.Appended{}, err
		}
		l.streams[stream] = append(l.streams[stream], e)
		l.ids[stream] = append(l.ids[stream], proposed.ID)
		digest := fnv.New64a()
		fmt.Fprintf(digest, "%x %s %+v", l.digests[stream], e.EventName(), e)
		l.digests[stream] = digest.Sum64()
		l.order = append(l.order, entry{stream, e})
	}
	return commands.Appended{Revision: event.Revision(len(l.streams[stream]) - 1)}, nil
}

var catalogue = domain.Catalogue()

// asRead is an event as a log returns it: one that was appended in its encoded form is decoded.
func asRead(e event.Event) (event.Event, error) {
	if _, encoded := e.(event.Embedded); !encoded {
		return e, nil
	}
	version, data, err := catalogue.Encode(e)
	if err != nil {
		return nil, err
	}
	return catalogue.Decode(e.EventName(), version, data)
}

// directStore serves one process at a time, for the recovery after a crash.
type directStore struct {
	log    *log
	states *commands.States
}

func newDirectStore(l *log) directStore { return directStore{l, &commands.States{}} }

func (s directStore) States() *commands.States { return s.states }

func (s directStore) Enter(context.Context, string) (func(), error) { return func() {}, nil }

func (s directStore) Read(_ context.Context, stream string) (commands.History, error) {
	return s.log.read(stream, 0, math.MaxInt), nil
}

func (s directStore) ReadFrom(_ context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	return s.log.read(stream, from, count), nil
}

func (s directStore) Event(_ context.Context, stream string, revision event.Revision) (event.Recorded, error) {
	return s.log.event(stream, revision)
}

func (s directStore) Append(_ context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	return s.log.append(stream, at, events)
}

// errCrashed ends a process at the operation it was about to make.
var errCrashed = errors.New("the process crashed")

// steppedStore lets the explorer decide when its process's next operation happens.
type steppedStore struct {
	log    *log
	states *commands.States    // the process's own
	yield  func(struct{}) bool // the process stands before an operation; false: it crashes there
	note   func(string)        // remembers what the process was answered
}

func (s steppedStore) States() *commands.States { return s.states }

func (s steppedStore) Enter(context.Context, string) (func(), error) { return func() {}, nil }

func (s steppedStore) Read(ctx context.Context, stream string) (commands.History, error) {
	return s.ReadFrom(ctx, stream, 0, math.MaxInt)
}

func (s steppedStore) ReadFrom(_ context.Context, stream string, from event.Revision, count int) (commands.History, error) {
	if !s.yield(struct{}{}) {
		return commands.History{}, errCrashed
	}
	h := s.log.read(stream, from, count)
	s.note(fmt.Sprintf("r%s:%d", stream, h.Revision))
	return h, nil
}

func (s steppedStore) Event(_ context.Context, stream string, revision event.Revision) (event.Recorded, error) {
	if !s.yield(struct{}{}) {
		return event.Recorded{}, errCrashed
	}
	r, err := s.log.event(stream, revision)
	s.note(fmt.Sprintf("e%s:%d:%v", stream, revision, err))
	return r, err
}

func (s steppedStore) Append(_ context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if !s.yield(struct{}{}) {
		return commands.Appended{}, errCrashed
	}
	a, err := s.log.append(stream, at, events)
	s.note(fmt.Sprintf("a%s:%d:%v", stream, a.Revision, err))
	return a, err
}
