package decidertest

import (
	"reflect"
	"runtime"
	"testing"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// Lengths of the two histories that Fold folds.
const (
	shortHistory = 250
	longHistory  = 8 * shortHistory
)

// Fold checks what a decider promises of its Evolve. nth is the i-th event of a history of any length, in which every
// event changes the state.
//
// A fold that takes memory that grows faster than the history fails: one that copies its state at every event takes 64
// times as much for a history 8 times as long. So does a state that an event changes which is folded onto it later, on
// either of two branches, and a state with a Go map, which could not be kept from that.
func Fold[C, S any](t *testing.T, d decider.Decider[C, S], nth func(i int) event.Event) {
	t.Helper()
	if path := goMapIn(reflect.TypeFor[S]()); path != "" {
		t.Errorf("the state has a Go map, %s, which a fold would change in place: use decider.Map", path)
	}
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
	if at := changedState(d, history[:shortHistory]); at >= 0 {
		t.Errorf("the state before event %d, %s, is another after it was folded", at, history[at].EventName())
	}
}

// changedState is the first event that changes a state before it, -1 without one. It folds the history with a branch at
// every event, keeps all states, and compares them with those of a fold without branches.
func changedState[C, S any](d decider.Decider[C, S], history []event.Event) int {
	kept, state := make([]S, len(history)), d.Initial()
	for i, e := range history {
		kept[i] = state
		for _, branch := range history[i+1 : min(i+4, len(history))] {
			d.Evolve(state, branch)
		}
		state = d.Evolve(state, e)
	}
	for i := range history {
		if !reflect.DeepEqual(kept[i], d.Fold(history[:i])) {
			return i
		}
	}
	return -1
}

// goMapIn is where in a type there is a Go map that Evolve could change, empty if nowhere. What is behind a pointer or
// an interface is an event, which nothing changes.
func goMapIn(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Map:
		return t.String()
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if path := goMapIn(t.Field(i).Type); path != "" {
				return t.Field(i).Name + " " + path
			}
		}
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		return goMapIn(t.Elem())
	}
	return ""
}

// allocated is the number of bytes that a fold allocates: the least of several times, since the runtime's own allocations are counted too.
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
