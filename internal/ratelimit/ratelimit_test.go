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
		a, err := m.Take(context.Background(), key, rule, start.Add(after))
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
	if a := take("a", time.Minute); !a.Allowed || a.Remaining != 2 {
		t.Errorf("a new window: %+v", a)
	}
	for i := range 25_000 { // far more keys than are kept once their windows have ended
		take(fmt.Sprint(i), time.Hour+time.Duration(i)*time.Second)
	}
}
