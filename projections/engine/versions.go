package engine

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"reckon/domain/event"
)

// StoredVersion is a version of a projection that has tables in the database. This binary need not know it.
type StoredVersion struct {
	Name     string         `json:"name"`
	Version  int            `json:"version"`
	Tables   []string       `json:"tables"`
	Position event.Position `json:"position"`
	Parked   int64          `json:"parked"` // events set aside
	Writer   string         `json:"writer"` // the process that writes it; empty: none does
}

// StoredVersions lists every version of every projection in the database, by name and version.
func StoredVersions(ctx context.Context, db bun.IDB) ([]StoredVersion, error) {
	if err := createStateTables(ctx, db); err != nil {
		return nil, err
	}
	var rows []stateRow
	if err := db.NewSelect().Model(&rows).Order("name", "version").Scan(ctx); err != nil {
		return nil, err
	}
	parked, err := countParked(ctx, db)
	if err != nil {
		return nil, err
	}
	claims, err := readClaims(ctx, db)
	if err != nil {
		return nil, err
	}
	list := make([]StoredVersion, len(rows))
	for i, row := range rows {
		p := Projection{Name: row.Name, Version: row.Version}
		list[i] = StoredVersion{Name: row.Name, Version: row.Version, Tables: strings.Split(row.Tables, ","), Position: positionOf(row), Parked: parked[p.id()]}
		if by := claims[p.id()]; by.inForce() {
			list[i].Writer = by.Process
		}
	}
	return list, nil
}
