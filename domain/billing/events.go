package billing

import (
	"encoding/json"
	"time"

	"reckon/domain/account"
	"reckon/domain/decider"
	"reckon/domain/event"
)

// Stream names the stream of an account's subscription and invoices.
func Stream(account string) string { return "billing-" + account }

// Started begins a subscription.
type Started struct {
	Account     string         `json:"account" format:"uuid" doc:"The account"`
	Plan        string         `json:"plan" doc:"Name of the plan in force from now on"`
	Period      account.Period `json:"period" enum:"month,year" doc:"What is paid for at a time: month or year"`
	AmountMinor int64          `json:"amount_minor" unit:"smallest units of the currency" doc:"Price of a period in the currency's smallest unit; every renewal has it too"`
	Currency    string         `json:"currency" doc:"ISO 4217 code"`
	StartedAt   string         `json:"started_at" format:"date-time" doc:"When the first period begins: all others are counted from here"`
	RenewsAt    string         `json:"renews_at" format:"date-time" doc:"When the first period ends"`
	QuoteID     string         `json:"quote_id,omitempty" format:"sha256" doc:"Id of the sealed quote whose price was honoured; absent: the catalogue's price"`
}

// Renewed begins the next period of a subscription.
type Renewed struct {
	Account     string `json:"account" format:"uuid" doc:"The account"`
	Plan        string `json:"plan" doc:"Name of the plan"`
	PeriodStart string `json:"period_start" format:"date-time" doc:"When the period begins: when the one before ended, whenever this was decided"`
	RenewsAt    string `json:"renews_at" format:"date-time" doc:"When the period ends"`
}

// Cancelled lets a subscription end with its period.
type Cancelled struct {
	Account string `json:"account" format:"uuid" doc:"The account"`
	EndsAt  string `json:"ends_at" format:"date-time" doc:"When the period ends, and the subscription with it"`
}

// Resumed lets a cancelled subscription go on.
type Resumed struct {
	Account  string `json:"account" format:"uuid" doc:"The account"`
	RenewsAt string `json:"renews_at" format:"date-time" doc:"When the next period begins"`
}

// EndReason is why a subscription has ended.
type EndReason string

// Reasons for which a subscription ends.
const (
	EndCancelled EndReason = "cancelled" // its period ended after it was cancelled
	EndUnpaid    EndReason = "unpaid"    // an invoice was not paid until its grace was over
	EndReplaced  EndReason = "replaced"  // another one began in its place
	EndWithdrawn EndReason = "withdrawn" // the plan had left the catalogue when it was to be renewed
	EndClosed    EndReason = "closed"    // the account was closed
)

// EndReasons lists them all.
func EndReasons() []EndReason {
	return []EndReason{EndCancelled, EndUnpaid, EndReplaced, EndWithdrawn, EndClosed}
}

// Settled says that nothing of a subscription that ended unpaid is owed any more: the rest of its period is in force again.
type Settled struct {
	Account     string `json:"account" format:"uuid" doc:"The account"`
	Plan        string `json:"plan" doc:"Name of the plan"`
	SettledAt   string `json:"settled_at" format:"date-time" doc:"When the last of what was owed was paid"`
	RenewsAt    string `json:"renews_at,omitempty" format:"date-time" doc:"When the period ends until which the plan is in force again; absent: it was over, and nothing is"`
	CreditMinor int64  `json:"credit_minor" unit:"smallest units of the currency" doc:"What the period's price asks for the time in which the plan was not in force, and is credited to later invoices, in the currency's smallest unit"`
	Currency    string `json:"currency" doc:"ISO 4217 code"`
}

// Ended ends a subscription.
type Ended struct {
	Account     string    `json:"account" format:"uuid" doc:"The account"`
	Plan        string    `json:"plan" doc:"Name of the plan that is in force no longer"`
	Reason      EndReason `json:"reason" enum:"cancelled,unpaid,replaced,withdrawn,closed" doc:"cancelled, unpaid, replaced, withdrawn (the plan left the catalogue) or closed (the account was)"`
	EndedAt     string    `json:"ended_at" format:"date-time" doc:"When it ended"`
	CreditMinor int64     `json:"credit_minor" unit:"smallest units of the currency" doc:"What was paid for the rest of the period and is credited to later invoices, in the currency's smallest unit; 0 unless it was replaced"`
	Currency    string    `json:"currency" doc:"ISO 4217 code"`
	Restorable  bool      `json:"restorable,omitempty" doc:"Paying what is owed of it brings back the rest of its period (subscription.settled); absent: it does not"`
}

