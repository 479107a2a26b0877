// Package workers wires what a process needs to run jobs together with other
// processes: the one subscription to the log, what is known of the other
// processes, the recovery of abandoned attempts, the heartbeat, and the runner
// with its queue over the read models. `reckon serve` and the tests of several
// processes use the same wiring.
//
// It promises that every observer listens before the log is followed, and that
// what the read models knew when the process started is known before the first
// event is passed on. It never decides what a job computes.
package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/session"
	"reckon/internal/lifecycle"
	"reckon/internal/tracing"
	"reckon/projections"
	projecting "reckon/projections/engine"
	"reckon/runners"
	"reckon/runners/cluster"
)

// Log is the log as the workers of a process need it.
type Log interface {
	commands.Store
	cluster.Log
	cluster.HeartbeatLog
	Head(ctx context.Context) (event.Position, error)
}

// Config configures the workers of one process. All fields but Recovers and
// HostsLog are required.
type Config struct {
	Process   string        // runner id, new in every process
	Build     string        // revision of the binary, for event metadata
	Beat      time.Duration // interval of the heartbeats, the same in every process of an installation
	Log       Log
	Jobs      *commands.Jobs
	Models    *projections.ReadModels
	Projector *projecting.Engine // to wait until the queue and the sessions have seen an event
	Clock     commands.Clock
	Logger    *slog.Logger
	// Recovers makes this process take over attempts that other processes abandoned.
	Recovers bool
	// HostsLog says that the log is embedded in this process: what earlier hosts held is
	// abandoned, and heartbeats are written only while SetWatched says that others can read them.
	HostsLog bool
}

// Validate returns an error that names the field of c that New cannot use, or nil.
func (c Config) Validate() error {
	for _, field := range []struct {
		name    string
		present bool
	}{
		{"Process", c.Process != ""}, {"Build", c.Build != ""}, {"Beat", c.Beat > 0}, {"Log", c.Log != nil}, {"Jobs", c.Jobs != nil},
		{"Models", c.Models != nil}, {"Projector", c.Projector != nil}, {"Clock", c.Clock != nil}, {"Logger", c.Logger != nil},
	} {
		if !field.present {
			return fmt.Errorf("workers.Config.%s is missing", field.name)
		}
	}
	return nil
}

// Workers are the workers of one process.
type Workers struct {
	Subscription *cluster.Subscription
	Liveness     *cluster.Liveness

	config    Config
	recovery  *cluster.Recovery
	heartbeat *cluster.Heartbeat // nil in a process that runs no jobs, and so is runner
	runner    *runners.Runner
	kinds     RunConfig
}

// New wires what every process has: it follows the log and knows which others are alive.
func New(c Config) *Workers {
	w := &Workers{config: c, Subscription: cluster.NewSubscription()}
	w.Liveness = cluster.NewLiveness(cluster.LivenessConfig{Process: c.Process, Interval: c.Beat, CatchUp: w.catchUp})
	w.recovery = cluster.NewRecovery(cluster.RecoveryConfig{
		Liveness: w.Liveness, Jobs: c.Jobs, Store: c.Log, Clock: c.Clock, Logger: c.Logger, Process: c.Process, Build: c.Build,
	})
	w.Subscription.Listen(w.Liveness.Observe)
	w.Subscription.Listen(w.recovery.Observe)
	return w
}

// catchUp returns once this process has observed every event that is in the log now.
func (w *Workers) catchUp(ctx context.Context) error {
	head, err := w.config.Log.Head(ctx)
	if err != nil {
		return err
	}
	return w.Subscription.WaitUntilReached(ctx, head)
}

// RunConfig says which jobs a process runs, and how.
type RunConfig struct {
	Address         string        // where other processes reach the sessions of this one, HOST:PORT
	Slots           int           // jobs at a time
	Grace           time.Duration // what running jobs get to finish when the process drains
	OwnSessionsOnly bool          // run nothing but jobs in sessions that this process owns
	Kinds           []runners.Kind
	// AwaitAble is runners.Config.AwaitAble.
	AwaitAble func(ctx context.Context) error
	// Tracer is runners.Config.Tracer.
	Tracer *tracing.Tracer
	// Ended is runners.Config.Ended.
	Ended func(kind job.Kind, outcome runners.Outcome, took time.Duration)
	// CloseSession ends the worker of a session's epoch (commands.SessionKey); nil in a process without sessions.
	CloseSession func(key string) bool
	// KillSessions ends the workers of all sessions of the process, and keeps that they were lost; nil in a process without sessions.
	KillSessions func()
}

