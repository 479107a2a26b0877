package eventlog

import "sync"

// topics wakes those who wait for a stream, or for AllStream, to grow. It carries no
// events: the waiter reads them from a View, so a slow waiter costs no memory.
type topics struct {
	mu       sync.Mutex
	watchers map[string]map[*Watch]struct{}
}

// Watch is woken after every write to its stream became durable and visible.
type Watch struct {
	C      <-chan struct{} // holds at most one wake-up
	c      chan struct{}
	stream string
	topics *topics
}

// Watch registers for wake-ups: register first, then read, then wait.
// stream may be AllStream. Close it after use.
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

// wake wakes the watchers of the streams written to, and those of all.
func (t *topics) wake(streams map[string]*streamState) {
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
}

func (t *topics) wakeOne(stream string) {
	for w := range t.watchers[stream] {
		select {
		case w.c <- struct{}{}:
		default:
		}
	}
}
