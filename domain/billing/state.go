package billing

import (
	"slices"
	"time"

	"reckon/domain/account"
	"reckon/domain/decider"
	"reckon/domain/event"
)

// State is an account's subscription and invoices as a fold of its stream.
type State struct {
	Subscription Subscription // the zero value: there is none
	Lapsed       Lapsed       // the zero value: no subscription comes back with what is owed
	Changes      int64        // how often a plan came into force or went out of it so far
	credit       decider.Map[int64]
	invoices     decider.Map[Invoice] // by id
	issued       int
	references   decider.Map[string] // operators' references → invoice ids
	payments     decider.Map[string] // payment ids → invoice ids
}

// Subscription is a subscription that has not ended.
type Subscription struct {
	Live        bool
	Plan        string
	Price       account.Price
	StartedAt   time.Time
	Periods     int // that have begun
	PeriodStart time.Time
	PeriodEnd   time.Time
	Cancelled   bool   // it ends with the period
	InvoiceID   string // of the period
}

// Lapsed is a subscription that ended unpaid, and goes on when nothing of it is owed any more.
type Lapsed struct {
	Subscription
	EndedAt time.Time
}

// InvoiceStatus is the status of an invoice.
type InvoiceStatus string

// Statuses of an invoice.
const (
	InvoiceOpen   InvoiceStatus = "open"
	InvoicePaid   InvoiceStatus = "paid"
	InvoiceVoided InvoiceStatus = "voided"
)

// InvoiceStatuses lists them all.
func InvoiceStatuses() []InvoiceStatus {
	return []InvoiceStatus{InvoiceOpen, InvoicePaid, InvoiceVoided}
}

// Invoice is an invoice as it stands.
type Invoice struct {
	Issued
	Status    InvoiceStatus
	DueAt     time.Time
	EndsAt    time.Time // when the subscription ends if it is still open; zero: it is not a subscription's
	Method    PayMethod // of a paid one
	PaymentID string    // of a paid one
	place     int       // in the account's series, from 1
}

// CreditMinor is the credit against the next invoices of a subscription in a currency, in its smallest unit.
func (s State) CreditMinor(currency string) int64 {
	credit, _ := s.credit.Get(currency)
	return credit
}

// Credits yields every currency that has credit, in order.
func (s State) Credits() []account.Price {
	var credits []account.Price
	for currency, amount := range s.credit.All() {
		if amount > 0 {
			credits = append(credits, account.Price{AmountMinor: amount, Currency: currency})
		}
	}
	slices.SortFunc(credits, func(a, b account.Price) int {
		if a.Currency < b.Currency {
			return -1
		}
		return 1
	})
	return credits
}

// Invoices are all invoices in the order in which they were issued.
func (s State) Invoices() []Invoice {
	all := make([]Invoice, 0, s.invoices.Len())
	for _, invoice := range s.invoices.All() {
		all = append(all, invoice)
	}
	slices.SortFunc(all, func(a, b Invoice) int { return a.place - b.place })
	return all
}

// Invoice returns the invoice of an id or of a number.
func (s State) Invoice(name string) (Invoice, bool) {
	if invoice, found := s.invoices.Get(name); found {
		return invoice, true
	}
	for _, invoice := range s.invoices.All() {
		if invoice.Number == name {
			return invoice, true
		}
	}
	return Invoice{}, false
}

// InvoiceOf returns the invoice of an operator's reference.
func (s State) InvoiceOf(reference string) (Invoice, bool) {
	id, known := s.references.Get(reference)
	if !known {
		return Invoice{}, false
	}
	return s.invoices.Get(id)
}

// invoiceOfPeriod is the invoice of the live subscription's period.
func (s State) invoiceOfPeriod() Invoice {
	invoice, _ := s.invoices.Get(s.Subscription.InvoiceID)
	return invoice
}

// firstUnpaid is the open invoice that ends the subscription first.
func (s State) firstUnpaid() (first Invoice, found bool) {
	for _, invoice := range s.invoices.All() {
		if invoice.Status != InvoiceOpen || invoice.EndsAt.IsZero() {
			continue
		}
		if !found || invoice.EndsAt.Before(first.EndsAt) {
			first, found = invoice, true
		}
	}
	return first, found
}

