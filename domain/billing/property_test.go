package billing_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
)

// reckoning is the money of one account by the rules of docs/billing.md, and by nothing else: it calls nothing of the package that
// it is compared with, and knows neither its events nor its state. Amounts are in the smallest unit, times whole milliseconds.
type reckoning struct {
	sub     *reckonedSub
	lapsed  *reckonedSub // ended unpaid
	credit  int64
	bills   []*bill
	inForce []span // what the price of each part of a period asks for, as it was in force
}

type reckonedSub struct {
	plan            string
	period          account.Period
	price           int64
	began, from, to time.Time
	n               int // periods that have begun
	cancelled       bool
	bill            *bill // of the period
	endedAt         time.Time
}

// bill is an invoice.
type bill struct {
	amount, credited int64
	used             []usedPart
	due, ends        time.Time
	status           string
}

// usedPart is the used part of an earlier period that an invoice asks for.
type usedPart struct {
	amount int64
	span   *span
}

// span is a period, or the part of it that was in force.
type span struct {
	amount   int64
	forgiven bool // its invoice was made void by an operator
}

// nth is when the n-th period after a start begins: months or years later, on the same day or the last of a shorter month.
func nth(start time.Time, period account.Period, n int) time.Time {
	months := n
	if period == account.Yearly {
		months = 12 * n
	}
	first := time.Date(start.Year(), start.Month()+time.Month(months), 1, start.Hour(), start.Minute(), start.Second(), start.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(start.Day(), last)-1)
}

// unusedAt is amount·(end − now) / (end − start), in milliseconds, rounded down, of what is within the period.
func (s *reckonedSub) unusedAt(now time.Time) int64 {
	whole, left := s.to.UnixMilli()-s.from.UnixMilli(), s.to.UnixMilli()-now.UnixMilli()
	left = max(0, min(left, whole))
	unused := new(big.Int).Mul(big.NewInt(s.price), big.NewInt(left))
	return unused.Div(unused, big.NewInt(whole)).Int64()
}

// open is the invoices of subscriptions that are not paid.
func (r *reckoning) open() (open []*bill) {
	for _, b := range r.bills {
		if b.status == "open" {
			open = append(open, b)
		}
	}
	return open
}

// firstEnd is when the first open invoice ends its subscription.
func (r *reckoning) firstEnd() (at time.Time, found bool) {
	for _, b := range r.open() {
		if !found || b.ends.Before(at) {
			at, found = b.ends, true
		}
	}
	return at, found
}

// ask issues the invoice of the period that has begun.
func (r *reckoning) ask(due, ends time.Time, carried []usedPart) {
	b := &bill{amount: r.sub.price, used: carried, due: due, ends: ends, status: "open"}
	for _, u := range carried {
		b.amount += u.amount
	}
	b.credited = min(r.credit, b.amount)
	r.credit -= b.credited
	if b.amount -= b.credited; b.amount == 0 {
		b.status = "paid"
	}
	r.sub.bill = b
	r.bills = append(r.bills, b)
}

const (
	reckonedDue   = 14 * 24 * time.Hour
	reckonedGrace = 7 * 24 * time.Hour
)

// begin begins a period of the subscription, whose whole price counts as in force until it is cut off.
func (r *reckoning) begin(s *reckonedSub) {
	r.sub = s
	r.inForce = append(r.inForce, span{amount: s.price})
}

// advance does what is due until now.
func (r *reckoning) advance(now time.Time) {
	for r.sub != nil {
		s := r.sub
		ends, unpaid := r.firstEnd()
		switch {
		case unpaid && !now.Before(ends) && !s.to.Before(ends):
			r.lapse(now)
		case now.Before(s.to):
			return
		case s.cancelled:
			r.sub = nil
		default:
			s.n++
			s.from, s.to = s.to, nth(s.began, s.period, s.n)
			r.begin(s)
			r.ask(now.Add(reckonedDue), now.Add(reckonedDue+reckonedGrace), nil)
		}
	}
}

// lapse ends the subscription because an invoice was not paid.
func (r *reckoning) lapse(now time.Time) {
	s := r.sub
	r.sub = nil
	if s.bill.status != "void" {
		s.endedAt = now
		r.lapsed = s
	}
}

func (r *reckoning) last() *span { return &r.inForce[len(r.inForce)-1] }

