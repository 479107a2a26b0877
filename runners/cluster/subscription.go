package cluster

import (
	"context"
	"iter"
	"sync"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/runner"
	"reckon/domain/session"
)

// Log is the log as a hub follows it; eventstore.Store says what it yields.
type Log interface {
	SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
}

// Hub is the one subscription of a process: whoever waits for something to
// happen waits here, without a subscription of its own.
type Hub struct {
	mu        sync.Mutex
	waiters   map[string][]chan struct{} // by job
	publishes map[string]string          // stream a job that is waited for publishes to → its job
	listeners []func(event.Recorded)
	position  event.Position // of the last event passed on
	moved     chan struct{}  // closed when position changes and somebody waits for that; else nil
}

// NewHub is a hub that follows nothing yet.
func NewHub() *Hub {
	return &Hub{waiters: map[string][]chan struct{}{}, publishes: map[string]string{}}
}

// Listen adds a function that is told of every event of jobs, sessions and
// beats, in the log's order. It must not block. All listeners are added before Run.
func (h *Hub) Listen(f func(event.Recorded)) { h.listeners = append(h.listeners, f) }

// followed are the events a hub's listeners may be told of.
var followed = []string{
	job.WasQueued{}.EventName(), job.WasClaimed{}.EventName(), job.WasReleased{}.EventName(), job.HasSucceeded{}.EventName(),
	job.HasFailed{}.EventName(), job.HasTimedOut{}.EventName(), job.WasCancelled{}.EventName(), job.WasLost{}.EventName(),
	session.Opened{}.EventName(), session.Cleared{}.EventName(), session.Expired{}.EventName(), runner.Beat{}.EventName(),
}

// Run follows the log after a position until the context ends.
func (h *Hub) Run(ctx context.Context, log Log, after event.Position) error {
	h.reached(after) // a log that stays quiet has been followed to its end
	for r, err := range log.SubscribeAll(ctx, after, followed...) {
		if err != nil && r.Position == (event.Position{}) {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if r.Event != nil { // else not followed, or of a newer binary
			for _, tell := range h.listeners {
				tell(r)
			}
		}
		h.wake(r)
	}
	return nil
}

// Reach returns once everything up to a position of the log has been passed on.
func (h *Hub) Reach(ctx context.Context, p event.Position) error {
	for {
		h.mu.Lock()
		if !h.position.Less(p) {
			h.mu.Unlock()
			return nil
		}
		if h.moved == nil {
			h.moved = make(chan struct{})
		}
		moved := h.moved
		h.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Watch returns a channel that receives when something has happened for which
// somebody waits for a job: it ended, or what it publishes — its run or its
// certificate — was appended. Call stop when done.
//
// Watch first, then fold the job's stream, then wait: an end that comes in
// between is not missed. A job that ended with Outcome.PublishTo set has its run
// or certificate a moment later; the channel receives once more then.
func (h *Hub) Watch(jobID string) (happened <-chan struct{}, stop func()) {
	waiter := make(chan struct{}, 2) // an end and a publication: nothing is dropped, nobody blocks
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters[jobID] = append(h.waiters[jobID], waiter)
	return waiter, func() { h.leave(jobID, waiter) }
}

func (h *Hub) leave(jobID string, waiter chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.waiters[jobID]
	for i, other := range of {
		if other == waiter {
			of[i] = of[len(of)-1]
			of = of[:len(of)-1]
			break
		}
	}
	if len(of) > 0 {
		h.waiters[jobID] = of
		return
	}
	delete(h.waiters, jobID)
	for stream, other := range h.publishes {
		if other == jobID {
			delete(h.publishes, stream)
		}
	}
}

// reached moves the position on and wakes whoever waits for that.
func (h *Hub) reached(p event.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.position = p
	if h.moved != nil {
		close(h.moved)
		h.moved = nil
	}
}

func (h *Hub) wake(r event.Recorded) {
	jobID, publishTo := ended(r.Event)
	h.reached(r.Position)
	h.mu.Lock()
	defer h.mu.Unlock()
	if jobID == "" {
		if jobID = h.publishes[r.Stream]; jobID == "" {
			return
		}
		delete(h.publishes, r.Stream)
	}
	waiters := h.waiters[jobID]
	if len(waiters) > 0 && publishTo != "" {
		h.publishes[publishTo] = jobID
	}
	for _, waiter := range waiters {
		select {
		case waiter <- struct{}{}:
		default: // it has enough to wake up for
		}
	}
}

// ended is the job an event ends, and where the job publishes what it computed.
func ended(e event.Event) (jobID, publishTo string) {
	switch e := e.(type) {
	case job.HasSucceeded:
		return e.JobID, e.PublishTo
	case job.HasFailed:
		return e.JobID, e.PublishTo
	case job.HasTimedOut:
		return e.JobID, e.PublishTo
	case job.WasCancelled:
		return e.JobID, ""
	case job.WasLost:
		return e.JobID, ""
	}
	return "", ""
}
