package view

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"reckon/domain/job"
)

// A job that has ended, but whose run or certificate cannot be read yet, is read again
// after firstRetry, then after twice as long each time, up to maxRetry.
const (
	firstRetry = 20 * time.Millisecond
	maxRetry   = time.Minute // longer than any request is held
)

// WaitUntilComplete waits until a job has ended and what it publishes can be read
// (Complete), but no longer than atMost and no longer than the process runs, and
// returns the job as read reads it then. Its errors are those of read and of Complete,
// or the context's.
func (v Jobs) WaitUntilComplete(ctx context.Context, jobID string, atMost time.Duration, read func(context.Context) (job.State, error)) (job.State, error) {
	notified, stop := v.NotifyJobEnded(jobID)
	defer stop()
	timeout := time.NewTimer(atMost)
	defer timeout.Stop()
	retry := backoff.ExponentialBackOff{InitialInterval: firstRetry, Multiplier: 2, MaxInterval: maxRetry}
	for last := false; ; {
		// The notification is registered before the job is read, so that an end in between is not missed.
		state, err := read(ctx)
		if err != nil || last {
			return state, err
		}
		if complete, err := v.Complete(ctx, state); err != nil || complete {
			return state, err
		}
		var soon <-chan time.Time
		if state.Terminal() { // it ended before the notification was registered, or its run or certificate is not appended yet
			soon = time.After(retry.NextBackOff())
		}
		select {
		case <-notified:
		case <-soon:
		case <-timeout.C:
			last = true
		case <-v.Closing:
			last = true
		case <-ctx.Done():
			return job.State{}, ctx.Err()
		}
	}
}
