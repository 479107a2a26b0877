package adapter_test

import (
	"context"
	"errors"
	"fmt"
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
	flooding, stop := context.WithCancel(t.Context())
	defer stop()
	var flood sync.WaitGroup
	slow := slowCheck(t, "flood")
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
		if check, err := c.Check(t.Context(), checkOf(t, "small", "Expand[(x + y)^2]", "x^2 + 2 x y + y^2")); err != nil || check.Verdict != "verified" {
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

func checkOf(t *testing.T, account, code, answer string) commands.CheckRequest {
	t.Helper()
	tree, err := expression.Parse(code)
	if err != nil {
		t.Fatal(err)
	}
	return commands.CheckRequest{Account: account, Code: code, Tree: tree, Answer: answer, Steps: 1 << 30}
}

// slowCheck is a test of 6,002 digits for primality, which takes longer than these tests.
func slowCheck(t *testing.T, account string) commands.CheckRequest {
	t.Helper()
	slow := checkOf(t, account, "PrimeQ[2^19937-1]", "True")
	slow.QueueWait = time.Hour
	return slow
}

// TestLongChecksGiveWay: two accounts have slow checks at all places. A third account's is carried out meanwhile, and they go on.
func TestLongChecksGiveWay(t *testing.T) {
	t.Parallel()
	places := fair.NewPool(2)
	c := adapter.Checker{Engine: enginetest.Start(t, engine.Options{Concurrency: 1}), Checker: checkertest.Start(t, checker.Options{}), Places: places}
	flooding, stop := context.WithCancel(t.Context())
	defer stop()
	var flood sync.WaitGroup
	for i := range 2 {
		slow := slowCheck(t, fmt.Sprint("flood ", i))
		flood.Go(func() {
			if check, err := c.Check(flooding, slow); !errors.Is(err, context.Canceled) {
				t.Errorf("a slow one: %+v, %v", check, err)
			}
		})
	}
	all := fair.Usage{Held: 2}
	wait.Until(t, "both places are held", func() bool { return places.Usage() == all })
	quick := checkOf(t, "small", "Expand[(x + y)^2]", "x^2 + 2 x y + y^2")
	quick.QueueWait = time.Hour
	if check, err := c.Check(t.Context(), quick); err != nil || check.Verdict != "verified" {
		t.Errorf("%+v, %v", check, err)
	}
	wait.Until(t, "both go on", func() bool { return places.Usage() == all })
	stop()
	flood.Wait()
	if u := places.Usage(); u != (fair.Usage{}) {
		t.Errorf("%+v", u)
	}
}