// subscribe begins a subscription or changes it, unless it is refused.
func (r *reckoning) subscribe(plan string, period account.Period, price int64, now time.Time) (refused bool) {
	r.advance(now)
	if s := r.sub; s != nil && s.plan == plan && s.period == period {
		s.cancelled = false
		return false
	}
	if ends, unpaid := r.firstEnd(); unpaid && (r.lapsed != nil || !now.Before(ends)) {
		return true
	}
	due, ends := now.Add(reckonedDue), now.Add(reckonedDue+reckonedGrace)
	var carried []usedPart
	if s := r.sub; s != nil {
		unused := s.unusedAt(now)
		switch s.bill.status {
		case "paid":
			r.credit += unused
			r.last().amount -= unused
		case "open":
			s.bill.status = "void"
			r.credit += s.bill.credited
			carried = append(carried, s.bill.used...)
			r.last().amount = s.price - unused
			if s.price > unused {
				carried = append(carried, usedPart{s.price - unused, r.last()})
			}
			due, ends = minTime(due, s.bill.due), minTime(ends, s.bill.ends)
		}
	}
	r.lapsed = nil
	r.begin(&reckonedSub{plan: plan, period: period, price: price, began: now, n: 1, from: now, to: nth(now, period, 1)})
	r.ask(due, ends, carried)
	return false
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (r *reckoning) cancel(now time.Time) {
	if r.advance(now); r.sub != nil {
		r.sub.cancelled = true
	}
}

func (r *reckoning) pay(b *bill, now time.Time) {
	b.status = "paid"
	r.settle(now)
}

// void gives away what an invoice of one whole period asks for.
func (r *reckoning) void(b *bill, now time.Time) {
	b.status = "void"
	r.credit += b.credited
	if s := r.sub; s != nil && s.bill == b {
		r.last().forgiven = true
	}
	if s := r.lapsed; s != nil && s.bill == b {
		r.last().forgiven = true
		r.lapsed = nil
	}
	r.settle(now)
}

// settle lets a subscription that ended unpaid go on once nothing of it is open.
func (r *reckoning) settle(now time.Time) {
	s := r.lapsed
	if s == nil || len(r.open()) > 0 {
		return
	}
	r.lapsed = nil
	back := s.unusedAt(s.endedAt) - s.unusedAt(now)
	r.credit += back
	r.last().amount -= back
	if now.Before(s.to) {
		r.sub = s
	}
}

// plan is the plan in force.
func (r *reckoning) plan() string {
	if r.sub == nil {
		return "free"
	}
	return r.sub.plan
}

// TestMoneyIsWhatThePageSays: whatever is subscribed to, changed, cancelled, paid and made void in whatever order, the plan in force,
// every invoice and the credit are what a reckoning by docs/billing.md says; nothing is paid twice; and all that is asked for, less
// what is credited, is what was in force. Each event follows from the command that its type declares.
func TestMoneyIsWhatThePageSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(rapid.Int64Range(1.7e12, 1.9e12).Draw(t, "start")).UTC()
		r := &reckoning{}
		var history []event.Event
		past := billing.Events()[0].NewPast()
		do := func(c billing.Command) error {
			events, err := billing.Decider.Decide(c, billing.Decider.Fold(history))
			history = append(history, events...)
			for _, e := range events {
				if illegal := past.Take(e, event.Metadata{At: now, Version: 2}); illegal != nil {
					t.Fatalf("%s of %T is called illegal: %+v; decided were %v", e.EventName(), c, illegal, events)
				}
			}
			return err
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(40*day/time.Millisecond)).Draw(t, "passes")) * time.Millisecond)
			open := r.open()
			switch does := rapid.IntRange(0, 6).Draw(t, "does"); {
			case does < 2:
				plan, period := rapid.SampledFrom([]string{"pro", "team"}).Draw(t, "plan"), rapid.SampledFrom([]account.Period{account.Monthly, account.Yearly}).Draw(t, "period")
				refused := r.subscribe(plan, period, priceOf(plan, period).AmountMinor, now)
				if err := do(subscribe(plan, period, now)); (err != nil) != refused {
					t.Fatalf("subscribe: %v, refused by the page: %t", err, refused)
				}
			case does < 5 && len(open) > 0:
				if does == 4 {
					open = open[rapid.IntRange(0, len(open)-1).Draw(t, "which"):][:1]
				}
				for _, b := range open {
					n := place(r, b)
					if err := do(billing.Pay{Account: anna, InvoiceID: billing.InvoiceNumber(anna, n), AmountMinor: b.amount, Currency: "USD", Method: billing.PaidProvider, PaymentID: fmt.Sprint("evt ", n), Now: now}); err != nil {
						t.Fatal(err)
					}
					r.pay(b, now)
				}
			case does == 5:
				r.cancel(now)
				if err := do(billing.Cancel{Account: anna, Plans: plans, Now: now}); err != nil && r.sub != nil {
					t.Fatal(err)
				}
			case does == 6 && len(open) > 0 && len(open[len(open)-1].used) == 0:
				// The invoice of one whole period: what else one asks for would be given away with it.
				b := open[len(open)-1]
				if b.credited > 0 || !ofPeriod(r, b) {
					break
				}
				if err := do(billing.Void{Account: anna, InvoiceID: billing.InvoiceID(anna, place(r, b)), Now: now}); err != nil {
					t.Fatal(err)
				}
				r.void(b, now)
			}
			r.advance(now)
			if err := do(advance(now)); err != nil {
				t.Fatal(err)
			}
			compare(t, r, history)
		}
		for _, c := range []billing.Command{advance(now), billing.Close{Account: anna, Now: now}} {
			if err := do(c); err != nil {
				t.Fatal(err)
			}
			if events, err := billing.Decider.Decide(c, billing.Decider.Fold(history)); err != nil || len(events) > 0 {
				t.Fatalf("%T again: %v %v", c, events, err)
			}
		}
	})
}

