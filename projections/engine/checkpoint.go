package engine

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"reckon/domain/event"
)

// Checkpoint is how far a projection's tables have got, as the database of db
// says, whichever process keeps them; the zero position before they begin.
func Checkpoint(ctx context.Context, db bun.IDB, p Projection) (event.Position, error) {
	row := stateRow{Name: p.Name, Version: p.Version}
	err := db.NewSelect().Model(&row).WherePK().Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return event.Position{}, nil
	}
	return positionOf(row), err
}
