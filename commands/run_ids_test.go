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
	"reckon/domain/run"
)

// TestNoRunIDIsGivenTwice: several processes share a log, and now and then one
// dies and another begins.
func TestNoRunIDIsGivenTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newBareLog(t)
		given := map[int64]string{}
		processes, started := []*commands.RunIDs{}, 0
		start := func() *commands.RunIDs {
			started++
			return commands.NewRunIDs(l, fmt.Sprint("process ", started))
		}
		for range rapid.IntRange(1, 4).Draw(t, "processes") {
			processes = append(processes, start())
		}
		last := make([]int64, len(processes))
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			p := rapid.IntRange(0, len(processes)-1).Draw(t, "process")
			if rapid.IntRange(0, 9).Draw(t, "dies") == 0 {
				processes[p], last[p] = start(), 0
			}
			for range rapid.SampledFrom([]int{1, 2, run.BlockSize - 1, run.BlockSize, run.BlockSize + 1}).Draw(t, "ids") {
				id, err := processes[p].Next(context.Background(), intentOf(anna))
				if err != nil {
					t.Fatal(err)
				}
				if by, twice := given[id]; twice || id < 1 || id <= last[p] {
					t.Fatalf("id %d after %d; given before: %v by %s", id, last[p], twice, by)
				}
				given[id], last[p] = fmt.Sprint(p), id
			}
		}
	})
}

func TestRunIDsOfConcurrentRequests(t *testing.T) {
	const each = 3*run.BlockSize/8 + 1
	l := newLog(t)
	var mu sync.Mutex
	given := map[int64]bool{}
	var group sync.WaitGroup
	for range 2 {
		ids := commands.NewRunIDs(l, "p")
		for range 4 {
			group.Go(func() {
				for range each {
					id, err := ids.Next(context.Background(), intentOf(anna))
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if given[id] {
						t.Errorf("id %d was given twice", id)
					}
					given[id] = true
					mu.Unlock()
				}
			})
		}
	}
	group.Wait()
	if len(given) != 8*each {
		t.Errorf("%d ids, want %d", len(given), 8*each)
	}
}

func TestABlockOfRunIDsIsNoAccounts(t *testing.T) {
	l := newLog(t)
	in := intentOf(anna)
	ids := commands.NewRunIDs(l, "p")
	for range 2 {
		if _, err := ids.Next(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	history, err := l.Read(t.Context(), run.ReservationStream)
	if err != nil || len(history.Events) != 1 {
		t.Fatalf("%d reservations, %v; one is enough", len(history.Events), err)
	}
	r := history.Events[0]
	if r.Event != event.Event(run.Reserved{Process: "p"}) || r.Metadata.Account != "" || r.Metadata.Correlation != in.ID.String() || r.ID == commands.EventID(in.ID, run.ReservationStream, 0) {
		t.Errorf("%+v", r)
	}
}

// failingReserver fails so often, then reserves.
type failingReserver struct {
	commands.Reserver
	failures int
}

func (f *failingReserver) Reserve(ctx context.Context, stream string, e event.Proposed) (event.Revision, error) {
	if f.failures--; f.failures >= 0 {
		return 0, commands.ErrUnavailable
	}
	return f.Reserver.Reserve(ctx, stream, e)
}

func TestAFailedReservationGivesNothing(t *testing.T) {
	ids := commands.NewRunIDs(&failingReserver{Reserver: newLog(t), failures: 2}, "p")
	for range 2 {
		if id, err := ids.Next(t.Context(), intentOf(anna)); !errors.Is(err, commands.ErrUnavailable) || id != 0 {
			t.Errorf("%d, %v", id, err)
		}
	}
	if id, err := ids.Next(t.Context(), intentOf(anna)); err != nil || id != 1 {
		t.Errorf("afterwards: %d, %v", id, err)
	}
}
