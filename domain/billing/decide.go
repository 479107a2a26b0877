package billing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"reckon/domain/account"
	"reckon/domain/decider"
	"reckon/domain/event"
)

const (
	// PaymentTerm is the time from an invoice's issue until it is due.
	PaymentTerm = 14 * 24 * time.Hour
	// Grace is the time after that in which the subscription of an unpaid invoice goes on.
	Grace = 7 * 24 * time.Hour

	// MaxTextRunes is the longest text that an operator or a payment provider gives: a reference, a note, the id of a payment.
	MaxTextRunes = 200
	// maxLines is the most lines of an invoice: each change of plan before it is paid adds one.
	maxLines = 50
	// maxPeriodsAtOnce bounds the periods that one command renews: more come with the next.
	maxPeriodsAtOnce = 50
)

// Command is one of Subscribe, Advance, Cancel, Close, Issue, Pay, Void. Each has the time at which it is decided.
type Command interface{ billingCommand() }

// Subscribe begins a subscription, or changes the plan or period of the one there is: the unused rest of a period that
// was paid is credited, the used part of an unpaid one is charged. It is refused with ErrOtherPrice,
// ErrOtherCurrency, ErrUnpaid, ErrTooManyChanges and ErrBehind.
type Subscribe struct {
	Account, Plan string
	Price         account.Price
	QuoteID       string        // of the quote that has this price; empty: the catalogue has it
	Plans         account.Plans // the catalogue
	Now           time.Time
}

// Advance does what is due: it renews the subscription, or ends it.
type Advance struct {
	Account string
	Plans   account.Plans // the catalogue
	Now     time.Time
}

// Cancel lets the subscription end with its period. It is refused with ErrNoSubscription.
type Cancel struct {
	Account string
	Plans   account.Plans // the catalogue
	Now     time.Time
}

// Close ends the subscription at once, because the account was closed.
type Close struct {
	Account string
	Now     time.Time
}

// Issue asks for money that is no subscription's, once for each reference. It is refused with ErrInvalid and ErrReferenceUsed.
type Issue struct {
	Account, Reference, Description string
	AmountMinor                     int64
	Currency                        string
	Now                             time.Time
}

// Pay is the payment of an invoice, exactly and once. The last that was owed of a subscription that ended unpaid brings back the rest of
// its period. It is refused with ErrNoSuchInvoice, ErrVoided, ErrAlreadyPaid,
// ErrPaymentUsed, ErrOtherAmount and ErrInvalid.
type Pay struct {
	Account     string
	InvoiceID   string // or its number
	AmountMinor int64
	Currency    string
	Method      PayMethod
	PaymentID   string // pays one invoice only; empty: none was given
	Now         time.Time
}

// Void makes an open invoice worth nothing. It is refused with ErrNoSuchInvoice, ErrAlreadyPaid and ErrInvalid.
type Void struct {
	Account   string
	InvoiceID string // or its number
	Note      string
	Now       time.Time
}

// settle is what follows the last payment of what was owed of a subscription that ended unpaid.
type settle struct {
	account string
	now     time.Time
}

// issue is what follows the beginning of a period: its invoice, with the terms that this one has.
type issue struct{ Issued }

// advanceForGood is Advance as it was decided when subscription.ended had its first version: what ended unpaid could not be settled.
type advanceForGood struct{ Advance }

func (settle) billingCommand()    {}
func (issue) billingCommand()     {}
func (Subscribe) billingCommand() {}
func (Advance) billingCommand()   {}
func (Cancel) billingCommand()    {}
func (Close) billingCommand()     {}
func (Issue) billingCommand()     {}
func (Pay) billingCommand()       {}
func (Void) billingCommand()      {}

