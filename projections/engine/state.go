package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/internal/database"
)

// storedPhase is the phase of a projection in the database; Phase is that in a process.
type storedPhase string

const (
	phaseRunning storedPhase = "running"
	phasePaused  storedPhase = "paused"
	phaseHalted  storedPhase = "halted"
	phaseBeyond  storedPhase = "beyond" // halted because the checkpoint is beyond the log's end: only Boot ends it
)

// stateRow is a projection's checkpoint.
type stateRow struct {
	bun.BaseModel `bun:"table:projection_state,alias:s"`

	Name     string      `bun:"name,pk"`
	Version  int         `bun:"version,pk"`
	LogID    string      `bun:"log_id,notnull"`
	Position int64       `bun:"position,notnull"`
	Prepare  int64       `bun:"prepare,notnull"`
	Phase    storedPhase `bun:"phase,notnull"`
	Reason   string      `bun:"reason,notnull"` // why the projection is halted
	Tables   string      `bun:"tables,notnull"` // names of the tables, with commas, so that TearDown can drop those of any version
}

// parkedRow is a parked event.
type parkedRow struct {
	bun.BaseModel `bun:"table:projection_parked,alias:p"`

	Name      string    `bun:"name,pk"`
	Version   int       `bun:"version,pk"`
	Stream    string    `bun:"stream,pk"`
	Revision  int64     `bun:"revision,pk"`
	Position  int64     `bun:"position,notnull"`
	EventID   string    `bun:"event_id,notnull"`
	EventName string    `bun:"event_name,notnull"`
	Reason    string    `bun:"reason,notnull"`
	ParkedAt  time.Time `bun:"parked_at,notnull"`
}

// errCheckpointTaken means that another process has moved the checkpoint.
var errCheckpointTaken = errors.New("another process keeps this projection")

// CreateTables runs f in a transaction that is alone in it: on PostgreSQL two concurrent CREATE … IF NOT EXISTS of
// the same table fail.
func CreateTables(ctx context.Context, db bun.IDB, f func(context.Context, bun.Tx) error) error {
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if err := database.Lock(ctx, tx, "tables of read models"); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}

