package billing_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
)

// use is what one subscription used of a period, as the test counts it.
type use struct {
	price      int64
	start, end time.Time
	forgiven   bool // the invoice was made void by an operator
	invoice    string
}

// TestMoneyAddsUp: whatever is subscribed to, changed, cancelled, paid and made void in whatever order, invoices are the sums
// of their lines, their numbers have no gaps, nothing is paid twice, credit is never negative, and all that is asked for,
// less what is credited, is what was used: whole periods, and the used part of those that a change cut off.
func TestMoneyAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(rapid.Int64Range(1.7e12, 1.9e12).Draw(t, "start")).UTC()
		var history []event.Event
		var uses []use // the last is of the live subscription
		do := func(c billing.Command) error {
			state := billing.Decider.Fold(history)
			events, err := billing.Decider.Decide(c, state)
			for _, e := range events {
				switch e := e.(type) {
				case billing.Started:
					uses = append(uses, use{price: e.AmountMinor, start: now, end: at(e.RenewsAt)})
				case billing.Renewed:
					last := uses[len(uses)-1]
					uses = append(uses, use{price: last.price, start: at(e.PeriodStart), end: at(e.RenewsAt)})
				case billing.Issued:
					if e.EndsSubscriptionAt != "" {
						uses[len(uses)-1].invoice = e.InvoiceID
					}
				case billing.Voided:
					for i := range uses {
						uses[i].forgiven = uses[i].forgiven || uses[i].invoice == e.InvoiceID && e.Reason == billing.VoidOperator
					}
				case billing.Ended:
					if last := &uses[len(uses)-1]; e.Reason == billing.EndReplaced && !last.forgiven {
						used, _ := billing.Prorate(last.price, last.start, last.end, now)
						last.price = used
					}
				}
			}
			history = append(history, events...)
			return err
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(40*day/time.Millisecond)).Draw(t, "passes")) * time.Millisecond)
			before := billing.Decider.Fold(history)
			switch rapid.IntRange(0, 5).Draw(t, "does") {
			case 0, 1:
				_ = do(subscribe(rapid.SampledFrom([]string{"pro", "team"}).Draw(t, "plan"), rapid.SampledFrom([]account.Period{account.Monthly, account.Yearly}).Draw(t, "period"), now))
			case 2, 3:
				for _, invoice := range before.Invoices() {
					if invoice.Status == billing.InvoiceOpen {
						if err := do(billing.Pay{Account: anna, InvoiceID: invoice.Number, AmountMinor: invoice.AmountMinor, Currency: "USD", Method: billing.PaidProvider, PaymentID: invoice.InvoiceID, Now: now}); err != nil {
							t.Fatal(err)
						}
					}
				}
			case 4:
				_ = do(billing.Cancel{Account: anna, Plans: plans, Now: now})
			case 5:
				// Only the invoice of one whole period is made void: what else one asks for would be given away with it.
				for _, invoice := range before.Invoices() {
					if invoice.Status == billing.InvoiceOpen && len(invoice.Lines) == 1 {
						_ = do(billing.Void{Account: anna, InvoiceID: invoice.InvoiceID, Now: now})
						break
					}
				}
			}
			if err := do(advance(now)); err != nil {
				t.Fatal(err)
			}
		}
		state := billing.Decider.Fold(history)
		asked, credit := int64(0), state.CreditMinor("USD")
		for i, invoice := range state.Invoices() {
			total := int64(0)
			for _, line := range invoice.Lines {
				total += line.AmountMinor
			}
			if total != invoice.AmountMinor || total < 0 || invoice.Number != billing.InvoiceNumber(anna, i+1) || invoice.InvoiceID != billing.InvoiceID(anna, i+1) {
				t.Fatalf("invoice %d: %+v", i+1, invoice)
			}
			if invoice.Status != billing.InvoiceVoided {
				asked += total
			}
		}
		used := int64(0)
		for _, u := range uses {
			if !u.forgiven {
				used += u.price
			}
		}
		if credit < 0 || asked-credit != used {
			t.Fatalf("asked for %d, credited %d, used %d\n%+v", asked, credit, used, uses)
		}
		paidOnce := map[string]bool{}
		for _, e := range history {
			if e, is := e.(billing.Paid); is {
				if paidOnce[e.InvoiceID] {
					t.Fatalf("%s is paid twice", e.InvoiceID)
				}
				paidOnce[e.InvoiceID] = true
			}
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

func at(s string) time.Time {
	t, err := event.ParseTimestamp(s)
	if err != nil {
		panic(fmt.Sprint(s, ": ", err))
	}
	return t
}