var (
	// ErrNoSubscription means that the account has none.
	ErrNoSubscription = errors.New("the account has no subscription")
	// ErrOtherPrice means that the account has the plan for that period already, at another price.
	ErrOtherPrice = errors.New("the account has this plan at another price: it keeps that price until its subscription ends; cancel it, and subscribe again then")
	// ErrOtherCurrency means that a plan is to be replaced by one in another currency, to which nothing could be credited.
	ErrOtherCurrency = errors.New("the account's subscription is in another currency: cancel it, and subscribe again when it has ended")
	// ErrUnpaid means that an invoice of an earlier subscription was not paid.
	ErrUnpaid = errors.New("an invoice of an earlier subscription is not paid: pay it or make it void first")
	// ErrTooManyChanges means that the plan was changed very often and nothing was paid.
	ErrTooManyChanges = fmt.Errorf("the open invoice has %d lines already: pay it or make it void before the plan changes again", maxLines)
	// ErrBehind means that more periods have ended than one command renews.
	ErrBehind = errors.New("the subscription's renewals are not up to date; try again in a minute")
	// ErrNoSuchInvoice means that the account has no invoice of that id or number.
	ErrNoSuchInvoice = errors.New("the account has no such invoice")
	// ErrAlreadyPaid means that the invoice was paid before, by another payment.
	ErrAlreadyPaid = errors.New("the invoice is paid already")
	// ErrVoided means that the invoice is void.
	ErrVoided = errors.New("the invoice is void")
	// ErrPaymentUsed means that a payment paid another invoice.
	ErrPaymentUsed = errors.New("this payment has paid another invoice")
	// ErrOtherAmount means that a payment is not exactly what the invoice asks for.
	ErrOtherAmount = errors.New("the payment is not the amount of the invoice")
	// ErrReferenceUsed means that an invoice with this reference says something else.
	ErrReferenceUsed = errors.New("another invoice has this reference")
	// ErrInvalid means that a text or an amount cannot stand on an invoice.
	ErrInvalid = errors.New("not valid")
)

// Decider is the write model of an account's billing stream.
var Decider = decider.Decider[Command, State]{
	Initial:    func() State { return State{} },
	Decide:     decide,
	Evolve:     evolve,
	StateBytes: stateBytes,
}

func decide(c Command, s State) ([]event.Event, error) {
	d := decision{state: s}
	var err error
	switch c := c.(type) {
	case Subscribe:
		d.at(c.Account, c.Now)
		err = d.subscribe(c)
	case Advance:
		d.at(c.Account, c.Now)
		d.advance(c.Plans)
	case advanceForGood:
		d.at(c.Account, c.Now)
		d.advance(c.Plans)
		d.notRestorable()
	case settle:
		d.at(c.account, c.now)
		d.settle()
	case issue:
		d.at(c.Account, parse(c.IssuedAt))
		d.issueAgain(c.Issued)
	case Cancel:
		d.at(c.Account, c.Now)
		err = d.cancel(c)
	case Close:
		d.at(c.Account, c.Now)
		if d.state.Subscription.Live {
			d.end(EndClosed, 0)
		}
	case Issue:
		d.at(c.Account, c.Now)
		err = d.issueOther(c)
	case Pay:
		d.at(c.Account, c.Now)
		err = d.pay(c)
	case Void:
		d.at(c.Account, c.Now)
		err = d.void(c)
	default:
		err = fmt.Errorf("billing: unknown command %T", c)
	}
	if err != nil {
		return nil, err
	}
	return d.events, nil
}

// decision holds the events decided so far, and the state after them.
type decision struct {
	account string
	now     time.Time // UTC, whole milliseconds: as events have it
	state   State
	events  []event.Event
}

func (d *decision) at(accountID string, now time.Time) {
	d.account, d.now = accountID, now.UTC().Truncate(time.Millisecond)
}

func (d *decision) record(e event.Event) {
	d.events = append(d.events, e)
	d.state = evolve(d.state, e)
}

