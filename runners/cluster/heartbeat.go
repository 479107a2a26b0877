package cluster

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/runner"
)

// leaveTimeout is for how long a process that stops tries to write its last heartbeat.
const leaveTimeout = 2 * time.Second

// HeartbeatLog is the event log as a Heartbeat writes to it.
type HeartbeatLog interface {
	Read(ctx context.Context, stream string) (commands.History, error)
	Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error)
	KeepNewest(ctx context.Context, stream string, count int) error
}

// Heartbeat writes a process's heartbeats. It writes them only while the process holds
// attempts or sessions, because nobody asks whether a process that holds nothing is alive, and
// only while another process can read them.
type Heartbeat struct {
	HeartbeatConfig
	timing   Timing
	revision event.Revision // of the last heartbeat; used by Run's goroutine only, as is seq
	seq      int64

	mu        sync.Mutex
	attempts  map[string]bool // nonces
	sessions  int
	watched   bool          // another process can read the log
	connected chan struct{} // nil while heartbeats can be written; else closed when they can be again
	changed   chan struct{}
	written   time.Time // the last heartbeat since heartbeats are needed, or when they became so; zero while they are not
}

// HeartbeatConfig configures a Heartbeat.
type HeartbeatConfig struct {
	Runner   string        // this process's runner id
	Address  string        // host:port where other processes reach it
	Interval time.Duration // between heartbeats; 0: DefaultHeartbeatInterval
	Log      HeartbeatLog
	Clock    commands.Clock
	Logger   *slog.Logger
	Build    string
	// OnIsolated is called when no heartbeat could be written for so long that others
	// may soon take over what this process holds. It must kill all of that before it returns.
	OnIsolated func()
	// HostsLog: the log is embedded in this process, so no other process can read it until
	// SetWatched says so. Otherwise others always can.
	HostsLog bool
}

// NewHeartbeat returns the heartbeat of a process that holds nothing yet.
func NewHeartbeat(c HeartbeatConfig) *Heartbeat {
	return &Heartbeat{
		HeartbeatConfig: c, timing: newTiming(c.Interval), revision: event.NoStream,
		attempts: map[string]bool{}, watched: !c.HostsLog, changed: make(chan struct{}, 1),
	}
}

// AddAttempt lists an attempt in every later heartbeat. Call it before the claim is appended.
func (h *Heartbeat) AddAttempt(nonce string) { h.update(func() { h.attempts[nonce] = true }) }

// RemoveAttempt removes an attempt from every later heartbeat. Call it only once the
// attempt has ended or been handed back: after two heartbeats without it others take the job over.
func (h *Heartbeat) RemoveAttempt(nonce string) { h.update(func() { delete(h.attempts, nonce) }) }

// SetSessionCount sets how many sessions the process owns.
func (h *Heartbeat) SetSessionCount(n int) { h.update(func() { h.sessions = n }) }

// SetWatched sets whether another process can read the log of a process that hosts it.
func (h *Heartbeat) SetWatched(watched bool) { h.update(func() { h.watched = watched }) }

// update changes what the process holds and wakes Run.
func (h *Heartbeat) update(change func()) {
	h.mu.Lock()
	change()
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default: // a wake-up is pending
	}
}

// holdings returns the nonces to list, in order, and whether heartbeats are needed: while
// anything is held and others can see it, and while the process is isolated, to learn when that ends.
func (h *Heartbeat) holdings() (nonces []string, needed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	nonces = slices.Sorted(maps.Keys(h.attempts))
	held := len(nonces) > 0 || h.sessions > 0
	return nonces, held && h.watched || h.connected != nil
}

// WaitUntilConnected returns once the process is not isolated: an isolated process
// must not claim jobs.
func (h *Heartbeat) WaitUntilConnected(ctx context.Context) error {
	h.mu.Lock()
	connected := h.connected
	h.mu.Unlock()
	if connected == nil {
		return nil
	}
	select {
	case <-connected:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// setIsolated reports whether it was otherwise before.
func (h *Heartbeat) setIsolated(isolated bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case isolated && h.connected == nil:
		h.connected = make(chan struct{})
	case !isolated && h.connected != nil:
		close(h.connected)
		h.connected = nil
	default:
		return false
	}
	return true
}

func (h *Heartbeat) setWritten(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written = at
}

// Age is the time since the last heartbeat was sent, or since heartbeats are needed; 0 while none is.
func (h *Heartbeat) Age() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.written.IsZero() {
		return 0
	}
	return time.Since(h.written)
}

