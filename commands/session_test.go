package commands_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/session"
)

func open(owner string) session.Open {
	return session.Open{Account: anna, SessionID: "notebook", Owner: owner, Address: "at " + owner}
}

func own(store commands.Store, alive owners, owner string) (commands.Ownership, error) {
	return commands.OwnSession(context.Background(), store, alive, intentOf(anna), open(owner))
}

var notebook = session.Stream(anna, "notebook")

func TestASessionHasOneOwner(t *testing.T) {
	l := newLog(t)
	both := owners{"one": true, "two": true}
	if got, err := own(l, both, "one"); err != nil || got != (commands.Ownership{Epoch: 1, Opened: true}) {
		t.Errorf("the first: %+v, %v", got, err)
	}
	if got, err := own(l, both, "one"); err != nil || got != (commands.Ownership{Epoch: 1}) {
		t.Errorf("the same again: %+v, %v", got, err)
	}
	var far *commands.SessionElsewhereError
	if _, err := own(l, both, "two"); !errors.As(err, &far) || *far != (commands.SessionElsewhereError{Owner: "one", Address: "at one"}) || !errors.Is(err, session.ErrOwnedElsewhere) {
		t.Errorf("another while it lives: %v", err)
	}
	if got := l.names(notebook); got != "session.opened" {
		t.Errorf("stream: %s", got)
	}
}

func TestADeadOwnerLosesItsSession(t *testing.T) {
	l := newLog(t)
	if _, err := own(l, owners{"one": true}, "one"); err != nil {
		t.Fatal(err)
	}
	if got, err := own(l, owners{"two": true}, "two"); err != nil || got != (commands.Ownership{Epoch: 2, Opened: true, PreviousEnd: "owner_lost"}) {
		t.Errorf("taken over: %+v, %v", got, err)
	}
	if got := l.names(notebook); got != "session.opened session.expired session.opened" {
		t.Errorf("stream: %s", got)
	}
	history, err := l.Read(t.Context(), notebook)
	if err != nil {
		t.Fatal(err)
	}
	correlation := history.Events[1].Metadata.Correlation
	if correlation == "" || correlation != history.Events[2].Metadata.Correlation {
		t.Errorf("one request, correlations %q and %q", correlation, history.Events[2].Metadata.Correlation)
	}
}

// unknownOwners cannot tell.
type unknownOwners struct{}

var errNotWatching = errors.New("not watching yet")

func (unknownOwners) Alive(context.Context, string) (bool, error) { return false, errNotWatching }

func TestWithoutKnowingTheOwnerNothingIsTaken(t *testing.T) {
	l := newLog(t)
	if _, err := own(l, owners{"one": true}, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := commands.OwnSession(t.Context(), l, unknownOwners{}, intentOf(anna), open("two")); !errors.Is(err, errNotWatching) {
		t.Errorf("%v", err)
	}
	if got := l.names(notebook); got != "session.opened" {
		t.Errorf("stream: %s", got)
	}
}

// TestTwoProcessesRaceForASession: between one's look and its append the other opens it.
func TestTwoProcessesRaceForASession(t *testing.T) {
	both := owners{"one": true, "two": true}
	l := newLog(t)
	l.before = func(string) error {
		l.before = nil
		_, err := own(l.elsewhere(), both, "two")
		return err
	}
	var far *commands.SessionElsewhereError
	if _, err := own(l, both, "one"); !errors.As(err, &far) || far.Owner != "two" {
		t.Errorf("the slower: %v", err)
	}
	if got := l.names(notebook); got != "session.opened" {
		t.Errorf("stream: %s", got)
	}
}

// TestOneCallOpens: of one process's calls at once, one opened the epoch.
func TestOneCallOpens(t *testing.T) {
	l := newLog(t)
	var mu sync.Mutex
	fresh := 0
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got, err := own(l, owners{"one": true}, "one")
			if err != nil || got.Epoch != 1 {
				t.Errorf("%+v, %v", got, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if got.Opened {
				fresh++
			}
		})
	}
	group.Wait()
	if fresh != 1 {
		t.Errorf("%d calls opened one epoch", fresh)
	}
}

