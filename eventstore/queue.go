package eventstore

import (
	"context"
	"sync"
)

// Queues lets the writers of one key in one process go one after another.
// The zero value is ready for use; a key nobody waits for costs no memory.
type Queues struct {
	mu   sync.Mutex
	keys map[string]*queue
}

type queue struct {
	turn    chan struct{} // holds one token while somebody is in
	waiting int           // in or waiting
}

// Enter waits for the key's turn; leave gives it to the one who waits longest.
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
		return sync.OnceFunc(func() { <-k.turn; q.done(key, k) }), nil
	case <-ctx.Done():
		q.done(key, k)
		return nil, ctx.Err()
	}
}

func (q *Queues) done(key string, k *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k.waiting--; k.waiting == 0 {
		delete(q.keys, key)
	}
}
