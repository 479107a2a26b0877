package readapi

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"reckon/internal/supervision"
)

// outageReminder is how often an outage that goes on is logged again.
const outageReminder = time.Minute

// Outages logs that a dependency is away, each minute while it is, and that it is back, however often it is asked about: anybody
// may ask GET /readyz.
type Outages struct {
	logger *slog.Logger
	now    func() time.Time

	mutex    sync.Mutex
	away     map[string]outage // by the dependency's name
	answered map[string]time.Time
}

type outage struct{ since, logged time.Time }

// NewOutages is of a process that has not asked yet.
func NewOutages(logger *slog.Logger, now func() time.Time) *Outages {
	return &Outages{logger: logger, now: now, away: map[string]outage{}, answered: map[string]time.Time{}}
}

// isAway notes what came of asking a dependency, nil if it answers as it should, and reports whether it is away. One that answered is
// away at once when it refuses, and when it gives no answer in time, only after supervision.Silence. Who asked and went away learns nothing.
func (o *Outages) isAway(ctx context.Context, dependency string, err error) bool {
	if errors.Is(ctx.Err(), context.Canceled) {
		return err != nil
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	now := o.now()
	known, wasAway := o.away[dependency]
	if err == nil {
		o.answered[dependency] = now
	}
	if err != nil && ctx.Err() != nil && !wasAway && now.Sub(o.answered[dependency]) < supervision.Silence {
		return false
	}
	switch {
	case err == nil && wasAway:
		delete(o.away, dependency)
		o.logger.InfoContext(ctx, "ready again", "dependency", dependency, "after", now.Sub(known.since).Round(time.Second))
	case err != nil && (!wasAway || now.Sub(known.logged) >= outageReminder):
		if !wasAway {
			known.since = now
		}
		known.logged = now
		o.away[dependency] = known
		o.logger.WarnContext(ctx, "not ready", "dependency", dependency, "error", err)
	}
	return err != nil
}