// Run writes heartbeats until the context ends, then one that says that the process leaves.
func (h *Heartbeat) Run(ctx context.Context) error {
	for {
		if _, needed := h.holdings(); needed {
			h.writeWhileHolding(ctx)
		}
		select {
		case <-h.changed:
		case <-ctx.Done():
			h.announceLeaving()
			return nil
		}
	}
}

// writeWhileHolding returns when nothing is held any more and heartbeats can be
// written, or when the context ends.
func (h *Heartbeat) writeWhileHolding(ctx context.Context) {
	killAfter := h.timing.KillAfter()
	h.setWritten(time.Now())
	defer h.setWritten(time.Time{})
	deadline := time.NewTimer(killAfter) // runs from before a heartbeat is sent, so from before anybody saw it
	defer deadline.Stop()
	done := make(chan struct{})
	defer close(done)
	go h.isolateAtDeadline(deadline, killAfter, done)
	ticker := time.NewTicker(h.timing.Interval)
	defer ticker.Stop()
	for {
		nonces, needed := h.holdings()
		if !needed {
			return
		}
		begun := time.Now()
		limit := killAfter - h.Age() // a connection that is lost is to be found, and the heartbeat repeated, before that ends
		if limit <= 0 {
			limit = killAfter
		}
		bounded, cancel := context.WithTimeout(ctx, limit)
		err := h.write(bounded, runner.Beat{Nonces: nonces})
		cancel()
		switch {
		case err == nil:
			if h.setIsolated(false) {
				h.Logger.Info("heartbeats are written again", "stream", runner.Stream(h.Runner))
			}
			h.setWritten(begun)
			deadline.Reset(max(1, killAfter-time.Since(begun)))
		case ctx.Err() == nil:
			h.Logger.Warn("a heartbeat was not written", "stream", runner.Stream(h.Runner), "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// isolateAtDeadline kills the process's work when the deadline passes. It is a
// goroutine of its own because an append to the log may not return.
func (h *Heartbeat) isolateAtDeadline(deadline *time.Timer, killAfter time.Duration, done <-chan struct{}) {
	for {
		select {
		case <-deadline.C:
			if h.setIsolated(true) {
				h.Logger.Error("no heartbeat could be written: killing all jobs and sessions of this process before others take them over",
					"stream", runner.Stream(h.Runner), "for", killAfter)
			}
			h.OnIsolated()
			deadline.Reset(killAfter)
		case <-done:
			return
		}
	}
}

// write appends one heartbeat; the runner, number and address are filled in.
func (h *Heartbeat) write(ctx context.Context, beat runner.Beat) error {
	stream := runner.Stream(h.Runner)
	if h.seq == 0 {
		if err := h.Log.KeepNewest(ctx, stream, 1); err != nil {
			return err
		}
	}
	h.seq++
	beat.Runner, beat.Seq, beat.Address = h.Runner, h.seq, h.Address
	in := commands.Intent{ID: uuid.New(), At: h.Clock.Now(), Actor: "runner:" + h.Runner, Build: h.Build}
	appended, err := h.Log.Append(ctx, stream, h.revision, in.Propose(stream, []event.Event{beat}))
	if err == nil {
		h.revision = appended.Revision
		return nil
	}
	// An append that returned an error may have been written all the same: read the stream's revision.
	if history, readErr := h.Log.Read(ctx, stream); readErr == nil {
		h.revision = history.Revision
	}
	return err
}

// announceLeaving writes the last heartbeat, so that others need not wait for the lease to end.
func (h *Heartbeat) announceLeaving() {
	if h.seq == 0 {
		return // nobody has heard of this process
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if err := h.write(ctx, runner.Beat{Leaving: true}); err != nil {
		h.Logger.Warn("the last heartbeat was not written", "stream", runner.Stream(h.Runner), "error", err)
	}
}
