package ratelimit

import (
	"context"
	"sync"
	"time"
)

const (
	// believedFor is how long a key that was refused is refused without asking again: a flood of requests that are one too many
	// costs one question a second. What another process gives back is seen that much later.
	believedFor = time.Second
	// askLimit is how long a request waits for the count.
	askLimit = time.Second
	// awayPause is how long nothing is asked after a question that was not answered.
	awayPause = 5 * time.Second
)

// Shared is a Limiter whose counts several processes share. While these cannot be reached each process counts alone, on from what
// it was told last: a key has its limit once in each process then. No error makes it unlimited.
type Shared struct {
	counts Limiter
	own    *Memory // what was told last of each key; while counts is away, what this process counts
	away   func(error)

	mu    sync.Mutex
	until time.Time // nothing is asked before; zero: the last question was answered
}

// NewShared counts in counts. away is called when they cannot be reached, at most once for each pause of 5 s.
func NewShared(counts Limiter, away func(error)) *Shared {
	return &Shared{counts: counts, own: NewMemory(), away: away}
}

// Count is Limiter. Its error is the context's.
func (s *Shared) Count(ctx context.Context, key string, rule Rule, now time.Time) (Allowance, error) {
	if a, told := s.own.toldWithin(believedFor, key, rule, now); told && !a.Allowed {
		return a, nil
	}
	a, answered, err := s.ask(ctx, now, func(ctx context.Context) (Allowance, error) { return s.counts.Count(ctx, key, rule, now) })
	switch {
	case err != nil:
		return Allowance{}, err
	case !answered:
		return s.own.Count(ctx, key, rule, now)
	}
	s.own.tell(key, rule, a, now)
	return a, nil
}

// Peek is Limiter. Of a key that was counted within a second it asks nothing. Its error is the context's.
func (s *Shared) Peek(ctx context.Context, key string, rule Rule, now time.Time) (Allowance, error) {
	if a, told := s.own.toldWithin(believedFor, key, rule, now); told {
		return a, nil
	}
	a, answered, err := s.ask(ctx, now, func(ctx context.Context) (Allowance, error) { return s.counts.Peek(ctx, key, rule, now) })
	if err == nil && !answered {
		return s.own.Peek(ctx, key, rule, now)
	}
	return a, err
}

// GiveBack is Limiter. It has no error.
func (s *Shared) GiveBack(ctx context.Context, key string, counted Allowance) (Allowance, error) {
	own, _ := s.own.GiveBack(ctx, key, counted) // which does not fail
	s.mu.Lock()
	away := !s.until.IsZero()
	s.mu.Unlock()
	if away {
		return own, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if restored, err := s.counts.GiveBack(ctx, key, counted); err == nil {
		return restored, nil
	}
	return own, nil // the next count says that they are away
}

// ask asks the shared counts, unless they are away. answered is false where this process has to count alone; err is the context's.
func (s *Shared) ask(ctx context.Context, now time.Time, question func(context.Context) (Allowance, error)) (a Allowance, answered bool, err error) {
	if s.pausing(now) {
		return Allowance{}, false, nil
	}
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	a, err = question(limited)
	switch {
	case err == nil:
		s.pauseUntil(time.Time{})
		return a, true, nil
	case ctx.Err() != nil:
		return Allowance{}, false, ctx.Err()
	}
	s.pauseUntil(now.Add(awayPause))
	s.away(err)
	return Allowance{}, false, nil
}

// pausing reports whether nothing is asked now. After a pause one request asks; the others count alone until it is answered.
func (s *Shared) pausing(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.until) {
		return true
	}
	if !s.until.IsZero() {
		s.until = now.Add(askLimit)
	}
	return false
}

func (s *Shared) pauseUntil(end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = end
}
