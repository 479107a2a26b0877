package engine

import (
	"sync"
	"time"
)

const (
	// memoryInterval is the time between two looks at the memory of sessions that evaluate.
	memoryInterval = 100 * time.Millisecond
	// sessionShare of the machine's memory is what all sessions may hold by default: one part of so many.
	sessionShare = 4
)

// memoryGuard keeps what the workers of all sessions hold within Options.SessionMemoryBytes. It looks while a session
// evaluates and once after; a session that does nothing holds what it held.
type memoryGuard struct {
	engine *Engine
	limit  int64 // bytes; 0: it cannot be known here, and nothing is limited
	wake   chan struct{}
	ended  chan struct{}
	done   sync.WaitGroup
	once   sync.Once
}

func guardSessionMemory(e *Engine) *memoryGuard {
	g := &memoryGuard{engine: e, limit: e.options.SessionMemoryBytes, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if g.limit == 0 {
		g.limit = machineMemory() / sessionShare
	}
	if g.limit > 0 {
		g.done.Go(g.run)
	}
	return g
}

func (g *memoryGuard) stop() {
	g.once.Do(func() { close(g.ended) })
	g.done.Wait()
}

// look has the guard look at the sessions until none evaluates any more.
func (g *memoryGuard) look() {
	select {
	case g.wake <- struct{}{}:
	default: // it will
	}
}

func (g *memoryGuard) run() {
	for {
		select {
		case <-g.ended:
			return
		case <-g.wake:
		}
		for more := true; more; {
			select {
			case <-g.ended:
				return
			case <-time.After(memoryInterval):
			}
			more = g.measure()
			for _, s := range g.engine.overMemory(g.limit) {
				g.engine.expireSession(s, ExpiredMemory)
			}
		}
	}
}

// measure looks at every session that has evaluated since it was last looked at, and tells whether one still does.
func (g *memoryGuard) measure() (more bool) {
	workers := map[*session]*Worker{}
	e := g.engine
	e.mu.Lock()
	for _, s := range e.sessions {
		if !s.unmeasured || s.worker == nil {
			continue
		}
		workers[s] = s.worker
		s.unmeasured = s.users > 0
		more = more || s.unmeasured
	}
	e.mu.Unlock()
	for s, worker := range workers {
		held := worker.memoryBytes()
		e.mu.Lock()
		s.memory = held
		e.mu.Unlock()
	}
	return more
}

// overMemory chooses sessions to end, until the others together hold no more than the limit: first those in which nothing
// runs, the one unused for longest first; then the largest of those that evaluate.
func (e *Engine) overMemory(limit int64) (victims []*session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	total := int64(0)
	left := map[*session]bool{}
	for _, s := range e.sessions {
		if s.memory > 0 {
			total += s.memory
			left[s] = true
		}
	}
	for total > limit {
		var worst *session
		for s := range left {
			if worst == nil || s.endsBefore(worst) {
				worst = s
			}
		}
		victims = append(victims, worst)
		total -= worst.memory
		delete(left, worst)
	}
	return victims
}

// endsBefore tells whether a session is ended before another when memory is short. The caller holds Engine.mu.
func (s *session) endsBefore(other *session) bool {
	switch idle, otherIdle := s.users == 0, other.users == 0; {
	case idle != otherIdle:
		return idle
	case idle:
		return s.used.Before(other.used)
	}
	return s.memory > other.memory
}

// SessionMemory tells how many bytes the workers of all sessions held when they were last looked at, and how many they may.
func (e *Engine) SessionMemory() (held, limit int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		held += s.memory
	}
	return held, e.memory.limit
}