// ofPeriod tells whether an invoice is that of the present or lapsed period.
func ofPeriod(r *reckoning, b *bill) bool {
	return r.sub != nil && r.sub.bill == b || r.lapsed != nil && r.lapsed.bill == b
}

// place is an invoice's place in the account's series, from 1.
func place(r *reckoning, b *bill) int {
	for i := range r.bills {
		if r.bills[i] == b {
			return i + 1
		}
	}
	return 0
}

// compare wants what was decided to be what was reckoned.
func compare(t *rapid.T, r *reckoning, history []event.Event) {
	state := billing.Decider.Fold(history)
	plan := "free"
	if state.Subscription.Live {
		plan = state.Subscription.Plan
	}
	if plan != r.plan() || r.sub != nil && (!state.Subscription.PeriodEnd.Equal(r.sub.to) || state.Subscription.Cancelled != r.sub.cancelled) {
		t.Fatalf("%s is in force (%+v), and the page says %s (%+v)", plan, state.Subscription, r.plan(), r.sub)
	}
	invoices := state.Invoices()
	if len(invoices) != len(r.bills) || state.CreditMinor("USD") != r.credit || r.credit < 0 {
		t.Fatalf("%d invoices and credit %d, and the page says %d and %d", len(invoices), state.CreditMinor("USD"), len(r.bills), r.credit)
	}
	asked := int64(0)
	for i, invoice := range invoices {
		b, total := r.bills[i], int64(0)
		for _, line := range invoice.Lines {
			total += line.AmountMinor
		}
		if total != invoice.AmountMinor || invoice.AmountMinor != b.amount || !strings.HasPrefix(string(invoice.Status), b.status) || !invoice.DueAt.Equal(b.due) ||
			!invoice.EndsAt.Equal(b.ends) || invoice.Number != billing.InvoiceNumber(anna, i+1) || invoice.InvoiceID != billing.InvoiceID(anna, i+1) {
			t.Fatalf("invoice %d: %+v, and the page says %+v", i+1, invoice, b)
		}
		if b.status != "void" {
			asked += b.amount
		}
	}
	inForce := int64(0)
	for _, s := range r.inForce {
		if !s.forgiven {
			inForce += s.amount
		}
	}
	// Of a subscription that lapsed the rest of the period is asked for, and not in force: it comes back with the payment.
	if asked-r.credit != inForce {
		t.Fatalf("asked for %d, credited %d, in force %d", asked, r.credit, inForce)
	}
	paid := map[string]bool{}
	for _, e := range history {
		if e, is := e.(billing.Paid); is {
			if paid[e.InvoiceID] {
				t.Fatalf("%s is paid twice", e.InvoiceID)
			}
			paid[e.InvoiceID] = true
		}
	}
}
