// Package fairqueue orders the work of several owners, so that none waits for more than a bounded part of another's.
//
// It promises start-time fair queueing (Goyal, Vin and Cheng, IEEE/ACM Transactions on Networking 5(5), 1997): while two owners have
// items, what is taken of each differs by no more than one item of each, by cost; an owner's own items keep their order; and an owner
// who had none is served next but for the items of others that began before. It does no I/O, waits for nothing, and is not safe for
// concurrent use.
package fairqueue

import (
	"container/heap"
	"math"
)

// Queue holds items of owners. Its zero value is empty.
type Queue[K comparable, T any] struct {
	owners map[K]*owner[K, T]
	heads  heads[K, T] // owners with items, the next first
	now    uint64      // virtual time: the start of the item that was taken last; after the last one the latest end
	latest uint64      // end of any item
	added  uint64      // items ever added
	length int
}

// owner is one owner's items, and when in virtual time the next of theirs starts.
type owner[K comparable, T any] struct {
	key   K
	items []item[T]
	ends  uint64 // of the newest item
}

type item[T any] struct {
	value  T
	start  uint64
	number uint64 // in the order of adding
}

// Len is how many items there are.
func (q *Queue[K, T]) Len() int { return q.length }

// Next is the item that Pop takes next; false when there is none.
func (q *Queue[K, T]) Next() (value T, ok bool) {
	if len(q.heads) == 0 {
		return value, false
	}
	return q.heads[0].items[0].value, true
}

// Push adds an item of an owner behind the owner's others. cost is at least 1.
func (q *Queue[K, T]) Push(key K, cost uint64, value T) {
	o := q.owners[key]
	if o == nil {
		q.forget()
		o = &owner[K, T]{key: key}
		q.owners[key] = o
	}
	start := max(q.now, o.ends)
	o.ends = start + max(cost, 1)
	q.latest = max(q.latest, o.ends)
	q.added++
	o.items = append(o.items, item[T]{value, start, q.added})
	q.length++
	if len(o.items) == 1 {
		heap.Push(&q.heads, o)
	}
}

// Pop takes the item whose start is the earliest, of several the one that was added first; false when there is none.
func (q *Queue[K, T]) Pop() (key K, value T, ok bool) {
	if len(q.heads) == 0 {
		return key, value, false
	}
	o := q.heads[0]
	first := o.items[0]
	o.items[0] = item[T]{}
	o.items = o.items[1:]
	q.length--
	q.now = first.start
	if len(o.items) > 0 {
		heap.Fix(&q.heads, 0)
	} else {
		o.items = nil
		heap.Pop(&q.heads)
	}
	if q.length == 0 {
		q.now = q.latest
	}
	return o.key, first.value, true
}

// forget leaves out owners without items once there are many: those whose past has no effect, and if they are too few all of them,
// each of whom gains one item by that.
func (q *Queue[K, T]) forget() {
	const few = 64
	most := few + 2*len(q.heads)
	if q.owners == nil {
		q.owners = map[K]*owner[K, T]{}
	}
	for _, before := range []uint64{q.now, math.MaxUint64} {
		if len(q.owners) < most {
			return
		}
		for key, o := range q.owners {
			if len(o.items) == 0 && o.ends <= before {
				delete(q.owners, key)
			}
		}
	}
}

// heads is a heap.Interface of owners with items.
type heads[K comparable, T any] []*owner[K, T]

func (h heads[K, T]) Len() int { return len(h) }

func (h heads[K, T]) Less(i, j int) bool {
	a, b := &h[i].items[0], &h[j].items[0]
	return a.start < b.start || a.start == b.start && a.number < b.number
}

func (h heads[K, T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *heads[K, T]) Push(x any) { *h = append(*h, x.(*owner[K, T])) }

func (h *heads[K, T]) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
