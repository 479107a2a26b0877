package eventstore

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/eventstore/node"
	"reckon/test/proxy"
)

// TestSearchingLeavesNothing: as many probes of a server that is not there as an hour brings, at one a second.
func TestSearchingLeavesNothing(t *testing.T) {
	c, err := newConnection(Config{Connection: "unix:" + filepath.Join(t.TempDir(), "nobody"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.probeFor(probeTimeout); err == nil {
		t.Fatal("nobody answered")
	}
	before := runtime.NumGoroutine()
	for range 3600 {
		if err := c.probeFor(probeTimeout); err == nil {
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

// TestWhatIsSlowOrAwayIsNotLost: a connection is lost only where a new one is answered, and first.
func TestWhatIsSlowOrAwayIsNotLost(t *testing.T) {
	t.Parallel()
	n, err := node.Open(node.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close(context.Background()) })
	address, err := url.Parse(n.ConnectionString())
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]struct {
		fail func(*proxy.Proxy)
		lost bool
	}{
		"slow": {func(p *proxy.Proxy) { p.Delay(200 * time.Millisecond) }, false},
		"away": {(*proxy.Proxy).Swallow, false},
		"lost": {(*proxy.Proxy).Lose, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way := proxy.Start(t, "tcp", address.Host)
			c, err := newConnection(Config{Connection: "esdb://" + way.Address() + "?tls=false", Insecure: true, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			used, err := c.acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.release(used)
			wrong.fail(way)
			c.examine(used)
			if lost := used.lost.Err() != nil; lost != wrong.lost {
				t.Errorf("the connection counts as lost: %v", lost)
			}
		})
	}
}
