package readapi

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// outageReminder is how often an outage that goes on is logged again.
const outageReminder = time.Minute

// Outages logs that a dependency is away, each minute while it is, and that it is back, however often it is asked about: anybody
// may ask GET /readyz.
type Outages struct {
	logger *slog.Logger
	now    func() time.Time

	mutex sync.Mutex
	away  map[string]outage // by the dependency's name
}

type outage struct{ since, logged time.Time }

// NewOutages is of a process that has not asked yet.
func NewOutages(logger *slog.Logger, now func() time.Time) *Outages {
	return &Outages{logger: logger, now: now, away: map[string]outage{}}
}

// found notes what came of asking a dependency; nil: it answers as it should.
func (o *Outages) found(ctx context.Context, dependency string, err error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	now := o.now()
	known, wasAway := o.away[dependency]
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
}
