package audit

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
)

// The times of docs/billing.md.
const (
	paymentTerm = 14 * 24 * time.Hour
	grace       = 7 * 24 * time.Hour
	quoteLife   = 24 * time.Hour
	quoteStep   = 300 * time.Second
)

// billingCheck derives every subscription, invoice and credit from the events of billing-<account> by the rules of
// docs/billing.md. It calls nothing of domain/billing but its event types.
type billingCheck struct {
	p       *pass
	streams *legalCheck
	ledgers map[string]*ledger
}

// ledger is an account's subscription and money.
type ledger struct {
	last     place
	changes  int64
	plans    []string // after each start, settlement and end of a subscription; empty: none
	sub      *subscription
	lapsed   *subscription // that ended unpaid, and goes on when nothing of it is owed any more
	lapsedAt time.Time
	credit   map[string]int64 // by currency
	invoices map[string]*invoice
	issued   int
	used     map[string]bool // references and payment ids, each with its kind before it
	// expected is what the rest of the append must hold.
	expected *expectation
	replaced *replacement // by the subscription that starts next
}

type subscription struct {
	plan                  string
	price                 account.Price
	start                 time.Time
	periods               int
	periodStart, periodTo time.Time
	cancelled             bool
	invoice               string
}

type invoice struct {
	issued billing.Issued
	status billing.InvoiceStatus
}

// expectation is an event that must be the stream's next.
type expectation struct {
	what    string
	matches func(event.Event) string // what is wrong; empty: nothing
}

// replacement is what a subscription leaves to the one that replaces it.
type replacement struct {
	lines     []billing.Line
	due, ends time.Time // zero: as usual
	credit    int64
}

func newBillingCheck(p *pass, streams *legalCheck) *billingCheck {
	return &billingCheck{p: p, streams: streams, ledgers: map[string]*ledger{}}
}

// step is one event of a ledger.
type step struct {
	*ledger
	c       *billingCheck
	it      *Item
	account string
	now     time.Time
}

func (c *billingCheck) take(it *Item) {
	if e, ok := it.Event.(account.PlanChanged); ok {
		c.follow(it, e)
		return
	}
	accountID := it.address.Account
	if it.Event == nil || it.address.Stream != billing.Stream(accountID) {
		return
	}
	l := kept(c.ledgers, accountID)
	if l.invoices == nil {
		l.credit, l.invoices, l.used = map[string]int64{}, map[string]*invoice{}, map[string]bool{}
	}
	s := step{ledger: l, c: c, it: it, account: accountID, now: it.Metadata.At}
	if expected := l.expected; expected != nil {
		l.expected = nil
		if wrong := expected.matches(it.Event); wrong != "" {
			s.wrong(KindIncomplete, expected.what+" next in the append", wrong)
		}
	}
	switch e := it.Event.(type) {
	case billing.Started:
		s.started(e)
	case billing.Renewed:
		s.renewed(e)
	case billing.Cancelled:
		s.marked(true, e.EndsAt)
	case billing.Resumed:
		s.marked(false, e.RenewsAt)
	case billing.Ended:
		s.ended(e)
	case billing.Settled:
		s.settled(e)
	case billing.Issued:
		s.issue(e)
	case billing.Paid:
		s.paid(e)
	case billing.Voided:
		s.voided(e)
	}
	l.last = placeOf(it)
}

func (s step) wrong(kind Kind, expected, found string) {
	s.c.p.found(checkBilling, kind, s.it.Recorded, expected, found)
}

// isNow: an event's own time is that of the command that decided it.
func (s step) isNow(name, at string) {
	if want := event.Timestamp(s.now); at != want {
		s.wrong(KindSubscription, name+" when the command was given, "+want, at)
	}
}

func (s step) equal(kind Kind, name string, want, found any) {
	if want != found {
		s.wrong(kind, fmt.Sprintf("%s %v", name, want), fmt.Sprint(found))
	}
}