// notRestorable reads version 1 of subscription.ended: paying what was owed brought nothing back.
func notRestorable(v1 json.RawMessage) (json.RawMessage, error) { return v1, nil }

// LineKind is the kind of an invoice's line.
type LineKind string

// Kinds of lines.
const (
	LinePeriod LineKind = "period" // a whole period of a plan
	LineUsed   LineKind = "used"   // the used part of a period that was not paid when the plan changed
	LineCredit LineKind = "credit" // what was credited, with a negative amount
	LineOther  LineKind = "other"  // what an operator wrote
)

// LineKinds lists them all.
func LineKinds() []LineKind { return []LineKind{LinePeriod, LineUsed, LineCredit, LineOther} }

// Line is one line of an invoice.
type Line struct {
	Kind        LineKind       `json:"kind" enum:"period,used,credit,other" doc:"period (a whole period of a plan), used (the used part of one, when the plan changed), credit (deducted: negative) or other (what description says)"`
	Description string         `json:"description" doc:"What the line is for, in words"`
	Plan        string         `json:"plan,omitempty" doc:"Name of the plan; absent on credits and others"`
	Period      account.Period `json:"period,omitempty" enum:"month,year" doc:"What the plan is paid for at a time; absent on credits and others"`
	From        string         `json:"from,omitempty" format:"date-time" doc:"When what is paid for begins; absent on credits and others"`
	To          string         `json:"to,omitempty" format:"date-time" doc:"When it ends; absent on credits and others"`
	AmountMinor int64          `json:"amount_minor" unit:"smallest units of the currency" doc:"In the currency's smallest unit; negative: deducted"`
}

// Issued asks an account for money.
type Issued struct {
	Account            string `json:"account" format:"uuid" doc:"The account"`
	InvoiceID          string `json:"invoice_id" format:"uuid" doc:"Id of the invoice: a UUIDv5 of the account and of its place in the account's series"`
	Number             string `json:"number" doc:"The account's series, a hyphen, and the invoice's place in it: 1 is the first, and there are no gaps"`
	Currency           string `json:"currency" doc:"ISO 4217 code"`
	AmountMinor        int64  `json:"amount_minor" unit:"smallest units of the currency" doc:"Sum of the lines in the currency's smallest unit"`
	Lines              []Line `json:"lines" doc:"What it is for, in order"`
	IssuedAt           string `json:"issued_at" format:"date-time" doc:"When it was issued"`
	DueAt              string `json:"due_at" format:"date-time" doc:"When it is to be paid at the latest"`
	EndsSubscriptionAt string `json:"ends_subscription_at,omitempty" format:"date-time" doc:"When the subscription ends if it is not paid by then; absent: it is not a subscription's"`
	Reference          string `json:"reference,omitempty" doc:"The operator's own name for it, which makes it once; absent on a subscription's"`
}

// PayMethod is the way in which an invoice was paid.
type PayMethod string

// Methods of payment.
const (
	PaidOperator PayMethod = "operator" // an operator saw the money
	PaidProvider PayMethod = "provider" // a payment provider said so, with its signature
	PaidCredit   PayMethod = "credit"   // credit covered all of it
)

// PayMethods lists them all.
func PayMethods() []PayMethod { return []PayMethod{PaidOperator, PaidProvider, PaidCredit} }

// Paid is the payment of an invoice, in full.
type Paid struct {
	Account     string    `json:"account" format:"uuid" doc:"The account"`
	InvoiceID   string    `json:"invoice_id" format:"uuid" doc:"Id of the invoice"`
	AmountMinor int64     `json:"amount_minor" unit:"smallest units of the currency" doc:"What was paid: the amount of the invoice, in the currency's smallest unit"`
	Currency    string    `json:"currency" doc:"ISO 4217 code"`
	Method      PayMethod `json:"method" enum:"operator,provider,credit" doc:"operator, provider or credit (credit covered all of it)"`
	PaymentID   string    `json:"payment_id,omitempty" doc:"Id of the provider's event, or the operator's reference; it pays one invoice only. Absent: none was given"`
	PaidAt      string    `json:"paid_at" format:"date-time" doc:"When the service learned of it"`
}

