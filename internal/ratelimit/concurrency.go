package ratelimit

import (
	"sync"
	"time"
)

// Concurrency counts requests that run at the same time: at most so many per key. Its methods may be called concurrently.
type Concurrency struct {
	mu      sync.Mutex
	running map[string]map[*request]struct{}
}

// request is one that runs.
type request struct{ over time.Time }

// NewConcurrency returns a Concurrency in which nothing runs.
func NewConcurrency() *Concurrency {
	return &Concurrency{running: map[string]map[*request]struct{}{}}
}

// Begin begins a request of the key that is over at the time over, unless limit of them run already. It returns what ends
// the request, which is called once; or, when it is refused, nil and when the first of those that run is over.
func (c *Concurrency) Begin(key string, limit int, over time.Time) (end func(), free time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	running := c.running[key]
	if len(running) >= limit {
		for r := range running {
			if free.IsZero() || r.over.Before(free) {
				free = r.over
			}
		}
		return nil, free
	}
	if running == nil {
		running = map[*request]struct{}{}
		c.running[key] = running
	}
	begun := &request{over}
	running[begun] = struct{}{}
	return func() { c.end(key, begun) }, time.Time{}
}

func (c *Concurrency) end(key string, r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running[key], r)
	if len(c.running[key]) == 0 {
		delete(c.running, key)
	}
}

// Running counts the requests of the key that run.
func (c *Concurrency) Running(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running[key])
}
