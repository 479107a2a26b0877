package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/eventstore/storetest"
	"reckon/test/need"
	"reckon/test/wait"
)

// TestAnOutageLeavesNoGoroutines: tens of thousands of calls, as an hour brings, end with their contexts while the server
// is away, and leave nothing behind: no call a goroutine, and no search for the server a connection.
func TestAnOutageLeavesNoGoroutines(t *testing.T) {
	for name, usedBefore := range map[string]bool{"calls were made before": true, "the first call comes after": false} {
		t.Run(name, func(t *testing.T) {
			const callers, each, slack = 16, 1500, 60
			dir, address := t.TempDir(), need.Address(t)
			n := startNode(t, dir, address)
			store := connect(t, n.ConnectionString(), storetest.Catalogue())
			if usedBefore {
				if _, err := store.Append(t.Context(), "before", event.NoStream, note("a")); err != nil {
					t.Fatal(err)
				}
			}
			before := runtime.NumGoroutine()
			stopNode(t, n)
			var most atomic.Int64
			var group sync.WaitGroup
			for caller := range callers {
				group.Go(func() {
					for i := range each {
						ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
						var err error
						switch (caller + i) % 3 {
						case 0:
							_, err = store.Append(ctx, "s", event.NoStream, note("a"))
						case 1:
							_, err = store.Read(ctx, "s")
						default:
							for _, err = range store.ReadAll(ctx, event.Position{}) {
								if err != nil {
									err = commands.ErrUnavailable
								}
							}
						}
						cancel()
						if !errors.Is(err, commands.ErrUnavailable) {
							t.Errorf("without a server: %v", err)
							return
						}
						if now := int64(runtime.NumGoroutine()); now > most.Load() {
							most.Store(now)
						}
					}
				})
			}
			group.Wait()
			if got := int(most.Load()); got > before+2*callers+slack {
				t.Errorf("%d goroutines in the outage, %d before it", got, before)
			}
			startNode(t, dir, address)
			ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
			defer cancel()
			if _, err := store.Append(ctx, "after", event.NoStream, note("a")); err != nil {
				t.Fatal(err)
			}
			settle(ctx, t, before+slack)
		})
	}
}

// settle waits until no more than so many goroutines run.
func settle(ctx context.Context, t *testing.T, most int) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("no more than %d goroutines", most), func() bool {
		if ctx.Err() != nil {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, want %d\n%s", runtime.NumGoroutine(), most, stacks[:runtime.Stack(stacks, true)])
		}
		return runtime.NumGoroutine() <= most
	})
}

// TestManyOutagesLeaveNoGoroutines: callers go on while the server goes and comes, in the middle of their calls.
func TestManyOutagesLeaveNoGoroutines(t *testing.T) {
	const callers, outages, slack = 8, 12, 24
	dir, address := t.TempDir(), need.Address(t)
	n := startNode(t, dir, address)
	store := connect(t, n.ConnectionString(), storetest.Catalogue())
	if _, err := store.Append(t.Context(), "before", event.NoStream, note("a")); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	ending, end := context.WithCancel(t.Context())
	var answered atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for ending.Err() == nil {
				ctx, cancel := context.WithTimeout(ending, 500*time.Millisecond)
				if _, err := store.Read(ctx, "before"); err == nil {
					answered.Add(1)
				}
				cancel()
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	for range outages {
		stopNode(t, n)
		n = startNode(t, dir, address)
		enough := answered.Load() + 5*callers
		wait.Until(t, "calls are answered again", func() bool { return answered.Load() >= enough })
	}
	end()
	group.Wait()
	settle(ctx, t, before+slack)
}
