package projections

import (
	"github.com/uptrace/bun"

	"reckon/domain/event"
)

//go:generate go run reckon/internal/lists

// source is what read models are kept in and made from.
type source struct {
	db    *bun.DB
	blobs event.BlobReader // of the texts that events name
}
