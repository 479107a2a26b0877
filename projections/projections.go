package projections

import (
	"github.com/uptrace/bun"

	"reckon/domain/event"
)

//go:generate go run reckon/internal/lists

// source is the database of read models and the store of the blobs that events name.
type source struct {
	db    *bun.DB
	blobs event.BlobReader // holds the long texts of events
}