// Run makes the process run jobs. It is called before Parts.
func (w *Workers) Run(c RunConfig) {
	if c.CloseSession == nil {
		c.CloseSession = func(string) bool { return false }
	}
	if c.KillSessions == nil {
		c.KillSessions = func() {}
	}
	w.kinds = c
	w.heartbeat = cluster.NewHeartbeat(cluster.HeartbeatConfig{
		Runner: w.config.Process, Address: c.Address, Interval: w.config.Beat, Log: w.config.Log, Clock: w.config.Clock,
		Logger: w.config.Logger, Build: w.config.Build, OnIsolated: w.KillAll, HostsLog: w.config.HostsLog,
	})
	w.runner = runners.New(runners.Config{
		Claimant: runners.Claimant{Runner: w.config.Process, OwnSessionsOnly: c.OwnSessionsOnly},
		Slots:    c.Slots, Grace: c.Grace, Jobs: w.config.Jobs, Queue: queue{w.config.Models, w.config.Projector}, Heartbeat: w.heartbeat,
		Clock: w.config.Clock, Logger: w.config.Logger, Build: w.config.Build, Run: runners.ByName(c.Kinds...), AwaitAble: c.AwaitAble, Ended: c.Ended, Tracer: c.Tracer,
	})
	w.Subscription.Listen(w.runner.Observe)
	w.Subscription.Listen(w.observeSessions)
}

// Running is the number of jobs that this process runs.
func (w *Workers) Running() int { return w.runner.Running() }

// HeartbeatAge is cluster.Heartbeat.Age of a process that runs jobs.
func (w *Workers) HeartbeatAge() time.Duration { return w.heartbeat.Age() }

// SetWatched sets whether another process can read the log that this process hosts.
func (w *Workers) SetWatched(watched bool) {
	if w.heartbeat != nil {
		w.heartbeat.SetWatched(watched)
	}
}

// observeSessions closes the workers of sessions that the log says are over, and
// tells the heartbeat how many sessions the process owns.
func (w *Workers) observeSessions(r event.Recorded) {
	switch e := r.Event.(type) {
	case session.Opened:
	case session.Cleared:
		w.kinds.CloseSession(commands.SessionKey(e.Account, e.SessionID, e.Epoch))
	case session.Expired:
		w.kinds.CloseSession(commands.SessionKey(e.Account, e.SessionID, e.Epoch))
	default:
		return
	}
	w.heartbeat.SetSessionCount(len(w.Liveness.OwnedBy(w.config.Process)))
}

// KillAll stops all jobs and sessions of the process at once and waits for no log:
// other processes may take them over any moment.
func (w *Workers) KillAll() {
	w.runner.KillAll()
	w.kinds.KillSessions()
}

// restorePause is the pause before what the read models know is asked for again while their database is away.
const restorePause = 500 * time.Millisecond

// Parts are what the process runs, in the order in which they start.
func (w *Workers) Parts() []lifecycle.Part {
	var after event.Position
	parts := []lifecycle.Part{{
		Name: "subscription to the log",
		Start: func(ctx context.Context) (err error) {
			for {
				if after, err = w.restore(ctx); !commands.IsAway(err) {
					return err
				}
				select { // a database that is restarted in this very moment is no reason to end
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(restorePause):
				}
			}
		},
		Run: func(ctx context.Context) error { return w.Subscription.Run(ctx, w.config.Log, after) },
	}}
	if w.config.Recovers {
		parts = append(parts, lifecycle.Part{Name: "recovery of abandoned jobs", Run: w.recovery.Run})
	}
	if w.runner == nil {
		return parts
	}
	return append(parts,
		lifecycle.Part{Name: "heartbeat", Run: w.heartbeat.Run},
		lifecycle.Part{Name: "sessions", Stop: w.leaveSessions},
		w.jobs())
}

