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

// TestNobodyStarves: one account keeps every worker it may have busy with evaluations that never end, in sessions and
// without. Another account's evaluations all have an answer, although nobody waits for a worker at all: with a queue wait of
// none an evaluation without a free worker would be refused. So they do for whatever number of workers there is.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	const budget = time.Second // of an evaluation of the flood, so that its places change hands; the others have time on any machine
	for _, workers := range []int{2, 3, 4} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			e := enginetest.Start(t, engine.Options{Concurrency: workers})
			flooding, stop := context.WithCancel(t.Context())
			var flood sync.WaitGroup
			for i := range 8 {
				flood.Go(func() {
					for n := 0; flooding.Err() == nil; n++ {
						request := engine.Request{Code: "While[True]", Account: "flood", Budget: budget, QueueWait: time.Hour}
						if i%2 == 0 {
							request.Code, request.Session = "Pause[20]", fmt.Sprint("flood/", i, "/", n)
						}
						_, err := e.Evaluate(flooding, request)
						if !errors.Is(err, engine.ErrBudgetExhausted) && flooding.Err() == nil {
							t.Errorf("the flood: %v", err)
						}
					}
				})
			}
			wait.Until(t, "a flood", func() bool { u := e.Usage(); return u.Held == workers-1 && u.Waiting == 8-u.Held })
			for i := range 100 {
				request := engine.Request{Code: "1+1", Account: "small", Budget: time.Hour}
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
		})
	}
}

// TestACallerThatGoesAwayFreesItsWorker at once: the budget has not come near its end when the next one computes. One that
// only waited has computed nothing, and a session that somebody else evaluates in stays.
func TestACallerThatGoesAwayFreesItsWorker(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, engine.Options{Concurrency: 1, Idle: -1})
	for _, session := range []string{"", "ann/s"} {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := e.Evaluate(ctx, engine.Request{Code: "While[True]", Account: "ann", Session: session, Budget: time.Hour, QueueWait: time.Minute})
			left <- err
		}()
		wait.Until(t, "an evaluation", func() bool { return e.Usage() == fair.Usage{Held: 1} })
		waiting, leaveTheLine := context.WithCancel(t.Context())
		waited := make(chan error, 1)
		go func() {
			_, err := e.Evaluate(waiting, engine.Request{Code: "1", Account: "bob", Budget: time.Hour, QueueWait: time.Hour})
			waited <- err
		}()
		wait.Until(t, "a line", func() bool { return e.Usage() == fair.Usage{Held: 1, Waiting: 1} })
		leaveTheLine()
		if err := <-waited; !errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrCancelled) {
			t.Errorf("one that only waited: %v", err)
		}
		if session != "" {
			wait.Until(t, "a worker of the session", func() bool { return len(e.Sessions("ann")) == 1 })
		}
		leave()
		err := <-left
		if outcome, err := e.Evaluate(t.Context(), engine.Request{Code: "1+1", Account: "ann", Budget: time.Minute}); err != nil || outcome.Result != "2" {
			t.Errorf("the next: %v", err)
		}
		if !errors.Is(err, engine.ErrCancelled) && session != "" {
			t.Errorf("one that computed: %v", err)
		}
	}
	wantEnded(t, e, "ann/s", engine.ExpiredDied)
}
