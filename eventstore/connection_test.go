package eventstore

import (
	"log/slog"
	"path/filepath"
	"runtime"
	"testing"
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
