package engine

import (
	"cmp"
	"maps"
	"slices"
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

// overMemory chooses sessions to end, until the others together hold no more than the limit.
func (e *Engine) overMemory(limit int64) []*session {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*session
	for _, s := range e.sessions {
		if s.memory > 0 {
			all = append(all, s)
		}
	}
	return beyond(limit, all)
}

// owner is an account with what its sessions hold.
type owner struct {
	account  string
	weight   int64 // of its plan
	held     int64 // bytes
	sessions []*session
}

// beyond chooses sessions until the others together hold no more than the limit. An account's share of the limit is by the
// weight of its plan among those of all accounts that have sessions. The account that is furthest over its share loses a session
// first: one in which nothing runs before one that evaluates, of these the largest, of equal ones the one unused for longest.
// So nobody loses anything who is within his share.
func beyond(limit int64, sessions []*session) (victims []*session) {
	owners := ownersOf(sessions)
	total, weights := int64(0), int64(0)
	for _, o := range owners {
		total += o.held
		weights += o.weight
	}
	for total > limit {
		worst := slices.MaxFunc(owners, func(a, b *owner) int {
			return cmp.Or(cmp.Compare(a.over(limit, weights), b.over(limit, weights)), cmp.Compare(a.account, b.account))
		})
		victim := slices.MinFunc(worst.sessions, (*session).endsBefore)
		victims = append(victims, victim)
		total -= victim.memory
		worst.held -= victim.memory
		worst.sessions = slices.DeleteFunc(worst.sessions, func(s *session) bool { return s == victim })
		if len(worst.sessions) == 0 {
			weights -= worst.weight
			owners = slices.DeleteFunc(owners, func(o *owner) bool { return o == worst })
		}
	}
	return victims
}

// over is by how many bytes an account is over its share.
func (o *owner) over(limit, weights int64) float64 {
	return float64(o.held) - float64(limit)*float64(o.weight)/float64(weights)
}

func ownersOf(sessions []*session) []*owner {
	of := map[string]*owner{}
	for _, s := range sessions {
		o := of[s.account]
		if o == nil {
			o = &owner{account: s.account}
			of[s.account] = o
		}
		o.weight = max(o.weight, int64(s.weight), 1)
		o.held += s.memory
		o.sessions = append(o.sessions, s)
	}
	return slices.Collect(maps.Values(of))
}

// endsBefore compares two sessions of an account: the one that is ended first when memory is short comes first. The caller holds Engine.mu.
func (s *session) endsBefore(other *session) int {
	return cmp.Or(cmp.Compare(min(s.users, 1), min(other.users, 1)), -cmp.Compare(s.memory, other.memory), s.used.Compare(other.used), cmp.Compare(s.key, other.key))
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
