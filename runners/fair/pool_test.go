package fair_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reckon/runners/fair"
)

// acquire takes a place that is free.
func acquire(t *testing.T, p *fair.Pool, account string, hold time.Duration) (release func()) {
	t.Helper()
	place, err := p.Acquire(t.Context(), account, 0, hold)
	if err != nil {
		t.Fatalf("%s: %v", account, err)
	}
	return place.Release
}

// TestSaturatedSaysWhenAPlaceComesFree: the nth account in line is told the end of the nth place.
func TestSaturatedSaysWhenAPlaceComesFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPool(3)
		defer acquire(t, p, "a", 10*time.Second)()
		defer acquire(t, p, "b", 40*time.Second)()
		defer acquire(t, p, "c", 20*time.Second)()
		var late *fair.SaturatedError
		if _, err := p.Acquire(t.Context(), "d", 2*time.Second, time.Second); !errors.As(err, &late) || late.RetryAfter != 8*time.Second {
			t.Errorf("the first in line: %v", err)
		}
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := p.Acquire(t.Context(), "d", 5*time.Second, time.Second); !errors.As(err, &late) || late.RetryAfter != 3*time.Second {
				t.Errorf("the first of two: %v", err)
			}
		})
		synctest.Wait()
		var second *fair.SaturatedError
		if _, err := p.Acquire(t.Context(), "e", time.Second, time.Second); !errors.As(err, &second) || second.RetryAfter != 17*time.Second {
			t.Errorf("the second of two: %v", err)
		}
		group.Wait()
		if u := p.Usage(); u != (fair.Usage{Held: 3}) {
			t.Errorf("%+v", u)
		}
	})
}

// TestWhoGivesUpLeavesNothing: not when its time runs out, not when its caller goes, not when it is served in that moment.
func TestWhoGivesUpLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPool(1)
		release := acquire(t, p, "a", time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := p.Acquire(ctx, "b", time.Minute, time.Minute); !errors.Is(err, context.Canceled) {
				t.Errorf("its caller went: %v", err)
			}
		})
		group.Go(func() {
			served, err := p.Acquire(t.Context(), "c", time.Minute, time.Minute)
			if err != nil {
				t.Errorf("the next in line: %v", err)
				return
			}
			served.Release()
			served.Release() // changes nothing
		})
		synctest.Wait()
		cancel()
		release()
		release()
		group.Wait()
		if u := p.Usage(); u != (fair.Usage{}) {
			t.Errorf("%+v", u)
		}
		acquire(t, p, "d", time.Minute)()
	})
}

// TestManyCallers under the race detector: every place comes back, whoever gives up and whenever.
func TestManyCallers(t *testing.T) {
	p := fair.NewPool(3)
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				if n%3 == 0 {
					go cancel()
				}
				place, err := p.Acquire(ctx, string(rune('a'+i%5)), time.Duration(n%4)*50*time.Microsecond, time.Second)
				if err == nil {
					place.Release()
				}
				cancel()
			}
		})
	}
	group.Wait()
	if u := p.Usage(); u != (fair.Usage{}) {
		t.Errorf("%+v", u)
	}
}
