package view

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"reckon/domain/job"
)

// A job that has ended is read again for what it publishes after lookAgain, then
// after twice as long each time, up to mostLookAgain.
const (
	firstReread = 20 * time.Millisecond
	maxReread   = time.Minute // above every patience: a limit that backoff wants
)

// WaitComplete waits until the job is complete, atMost has passed, or the process stops,
// and returns the job's state as read returns it then. Errors: that of read, of the blob or
// stream reader, or the context's.
func (v Jobs) WaitComplete(ctx context.Context, jobID string, atMost time.Duration, read func(context.Context) (job.State, error)) (job.State, error) {
	notified, stop := v.NotifyJobEnded(jobID)
	defer stop()
	over := time.NewTimer(atMost)
	defer over.Stop()
	again := backoff.ExponentialBackOff{InitialInterval: firstReread, Multiplier: 2, MaxInterval: maxReread}
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
			soon = time.After(again.NextBackOff())
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
