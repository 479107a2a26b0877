package billing

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
)

const (
	// QuoteLife is the validity of a quote (interface §8).
	QuoteLife = 24 * time.Hour
	// QuoteStep is the time between two quotes of a price: they are issued at whole multiples of it, so that all processes
	// and all answers within it have the same bytes.
	QuoteStep = 300 * time.Second
)

// Quote is the record of a sealed offer (interface §2.11): a price that is kept until it expires.
type Quote struct {
	Plan        string         `json:"plan" example:"pro" doc:"Name of the plan"`
	Period      account.Period `json:"period" enum:"month,year" doc:"What the price is paid for"`
	AmountMinor int64          `json:"amount_minor" minimum:"1" doc:"The price in the currency's smallest unit (cents for USD)"`
	Currency    string         `json:"currency" example:"USD" doc:"ISO 4217 code"`
	IssuedAt    string         `json:"issued_at" format:"date-time" doc:"When the quote was issued: RFC 3339, UTC, milliseconds"`
	ExpiresAt   string         `json:"expires_at" format:"date-time" doc:"24 hours later: from then on the price is not kept"`
}

// QuoteOf is the quote of a plan's price at a time.
func QuoteOf(plan string, p account.Price, now time.Time) Quote {
	issued := now.Truncate(QuoteStep)
	return Quote{
		Plan: plan, Period: p.Period, AmountMinor: p.AmountMinor, Currency: p.Currency,
		IssuedAt: event.Timestamp(issued), ExpiresAt: event.Timestamp(issued.Add(QuoteLife)),
	}
}

// Price is the price that the quote keeps.
func (q Quote) Price() account.Price {
	return account.Price{Period: q.Period, AmountMinor: q.AmountMinor, Currency: q.Currency}
}

var (
	// ErrNotAQuote means that an envelope is genuine, or may be, and holds something else than a quote.
	ErrNotAQuote = errors.New("this is not a quote of GET /billing/plans")
	// ErrQuoteForged means that what a quote says is not what this service has sealed.
	ErrQuoteForged = errors.New("the quote was not sealed by this service as it is")
	// ErrQuoteExpired means that a quote is older than QuoteLife.
	ErrQuoteExpired = errors.New("the quote has expired: GET /billing/plans has new ones")
)

// OpenQuote returns the quote in an envelope if a key of this service has sealed it, unchanged, while it was the one that
// seals, and it has not expired. It returns ErrNotAQuote, ErrQuoteForged or ErrQuoteExpired.
func OpenQuote(e receipt.Envelope, published keys.State, now time.Time) (Quote, error) {
	byKID := map[string]ed25519.PublicKey{}
	for _, key := range published.Keys() {
		if public, err := keys.DecodeX(key.X); err == nil {
			byKID[key.KID] = public
		}
	}
	if err := receipt.Check(e, byKID); err != nil {
		return Quote{}, fmt.Errorf("%w: %w", ErrQuoteForged, err)
	}
	var q Quote
	strict := json.NewDecoder(bytes.NewReader(e.Record))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&q); err != nil || q.Price().Validate() != nil || q.Plan == "" {
		return Quote{}, ErrNotAQuote
	}
	issued, failed := event.ParseTimestamp(q.IssuedAt)
	expires, err := event.ParseTimestamp(q.ExpiresAt)
	if failed != nil || err != nil || !expires.Equal(issued.Add(QuoteLife)) {
		return Quote{}, ErrNotAQuote
	}
	// The holder of a retired key can choose any time of issue, so its quotes are valid no longer than the key and QuoteLife.
	key, _ := published.Find(*e.KID)
	if key.ActiveFrom.IsZero() || issued.Before(key.ActiveFrom.Add(-QuoteStep)) || !key.RetiredAt.IsZero() && issued.After(key.RetiredAt) {
		return Quote{}, fmt.Errorf("%w: the key did not seal at that time", ErrQuoteForged)
	}
	if !now.Before(expires) {
		return Quote{}, ErrQuoteExpired
	}
	if issued.After(now.Add(QuoteStep)) { // clocks of processes differ a little
		return Quote{}, fmt.Errorf("%w: it is of the future", ErrQuoteForged)
	}
	return q, nil
}