func (d *decision) subscribe(c Subscribe) error {
	if err := c.Price.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	d.advance(c.Plans)
	now := d.state.Subscription
	switch {
	case now.Live && !d.now.Before(now.PeriodEnd):
		return ErrBehind
	case now.Live && now.Plan == c.Plan && now.Price.Period == c.Price.Period:
		if now.Price != c.Price {
			return ErrOtherPrice
		}
		if now.Cancelled {
			d.record(Resumed{Account: d.account, RenewsAt: event.Timestamp(now.PeriodEnd)})
		}
		return nil
	case now.Live && now.Price.Currency != c.Price.Currency:
		return ErrOtherCurrency
	}
	if unpaid, found := d.state.firstUnpaid(); found && (d.state.Lapsed.Live || !d.now.Before(unpaid.EndsAt)) {
		return ErrUnpaid
	}
	owed := terms{due: d.now.Add(PaymentTerm), ends: d.now.Add(PaymentTerm + Grace)}
	if now.Live {
		owed = d.replace(owed)
	}
	if len(owed.lines) >= maxLines {
		return ErrTooManyChanges
	}
	renews := Anniversary(d.now, c.Price.Period, 1)
	d.record(Started{
		Account: d.account, Plan: c.Plan, Period: c.Price.Period, AmountMinor: c.Price.AmountMinor, Currency: c.Price.Currency,
		StartedAt: event.Timestamp(d.now), RenewsAt: event.Timestamp(renews), QuoteID: c.QuoteID,
	})
	owed.lines = append(owed.lines, d.periodLine())
	d.issueForSubscription(owed)
	return nil
}

// terms are the lines and the due time of a subscription's invoice.
type terms struct {
	lines     []Line
	due, ends time.Time
}

