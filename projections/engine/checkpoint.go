package engine

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"reckon/domain/event"
)

// Checkpoint returns the position up to which a projection's tables have applied the log,
// as it is stored in the database; the zero position when they have applied nothing.
func Checkpoint(ctx context.Context, db bun.IDB, p Projection) (event.Position, error) {
	row := stateRow{Name: p.Name, Version: p.Version}
	err := db.NewSelect().Model(&row).WherePK().Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return event.Position{}, nil
	}
	return positionOf(row), err
}
