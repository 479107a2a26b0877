package decidertest

import (
	"runtime"
	"testing"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Lengths of the two histories that Linear folds.
const (
	shortHistory = 250
	longHistory  = 8 * shortHistory
)

// Linear fails when a fold takes memory that grows faster than the history: one that copies its state at every event
// takes 64 times as much for a history 8 times as long. nth is the i-th event of a history of any length, in which every
// event changes the state.
func Linear[C, S any](t *testing.T, d decider.Decider[C, S], nth func(i int) event.Event) {
	t.Helper()
	history := make([]event.Event, longHistory)
	for i := range history {
		history[i] = nth(i)
	}
	short, long := allocated(d, history[:shortHistory]), allocated(d, history)
	// Maps and slices grow by doubling: a history 8 times as long may take up to twice that. The constant is what a
	// fold of a state without maps allocates besides.
	if most := 2*longHistory/shortHistory*short + 4096; long > most {
		t.Errorf("folding %d events allocates %d bytes, folding %d events %d: more than %d, which is linear", shortHistory, short, longHistory, long, most)
	}
}

// allocated is how many bytes a fold allocates: the least of several times, since the runtime's own allocations are counted too.
func allocated[C, S any](d decider.Decider[C, S], history []event.Event) uint64 {
	var least uint64
	for round := range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		state := d.Fold(history)
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(state)
		if n := after.TotalAlloc - before.TotalAlloc; round == 0 || n < least {
			least = n
		}
	}
	return least
}
