package lifecycle

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Background work that has ended is begun again after firstPause, and after twice the pause
// before, up to maxPause, while it keeps ending. After steadyAfter without an end the pauses
// begin anew.
const (
	firstPause  = 250 * time.Millisecond
	maxPause    = 15 * time.Second
	steadyAfter = time.Minute
)

// errEnded means that Run returned nil although nobody told it to end.
var errEnded = errors.New("it ended by itself")

// Phase is what the background work of a part is doing.
type Phase string

// The phases.
const (
	Running    Phase = "running"
	Restarting Phase = "restarting" // it has ended, and is begun again after a pause
	Ended      Phase = "ended"      // it was told to end, or cannot be begun again
)

// State is how the background work of a part is doing.
type State struct {
	Name     string
	Phase    Phase
	Restarts int    // how often it was begun again
	Error    string // why it last ended by itself; empty while it never has
	// Healthy: it is running, and has been for as long as the pause before it. Work that ends
	// again and again is not.
	Healthy bool
}

// States returns the states of all started parts with background work, in order. It may be
// called by any goroutine.
func (l *Lifecycle) States() []State {
	l.mu.Lock()
	defer l.mu.Unlock()
	states := make([]State, len(l.supervised))
	for i, work := range l.supervised {
		states[i] = work.state()
	}
	return states
}

// Cut makes the background work of a part end by itself, as a failure does, for tests of what
// follows. It may be called by any goroutine.
func (l *Lifecycle) Cut(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, work := range l.supervised {
		if work.name == name {
			work.mu.Lock()
			work.cut()
			work.mu.Unlock()
		}
	}
}

// supervised is the background work of a part.
type supervised struct {
	name string

	mu       sync.Mutex
	phase    Phase
	begun    time.Time
	pause    time.Duration // before it was begun last; 0: it has never ended
	restarts int
	err      error
	cut      context.CancelFunc // ends the present call of Run
}

func (s *supervised) state() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := State{Name: s.name, Phase: s.phase, Restarts: s.restarts, Healthy: s.phase == Running && time.Since(s.begun) >= s.pause}
	if s.err != nil {
		state.Error = s.err.Error()
	}
	return state
}

// begin returns the context of a call of Run that is about to be made.
func (s *supervised) begin(ctx context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == Restarting {
		s.restarts++
	}
	ctx, s.cut = context.WithCancel(ctx)
	s.phase, s.begun = Running, time.Now()
	return ctx
}

// end records why the work ended by itself and returns the pause before it is begun again.
func (s *supervised) end(err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase, s.err = Restarting, err
	s.cut()
	switch {
	case s.pause == 0, time.Since(s.begun) >= steadyAfter:
		s.pause = firstPause
	default:
		s.pause = min(2*s.pause, maxPause)
	}
	return s.pause
}

func (s *supervised) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = Ended
	s.cut()
}

// supervise calls a part's Run, first with the context that work has begun with, until it is
// told to end.
func (l *Lifecycle) supervise(ctx, call context.Context, p Part, work *supervised) {
	defer work.finish()
	for ; ; call = work.begin(ctx) {
		err := p.Run(call)
		if ctx.Err() != nil || err == nil && l.draining.Load() {
			return
		}
		if err == nil {
			err = errEnded
		}
		pause := work.end(err)
		if p.RunOnce {
			l.reportFailure(withPartName(p.Name, err))
			return
		}
		l.logger.Error("a part has ended and is begun again", "part", p.Name, "error", err, "after", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
