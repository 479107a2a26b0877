package ratelimit_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"reckon/internal/ratelimit"
)

func TestMemory(t *testing.T) {
	m, rule := ratelimit.NewMemory(), ratelimit.Rule{Requests: 3, Window: time.Minute}
	start := time.Date(2026, 8, 1, 12, 0, 30, 0, time.UTC)
	take := func(key string, after time.Duration) ratelimit.Allowance {
		a, err := m.Count(context.Background(), key, rule, start.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for i, want := range []bool{true, true, true, false, false} {
		a := take("a", time.Duration(i)*time.Second)
		if a.Allowed != want || a.Remaining != max(0, 2-i) || !a.ResetAt.Equal(start.Add(time.Minute)) || a.Limit != 3 {
			t.Errorf("request %d: %+v", i, a)
		}
	}
	if a := take("b", 0); !a.Allowed {
		t.Error("one key's window refused another's request")
	}
	look := func(key string, after time.Duration) int {
		a, err := m.Peek(t.Context(), key, rule, start.Add(after))
		if err != nil || a.Limit != 3 {
			t.Fatal(a, err)
		}
		return a.Remaining
	}
	for range 2 { // looking counts nothing
		if a, b, nobody, later := look("a", 5*time.Second), look("b", time.Second), look("nobody", 0), look("a", time.Minute); a != 0 || b != 2 || nobody != 3 || later != 3 {
			t.Errorf("left: %d %d %d %d", a, b, nobody, later)
		}
	}
	if a := take("a", time.Minute); !a.Allowed || a.Remaining != 2 {
		t.Errorf("a new window: %+v", a)
	}
	for i := range 25_000 { // far more keys than are kept once their windows have ended
		take(fmt.Sprint(i), time.Hour+time.Duration(i)*time.Second)
	}
}

func TestWhatIsGivenBackIsNotCounted(t *testing.T) {
	m, rule := ratelimit.NewMemory(), ratelimit.Rule{Requests: 3, Window: time.Minute}
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	take := func(after time.Duration) ratelimit.Allowance {
		a, err := m.Count(t.Context(), "a", rule, at.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	giveBack := func(a ratelimit.Allowance) ratelimit.Allowance {
		restored, err := m.GiveBack(t.Context(), "a", a)
		if err != nil {
			t.Fatal(err)
		}
		return restored
	}
	first := take(0)
	if restored := giveBack(first); restored.Remaining != 3 || restored.ResetAt != first.ResetAt {
		t.Errorf("%+v", restored)
	}
	take(0)
	take(0)
	third := take(0)
	for range 3 {
		if a := take(0); a.Allowed {
			t.Errorf("a fourth: %+v", a)
		}
	}
	if restored := giveBack(third); restored.Remaining != 1 {
		t.Errorf("after refusals: %+v", restored)
	}
	if a := take(0); !a.Allowed || a.Remaining != 0 {
		t.Errorf("what was given back: %+v", a)
	}
	next := take(time.Minute)
	if restored := giveBack(third); restored != third {
		t.Errorf("of an ended window: %+v", restored)
	}
	if a := take(time.Minute); a.Remaining != next.Remaining-1 {
		t.Errorf("the window after: %+v", a)
	}
}

func TestConcurrency(t *testing.T) {
	c := ratelimit.NewConcurrency()
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	late, _ := c.Begin("a", 2, at.Add(time.Minute))
	early, _ := c.Begin("a", 2, at.Add(time.Second))
	if late == nil || early == nil {
		t.Fatal("two of two were refused")
	}
	if end, free := c.Begin("a", 2, at.Add(time.Hour)); end != nil || !free.Equal(at.Add(time.Second)) {
		t.Errorf("a third: free at %v", free)
	}
	if end, _ := c.Begin("b", 1, at); end == nil {
		t.Error("another key was refused")
	}
	early()
	third, _ := c.Begin("a", 2, at.Add(time.Hour))
	if third == nil {
		t.Fatal("refused although one has ended")
	}
	if n := c.Running("a"); n != 2 {
		t.Errorf("%d run", n)
	}
	late()
	third()
	if n := c.Running("a"); n != 0 {
		t.Errorf("%d run after all have ended", n)
	}
}
