package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/runner"
	"reckon/domain/session"
	"reckon/eventstore/memory"
	"reckon/runners/cluster"
)

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

// startHeartbeat runs a heartbeat until the test's end.
func startHeartbeat(t *testing.T, c cluster.HeartbeatConfig) *cluster.Heartbeat {
	t.Helper()
	c.Clock, c.Logger, c.OnIsolated = clock{}, slog.New(slog.DiscardHandler), func() {}
	h := cluster.NewHeartbeat(c)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return h
}

// beats receives the heartbeats that are written to a log.
func beats(t *testing.T, log *memory.Store) <-chan runner.Beat {
	written := make(chan runner.Beat, 100)
	startSubscription(t, log, func(r event.Recorded) {
		if b, ok := r.Event.(runner.Beat); ok {
			select {
			case written <- b:
			case <-t.Context().Done(): // nobody receives any more
			}
		}
	})
	return written
}

// TestNoHeartbeatThatNobodyCanRead: a process that hosts the log writes heartbeats only while
// another process can read them.
func TestNoHeartbeatThatNobodyCanRead(t *testing.T) {
	t.Parallel()
	log := memory.New(domain.Catalogue())
	written := beats(t, log)
	const interval = 5 * time.Millisecond
	host := startHeartbeat(t, cluster.HeartbeatConfig{Runner: "host", Interval: interval, Log: log, HostsLog: true})
	host.AddAttempt("n")
	host.SetSessionCount(3)
	other := startHeartbeat(t, cluster.HeartbeatConfig{Runner: "other", Interval: interval, Log: log})
	other.AddAttempt("m")
	for range 20 { // many intervals in which the host could have written one
		if b := <-written; b.Runner != "other" {
			t.Fatalf("%+v", b)
		}
	}
	host.SetWatched(true)
	for b := range written {
		if b.Runner == "host" && len(b.Nonces) == 1 {
			break
		}
	}
	history, err := log.Read(t.Context(), runner.Stream("other"))
	if err != nil || len(history.Events) != 1 {
		t.Errorf("%d heartbeats are kept, %v", len(history.Events), err)
	}
}

// TestOnlyHostsEndWithTheLog: when an embedded log is opened again, what its earlier hosts held
// is free at once; a process that was connected to it may have survived, and keeps its lease.
func TestOnlyHostsEndWithTheLog(t *testing.T) {
	t.Parallel()
	host, guest := cluster.NewProcessID(true), cluster.NewProcessID(false)
	for _, embedded := range []bool{true, false} {
		l := cluster.NewLiveness(cluster.LivenessConfig{CatchUp: func(context.Context) error { return nil }})
		l.Restore(cluster.Snapshot{HostsLog: embedded, Sessions: []cluster.LiveSession{
			{Account: "a", SessionID: "1", Epoch: 1, Owner: host}, {Account: "a", SessionID: "2", Epoch: 1, Owner: guest},
		}})
		hostLives, err := l.Alive(t.Context(), host)
		guestLives, err2 := l.Alive(t.Context(), guest)
		if err != nil || err2 != nil || hostLives == embedded || !guestLives {
			t.Errorf("embedded %t: the host lives %t, the guest %t", embedded, hostLives, guestLives)
		}
	}
}

// TestWaitUntilDead ends when the lease of a silent process has, and no sooner.
func TestWaitUntilDead(t *testing.T) {
	t.Parallel()
	timing := cluster.Timing{Interval: 5 * time.Millisecond}
	l := cluster.NewLiveness(cluster.LivenessConfig{Interval: timing.Interval, CatchUp: func(context.Context) error { return nil }})
	l.Observe(event.Recorded{Event: session.Opened{Account: "a", SessionID: "s", Owner: "o", Epoch: 1}})
	for n := range 10 {
		before := time.Now()
		l.Observe(event.Recorded{Event: runner.Beat{Runner: "o", Seq: int64(n)}})
		if err := l.WaitUntilDead(t.Context(), "o"); err != nil || time.Since(before) < timing.Lease() {
			t.Errorf("%v, after %v of a lease of %v", err, time.Since(before), timing.Lease())
		}
	}
	if alive, err := l.Alive(t.Context(), "o"); alive || err != nil {
		t.Errorf("alive %t, %v", alive, err)
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.WaitUntilDead(left, "another"); err == nil {
		t.Error("it waits longer than its context")
	}
}

// TestTimingAsDocumented: the pages tell the times that the code has.
func TestTimingAsDocumented(t *testing.T) {
	t.Parallel()
	timing := cluster.Timing{Interval: cluster.DefaultHeartbeatInterval}
	intervals := func(d time.Duration) int { return int(d / timing.Interval) }
	for page, sentences := range map[string][]string{
		"jobs.md": {
			fmt.Sprintf("| `--beat %v` |", timing.Interval),
			fmt.Sprintf("| %d intervals (%v by default) in which no heartbeat could be written |", intervals(timing.KillAfter()), timing.KillAfter()),
			fmt.Sprintf("| %d intervals (%v) without a heartbeat |", intervals(timing.Lease()), timing.Lease()),
			fmt.Sprintf("silent for %d beats", intervals(timing.Lease())),
		},
		"outages.md": {
			fmt.Sprintf("jobs go on for %d silent beats", intervals(timing.KillAfter())),
			fmt.Sprintf("the others, after %d silent beats; itself, after %d", intervals(timing.Lease()), intervals(timing.KillAfter())),
		},
		"glossary.md": {fmt.Sprintf("after its last beat: %d intervals", intervals(timing.Lease()))},
		"scale.md":    {fmt.Sprintf("every %v", timing.Interval)},
	} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range sentences {
			if !strings.Contains(string(text), sentence) {
				t.Errorf("docs/%s does not say %q", page, sentence)
			}
		}
	}
}

// TestAProcessIsAliveToItself: without heartbeats, for as long as it asks, while another that is as silent is dead after a lease.
func TestAProcessIsAliveToItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := cluster.NewLiveness(cluster.LivenessConfig{Process: "own", CatchUp: func(context.Context) error { return nil }})
		l.Observe(event.Recorded{Event: session.Opened{Account: "a", SessionID: "s", Epoch: 1, Owner: "own"}})
		l.Observe(event.Recorded{Event: session.Opened{Account: "a", SessionID: "t", Epoch: 1, Owner: "other"}})
		time.Sleep(100 * cluster.Timing{Interval: cluster.DefaultHeartbeatInterval}.Lease())
		for runner, want := range map[string]bool{"own": true, "other": false} {
			if alive, err := l.Alive(t.Context(), runner); err != nil || alive != want {
				t.Errorf("%s: alive %v, %v", runner, alive, err)
			}
		}
	})
}
