package engine

import (
	"context"
	"sync"
	"time"

	"reckon/runners/fair"
)

// compute calls a worker within a budget, at the context's place: while others have that, the worker stands still, and its budget with it.
// It tells how long the worker ran and stood still.
func compute(ctx context.Context, budget time.Duration, worker *Worker, call, answer any) (ran, stood time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &computing{worker: worker, cancel: cancel, budget: budget, since: time.Now()}
	c.timer = time.AfterFunc(budget, func() { cancel(context.DeadlineExceeded) })
	defer c.timer.Stop()
	if place := fair.Of(ctx); place != nil {
		place.Attach(c)
	}
	err = worker.Call(ctx, call, answer)
	ran, stood = c.times()
	return ran, stood, err
}

// evaluate has a worker evaluate. Without a reply the time until it failed is as if the worker had told it: counted as the budget
// is, so that an exhausted budget is never reported with less time than it had.
func evaluate(ctx context.Context, budget time.Duration, worker *Worker, call any, answer *reply) error {
	ran, stood, err := compute(ctx, budget, worker, call, answer)
	if err != nil {
		answer.ElapsedNS = ran.Nanoseconds()
	} else {
		answer.ElapsedNS = max(0, answer.ElapsedNS-stood.Nanoseconds()) // the worker's clock goes on
	}
	return err
}

// computing is a worker that computes within a budget and can stand still: a fair.Work.
type computing struct {
	worker *Worker
	cancel context.CancelCauseFunc
	budget time.Duration

	mu    sync.Mutex
	timer *time.Timer // of the budget
	still bool
	since time.Time     // when it last began to run or to stand still
	ran   time.Duration // before since
	stood time.Duration // likewise
}

// turn notes that it stands still from now on, or runs.
func (c *computing) turn(still bool) {
	now := time.Now()
	if c.still {
		c.stood += now.Sub(c.since)
	} else {
		c.ran += now.Sub(c.since)
	}
	c.still, c.since = still, now
}

// times are how long it has run and stood still.
func (c *computing) times() (ran, stood time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(c.still)
	return c.ran, c.stood
}

// Pause is of fair.Work.
func (c *computing) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.worker.halt(true)
	c.turn(true)
}

// Continue is of fair.Work.
func (c *computing) Continue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(false)
	c.timer.Reset(c.budget - c.ran)
	c.worker.halt(false)
}

// End is of fair.Work.
func (c *computing) End(why error) { c.cancel(why) }
