package group

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestMeasured: a consumer's newest acknowledgements are measured, from the delivery, each by the one that had it then.
func TestMeasured(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	g := New(now, Settings{Strategy: RoundRobin, MessageTimeout: time.Hour, HistoryBuffer: 1, ReadBatch: 1, Measured: true}, None, 0)
	c := g.Join(now, 1)
	var want []time.Duration
	for n := range int64(maxMeasured + 500) {
		id := uuid.New()
		g.Feed(now, Page{Events: []Event{{ID: id, Number: n, Before: n - 1}}, Last: n})
		if _, ok := g.Take(c); !ok {
			t.Fatalf("event %d was not given", n)
		}
		had := time.Duration(n*7919%1000) * time.Millisecond
		now = now.Add(had)
		g.Ack(now, c, []uuid.UUID{id, id})
		want = append(want, had)
	}
	newest := slices.Sorted(slices.Values(want[500:]))
	if got := c.Measured(); !slices.Equal(got, newest) {
		t.Errorf("%d measured, of %d", len(got), len(newest))
	}
}

func TestNothingIsMeasuredUnasked(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	g := New(now, Settings{Strategy: RoundRobin, MessageTimeout: time.Hour, HistoryBuffer: 1, ReadBatch: 1}, None, 0)
	c := g.Join(now, 1)
	id := uuid.New()
	g.Feed(now, Page{Events: []Event{{ID: id, Before: -1}}})
	if _, ok := g.Take(c); !ok {
		t.Fatal("the event was not given")
	}
	if g.Ack(now, c, []uuid.UUID{id}); len(c.Measured()) != 0 || c.Held() != 0 {
		t.Errorf("%v, held %d", c.Measured(), c.Held())
	}
}