// VoidReason is why an invoice is void.
type VoidReason string

// Reasons for which an invoice becomes void.
const (
	VoidOperator VoidReason = "operator" // an operator said so
	VoidReplaced VoidReason = "replaced" // the plan changed before it was paid, and another invoice asks for what was used
)

// VoidReasons lists them all.
func VoidReasons() []VoidReason { return []VoidReason{VoidOperator, VoidReplaced} }

// Voided makes an invoice that was not paid worth nothing. It keeps its number.
type Voided struct {
	Account   string     `json:"account" format:"uuid" doc:"The account"`
	InvoiceID string     `json:"invoice_id" format:"uuid" doc:"Id of the invoice"`
	Reason    VoidReason `json:"reason" enum:"operator,replaced" doc:"operator, or replaced (the plan changed before it was paid, and another invoice asks for what was used)"`
	Note      string     `json:"note,omitempty" doc:"The operator's words; absent without any"`
	VoidedAt  string     `json:"voided_at" format:"date-time" doc:"When it became void"`
}

func (Started) EventName() string   { return "subscription.started" }
func (Renewed) EventName() string   { return "subscription.renewed" }
func (Cancelled) EventName() string { return "subscription.cancelled" }
func (Resumed) EventName() string   { return "subscription.resumed" }
func (Ended) EventName() string     { return "subscription.ended" }
func (Settled) EventName() string   { return "subscription.settled" }
func (Issued) EventName() string    { return "invoice.issued" }
func (Paid) EventName() string      { return "invoice.paid" }
func (Voided) EventName() string    { return "invoice.voided" }

// Events declares this package's event types.
func Events() []event.Type { return Model().Events() }

