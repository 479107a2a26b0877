package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/internal/database"
)

// Difference is one thing in which tables are not what the log makes of them.
type Difference struct {
	Kind       DifferenceKind
	Projection string
	Table      string // empty where it is about all of the projection's
	Key        string // of the row
	Column     string // of Differs
	Want, Have string // Want: made of the log
}

// DifferenceKind is what a Difference says.
type DifferenceKind string

// Kinds of differences.
const (
	Differs DifferenceKind = "differs" // a column of a row
	Missing DifferenceKind = "missing" // a row that the log makes
	Extra   DifferenceKind = "extra"   // a row that the log does not make
	State   DifferenceKind = "state"   // the checkpoint is none of this log's
	Behind  DifferenceKind = "behind"  // the tables are right, as far as they go, which is not the log's end
)

// Replay builds projections in an empty database, each up to the checkpoint that it has in another one, and compares both.
// That other database is read in one transaction that only reads, so that a server may go on writing.
type Replay struct {
	fresh  *bun.DB
	have   *bun.DB
	read   bun.Tx // of have
	writer *writer
	models []*replayed
	batch  []event.Recorded
}

// replayed is one projection.
type replayed struct {
	Projection
	row    stateRow
	found  bool                      // the other database has a checkpoint
	parked map[string]event.Revision // streams with parked events → the first of them
}

// replayBatch is how many events are applied in one transaction.
const replayBatch = 2000

// NewReplay reads the checkpoints of a database and makes the tables in an empty one. The projections read their blobs as declared.
func NewReplay(ctx context.Context, fresh, have *bun.DB, projections ...Projection) (*Replay, error) {
	options := &sql.TxOptions{ReadOnly: true}
	if have.Dialect().Name() == dialect.PG {
		options.Isolation = sql.LevelRepeatableRead
	}
	read, err := have.BeginTx(database.Unlimited(ctx), options)
	if err != nil {
		return nil, err
	}
	if err := database.LongReading(ctx, read); err != nil {
		return nil, errors.Join(err, read.Rollback())
	}
	r := &Replay{fresh: fresh, have: have, read: read, writer: &writer{db: fresh}}
	for _, p := range projections {
		r.models = append(r.models, &replayed{Projection: p, row: stateRow{Name: p.Name, Version: p.Version}, parked: map[string]event.Revision{}})
		if err := p.createTables(ctx, fresh); err != nil {
			return nil, errors.Join(err, read.Rollback())
		}
	}
	if err := errors.Join(r.readCheckpoints(ctx), r.readParked(ctx)); err != nil {
		return nil, errors.Join(err, read.Rollback())
	}
	return r, nil
}

// Reading is the transaction in which the other database is read.
func (r *Replay) Reading() bun.IDB { return r.read }

// model is the projection of a row; nil: another one, or another version.
func (r *Replay) model(name string, version int) *replayed {
	for _, m := range r.models {
		if m.Name == name && m.Version == version {
			return m
		}
	}
	return nil
}

func (r *Replay) readCheckpoints(ctx context.Context) error {
	return readRows(ctx, r, func(row *stateRow) {
		if m := r.model(row.Name, row.Version); m != nil {
			m.row, m.found = *row, true
		}
	})
}

func (r *Replay) readParked(ctx context.Context) error {
	return readRows(ctx, r, func(row *parkedRow) {
		m := r.model(row.Name, row.Version)
		if m == nil {
			return
		}
		if first, parked := m.parked[row.Stream]; !parked || event.Revision(row.Revision) < first {
			m.parked[row.Stream] = event.Revision(row.Revision)
		}
	})
}

// readRows visits the rows of a table of the other database that its types can hold; whoever compares the table names the others.
func readRows[R any](ctx context.Context, r *Replay, visit func(*R)) (err error) {
	there, err := hasTable(ctx, r.read, r.have.Table(reflect.TypeFor[R]()).Name)
	if err != nil || !there {
		return err
	}
	rows, err := r.read.NewSelect().Model((*R)(nil)).Rows(ctx)
	if err != nil {
		return err
	}
	w := &walk[R]{db: r.have, rows: rows}
	for err = w.next(ctx); err == nil && w.row != nil; err = w.next(ctx) {
		if w.bad == nil {
			visit(w.row)
		}
	}
	return errors.Join(err, rows.Close())
}

// Close ends the reading.
func (r *Replay) Close() error {
	r.writer.close()
	return r.read.Rollback()
}

