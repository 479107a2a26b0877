package cluster

import (
	"context"
	"sync"
	"time"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/runner"
	"reckon/domain/session"
)

// Timing of heartbeats, all in terms of the interval between two.
const (
	// DefaultBeat is the interval between two beats of a process that holds something.
	DefaultBeat = time.Second
	// killAfter is how many intervals a process may fail to beat before it kills
	// its work; leaseBeats is how many of silence others wait before they take it.
	// The difference is the time to kill and the delay of what others see.
	killAfter  = 5
	leaseBeats = 10
)

// Watch is what a process has seen of the others: who beats, which attempts run,
// who owns which session. All times are this process's own monotonic clock at
// the moment something was seen.
type Watch struct {
	beat    time.Duration
	current func(context.Context) error

	mu       sync.Mutex
	runners  map[string]*seenRunner
	jobs     map[string]*seenJob     // running, by job id
	sessions map[string]*SeenSession // live, by stream
}

type seenRunner struct {
	last time.Time // latest sign of life
	gone bool      // it said so
}

type seenJob struct {
	nonce, runner string
	since         time.Time
	missing       int           // beats of its runner, since, that do not list it
	budget        time.Duration // 0: not looked up yet
}

// SeenSession is a live session with its owner.
type SeenSession struct {
	Account, SessionID string
	Epoch              int
	Owner              string
}

// WatchConfig configures a watch.
type WatchConfig struct {
	Beat time.Duration // 0: DefaultBeat
	// Current returns once everything that is in the log has been observed. It
	// keeps a process that was cut off from taking its own silence for others'.
	Current func(context.Context) error
}

// NewWatch has seen nothing yet.
func NewWatch(c WatchConfig) *Watch {
	if c.Beat <= 0 {
		c.Beat = DefaultBeat
	}
	return &Watch{
		beat: c.Beat, current: c.Current,
		runners: map[string]*seenRunner{}, jobs: map[string]*seenJob{}, sessions: map[string]*SeenSession{},
	}
}

// lease is how long a runner may be silent.
func (w *Watch) lease() time.Duration { return leaseBeats * w.beat }

// Observe learns from an event; it is a listener of a Hub.
func (w *Watch) Observe(r event.Recorded) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	switch e := r.Event.(type) {
	case runner.Beat:
		w.beatSeen(e, now)
	case job.WasClaimed:
		w.jobs[e.JobID] = &seenJob{nonce: e.Nonce, runner: e.Runner, since: now}
		w.alive(e.Runner, now)
	case job.WasReleased:
		delete(w.jobs, e.JobID)
	case session.Opened:
		stream := session.Stream(e.Account, e.SessionID)
		if known := w.sessions[stream]; known == nil || known.Epoch < e.Epoch {
			w.sessions[stream] = &SeenSession{Account: e.Account, SessionID: e.SessionID, Epoch: e.Epoch, Owner: e.Owner}
			w.alive(e.Owner, now)
		}
	case session.Cleared:
		w.sessionOver(session.Stream(e.Account, e.SessionID), e.Epoch)
	case session.Expired:
		w.sessionOver(session.Stream(e.Account, e.SessionID), e.Epoch)
	default:
		if jobID, _ := ended(e); jobID != "" {
			delete(w.jobs, jobID)
		}
	}
}

// Seed is what was the case before the first event observed.
type Seed struct {
	Running  []SeenAttempt
	Sessions []SeenSession
	// Dead: the log was down until now, so that whoever is named here and does not
	// beat again has lost what it held.
	Dead bool
}

// SeenAttempt is a running job.
type SeenAttempt struct{ JobID, Nonce, Runner string }

// Begin takes up what was the case before the first event observed.
func (w *Watch) Begin(s Seed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	named := func(runnerID string) {
		w.alive(runnerID, now)
		w.runners[runnerID].gone = s.Dead
	}
	for _, a := range s.Running {
		w.jobs[a.JobID] = &seenJob{nonce: a.Nonce, runner: a.Runner, since: now}
		named(a.Runner)
	}
	for _, live := range s.Sessions {
		w.sessions[session.Stream(live.Account, live.SessionID)] = &live
		named(live.Owner)
	}
}

func (w *Watch) alive(runnerID string, now time.Time) {
	if known := w.runners[runnerID]; known != nil {
		known.last = now
		return
	}
	for id, other := range w.runners { // those nobody has named for long
		if now.Sub(other.last) > 10*w.lease() {
			delete(w.runners, id)
		}
	}
	w.runners[runnerID] = &seenRunner{last: now}
}

func (w *Watch) beatSeen(b runner.Beat, now time.Time) {
	w.alive(b.Runner, now)
	w.runners[b.Runner].gone = b.Leaving
	listed := make(map[string]bool, len(b.Nonces))
	for _, nonce := range b.Nonces {
		listed[nonce] = true
	}
	for _, j := range w.jobs {
		if j.runner == b.Runner && !listed[j.nonce] {
			j.missing++
		}
	}
}

func (w *Watch) sessionOver(stream string, epoch int) {
	if known := w.sessions[stream]; known != nil && known.Epoch <= epoch {
		delete(w.sessions, stream)
	}
}

// dead tells whether a runner must be taken for dead. Held: w.mu.
func (w *Watch) dead(runnerID string, now time.Time) bool {
	known := w.runners[runnerID]
	return known == nil || known.gone || now.Sub(known.last) > w.lease()
}

// Alive is commands.Owners. A process nobody has seen is given a lease's time.
func (w *Watch) Alive(ctx context.Context, runnerID string) (bool, error) {
	for confirmed := false; ; confirmed = true {
		w.mu.Lock()
		now := time.Now()
		if w.runners[runnerID] == nil {
			w.alive(runnerID, now)
		}
		dead := w.dead(runnerID, now)
		w.mu.Unlock()
		if !dead || confirmed {
			return !dead, nil
		}
		if err := w.current(ctx); err != nil {
			return false, err
		}
	}
}

// OwnedBy lists the live sessions of a process.
func (w *Watch) OwnedBy(owner string) []SeenSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []SeenSession
	for _, s := range w.sessions {
		if s.Owner == owner {
			list = append(list, *s)
		}
	}
	return list
}

// idle tells whether there is nothing that could be lost.
func (w *Watch) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.jobs) == 0 && len(w.sessions) == 0
}

// attempt names one attempt at a job.
type attempt struct{ jobID, nonce string }

// abandoned lists the attempts whose runner is dead, or does not report them.
func (w *Watch) abandoned() []attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	var list []attempt
	for id, j := range w.jobs {
		if j.missing >= 2 || w.dead(j.runner, now) || j.budget > 0 && now.Sub(j.since) > j.budget+Overrun+takeoverDelay {
			list = append(list, attempt{id, j.nonce})
		}
	}
	return list
}

// longRunning lists the jobs that run for longer than the least budget could
// explain and whose own is not known yet.
func (w *Watch) longRunning() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for id, j := range w.jobs {
		if j.budget == 0 && time.Since(j.since) > Overrun+takeoverDelay {
			ids = append(ids, id)
		}
	}
	return ids
}

func (w *Watch) setBudget(jobID string, budget time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.jobs[jobID]; j != nil {
		j.budget = budget
	}
}

// orphans lists the sessions whose owner is dead.
func (w *Watch) orphans() []SeenSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	var list []SeenSession
	for _, s := range w.sessions {
		if w.dead(s.Owner, now) {
			list = append(list, *s)
		}
	}
	return list
}
