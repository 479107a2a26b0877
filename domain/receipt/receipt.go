package receipt

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reckon/domain/event"
	"reckon/domain/run"
)

// Record is the content of a run's receipt. Integers and strings only.
type Record struct {
	V            int           `json:"v" unit:"version" doc:"Version of this record: 1"`
	RunID        int64         `json:"run_id" minimum:"1" maximum:"9007199254740991" unit:"run id" doc:"Id of the run: an integer from 1"`
	Account      string        `json:"account" format:"uuid" doc:"Id of the account"`
	Expression   string        `json:"expression" doc:"Source text, exactly as submitted"`
	Answer       string        `json:"answer" doc:"The answer as rendered for people"`
	Status       run.Status    `json:"status" enum:"success,unevaluated,plot_omitted" doc:"success, unevaluated (the engine returned the input unchanged) or plot_omitted (a graphic was made and is over 2 MiB)"`
	StdoutSHA256 string        `json:"stdout_sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of what the expression printed, hexadecimal; of no bytes when it printed nothing"`
	Warnings     []string      `json:"warnings" doc:"Messages of the engine, and whether the session was lost, in order"`
	Engine       Engine        `json:"engine" doc:"What computed the answer"`
	Verification *Verification `json:"verification" doc:"The automatic check, when it reached a verdict; null otherwise"`
	SessionID    *string       `json:"session_id" doc:"The session it ran in; null when it ran in none"`
	Source       event.Source  `json:"source" enum:"web,mcp,job" doc:"Where it came from: web, mcp or job"`
	EvaluatedAt  string        `json:"evaluated_at" format:"date-time" doc:"When the evaluation ended: RFC 3339, UTC, milliseconds"`
}

// Engine names what computed the answer.
type Engine struct {
	Name     string `json:"name" doc:"Name of the engine"`
	Revision string `json:"revision" doc:"Version of the engine"`
}

// Verification is the automatic check's verdict as the receipt keeps it.
type Verification struct {
	Verdict run.Verdict `json:"verdict" enum:"verified,refuted" doc:"verified or refuted"`
	Basis   run.Basis   `json:"basis" enum:"exact,numeric,cross_check" doc:"What the verdict rests on: exact, numeric or cross_check"`
	Method  string      `json:"method" doc:"Name of the verification rule"`
}

// Version of Record.
const Version = 1

// Seal is a canonical record with its identity and, where a key seals, its signature.
type Seal struct {
	Canonical      []byte
	ID             string // SHA-256 of Canonical, lower-case hex
	Signature      string // base64 (RFC 4648 §4); empty without a key
	KID            string // RFC 7638 thumbprint of the key; empty without a key
	UnsignedReason string // why there is no signature; empty with one
}

// Signer is the key that signs receipts. A deployment without a key has none.
type Signer struct {
	KID string
	Key ed25519.PrivateKey
}

// ErrCannotSign means that the deployment has a signing key, and that this process cannot sign with it.
// Nothing is sealed then: a receipt without a signature would say that there is no key.
var ErrCannotSign = errors.New("the key that signs receipts is not available to this process; retry in a moment")

// NoKeyReason is the unsigned_reason of a deployment without a signing key.
const NoKeyReason = "this deployment has no signing key"

// SealJSON makes the seal of a value's JSON, unsigned if signer is nil. Its errors are those of CanonicalOf.
func SealJSON(v any, signer *Signer) (Seal, error) {
	canonical, err := CanonicalOf(v)
	if err != nil {
		return Seal{}, err
	}
	seal := Seal{Canonical: canonical, ID: identity(canonical)}
	if signer == nil {
		seal.UnsignedReason = NoKeyReason
		return seal, nil
	}
	seal.KID = signer.KID
	seal.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(signer.Key, canonical))
	return seal, nil
}

func identity(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Envelope is a receipt as it is served (interface §2.6).
type Envelope struct {
	Record         json.RawMessage `json:"record"`
	ID             string          `json:"id"`
	CanonicalForm  string          `json:"canonical_form"`
	Signature      *string         `json:"signature"`
	UnsignedReason string          `json:"unsigned_reason,omitempty"`
	KID            *string         `json:"kid"`
	KeysURL        string          `json:"keys_url"`
	ReceiptURL     string          `json:"receipt_url,omitempty"`
}

// Envelope is the seal as it is served. The record is the canonical form itself, byte for
// byte, so that a reader can check the signature without encoding it again.
func (s Seal) Envelope(keysURL, receiptURL string) Envelope {
	e := Envelope{
		Record: s.Canonical, ID: s.ID, CanonicalForm: string(s.Canonical),
		UnsignedReason: s.UnsignedReason, KeysURL: keysURL, ReceiptURL: receiptURL,
	}
	if s.Signature != "" {
		e.Signature, e.KID = &s.Signature, &s.KID
	}
	return e
}

// Errors of Check.
var (
	ErrCanonicalDiffers = errors.New("canonical_form is not the canonical serialization of record")
	ErrIDDiffers        = errors.New("id is not the SHA-256 of the canonical form")
	ErrUnsigned         = errors.New("the receipt is not signed")
	ErrUnknownKey       = errors.New("the key set has no key with this kid")
	ErrBadSignature     = errors.New("the signature does not verify")
)

// Check verifies an envelope offline against published keys, by kid. It returns the error of
// Canonical, or ErrCanonicalDiffers, ErrIDDiffers, ErrUnsigned, ErrUnknownKey or ErrBadSignature.
func Check(e Envelope, keys map[string]ed25519.PublicKey) error {
	canonical, err := Canonical(e.Record)
	if err != nil {
		return err
	}
	if string(canonical) != e.CanonicalForm {
		return ErrCanonicalDiffers
	}
	if subtle.ConstantTimeCompare([]byte(identity(canonical)), []byte(e.ID)) != 1 {
		return ErrIDDiffers
	}
	if e.Signature == nil || e.KID == nil {
		return fmt.Errorf("%w: %s", ErrUnsigned, e.UnsignedReason)
	}
	key, known := keys[*e.KID]
	if !known {
		return fmt.Errorf("%w: %s", ErrUnknownKey, *e.KID)
	}
	if strings.ContainsAny(*e.Signature, "\r\n") { // the decoder would skip them: a signature has one spelling
		return ErrBadSignature
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(*e.Signature)
	if err != nil || !ed25519.Verify(key, canonical, signature) {
		return ErrBadSignature
	}
	return nil
}
