package fair

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// SaturatedError means that no place came free for a request in the time it was willing to wait.
type SaturatedError struct {
	// RetryAfter is when a place comes free for the account at the latest, if
	// nobody else asks for one: the work that holds the places ends by then.
	RetryAfter time.Duration
}

func (e *SaturatedError) Error() string {
	return fmt.Sprintf("every worker is busy; one comes free within %s", e.RetryAfter.Round(time.Second))
}

// Pool is a number of places. Its methods may be called concurrently.
type Pool struct {
	mu       sync.Mutex
	schedule *schedule
	waiting  map[*ticket]waiter
	ends     map[*ticket]time.Time // of places that are held: when they are released at the latest
}

// waiter is a request that waits.
type waiter struct {
	wake chan struct{} // closed when it is granted
	hold time.Duration // how long it will hold its place at most
}

// NewPool returns a pool of at least one place.
func NewPool(places int) *Pool {
	return &Pool{schedule: newSchedule(max(1, places)), waiting: map[*ticket]waiter{}, ends: map[*ticket]time.Time{}}
}

// Acquire waits for a place, which the account will hold for at most hold, and returns what gives it back; calling that
// again changes nothing. It returns a *SaturatedError after wait, or the context's error.
func (p *Pool) Acquire(ctx context.Context, account string, wait, hold time.Duration) (release func(), err error) {
	t, wake := p.request(account, hold)
	release = sync.OnceFunc(func() { p.release(t) })
	if wake == nil {
		return release, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-wake:
		return release, nil
	case <-timer.C:
		if late := p.giveUp(t); late != nil {
			return nil, late
		}
		return release, nil // it was granted at that moment
	case <-ctx.Done():
		if p.giveUp(t) == nil {
			release()
		}
		return nil, ctx.Err()
	}
}

// request asks for a place and returns what to wait for; nil when the account has the place.
func (p *Pool) request(account string, hold time.Duration) (*ticket, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.schedule.request(account)
	if t.granted {
		p.ends[t] = time.Now().Add(hold)
		return t, nil
	}
	wake := make(chan struct{})
	p.waiting[t] = waiter{wake, hold}
	return t, wake
}

// giveUp takes a request back and tells when it would have been served. It does nothing and returns nil for one that was granted.
func (p *Pool) giveUp(t *ticket) *SaturatedError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.granted {
		return nil
	}
	late := &SaturatedError{RetryAfter: p.nextFree(p.schedule.ahead(t.account))}
	p.schedule.abandon(t)
	delete(p.waiting, t)
	return late
}

// nextFree is how long it takes at most until a place comes free that the accounts ahead do not take.
func (p *Pool) nextFree(ahead int) time.Duration {
	var ends []time.Time
	for _, end := range p.ends {
		ends = append(ends, end)
	}
	slices.SortFunc(ends, time.Time.Compare)
	if len(ends) == 0 {
		return 0
	}
	return max(0, time.Until(ends[min(ahead, len(ends)-1)]))
}

// release gives a place back and wakes those who get one by that.
func (p *Pool) release(t *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ends, t)
	for _, next := range p.schedule.release(t.account) {
		w := p.waiting[next]
		delete(p.waiting, next)
		p.ends[next] = time.Now().Add(w.hold)
		close(w.wake)
	}
}

// Usage is how a pool is used.
type Usage struct {
	Held    int // places
	Waiting int // requests
}

// Usage tells how the pool is used now.
func (p *Pool) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Usage{Held: len(p.ends), Waiting: len(p.waiting)}
}
