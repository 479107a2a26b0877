package adapter_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/expression"
	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/fair"
	"reckon/test/wait"
)

// TestOneAccountsChecksStarveNobody: one account has slow checks running and waiting; another account's are carried out
// although they may not wait. Who goes away frees the place of his check.
func TestOneAccountsChecksStarveNobody(t *testing.T) {
	t.Parallel()
	checks := checkertest.Start(t, checker.Options{})
	places := fair.NewPool(2)
	c := adapter.Checker{Engine: enginetest.Start(t, engine.Options{Concurrency: 1}), Checker: checks, Places: places}
	request := func(account, code, answer string) commands.CheckRequest {
		tree, err := expression.Parse(code)
		if err != nil {
			t.Fatal(err)
		}
		return commands.CheckRequest{Account: account, Code: code, Tree: tree, Answer: answer, Steps: 1 << 30}
	}
	flooding, stop := context.WithCancel(t.Context())
	defer stop()
	var flood sync.WaitGroup
	slow := request("flood", "PrimeQ[2^19937-1]", "True")
	slow.QueueWait = time.Hour // a test of 6,002 digits for primality takes longer than this test
	for range 4 {
		flood.Go(func() {
			if check, err := c.Check(flooding, slow); !errors.Is(err, context.Canceled) {
				t.Errorf("the flood: %+v, %v", check, err)
			}
		})
	}
	want := fair.Usage{Held: 1, Waiting: 3}
	wait.Until(t, "one holds the place and three wait", func() bool { return places.Usage() == want })
	for range 10 {
		if check, err := c.Check(t.Context(), request("small", "Expand[(x + y)^2]", "x^2 + 2 x y + y^2")); err != nil || check.Verdict != "verified" {
			t.Errorf("%+v, %v", check, err)
		}
	}
	if u := places.Usage(); u != want {
		t.Errorf("meanwhile the flood had ended: %+v", u)
	}
	stop()
	flood.Wait()
	if u := places.Usage(); u != (fair.Usage{}) {
		t.Errorf("%+v", u)
	}
}
