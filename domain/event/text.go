package event

import "context"

// MaxInlineBytes is the largest text, in bytes, that an event carries itself; a
// longer one lives in the blob store and the event names it (docs/architecture.md#the-log).
const MaxInlineBytes = 16 << 10

// Blob names bytes in the blob store. The blob is durable before the event.
type Blob struct {
	SHA256 string `json:"sha256"` // lower-case hex
	Bytes  int64  `json:"bytes"`
}

// BlobReader reads the bytes that a Blob names, and verifies them against its hash.
type BlobReader interface {
	Get(ctx context.Context, blob Blob) ([]byte, error)
}

// Text is a string that is either carried inline or named as a blob.
type Text struct {
	Inline string `json:"inline,omitempty"`
	Blob   *Blob  `json:"blob,omitempty"`
}

// Inline makes a Text that the event carries itself.
func Inline(s string) Text { return Text{Inline: s} }

// Load returns the whole string, read from blobs when the event names one. Its
// errors are those of blobs.
func (t Text) Load(ctx context.Context, blobs BlobReader) (string, error) {
	if t.Blob == nil {
		return t.Inline, nil
	}
	content, err := blobs.Get(ctx, *t.Blob)
	return string(content), err
}
