package billing_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
)

func sealed(t *testing.T, record any, by ed25519.PrivateKey) receipt.Envelope {
	t.Helper()
	seal, err := receipt.SealJSON(record, &receipt.Signer{KID: keys.Thumbprint(by.Public().(ed25519.PublicKey)), Key: by})
	if err != nil {
		t.Fatal(err)
	}
	return seal.Envelope("/.well-known/service-keys.json", "")
}

func key(seed byte) (private ed25519.PrivateKey, published keys.Published) {
	private = ed25519.NewKeyFromSeed(append([]byte{seed}, make([]byte, ed25519.SeedSize-1)...))
	public := private.Public().(ed25519.PublicKey)
	return private, keys.Published{KID: keys.Thumbprint(public), X: keys.EncodeX(public), At: "2026-08-01T00:00:00.000Z"}
}

func TestQuotes(t *testing.T) {
	now := time.Date(2026, 8, 2, 12, 3, 0, 0, time.UTC)
	old, oldPublished := key(1)
	active, activePublished := key(2)
	waiting, waitingPublished := key(3)
	foreign, _ := key(4)
	changed := time.Date(2026, 8, 2, 11, 58, 0, 0, time.UTC) // of the key
	state := keys.Decider.Fold([]event.Event{
		oldPublished, activePublished, waitingPublished, keys.Activated{KID: oldPublished.KID, At: "2026-08-01T00:00:00.000Z"},
		keys.Activated{KID: activePublished.KID, At: event.Timestamp(changed)}, keys.Retired{KID: oldPublished.KID, At: event.Timestamp(changed)},
	})
	price := account.Price{Period: account.Monthly, AmountMinor: 1200, Currency: "USD"}
	q := billing.QuoteOf("pro", price, now)
	if q.IssuedAt != "2026-08-02T12:00:00.000Z" || q.ExpiresAt != "2026-08-03T12:00:00.000Z" || q.Price() != price {
		t.Errorf("%+v", q)
	}
	with := func(change func(*billing.Quote)) billing.Quote {
		other := q
		change(&other)
		return other
	}
	envelope := sealed(t, q, active)
	garbled := func(change func(*receipt.Envelope)) receipt.Envelope {
		other := envelope
		change(&other)
		return other
	}
	raised := strings.Replace(string(envelope.Record), "1200", "1100", 1)
	signature := "AAAA"
	for name, c := range map[string]struct {
		envelope receipt.Envelope
		now      time.Time
		want     error
	}{
		"as served":                  {envelope, now, nil},
		"in its last moment":         {envelope, now.Add(24*time.Hour - 3*time.Minute - time.Millisecond), nil},
		"expired":                    {envelope, now.Add(24*time.Hour - 3*time.Minute), billing.ErrQuoteExpired},
		"of the future":              {sealed(t, billing.QuoteOf("pro", price, now.Add(10*time.Minute)), active), now, billing.ErrQuoteForged},
		"by the key before":          {sealed(t, billing.QuoteOf("pro", price, changed), old), now, nil},
		"by the key before, later":   {sealed(t, q, old), now, billing.ErrQuoteForged},
		"by the key before its use":  {sealed(t, billing.QuoteOf("pro", price, changed.Add(-time.Hour)), active), now, billing.ErrQuoteForged},
		"by a key that waits":        {sealed(t, q, waiting), now, billing.ErrQuoteForged},
		"by nobody's key":            {sealed(t, q, foreign), now, billing.ErrQuoteForged},
		"another amount":             {garbled(func(e *receipt.Envelope) { e.Record = json.RawMessage(raised) }), now, billing.ErrQuoteForged},
		"another amount, everywhere": {garbled(func(e *receipt.Envelope) { e.Record, e.CanonicalForm = json.RawMessage(raised), raised }), now, billing.ErrQuoteForged},
		"another signature":          {garbled(func(e *receipt.Envelope) { e.Signature = &signature }), now, billing.ErrQuoteForged},
		"not signed":                 {garbled(func(e *receipt.Envelope) { e.Signature, e.KID = nil, nil }), now, billing.ErrQuoteForged},
		"nothing":                    {receipt.Envelope{}, now, billing.ErrQuoteForged},
		"good for a year":            {sealed(t, with(func(q *billing.Quote) { q.ExpiresAt = "2027-08-02T12:00:00.000Z" }), active), now, billing.ErrNotAQuote},
		"for nothing":                {sealed(t, with(func(q *billing.Quote) { q.AmountMinor = 0 }), active), now, billing.ErrNotAQuote},
		"of no plan":                 {sealed(t, with(func(q *billing.Quote) { q.Plan = "" }), active), now, billing.ErrNotAQuote},
		"of no time":                 {sealed(t, with(func(q *billing.Quote) { q.IssuedAt = "" }), active), now, billing.ErrNotAQuote},
		"a receipt":                  {sealed(t, receipt.Record{V: 1, RunID: 7, Warnings: []string{}}, active), now, billing.ErrNotAQuote},
		"a list":                     {sealed(t, []int{1}, active), now, billing.ErrNotAQuote},
	} {
		got, err := billing.OpenQuote(c.envelope, state, c.now)
		if !errors.Is(err, c.want) || c.want == nil && (err != nil || got.Price() != price || got.Plan != "pro") {
			t.Errorf("%s: %+v, %v; want %v", name, got, err, c.want)
		}
	}
}
