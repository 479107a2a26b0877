package commands

import (
	"context"

	"reckon/domain/event"
)

// Blobs stores contents that are too long for events, under their SHA-256.
type Blobs interface {
	// Put stores a content and returns its name; the content is durable when it
	// returns. A content that is stored already is stored once.
	Put(ctx context.Context, content []byte) (event.Blob, error)
	// Get returns a content after it has compared it with the hash that names it.
	Get(ctx context.Context, blob event.Blob) ([]byte, error)
}

// storeText makes the Text of a string: inline up to event.MaxInlineBytes, else a
// blob that is durable when it returns.
func storeText(ctx context.Context, blobs Blobs, s string) (event.Text, error) {
	if len(s) <= event.MaxInlineBytes {
		return event.Inline(s), nil
	}
	blob, err := StoreBlob(ctx, blobs, []byte(s))
	if err != nil {
		return event.Text{}, err
	}
	return event.Text{Blob: &blob}, nil
}
