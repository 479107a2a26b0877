package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/runner"
	"reckon/domain/session"
)

// Liveness is what a process has observed of all processes of the installation:
// which are alive, which attempts at jobs are running, and who owns which session.
// Every time is this process's own monotonic clock when the event was observed.
type Liveness struct {
	process string
	timing  Timing
	catchUp func(context.Context) error

	mu       sync.Mutex
	runners  map[string]*observedRunner
	jobs     map[string]*runningJob  // by job id
	sessions map[string]*LiveSession // by stream
	blind    bool                    // the log did not answer when it was read to its end last, or not soon
}

type observedRunner struct {
	lastSeen time.Time // when the latest event that names it was observed
	left     bool      // its process has ended
	leaving  bool      // its last heartbeat announced that it leaves
}

type runningJob struct {
	nonce, runner string
	claim         Claim
	unlisted      int // heartbeats of its runner, since the claim, that do not list it
}

// LiveSession is a session that has been neither cleared nor expired, and its owner.
type LiveSession struct {
	Account, SessionID string
	Epoch              int
	Owner              string // runner id
}

// LivenessConfig configures a Liveness.
type LivenessConfig struct {
	// Process is this process's runner id. It is alive to itself without heartbeats: one that cannot
	// write them kills what it holds (HeartbeatConfig.OnIsolated).
	Process  string
	Interval time.Duration // between heartbeats; 0: DefaultHeartbeatInterval
	// CatchUp returns once every event that is in the log has been observed. Without
	// it a process that was cut off from the log would take others for dead.
	CatchUp func(context.Context) error
}

// NewLiveness returns a Liveness that has observed nothing yet.
func NewLiveness(c LivenessConfig) *Liveness {
	return &Liveness{
		process: c.Process, timing: newTiming(c.Interval), catchUp: c.CatchUp,
		runners: map[string]*observedRunner{}, jobs: map[string]*runningJob{}, sessions: map[string]*LiveSession{},
	}
}

// Observe records what an event says; it is a listener of a Subscription.
func (l *Liveness) Observe(recorded event.Recorded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch e := recorded.Event.(type) {
	case runner.Beat:
		l.observeHeartbeat(e, now)
	case job.WasClaimed:
		l.jobs[e.JobID] = &runningJob{nonce: e.Nonce, runner: e.Runner, claim: claimOf(recorded)}
		l.markSeen(e.Runner, now)
	case job.WasReleased:
		delete(l.jobs, e.JobID)
	case session.Opened:
		stream := session.Stream(e.Account, e.SessionID)
		if known := l.sessions[stream]; known == nil || known.Epoch < e.Epoch {
			l.sessions[stream] = &LiveSession{Account: e.Account, SessionID: e.SessionID, Epoch: e.Epoch, Owner: e.Owner}
			l.markSeen(e.Owner, now)
		}
	case session.Cleared:
		l.removeSession(session.Stream(e.Account, e.SessionID), e.Epoch)
	case session.Expired:
		l.removeSession(session.Stream(e.Account, e.SessionID), e.Epoch)
	default:
		if end, ends := job.EndOf(e); ends {
			delete(l.jobs, end.JobID)
		}
	}
}

// Snapshot is the state of the installation before the first event that is observed.
type Snapshot struct {
	Running  []RunningAttempt
	Sessions []LiveSession
	// HostsLog: this process hosts the log, so every process that hosted it before has ended and
	// has lost what it held. Others may have survived it and keep their lease.
	HostsLog bool
}

// RunningAttempt is an attempt at a job that was claimed and has not ended.
type RunningAttempt struct {
	JobID, Nonce, Runner string
	Claim                Claim
}

// Claim is what has to be known of the event that began an attempt, so that what ends the attempt follows from it.
type Claim struct {
	EventID     string
	Correlation string
	Traceparent string // W3C trace context; empty: there is none
}

func claimOf(r event.Recorded) Claim {
	return Claim{EventID: r.ID, Correlation: r.Metadata.Correlation, Traceparent: r.Metadata.Traceparent}
}

// Restore sets the state before the first event; call it before Observe.
func (l *Liveness) Restore(s Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	restoreRunner := func(runnerID string) {
		l.markSeen(runnerID, now)
		l.runners[runnerID].left = s.HostsLog && hostedLog(runnerID)
	}
	for _, a := range s.Running {
		l.jobs[a.JobID] = &runningJob{nonce: a.Nonce, runner: a.Runner, claim: a.Claim}
		restoreRunner(a.Runner)
	}
	for _, live := range s.Sessions {
		l.sessions[session.Stream(live.Account, live.SessionID)] = &live
		restoreRunner(live.Owner)
	}
}

