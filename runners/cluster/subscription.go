package cluster

import (
	"context"
	"iter"
	"sync"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/keys"
	"reckon/domain/runner"
	"reckon/domain/session"
)

// Log is the event log as a Subscription reads it; eventstore.Store says what
// SubscribeAll yields.
type Log interface {
	SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
}

// Subscription is a process's one subscription to the log. Everything in the
// process that waits for an event waits on it and opens no subscription of its own.
type Subscription struct {
	mu           sync.Mutex
	waiters      map[string][]chan struct{} // by job id
	publications map[string]string          // stream that a job with waiters publishes to → job id
	listeners    []func(event.Recorded)
	position     event.Position // of the last event passed on to the listeners
	advanced     chan struct{}  // closed when position changes; nil while nobody waits for that
}

// NewSubscription returns a subscription that is not running yet.
func NewSubscription() *Subscription {
	return &Subscription{waiters: map[string][]chan struct{}{}, publications: map[string]string{}}
}

// Listen adds a function that is called with every event of jobs, sessions, signing keys and
// heartbeats, in the log's order. It must not block. Add all listeners before Run.
func (s *Subscription) Listen(listener func(event.Recorded)) {
	s.listeners = append(s.listeners, listener)
}

// subscribedEvents are the stored names of the events that listeners may be called with.
var subscribedEvents = []string{
	job.WasQueued{}.EventName(), job.WasClaimed{}.EventName(), job.WasReleased{}.EventName(), job.HasSucceeded{}.EventName(),
	job.HasFailed{}.EventName(), job.HasTimedOut{}.EventName(), job.WasCancelled{}.EventName(), job.WasLost{}.EventName(),
	session.Opened{}.EventName(), session.Cleared{}.EventName(), session.Expired{}.EventName(), runner.Beat{}.EventName(),
	keys.Published{}.EventName(), keys.Activated{}.EventName(), keys.Retired{}.EventName(),
}

// Run reads the log after a position until the context ends. Called again it goes on where it
// stood.
func (s *Subscription) Run(ctx context.Context, log Log, after event.Position) error {
	s.mu.Lock()
	if after.Less(s.position) {
		after = s.position
	}
	s.mu.Unlock()
	s.advance(after) // nothing may follow: then this position is the end of the log
	for recorded, err := range log.SubscribeAll(ctx, after, subscribedEvents...) {
		if err != nil && recorded.Position == (event.Position{}) {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if recorded.Event != nil { // nil: not subscribed to, or of a type that only a newer binary knows
			for _, listener := range s.listeners {
				listener(recorded)
			}
		}
		s.advance(recorded.Position)
		s.notifyWaiters(recorded)
	}
	return nil
}

// WaitUntilReached returns once every event up to a position of the log has been
// passed on to the listeners.
func (s *Subscription) WaitUntilReached(ctx context.Context, position event.Position) error {
	for {
		s.mu.Lock()
		if !s.position.Less(position) {
			s.mu.Unlock()
			return nil
		}
		if s.advanced == nil {
			s.advanced = make(chan struct{})
		}
		advanced := s.advanced
		s.mu.Unlock()
		select {
		case <-advanced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// NotifyJobEnded returns a channel that receives when a job has ended, and once
// more when the run or certificate that the job publishes has been appended (only
// if its Outcome.PublishTo is set). The caller must call stop when it waits no longer.
//
// Call it first, then fold the job's stream, then wait on the channel: an end that
// is appended between the fold and the wait is not missed.
func (s *Subscription) NotifyJobEnded(jobID string) (notified <-chan struct{}, stop func()) {
	waiter := make(chan struct{}, 2) // one place for the end, one for the publication: a send never blocks
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiters[jobID] = append(s.waiters[jobID], waiter)
	return waiter, func() { s.removeWaiter(jobID, waiter) }
}

func (s *Subscription) removeWaiter(jobID string, waiter chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remaining := s.waiters[jobID]
	for i, other := range remaining {
		if other == waiter {
			remaining[i] = remaining[len(remaining)-1]
			remaining = remaining[:len(remaining)-1]
			break
		}
	}
	if len(remaining) > 0 {
		s.waiters[jobID] = remaining
		return
	}
	delete(s.waiters, jobID)
	for stream, other := range s.publications {
		if other == jobID {
			delete(s.publications, stream)
		}
	}
}

// advance sets the position and ends every WaitUntilReached that waits for it.
func (s *Subscription) advance(position event.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.position = position
	if s.advanced != nil {
		close(s.advanced)
		s.advanced = nil
	}
}

// notifyWaiters notifies those who wait for the job that an event ends or publishes for.
func (s *Subscription) notifyWaiters(recorded event.Recorded) {
	end, _ := job.EndOf(recorded.Event)
	jobID, publishTo := end.JobID, end.PublishTo
	s.mu.Lock()
	defer s.mu.Unlock()
	if jobID == "" {
		if jobID = s.publications[recorded.Stream]; jobID == "" {
			return
		}
		delete(s.publications, recorded.Stream)
	}
	waiters := s.waiters[jobID]
	if len(waiters) > 0 && publishTo != "" {
		s.publications[publishTo] = jobID
	}
	for _, waiter := range waiters {
		select {
		case waiter <- struct{}{}:
		default: // two notifications are pending already
		}
	}
}
