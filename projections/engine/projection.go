package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
)

// Policy is what a projection does at an event that it cannot apply.
type Policy string

const (
	// Halt, the default, stops the projection at the event until it is resumed.
	Halt Policy = "halt"
	// Park stores the event, and all later ones of its stream, for an operator and continues.
	Park Policy = "park"
)

// Projection declares one read model. The names of its tables end in _v and its version, so
// that a new version is built beside the one in use.
type Projection struct {
	Name      string
	Version   int
	Tables    []Table
	OnFailure Policy // empty: Halt
	on        map[string]handler
}

type handler func(context.Context, *Tx, event.Recorded) error

// On adds the handler of one event type. Handlers must be idempotent: an event may be
// applied again after its rows were written.
func On[E event.Event](p *Projection, f func(context.Context, *Tx, E, event.Recorded) error) {
	var zero E
	if p.on == nil {
		p.on = map[string]handler{}
	}
	p.on[zero.EventName()] = func(ctx context.Context, tx *Tx, r event.Recorded) error {
		e, ok := r.Event.(E)
		if !ok {
			return fmt.Errorf("event %s is a %T, not a %T", r.Event.EventName(), r.Event, zero)
		}
		return f(ctx, tx, e, r)
	}
}

// Apply calls the projection's handler of the event, if it has one. A panic of the handler
// is returned as an error.
func (p Projection) Apply(ctx context.Context, tx *Tx, r event.Recorded) (err error) {
	if r.Event == nil {
		return nil
	}
	handle, concerned := p.on[r.Event.EventName()]
	if !concerned {
		return nil
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("projection %s panicked: %v\n%s", p.Name, thrown, debug.Stack())
		}
	}()
	return handle(ctx, tx, r)
}

// EventNames are those the projection has a handler for.
func (p Projection) EventNames() []string {
	names := make([]string, 0, len(p.on))
	for name := range p.on {
		names = append(names, name)
	}
	return names
}

// concerns tells whether the projection has a handler for the item, readable or not.
func (p Projection) concerns(it item) bool {
	if it.recorded.Event != nil {
		_, concerned := p.on[it.recorded.Event.EventName()]
		return concerned
	}
	var unreadable interface{ EventName() string }
	if errors.As(it.err, &unreadable) {
		_, concerned := p.on[unreadable.EventName()]
		return concerned
	}
	return false
}

// id names a version of a projection.
func (p Projection) id() string { return fmt.Sprintf("%s_v%d", p.Name, p.Version) }

func (p Projection) validate(db *bun.DB) error {
	if p.Name == "" || p.Version < 1 || len(p.Tables) == 0 {
		return fmt.Errorf("projection %q: it needs a name, a version from 1 and a table", p.Name)
	}
	for _, name := range p.TableNames(db) {
		if suffix := fmt.Sprintf("_v%d", p.Version); !strings.HasSuffix(name, suffix) {
			return fmt.Errorf("projection %s: table %s must end in %s", p.Name, name, suffix)
		}
	}
	return nil
}

// Create creates the projection's tables and their indexes if they are missing.
func (p Projection) Create(ctx context.Context, db bun.IDB) error {
	if err := p.createTables(ctx, db); err != nil {
		return err
	}
	return p.createIndexes(ctx, db)
}

func (p Projection) createTables(ctx context.Context, db bun.IDB) error {
	for _, t := range p.Tables {
		if err := t.create(ctx, db); err != nil {
			return fmt.Errorf("projection %s: %w", p.id(), err)
		}
	}
	return nil
}

func (p Projection) createIndexes(ctx context.Context, db bun.IDB) error {
	for _, t := range p.Tables {
		if err := t.createIndexes(ctx, db); err != nil {
			return fmt.Errorf("projection %s: %w", p.id(), err)
		}
	}
	return nil
}

// hasIndexes tells whether every index of the projection exists.
func (p Projection) hasIndexes(ctx context.Context, db bun.IDB) (bool, error) {
	var names []string
	for _, t := range p.Tables {
		names = append(names, t.indexNames()...)
	}
	if len(names) == 0 {
		return true, nil
	}
	query := "SELECT COUNT(*) FROM sqlite_master WHERE name IN (?)" // an index of trigrams is a table there
	if db.Dialect().Name() == dialect.PG {
		query = "SELECT COUNT(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexname IN (?)"
	}
	var found int
	err := db.NewRaw(query, bun.List(names)).Scan(ctx, &found)
	return found == len(names), err
}

// TableNames are the names of the projection's tables in the database.
func (p Projection) TableNames(db *bun.DB) []string {
	names := make([]string, len(p.Tables))
	for i, t := range p.Tables {
		names[i] = t.tableName(db)
	}
	return names
}
