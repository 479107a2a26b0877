package fair

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// trial is a schedule under random requests, with what must hold of it told from the outside.
type trial struct {
	schedule *schedule
	places   int
	waiting  []*ticket           // in the order of their requests
	held     []*ticket           // in the order in which they were granted
	line     []string            // accounts that wait and hold none, in the order in which they came to that
	passed   map[string][]string // for each of line: who was served since
	before   map[string][]string // for each of line: who waited when it came
}

func (r *trial) holds(account string) int {
	n := 0
	for _, t := range r.held {
		if t.of.account == account {
			n++
		}
	}
	return n
}

// granted records tickets that were just granted, in their order.
func (r *trial) granted(t *rapid.T, changes []change) {
	for _, c := range changes {
		g := c.ticket
		if c.to != running {
			t.Fatalf("a short request of %s became %d", g.of.account, c.to)
		}
		oldest := slices.IndexFunc(r.waiting, func(w *ticket) bool { return w.of.account == g.of.account })
		if oldest < 0 || r.waiting[oldest] != g {
			t.Fatalf("%s: a request was served before an older one of its account", g.of.account)
		}
		if r.holds(g.of.account) > 0 && r.places-len(r.held) == 1 {
			t.Fatalf("%s holds a place and took the last free one", g.of.account)
		}
		for _, other := range r.line {
			if other != g.of.account {
				r.passed[other] = append(r.passed[other], g.of.account)
			}
		}
		r.waiting = slices.Delete(r.waiting, oldest, oldest+1)
		r.held = append(r.held, g)
	}
}

// check tells what must hold between two calls.
func (r *trial) check(t *rapid.T) {
	free := r.places - len(r.held)
	if free < 0 || free != r.schedule.free {
		t.Fatalf("%d places held of %d, %d free", len(r.held), r.places, r.schedule.free)
	}
	var line []string
	for _, w := range r.waiting {
		switch {
		case free > 1:
			t.Fatalf("%s waits beside %d free places", w.of.account, free)
		case free == 1 && r.holds(w.of.account) == 0:
			t.Fatalf("%s holds none and waits beside a free place", w.of.account)
		}
		if r.holds(w.of.account) == 0 && !slices.Contains(line, w.of.account) {
			line = append(line, w.of.account)
		}
	}
	for _, account := range line {
		if !slices.Contains(r.line, account) {
			r.passed[account] = nil
			var before []string
			for _, w := range r.waiting {
				if w.of.account != account && !slices.Contains(before, w.of.account) {
					before = append(before, w.of.account)
				}
			}
			r.before[account] = before
		}
		seen := map[string]bool{}
		for _, served := range r.passed[account] {
			if seen[served] || !slices.Contains(r.before[account], served) {
				t.Fatalf("%s holds none and was passed by %v; before it waited %v", account, r.passed[account], r.before[account])
			}
			seen[served] = true
		}
	}
	r.line = line
	known := map[string]bool{}
	for _, x := range append(slices.Clone(r.waiting), r.held...) {
		known[x.of.account] = true
	}
	if len(known) != len(r.schedule.shares) {
		t.Fatalf("%d accounts wait or hold, the schedule keeps %d", len(known), len(r.schedule.shares))
	}
}

// TestTheRule: whatever is asked for, given back and given up, in any order: no account takes the last free place while it
// holds another, no place stays free that somebody may have, and an account that holds none is passed at most once by each
// account that waited before it and by nobody else.
func TestTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(1, 6).Draw(t, "places")
		r := &trial{schedule: newSchedule(places), places: places, passed: map[string][]string{}, before: map[string][]string{}}
		accounts := rapid.SampledFrom([]string{"a", "a", "a", "b", "b", "c", "d", "e"})
		t.Repeat(map[string]func(*rapid.T){
			"request": func(t *rapid.T) {
				asked, changes := r.schedule.request(accounts.Draw(t, "account"))
				r.waiting = append(r.waiting, asked)
				r.granted(t, changes)
			},
			"release": func(t *rapid.T) {
				if len(r.held) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(r.held)-1).Draw(t, "which")
				given := r.held[i]
				r.held = slices.Delete(r.held, i, i+1)
				r.granted(t, r.schedule.release(given))
			},
			"abandon": func(t *rapid.T) {
				if len(r.waiting) == 0 {
					t.Skip("nobody waits")
				}
				i := rapid.IntRange(0, len(r.waiting)-1).Draw(t, "which")
				r.schedule.abandon(r.waiting[i])
				r.waiting = slices.Delete(r.waiting, i, i+1)
			},
			"": r.check,
		})
	})
}

// ask adds a request and returns its ticket.
func ask(s *schedule, account string) *ticket {
	t, _ := s.request(account)
	return t
}

// TestAFloodLeavesRoom: one account asks for everything, again and again. Every other account's first request gets a place
// at once as long as they ask one at a time, and the flood has all places but one.
func TestAFloodLeavesRoom(t *testing.T) {
	for places := 2; places <= 8; places++ {
		s := newSchedule(places)
		var flood []*ticket
		for range 100 {
			flood = append(flood, ask(s, "flood"))
		}
		if held := s.shares["flood"].running; held != places-1 {
			t.Errorf("of %d places the flood holds %d", places, held)
		}
		for i := range 50 {
			account := fmt.Sprint("small ", i)
			small := ask(s, account)
			if small.state != running {
				t.Fatalf("%d places: %s waits", places, account)
			}
			s.release(flood[i])                    // as one of the flood ends, the next of it must not take the place of
			flood = append(flood, ask(s, "flood")) // an account that holds none
			s.release(small)
		}
	}
}

// TestFloodsShareEqually: accounts that each want everything hold equally many, but for one.
func TestFloodsShareEqually(t *testing.T) {
	s := newSchedule(9)
	tickets := map[string][]*ticket{}
	for _, account := range []string{"a", "b", "c", "d"} {
		for range 100 {
			tickets[account] = append(tickets[account], ask(s, account))
		}
	}
	for range 90 { // whatever comes free goes to who holds the fewest
		for _, account := range []string{"a", "b", "c", "d"} {
			if s.shares[account].running > 0 {
				s.release(tickets[account][0])
				tickets[account] = append(tickets[account][1:], ask(s, account))
			}
		}
	}
	for account, of := range s.shares {
		if of.running != 2 {
			t.Errorf("%s holds %d of 9 places", account, of.running)
		}
	}
}

// TestOnePlace is taken in turn.
func TestOnePlace(t *testing.T) {
	s := newSchedule(1)
	var order []string
	holder := ask(s, "a")
	for range 3 {
		s.request("a")
	}
	for range 2 {
		s.request("b")
	}
	s.request("c")
	for range 6 {
		granted := s.release(holder)
		if len(granted) != 1 {
			t.Fatalf("%d were granted one place", len(granted))
		}
		holder = granted[0].ticket
		order = append(order, holder.of.account)
	}
	if want := []string{"a", "b", "c", "a", "b", "a"}; !slices.Equal(order, want) {
		t.Errorf("served %v", order)
	}
}
