package eventlog

import "sync"

// topics wakes the watchers of a stream, or of AllStream, after a write. It carries no
// events: a watcher reads them from a View, so that a slow one takes no memory.
type topics struct {
	mu       sync.Mutex
	watchers map[string]map[*Watch]struct{}
}

// Watch receives a wake-up after writes to its stream are durable and visible. Several
// writes may cause one wake-up.
type Watch struct {
	C      <-chan struct{} // buffered: a wake-up is pending
	c      chan struct{}
	stream string
	topics *topics
}

// Watch registers for wake-ups of a stream, or of AllStream. Register first, then read,
// then wait: no write in between is missed. Close the Watch after use.
func (l *Log) Watch(stream string) *Watch {
	c := make(chan struct{}, 1)
	w := &Watch{C: c, c: c, stream: stream, topics: &l.topics}
	l.topics.mu.Lock()
	defer l.topics.mu.Unlock()
	if l.topics.watchers == nil {
		l.topics.watchers = map[string]map[*Watch]struct{}{}
	}
	set := l.topics.watchers[stream]
	if set == nil {
		set = map[*Watch]struct{}{}
		l.topics.watchers[stream] = set
	}
	set[w] = struct{}{}
	return w
}

// Close ends the registration.
func (w *Watch) Close() {
	w.topics.mu.Lock()
	defer w.topics.mu.Unlock()
	set := w.topics.watchers[w.stream]
	delete(set, w)
	if len(set) == 0 {
		delete(w.topics.watchers, w.stream)
	}
}

// wake wakes the watchers of the streams that were written, of those that list the events, and of AllStream.
func (t *topics) wake(streams map[string]*streamState, listed []*indexHead) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.watchers) == 0 {
		return
	}
	t.wakeOne(AllStream)
	for stream, state := range streams {
		t.wakeOne(stream)
		if state.tombstoned {
			t.wakeOne(MetaStream(stream))
		}
	}
	for _, h := range listed {
		t.wakeOne(h.stream)
	}
}

func (t *topics) wakeOne(stream string) {
	for w := range t.watchers[stream] {
		select {
		case w.c <- struct{}{}:
		default:
		}
	}
}
