package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestNobodyReadsWhatWasBefore: given readers at once and a value that grows, then each sees at least what was there when it asked, and one
// that asked before another's read began takes what that one found, be it a failure.
func TestNobodyReadsWhatWasBefore(t *testing.T) {
	t.Parallel()
	var written atomic.Int64
	s := &together[int64]{read: func(context.Context) (int64, error) { return written.Load(), nil }}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 1000 {
				least := written.Add(1)
				if got, err := s.now(t.Context()); err != nil || got < least {
					t.Errorf("%d, %v: %d was written before", got, err, least)
				}
			}
		})
	}
	readers.Wait()
	failure := errors.New("away")
	s = &together[int64]{begun: time.Now().Add(time.Hour), value: 7, err: failure}
	if got, err := s.now(t.Context()); got != 7 || !errors.Is(err, failure) {
		t.Errorf("%d, %v", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s = &together[int64]{read: func(ctx context.Context) (int64, error) { return 0, ctx.Err() }}
	if _, err := s.now(ended); !errors.Is(err, context.Canceled) || !s.begun.IsZero() {
		t.Errorf("the end of one caller is kept for the others: %v", err)
	}
}
