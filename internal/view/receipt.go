package view

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"reckon/domain/event"
	"reckon/domain/receipt"
	"reckon/domain/run"
)

// KeysPath is where the keys that seal are served.
const KeysPath = "/.well-known/service-keys.json"

// Seal is what makes a record checkable: its canonical form, hash and signature (interface §2.6).
type Seal struct {
	ID             string  `json:"id" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of canonical_form, hexadecimal"`
	CanonicalForm  string  `json:"canonical_form" doc:"The record with keys sorted, no whitespace and non-ASCII characters escaped: what was hashed and signed"`
	Signature      *string `json:"signature" format:"byte" doc:"Ed25519 over the bytes of canonical_form, base64; null on a deployment without a signing key"`
	UnsignedReason string  `json:"unsigned_reason,omitempty" doc:"Why there is no signature; left out when there is one"`
	KID            *string `json:"kid" doc:"Id of the key in the key set that signed (RFC 7638 thumbprint); null without a signature"`
	KeysURL        string  `json:"keys_url" format:"uri-reference" doc:"Where the keys that sign are published"`
}

// Receipt is the receipt of a run (interface §2.6).
type Receipt struct {
	Record CanonicalRecord `json:"record" doc:"What the receipt says of the run; canonical_form holds the same values"`
	Seal
	ReceiptURL string `json:"receipt_url" format:"uri-reference" doc:"Where this receipt is served"`
}

// CanonicalRecord is a receipt's record, served as the very bytes that were signed.
type CanonicalRecord struct{ json.RawMessage }

// Schema is huma.SchemaProvider: the bytes are those of a receipt.Record.
func (CanonicalRecord) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[receipt.Record](), true, "ReceiptRecord")
}

// ReceiptOf is the view of a run's receipt; base is the scheme and host clients
// use, or empty. Its errors are those of blobs.
func ReceiptOf(ctx context.Context, sealed run.Sealed, blobs event.BlobReader, base string) (Receipt, error) {
	canonical, err := sealed.Canonical.Load(ctx, blobs)
	if err != nil {
		return Receipt{}, err
	}
	seal := receipt.Seal{
		Canonical: []byte(canonical), ID: sealed.ReceiptID, Signature: sealed.Signature, KID: sealed.KID, UnsignedReason: sealed.UnsignedReason,
	}
	return Receipt{Record: CanonicalRecord{seal.Canonical}, Seal: SealOf(seal, base), ReceiptURL: base + ReceiptPath(sealed.RunID)}, nil
}

// SealOf is the view of a seal.
func SealOf(seal receipt.Seal, base string) Seal {
	e := seal.Envelope(base+KeysPath, "")
	return Seal{ID: e.ID, CanonicalForm: e.CanonicalForm, Signature: e.Signature, UnsignedReason: e.UnsignedReason, KID: e.KID, KeysURL: e.KeysURL}
}
