package runners_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"reckon/runners"
	"reckon/test/wait"
)

// TestAProcessClaimsNothingWhileANeedIsNotMet, and says which it is, once.
func TestAProcessClaimsNothingWhileANeedIsNotMet(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	away.Store(true)
	var looks atomic.Int64
	var said strings.Builder
	a := &runners.Ability{Logger: slog.New(slog.NewTextHandler(&said, nil)), Needs: []runners.Need{
		{Name: "log", Check: func(context.Context) error { return nil }},
		{Name: "blobs", Check: func(context.Context) error {
			if looks.Add(1); away.Load() {
				return errors.New("refused")
			}
			return nil
		}},
	}}
	able := make(chan error, 1)
	go func() { able <- a.Await(t.Context()) }()
	wait.Until(t, "it looked twice", func() bool { return looks.Load() >= 2 })
	select {
	case err := <-able:
		t.Fatalf("it is able: %v", err)
	default:
	}
	away.Store(false)
	if err := <-able; err != nil {
		t.Error(err)
	}
	if got := said.String(); strings.Count(got, "part=blobs") != 1 || strings.Count(got, "claims jobs again") != 1 {
		t.Errorf("said %s", got)
	}
	before := looks.Load()
	if err := a.Await(t.Context()); err != nil || looks.Load() != before { // met a moment ago
		t.Errorf("%v, %d looks", err, looks.Load()-before)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Await(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
