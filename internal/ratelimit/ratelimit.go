// Package ratelimit counts requests in windows of time: at most so many per key and
// window, a window beginning with a key's first request.
//
// It promises that a refused request costs nothing more, and never blocks one
// key behind another's work. It knows neither accounts nor addresses: a key is
// any string. Memory counts for one process; internal/identity counts in the
// database for several.
package ratelimit

import (
	"context"
	"sync"
	"time"
)

// Rule is how many requests fit into one window.
type Rule struct {
	Requests int
	Window   time.Duration
}

// Allowance is what counting one request found.
type Allowance struct {
	Allowed   bool
	Limit     int
	Remaining int
	ResetAt   time.Time // when the window ends and the whole limit is there again
}

// Limiter counts.
type Limiter interface {
	// Take counts one request of the key at this moment.
	Take(ctx context.Context, key string, rule Rule, now time.Time) (Allowance, error)
}

// Verdict is the allowance of a key whose window began at start and now holds
// used requests, this one included.
func Verdict(rule Rule, start time.Time, used int) Allowance {
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
}

// NewMemory returns a Limiter that has counted nothing.
func NewMemory() *Memory { return &Memory{windows: map[string]window{}} }

// Take is Limiter.
func (m *Memory) Take(_ context.Context, key string, rule Rule, now time.Time) (Allowance, error) {
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
	return Verdict(rule, w.start, w.used), nil
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
