package eventlog

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// group takes requests until one does not fit, as the writer does.
func (q *requests) group() (taken []*request, cost uint64) {
	for r := q.take(0); r != nil; r = q.take(cost) {
		taken, cost = append(taken, r), cost+r.cost
	}
	return taken, cost
}

// TestAWriterWaitsForOneGroup: beside up to six who always have up to 500 writes of any size queued, one who writes one after the other
// has each in the first group that begins after it came, or waits for what is larger than its part of a group: one write of each other
// at most. No group of several writes costs more than a shared one may (rapid).
func TestAWriterWaitsForOneGroup(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, never := newRequests(), make(chan struct{})
		add := func(owner string, bytes int) *request {
			r := &request{ctx: By(context.Background(), owner), events: []Proposed{{Data: make([]byte, bytes)}}}
			if err := q.add(r, never); err != nil {
				t.Fatal(err)
			}
			return r
		}
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 300, 30_000, sharedGroupCost / 2, 2 * sharedGroupCost}), 1, 6).Draw(t, "bytes of the writes of each")
		depth := rapid.IntRange(1, 500).Draw(t, "queued of each")
		queued := make([]int, len(sizes))
		fill := func() {
			for i, size := range sizes {
				for ; queued[i] < depth; queued[i]++ {
					add(fmt.Sprint(i), size)
				}
			}
		}
		for turn := range rapid.IntRange(2, 20).Draw(t, "writes of one") {
			fill()
			own := add("own", 300)
			for waited, found := uint64(0), false; !found; {
				taken, cost := q.group()
				if turn > 0 && len(taken) > 1 && cost > sharedGroupCost {
					t.Fatalf("a group costs %d", cost)
				}
				before := map[string]int{}
				for _, r := range taken {
					if found = found || r == own; !found {
						waited += r.cost
					}
					if r != own {
						var i int
						if _, err := fmt.Sscan(r.owner.(string), &i); err != nil {
							t.Fatal(err)
						}
						queued[i]--
						before[r.owner.(string)]++
					}
				}
				bound := uint64(0)
				for _, size := range sizes {
					bound += requestCost + eventCost + uint64(size)
				}
				if waited > bound {
					t.Fatalf("it waited for %d, one of each is %d", waited, bound)
				}
				fill()
			}
		}
	})
}

// TestOneWriterAloneHasWholeGroups: who writes alone is bounded by the writer only, again after another one has gone.
func TestOneWriterAloneHasWholeGroups(t *testing.T) {
	t.Parallel()
	q, never := newRequests(), make(chan struct{})
	add := func(owner string) {
		if err := q.add(&request{ctx: By(context.Background(), owner), events: []Proposed{{Data: make([]byte, sharedGroupCost/2)}}}, never); err != nil {
			t.Fatal(err)
		}
	}
	add("other")
	q.group()
	whole := 0
	for range 2 * aloneAfter / sharedGroupCost {
		for range 8 {
			add("one")
		}
		if taken, _ := q.group(); len(taken) == 8 {
			whole++
		}
		for q.take(0) != nil { // what is left
		}
	}
	if whole < aloneAfter/sharedGroupCost/2 {
		t.Errorf("%d whole groups", whole)
	}
	add("other")
	add("one")
	if taken, _ := q.group(); len(taken) != 1 {
		t.Errorf("%d in one group", len(taken))
	}
}

// TestPlacesAreOfAnOwner: one who has as many writes queued as one may have waits, until one was taken; nobody else does.
func TestPlacesAreOfAnOwner(t *testing.T) {
	t.Parallel()
	q, never := newRequests(), make(chan struct{})
	add := func(ctx context.Context, owner string) error { return q.add(&request{ctx: By(ctx, owner)}, never) }
	for range maxQueuedRequests {
		if err := add(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := add(gone, "one"); err != context.Canceled {
		t.Errorf("one more: %v", err)
	}
	if err := add(t.Context(), "other"); err != nil {
		t.Error(err)
	}
	q.take(0)
	q.take(0)
	if err := add(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	for q.take(0) != nil {
	}
	if len(q.rooms) > 0 {
		t.Errorf("%d rooms are left", len(q.rooms))
	}
}
