package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestNobodyLosesWhatIsWithinTheShare: whatever the sessions of however many accounts hold, those that are left hold no more
// than the limit, nobody loses a session who held no more than his share of it, no session more is ended than is needed, and
// what an account loses is idle while it has idle sessions, its largest first.
func TestNobodyLosesWhatIsWithinTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(0, 1000).Draw(t, "limit")
		weights := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 8).Draw(t, "weights")
		var all []*session
		held, total := map[string]int64{}, int64(0)
		for i := range rapid.IntRange(1, 20).Draw(t, "sessions") {
			of := rapid.IntRange(0, len(weights)-1).Draw(t, "account")
			s := &session{
				key: fmt.Sprint(i), account: fmt.Sprint(of), weight: weights[of], memory: rapid.Int64Range(1, 400).Draw(t, "memory"),
				users: rapid.IntRange(0, 2).Draw(t, "users"), used: time.Unix(rapid.Int64Range(0, 3).Draw(t, "used"), 0),
			}
			all = append(all, s)
			held[s.account] += s.memory
			total += s.memory
		}
		sum := 0
		for of, weight := range weights {
			if held[fmt.Sprint(of)] > 0 {
				sum += weight
			}
		}
		left := total
		lost := map[*session]bool{}
		for _, s := range beyond(limit, all) {
			if left <= limit {
				t.Fatalf("a session more is ended than is needed: %+v", s)
			}
			if held[s.account]*int64(sum) <= limit*int64(s.weight) {
				t.Fatalf("account %s held %d of %d and has lost %d", s.account, held[s.account], limit, s.memory)
			}
			for _, other := range all {
				same := other.account == s.account && !lost[other]
				if same && (other.users == 0 && s.users > 0 || (other.users == 0) == (s.users == 0) && other.memory > s.memory) {
					t.Fatalf("%+v is ended before %+v", s, other)
				}
			}
			lost[s] = true
			left -= s.memory
		}
		if left > limit {
			t.Fatalf("%d of %d are left", left, limit)
		}
	})
}

// TestBigSessionsOfManyEndNoSmallOne: two accounts fill the memory, again and again; a session of a few MB of a third one stays.
func TestBigSessionsOfManyEndNoSmallOne(t *testing.T) {
	small := &session{key: "small", account: "small", weight: 2, memory: 5, used: time.Unix(0, 0)}
	all := []*session{small}
	for i := range 50 {
		all = append(all, &session{key: fmt.Sprint(i), account: fmt.Sprint("big", i%2), weight: 2, memory: 60, users: 1, used: time.Unix(int64(i), 0)})
		victims := beyond(100, all)
		if slices.Contains(victims, small) {
			t.Fatal("the small one is ended")
		}
		all = slices.DeleteFunc(all, func(s *session) bool { return slices.Contains(victims, s) })
	}
}