// TestSessionsUnderAnyOrder: whatever opens, clears, expires and dies, an epoch
// has one owner, epochs grow by one, and every epoch but the last has ended.
func TestSessionsUnderAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx, l := context.Background(), newBareLog(t)
		alive := owners{"a": true, "b": true, "c": true}
		owner := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				who := owner.Draw(t, "who")
				got, err := own(l, alive, who)
				var far *commands.SessionElsewhereError
				switch {
				case errors.As(err, &far):
					if far.Owner == who || !alive[far.Owner] {
						t.Fatalf("%s was sent to %s", who, far.Owner)
					}
				case err != nil || got.Epoch < 1:
					t.Fatalf("%+v, %v", got, err)
				}
			},
			"dies":   func(t *rapid.T) { alive[owner.Draw(t, "who")] = false },
			"reborn": func(t *rapid.T) { alive[owner.Draw(t, "who")] = true },
			"clear": func(t *rapid.T) {
				if _, _, _, err := commands.ClearSession(ctx, l, intentOf(anna), "notebook"); err != nil {
					t.Fatal(err)
				}
			},
			"expire": func(t *rapid.T) {
				epoch := rapid.IntRange(0, 5).Draw(t, "epoch")
				if _, err := commands.ExpireSession(ctx, l, intentOf(anna), session.Expire{Account: anna, SessionID: "notebook", Epoch: epoch, Reason: "idle"}); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				history, err := l.Read(ctx, notebook)
				if err != nil {
					t.Fatal(err)
				}
				if err := orderly(history.Domain()); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func orderly(history []event.Event) error {
	epoch, live := 0, false
	for i, e := range history {
		switch e := e.(type) {
		case session.Opened:
			if live || e.Epoch != epoch+1 {
				return fmt.Errorf("event %d opens epoch %d after %d, live %v", i, e.Epoch, epoch, live)
			}
			epoch, live = e.Epoch, true
		case session.Cleared:
			if !live || e.Epoch != epoch {
				return fmt.Errorf("event %d clears epoch %d; the present one is %d, live %v", i, e.Epoch, epoch, live)
			}
			live = false
		case session.Expired:
			if !live || e.Epoch != epoch {
				return fmt.Errorf("event %d expires epoch %d; the present one is %d, live %v", i, e.Epoch, epoch, live)
			}
			live = false
		}
	}
	return nil
}

func TestClearSession(t *testing.T) {
	l := newLog(t)
	if existed, epoch, at, err := commands.ClearSession(t.Context(), l, intentOf(anna), "notebook"); existed || epoch != 0 || err != nil || at != (event.Position{}) {
		t.Errorf("nothing to clear: %v %d %v %v", existed, epoch, at, err)
	}
	for want := range 2 {
		if _, err := own(l, owners{"one": true}, "one"); err != nil {
			t.Fatal(err)
		}
		existed, epoch, at, err := commands.ClearSession(t.Context(), l, intentOf(anna), "notebook")
		if head, _ := l.Head(t.Context()); !existed || epoch != want+1 || err != nil || at != head {
			t.Errorf("clear: %v %d %v %v", existed, epoch, at, err)
		}
	}
	if got, err := own(l, owners{"one": true}, "one"); err != nil || got != (commands.Ownership{Epoch: 3, Opened: true, PreviousEnd: "cleared"}) {
		t.Errorf("after clearing: %+v, %v", got, err)
	}
	if existed, _, _, err := commands.ClearSession(t.Context(), l, intentOf(bert), "notebook"); existed || err != nil {
		t.Errorf("another account's: %v, %v", existed, err)
	}
}

// TestClearNamesTheEpochItEnded, and not one that ended while it looked.
func TestClearNamesTheEpochItEnded(t *testing.T) {
	l := newLog(t)
	if _, err := own(l, owners{"one": true}, "one"); err != nil {
		t.Fatal(err)
	}
	l.before = func(string) error {
		l.before = nil
		_, err := own(l.elsewhere(), owners{"two": true}, "two") // one died
		return err
	}
	existed, epoch, _, err := commands.ClearSession(t.Context(), l, intentOf(anna), "notebook")
	if !existed || epoch != 2 || err != nil {
		t.Errorf("existed %v, epoch %d, %v", existed, epoch, err)
	}
}

func TestExpireLeavesALaterEpochAlone(t *testing.T) {
	l := newLog(t)
	for range 2 {
		if _, err := own(l, owners{"one": true}, "one"); err != nil {
			t.Fatal(err)
		}
		if _, err := commands.ExpireSession(t.Context(), l, intentOf(anna), session.Expire{Account: anna, SessionID: "notebook", Epoch: 1, Reason: "idle"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.names(notebook); got != "session.opened session.expired session.opened" {
		t.Errorf("stream: %s", got)
	}
}
