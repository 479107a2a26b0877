package node

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// budget bounds the payload bytes that all appends together hold in memory.
type budget struct {
	bytes *semaphore.Weighted
	limit int64
}

func newBudget(limitBytes int64) *budget {
	return &budget{bytes: semaphore.NewWeighted(limitBytes), limit: limitBytes}
}

// holding is what one append holds; it is given back as a whole.
type holding struct {
	budget *budget
	bytes  int64
}

// reserve waits for room, but not long: a stalled client must not stall the others.
func (h *holding) reserve(ctx context.Context, sizeBytes int) error {
	n := min(int64(sizeBytes)+eventOverheadBytes, h.budget.limit)
	if !h.budget.bytes.TryAcquire(n) {
		ctx, cancel := context.WithTimeout(ctx, maxHeldWait)
		defer cancel()
		if h.budget.bytes.Acquire(ctx, n) != nil {
			return errTooBusy
		}
	}
	h.bytes += n
	return nil
}

func (h *holding) release() {
	h.budget.bytes.Release(h.bytes)
	h.bytes = 0
}

// eventOverheadBytes is what an event costs beyond its payload on its way to the disk.
const eventOverheadBytes = 512