func evolve(s State, e event.Event) State {
	switch e := e.(type) {
	case Started:
		s.Changes++
		s.Lapsed = Lapsed{}
		s.Subscription = Subscription{
			Live: true, Plan: e.Plan, Price: account.Price{Period: e.Period, AmountMinor: e.AmountMinor, Currency: e.Currency},
			StartedAt: parse(e.StartedAt), Periods: 1, PeriodStart: parse(e.StartedAt), PeriodEnd: parse(e.RenewsAt),
		}
	case Renewed:
		s.Subscription.Periods++
		s.Subscription.PeriodStart, s.Subscription.PeriodEnd = parse(e.PeriodStart), parse(e.RenewsAt)
		s.Subscription.InvoiceID = ""
	case Cancelled:
		s.Subscription.Cancelled = true
	case Resumed:
		s.Subscription.Cancelled = false
	case Ended:
		s.Changes++
		if e.Restorable {
			s.Lapsed = Lapsed{s.Subscription, parse(e.EndedAt)}
		}
		s.Subscription = Subscription{}
		s = s.withCredit(e.Currency, e.CreditMinor)
	case Settled:
		if e.RenewsAt != "" {
			s.Changes++
			s.Subscription = s.Lapsed.Subscription
		}
		s.Lapsed = Lapsed{}
		s = s.withCredit(e.Currency, e.CreditMinor)
	case Issued:
		s = s.withInvoice(e)
	case Paid:
		s = s.withStatus(e.InvoiceID, func(i *Invoice) { i.Status, i.Method, i.PaymentID = InvoicePaid, e.Method, e.PaymentID })
		if e.PaymentID != "" {
			s.payments = s.payments.With(e.PaymentID, e.InvoiceID)
		}
	case Voided:
		invoice, _ := s.invoices.Get(e.InvoiceID)
		s = s.withStatus(e.InvoiceID, func(i *Invoice) { i.Status = InvoiceVoided })
		if s.Lapsed.Live && s.Lapsed.InvoiceID == e.InvoiceID {
			s.Lapsed = Lapsed{}
		}
		for _, line := range invoice.Lines {
			if line.Kind == LineCredit {
				s = s.withCredit(invoice.Currency, -line.AmountMinor)
			}
		}
	}
	return s
}

func (s State) withInvoice(e Issued) State {
	s.issued++
	invoice := Invoice{Issued: e, Status: InvoiceOpen, DueAt: parse(e.DueAt), place: s.issued}
	if e.EndsSubscriptionAt != "" {
		invoice.EndsAt = parse(e.EndsSubscriptionAt)
		s.Subscription.InvoiceID = e.InvoiceID
	}
	s.invoices = s.invoices.With(e.InvoiceID, invoice)
	if e.Reference != "" {
		s.references = s.references.With(e.Reference, e.InvoiceID)
	}
	for _, line := range e.Lines {
		if line.Kind == LineCredit {
			s = s.withCredit(e.Currency, line.AmountMinor)
		}
	}
	return s
}

func (s State) withStatus(invoiceID string, change func(*Invoice)) State {
	if invoice, known := s.invoices.Get(invoiceID); known {
		change(&invoice)
		s.invoices = s.invoices.With(invoiceID, invoice)
	}
	return s
}

func (s State) withCredit(currency string, amountMinor int64) State {
	if amountMinor != 0 {
		s.credit = s.credit.With(currency, s.CreditMinor(currency)+amountMinor)
	}
	return s
}

// parse reads a time that this package wrote.
func parse(s string) time.Time {
	t, _ := event.ParseTimestamp(s)
	return t
}

// stateBytes estimates the memory of a state.
func stateBytes(s State) int { return 1024 + 1536*s.issued }

// Due is an account with the time at which its subscription is to be renewed or ended.
type Due struct {
	Account string
	At      time.Time // UTC, milliseconds
}
