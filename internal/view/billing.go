package view

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/receipt"
)

// Quote is a price that is kept, sealed as a receipt is (interface §2.11).
type Quote struct {
	Record QuoteRecord `json:"record" doc:"The price and until when it is kept; canonical_form holds the same values"`
	Seal
}

// QuoteRecord is a quote's record, served as the very bytes that were signed.
type QuoteRecord struct{ json.RawMessage }

// Schema is huma.SchemaProvider: the bytes are those of a billing.Quote.
func (QuoteRecord) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[billing.Quote](), true, "QuoteRecord")
}

// QuoteOf is the view of a sealed quote; base is the scheme and host clients use, or empty.
func QuoteOf(seal receipt.Seal, base string) Quote {
	return Quote{Record: QuoteRecord{seal.Canonical}, Seal: SealOf(seal, base)}
}

// SubscriptionStatus is how a subscription stands.
type SubscriptionStatus string

// Statuses of a subscription that has not ended.
const (
	SubscriptionActive  SubscriptionStatus = "active"
	SubscriptionPastDue SubscriptionStatus = "past_due" // an invoice should have been paid
	SubscriptionEnding  SubscriptionStatus = "ending"   // it was cancelled
)

// SubscriptionStatuses lists them all.
func SubscriptionStatuses() []SubscriptionStatus {
	return []SubscriptionStatus{SubscriptionActive, SubscriptionPastDue, SubscriptionEnding}
}

// Subscription is a subscription that has not ended.
type Subscription struct {
	Plan      string             `json:"plan" example:"pro" doc:"Name of the plan"`
	Period    account.Period     `json:"period" enum:"month,year" example:"month" doc:"What is paid for at a time"`
	Status    SubscriptionStatus `json:"status" enum:"active,past_due,ending" example:"active" doc:"active, past_due (an invoice should have been paid by now: the subscription ends at ends_at without that) or ending (it was cancelled, and ends at ends_at)"`
	StartedAt string             `json:"started_at" format:"date-time" example:"2026-08-01T12:00:00.000Z" doc:"When it began: RFC 3339, UTC, milliseconds"`
	RenewsAt  *string            `json:"renews_at" format:"date-time" example:"2026-09-01T12:00:00.000Z" doc:"When the next period begins: RFC 3339, UTC, milliseconds; null when it ends before"`
	EndsAt    *string            `json:"ends_at" format:"date-time" doc:"When it ends as things stand: RFC 3339, UTC, milliseconds; null: it goes on"`
}

// NullableSubscription is an account's subscription, or null.
type NullableSubscription struct{ *Subscription }

// MarshalJSON is json.Marshaler.
func (s NullableSubscription) MarshalJSON() ([]byte, error) { return json.Marshal(s.Subscription) }

// Schema is huma.SchemaProvider.
func (NullableSubscription) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[Subscription](), true, "Subscription"), {Type: "null"}}}
}
