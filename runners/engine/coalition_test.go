package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/fair"
	"reckon/test/wait"
)

// TestACoalitionStarvesNobody: six accounts keep more evaluations that never end than there are workers, in sessions and without,
// and ask again when one is ended. Another account's evaluations all have an answer, although no budget ends.
func TestACoalitionStarvesNobody(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Concurrency: 2})
	flooding, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for i := range 12 {
		flood.Go(func() {
			account := fmt.Sprint("flood", i%6)
			for n := 0; flooding.Err() == nil; n++ {
				request := engine.Request{Code: "Pause[3600]", Account: account, Budget: time.Hour, QueueWait: time.Hour}
				if i%2 == 0 {
					request.Session = fmt.Sprint(account, "/", i, "/", n)
				}
				_, err := e.Evaluate(flooding, request)
				var late *fair.SaturatedError
				if !errors.As(err, &late) && flooding.Err() == nil {
					t.Errorf("the flood: %v", err)
				}
			}
		})
	}
	wait.Until(t, "a flood", func() bool { return e.Usage().Held == 2 })
	for i := range 4 {
		request := engine.Request{Code: "1+1", Account: "small", Budget: time.Hour, QueueWait: time.Hour}
		if i%2 == 0 {
			request.Session = "small/s"
		}
		if outcome, err := e.Evaluate(t.Context(), request); err != nil || outcome.Result != "2" {
			t.Fatalf("evaluation %d: %q, %v", i, outcome.Result, err)
		}
	}
	stop()
	flood.Wait()
	if u := e.Usage(); u != (fair.Usage{}) {
		t.Errorf("afterwards %+v", u)
	}
}

// TestWhatStoodStillGoesOn: a long evaluation in a session is paused for a short one of another account, and answers when it
// has gone on, with the session's variables.
func TestWhatStoodStillGoesOn(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Concurrency: 2})
	ctx, leave := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer leave()
	group.Go(func() {
		request := engine.Request{Code: "Pause[3600]", Account: "ann", Budget: time.Hour, QueueWait: time.Hour}
		if _, err := e.Evaluate(ctx, request); !errors.Is(err, engine.ErrCancelled) {
			t.Errorf("the older one: %v", err)
		}
	})
	wait.Until(t, "one", func() bool { return e.Usage() == fair.Usage{Held: 1} })
	group.Go(func() {
		request := engine.Request{Code: "y=7;Pause[3];y", Account: "bob", Session: "bob/s", Budget: time.Hour, QueueWait: time.Hour}
		if outcome, err := e.Evaluate(t.Context(), request); err != nil || outcome.Result != "7" {
			t.Errorf("what stood still: %q, %v", outcome.Result, err)
		}
	})
	wait.Until(t, "two", func() bool { return e.Usage() == fair.Usage{Held: 2} })
	for range 4 {
		outcome, err := e.Evaluate(t.Context(), engine.Request{Code: "1+1", Account: "eve", Budget: time.Hour, QueueWait: time.Hour})
		if err != nil || outcome.Result != "2" {
			t.Errorf("the short one: %q, %v", outcome.Result, err)
		}
	}
	wait.Until(t, "the end of what stood still", func() bool { return e.Usage() == fair.Usage{Held: 1} })
	if outcome, err := inSession(t, e, "bob/s", "y"); err != nil || outcome.Result != "7" {
		t.Errorf("its session: %q, %v", outcome.Result, err)
	}
}

// TestWhatStandsStillForTooLongEnds: the youngest of three long evaluations on two places is not continued within its wait. Its
// session ends with it.
func TestWhatStandsStillForTooLongEnds(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Concurrency: 2})
	ctx, leave := context.WithCancel(t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer leave()
	for held := 1; held <= 2; held++ {
		group.Go(func() {
			request := engine.Request{Code: "Pause[3600]", Account: fmt.Sprint(held), Budget: time.Hour, QueueWait: time.Hour}
			if _, err := e.Evaluate(ctx, request); !errors.Is(err, engine.ErrCancelled) {
				t.Errorf("an older one: %v", err)
			}
		})
		wait.Until(t, "a place", func() bool { return e.Usage() == fair.Usage{Held: held} })
	}
	_, err := e.Evaluate(t.Context(), engine.Request{Code: "Pause[3600]", Account: "last", Session: "last/s", Budget: time.Hour, QueueWait: 5 * fair.Short})
	var late *fair.SaturatedError
	if !errors.As(err, &late) {
		t.Errorf("the youngest: %v", err)
	}
	wantEnded(t, e, "last/s", engine.ExpiredDied)
}
