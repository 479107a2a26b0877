// Package payments reads what payment providers tell this service, on a webhook.
//
// It promises that nothing is believed that a provider has not signed, lately. It pays nothing and decides nothing: the
// account's stream does, and a payment that is told twice is one. docs/billing.md says how a provider is added.
package payments

import (
	"errors"
	"net/http"
	"time"
)

// Kind is what a provider tells.
type Kind string

// Kinds of events.
const (
	Succeeded Kind = "payment.succeeded" // the money of an invoice has come, all of it
	Other     Kind = "other"             // something that changes nothing here
)

// Event is one thing that happened at a provider.
type Event struct {
	ID          string // the provider's; every call about the same thing has the same
	Kind        Kind
	Account     string // UUID; of Succeeded, as all that follows
	InvoiceID   string
	AmountMinor int64 // in the currency's smallest unit
	Currency    string
}

// MaxBodyBytes is the largest body of a call.
const MaxBodyBytes = 64 << 10

var (
	// ErrUnauthentic means that a call was not signed by the provider, or not lately. What is wrong with the signature is not said.
	ErrUnauthentic = errors.New("the signature is missing, wrong or too old")
	// ErrUnreadable means that a call is the provider's and cannot be understood.
	ErrUnreadable = errors.New("the event cannot be read")
)

// Provider is a payment provider.
type Provider interface {
	// Name is part of the ids of its payments and of who paid in the log: it must never change.
	Name() string
	// Read returns the event of a call, of which the body was bounded by MaxBodyBytes and not read otherwise, at the time now.
	// Its errors are ErrUnauthentic and ErrUnreadable.
	Read(header http.Header, body []byte, now time.Time) (Event, error)
}
