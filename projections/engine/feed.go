package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"reckon/domain/event"
)

const (
	// feedBuffer is how many events a projection may be behind the feed.
	feedBuffer = 1024
	// maxFeedDelay is how long a full buffer may delay the other projections. Then its
	// projection is removed from the feed, reads the missed events itself and joins again.
	maxFeedDelay = time.Second

	// pastChunk is how many events of the past are handed over together, pastBuffer how many
	// such chunks a projection may be behind, and maxPastDelay how long it may delay the others.
	pastChunk    = 256
	pastBuffer   = 8
	maxPastDelay = 30 * time.Second
)

// feed is the one subscription of a process, whose events are sent to the projections that
// have caught up with it.
type feed struct {
	log   Log
	names []string // events any projection has a handler for

	mu       sync.Mutex
	position event.Position // of the last event dispatched
	members  map[*member]bool
}

// member is a projection that receives every event after from. The channel is closed when
// no more come, or when the projection is removed because it is too slow.
type member struct {
	from  event.Position
	items chan []item
	gone  chan struct{} // closed by leave
}

func newMember(from event.Position, buffer int) *member {
	return &member{from: from, items: make(chan []item, buffer), gone: make(chan struct{})}
}

// send waits up to maxDelay for room in the buffer; false means that the member is too slow.
func (m *member) send(ctx context.Context, items []item, maxDelay time.Duration) bool {
	select {
	case m.items <- items:
		return true
	default:
	}
	patience := time.NewTimer(maxDelay)
	defer patience.Stop()
	select {
	case m.items <- items:
	case <-m.gone:
	case <-ctx.Done():
	case <-patience.C:
		return false
	}
	return true
}

func newFeed(log Log, from event.Position, names []string) *feed {
	return &feed{log: log, names: names, position: from, members: map[*member]bool{}}
}

// run follows the log until the context ends.
func (f *feed) run(ctx context.Context) error {
	for r, err := range f.log.SubscribeAll(ctx, f.position, f.names...) {
		if err != nil && r.Position == (event.Position{}) {
			return fmt.Errorf("following the log: %w", err)
		}
		f.dispatch(ctx, item{r, err})
	}
	return ctx.Err()
}

func (f *feed) dispatch(ctx context.Context, it item) {
	f.mu.Lock()
	f.position = it.recorded.Position
	members := make([]*member, 0, len(f.members))
	for m := range f.members {
		members = append(members, m)
	}
	f.mu.Unlock()
	for _, m := range members {
		if !m.send(ctx, []item{it}, maxFeedDelay) {
			f.mu.Lock()
			delete(f.members, m)
			f.mu.Unlock()
			close(m.items)
		}
	}
}

func (f *feed) join() *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := newMember(f.position, feedBuffer)
	f.members[m] = true
	return m
}

func (f *feed) leave(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, m)
	close(m.gone)
}

// pastReader reads the events after from, up to and including upTo, once for all its members.
type pastReader struct {
	log        Log
	from, upTo event.Position
	names      []string
	members    []*member
}

// run sends chunks to the members until all is read, the reading fails, which its last item
// says, or no member is left; then it closes their channels.
func (p *pastReader) run(ctx context.Context) {
	defer func() {
		for _, m := range p.members {
			close(m.items)
		}
	}()
	if len(p.members) == 0 {
		return
	}
	slices.Sort(p.names)
	p.names = slices.Compact(p.names)
	chunk := make([]item, 0, pastChunk)
	for r, err := range p.log.SubscribeAll(ctx, p.from, p.names...) {
		it := item{r, err}
		failed := err != nil && r.Position == (event.Position{})
		if !failed && p.upTo.Less(r.Position) { // whoever reads on brings it
			it = item{recorded: event.Recorded{Position: p.upTo}}
		}
		chunk = append(chunk, it)
		last := failed || !r.Position.Less(p.upTo)
		if last || len(chunk) == pastChunk {
			if p.send(ctx, chunk); last || len(p.members) == 0 || ctx.Err() != nil {
				return
			}
			chunk = make([]item, 0, pastChunk) // the members keep what was sent
		}
	}
}

// send removes the members that have gone, and those that are too slow, which read on by themselves.
func (p *pastReader) send(ctx context.Context, chunk []item) {
	p.members = slices.DeleteFunc(p.members, func(m *member) bool {
		select {
		case <-m.gone:
			close(m.items)
			return true
		default:
		}
		if m.send(ctx, chunk, maxPastDelay) {
			return false
		}
		close(m.items)
		return true
	})
}