// periodAfter is when the n-th period after a start ends: on the same day of a month, or the last day of a shorter one.
func periodAfter(start time.Time, period account.Period, n int) time.Time {
	months := n
	if period == account.Yearly {
		months *= 12
	}
	year, month := start.Year(), int(start.Month())-1+months
	year, month = year+month/12, month%12
	lastDay := time.Date(year, time.Month(month+2), 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(year, time.Month(month+1), min(start.Day(), lastDay), start.Hour(), start.Minute(), start.Second(), start.Nanosecond(), time.UTC)
}

func (s step) started(e billing.Started) {
	s.isNow("started_at", e.StartedAt)
	price := account.Price{Period: e.Period, AmountMinor: e.AmountMinor, Currency: e.Currency}
	if s.sub != nil {
		s.wrong(KindSubscription, "the end of the subscription that there was, before another starts", "subscription.started")
	}
	if err := price.Validate(); err != nil {
		s.wrong(KindSubscription, "a price that can be asked for", err.Error())
	}
	if unpaid := s.firstUnpaid(); unpaid != nil && (s.lapsed != nil || !s.now.Before(moment(unpaid.issued.EndsSubscriptionAt))) {
		s.wrong(KindSubscription, "no subscription while invoice "+unpaid.issued.Number+" is owed", "subscription.started")
	}
	start := moment(e.StartedAt)
	renews := periodAfter(start, e.Period, 1)
	s.equal(KindSubscription, "renews_at", event.Timestamp(renews), e.RenewsAt)
	if e.QuoteID != "" && !quoted(e, s.now) {
		s.wrong(KindQuote, fmt.Sprintf("the id of a quote of %s for %d %s a %s, issued in the 24 hours before", e.Plan, e.AmountMinor, e.Currency, e.Period), e.QuoteID)
	}
	s.changes++
	s.plans = append(s.plans, e.Plan)
	s.lapsed = nil
	s.sub = &subscription{plan: e.Plan, price: price, start: start, periods: 1, periodStart: start, periodTo: renews}
	replaced := s.replaced
	if s.replaced = nil; replaced == nil {
		replaced = &replacement{}
	}
	s.expectInvoice(*replaced)
}

// quoted tells whether one of the quotes that could be honoured then has this price and id: they are issued at whole
// multiples of five minutes, and all they say is in the event.
func quoted(e billing.Started, now time.Time) bool {
	newest := now.Add(quoteStep).Truncate(quoteStep)
	for issued := newest; now.Before(issued.Add(quoteLife)); issued = issued.Add(-quoteStep) {
		quote := ascii(map[string]any{"plan": e.Plan, "period": e.Period, "amount_minor": e.AmountMinor, "currency": e.Currency,
			"issued_at": event.Timestamp(issued), "expires_at": event.Timestamp(issued.Add(quoteLife))})
		if sha256Hex(string(quote)) == e.QuoteID {
			return true
		}
	}
	return false
}

func (s step) renewed(e billing.Renewed) {
	if s.sub == nil || s.sub.cancelled {
		s.wrong(KindSubscription, "a subscription that was not cancelled", "subscription.renewed without one")
		return
	}
	if s.now.Before(s.sub.periodTo) {
		s.wrong(KindSubscription, "a renewal when the period has ended, at "+event.Timestamp(s.sub.periodTo), event.Timestamp(s.now))
	}
	s.sub.periods++
	s.equal(KindSubscription, "plan", s.sub.plan, e.Plan)
	s.equal(KindSubscription, "period_start", event.Timestamp(s.sub.periodTo), e.PeriodStart)
	ends := periodAfter(s.sub.start, s.sub.price.Period, s.sub.periods)
	s.equal(KindSubscription, "renews_at", event.Timestamp(ends), e.RenewsAt)
	s.sub.periodStart, s.sub.periodTo, s.sub.invoice = s.sub.periodTo, ends, ""
	s.expectInvoice(replacement{})
}

func (s step) marked(cancelled bool, at string) {
	if s.sub == nil || s.sub.cancelled == cancelled {
		s.wrong(KindSubscription, "a subscription that this changes", s.it.Name)
		return
	}
	s.sub.cancelled = cancelled
	s.equal(KindSubscription, "the end of the period", event.Timestamp(s.sub.periodTo), at)
}

// unusedOf is what is left of a period's price at a moment: in milliseconds, rounded down.
func unusedOf(sub *subscription, now time.Time) int64 {
	whole, left := sub.periodTo.UnixMilli()-sub.periodStart.UnixMilli(), sub.periodTo.UnixMilli()-now.UnixMilli()
	if left = min(left, whole); whole <= 0 || left <= 0 {
		return 0
	}
	unused := new(big.Int).Mul(big.NewInt(sub.price.AmountMinor), big.NewInt(left))
	return unused.Quo(unused, big.NewInt(whole)).Int64()
}

func (s step) ended(e billing.Ended) {
	s.isNow("ended_at", e.EndedAt)
	s.changes++
	s.plans = append(s.plans, "")
	sub := s.sub
	if s.sub = nil; sub == nil {
		s.wrong(KindSubscription, "a subscription that ends", "subscription.ended without one")
		return
	}
	s.equal(KindSubscription, "plan", sub.plan, e.Plan)
	s.equal(KindSubscription, "currency", sub.price.Currency, e.Currency)
	over := !s.now.Before(sub.periodTo)
	credit, restorable := int64(0), false
	switch e.Reason {
	case billing.EndCancelled:
		if !sub.cancelled || !over {
			s.wrong(KindSubscription, "the end of the period of a subscription that was cancelled", "reason cancelled")
		}
	case billing.EndWithdrawn:
		if sub.cancelled || !over {
			s.wrong(KindSubscription, "the end of a period", "reason withdrawn")
		}
	case billing.EndUnpaid:
		unpaid := s.firstUnpaid()
		if unpaid == nil || s.now.Before(moment(unpaid.issued.EndsSubscriptionAt)) || sub.periodTo.Before(moment(unpaid.issued.EndsSubscriptionAt)) {
			s.wrong(KindSubscription, "an invoice that was not paid until its grace was over, within the period", "reason unpaid")
		}
		own := s.invoices[sub.invoice]
		restorable = own == nil || own.status != billing.InvoiceVoided
	case billing.EndClosed:
		if a := s.c.streams.account(s.account); a == nil || !a.Closed {
			s.wrong(KindSubscription, "an account that was closed", "reason closed")
		}
	case billing.EndReplaced:
		credit = s.replace(sub)
	}
	s.equal(KindSubscription, "credit_minor", credit, e.CreditMinor)
	s.credit[e.Currency] += e.CreditMinor
	if s.it.Metadata.Version > 1 { // the first version did not restore
		s.equal(KindSubscription, "restorable", restorable, e.Restorable)
	}
	if e.Restorable {
		s.lapsed, s.lapsedAt = sub, s.now
	}
}

// expectSettled: with the last of what is owed a subscription that ended unpaid goes on, if its last period's invoice is not void.
func (s step) expectSettled(i *invoice) {
	if s.lapsed != nil && s.lapsed.invoice == i.issued.InvoiceID && i.status == billing.InvoiceVoided {
		s.lapsed = nil
	}
	if s.lapsed == nil || s.firstUnpaid() != nil {
		return
	}
	lapsed, now := s.lapsed, s.now
	if now.Before(s.lapsedAt) {
		now = s.lapsedAt
	}
	due := billing.Settled{
		Account: s.account, Plan: lapsed.plan, SettledAt: event.Timestamp(s.now), Currency: lapsed.price.Currency,
		CreditMinor: unusedOf(lapsed, s.lapsedAt) - unusedOf(lapsed, now),
	}
	if s.now.Before(lapsed.periodTo) {
		due.RenewsAt = event.Timestamp(lapsed.periodTo)
	}
	s.expected = &expectation{fmt.Sprintf("subscription.settled %+v", due), func(next event.Event) string {
		if next == event.Event(due) {
			return ""
		}
		return next.EventName() + " " + described(next)
	}}
}

func (s step) settled(e billing.Settled) {
	lapsed := s.lapsed
	if lapsed == nil || s.firstUnpaid() != nil {
		s.wrong(KindSubscription, "a subscription that ended unpaid, of which nothing is owed any more", "subscription.settled")
	}
	if s.lapsed = nil; lapsed != nil && e.RenewsAt != "" {
		s.sub = lapsed
		s.changes++
		s.plans = append(s.plans, e.Plan)
	}
	s.credit[e.Currency] += e.CreditMinor
}

// replace is what the subscription leaves to the next one, and what is credited.
func (s step) replace(sub *subscription) int64 {
	left := &replacement{}
	if before := s.replaced; before != nil { // its open invoice became void for it
		left = before
	} else if paid := s.invoices[sub.invoice]; paid != nil && paid.status == billing.InvoicePaid {
		left.credit = unusedOf(sub, s.now)
	} else if paid != nil && paid.status == billing.InvoiceOpen {
		s.wrong(KindInvoice, "invoice "+paid.issued.Number+" void before the subscription that replaces it", "open")
	}
	s.replaced = left
	s.expected = &expectation{"subscription.started", func(e event.Event) string {
		if _, ok := e.(billing.Started); ok {
			return ""
		}
		return e.EventName()
	}}
	return left.credit
}

func (s step) firstUnpaid() (first *invoice) {
	for _, i := range s.invoices {
		if i.status == billing.InvoiceOpen && i.issued.EndsSubscriptionAt != "" && (first == nil || i.issued.EndsSubscriptionAt < first.issued.EndsSubscriptionAt) {
			first = i
		}
	}
	return first
}

// expectInvoice: a period's invoice is issued with it, less the credit that there is.
func (s step) expectInvoice(left replacement) {
	sub := s.sub
	lines := append(slices.Clone(left.lines), billing.Line{Kind: billing.LinePeriod, Plan: sub.plan, Period: sub.price.Period,
		From: event.Timestamp(sub.periodStart), To: event.Timestamp(sub.periodTo), AmountMinor: sub.price.AmountMinor})
	total := int64(0)
	for _, line := range lines {
		total += line.AmountMinor
	}
	if credit := min(s.credit[sub.price.Currency], total); credit > 0 {
		lines = append(lines, billing.Line{Kind: billing.LineCredit, AmountMinor: -credit})
		total -= credit
	}
	due, ends := s.now.Add(paymentTerm), s.now.Add(paymentTerm+grace)
	if !left.due.IsZero() && left.due.Before(due) {
		due = left.due
	}
	if !left.ends.IsZero() && left.ends.Before(ends) {
		ends = left.ends
	}
	s.expected = &expectation{fmt.Sprintf("an invoice of %d %s due %s", total, sub.price.Currency, event.Timestamp(due)), func(e event.Event) string {
		issued, ok := e.(billing.Issued)
		switch {
		case !ok:
			return e.EventName()
		case issued.AmountMinor != total || issued.Currency != sub.price.Currency:
			return fmt.Sprintf("one of %d %s", issued.AmountMinor, issued.Currency)
		case issued.DueAt != event.Timestamp(due) || issued.EndsSubscriptionAt != event.Timestamp(ends):
			return fmt.Sprintf("one due %s that ends the subscription %s, not %s", issued.DueAt, issued.EndsSubscriptionAt, event.Timestamp(ends))
		case !slices.EqualFunc(lines, issued.Lines, sameLine):
			return "one with other lines"
		}
		return ""
	}}
}

// sameLine compares a line that is due with one that was issued.
func sameLine(due, issued billing.Line) bool {
	switch due.Kind {
	case billing.LinePeriod:
		due.Description = fmt.Sprintf("%s, %s", due.Plan, due.Period)
	case billing.LineUsed:
		due.Description = fmt.Sprintf("%s, used part of a %s", due.Plan, due.Period)
	case billing.LineCredit:
		due.Description = "credit"
	}
	return due == issued
}

func (s step) issue(e billing.Issued) {
	s.isNow("issued_at", e.IssuedAt)
	s.issued++
	s.equal(KindInvoice, "number", invoiceNumber(s.account, s.issued), e.Number)
	s.equal(KindInvoice, "invoice_id", invoiceID(s.account, s.issued), e.InvoiceID)
	total := int64(0)
	for _, line := range e.Lines {
		total += line.AmountMinor
		if line.Kind == billing.LineCredit {
			s.credit[e.Currency] += line.AmountMinor
		}
	}
	s.equal(KindInvoice, "the sum of the lines,", total, e.AmountMinor)
	if s.credit[e.Currency] < 0 {
		s.wrong(KindInvoice, "no more credit deducted than there is", fmt.Sprintf("%d too much", -s.credit[e.Currency]))
	}
	s.invoices[e.InvoiceID] = &invoice{issued: e, status: billing.InvoiceOpen}
	if e.EndsSubscriptionAt == "" {
		s.issueOther(e)
		return
	}
	if s.sub == nil || s.sub.invoice != "" {
		s.wrong(KindInvoice, "one invoice of a period that has begun", "an invoice of a subscription")
	} else {
		s.sub.invoice = e.InvoiceID
	}
	if total == 0 {
		s.expected = &expectation{"invoice.paid by credit", func(next event.Event) string {
			if paid, ok := next.(billing.Paid); ok && paid.InvoiceID == e.InvoiceID && paid.Method == billing.PaidCredit {
				return ""
			}
			return next.EventName()
		}}
	}
}

// issueOther: what an operator asks for has one line, a reference of its own and the usual term.
func (s step) issueOther(e billing.Issued) {
	if len(e.Lines) != 1 || e.Lines[0].Kind != billing.LineOther || e.AmountMinor < 1 {
		s.wrong(KindInvoice, "one line of the operator's, of 1 or more", fmt.Sprintf("%d lines, %d in all", len(e.Lines), e.AmountMinor))
	}
	s.equal(KindInvoice, "due_at", event.Timestamp(s.now.Add(paymentTerm)), e.DueAt)
	s.useOnce("reference", e.Reference)
}

// useOnce: a reference stands for one invoice, a payment for one invoice.
func (s step) useOnce(what, name string) {
	if name == "" {
		if what == "reference" {
			s.wrong(KindInvoice, "the operator's reference of an invoice that is no subscription's", "none")
		}
		return
	}
	if s.used[what+" "+name] {
		s.wrong(KindInvoice, "a "+what+" that is used once", shown(name))
	}
	s.used[what+" "+name] = true
}

func (s step) paid(e billing.Paid) {
	s.isNow("paid_at", e.PaidAt)
	i := s.invoices[e.InvoiceID]
	if i == nil || i.status != billing.InvoiceOpen {
		s.wrong(KindInvoice, "an open invoice", "a payment of invoice "+shown(e.InvoiceID)+", which is none")
		return
	}
	s.equal(KindInvoice, "the amount of the invoice,", i.issued.AmountMinor, e.AmountMinor)
	s.equal(KindInvoice, "the currency of the invoice,", i.issued.Currency, e.Currency)
	if (e.Method == billing.PaidCredit) != (i.issued.AmountMinor == 0) {
		s.wrong(KindInvoice, "credit exactly where it covers all", "method "+string(e.Method))
	}
	s.useOnce("payment", e.PaymentID)
	i.status = billing.InvoicePaid
	s.expectSettled(i)
}

func (s step) voided(e billing.Voided) {
	s.isNow("voided_at", e.VoidedAt)
	i := s.invoices[e.InvoiceID]
	if i == nil || i.status != billing.InvoiceOpen {
		s.wrong(KindInvoice, "an open invoice", "invoice "+shown(e.InvoiceID)+", which is none, made void")
		return
	}
	i.status = billing.InvoiceVoided
	for _, line := range i.issued.Lines {
		if line.Kind == billing.LineCredit {
			s.credit[i.issued.Currency] -= line.AmountMinor
		}
	}
	if e.Reason != billing.VoidReplaced {
		s.expectSettled(i)
		return
	}
	if s.sub == nil || s.sub.invoice != e.InvoiceID {
		s.wrong(KindInvoice, "the invoice of the period that is replaced", i.issued.Number)
		return
	}
	s.replaced = s.owedFor(i)
	s.expected = &expectation{"subscription.ended (replaced)", func(next event.Event) string {
		if ended, ok := next.(billing.Ended); ok && ended.Reason == billing.EndReplaced {
			return ""
		}
		return next.EventName()
	}}
}

// owedFor is what the next invoice asks for in place of one that was not paid.
func (s step) owedFor(i *invoice) *replacement {
	left := &replacement{due: moment(i.issued.DueAt), ends: moment(i.issued.EndsSubscriptionAt)}
	for _, line := range i.issued.Lines {
		if line.Kind == billing.LineUsed {
			left.lines = append(left.lines, line)
		}
	}
	if used := s.sub.price.AmountMinor - unusedOf(s.sub, s.now); used > 0 {
		left.lines = append(left.lines, billing.Line{Kind: billing.LineUsed, Plan: s.sub.plan, Period: s.sub.price.Period,
			From: event.Timestamp(s.sub.periodStart), To: event.Timestamp(s.now), AmountMinor: used})
	}
	return left
}

// follow: the plan in force follows a start or an end that has happened.
func (c *billingCheck) follow(it *Item, e account.PlanChanged) {
	if e.Follows == 0 {
		return
	}
	l := kept(c.ledgers, e.Account)
	if e.Follows > l.changes {
		c.p.found(checkBilling, KindPlan, it.Recorded, fmt.Sprintf("one of the %d starts and ends of the account's subscriptions", l.changes), fmt.Sprintf("number %d", e.Follows))
		return
	}
	if plan := l.plans[e.Follows-1]; plan != "" && plan != e.Plan {
		c.p.found(checkBilling, KindPlan, it.Recorded, "the plan of the subscription, "+plan, e.Plan)
	}
}

func (c *billingCheck) end() {
	for id, l := range c.ledgers {
		r := event.Recorded{Stream: l.last.stream, Revision: l.last.revision, Position: event.Position{Commit: l.last.position}}
		if l.expected != nil {
			c.p.found(checkBilling, KindIncomplete, r, l.expected.what+" next in the append", "the end of the log")
		}
		a := c.streams.account(id)
		if l.changes > 0 && a != nil && !a.Closed && a.Followed < l.changes {
			c.p.unfinished(checkBilling, KindPlan, l.last, fmt.Sprintf("the plan in force to follow start or end number %d", l.changes), fmt.Sprintf("it follows number %d", a.Followed))
		}
	}
}