// markSeen records that an event named a runner. The caller holds l.mu.
func (l *Liveness) markSeen(runnerID string, now time.Time) {
	if known := l.runners[runnerID]; known != nil {
		known.lastSeen = now
		return
	}
	for id, other := range l.runners { // forget runners that no event has named for ten leases
		if now.Sub(other.lastSeen) > 10*l.timing.Lease() {
			delete(l.runners, id)
		}
	}
	l.runners[runnerID] = &observedRunner{lastSeen: now}
}

func (l *Liveness) observeHeartbeat(beat runner.Beat, now time.Time) {
	l.markSeen(beat.Runner, now)
	l.runners[beat.Runner].leaving = beat.Leaving
	listed := make(map[string]bool, len(beat.Nonces))
	for _, nonce := range beat.Nonces {
		listed[nonce] = true
	}
	for _, j := range l.jobs {
		if j.runner == beat.Runner && !listed[j.nonce] {
			j.unlisted++
		}
	}
}

func (l *Liveness) removeSession(stream string, epoch int) {
	if known := l.sessions[stream]; known != nil && known.Epoch <= epoch {
		delete(l.sessions, stream)
	}
}

// isDead tells whether another process's runner left, was never seen, or has been silent
// for longer than a lease. The caller holds l.mu.
func (l *Liveness) isDead(runnerID string, now time.Time) bool {
	if runnerID == l.process {
		return false
	}
	known := l.runners[runnerID]
	return known == nil || known.left || known.leaving || now.Sub(known.lastSeen) > l.timing.Lease()
}

// Alive is commands.Owners. A process that no event has named yet counts as alive
// for one lease from the first question.
func (l *Liveness) Alive(ctx context.Context, runnerID string) (bool, error) {
	for caughtUp := false; ; caughtUp = true {
		l.mu.Lock()
		now := time.Now()
		if l.runners[runnerID] == nil {
			l.markSeen(runnerID, now)
		}
		dead := l.isDead(runnerID, now)
		l.mu.Unlock()
		if !dead || caughtUp {
			return !dead, nil
		}
		if err := l.readToEnd(ctx); err != nil {
			return false, err
		}
	}
}

// readToEnd returns once every event that is in the log has been observed. A log that did not answer, or not soon, has kept others
// from reporting as well: each of them is heard of again, or is silent for another lease.
func (l *Liveness) readToEnd(ctx context.Context) error {
	begun := time.Now()
	err := l.catchUp(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.blind = l.blind || err != nil || now.Sub(begun) > l.timing.KillAfter()
	if err != nil || !l.blind {
		return err
	}
	l.blind = false
	for _, known := range l.runners {
		known.lastSeen = now
	}
	return nil
}

// WaitUntilDead returns nil once a process counts as dead, or the context's error. While the
// log cannot be read nobody does.
func (l *Liveness) WaitUntilDead(ctx context.Context, runnerID string) error {
	for {
		wait := l.timing.Interval // after an error
		alive, err := l.Alive(ctx, runnerID)
		if err == nil {
			if !alive {
				return nil
			}
			wait = l.leaseLeft(runnerID)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leaseLeft is how long a process still counts as alive if nothing more is heard of it, at
// least a millisecond.
func (l *Liveness) leaseLeft(runnerID string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.timing.Lease()
	if known := l.runners[runnerID]; known != nil {
		left -= time.Since(known.lastSeen)
	}
	return max(time.Millisecond, left)
}

// OwnedBy lists the live sessions of a process, in no order.
func (l *Liveness) OwnedBy(owner string) []LiveSession {
	return l.sessionsWhere(func(s *LiveSession) bool { return s.Owner == owner })
}

// orphanedSessions lists the live sessions whose owner is dead, in no order.
func (l *Liveness) orphanedSessions() []LiveSession {
	now := time.Now()
	return l.sessionsWhere(func(s *LiveSession) bool { return l.isDead(s.Owner, now) })
}

func (l *Liveness) sessionsWhere(match func(*LiveSession) bool) []LiveSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []LiveSession
	for _, s := range l.sessions {
		if match(s) {
			list = append(list, *s)
		}
	}
	return list
}

// idle tells whether no job is running and no session is live.
func (l *Liveness) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.jobs) == 0 && len(l.sessions) == 0
}

// attempt names one attempt at a job.
type attempt struct {
	jobID, nonce string
	claim        Claim
	silent       bool // its runner fell silent while it ran: it may be the work that ended the runner
}

// abandonedAttempts lists the attempts whose runner is dead or has not listed them in two heartbeats, in the order of their
// jobs' ids.
func (l *Liveness) abandonedAttempts() []attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	var list []attempt
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		j := l.jobs[id]
		dead := l.isDead(j.runner, now)
		if j.unlisted >= unlistedHeartbeats || dead {
			known := l.runners[j.runner]
			list = append(list, attempt{id, j.nonce, j.claim, dead && (known == nil || !known.leaving)})
		}
	}
	return list
}
