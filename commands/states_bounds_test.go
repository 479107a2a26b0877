package commands

import (
	"fmt"
	"testing"

	"reckon/domain/event"
)

// TestKeptStatesAreBounded: by number and by bytes; what was used longest ago goes first, and a state that is larger than
// all that may be kept is not kept.
func TestKeptStatesAreBounded(t *testing.T) {
	var s States
	at := uint64(0)
	keep := func(stream string, bytes int) {
		at++
		s.keep(keptState{stream: stream, snapshot: stream, at: event.Position{Commit: at, Prepare: at}, bytes: bytes})
	}
	for i := range maxKeptStates + 10 {
		keep(fmt.Sprint(i), 10)
		if i == maxKeptStates-1 && s.take("0") == nil {
			t.Fatal("the first is gone before the bound")
		}
	}
	if len(s.kept) != maxKeptStates || s.recent.Len() != maxKeptStates {
		t.Errorf("%d states are kept", len(s.kept))
	}
	if s.take("0") == nil || s.take("1") != nil || s.take("10") != nil || s.take("11") == nil {
		t.Error("what was used lately is gone, or what was not is kept")
	}
	keep("large", maxKeptStateBytes/2)
	keep("larger", maxKeptStateBytes/2)
	if s.take("large") != nil || s.take("larger") == nil || s.bytes > maxKeptStateBytes {
		t.Errorf("%d bytes are kept", s.bytes)
	}
	keep("too large", maxKeptStateBytes)
	if s.take("too large") != nil || s.take("larger") == nil {
		t.Error("a state that is too large was kept, or took the place of others")
	}
	keep("larger", maxKeptStateBytes)
	if len(s.kept) != 0 || s.bytes != 0 {
		t.Errorf("%d states of %d bytes are kept", len(s.kept), s.bytes)
	}
	keep("a", 10)
	s.keep(keptState{stream: "a", snapshot: "older"})
	if s.take("a") != "a" {
		t.Error("an older state took the place of a newer one")
	}
	s.forget("a")
	s.forget("a")
	if s.take("a") != nil || s.bytes != 0 {
		t.Errorf("%d bytes are left", s.bytes)
	}
}
