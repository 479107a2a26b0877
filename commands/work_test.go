package commands_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/internal/blobs"
)

// awayBlobs is a store of blobs that is away for a number of calls.
type awayBlobs struct {
	commands.Blobs
	left int
}

func (b *awayBlobs) Put(ctx context.Context, content []byte) (event.Blob, error) {
	if b.left > 0 {
		b.left--
		return event.Blob{}, &blobs.UnavailableError{Err: errors.New("refused")}
	}
	return b.Blobs.Put(ctx, content)
}

// TestWhatWasComputedIsNotComputedAgain: a job's answer waits for the store and the key until both are back, or until the job is
// killed; a request's does not wait.
func TestWhatWasComputedIsNotComputedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("7", event.MaxInlineBytes+1)
		l := newLog(t)
		h := newHouse(t, l)
		h.engine.answer = func(commands.EngineRequest) (commands.EngineOutcome, error) {
			return commands.EngineOutcome{Result: long, InputForm: long}, nil
		}
		store, keys, signer := &awayBlobs{Blobs: l.blobs}, 0, newSigner()
		asked := 0
		h.with(func(c *commands.EvaluatorConfig) {
			c.Blobs = store
			c.Signer = func() (*receipt.Signer, error) {
				if asked++; asked > 1 && keys > 0 { // it was there when the job began
					keys--
					return nil, receipt.ErrCannotSign
				}
				return signer, nil
			}
		})
		computed := 0
		ctx, kill := context.WithCancelCause(t.Context())
		ctx = commands.WithWork(ctx, func() { computed++ })
		store.left, keys = 100, 100
		if _, err := h.Compute(ctx, intentOf(anna), 7, "job", evaluate("1+1")); err != nil || store.left != 0 || keys != 0 || computed == 0 || len(h.engine.requests) != 1 {
			t.Errorf("%v, %d and %d left, computed %d, %d evaluations", err, store.left, keys, computed, len(h.engine.requests))
		}

		store.left = 1
		if _, err := h.Compute(t.Context(), intentOf(anna), 8, "job", evaluate("1+1")); !commands.IsAway(err) {
			t.Errorf("without work: %v", err)
		}
		store.left = 1 // what a job is to compute is stored before it begins: it does not wait for that
		if _, err := h.Compute(ctx, intentOf(anna), 8, "job", evaluate(long)); !commands.IsAway(err) {
			t.Errorf("before it begins: %v", err)
		}

		superseded := errors.New("superseded")
		store.left = 1 << 30
		done := make(chan error)
		go func() {
			_, err := h.Compute(ctx, intentOf(anna), 9, "job", evaluate("1+1"))
			done <- err
		}()
		synctest.Wait()
		kill(superseded)
		if err := <-done; !errors.Is(err, superseded) {
			t.Errorf("killed: %v", err)
		}
	})
}
