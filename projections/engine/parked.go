package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/internal/database"
)

// Parked is an event that a projection has parked.
type Parked struct {
	Projection string         `json:"projection"`
	Version    int            `json:"version"`
	Stream     string         `json:"stream"`
	Revision   event.Revision `json:"revision"`
	EventID    string         `json:"event_id"`
	EventName  string         `json:"event"`
	Reason     string         `json:"reason"`
	ParkedAt   time.Time      `json:"parked_at"`
}

// ListParked lists the parked events of all projections, in the order of the log.
func ListParked(ctx context.Context, db bun.IDB) ([]Parked, error) {
	if err := createStateTables(ctx, db); err != nil {
		return nil, err
	}
	var rows []parkedRow
	if err := db.NewSelect().Model(&rows).Order("name", "version", "position").Scan(ctx); err != nil {
		return nil, err
	}
	list := make([]Parked, len(rows))
	for i, r := range rows {
		list[i] = Parked{
			Projection: r.Name, Version: r.Version, Stream: r.Stream, Revision: event.Revision(r.Revision),
			EventID: r.EventID, EventName: r.EventName, Reason: r.Reason, ParkedAt: r.ParkedAt.UTC(),
		}
	}
	return list, nil
}

// RetryParked applies the parked events of a projection, each stream in one transaction, in
// the order in which their first events stand in the log. A stream that fails again stays
// parked and is named in the error.
func (e *Engine) RetryParked(ctx context.Context, name string) error {
	return e.onWorker(ctx, name, func(ctx context.Context, w *worker) error {
		streams, err := parkedStreams(ctx, w.db, w.Projection)
		if err != nil {
			return err
		}
		var failed []error
		for _, stream := range streams {
			if err := w.unpark(ctx, stream, w.reapply); err != nil {
				failed = append(failed, fmt.Errorf("stream %s: %w", stream, err))
				continue
			}
			delete(w.parked, stream)
		}
		return errors.Join(failed...)
	})
}

// DropParked deletes the parked events of one stream. They are never applied; later events
// of the stream are.
func (e *Engine) DropParked(ctx context.Context, name, stream string) error {
	return e.onWorker(ctx, name, func(ctx context.Context, w *worker) error {
		if !w.parked[stream] {
			return fmt.Errorf("%w: nothing of stream %s is parked", ErrNotFound, stream)
		}
		if err := w.unpark(ctx, stream, nil); err != nil {
			return err
		}
		delete(w.parked, stream)
		return nil
	})
}

// unpark calls f (nil: nothing) with the stream's parked events, oldest first, and deletes
// them, in one transaction.
func (w *worker) unpark(ctx context.Context, stream string, f func(context.Context, *Tx, parkedRow) error) error {
	at := w.saved
	return w.save(database.Unlimited(ctx), func(ctx context.Context, tx *Tx) error {
		var rows []parkedRow
		err := tx.tx.NewSelect().Model(&rows).Order("revision").
			Where("name = ? AND version = ? AND stream = ?", w.Name, w.Version, stream).Scan(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if f != nil {
				if err := f(ctx, tx, row); err != nil {
					return err
				}
			}
			if _, err := tx.tx.NewDelete().Model(&row).WherePK().Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}, &at)
}

func (w *worker) reapply(ctx context.Context, tx *Tx, row parkedRow) error {
	r, err := w.log.Event(ctx, row.Stream, event.Revision(row.Revision))
	if err != nil {
		return err
	}
	return w.Apply(ctx, tx, r)
}
