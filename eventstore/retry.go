package eventstore

import (
	"context"
	"fmt"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/cenkalti/backoff/v5"

	"reckon/commands"
)

// retry calls op until it succeeds or fails for a reason of its own. Every call
// sends the same bytes, so that a repeated append is one append.
func retry[T any](ctx context.Context, c *connection, op func(context.Context, *esdb.Client) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for pause := doubling(firstRetryPause, maxRetryPause); ; {
		result, err := once(ctx, c, op)
		if err == nil || verdict(err) != again {
			return result, translate(ctx, err)
		}
		select {
		case <-ctx.Done():
			return result, fmt.Errorf("%w: %w", commands.ErrUnavailable, err)
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// doubling are pauses that begin with first and double up to most.
func doubling(first, most time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: first, Multiplier: 2, MaxInterval: most}
}

func once[T any](ctx context.Context, c *connection, op func(context.Context, *esdb.Client) (T, error)) (T, error) {
	client, err := c.acquire(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return call(ctx, func() (T, error) {
		defer c.release(client)
		result, err := op(ctx, client.Client)
		if isUnavailable(err) {
			c.lost(client)
		}
		return result, err
	})
}

// call returns when f does or when the context ends: the client looks for a
// server without regard to a context, and then f is left to finish alone.
func call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		result T
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := f()
		answers <- answer{result, err}
	}()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
