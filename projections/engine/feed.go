package engine

import (
	"context"
	"fmt"
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
// the projection is removed because it is too slow.
type member struct {
	from  event.Position
	items chan item
	gone  chan struct{} // closed by leave
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
		f.dispatch(item{r, err})
	}
	return ctx.Err()
}

func (f *feed) dispatch(it item) {
	f.mu.Lock()
	f.position = it.recorded.Position
	members := make([]*member, 0, len(f.members))
	for m := range f.members {
		members = append(members, m)
	}
	f.mu.Unlock()
	for _, m := range members {
		select {
		case m.items <- it:
		default:
			f.sendOrCutOff(m, it)
		}
	}
}

// sendOrCutOff waits up to maxFeedDelay for room in the buffer of a member that is
// behind, then removes the member and closes its channel.
func (f *feed) sendOrCutOff(m *member, it item) {
	patience := time.NewTimer(maxFeedDelay)
	defer patience.Stop()
	select {
	case m.items <- it:
	case <-m.gone:
	case <-patience.C:
		f.mu.Lock()
		delete(f.members, m)
		f.mu.Unlock()
		close(m.items)
	}
}

func (f *feed) join() *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &member{from: f.position, items: make(chan item, feedBuffer), gone: make(chan struct{})}
	f.members[m] = true
	return m
}

func (f *feed) leave(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, m)
	close(m.gone)
}
