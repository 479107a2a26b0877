package projections_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/projections"
	"reckon/projections/projectiontest"
)

// ledger decides commands of billing and records their events.
type ledger struct {
	projectiontest.Log
	t      *testing.T
	states map[string]billing.State
	now    time.Time
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, states: map[string]billing.State{}, now: time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)}
}

func (l *ledger) do(accountID string, c billing.Command) {
	l.t.Helper()
	events, err := billing.Decider.Decide(c, l.states[accountID])
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range events {
		l.Add(billing.Stream(accountID), l.now, e)
	}
	l.states[accountID] = billing.Decider.FoldFrom(l.states[accountID], events)
}

func (l *ledger) subscribe(accountID, plan string) {
	l.t.Helper()
	of, _ := account.DefaultPlans().Find(plan)
	price, _ := of.PriceOf(account.Monthly)
	l.do(accountID, billing.Subscribe{Account: accountID, Plan: plan, Price: price, Plans: account.DefaultPlans(), Now: l.now})
}

func (l *ledger) advance(accountID string) {
	l.t.Helper()
	l.do(accountID, billing.Advance{Account: accountID, Plans: account.DefaultPlans(), Now: l.now})
}

func (l *ledger) pay(accountID string, n int) {
	l.t.Helper()
	invoice := l.states[accountID].Invoices()[n-1]
	l.do(accountID, billing.Pay{Account: accountID, InvoiceID: invoice.InvoiceID, AmountMinor: invoice.AmountMinor, Currency: invoice.Currency, Method: billing.PaidOperator, Now: l.now})
}

// TestSubscriptionsProjection: what is due is what the deciders say.
func TestSubscriptionsProjection(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		subscriptions := projections.New(db, nil).Subscriptions
		l := newLedger(t)
		start := l.now
		days := func(n int) time.Time { return start.AddDate(0, 0, n) }
		rows := func(ctx context.Context) (any, error) {
			var seen []string
			for _, id := range []string{alice, bob, carol} {
				row, err := subscriptions.Of(ctx, id)
				if err != nil {
					return nil, err
				}
				if row == nil {
					seen = append(seen, "none")
					continue
				}
				open, err := row.UnpaidInvoices()
				if err != nil {
					return nil, err
				}
				seen = append(seen, fmt.Sprintf("%s until %s, %d open, cancelled %v", row.Plan, row.RenewsAt[:10], len(open), row.Cancelled))
			}
			due, err := subscriptions.DueSubscriptions(ctx, start.AddDate(10, 0, 0), billing.Due{}, 10)
			for _, d := range due {
				seen = append(seen, fmt.Sprintf("%s %s", d.Account[len(d.Account)-1:], d.At.Format(time.DateOnly)))
			}
			return seen, err
		}
		given := func(want ...string) {
			t.Helper()
			projectiontest.Given(t, db, subscriptions.Projection()).When(l.Events...).Then(rows, want)
		}
		l.subscribe(alice, "pro")
		l.subscribe(bob, "team")
		given("pro until 2027-02-28, 1 open, cancelled false", "team until 2027-02-28, 1 open, cancelled false", "none", "a 2027-02-21", "b 2027-02-21")
		l.pay(alice, 1)
		l.do(bob, billing.Cancel{Account: bob, Plans: account.DefaultPlans(), Now: l.now})
		given("pro until 2027-02-28, 0 open, cancelled false", "team until 2027-02-28, 1 open, cancelled true", "none", "b 2027-02-21", "a 2027-02-28")
		l.now = days(14)
		l.subscribe(alice, "team") // credited
		l.do(carol, billing.Issue{Account: carol, Reference: "r", Description: "d", AmountMinor: 5, Currency: "USD", Now: l.now})
		given("team until 2027-03-14, 1 open, cancelled false", "team until 2027-02-28, 1 open, cancelled true", "none", "b 2027-02-21", "a 2027-03-07")
		l.now = days(21)
		l.advance(bob)
		l.subscribe(alice, "pro") // its invoice becomes void
		given("pro until 2027-03-21, 1 open, cancelled false", "none", "none", "a 2027-03-07")
		l.pay(bob, 1)
		l.now = days(22)
		l.subscribe(bob, "pro")
		l.do(bob, billing.Void{Account: bob, InvoiceID: billing.InvoiceID(bob, 2), Now: l.now})
		l.pay(alice, 3)
		given("pro until 2027-03-21, 0 open, cancelled false", "pro until 2027-03-22, 0 open, cancelled false", "none", "a 2027-03-21", "b 2027-03-22")
		l.now = days(50)
		l.advance(alice)
		l.advance(bob)
		given("pro until 2027-04-21, 1 open, cancelled false", "pro until 2027-04-22, 1 open, cancelled false", "none", "a 2027-04-12", "b 2027-04-12")

		// Page by page, the same is proposed; and nothing that is due later.
		var all []string
		for after, n := (billing.Due{}), 0; ; n++ {
			page, err := subscriptions.DueSubscriptions(t.Context(), l.now.AddDate(0, 0, 21), after, 1)
			if err != nil || n > 3 {
				t.Fatal(err, n)
			}
			if len(page) == 0 {
				break
			}
			after = page[0]
			all = append(all, after.Account)
		}
		if !slices.Equal(all, []string{alice, bob}) {
			t.Errorf("%v", all)
		}
		if due, err := subscriptions.DueSubscriptions(t.Context(), l.now.AddDate(0, 0, 21).Add(-time.Millisecond), billing.Due{}, 10); err != nil || len(due) > 0 {
			t.Errorf("%v %v", due, err)
		}
	})
}

func TestInvoicesProjection(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		invoices := projections.New(db, nil).Invoices
		l := newLedger(t)
		l.subscribe(alice, "pro")
		l.subscribe(bob, "team")
		l.pay(alice, 1)
		l.now = l.now.AddDate(0, 0, 14)
		l.subscribe(alice, "team") // the half of pro is credited
		l.subscribe(bob, "pro")    // its invoice becomes void
		l.do(alice, billing.Issue{Account: alice, Reference: "r", Description: "d", AmountMinor: 5, Currency: "EUR", Now: l.now})
		rows := func(ctx context.Context) (any, error) {
			var seen []string
			for _, id := range []string{alice, bob} {
				before := ""
				for {
					page, next, err := invoices.List(ctx, id, projections.Page{Limit: 2, Before: before})
					if err != nil {
						return nil, err
					}
					for _, row := range page {
						lines, err := row.InvoiceLines()
						if err != nil {
							return nil, err
						}
						total := int64(0)
						for _, line := range lines {
							total += line.AmountMinor
						}
						if total != row.AmountMinor {
							return nil, errors.New("the lines do not add up")
						}
						seen = append(seen, strings.TrimSuffix(fmt.Sprintf("%s %d %s %s %s", row.Number[len(row.Number)-4:], row.AmountMinor, row.Currency, row.Status, row.PaidAt), " "))
					}
					if before = next; next == "" {
						break
					}
				}
			}
			return seen, nil
		}
		projectiontest.Given(t, db, invoices.Projection()).When(l.Events...).Then(rows, []string{
			"0003 5 EUR open", "0002 4300 USD open", "0001 1200 USD paid 2027-01-31T12:00:00.000Z",
			"0002 3650 USD open", "0001 4900 USD voided",
		})
	})
}
