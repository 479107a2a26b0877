package decidertest

import (
	"reflect"
	"testing"

	"reckon/domain/decider"
	"reckon/domain/event"
)

// TestAChangedStateIsFound: a fold that changes in place what an earlier state holds, or shares the end of a slice with
// another branch, is told from one that does not.
func TestAChangedStateIsFound(t *testing.T) {
	history := make([]event.Event, 12)
	for i := range history {
		history[i] = opened{Owner: string(rune('a' + i))}
	}
	type doors struct{ Owners []string }
	folding := func(evolve func(doors, event.Event) doors) int {
		return changedState(decider.Decider[open, doors]{Initial: func() doors { return doors{} }, Evolve: evolve}, history)
	}
	if at := folding(func(s doors, e event.Event) doors {
		return doors{append(s.Owners[:len(s.Owners):len(s.Owners)], e.(opened).Owner)}
	}); at != -1 {
		t.Errorf("a fold that copies was taken for one that changes the state before event %d", at)
	}
	if at := folding(func(s doors, e event.Event) doors {
		s.Owners = append(s.Owners, e.(opened).Owner)
		s.Owners[0] = e.(opened).Owner
		return s
	}); at == -1 {
		t.Error("a fold that changes earlier states was not found")
	}
	if path := goMapIn(reflect.TypeFor[struct {
		Fine  *map[string]int
		Inner struct{ Slots [2]map[string]int }
	}]()); path != "Inner Slots map[string]int" {
		t.Errorf("the map is at %q", path)
	}
}
