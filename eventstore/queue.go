package eventstore

import (
	"context"
	"sync"
)

// Queues is a set of locks by key, first come first served, for the writers of one
// process: writers of the same stream would otherwise conflict with each other. The
// zero value is ready for use; a key without holder or waiters takes no memory.
type Queues struct {
	mu   sync.Mutex
	keys map[string]*queue
}

type queue struct {
	turn    chan struct{} // holds one token while the key is locked
	waiting int           // callers that hold the lock or wait for it
}

// Enter waits for the lock of a key. The caller that has waited longest gets it next;
// leave releases it and may be called more than once. The error is the context's.
func (q *Queues) Enter(ctx context.Context, key string) (leave func(), err error) {
	q.mu.Lock()
	if q.keys == nil {
		q.keys = map[string]*queue{}
	}
	k := q.keys[key]
	if k == nil {
		k = &queue{turn: make(chan struct{}, 1)}
		q.keys[key] = k
	}
	k.waiting++
	q.mu.Unlock()

	select {
	case k.turn <- struct{}{}:
		return sync.OnceFunc(func() { <-k.turn; q.leave(key, k) }), nil
	case <-ctx.Done():
		q.leave(key, k)
		return nil, ctx.Err()
	}
}

func (q *Queues) leave(key string, k *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k.waiting--; k.waiting == 0 {
		delete(q.keys, key)
	}
}
