package node

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// budget bounds the payload bytes that all appends in progress hold in memory together.
type budget struct {
	bytes *semaphore.Weighted
	limit int64
}

func newBudget(limitBytes int64) *budget {
	return &budget{bytes: semaphore.NewWeighted(limitBytes), limit: limitBytes}
}

// holding is the part of the budget that one append has reserved; release returns all of it.
type holding struct {
	budget *budget
	bytes  int64
}

// reserve reserves the bytes of one event. It waits up to maxHeldWait for other appends
// to release theirs, then returns errTooBusy: a stalled client must not stall the others.
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

// eventOverheadBytes is what an event is counted for beyond its payload.
const eventOverheadBytes = 512
