package commands

import (
	"context"
	"errors"
	"time"

	"reckon/domain/event"
	"reckon/domain/receipt"
)

// storePause is the pause before what was computed is stored again.
const storePause = 500 * time.Millisecond

type (
	workKey     struct{}
	computedKey struct{}
)

// WithWork returns the context of a job's work. computed is called, perhaps more than once, when the work is done and what is
// left is to store it (AfterWork).
func WithWork(ctx context.Context, computed func()) context.Context {
	return context.WithValue(ctx, workKey{}, computed)
}

// AfterWork says that the work of a context is done, and returns the context to store it with: while the store of blobs or the
// signing key is away, storing waits until the context ends, so that the work need not be done again. A context that is no
// job's is returned as it is.
func AfterWork(ctx context.Context) context.Context {
	computed, isWork := ctx.Value(workKey{}).(func())
	if !isWork {
		return ctx
	}
	computed()
	return context.WithValue(ctx, computedKey{}, true)
}

// patiently does what may fail because a part is away: with the context of computed work (AfterWork) until it is back.
func patiently[T any](ctx context.Context, do func() (T, error)) (T, error) {
	for {
		done, err := do()
		away := IsAway(err) || errors.Is(err, receipt.ErrCannotSign)
		if !away || ctx.Value(computedKey{}) == nil || ctx.Err() != nil {
			return done, err
		}
		select {
		case <-ctx.Done():
			return done, context.Cause(ctx)
		case <-time.After(storePause):
		}
	}
}

// StoreBlob is Blobs.Put, which waits for a store that is away when the context is that of computed work (AfterWork).
func StoreBlob(ctx context.Context, blobs Blobs, content []byte) (event.Blob, error) {
	return patiently(ctx, func() (event.Blob, error) { return blobs.Put(ctx, content) })
}
