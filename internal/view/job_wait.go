package view

import (
	"context"
	"time"

	"reckon/domain/job"
)

// firstReread is after how long a job that has ended is read again for what it
// publishes; every further time takes twice as long.
const firstReread = 20 * time.Millisecond

// Await waits until nothing about a job will change any more, for at
// most the time given, or until the process stops; it returns the job as read reads
// it then. Its errors are those of read and of the context.
func (v Jobs) Await(ctx context.Context, jobID string, atMost time.Duration, read func(context.Context) (job.State, error)) (job.State, error) {
	happened, stop := v.Watch(jobID)
	defer stop()
	over := time.NewTimer(atMost)
	defer over.Stop()
	again := firstReread
	for last := false; ; {
		// Watched first, read second: an end in between is not missed.
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
		case <-happened:
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
