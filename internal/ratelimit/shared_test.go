package ratelimit_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"reckon/internal/ratelimit"
)

// counter is a shared count that may be away, and counts how often it is asked.
type counter struct {
	*ratelimit.Memory
	away  atomic.Bool
	asked atomic.Int64
}

var errAway = errors.New("away")

func (c *counter) Count(ctx context.Context, key string, rule ratelimit.Rule, now time.Time) (ratelimit.Allowance, error) {
	c.asked.Add(1)
	if c.away.Load() {
		return ratelimit.Allowance{}, errAway
	}
	return c.Memory.Count(ctx, key, rule, now)
}

func (c *counter) Peek(ctx context.Context, key string, rule ratelimit.Rule, now time.Time) (ratelimit.Allowance, error) {
	c.asked.Add(1)
	if c.away.Load() {
		return ratelimit.Allowance{}, errAway
	}
	return c.Memory.Peek(ctx, key, rule, now)
}

func (c *counter) GiveBack(ctx context.Context, key string, counted ratelimit.Allowance) (ratelimit.Allowance, error) {
	if c.away.Load() {
		return counted, errAway
	}
	return c.Memory.GiveBack(ctx, key, counted)
}

// processes are two that share their counts, and what they said of the counts being away.
func processes() (counts *counter, both []*ratelimit.Shared, said *atomic.Int64) {
	counts, said = &counter{Memory: ratelimit.NewMemory()}, &atomic.Int64{}
	for range 2 {
		both = append(both, ratelimit.NewShared(counts, func(error) { said.Add(1) }))
	}
	return counts, both, said
}

var (
	start = time.Date(2026, 8, 1, 12, 0, 30, 0, time.UTC)
	three = ratelimit.Rule{Requests: 3, Window: time.Minute}
)

// allowed counts how many of n requests of a process are allowed.
func allowed(t *testing.T, s *ratelimit.Shared, n int, after time.Duration) (count int) {
	t.Helper()
	for range n {
		a, err := s.Count(t.Context(), "a", three, start.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		if a.Allowed {
			count++
		}
	}
	return count
}

func TestProcessesShareALimit(t *testing.T) {
	counts, both, _ := processes()
	if n := allowed(t, both[0], 2, 0) + allowed(t, both[1], 5, 0); n != 3 {
		t.Errorf("%d of 3 allowed", n)
	}
	// What is refused is not asked again for a second, however often.
	asked := counts.asked.Load()
	if n := allowed(t, both[1], 1000, 500*time.Millisecond); n != 0 || counts.asked.Load() != asked {
		t.Errorf("%d allowed, asked %d times", n, counts.asked.Load()-asked)
	}
	if a, err := both[1].Peek(t.Context(), "a", three, start.Add(time.Second/2)); err != nil || a.Remaining != 0 || counts.asked.Load() != asked {
		t.Errorf("%+v %v", a, err)
	}
	if n := allowed(t, both[1], 1, 2*time.Second); n != 0 || counts.asked.Load() != asked+1 {
		t.Errorf("a second later: %d allowed, asked %d times", n, counts.asked.Load()-asked)
	}
	// One process gives back, the other may take it a second later.
	full := ratelimit.NewAllowance(three, start, 3)
	if restored, err := both[0].GiveBack(t.Context(), "a", full); err != nil || restored.Remaining != 1 {
		t.Errorf("%+v %v", restored, err)
	}
	if n := allowed(t, both[1], 2, 4*time.Second); n != 1 {
		t.Errorf("%d of what was given back", n)
	}
	if n := allowed(t, both[0], 4, time.Minute) + allowed(t, both[1], 4, time.Minute); n != 3 {
		t.Errorf("%d in the next minute", n)
	}
}

// TestCountsThatAreAway: each process goes on from what it knew, says so once for each pause, and shares again when they are back.
func TestCountsThatAreAway(t *testing.T) {
	counts, both, said := processes()
	if n := allowed(t, both[0], 2, 0); n != 2 {
		t.Fatal(n)
	}
	counts.away.Store(true)
	asked := counts.asked.Load()
	if here, there := allowed(t, both[0], 100, time.Second), allowed(t, both[1], 100, time.Second); here != 1 || there != 3 {
		t.Errorf("%d and %d allowed, want the rest of three and three", here, there)
	}
	if n := counts.asked.Load() - asked; n != 2 || said.Load() != 2 {
		t.Errorf("asked %d times, said %d times", n, said.Load())
	}
	if a, err := both[0].Peek(t.Context(), "a", three, start.Add(2*time.Second)); err != nil || a.Remaining != 0 {
		t.Errorf("%+v %v", a, err)
	}
	if n := allowed(t, both[0], 100, 6*time.Second); n != 0 || said.Load() != 3 {
		t.Errorf("after a pause: %d allowed, said %d times", n, said.Load())
	}
	if _, err := both[0].GiveBack(t.Context(), "a", ratelimit.NewAllowance(three, start, 3)); err != nil {
		t.Error(err)
	}
	counts.away.Store(false)
	if here, there := allowed(t, both[0], 3, 12*time.Second), allowed(t, both[1], 3, 12*time.Second); here+there != 1 {
		t.Errorf("%d and %d once they are back, want the third", here, there)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	counts.away.Store(true)
	if _, err := both[0].Count(gone, "b", three, start.Add(13*time.Second)); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
}
