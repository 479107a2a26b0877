package readapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A log that does not answer uses up the time of what asks it; it alone is said to be silent: not the database, and not the read models, which
// have all that the log held.
func TestReadinessBlamesWhatIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		health := Health{
			IsAway: func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, Outages: NewOutages(slog.New(slog.DiscardHandler), time.Now),
			Dependencies: []Dependency{
				{Name: "log", Part: "the event log", Check: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
				{Name: "database", Part: "the database", Check: func(ctx context.Context) error { return ctx.Err() }},
			},
			Projections: func(ctx context.Context) []ProjectionHealth {
				<-ctx.Done()
				return []ProjectionHealth{{Name: "history", Ready: true}}
			},
			Parts: func(context.Context) []PartHealth { return []PartHealth{{Name: "reaction", Ready: true}} },
		}
		silent := map[string]bool{}
		for _, d := range health.look(t.Context()).Dependencies {
			silent[d.Name] = !d.Ready
		}
		if want := map[string]bool{"log": true, "database": false}; !maps.Equal(silent, want) {
			t.Errorf("silent are %v, want %v", silent, want)
		}
	})
}

// A dependency that answered and is asked every two seconds is away after one look that it refuses, and after supervision.Silence without an answer.
func TestOneSlowLookIsNoOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		refusing := func(context.Context) error { return errors.New("connection refused") }
		answering := func(context.Context) error { return nil }
		var check func(context.Context) error
		health := Health{
			IsAway: func(error) bool { return true }, Outages: NewOutages(slog.New(slog.DiscardHandler), time.Now),
			Dependencies: []Dependency{{Name: "database", Check: func(ctx context.Context) error { return check(ctx) }}},
			Projections:  func(context.Context) []ProjectionHealth { return nil },
		}
		looks := func(n int, now func(context.Context) error) (ready []bool) {
			check = now
			for range n {
				ready = append(ready, health.look(t.Context()).Ready)
			}
			return ready
		}
		for _, step := range []struct {
			check func(context.Context) error
			ready []bool
		}{
			{silent, []bool{false}}, // it has never answered
			{answering, []bool{true}},
			{silent, []bool{true, true, true, false, false}},
			{answering, []bool{true}},
			{refusing, []bool{false}},
			{silent, []bool{false}}, // still away
		} {
			if got := looks(len(step.ready), step.check); !slices.Equal(got, step.ready) {
				t.Errorf("ready is %v, want %v", got, step.ready)
			}
		}
	})
}

// TestOutagesAreLoggedOnce: given a dependency that is asked about a hundred times a second for ten minutes while it is away, then it is
// logged once a minute, and that it is back once.
func TestOutagesAreLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var written bytes.Buffer
		outages := NewOutages(slog.New(slog.NewTextHandler(&written, nil)), time.Now)
		ask := func(err error, seconds int) (lines []string) {
			written.Reset()
			for range seconds * 100 {
				outages.isAway(t.Context(), "log", err)
				outages.isAway(t.Context(), "database", nil)
				time.Sleep(10 * time.Millisecond)
			}
			return slices.Collect(strings.Lines(written.String()))
		}
		if lines := ask(nil, 10); len(lines) != 0 {
			t.Errorf("all is well: %q", lines)
		}
		if lines := ask(errors.New("away"), 600); len(lines) != 10 || !strings.Contains(lines[9], `msg="not ready" dependency=log error=away`) {
			t.Errorf("ten minutes away: %q", lines)
		}
		if lines := ask(nil, 10); len(lines) != 1 || !strings.Contains(lines[0], `msg="ready again" dependency=log after=10m0s`) {
			t.Errorf("back: %q", lines)
		}
		if lines := ask(errors.New("away"), 1); len(lines) != 1 {
			t.Errorf("away again: %q", lines)
		}
	})
}