// Model is the decider of an account's billing stream with its event types. The catalogue of plans is the operator's and not in the log:
// it had the plans that the events say, and did not have that of a subscription which was withdrawn.
func Model() decider.Model[Command, State] {
	const (
		id                         = "0198a1b2-0000-7000-8000-00000000000a"
		start, next, due, graceEnd = "2026-08-01T12:00:00.000Z", "2026-09-01T12:00:00.000Z", "2026-08-15T12:00:00.000Z", "2026-08-22T12:00:00.000Z"
	)
	invoice := InvoiceID(id, 1)
	of := func(account string) event.Address { return event.Address{Stream: Stream(account), Account: account} }
	return decider.Model[Command, State]{Decider: Decider, Live: func(s State) bool { return s.Subscription.Live }, Shown: shown, Types: []decider.Type[Command, State]{
		decider.On(Started{Account: id, Plan: "pro", Period: account.Monthly, AmountMinor: 1200, Currency: "USD", StartedAt: start, RenewsAt: next, QuoteID: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
			func(e Started) event.Address { return of(e.Account) },
			func(e Started, _ State, _ event.Metadata) Command {
				return Subscribe{Account: e.Account, Plan: e.Plan, Price: account.Price{Period: e.Period, AmountMinor: e.AmountMinor, Currency: e.Currency}, QuoteID: e.QuoteID, Now: parse(e.StartedAt)}
			},
			event.Begins()),
		decider.On(Renewed{Account: id, Plan: "pro", PeriodStart: next, RenewsAt: "2026-10-01T12:00:00.000Z"},
			func(e Renewed) event.Address { return of(e.Account) },
			func(e Renewed, s State, m event.Metadata) Command {
				return Advance{Account: e.Account, Plans: s.sold(), Now: m.At}
			}),
		decider.On(Cancelled{Account: id, EndsAt: next},
			func(e Cancelled) event.Address { return of(e.Account) },
			func(e Cancelled, s State, m event.Metadata) Command {
				return Cancel{Account: e.Account, Plans: s.sold(), Now: m.At}
			}),
		decider.On(Resumed{Account: id, RenewsAt: next},
			func(e Resumed) event.Address { return of(e.Account) },
			func(e Resumed, s State, m event.Metadata) Command {
				return Subscribe{Account: e.Account, Plan: s.Subscription.Plan, Price: s.Subscription.Price, Plans: s.sold(), Now: m.At}
			}),
		decider.On(Ended{Account: id, Plan: "pro", Reason: EndUnpaid, EndedAt: graceEnd, Currency: "USD", Restorable: true},
			func(e Ended) event.Address { return of(e.Account) },
			ending, event.Upcast(notRestorable)),
		decider.On(Settled{Account: id, Plan: "pro", SettledAt: "2026-08-25T12:00:00.000Z", RenewsAt: next, CreditMinor: 117, Currency: "USD"},
			func(e Settled) event.Address { return of(e.Account) },
			func(e Settled, _ State, _ event.Metadata) Command { return settle{e.Account, parse(e.SettledAt)} }),
		decider.On(Issued{
			Account: id, InvoiceID: invoice, Number: InvoiceNumber(id, 1), Currency: "USD", AmountMinor: 1200, IssuedAt: start, DueAt: due, EndsSubscriptionAt: graceEnd,
			Lines: []Line{{Kind: LinePeriod, Description: "pro, month", Plan: "pro", Period: account.Monthly, From: start, To: next, AmountMinor: 1200}},
		},
			func(e Issued) event.Address { return of(e.Account) },
			issuing,
			event.Free{"currency": event.Chosen, "lines[].description": "the operator's words, on invoices that are of no subscription", "reference": event.Chosen}),
		decider.On(Paid{Account: id, InvoiceID: invoice, AmountMinor: 1200, Currency: "USD", Method: PaidProvider, PaymentID: "evt_1", PaidAt: due},
			func(e Paid) event.Address { return of(e.Account) },
			func(e Paid, _ State, _ event.Metadata) Command {
				return Pay{Account: e.Account, InvoiceID: e.InvoiceID, AmountMinor: e.AmountMinor, Currency: e.Currency, Method: e.Method, PaymentID: e.PaymentID, Now: parse(e.PaidAt)}
			},
			event.Free{"payment_id": "the payment provider's"}),
		decider.On(Voided{Account: id, InvoiceID: invoice, Reason: VoidOperator, Note: "sent twice", VoidedAt: due},
			func(e Voided) event.Address { return of(e.Account) },
			func(e Voided, s State, _ event.Metadata) Command {
				if e.Reason == VoidReplaced {
					return s.replacing(e.Account, parse(e.VoidedAt))
				}
				return Void{Account: e.Account, InvoiceID: e.InvoiceID, Note: e.Note, Now: parse(e.VoidedAt)}
			},
			event.Free{"note": event.Chosen}),
	}}
}

// shown is what people are shown of a state.
func shown(s State) any {
	return struct {
		Subscription Subscription
		Changes      int64
		Credits      []account.Price
		Invoices     []Invoice
	}{s.Subscription, s.Changes, s.Credits(), s.Invoices()}
}

// sold is a catalogue that has the plan of the live subscription.
func (s State) sold() account.Plans { return account.Plans{{Name: s.Subscription.Plan}} }

// replacing is the command that puts another plan in the place of the live subscription's.
func (s State) replacing(accountID string, now time.Time) Command {
	return Subscribe{Account: accountID, Plan: s.Subscription.Plan + " or another", Price: s.Subscription.Price, Plans: s.sold(), Now: now}
}

// ending is the command that ends a subscription so.
func ending(e Ended, s State, m event.Metadata) Command {
	now := parse(e.EndedAt)
	switch e.Reason {
	case EndReplaced:
		return s.replacing(e.Account, now)
	case EndClosed:
		return Close{Account: e.Account, Now: now}
	case EndWithdrawn:
		return Advance{Account: e.Account, Now: now}
	case EndCancelled, EndUnpaid:
	}
	advance := Advance{Account: e.Account, Plans: s.sold(), Now: now}
	if m.Version == 1 {
		return advanceForGood{advance}
	}
	return advance
}

// issuing is the command that issues an invoice so.
func issuing(e Issued, s State, _ event.Metadata) Command {
	if e.EndsSubscriptionAt != "" {
		return issue{e}
	}
	if len(e.Lines) != 1 {
		return nil
	}
	return Issue{Account: e.Account, Reference: e.Reference, Description: e.Lines[0].Description, AmountMinor: e.AmountMinor, Currency: e.Currency, Now: parse(e.IssuedAt)}
}