// replace ends the live subscription for another one. A paid period's unused rest is credited. An open invoice becomes
// void, and the next one charges its used part and is due no later.
func (d *decision) replace(next terms) terms {
	s := d.state.Subscription
	invoice, _ := d.state.invoices.Get(s.InvoiceID)
	used, unused := Prorate(s.Price.AmountMinor, s.PeriodStart, s.PeriodEnd, d.now)
	switch invoice.Status {
	case InvoicePaid:
		d.end(EndReplaced, unused)
	case InvoiceOpen:
		d.record(Voided{Account: d.account, InvoiceID: invoice.InvoiceID, Reason: VoidReplaced, VoidedAt: event.Timestamp(d.now)})
		d.end(EndReplaced, 0)
		for _, line := range invoice.Lines {
			if line.Kind == LineUsed {
				next.lines = append(next.lines, line)
			}
		}
		if used > 0 {
			next.lines = append(next.lines, Line{
				Kind: LineUsed, Description: fmt.Sprintf("%s, used part of a %s", s.Plan, s.Price.Period), Plan: s.Plan, Period: s.Price.Period,
				From: event.Timestamp(s.PeriodStart), To: event.Timestamp(d.now), AmountMinor: used,
			})
		}
		next.due, next.ends = earlier(next.due, invoice.DueAt), earlier(next.ends, invoice.EndsAt)
	default: // void: the period was given away
		d.end(EndReplaced, 0)
	}
	return next
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// periodLine is the line of the period that has begun.
func (d *decision) periodLine() Line {
	s := d.state.Subscription
	return Line{
		Kind: LinePeriod, Description: fmt.Sprintf("%s, %s", s.Plan, s.Price.Period), Plan: s.Plan, Period: s.Price.Period,
		From: event.Timestamp(s.PeriodStart), To: event.Timestamp(s.PeriodEnd), AmountMinor: s.Price.AmountMinor,
	}
}

// advance renews and ends what is due, in the order in which it was due.
func (d *decision) advance(plans account.Plans) {
	for range maxPeriodsAtOnce {
		s := d.state.Subscription
		if !s.Live {
			return
		}
		unpaid, found := d.state.firstUnpaid()
		_, sold := plans.Find(s.Plan)
		switch {
		case found && !d.now.Before(unpaid.EndsAt) && !s.PeriodEnd.Before(unpaid.EndsAt):
			d.end(EndUnpaid, 0)
		case d.now.Before(s.PeriodEnd):
			return
		case s.Cancelled:
			d.end(EndCancelled, 0)
		case !sold:
			d.end(EndWithdrawn, 0)
		default:
			d.renew()
		}
	}
}

func (d *decision) renew() {
	s := d.state.Subscription
	ends := Anniversary(s.StartedAt, s.Price.Period, s.Periods+1)
	d.record(Renewed{Account: d.account, Plan: s.Plan, PeriodStart: event.Timestamp(s.PeriodEnd), RenewsAt: event.Timestamp(ends)})
	d.issueForSubscription(terms{lines: []Line{d.periodLine()}, due: d.now.Add(PaymentTerm), ends: d.now.Add(PaymentTerm + Grace)})
}

func (d *decision) end(reason EndReason, creditMinor int64) {
	s := d.state.Subscription
	d.record(Ended{
		Account: d.account, Plan: s.Plan, Reason: reason, EndedAt: event.Timestamp(d.now), CreditMinor: creditMinor, Currency: s.Price.Currency,
		Restorable: reason == EndUnpaid && d.state.invoiceOfPeriod().Status != InvoiceVoided,
	})
}

// settle brings back what was paid for of a subscription that ended unpaid, once nothing of it is owed any more.
func (d *decision) settle() {
	l := d.state.Lapsed
	if _, owed := d.state.firstUnpaid(); owed || !l.Live {
		return
	}
	_, unusedThen := Prorate(l.Price.AmountMinor, l.PeriodStart, l.PeriodEnd, l.EndedAt)
	_, unusedNow := Prorate(l.Price.AmountMinor, l.PeriodStart, l.PeriodEnd, later(d.now, l.EndedAt))
	settled := Settled{Account: d.account, Plan: l.Plan, SettledAt: event.Timestamp(d.now), CreditMinor: unusedThen - unusedNow, Currency: l.Price.Currency}
	if d.now.Before(l.PeriodEnd) {
		settled.RenewsAt = event.Timestamp(l.PeriodEnd)
	}
	d.record(settled)
}

// issueForSubscription issues an invoice of the live subscription. Credit is deducted, and pays it if it covers all of it.
func (d *decision) issueForSubscription(t terms) {
	currency := d.state.Subscription.Price.Currency
	total := sum(t.lines)
	if credit := min(d.state.CreditMinor(currency), total); credit > 0 {
		t.lines = append(t.lines, Line{Kind: LineCredit, Description: "credit", AmountMinor: -credit})
		total -= credit
	}
	d.issue(Issued{
		Currency: currency, AmountMinor: total, Lines: t.lines,
		DueAt: event.Timestamp(t.due), EndsSubscriptionAt: event.Timestamp(t.ends),
	})
	if total == 0 {
		d.record(Paid{Account: d.account, InvoiceID: InvoiceID(d.account, d.state.issued), Currency: currency, Method: PaidCredit, PaidAt: event.Timestamp(d.now)})
	}
}

// issueAgain issues the invoice of the period that has begun with the terms of one; nothing where that one is of no such period.
func (d *decision) issueAgain(e Issued) {
	lines := slices.DeleteFunc(slices.Clone(e.Lines), func(l Line) bool { return l.Kind == LineCredit })
	if s := d.state.Subscription; !s.Live || s.InvoiceID != "" || len(lines) == 0 || lines[len(lines)-1] != d.periodLine() {
		return
	}
	d.issueForSubscription(terms{lines: lines, due: parse(e.DueAt), ends: parse(e.EndsSubscriptionAt)})
}

// notRestorable takes back that what ended can be settled.
func (d *decision) notRestorable() {
	for i, e := range d.events {
		if ended, is := e.(Ended); is {
			ended.Restorable = false
			d.events[i] = ended
		}
	}
}

// issue completes an invoice with its place in the account's series.
func (d *decision) issue(e Issued) {
	e.Account, e.IssuedAt = d.account, event.Timestamp(d.now)
	e.InvoiceID, e.Number = InvoiceID(d.account, d.state.issued+1), InvoiceNumber(d.account, d.state.issued+1)
	d.record(e)
}

func sum(lines []Line) (total int64) {
	for _, line := range lines {
		total += line.AmountMinor
	}
	return total
}

func (d *decision) cancel(c Cancel) error {
	d.advance(c.Plans)
	s := d.state.Subscription
	if !s.Live {
		return ErrNoSubscription
	}
	if !s.Cancelled {
		d.record(Cancelled{Account: d.account, EndsAt: event.Timestamp(s.PeriodEnd)})
	}
	return nil
}

func (d *decision) issueOther(c Issue) error {
	if err := validText("reference", c.Reference, 1); err != nil {
		return err
	}
	if err := validText("description", c.Description, 1); err != nil {
		return err
	}
	if c.AmountMinor < 1 || c.AmountMinor > account.MaxAmountMinor || !account.ValidCurrency(c.Currency) {
		return fmt.Errorf("%w: an invoice is over 1 to %d of the smallest unit of a currency, which has an ISO 4217 code such as USD", ErrInvalid, int64(account.MaxAmountMinor))
	}
	line := Line{Kind: LineOther, Description: c.Description, AmountMinor: c.AmountMinor}
	if known, found := d.state.InvoiceOf(c.Reference); found {
		if known.Currency != c.Currency || !slices.Equal(known.Lines, []Line{line}) {
			return ErrReferenceUsed
		}
		return nil
	}
	d.issue(Issued{Currency: c.Currency, AmountMinor: c.AmountMinor, Lines: []Line{line}, DueAt: event.Timestamp(d.now.Add(PaymentTerm)), Reference: c.Reference})
	return nil
}

func (d *decision) pay(c Pay) error {
	if err := validText("payment_id", c.PaymentID, 0); err != nil {
		return err
	}
	invoice, found := d.state.Invoice(c.InvoiceID)
	paidBy, used := d.state.payments.Get(c.PaymentID)
	switch {
	case !found:
		return ErrNoSuchInvoice
	case used && paidBy != invoice.InvoiceID:
		return ErrPaymentUsed
	case c.AmountMinor != invoice.AmountMinor || c.Currency != invoice.Currency:
		return fmt.Errorf("%w: it is %d %s, and the invoice %d %s in the smallest unit", ErrOtherAmount, c.AmountMinor, c.Currency, invoice.AmountMinor, invoice.Currency)
	case invoice.Status == InvoicePaid && invoice.Method == c.Method && invoice.PaymentID == c.PaymentID:
		return nil
	case invoice.Status == InvoicePaid:
		return ErrAlreadyPaid
	case invoice.Status == InvoiceVoided:
		return ErrVoided
	}
	d.record(Paid{
		Account: d.account, InvoiceID: invoice.InvoiceID, AmountMinor: c.AmountMinor, Currency: c.Currency,
		Method: c.Method, PaymentID: c.PaymentID, PaidAt: event.Timestamp(d.now),
	})
	d.settle()
	return nil
}

func (d *decision) void(c Void) error {
	if err := validText("note", c.Note, 0); err != nil {
		return err
	}
	invoice, found := d.state.Invoice(c.InvoiceID)
	switch {
	case !found:
		return ErrNoSuchInvoice
	case invoice.Status == InvoicePaid:
		return ErrAlreadyPaid
	case invoice.Status == InvoiceOpen:
		d.record(Voided{Account: d.account, InvoiceID: invoice.InvoiceID, Reason: VoidOperator, Note: c.Note, VoidedAt: event.Timestamp(d.now)})
		d.settle()
	}
	return nil
}

// validText refuses a text of fewer than least or more than MaxTextRunes characters, or with one that cannot be printed.
func validText(name, text string, least int) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if n := utf8.RuneCountInString(text); n < least || n > MaxTextRunes || strings.ContainsFunc(text, unprintable) || text != strings.TrimSpace(text) {
		return fmt.Errorf("%w: %s must be %d to %d printable characters without white space around them", ErrInvalid, name, least, MaxTextRunes)
	}
	return nil
}
