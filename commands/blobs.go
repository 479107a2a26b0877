package commands

import (
	"context"

	"reckon/domain/event"
)

// Blobs keeps large bytes by their content. A blob is durable when Put returns.
type Blobs interface {
	Put(ctx context.Context, content []byte) (event.Blob, error)
	// Get verifies what it returns against the hash that names it.
	Get(ctx context.Context, blob event.Blob) ([]byte, error)
}

// storeText makes the Text of a string: inline, or a durable blob when it is long.
func storeText(ctx context.Context, blobs Blobs, s string) (event.Text, error) {
	if len(s) <= event.MaxInlineBytes {
		return event.Inline(s), nil
	}
	blob, err := blobs.Put(ctx, []byte(s))
	if err != nil {
		return event.Text{}, err
	}
	return event.Text{Blob: &blob}, nil
}

// loadText is the string of a Text.
func loadText(ctx context.Context, blobs Blobs, t event.Text) (string, error) {
	if t.Blob == nil {
		return t.Inline, nil
	}
	b, err := blobs.Get(ctx, *t.Blob)
	return string(b), err
}
