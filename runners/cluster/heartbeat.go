package cluster

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/runner"
)

// leaveTimeout is how long a process that ends tries to say so.
const leaveTimeout = 2 * time.Second

// Beats is where heartbeats are written.
type Beats interface {
	Read(ctx context.Context, stream string) (commands.History, error)
	Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error)
	KeepNewest(ctx context.Context, stream string, count int) error
}

// Pulse is the heartbeat of a process. It beats while the process holds attempts
// or sessions; of one that holds nothing, nobody needs to know whether it lives.
type Pulse struct {
	PulseConfig
	revision event.Revision
	seq      int64

	mu       sync.Mutex
	held     map[string]bool // nonces
	sessions int
	isolated chan struct{} // closed when a beat is written again; nil while they are
	changed  chan struct{}
}

// PulseConfig configures a pulse.
type PulseConfig struct {
	Runner  string // this process's runner id
	Address string // where other processes reach it
	Beat    time.Duration
	Log     Beats
	Clock   commands.Clock
	Logger  *slog.Logger
	Build   string
	// Isolated is called when the process could not beat for so long that others
	// may soon take what it holds: everything must be killed before it returns.
	Isolated func()
}

// NewPulse holds nothing yet.
func NewPulse(c PulseConfig) *Pulse {
	if c.Beat <= 0 {
		c.Beat = DefaultBeat
	}
	return &Pulse{PulseConfig: c, revision: event.NoStream, held: map[string]bool{}, changed: make(chan struct{}, 1)}
}

// Hold lists an attempt in every beat from now on; call it before claiming.
func (p *Pulse) Hold(nonce string) { p.change(func() { p.held[nonce] = true }) }

// Drop ends that.
func (p *Pulse) Drop(nonce string) { p.change(func() { delete(p.held, nonce) }) }

// HoldSessions says how many sessions the process owns.
func (p *Pulse) HoldSessions(n int) { p.change(func() { p.sessions = n }) }

func (p *Pulse) change(f func()) {
	p.mu.Lock()
	f()
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *Pulse) holds() (nonces []string, anything bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for nonce := range p.held {
		nonces = append(nonces, nonce)
	}
	return nonces, len(nonces) > 0 || p.sessions > 0 || p.isolated != nil
}

// Connected returns once the process is not isolated: only then it may take work.
func (p *Pulse) Connected(ctx context.Context) error {
	p.mu.Lock()
	isolated := p.isolated
	p.mu.Unlock()
	if isolated == nil {
		return nil
	}
	select {
	case <-isolated:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Pulse) setIsolated(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case is && p.isolated == nil:
		p.isolated = make(chan struct{})
	case !is && p.isolated != nil:
		close(p.isolated)
		p.isolated = nil
	}
}

// Run beats until the context ends, then says that the process is leaving.
func (p *Pulse) Run(ctx context.Context) error {
	for {
		if _, anything := p.holds(); anything {
			p.beatWhileHolding(ctx)
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			p.leave()
			return nil
		}
	}
}

// beatWhileHolding returns when nothing is held any more and beats are written,
// or the context ends.
func (p *Pulse) beatWhileHolding(ctx context.Context) {
	patience := killAfter * p.Beat
	alarm := time.NewTimer(patience) // counted from before a beat was sent, so before anybody saw it
	defer alarm.Stop()
	over := make(chan struct{})
	defer close(over)
	go p.watchAlarm(alarm, patience, over)
	ticker := time.NewTicker(p.Beat)
	defer ticker.Stop()
	for {
		nonces, anything := p.holds()
		if !anything {
			return
		}
		begun := time.Now()
		bounded, cancel := context.WithTimeout(ctx, patience)
		err := p.beat(bounded, runner.Beat{Nonces: nonces})
		cancel()
		switch {
		case err == nil:
			p.setIsolated(false)
			alarm.Reset(max(1, patience-time.Since(begun)))
		case ctx.Err() == nil:
			p.Logger.Warn("a heartbeat was not written", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// watchAlarm does not depend on the log, which may not answer at all.
func (p *Pulse) watchAlarm(alarm *time.Timer, patience time.Duration, over <-chan struct{}) {
	for {
		select {
		case <-alarm.C:
			p.Logger.Error("no heartbeat could be written: killing all work and sessions before others take them over")
			p.setIsolated(true)
			p.Isolated()
			alarm.Reset(patience)
		case <-over:
			return
		}
	}
}

func (p *Pulse) beat(ctx context.Context, b runner.Beat) error {
	stream := runner.Stream(p.Runner)
	if p.seq == 0 {
		if err := p.Log.KeepNewest(ctx, stream, 1); err != nil {
			return err
		}
	}
	p.seq++
	b.Runner, b.Seq, b.Address = p.Runner, p.seq, p.Address
	in := commands.Intent{ID: uuid.New(), At: p.Clock.Now(), Actor: "runner:" + p.Runner, Build: p.Build}
	appended, err := p.Log.Append(ctx, stream, p.revision, in.Propose([]event.Event{b}))
	if err == nil {
		p.revision = appended.Revision
		return nil
	}
	// An append that seemed to fail may have happened: look where the stream stands.
	if history, readErr := p.Log.Read(ctx, stream); readErr == nil {
		p.revision = history.Revision
	}
	return err
}

// leave spares the others the wait for a lease to end.
func (p *Pulse) leave() {
	if p.seq == 0 {
		return // it never held anything
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if err := p.beat(ctx, runner.Beat{Leaving: true}); err != nil {
		p.Logger.Warn("leaving was not announced", "error", err)
	}
}
