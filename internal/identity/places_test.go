package identity_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/internal/identity"
	"reckon/internal/passwords/passwordstest"
	"reckon/projections/pgtest"
)

// lives says that no session has ended.
func lives(context.Context, string) (bool, error) { return false, nil }

// TestPlacesOfManyProcesses: of many sessions that are opened at once, exactly as many as the plan allows get a place, whichever
// process asks.
func TestPlacesOfManyProcesses(t *testing.T) {
	t.Parallel()
	for name, fresh := range addresses {
		t.Run(name, func(t *testing.T) {
			address := fresh(t)
			var processes []*identity.Places
			for range 4 {
				db, err := identity.Open(t.Context(), at(address))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				processes = append(processes, identity.NewPlaces(identity.New(db, time.Now, identity.DefaultRules(), passwordstest.NewHasher()), nil, func(err error) { t.Error(err) }))
			}
			for round := range 5 {
				var taken atomic.Int64
				var group sync.WaitGroup
				for i := range 12 {
					group.Go(func() {
						ok, err := processes[i%4].Take(t.Context(), fmt.Sprint("account-", round), fmt.Sprint("session-", i/2), 3, lives) // each name twice
						if err != nil {
							t.Error(err)
						}
						if ok && i%2 == 0 {
							taken.Add(1)
						}
					})
				}
				group.Wait()
				if n := taken.Load(); n != 3 {
					t.Errorf("%d places taken of 3", n)
				}
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, c *clock) {
		p := identity.NewPlaces(s, nil, func(err error) { t.Error(err) })
		ended := map[string]bool{}
		take := func(session string) bool {
			t.Helper()
			ok, err := p.Take(t.Context(), "anna", session, 2, func(_ context.Context, id string) (bool, error) { return ended[id], nil })
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		opened := func(session string) {
			t.Helper()
			if err := p.Opened(t.Context(), "anna", session); err != nil {
				t.Fatal(err)
			}
		}
		if !take("one") || !take("two") || !take("one") || take("three") {
			t.Error("two places of two, and no more")
		}
		opened("one")
		// Two is not in the log yet: its place is held. One is, and has ended.
		ended["one"], ended["two"] = true, true
		if !take("three") || take("four") {
			t.Error("the place of a session that ended is free, that of one about to be opened is not")
		}
		c.pass(3 * time.Minute) // two was never opened
		if !take("four") || take("one") {
			t.Error("a place is not held for ever")
		}
		failed := errors.New("the log is away")
		c.pass(3 * time.Minute)
		if ok, err := p.Take(t.Context(), "anna", "five", 2, func(context.Context, string) (bool, error) { return true, failed }); ok || !errors.Is(err, failed) {
			t.Errorf("without knowing who lives: %v, %v", ok, err)
		}
	})
}

func TestPlacesThatAreAway(t *testing.T) {
	t.Parallel()
	way, through := pgtest.Behind(t, pgtest.Database(t))
	db, err := identity.Open(t.Context(), at(through))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	own, said := 1, 0
	p := identity.NewPlaces(identity.New(db, time.Now, identity.DefaultRules(), passwordstest.NewHasher()), func(string) int { return own }, func(error) { said++ })
	way.Refuse()
	if ok, err := p.Take(t.Context(), "anna", "two", 2, lives); !ok || err != nil {
		t.Errorf("one of two held here: %v, %v", ok, err)
	}
	own = 2
	if ok, err := p.Take(t.Context(), "anna", "three", 2, lives); ok || err != nil || said != 2 {
		t.Errorf("two of two held here: %v, %v; said %d times", ok, err, said)
	}
}
