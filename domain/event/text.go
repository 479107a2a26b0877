package event

import (
	"context"
	"reflect"
	"sync"
)

// MaxInlineBytes is the largest text, in bytes, that an event carries itself; a
// longer one lives in the blob store and the event names it (docs/architecture.md#the-log).
const MaxInlineBytes = 16 << 10

// Blob names bytes in the blob store. The blob is durable before the event.
type Blob struct {
	SHA256 string `json:"sha256" format:"sha256" doc:"Hash of the bytes, and their name in the blob store"`
	Bytes  int64  `json:"bytes" doc:"Size"`
}

// BlobReader reads the bytes that a Blob names, and verifies them against its hash.
type BlobReader interface {
	Get(ctx context.Context, blob Blob) ([]byte, error)
}

// Text is a string that is either carried inline or named as a blob.
type Text struct {
	Inline string `json:"inline,omitempty" doc:"The string itself, when it is no longer than 16,384 bytes"`
	Blob   *Blob  `json:"blob,omitempty" doc:"Where the string is, when it is longer"`
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

// Texts are the texts that an event has in any of its fields, in their order; a blob that stands alone is one of them. Events that another
// one carries have theirs themselves.
func Texts(e Event) []Text { return textsIn(reflect.ValueOf(e), nil) }

var textType, blobType = reflect.TypeFor[Text](), reflect.TypeFor[Blob]()

func textsIn(v reflect.Value, found []Text) []Text {
	if !mayHoldText(v.Type()) {
		return found
	}
	switch v.Type() {
	case textType:
		return append(found, v.Interface().(Text))
	case blobType:
		blob := v.Interface().(Blob)
		return append(found, Text{Blob: &blob})
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return textsIn(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = textsIn(v.Index(i), found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			found = textsIn(v.Field(i), found)
		}
	}
	return found
}

var textHolders sync.Map // reflect.Type → bool

// mayHoldText tells whether values of a type can have a text. No type of an event holds itself.
func mayHoldText(t reflect.Type) bool {
	if known, ok := textHolders.Load(t); ok {
		return known.(bool)
	}
	holds := t == textType || t == blobType
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		holds = mayHoldText(t.Elem())
	case reflect.Struct:
		for i := 0; i < t.NumField() && !holds; i++ {
			holds = mayHoldText(t.Field(i).Type)
		}
	}
	textHolders.Store(t, holds)
	return holds
}
