package view

import (
	"context"
	"time"

	"reckon/domain/event"
	"reckon/internal/httpkit"
)

// MaxPlaceWait is the longest time that an answer waits for the queue's table to have its job, and for the job's place.
const MaxPlaceWait = 500 * time.Millisecond

// queueModel is the read model that places are counted in.
const queueModel = "queue"

// Queue tells places in the queue. A place is right or left out: a job that the queue's table does not have yet, or a table
// that is being built, has none.
type Queue struct {
	// Place returns a job's place, from 1; known is false when the table does not have the job as queued or running.
	Place func(ctx context.Context, jobID string) (place int, known bool, err error)
	// Wait returns nil once a read model has applied everything up to a position of the log.
	Wait func(ctx context.Context, readModel string, p event.Position) error
	// IsReady tells whether a read model holds all that the log held when it began to be built.
	IsReady func(readModel string) bool
	Writes  *httpkit.AccountWrites
	MaxWait time.Duration // of PlaceOf; MaxPlaceWait but in tests
}

// PlaceOf returns the place of an account's queued job, 0 when there is none. It waits, for at most MaxWait, until the
// table has applied the account's last write known to this process.
func (q Queue) PlaceOf(ctx context.Context, account, jobID string) (place int, err error) {
	if !q.IsReady(queueModel) {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, q.MaxWait)
	defer cancel()
	place, known, err := q.Place(ctx, jobID)
	if err != nil || known {
		return place, err
	}
	written := q.Writes.LastWrite(account)
	if written == (event.Position{}) {
		return 0, nil
	}
	if err := q.Wait(ctx, queueModel, written); err != nil {
		return 0, err
	}
	place, _, err = q.Place(ctx, jobID)
	return place, err
}
