// Package projectiontest is the given/when/then kit of projections: every event
// is applied twice, on SQLite and on PostgreSQL, and the rows must be those of
// applying it once.
package projectiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
)

// Databases runs a test on an empty SQLite database and on an empty PostgreSQL one.
func Databases(t *testing.T, open func(context.Context, string) (*bun.DB, error), test func(*testing.T, *bun.DB)) {
	for name, address := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": pgtest.Database} {
		t.Run(name, func(t *testing.T) { test(t, Open(t, open, address(t))) })
	}
}

// SQLite is the address of a fresh SQLite database.
func SQLite(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "read models?#%.db") }

// Open opens a database for the length of a test.
func Open(t testing.TB, open func(context.Context, string) (*bun.DB, error), address string) *bun.DB {
	t.Helper()
	db, err := open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Log makes recorded events in the order of a log.
type Log struct {
	Events    []event.Recorded
	revisions map[string]event.Revision
}

// Add records an event at a time; metadata beyond that may be given.
func (l *Log) Add(stream string, at time.Time, e event.Event, metadata ...event.Metadata) event.Recorded {
	if l.revisions == nil {
		l.revisions = map[string]event.Revision{}
	}
	place := uint64(len(l.Events)+1) * 100
	r := event.Recorded{
		ID: uuid.NewString(), Stream: stream, Revision: l.revisions[stream], Event: e,
		Position: event.Position{Commit: place, Prepare: place},
	}
	for _, m := range metadata {
		r.Metadata = m
	}
	r.Metadata.At = at
	l.revisions[stream]++
	l.Events = append(l.Events, r)
	return r
}

// Spec is a projection with the events it has seen.
type Spec struct {
	t          *testing.T
	db         *bun.DB
	projection engine.Projection
	given      []event.Recorded
	when       []event.Recorded
}

// Given starts from events.
func Given(t *testing.T, db *bun.DB, p engine.Projection, events ...event.Recorded) *Spec {
	return &Spec{t: t, db: db, projection: p, given: events}
}

// When adds the events under test.
func (s *Spec) When(events ...event.Recorded) *Spec {
	s.when = events
	return s
}

// Then wants what rows returns, however often the events are applied.
func (s *Spec) Then(rows func(context.Context) (any, error), want any) {
	s.t.Helper()
	twice := make([]event.Recorded, 0, 2*len(s.when))
	for _, r := range s.when {
		twice = append(twice, r, r)
	}
	var dumps []string
	for _, way := range []struct {
		name    string
		batches [][]event.Recorded
	}{
		{"each once", single(s.when)},
		{"each once, in one batch", [][]event.Recorded{s.when}},
		{"each twice", single(twice)},
		{"each twice, in one batch", [][]event.Recorded{twice}},
		{"all, and all again", [][]event.Recorded{s.when, s.when}},
	} {
		s.reset()
		s.apply(s.given)
		for _, batch := range way.batches {
			s.apply(batch)
		}
		got, err := rows(s.t.Context())
		if err != nil {
			s.t.Fatalf("%s: %v", way.name, err)
		}
		if !reflect.DeepEqual(got, want) {
			s.t.Errorf("%s:\ngot  %+v\nwant %+v", way.name, got, want)
		}
		dumps = append(dumps, Dump(s.t, s.db, s.projection))
		if dumps[0] != dumps[len(dumps)-1] {
			s.t.Errorf("%s leaves other rows:\n%s\nthan each once:\n%s", way.name, dumps[len(dumps)-1], dumps[0])
		}
	}
}

func single(events []event.Recorded) [][]event.Recorded {
	batches := make([][]event.Recorded, len(events))
	for i, r := range events {
		batches[i] = []event.Recorded{r}
	}
	return batches
}

func (s *Spec) reset() {
	s.t.Helper()
	for _, table := range s.projection.TableNames(s.db) {
		if err := engine.DropTable(s.t.Context(), s.db, table); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := s.projection.Create(s.t.Context(), s.db); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Spec) apply(events []event.Recorded) {
	s.t.Helper()
	err := engine.InTx(s.t.Context(), s.db, func(ctx context.Context, tx *engine.Tx) error {
		for _, r := range events {
			if err := s.projection.Apply(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// Dump is every row of the projections' tables, as text that is the same for
// the same rows.
func Dump(t testing.TB, db *bun.DB, projections ...engine.Projection) string {
	t.Helper()
	var out strings.Builder
	for _, p := range projections {
		for _, table := range p.TableNames(db) {
			var rows []map[string]any
			if err := db.NewSelect().Table(table).OrderExpr("1").Scan(context.Background(), &rows); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s: %d rows\n", table, len(rows))
			for _, row := range rows {
				line, err := json.Marshal(row)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s\n", line)
			}
		}
	}
	return out.String()
}
