package view

import (
	"context"
	"time"

	"reckon/domain/job"
)

// lookAgain is how soon a job that has ended is looked at again for what it publishes.
const lookAgain = 20 * time.Millisecond

// Await waits until nothing about a job will change any more, the time is over,
// or the process stops; then it is the job as read reads it.
func (v Jobs) Await(ctx context.Context, jobID string, patience time.Duration, read func(context.Context) (job.State, error)) (job.State, error) {
	notified, stop := v.NotifyJobEnded(jobID)
	defer stop()
	over := time.NewTimer(patience)
	defer over.Stop()
	again := lookAgain
	for last := false; ; {
		// Registered first, read second: an end in between is not missed.
		state, err := read(ctx)
		if err != nil || last {
			return state, err
		}
		if complete, err := v.Complete(ctx, state); err != nil || complete {
			return state, err
		}
		var soon <-chan time.Time
		if state.Terminal() { // what it publishes is about to be appended; a watch that began after the end is not told of it
			soon = time.After(again)
			again *= 2
		}
		select {
		case <-notified:
		case <-soon:
		case <-over.C:
			last = true
		case <-v.Closing:
			last = true
		case <-ctx.Done():
			return job.State{}, ctx.Err()
		}
	}
}
