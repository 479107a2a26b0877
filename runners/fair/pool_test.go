package fair_test

import (
	"context"
	"errors"
	"slices"
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

// work records what becomes of it.
type work struct{ happened []string }

func (w *work) Pause()    { w.happened = append(w.happened, "paused") }
func (w *work) Continue() { w.happened = append(w.happened, "continued") }
func (w *work) End(error) { w.happened = append(w.happened, "ended") }

func (w *work) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(w.happened, want) {
		t.Errorf("%v, want %v", w.happened, want)
	}
}

// TestWorkAfterWorkAtOnePlace: a place is paused between two pieces of work. The second begins by standing still, and goes on with the place;
// the third begins at once.
func TestWorkAfterWorkAtOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPool(2)
		acquired := func(account string, wait time.Duration) *fair.Place {
			place, err := p.Acquire(t.Context(), account, wait, time.Hour)
			if err != nil {
				t.Fatal(account, err)
			}
			return place
		}
		older := acquired("older", time.Hour)
		older.Attach(&work{})
		time.Sleep(time.Millisecond)
		place := acquired("a", 10*time.Second)
		first, second, third := &work{}, &work{}, &work{}
		place.Attach(first)
		time.Sleep(2 * fair.Short)
		small := acquired("small", time.Hour)
		synctest.Wait()
		first.want(t, "paused") // it was done by then: its process is gone
		place.Attach(second)
		second.want(t, "paused")
		small.Release()
		synctest.Wait()
		second.want(t, "paused", "continued")
		late := acquired("late", time.Hour)
		late.Attach(&work{})
		time.Sleep(time.Minute)
		synctest.Wait()
		second.want(t, "paused", "continued", "paused", "continued")
		late.Release()
		place.Attach(third)
		third.want(t)
		place.Release()
		older.Release()
		if u := p.Usage(); u != (fair.Usage{}) {
			t.Errorf("%+v", u)
		}
	})
}
