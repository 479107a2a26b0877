package cluster

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/session"
)

const (
	// Overrun is how long past its budget a job's runner may take to end it.
	Overrun = 30 * time.Second
	// takeoverDelay is how long past that other processes wait before they take the job over.
	takeoverDelay = 30 * time.Second
)

// Rescuer takes jobs from runners that stopped reporting them, and ends the
// sessions of processes that are gone. Several may work at once: an attempt is
// named by its nonce and a session by its epoch, so that nothing ends twice.
type Rescuer struct {
	Watch  *Watch
	Jobs   *commands.Jobs
	Store  commands.Store
	Clock  commands.Clock
	Logger *slog.Logger
	Name   string // of this process
	Build  string

	changed chan struct{}
}

// NewRescuer prepares a rescuer; its Observe must listen to the hub its watch listens to.
func NewRescuer(r Rescuer) *Rescuer {
	r.changed = make(chan struct{}, 1)
	return &r
}

// Observe wakes a rescuer that has nothing to watch.
func (r *Rescuer) Observe(event.Recorded) {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Run looks once a beat while anything runs, and sleeps while nothing does.
func (r *Rescuer) Run(ctx context.Context) error {
	ticker := time.NewTicker(r.Watch.beat)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if r.Watch.idle() {
			select {
			case <-r.changed:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case <-ticker.C:
			if err := r.rescue(ctx); err != nil && ctx.Err() == nil {
				r.Logger.Warn("looking after runners failed; trying again", "error", err)
			}
		case <-ctx.Done():
		}
	}
	return nil
}

func (r *Rescuer) rescue(ctx context.Context) error {
	for _, id := range r.Watch.longRunning() {
		state, err := r.Jobs.Read(ctx, id)
		if err != nil {
			return err
		}
		r.Watch.setBudget(id, max(1, time.Duration(state.Queued.TimeoutMS)*time.Millisecond))
	}
	if len(r.Watch.abandoned()) == 0 && len(r.Watch.orphans()) == 0 {
		return nil
	}
	if err := r.Watch.current(ctx); err != nil { // the silence may be ours
		return err
	}
	for _, a := range r.Watch.abandoned() {
		state, err := r.Jobs.AbandonJob(ctx, r.intent(), a.jobID, a.nonce)
		if err != nil {
			return err
		}
		r.Logger.Info("took a job from a runner that stopped reporting it", "job", a.jobID, "now", state.Status)
	}
	for _, s := range r.Watch.orphans() {
		in := r.intent()
		in.Account = s.Account
		expire := session.Expire{Account: s.Account, SessionID: s.SessionID, Epoch: s.Epoch, Reason: session.EndOwnerLost}
		if _, err := commands.ExpireSession(ctx, r.Store, in, expire); err != nil {
			return err
		}
		r.Logger.Info("ended a session whose process is gone", "account", s.Account, "session", s.SessionID)
	}
	return nil
}

func (r *Rescuer) intent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: r.Clock.Now(), Actor: "rescuer:" + r.Name, Build: r.Build}
}
