package view_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

// TestAPlaceIsRightOrLeftOut: a job that the table does not have yet is waited for, and has no place without that.
func TestAPlaceIsRightOrLeftOut(t *testing.T) {
	written := event.Position{Commit: 7, Prepare: 7}
	stopped := errors.New("stopped")
	for name, c := range map[string]struct {
		inTable, afterWait, ready, wrote bool
		wait, place                      error
		want                             int
		err                              error
	}{
		"in the table":                  {inTable: true, ready: true, wrote: true, want: 3},
		"in the table of another write": {inTable: true, ready: true, want: 3},
		"not yet":                       {afterWait: true, ready: true, wrote: true, want: 3},
		"not yet, written elsewhere":    {afterWait: true, ready: true},
		"left the queue":                {ready: true, wrote: true},
		"the table does not move":       {ready: true, wrote: true, wait: stopped, err: stopped},
		"the table is away":             {ready: true, wrote: true, place: stopped, err: stopped},
		"the table is being built":      {inTable: true, wrote: true},
	} {
		waited := false
		writes := httpkit.NewAccountWrites()
		if c.wrote {
			writes.RecordWrite("a", written)
		}
		q := view.Queue{
			MaxWait: time.Minute, Writes: writes,
			IsReady: func(model string) bool { return c.ready && model == "queue" },
			Wait: func(_ context.Context, model string, p event.Position) error {
				if model != "queue" || p != written {
					t.Errorf("%s: waits for %s at %v", name, model, p)
				}
				waited = true
				return c.wait
			},
			Place: func(_ context.Context, jobID string) (int, bool, error) {
				if c.inTable || c.afterWait && waited {
					return 3, true, c.place
				}
				return 0, false, c.place
			},
		}
		if got, err := q.PlaceOf(t.Context(), "a", "j"); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, %v; want %d, %v", name, got, err, c.want, c.err)
		}
	}
}
