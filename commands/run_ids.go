package commands

import (
	"context"
	"sync"

	"reckon/domain/event"
	"reckon/domain/run"
)

// Reserver appends run.Reserved with a random event id and no expected
// revision: the one append where no conflict is possible, because whatever
// revision it gets is its own.
type Reserver interface {
	Reserve(ctx context.Context, stream string, e event.Proposed) (event.Revision, error)
}

// RunIDs hands out run ids, a block at a time. No id is given twice, by this
// process or any other; a process that dies leaves a gap.
type RunIDs struct {
	store   Reserver
	process string

	mu         sync.Mutex
	next, last int64
}

// NewRunIDs starts with nothing reserved. process names this process in the log.
func NewRunIDs(store Reserver, process string) *RunIDs {
	return &RunIDs{store: store, process: process, next: 1, last: 0}
}

// Next returns a run id nobody has had; in names the command a new block is reserved for.
func (r *RunIDs) Next(ctx context.Context, in Intent) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next > r.last {
		in.Account = "" // the block is not this account's
		reserved := in.Propose([]event.Event{run.Reserved{Process: r.process}})[0]
		reserved.ID = newID().String()
		at, err := r.store.Reserve(ctx, run.ReservationStream, reserved)
		if err != nil {
			return 0, err
		}
		r.next, r.last = run.Block(at)
	}
	id := r.next
	r.next++
	return id, nil
}
