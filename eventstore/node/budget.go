package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// budget bounds the bytes of events that all calls hold in memory together. When it is
// used up and somebody needs more, the connection of the client that holds most and has
// stalled is closed: no client can keep the others from memory by being slow.
type budget struct {
	bytes  *semaphore.Weighted
	limit  int64
	wait   time.Duration // longest wait for what others hold
	logger *slog.Logger

	mu      sync.Mutex
	holding map[*holding]struct{} // those with bytes
}

func newBudget(limitBytes int64, logger *slog.Logger) *budget {
	return &budget{bytes: semaphore.NewWeighted(limitBytes), limit: limitBytes, wait: maxHeldWait, logger: logger, holding: map[*holding]struct{}{}}
}

// holding is the part of the budget that one call has reserved; release returns all of it.
type holding struct {
	budget *budget
	conn   *placedConn // nil for a call of no connection

	mu     sync.Mutex
	bytes  int64
	waits  time.Time // since when the client is waited for; zero while it is not
	closed bool      // nothing more can be reserved
}

// hold returns an empty holding of a call.
func (b *budget) hold(ctx context.Context) *holding { return &holding{budget: b, conn: connOf(ctx)} }

// reserve reserves bytes. It waits up to budget.wait for others to release theirs, then
// returns errTooBusy: a stalled client must not stall the others.
func (h *holding) reserve(ctx context.Context, sizeBytes int) error {
	n := min(int64(sizeBytes), h.budget.limit)
	if !h.budget.bytes.TryAcquire(n) {
		if err := h.budget.acquire(ctx, n); err != nil {
			return err
		}
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		h.budget.bytes.Release(n)
		return errShuttingDown
	}
	h.bytes += n
	h.budget.holding[h] = struct{}{}
	return nil
}

// acquire waits for n bytes, and takes them from stalled clients.
func (b *budget) acquire(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	for ctx.Err() == nil {
		b.closeStalled(time.Now())
		look, stop := context.WithTimeout(ctx, stalledAfter/4)
		err := b.bytes.Acquire(look, n)
		stop()
		if err == nil {
			return nil
		}
	}
	return errTooBusy
}

// closeStalled closes the connection whose calls hold most while their client stalls.
func (b *budget) closeStalled(now time.Time) {
	b.mu.Lock()
	held := map[*placedConn]int64{}
	for h := range b.holding {
		if n := h.stalled(now); n > 0 && h.conn != nil {
			held[h.conn] += n
		}
	}
	b.mu.Unlock()
	var slowest *placedConn
	for conn, n := range held {
		if slowest == nil || n > held[slowest] {
			slowest = conn
		}
	}
	for conn := range held {
		if conn.cut.Load() {
			return // its calls are ending, and give back what they hold
		}
	}
	if slowest == nil || slowest.cut.Swap(true) {
		return
	}
	b.logger.Warn("memory is short: the connection of a client that does not read or send was closed", "client", slowest.RemoteAddr().String(), "bytes", held[slowest])
	_ = slowest.Close() // it is gone either way
}

// stalled returns the bytes that are held because the client is waited for.
func (h *holding) stalled(now time.Time) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits.IsZero() || now.Sub(h.waits) < stalledAfter {
		return 0
	}
	return h.bytes
}

// waitForClient notes that what is held is held because the client is waited for, from now on; working that it is not.
func (h *holding) waitForClient() { h.waitForClientSince(time.Now()) }

// waitForClientSince is waitForClient for a client that is on time until then.
func (h *holding) waitForClientSince(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits = t
}

func (h *holding) working() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits = time.Time{}
}

// giveBack returns a part of what was reserved.
func (h *holding) giveBack(sizeBytes int) {
	h.mu.Lock()
	n := min(int64(sizeBytes), h.budget.limit, h.bytes)
	h.bytes -= n
	h.mu.Unlock()
	h.budget.bytes.Release(n)
}

// pass gives a part of what was reserved to another holding.
func (h *holding) pass(to *holding, sizeBytes int) {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.mu.Lock()
	n := min(int64(sizeBytes), h.bytes)
	h.bytes -= n
	h.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	if to.closed {
		h.budget.bytes.Release(n)
		return
	}
	to.bytes += n
	h.budget.holding[to] = struct{}{}
}

func (h *holding) release() {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.budget.holding, h)
	h.budget.bytes.Release(h.bytes)
	h.bytes, h.waits = 0, time.Time{}
}

// close releases everything, and refuses what comes later.
func (h *holding) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.release()
}

// eventOverheadBytes is what an event is counted for beyond its payload.
const eventOverheadBytes = 512

// quota bounds the calls of a kind: of all clients, of each user (shares.go), and of each connection.
type quota struct {
	all, each int
	full      error

	mu     sync.Mutex
	taken  int
	byConn map[*placedConn]int
	byUser map[*share]int
}

func newQuota(all, each int, full error) *quota {
	return &quota{all: all, each: each, full: full, byConn: map[*placedConn]int{}, byUser: map[*share]int{}}
}

// take takes a place; leave returns it.
func (q *quota) take(ctx context.Context) (leave func(), err error) {
	conn := connOf(ctx)
	var of *share
	if conn != nil {
		of = conn.of.Load()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.taken >= q.all, conn != nil && q.byConn[conn] >= q.each,
		of != nil && !mayHave(int64(q.byUser[of]+1), int64(q.taken+1), int64(forUsers(q.all))):
		return nil, q.full
	}
	q.taken++
	q.byConn[conn]++
	q.byUser[of]++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.taken--
		if q.byConn[conn]--; q.byConn[conn] == 0 {
			delete(q.byConn, conn)
		}
		if q.byUser[of]--; q.byUser[of] == 0 {
			delete(q.byUser, of)
		}
	}, nil
}
