package eventlog

import (
	"context"
	"math"
	"sync"

	"reckon/eventstore/node/fairqueue"
)

const (
	maxQueuedRequests = 1024 // of one owner; others wait in Submit
	// A group of writes is as large as maxGroupBytes and maxGroupRequests allow while one owner writes alone. Once another one writes it
	// costs sharedGroupCost at most, unless it is of one request, until so much was written by one alone again.
	sharedGroupCost = 256 << 10
	aloneAfter      = 64 << 20
	requestCost     = 1 << 10 // what a request counts beyond its events
	eventCost       = 512     // what an event counts beyond its bytes
)

type ownerKey struct{}

// By returns a context whose writes count as those of an owner: a user, or a connection. Owners share the writer by cost, however many
// writes each of them submits; writes without an owner are the log's own, which count as one more. owner must be comparable.
func By(ctx context.Context, owner any) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// requests are the writes that were submitted and are not decided.
type requests struct {
	ready chan struct{} // a signal after a request was added

	mu      sync.Mutex
	waiting fairqueue.Queue[any, *request]
	rooms   map[any]*room
	newest  any    // owner of the request that was taken last
	alone   uint64 // cost of what that owner has written since another one did
}

// room bounds how many requests of one owner wait.
type room struct {
	places chan struct{} // holds one for each request
	users  int           // requests that have a place or wait for one
}

// OwnerOf returns the owner that By gave a context; nil without one.
func OwnerOf(ctx context.Context) any { return ctx.Value(ownerKey{}) }

func newRequests() *requests {
	return &requests{ready: make(chan struct{}, 1), rooms: map[any]*room{}}
}

// add waits until there is a place for the owner's request, unless ending is closed first or the request's context ends.
func (q *requests) add(r *request, ending <-chan struct{}) error {
	r.owner, r.cost = OwnerOf(r.ctx), r.weigh()
	of := q.enter(r.owner)
	select {
	case of.places <- struct{}{}:
	case <-ending:
		q.leave(r.owner)
		return ErrClosed
	case <-r.ctx.Done():
		q.leave(r.owner)
		return r.ctx.Err()
	}
	q.mu.Lock()
	q.waiting.Push(r.owner, r.cost, r)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default: // there is one
	}
	return nil
}

func (q *requests) enter(owner any) *room {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := q.rooms[owner]
	if of == nil {
		of = &room{places: make(chan struct{}, maxQueuedRequests)}
		q.rooms[owner] = of
	}
	of.users++
	return of
}

func (q *requests) leave(owner any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left(owner)
}

// left gives a place back, or the wait for one.
func (q *requests) left(owner any) *room {
	of := q.rooms[owner]
	if of.users--; of.users == 0 {
		delete(q.rooms, owner)
	}
	return of
}

// take returns the request that is decided next, for a group that has cost so much; nil when there is none, or the group
// is full without it.
func (q *requests) take(groupCost uint64) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	r, ok := q.waiting.Next()
	if !ok || groupCost > 0 && groupCost+r.cost > q.mostGroupCost(r.owner) {
		return nil
	}
	q.waiting.Pop()
	<-q.left(r.owner).places
	if r.owner != q.newest {
		q.newest, q.alone = r.owner, 0
	}
	q.alone = min(q.alone+r.cost, aloneAfter)
	return r
}

// mostGroupCost is what a group may cost whose next request is of an owner.
func (q *requests) mostGroupCost(next any) uint64 {
	if next != q.newest || q.alone < aloneAfter {
		return sharedGroupCost
	}
	return math.MaxUint64 // the writer bounds it
}

// weigh returns what the request takes of the writer's time, in bytes.
func (r *request) weigh() uint64 {
	size, events := 0, len(r.events)
	for i := range r.events {
		size += r.events[i].SizeBytes()
	}
	if r.several != nil {
		events = len(r.several.events)
		for i := range r.several.events {
			size += r.several.events[i].SizeBytes()
		}
	}
	return requestCost + uint64(eventCost*events+size)
}
