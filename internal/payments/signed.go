package payments

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// SignatureHeader is t=SECONDS,v1=HEX: when a call was signed, in seconds since 1970-01-01 UTC, and the HMAC-SHA256 of these
	// digits, a full stop and the body. There may be several v1, of which one must be right.
	SignatureHeader = "Reckon-Signature"
	// Tolerance is how far the time of a signature may be from now.
	Tolerance = 5 * time.Minute
	// MinSecretBytes is the least length of a secret.
	MinSecretBytes = 32

	maxSignatureBytes = 1024
	maxSecrets        = 4
)

// Signed is the provider whose calls have a SignatureHeader and a JSON body of event, type, account, invoice_id, amount_minor and
// currency. A gateway in front of another provider can speak so.
type Signed struct{ secrets [][]byte }

// NewSigned returns the provider of some secrets, of which any may sign: one is added before the other goes. The error is of
// secrets that are missing, too many or too short.
func NewSigned(secrets ...string) (*Signed, error) {
	if len(secrets) == 0 || len(secrets) > maxSecrets {
		return nil, fmt.Errorf("there must be 1 to %d secrets, one a line", maxSecrets)
	}
	s := &Signed{}
	for _, secret := range secrets {
		if len(secret) < MinSecretBytes {
			return nil, fmt.Errorf("a secret must have at least %d bytes: whoever guesses it makes invoices paid", MinSecretBytes)
		}
		s.secrets = append(s.secrets, []byte(secret))
	}
	return s, nil
}

// Name is Provider's.
func (*Signed) Name() string { return "signed" }

// Read is Provider's.
func (s *Signed) Read(header http.Header, body []byte, now time.Time) (Event, error) {
	if !s.authentic(header.Values(SignatureHeader), body, now) {
		return Event{}, ErrUnauthentic
	}
	var told struct { // nil: not given, or null
		Event       *string `json:"event"`
		Type        *string `json:"type"`
		Account     *string `json:"account"`
		InvoiceID   *string `json:"invoice_id"`
		AmountMinor *int64  `json:"amount_minor"`
		Currency    *string `json:"currency"`
	}
	// One object of UTF-8, with each key once and in its own letters: another reader of these bytes reads the same.
	if err := json.Unmarshal(body, &told, json.RejectUnknownMembers(true)); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	// What is answered as another type is never sent again: a payment that came without its type would be lost.
	switch {
	case told.Event == nil || *told.Event == "":
		return Event{}, missing("event")
	case told.Type == nil || *told.Type == "":
		return Event{}, missing("type")
	case *told.Type != string(Succeeded):
		return Event{ID: *told.Event, Kind: Other}, nil
	case told.Account == nil:
		return Event{}, missing("account")
	case told.InvoiceID == nil:
		return Event{}, missing("invoice_id")
	case told.AmountMinor == nil:
		return Event{}, missing("amount_minor")
	case told.Currency == nil:
		return Event{}, missing("currency")
	}
	return Event{ID: *told.Event, Kind: Succeeded, Account: *told.Account, InvoiceID: *told.InvoiceID, AmountMinor: *told.AmountMinor, Currency: *told.Currency}, nil
}

func missing(field string) error { return fmt.Errorf("%w: %s is missing", ErrUnreadable, field) }

// authentic tells whether a header signs a body. Every signature is compared with every secret's in constant time.
func (s *Signed) authentic(headers []string, body []byte, now time.Time) bool {
	if len(headers) != 1 || len(headers[0]) > maxSignatureBytes {
		return false
	}
	at, signatures := "", [][]byte(nil)
	for part := range strings.SplitSeq(headers[0], ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			if at != "" {
				return false
			}
			at = value
		case "v1":
			signature, err := hex.DecodeString(value)
			if err != nil {
				return false
			}
			signatures = append(signatures, signature)
		}
	}
	seconds, err := strconv.ParseUint(at, 10, 40) // beyond the year 30000
	if err != nil || len(at) > 11 {
		return false
	}
	right := false
	for _, secret := range s.secrets {
		want := signature(secret, at, body)
		for _, got := range signatures {
			right = hmac.Equal(got, want) || right
		}
	}
	if age := now.Sub(time.Unix(int64(seconds), 0)); age > Tolerance || age < -Tolerance {
		return false
	}
	return right
}

func signature(secret []byte, at string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// Sign is the value of the SignatureHeader of a body at a time: for whoever calls, and for tests.
func Sign(secret string, body []byte, now time.Time) string {
	at := strconv.FormatInt(now.Unix(), 10)
	return "t=" + at + ",v1=" + hex.EncodeToString(signature([]byte(secret), at, body))
}
