package eventstore

import (
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/event"
)

// TestSearchingLeavesNothing: as many probes of a server that is not there as an hour brings, at one a second.
func TestSearchingLeavesNothing(t *testing.T) {
	c, err := newConnection(Config{Connection: "unix:" + filepath.Join(t.TempDir(), "nobody"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.probe(); err == nil {
		t.Fatal("nobody answered")
	}
	before := runtime.NumGoroutine()
	for range 3600 {
		if err := c.probe(); err == nil {
			t.Fatal("nobody answered")
		}
	}
	if now := runtime.NumGoroutine(); now > before+20 {
		t.Errorf("%d goroutines after the search, %d before it", now, before)
	}
}

// A read that has an end does not wait for ever for a server, as a subscription does.
func TestReadsEndWithoutAServer(t *testing.T) {
	t.Parallel()
	c, err := newConnection(Config{Connection: "unix:" + filepath.Join(t.TempDir(), "nobody"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	store, from, given := &Store{connection: c}, event.Position{}, []error{}
	store.follow(t.Context(), time.Millisecond, &from, openOnce, decodeAhead(store.codec), func(_ event.Recorded, err error) bool {
		given = append(given, err)
		return true
	})
	if len(given) != 1 || !errors.Is(given[0], commands.ErrUnavailable) {
		t.Errorf("given %v, want that the log is unavailable", given)
	}
}
