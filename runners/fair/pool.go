package fair

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// Short is how long a request runs at most before it is long, and may be paused for a short one. It is less for an account that
	// has recently computed: a half after a second, a third after two.
	Short = time.Second
	// Brief is how long any request may run before it is long, and what it runs without being counted: what small work takes on a busy machine.
	Brief = 100 * time.Millisecond
	// halfLife is the time after which half of what an account has computed counts no more.
	halfLife = time.Minute
	// negligible is what an account may have computed recently and be as one that has not.
	negligible = time.Millisecond
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

// Work is what runs at a place and can stand still. The pool calls its methods one at a time; they neither wait nor call the pool.
type Work interface {
	Pause()    // another has its place
	Continue() // it has a place again, or has given its place back
	End(error) // no place came free for it in its time: it is not continued. The error is a *SaturatedError
}

// Pool is a number of places. Its methods may be called concurrently.
type Pool struct {
	mu       sync.Mutex
	schedule *schedule
	places   map[*ticket]*Place // of tickets that wait, hold a place or are paused
}

// Place is the right to run one worker.
type Place struct {
	pool   *Pool
	ticket *ticket
	wake   chan struct{}   // closed when it is first granted
	work   Work            // nil: it cannot be paused
	hold   time.Duration   // how long it will be held at most from here on, since end was set
	end    time.Time       // when it is given back at the latest, while it is held
	wait   time.Duration   // how long it may still wait, since it was last paused
	since  time.Time       // when it was last paused
	late   *SaturatedError // why it was ended; nil: it was not
	timer  *time.Timer     // makes it long while it runs, ends it while it is paused
}

type placeKey struct{}

// At is the context of work at a place, which pauses with it: whoever starts a process for it attaches that to Of.
func At(ctx context.Context, place *Place) context.Context {
	return context.WithValue(ctx, placeKey{}, place)
}

// Of is the place at which the work of a context is; nil: it has none and is not paused.
func Of(ctx context.Context) *Place {
	place, _ := ctx.Value(placeKey{}).(*Place)
	return place
}

// NewPool returns a pool of at least one place.
func NewPool(places int) *Pool {
	return &Pool{schedule: newSchedule(max(1, places)), places: map[*ticket]*Place{}}
}

// Acquire waits for a place, which the account will hold for at most hold. It returns a *SaturatedError after wait, or the
// context's error. What is left of wait is how long its work may be paused (Attach).
func (p *Pool) Acquire(ctx context.Context, account string, wait, hold time.Duration) (*Place, error) {
	place := p.request(account, wait, hold)
	select {
	case <-place.wake:
		return place, nil
	default:
	}
	began := time.Now()
	timer, again := time.NewTimer(wait), time.NewTicker(Short)
	defer timer.Stop()
	defer again.Stop()
	for {
		select {
		case <-place.wake:
			place.wait = max(0, wait-time.Since(began))
			return place, nil
		case <-again.C:
			p.again()
		case <-timer.C:
			if late := p.giveUp(place); late != nil {
				return nil, late
			}
			place.wait = 0
			return place, nil // it was granted at that moment
		case <-ctx.Done():
			if p.giveUp(place) == nil {
				place.Release()
			}
			return nil, ctx.Err()
		}
	}
}

// again decides anew where nothing was decided for Short: what runs has computed more by now than what waits.
func (p *Pool) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.schedule.now) >= Short {
		p.decide((*schedule).settle)
	}
}

// Attach names the work at the place, which may be paused for others from now on. It has run since the place was granted. Work that was
// attached before is done. Without work the place may be another's for a time, too, once there was some: what is attached then begins by standing still.
func (l *Place) Attach(work Work) {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	l.work = work
	switch {
	case l.late != nil:
		work.End(l.late)
	case l.ticket.state == paused:
		work.Pause()
	case l.timer == nil:
		l.timer = time.AfterFunc(l.ticket.short-time.Since(l.ticket.since), l.lapse)
	}
}

// Release gives the place back; its work is done, and stands still no more. Calling it again changes nothing.
func (l *Place) Release() {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.ticket.state == paused {
		l.work.Continue()
	}
	delete(p.places, l.ticket)
	p.decide(func(s *schedule) []change { return s.release(l.ticket) })
}

// lapse makes the work long, unless it is done.
func (l *Place) lapse() {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.ticket.state == running && !l.ticket.long {
		p.decide(func(s *schedule) []change { return s.lapse(l.ticket) })
	}
}

// tire ends work that has been paused for as long as it may, unless it was continued.
func (l *Place) tire() {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.ticket.state == paused && time.Since(l.since) >= l.wait {
		p.decide(func(s *schedule) []change {
			s.end(l.ticket)
			return []change{{l.ticket, gone}}
		})
	}
}

// request asks for a place.
func (p *Pool) request(account string, wait, hold time.Duration) *Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	place := &Place{pool: p, wake: make(chan struct{}), wait: wait, hold: hold}
	p.decide(func(s *schedule) (changes []change) {
		place.ticket, changes = s.request(account)
		p.places[place.ticket] = place
		return changes
	})
	return place
}

// giveUp takes a request back and tells when it would have been served. It does nothing and returns nil for one that was granted.
func (p *Pool) giveUp(l *Place) *SaturatedError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.ticket.state != waiting {
		return nil
	}
	p.schedule.now = time.Now()
	late := &SaturatedError{RetryAfter: p.nextFree(p.schedule.ahead(l.ticket.of))}
	p.schedule.abandon(l.ticket)
	delete(p.places, l.ticket)
	return late
}

// nextFree is how long it takes at most until a place comes free that the accounts ahead do not take.
func (p *Pool) nextFree(ahead int) time.Duration {
	var ends []time.Time
	for t, place := range p.places {
		if t.state == running {
			ends = append(ends, place.end)
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	if len(ends) == 0 {
		return 0
	}
	return max(0, time.Until(ends[min(ahead, len(ends)-1)]))
}

// decide has the schedule decide now, and does what follows. The caller holds p.mu.
func (p *Pool) decide(decision func(*schedule) []change) {
	p.schedule.now = time.Now()
	for _, c := range decision(p.schedule) {
		place := p.places[c.ticket]
		switch c.to {
		case running:
			place.run()
		case paused:
			place.pause()
		case gone:
			delete(p.places, c.ticket)
			place.timer.Stop()
			place.late = &SaturatedError{RetryAfter: p.nextFree(0)}
			place.work.End(place.late)
		}
	}
}

// run lets whoever waits for the place begin, or its work go on.
func (l *Place) run() {
	l.end = time.Now().Add(l.hold)
	if !l.ticket.long {
		close(l.wake)
		return
	}
	l.timer.Stop()
	l.wait -= time.Since(l.since)
	l.work.Continue()
}

func (l *Place) pause() {
	l.hold = time.Until(l.end)
	l.since = time.Now()
	l.work.Pause()
	l.timer = time.AfterFunc(l.wait, l.tire)
}

// Usage is how a pool is used.
type Usage struct {
	Held    int // places
	Waiting int // requests, those included that are paused
}

// Usage tells how the pool is used now.
func (p *Pool) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := Usage{Held: p.schedule.places - p.schedule.free}
	u.Waiting = len(p.places) - u.Held
	return u
}
