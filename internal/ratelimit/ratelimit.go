// Package ratelimit counts requests in windows of time: at most so many per key and
// window, a window beginning with a key's first request.
//
// It promises that a refused request does not prolong the window, and that
// counting for one key never waits for another. It knows neither accounts nor
// addresses: a key is any string. Memory counts for one process; Shared for several, in a database
// (internal/identity) and in each process alone while that is away.
package ratelimit

import (
	"context"
	"sync"
	"time"
)

// Rule is how many requests are allowed in one window.
type Rule struct {
	Requests int           // at least 1
	Window   time.Duration // from a key's first request
}

// Allowance is what counting one request found.
type Allowance struct {
	Allowed   bool
	Limit     int       // requests in the window
	Remaining int       // of them, after this one; never negative
	ResetAt   time.Time // when the window ends and the whole limit is there again
}

// Limiter counts requests. Its methods may be called concurrently.
type Limiter interface {
	// Count counts one request of the key at the time now. It fails only when the
	// counts cannot be reached.
	Count(ctx context.Context, key string, rule Rule, now time.Time) (Allowance, error)
	// Peek returns the allowance of the key at the time now without counting a request. Its error is Count's.
	Peek(ctx context.Context, key string, rule Rule, now time.Time) (Allowance, error)
	// GiveBack takes back one request that was counted and allowed, and returns the allowance without it. Once the window
	// of the request has ended it changes nothing. Its error is Count's.
	GiveBack(ctx context.Context, key string, counted Allowance) (Allowance, error)
}

// Restored is the allowance of a window that now holds used requests, after one was given back.
func (a Allowance) Restored(used int) Allowance {
	a.Remaining = max(0, a.Limit-used)
	return a
}

// NewAllowance is the allowance of a key whose window began at start and now holds
// used requests, this one included.
func NewAllowance(rule Rule, start time.Time, used int) Allowance {
	return Allowance{
		Allowed:   used <= rule.Requests,
		Limit:     rule.Requests,
		Remaining: max(0, rule.Requests-used),
		ResetAt:   start.Add(rule.Window),
	}
}

// sweepEvery bounds memory: after so many new windows the ended ones are dropped.
const sweepEvery = 10_000

// Memory is a Limiter of one process.
type Memory struct {
	mu      sync.Mutex
	windows map[string]window
	opened  int
}

type window struct {
	start, end time.Time
	used       int
	told       time.Time // when Shared was told it; zero in a Memory of one process
}

// NewMemory returns a Limiter that has counted nothing.
func NewMemory() *Memory { return &Memory{windows: map[string]window{}} }

// Count is Limiter.
func (m *Memory) Count(_ context.Context, key string, rule Rule, now time.Time) (Allowance, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, counted := m.windows[key]
	if !counted || !now.Before(w.end) {
		m.sweep(now)
		w = window{start: now, end: now.Add(rule.Window)}
	}
	if w.used <= rule.Requests {
		w.used++
	}
	m.windows[key] = w
	return NewAllowance(rule, w.start, w.used), nil
}

// Peek is Limiter.
func (m *Memory) Peek(_ context.Context, key string, rule Rule, now time.Time) (Allowance, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, counted := m.windows[key]
	if !counted || !now.Before(w.end) {
		w = window{start: now}
	}
	return NewAllowance(rule, w.start, w.used), nil
}

// GiveBack is Limiter.
func (m *Memory) GiveBack(_ context.Context, key string, counted Allowance) (Allowance, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.windows[key]
	if !w.end.Equal(counted.ResetAt) || w.used == 0 {
		return counted, nil
	}
	w.used = min(w.used, counted.Limit) - 1 // a window that is used up counts one more for those it refused
	m.windows[key] = w
	return counted.Restored(w.used), nil
}

// tell replaces the window of a key by what was counted elsewhere.
func (m *Memory) tell(key string, rule Rule, counted Allowance, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.windows[key]; !known {
		m.sweep(now)
	}
	w := window{start: counted.ResetAt.Add(-rule.Window), end: counted.ResetAt, used: counted.Limit - counted.Remaining, told: now}
	if !counted.Allowed {
		w.used++
	}
	m.windows[key] = w
}

// toldWithin is the allowance of a key that was told less than a time ago.
func (m *Memory) toldWithin(age time.Duration, key string, rule Rule, now time.Time) (a Allowance, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, known := m.windows[key]
	if !known || !now.Before(w.end) || w.told.IsZero() || now.Sub(w.told) >= age {
		return Allowance{}, false
	}
	return NewAllowance(rule, w.start, w.used), true
}

func (m *Memory) sweep(now time.Time) {
	if m.opened++; m.opened < sweepEvery {
		return
	}
	m.opened = 0
	for key, w := range m.windows {
		if !now.Before(w.end) {
			delete(m.windows, key)
		}
	}
}