// Take applies the next event of the log. Events without a decoded content change no row.
func (r *Replay) Take(ctx context.Context, e event.Recorded) error {
	if e.Event == nil {
		return nil
	}
	if r.batch = append(r.batch, e); len(r.batch) < replayBatch {
		return nil
	}
	return r.flush(ctx)
}

func (r *Replay) flush(ctx context.Context) error {
	batch := r.batch
	r.batch = r.batch[:0]
	for len(batch) > 0 {
		applied := 0
		err := r.writer.inTx(ctx, func(ctx context.Context, tx *Tx) error {
			for applied = 0; applied < len(batch) && tx.bytes < maxBatchBytes; applied++ {
				for _, m := range r.models {
					if err := m.apply(ctx, tx, batch[applied]); err != nil {
						return fmt.Errorf("position %d, %s: %w", batch[applied].Position.Commit, m.id(), err)
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		batch = batch[applied:]
	}
	return nil
}

// apply applies an event that the other database's tables have applied.
func (m *replayed) apply(ctx context.Context, tx *Tx, e event.Recorded) error {
	first, parked := m.parked[e.Stream]
	if !m.found || positionOf(m.row).Less(e.Position) || parked && e.Revision >= first {
		return nil
	}
	return m.Apply(ctx, tx, e)
}

// LogIDs are the names of the logs that the tables were built from, each once.
func (r *Replay) LogIDs() (ids []string) {
	for _, m := range r.models {
		if m.found && !slices.Contains(ids, m.row.LogID) {
			ids = append(ids, m.row.LogID)
		}
	}
	return ids
}

// Compare reports every difference. logID names the log, end is its newest event; what is reported may end the comparison with an error.
func (r *Replay) Compare(ctx context.Context, logID string, end event.Position, report func(Difference) error) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	for _, m := range r.models {
		difference, ok := m.compareState(logID, end)
		if !m.found {
			var err error
			if difference, err = r.withoutCheckpoint(ctx, m, difference); err != nil {
				return err
			}
		}
		if !ok {
			if err := report(difference); err != nil {
				return err
			}
			if difference.Kind == State || !m.found {
				continue // its rows are of another log, or of none
			}
		}
		for _, t := range m.Tables {
			there, err := hasTable(ctx, r.read, t.tableName(r.have))
			if err == nil && !there {
				err = report(Difference{Kind: State, Projection: m.id(), Table: t.tableName(r.have), Want: "the table", Have: "none"})
			}
			if err != nil {
				return err
			}
			if !there {
				continue
			}
			if err := t.compare(ctx, r.fresh, r.have, r.read, func(d Difference) error {
				d.Projection = m.id()
				return report(d)
			}); err != nil {
				return fmt.Errorf("table %s: %w", t.tableName(r.have), err)
			}
		}
	}
	return nil
}

// hasTable tells whether a table exists.
func hasTable(ctx context.Context, db bun.IDB, table string) (there bool, err error) {
	query := "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)"
	if db.Dialect().Name() == dialect.PG {
		query = "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?)"
	}
	err = db.NewRaw(query, table).Scan(ctx, &there)
	return there, err
}

// withoutCheckpoint is the difference of a projection without a checkpoint: its tables are made and removed together with that, so
// that it was removed, or changed, where they are there.
func (r *Replay) withoutCheckpoint(ctx context.Context, m *replayed, d Difference) (Difference, error) {
	for _, t := range m.Tables {
		there, err := hasTable(ctx, r.read, t.tableName(r.have))
		if err != nil {
			return d, err
		}
		if there {
			return Difference{Kind: Missing, Projection: m.id(), Table: r.have.Table(reflect.TypeFor[stateRow]()).Name, Key: fmt.Sprint(m.Name, " ", m.Version),
				Want: "a checkpoint of table " + t.tableName(r.have), Have: "none that can be read"}, nil
		}
	}
	return d, nil
}

func (m *replayed) compareState(logID string, end event.Position) (d Difference, ok bool) {
	at := positionOf(m.row)
	switch {
	case !m.found:
		return Difference{Kind: Behind, Projection: m.id(), Want: "tables", Have: "none: this version was never built"}, false
	case m.row.LogID != logID:
		return Difference{Kind: State, Projection: m.id(), Want: "tables of log " + logID, Have: "of log " + m.row.LogID}, false
	case end.Less(at):
		return Difference{Kind: State, Projection: m.id(), Want: fmt.Sprintf("a checkpoint up to the log's end, %d", end.Commit), Have: fmt.Sprint(at.Commit)}, false
	case at.Less(end) || m.row.Phase != phaseRunning:
		return Difference{Kind: Behind, Projection: m.id(), Want: fmt.Sprintf("position %d", end.Commit),
			Have: strings.TrimSpace(fmt.Sprintf("compared at position %d, %s %s", at.Commit, m.row.Phase, m.row.Reason))}, false
	}
	return d, true
}

// rowsOf are the rows of a table in the order of their keys' bytes.
func (t *Rows[K, R]) rowsOf(ctx context.Context, db bun.IDB) (*sql.Rows, error) {
	order := "? ASC"
	if db.Dialect().Name() == dialect.PG && reflect.TypeFor[K]().Kind() == reflect.String {
		order = `? COLLATE "C" ASC`
	}
	return db.NewSelect().Model((*R)(nil)).OrderExpr(order, bun.Ident(t.column)).Rows(ctx)
}

// walk is a position in the rows of a table.
type walk[R any] struct {
	db   *bun.DB
	rows *sql.Rows
	row  *R // nil: at the end
	bad  error
}

// next reads the next row; one that cannot be read has an error instead of its columns.
func (w *walk[R]) next(ctx context.Context) error {
	w.row, w.bad = nil, nil
	if !w.rows.Next() {
		return w.rows.Err()
	}
	w.row = new(R)
	w.bad = w.db.ScanRow(ctx, w.rows, w.row)
	return nil
}

// compare walks both tables by key.
func (t *Rows[K, R]) compare(ctx context.Context, fresh, have *bun.DB, read bun.IDB, report func(Difference) error) (err error) {
	table := t.tableName(have)
	wantRows, err := t.rowsOf(ctx, fresh)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wantRows.Close()) }()
	haveRows, err := t.rowsOf(ctx, read)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, haveRows.Close()) }()
	want, found := &walk[R]{db: fresh, rows: wantRows}, &walk[R]{db: have, rows: haveRows}
	if err := errors.Join(want.next(ctx), found.next(ctx)); err != nil {
		return err
	}
	for want.row != nil || found.row != nil {
		if found.bad != nil {
			if err := report(Difference{Kind: Differs, Table: table, Key: fmt.Sprint(t.key(found.row)), Want: "a row of the table's types", Have: found.bad.Error()}); err != nil {
				return err
			}
			if err := found.next(ctx); err != nil {
				return err
			}
			continue
		}
		order := 0
		switch {
		case want.row == nil:
			order = 1
		case found.row == nil:
			order = -1
		default:
			order = compareKeys(t.key(want.row), t.key(found.row))
		}
		var step error
		switch {
		case order < 0:
			step = errors.Join(report(Difference{Kind: Missing, Table: table, Key: fmt.Sprint(t.key(want.row)), Want: "a row", Have: "none"}), want.next(ctx))
		case order > 0:
			step = errors.Join(report(Difference{Kind: Extra, Table: table, Key: fmt.Sprint(t.key(found.row)), Want: "no row", Have: "a row"}), found.next(ctx))
		default:
			step = errors.Join(t.compareRow(fresh, table, want.row, found.row, report), want.next(ctx), found.next(ctx))
		}
		if step != nil {
			return step
		}
	}
	return nil
}

// compareKeys orders keys as rowsOf does.
func compareKeys[K comparable](a, b K) int {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() == reflect.String {
		return cmp.Compare(x.String(), y.String())
	}
	return cmp.Compare(x.Int(), y.Int())
}

// compareRow reports each column that differs.
func (t *Rows[K, R]) compareRow(db *bun.DB, table string, want, have *R, report func(Difference) error) error {
	a, b := reflect.ValueOf(want).Elem(), reflect.ValueOf(have).Elem()
	for _, field := range db.Table(reflect.TypeFor[R]()).Fields {
		x, y := field.Value(a).Interface(), field.Value(b).Interface()
		if reflect.DeepEqual(x, y) {
			continue
		}
		if err := report(Difference{Kind: Differs, Table: table, Key: fmt.Sprint(t.key(want)), Column: field.Name, Want: fmt.Sprintf("%v", x), Have: fmt.Sprintf("%v", y)}); err != nil {
			return err
		}
	}
	return nil
}
