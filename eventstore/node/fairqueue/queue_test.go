package fairqueue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// waits is one item of the model.
type waits struct {
	owner, number int
	cost          uint64
	before        uint64         // cost of the owner's items that were queued before it
	taken         map[int]uint64 // of each other owner, since it was added
}

// TestNoOwnerWaitsForMoreThanItsShare: whatever owners add and whenever something is taken, an item waits for at most as much of each other
// owner as its own owner has had or has before it, and one item of each of the two. Items of one owner keep their order (rapid).
func TestNoOwnerWaitsForMoreThanItsShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const owners = 7
		var q Queue[int, *waits]
		var queued []*waits
		largest, added, next := map[int]uint64{}, map[int]int{}, map[int]int{}
		kinds := rapid.SliceOfN(rapid.SampledFrom([]uint64{1, 10, 1000}), owners, owners).Draw(t, "largest costs")
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				owner := rapid.IntRange(0, owners-1).Draw(t, "owner")
				w := &waits{owner: owner, number: added[owner], cost: rapid.Uint64Range(1, kinds[owner]).Draw(t, "cost"), taken: map[int]uint64{}}
				for _, other := range queued {
					if other.owner == owner {
						w.before += other.cost
					}
				}
				largest[owner] = max(largest[owner], w.cost)
				added[owner]++
				queued = append(queued, w)
				q.Push(owner, w.cost, w)
				continue
			}
			owner, w, ok := q.Pop()
			if ok != (len(queued) > 0) {
				t.Fatalf("%v of %d", ok, len(queued))
			}
			if !ok {
				continue
			}
			if owner != w.owner || w.number != next[owner] {
				t.Fatalf("item %d of %d as the next of %d, which is %d", w.number, w.owner, owner, next[owner])
			}
			next[owner]++
			for other, cost := range w.taken {
				if other != owner && cost > w.before+largest[owner]+largest[other] {
					t.Fatalf("an item of %d waited for %d of %d, with %d of its own before it", owner, cost, other, w.before)
				}
			}
			for i, other := range queued {
				if other == w {
					queued = append(queued[:i], queued[i+1:]...)
					break
				}
			}
			for _, other := range queued {
				other.taken[owner] += w.cost
			}
		}
	})
}

// TestOneWhoComesIsNext: behind any backlog of six others, one who had nothing waits for one item of each at most.
func TestOneWhoComesIsNext(t *testing.T) {
	t.Parallel()
	var q Queue[string, int]
	for i := range 1000 {
		for other := range 6 {
			q.Push(fmt.Sprint(other), uint64(1+i%7), i)
		}
	}
	for range 3000 {
		q.Pop()
	}
	q.Push("new", 1<<40, 0)
	for taken := map[string]int{}; ; {
		owner, _, _ := q.Pop()
		if owner == "new" {
			return
		}
		if taken[owner]++; taken[owner] > 1 {
			t.Fatalf("two of %s before it", owner)
		}
	}
}

// TestOwnersThatWereAreForgotten: what is kept is bounded by the owners that have items, also while it never is empty.
func TestOwnersThatWereAreForgotten(t *testing.T) {
	t.Parallel()
	var q Queue[int, int]
	q.Push(-1, 1, 0)
	for i := range 10_000 {
		q.Push(i, 1, 0)
		q.Pop()
	}
	if len(q.owners) > 100 {
		t.Errorf("%d owners are kept", len(q.owners))
	}
}
