package node

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"reckon/test/wait"
)

// length is how many wait, those who have gone included.
func (t *turns) length() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting.Len()
}

// TestSixUsersLeaveTurnsToASeventh: however many reads six users have waiting, a seventh's is behind one of each (rapid).
func TestSixUsersLeaveTurnsToASeventh(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := newTurns(rapid.IntRange(1, 3).Draw(t, "at a time"))
		for range of.free {
			if err := of.take(context.Background(), "held", 1); err != nil {
				t.Fatal(err)
			}
		}
		begun := make(chan int, 1000)
		ask := func(user, cost int) {
			before := of.length()
			go func() {
				if of.take(context.Background(), user, cost) == nil {
					begun <- user
				}
			}()
			for of.length() == before { // until it waits
				runtime.Gosched()
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "reads") {
			ask(rapid.IntRange(1, 6).Draw(t, "user"), rapid.IntRange(1, pageRecords).Draw(t, "records"))
		}
		ask(7, pageRecords)
		for had := map[int]int{}; ; {
			of.leave()
			user := <-begun
			if user == 7 {
				break
			}
			if had[user]++; had[user] > 1 {
				t.Fatalf("two of user %d before it", user)
			}
		}
		for of.length() > 0 {
			of.leave()
			<-begun
		}
	})
}

// TestTurnsOfThoseWhoLeaveAreNotLost: who no longer waits takes no turn.
func TestTurnsOfThoseWhoLeaveAreNotLost(t *testing.T) {
	t.Parallel()
	of := newTurns(1)
	if err := of.take(t.Context(), 1, 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 50)
	for range cap(left) {
		go func() { left <- of.take(ctx, 2, 1) }()
	}
	wait.Until(t, "all wait", func() bool { return of.length() == cap(left) })
	cancel()
	for range cap(left) {
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	of.leave()
	if of.free != 1 || of.length() != 0 {
		t.Errorf("%d free, %d wait", of.free, of.length())
	}
	one := turn{of: of, owner: 1}
	for range 2 {
		if err := one.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	one.leave()
	one.leave()
	if of.free != 1 {
		t.Errorf("%d free", of.free)
	}
}
