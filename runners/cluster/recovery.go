package cluster

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/session"
	"reckon/internal/tracing"
)

// Overrun is how long past its budget a job's own runner may take to end it.
const Overrun = 30 * time.Second

// Recovery takes over the jobs of runners that stopped reporting them, and expires
// the sessions of processes that are dead. Several processes may do so at once: an
// attempt is named by its nonce and a session by its epoch, so nothing ends twice.
type Recovery struct {
	RecoveryConfig
	changed chan struct{}
}

// RecoveryConfig configures a Recovery.
type RecoveryConfig struct {
	Liveness *Liveness
	Jobs     *commands.Jobs
	Store    commands.Store
	Clock    commands.Clock
	Logger   *slog.Logger
	Process  string // this process's runner id
	Build    string
}

// NewRecovery returns a recovery that is not running yet; its Observe must listen to
// the Subscription that its Liveness listens to.
func NewRecovery(c RecoveryConfig) *Recovery {
	return &Recovery{RecoveryConfig: c, changed: make(chan struct{}, 1)}
}

// Observe wakes Run, which sleeps while no job runs and no session is live.
func (r *Recovery) Observe(event.Recorded) {
	select {
	case r.changed <- struct{}{}:
	default: // a wake-up is pending
	}
}

// Run looks for abandoned attempts and orphaned sessions once per heartbeat interval
// while there are jobs or sessions, and sleeps while there are none.
func (r *Recovery) Run(ctx context.Context) error {
	ticker := time.NewTicker(r.Liveness.timing.Interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if r.Liveness.idle() {
			select {
			case <-r.changed:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case <-ticker.C:
			if err := r.recoverAll(ctx); err != nil && ctx.Err() == nil {
				r.Logger.Warn("recovery of jobs and sessions of dead processes failed; trying again", "error", err)
			}
		case <-ctx.Done():
		}
	}
	return nil
}

func (r *Recovery) recoverAll(ctx context.Context) error {
	if len(r.Liveness.abandonedAttempts()) == 0 && len(r.Liveness.orphanedSessions()) == 0 {
		return nil
	}
	if err := r.Liveness.readToEnd(ctx); err != nil { // it may be this process that heard nothing
		return err
	}
	if err := r.takeOverJobs(ctx); err != nil {
		return err
	}
	return r.expireSessions(ctx)
}

func (r *Recovery) takeOverJobs(ctx context.Context) error {
	for _, a := range r.Liveness.abandonedAttempts() {
		in := r.intent()
		in.Correlation, in.Causation, in.Traceparent = a.claim.Correlation, a.claim.EventID, a.claim.Traceparent
		state, err := r.Jobs.AbandonJob(ctx, in, a.jobID, a.nonce, a.silent)
		if err != nil {
			return err
		}
		r.Logger.InfoContext(tracing.Join(ctx, a.claim.Traceparent), "took a job over from a runner that stopped reporting it", "job", a.jobID, "now", state.Status)
	}
	return nil
}

func (r *Recovery) expireSessions(ctx context.Context) error {
	for _, s := range r.Liveness.orphanedSessions() {
		in := r.intent()
		in.Account = s.Account
		expire := session.Expire{Account: s.Account, SessionID: s.SessionID, Epoch: s.Epoch, Reason: session.EndOwnerLost}
		if _, err := commands.ExpireSession(ctx, r.Store, in, expire); err != nil {
			return err
		}
		r.Logger.Info("expired a session whose process is dead", "account", s.Account, "session", s.SessionID, "owner", s.Owner)
	}
	return nil
}

// intent is a new intent of the recovery. Logs name this actor "rescuer:" and always have.
func (r *Recovery) intent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: r.Clock.Now(), Actor: "rescuer:" + r.Process, Build: r.Build}
}