func createStateTables(ctx context.Context, db bun.IDB) error {
	return CreateTables(ctx, db, func(ctx context.Context, tx bun.Tx) error {
		for _, model := range []any{(*stateRow)(nil), (*parkedRow)(nil), (*claimRow)(nil)} {
			if _, err := tx.NewCreateTable().Model(model).IfNotExists().Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func positionOf(s stateRow) event.Position {
	return event.Position{Commit: uint64(s.Position), Prepare: uint64(s.Prepare)}
}

// readCheckpoints reads the checkpoint of each version of a projection, by its id.
func readCheckpoints(ctx context.Context, db bun.IDB) (map[string]stateRow, error) {
	var rows []stateRow
	err := db.NewSelect().Model(&rows).Scan(ctx)
	checkpoints := make(map[string]stateRow, len(rows))
	for _, row := range rows {
		checkpoints[Projection{Name: row.Name, Version: row.Version}.id()] = row
	}
	return checkpoints, err
}

// loadState reads a projection's checkpoint and makes it, with the tables, where it is missing.
// Tables that are to be loaded up to a position get their indexes there (worker.save): an index
// that is kept while a table is filled costs more than the rows.
func loadState(ctx context.Context, db bun.IDB, p Projection, tables []string, logID string, loadedUpTo event.Position) (stateRow, error) {
	row := stateRow{Name: p.Name, Version: p.Version, LogID: logID, Phase: phaseRunning, Tables: strings.Join(tables, ",")}
	err := CreateTables(ctx, db, func(ctx context.Context, tx bun.Tx) error {
		// The row was inserted together with the tables, so they exist. CREATE INDEX IF NOT
		// EXISTS would wait for every writer of the table, one of which may wait for this lock.
		if err := tx.NewSelect().Model(&row).WherePK().Scan(ctx); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		create := p.createTables
		if loadedUpTo == (event.Position{}) {
			create = p.Create
		}
		if err := create(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(&row).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
			return err
		}
		return tx.NewSelect().Model(&row).WherePK().Scan(ctx)
	})
	if err == nil && row.LogID != logID {
		err = &ForeignLogError{Projection: p.id(), Built: row.LogID, Given: logID}
	}
	return row, err
}

// DropFormer removes the tables of every projection that were built from this log under one of these names, which it had before it was migrated
// or has in a copy from which it was taken back: they are built again, because their positions mean nothing any more. It returns the names of these projections. Several processes may call
// it at once.
func DropFormer(ctx context.Context, db bun.IDB, former []string) (names []string, err error) {
	if len(former) == 0 {
		return nil, nil
	}
	if err := createStateTables(ctx, db); err != nil {
		return nil, err
	}
	err = CreateTables(database.Unlimited(ctx), db, func(ctx context.Context, tx bun.Tx) error {
		var rows []stateRow
		if err := tx.NewSelect().Model(&rows).Where("log_id IN (?)", bun.List(former)).Order("name", "version").Scan(ctx); err != nil {
			return err
		}
		for _, row := range rows {
			if err := TearDown(ctx, tx, row.Name, row.Version); err != nil {
				return err
			}
			names = append(names, row.Name)
		}
		return nil
	})
	return names, err
}

// ForeignLogError is returned by New for tables that were built from another log.
type ForeignLogError struct{ Projection, Built, Given string }

func (e *ForeignLogError) Error() string {
	return fmt.Sprintf("projection %s was built from log %s and this is log %s: give the database of this log, or remove the tables with `reckon projections teardown`; "+
		"of a log that was migrated here a server with the role project does so when it starts", e.Projection, e.Built, e.Given)
}

// BeyondLogError is why a projection halts whose tables hold more than the log: of a copy of it, or of what it was before
// it was restored. The events that the log has at these positions, now or later, are not the ones that were applied.
type BeyondLogError struct {
	Projection     string
	Position, Head event.Position
}

func (e *BeyondLogError) Error() string {
	return fmt.Sprintf("the tables are at position %d and the log ends at %d: they were built from a copy of this log, or it was restored to an earlier state; "+
		"`reckon projections boot %s` builds them again", e.Position.Commit, e.Head.Commit, e.Projection)
}

// moveCheckpoint moves the checkpoint from where this process left it, or fails: because
// another process moved it, or because it was paused.
func moveCheckpoint(ctx context.Context, tx bun.IDB, p Projection, from, to event.Position) error {
	result, err := tx.NewUpdate().Model((*stateRow)(nil)).
		Set("position = ?", int64(to.Commit)).Set("prepare = ?", int64(to.Prepare)).
		Where("name = ? AND version = ? AND position = ? AND prepare = ?", p.Name, p.Version, int64(from.Commit), int64(from.Prepare)).
		Where("phase = ?", phaseRunning).
		Exec(ctx)
	if err != nil {
		return err
	}
	moved, err := result.RowsAffected()
	if err == nil && moved == 0 {
		err = errCheckpointTaken
	}
	return err
}

func setPhase(ctx context.Context, db bun.IDB, p Projection, phase storedPhase, reason string) error {
	_, err := db.NewUpdate().Model((*stateRow)(nil)).Set("phase = ?", phase).Set("reason = ?", reason).
		Where("name = ? AND version = ?", p.Name, p.Version).Exec(ctx)
	return err
}

// TearDown removes the tables, checkpoint and parked events of a version of a projection,
// which this binary need not know. No process may be running it. ErrNotFound: there is no
// such version.
func TearDown(ctx context.Context, db bun.IDB, name string, version int) error {
	return db.RunInTx(database.Unlimited(ctx), nil, func(ctx context.Context, tx bun.Tx) error {
		row := stateRow{Name: name, Version: version}
		err := tx.NewSelect().Model(&row).WherePK().Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: %s, version %d", ErrNotFound, name, version)
		}
		if err != nil {
			return err
		}
		for _, table := range strings.Split(row.Tables, ",") {
			if err := DropTable(ctx, tx, table); err != nil {
				return err
			}
		}
		for _, model := range []any{(*stateRow)(nil), (*parkedRow)(nil), (*claimRow)(nil)} {
			if _, err := tx.NewDelete().Model(model).Where("name = ? AND version = ?", name, version).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// parkedStreams returns the streams with parked events, in the order of the first of each in the log.
func parkedStreams(ctx context.Context, db bun.IDB, p Projection) (streams []string, err error) {
	err = db.NewSelect().Model((*parkedRow)(nil)).Column("stream").
		Where("name = ? AND version = ?", p.Name, p.Version).Group("stream").OrderExpr("MIN(position)").Scan(ctx, &streams)
	return streams, err
}

func insertParked(ctx context.Context, tx bun.IDB, p Projection, it item, reason string, now time.Time) error {
	row := parkedRow{
		Name: p.Name, Version: p.Version, Stream: it.recorded.Stream, Revision: int64(it.recorded.Revision),
		Position: int64(it.recorded.Position.Commit), EventID: it.recorded.ID, EventName: eventNameOf(it), Reason: reason, ParkedAt: now,
	}
	_, err := tx.NewInsert().Model(&row).On("CONFLICT DO NOTHING").Exec(ctx)
	return err
}

func eventNameOf(it item) string {
	var unreadable interface{ EventName() string }
	switch {
	case it.recorded.Event != nil:
		return it.recorded.Event.EventName()
	case errors.As(it.err, &unreadable):
		return unreadable.EventName()
	}
	return ""
}