// jobs claims and runs. Draining lets running jobs end within the grace period and
// hands back the others; stopping without having drained kills them.
func (w *Workers) jobs() lifecycle.Part {
	draining := make(chan struct{})
	var running sync.Mutex // held while jobs run
	return lifecycle.Part{
		Name: "jobs",
		Run: func(ctx context.Context) error {
			running.Lock()
			defer running.Unlock()
			claiming, stopClaims := context.WithCancel(ctx)
			defer stopClaims()
			defer context.AfterFunc(ctx, w.runner.KillAll)()
			go func() {
				select {
				case <-draining:
					stopClaims()
				case <-claiming.Done():
				}
			}()
			return w.runner.Start(claiming)
		},
		Drain: func(context.Context) error {
			close(draining)
			running.Lock() // they have ended, and what is begun after this ends at once
			defer running.Unlock()
			return nil
		},
	}
}

// restore tells the liveness what the read models know, and returns the position of the log they know it at.
func (w *Workers) restore(ctx context.Context) (event.Position, error) {
	running, live, seen, err := w.config.Models.Queue.Snapshot(ctx, w.config.Models.Sessions)
	if err != nil {
		return seen, err
	}
	snapshot := cluster.Snapshot{HostsLog: w.config.HostsLog}
	for _, row := range running {
		snapshot.Running = append(snapshot.Running, cluster.RunningAttempt{
			JobID: row.JobID, Nonce: row.Nonce, Runner: row.Runner, Claim: cluster.Claim{EventID: row.Cause, Correlation: row.Correlation, Traceparent: row.Traceparent},
		})
	}
	for _, row := range live {
		snapshot.Sessions = append(snapshot.Sessions, cluster.LiveSession{Account: row.Account, SessionID: row.SessionID, Epoch: row.Epoch, Owner: row.Owner})
	}
	w.Liveness.Restore(snapshot)
	return seen, nil
}

// leaveSessions logs the end of the sessions this process owns: their variables go with it.
func (w *Workers) leaveSessions(ctx context.Context) error {
	for _, live := range w.Liveness.OwnedBy(w.config.Process) {
		in := commands.Intent{ID: uuid.New(), At: w.config.Clock.Now(), Account: live.Account, Actor: "runner:" + w.config.Process, Build: w.config.Build}
		expire := session.Expire{Account: live.Account, SessionID: live.SessionID, Epoch: live.Epoch, Reason: session.EndShutdown}
		if _, err := commands.ExpireSession(ctx, w.config.Log, in, expire); err != nil {
			w.config.Logger.Warn("a session's end was not logged; another process's recovery will", "session", live.SessionID, "error", err)
			return nil // the others would fare no better
		}
	}
	return nil
}

// queue is runners.Queue over the read models.
type queue struct {
	models    *projections.ReadModels
	projector *projecting.Engine
}

// Propose is runners.Queue.
func (q queue) Propose(ctx context.Context, c runners.Claimant, n int) ([]runners.Proposal, time.Duration, error) {
	found, again, err := q.models.Queue.ProposeJobs(ctx, projections.Claimant(c), n)
	list := make([]runners.Proposal, len(found))
	for i, p := range found {
		list[i] = runners.Proposal{JobID: p.JobID, Account: p.Account, Kind: p.Kind, Correlation: p.Correlation, Cause: p.Cause, Traceparent: p.Traceparent}
	}
	return list, again, err
}

// ProlongReservations is runners.Queue.
func (q queue) ProlongReservations(ctx context.Context, runner string, jobIDs []string) error {
	return q.models.Queue.ExtendProposals(ctx, runner, jobIDs)
}

// WithdrawProposals is runners.Queue.
func (q queue) WithdrawProposals(ctx context.Context, runner string, jobIDs []string) error {
	return q.models.Queue.WithdrawProposals(ctx, runner, jobIDs)
}

// WaitUntilApplied is runners.Queue: proposals are made from both read models.
func (q queue) WaitUntilApplied(ctx context.Context, lastJob, lastSession event.Position) error {
	return errors.Join(q.projector.Wait(ctx, "queue", lastJob), q.projector.Wait(ctx, "sessions", lastSession))
}
