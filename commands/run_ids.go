package commands

import (
	"context"
	"sync"

	"reckon/domain/event"
	"reckon/domain/run"
)

// Reserver appends a reservation of run ids.
type Reserver interface {
	// Reserve appends one event with a random id at no expected revision, and returns
	// the revision it got. A conflict is not possible: whatever revision it got is
	// its own. It returns ErrUnavailable when the log does not answer; the event may
	// then be in the log, and its ids stay unused.
	Reserve(ctx context.Context, stream string, e event.Proposed) (event.Revision, error)
}

// RunIDs hands out run ids from blocks of run.BlockSize that it reserves in the log.
// No id is given twice, by this process or any other; the rest of a block is lost
// when its process ends. It is safe for concurrent use.
type RunIDs struct {
	store   Reserver
	process string

	mu         sync.Mutex
	next, last int64
}

// NewRunIDs has nothing reserved yet. process is this process's runner id, for the log.
func NewRunIDs(store Reserver, process string) *RunIDs {
	return &RunIDs{store: store, process: process, next: 1, last: 0}
}

// Next returns a run id that was never given before; a new block is reserved on
// behalf of in. Its error is a StreamError of the reservation.
func (r *RunIDs) Next(ctx context.Context, in Intent) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next > r.last {
		in.Account = "" // the block is not this account's
		reserved := in.Propose(run.ReservationStream, []event.Event{run.Reserved{Process: r.process}})[0]
		reserved.ID = newID().String()
		at, err := r.store.Reserve(ctx, run.ReservationStream, reserved)
		if err != nil {
			return 0, &StreamError{Stream: run.ReservationStream, Attempts: 1, Cause: err}
		}
		r.next, r.last = run.Block(at)
	}
	id := r.next
	r.next++
	return id, nil
}
