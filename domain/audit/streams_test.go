package audit

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"reckon/domain/event"
	"reckon/domain/run"
)

// TestATableIsAMap: whatever is added, a table has what a map has, and values stay where they are.
func TestATableIsAMap(t *testing.T) {
	random, all := newTable[eventID, int](), map[eventID]int{}
	source := rand.New(rand.NewPCG(42, 1))
	places := map[eventID]*int{}
	for n := range 20_000 {
		var key eventID
		binary.LittleEndian.PutUint64(key[:], source.Uint64N(30_000)) // some of them twice
		if had, is := all[key]; is {
			if value := random.at(key); value == nil || *value != had {
				t.Fatalf("%x has %v, want %d", key, value, had)
			}
			continue
		}
		if value := random.at(key); value != nil {
			t.Fatalf("%x has %d before it was added", key, *value)
		}
		random.add(key, n)
		all[key], places[key] = n, random.at(key)
	}
	for key, n := range all {
		if value := random.at(key); value != places[key] || *value != n {
			t.Fatalf("%x has %v, want %d", key, value, n)
		}
	}
}

// TestStreamsOfRunsAreKeptAsOthers: revisions and pasts are those of each stream, also of a run with more events than a byte counts, of a run of
// another kind of events, of numbers that no run has, and of names that only look like a run's.
func TestStreamsOfRunsAreKeptAsOthers(t *testing.T) {
	s, judged := newStreams(), event.Metadata{}
	facts := map[string]*event.Facts{}
	for _, e := range run.Events() {
		facts[e.Name] = e.Facts
	}
	add := func(name string, e event.Event) *event.Illegal {
		next, _ := s.next(name)
		s.setNext(name, next+1)
		past := s.past(name)
		if past == nil {
			past = facts[e.EventName()].NewPast()
		}
		illegal := past.Take(e, judged)
		s.keep(name, past.Slim(), "a")
		return illegal
	}
	names := []string{"run-1", "run-2", "run-01", "run-", "run-x", "run--1", "run-281474976710655", "run-281474976710656", "run-9223372036854775807", "runs"}
	for i, name := range names {
		subject := run.Subject{RunID: int64(i), Account: "a"}
		if _, known := s.next(name); known || s.past(name) != nil {
			t.Errorf("%s is known", name)
		}
		if illegal := add(name, run.Evaluated{Subject: subject, Status: run.Success}); illegal != nil {
			t.Errorf("%s: %+v", name, illegal)
		}
		if illegal := add(name, run.Sealed{RunID: int64(i)}); illegal != nil {
			t.Errorf("%s: %+v", name, illegal)
		}
		if illegal := add(name, run.Sealed{RunID: int64(i)}); illegal == nil {
			t.Errorf("%s is sealed twice", name)
		}
	}
	if _, apart := s.named["run-1"]; apart || len(s.pasts) != 2 {
		t.Errorf("runs of one account have %d pasts", len(s.pasts))
	}
	for n := range 300 {
		check := run.Check{Verdict: run.VerdictVerified, Method: fmt.Sprint(n)}
		if illegal := add("run-2", run.Verified{RunID: 1, Account: "a", Check: check}); illegal != nil {
			t.Fatalf("check %d: %+v", n, illegal)
		}
		if illegal := s.past("run-2").Take(run.Verified{RunID: 1, Account: "a", Check: check}, judged); illegal == nil {
			t.Fatalf("check %d is new twice", n)
		}
	}
	if next, _ := s.next("run-2"); next != 303 {
		t.Errorf("revision %d comes next", next)
	}
	if next, _ := s.next("run-1"); next != 3 {
		t.Errorf("revision %d comes next in another run", next)
	}
}
