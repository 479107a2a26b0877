package readapi

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"testing"
	"testing/synctest"
)

// A log that does not answer uses up the time of what asks it; the database, which answers, is not said to be silent.
func TestReadinessBlamesWhatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		health := Health{
			IsAway: func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, Logger: slog.New(slog.DiscardHandler),
			Dependencies: []Dependency{
				{Name: "log", Part: "the event log", Check: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
				{Name: "database", Part: "the database", Check: func(ctx context.Context) error { return ctx.Err() }},
			},
			Projections: func(ctx context.Context) ([]ProjectionHealth, error) { <-ctx.Done(); return nil, ctx.Err() },
			Parts: func(ctx context.Context) ([]PartHealth, error) {
				return []PartHealth{{Name: "reaction", Ready: true}}, ctx.Err()
			},
		}
		silent := map[string]bool{}
		for _, d := range health.look(t.Context()).Dependencies {
			silent[d.Name] = !d.Ready
		}
		if want := map[string]bool{"log": true, "database": false, "projections": true}; !maps.Equal(silent, want) {
			t.Errorf("silent are %v, want %v", silent, want)
		}
	})
}
