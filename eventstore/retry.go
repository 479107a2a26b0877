package eventstore

import (
	"context"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/cenkalti/backoff/v5"

	"reckon/commands"
)

// retry calls op until it succeeds, is refused, or RetryTimeout has passed: then the
// error is commands.ErrUnavailable. A context that is cancelled ends it with commands.ErrCancelled. Every call sends the same bytes, so that the server
// recognises a repeated append and stores it once.
func retry[T any](ctx context.Context, c *connection, op func(context.Context, *esdb.Client) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, RetryTimeout)
	defer cancel()
	for pause := newBackoff(firstRetryPause, maxRetryPause); ; {
		result, err := tryOnce(ctx, c, op)
		if err == nil || classify(err) != outcomeUnknown {
			return result, commandError(ctx, err)
		}
		select {
		case <-ctx.Done():
			return result, commands.Unanswered(ctx, err)
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// newBackoff returns pauses that begin with first and double up to most.
func newBackoff(first, most time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: first, Multiplier: 2, MaxInterval: most}
}

func tryOnce[T any](ctx context.Context, c *connection, op func(context.Context, *esdb.Client) (T, error)) (T, error) {
	leave, err := c.enter(ctx)
	if err != nil {
		var none T
		return none, err
	}
	client, err := c.acquire(ctx)
	if err != nil {
		leave()
		var none T
		return none, err
	}
	ctx, cancel := context.WithCancel(ctx) // a call whose connection is lost ends
	defer cancel()
	return callOver(ctx, c, client, func() (T, error) {
		defer leave()
		defer c.release(client)
		result, err := op(ctx, client.Client)
		if isUnavailable(err) {
			c.replaceClient(client)
		}
		return result, err
	})
}

// callOver returns when f, which uses a client, does, when the context ends or with errLost when the client's connection is lost. The
// client ignores contexts while it discovers a server; f then goes on in its goroutine, of which there are maxCalls at most, and its
// result is dropped.
func callOver[T any](ctx context.Context, c *connection, used *client, f func() (T, error)) (T, error) {
	type answer struct {
		result T
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := f()
		answers <- answer{result, err}
	}()
	silent := time.NewTicker(silenceOf(ctx))
	defer silent.Stop()
	var none T
	for {
		select {
		case a := <-answers:
			return a.result, a.err
		case <-silent.C:
			go c.examine(used)
		case <-used.lost.Done():
			return none, errLost
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
}

// silenceOf is for how long a call may have no answer until the connection is examined.
func silenceOf(ctx context.Context) time.Duration {
	deadline, has := ctx.Deadline()
	if !has {
		return maxSilence
	}
	return min(maxSilence, max(minSilence, time.Until(deadline)/2))
}
