package projections

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/projections/engine"
)

// Subscriptions holds the subscription of each account that ever had one, and when something is due of it. What is due is
// decided by the account's stream: this proposes.
type Subscriptions struct{ from source }

// SubscriptionRow is an account's subscription, or what is left of its last one.
type SubscriptionRow struct {
	bun.BaseModel `bun:"table:subscriptions_v1,alias:s"`

	Account     string         `bun:"account,pk"`
	Revision    int64          `bun:"revision,notnull"` // of the last event applied; events up to it are skipped
	Live        bool           `bun:"live,notnull"`
	Plan        string         `bun:"plan,notnull"`
	Period      account.Period `bun:"period,notnull"`
	AmountMinor int64          `bun:"amount_minor,notnull"`
	Currency    string         `bun:"currency,notnull"`
	StartedAt   string         `bun:"started_at,notnull"`
	RenewsAt    string         `bun:"renews_at,notnull"` // when the period ends
	Cancelled   bool           `bun:"cancelled,notnull"`
	Unpaid      Text           `bun:"unpaid,type:text,notnull"` // JSON of []UnpaidInvoice
	NextMS      int64          `bun:"next_ms,notnull"`          // when something is due, Unix time in milliseconds; 0: never
}

// UnpaidInvoice is an open invoice that ends a subscription when it is not paid.
type UnpaidInvoice struct {
	InvoiceID string `json:"invoice_id"`
	DueAt     string `json:"due_at"`
	EndsAt    string `json:"ends_at"` // when the subscription ends
}

// UnpaidInvoices are the open invoices that end the subscription, in the order in which they were issued.
func (r SubscriptionRow) UnpaidInvoices() (open []UnpaidInvoice, err error) {
	err = json.Unmarshal([]byte(r.Unpaid), &open)
	return open, err
}

var subscriptionRows = engine.TableOf("account", func(r *SubscriptionRow) string { return r.Account },
	engine.Index{Name: "subscriptions_v1_next", Columns: "next_ms, account"})

// Projection declares the table subscriptions_v1 and its handlers.
func (*Subscriptions) Projection() engine.Projection {
	p := engine.Projection{Name: "subscriptions", Version: 1, Tables: []engine.Table{subscriptionRows}}
	onSubscription(&p, func(e billing.Started) string { return e.Account }, func(row *SubscriptionRow, e billing.Started, _ *[]UnpaidInvoice) {
		row.Live, row.Plan, row.Period, row.AmountMinor, row.Currency = true, e.Plan, e.Period, e.AmountMinor, e.Currency
		row.StartedAt, row.RenewsAt, row.Cancelled = e.StartedAt, e.RenewsAt, false
	})
	onSubscription(&p, func(e billing.Renewed) string { return e.Account }, func(row *SubscriptionRow, e billing.Renewed, _ *[]UnpaidInvoice) { row.RenewsAt = e.RenewsAt })
	onSubscription(&p, func(e billing.Cancelled) string { return e.Account }, func(row *SubscriptionRow, _ billing.Cancelled, _ *[]UnpaidInvoice) { row.Cancelled = true })
	onSubscription(&p, func(e billing.Resumed) string { return e.Account }, func(row *SubscriptionRow, _ billing.Resumed, _ *[]UnpaidInvoice) { row.Cancelled = false })
	onSubscription(&p, func(e billing.Ended) string { return e.Account }, func(row *SubscriptionRow, _ billing.Ended, _ *[]UnpaidInvoice) { row.Live = false })
	onSubscription(&p, func(e billing.Settled) string { return e.Account }, func(row *SubscriptionRow, e billing.Settled, _ *[]UnpaidInvoice) { row.Live = e.RenewsAt != "" })
	onSubscription(&p, func(e billing.Issued) string { return e.Account }, func(_ *SubscriptionRow, e billing.Issued, unpaid *[]UnpaidInvoice) {
		if e.EndsSubscriptionAt != "" {
			*unpaid = append(*unpaid, UnpaidInvoice{InvoiceID: e.InvoiceID, DueAt: e.DueAt, EndsAt: e.EndsSubscriptionAt})
		}
	})
	onSubscription(&p, func(e billing.Paid) string { return e.Account }, func(_ *SubscriptionRow, e billing.Paid, unpaid *[]UnpaidInvoice) { settle(unpaid, e.InvoiceID) })
	onSubscription(&p, func(e billing.Voided) string { return e.Account }, func(_ *SubscriptionRow, e billing.Voided, unpaid *[]UnpaidInvoice) { settle(unpaid, e.InvoiceID) })
	return p
}

// onSubscription adds the handler of an event of an account's billing stream.
func onSubscription[E event.Event](p *engine.Projection, accountOf func(E) string, change func(*SubscriptionRow, E, *[]UnpaidInvoice)) {
	engine.On(p, func(ctx context.Context, tx *engine.Tx, e E, r event.Recorded) error {
		row, err := subscriptionRows.Row(ctx, tx, accountOf(e))
		if err != nil {
			return err
		}
		if row == nil {
			row = &SubscriptionRow{Account: accountOf(e), Revision: -1, Unpaid: "[]"}
		}
		if row.Revision >= int64(r.Revision) {
			return nil
		}
		unpaid, err := row.UnpaidInvoices()
		if err != nil {
			return err
		}
		row.Revision = int64(r.Revision)
		change(row, e, &unpaid)
		written, err := json.Marshal(unpaid)
		if err != nil {
			return err
		}
		row.Unpaid = Text(written)
		if row.NextMS, err = nextMS(*row, unpaid); err != nil {
			return err
		}
		subscriptionRows.Upsert(tx, row)
		return nil
	})
}

// settle removes an invoice from those that are not paid.
func settle(unpaid *[]UnpaidInvoice, invoiceID string) {
	left := []UnpaidInvoice{}
	for _, invoice := range *unpaid {
		if invoice.InvoiceID != invoiceID {
			left = append(left, invoice)
		}
	}
	*unpaid = left
}

// nextMS is when something is due of a subscription: its period ends, or an invoice was not paid for too long.
func nextMS(row SubscriptionRow, unpaid []UnpaidInvoice) (int64, error) {
	if !row.Live {
		return 0, nil
	}
	next, err := event.ParseTimestamp(row.RenewsAt)
	if err != nil {
		return 0, err
	}
	for _, invoice := range unpaid {
		ends, err := event.ParseTimestamp(invoice.EndsAt)
		if err != nil {
			return 0, err
		}
		if ends.Before(next) {
			next = ends
		}
	}
	return next.UnixMilli(), nil
}

// Of returns the subscription of an account, nil if it has none now.
func (s *Subscriptions) Of(ctx context.Context, accountID string) (*SubscriptionRow, error) {
	var rows []SubscriptionRow
	err := s.from.db.NewSelect().Model(&rows).Where("account = ? AND live", accountID).Limit(1).Scan(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// DueSubscriptions returns up to limit accounts where something is due until now, in the order in which it became due, after one of
// them; the zero Due is before all.
func (s *Subscriptions) DueSubscriptions(ctx context.Context, now time.Time, after billing.Due, limit int) ([]billing.Due, error) {
	var rows []SubscriptionRow
	query := s.from.db.NewSelect().Model(&rows).Column("account", "next_ms").Where("next_ms > 0 AND next_ms <= ?", now.UnixMilli())
	if !after.At.IsZero() {
		query = query.Where("(next_ms, account) > (?, ?)", after.At.UnixMilli(), after.Account)
	}
	if err := query.Order("next_ms", "account").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, err
	}
	due := make([]billing.Due, len(rows))
	for i, row := range rows {
		due[i] = billing.Due{Account: row.Account, At: time.UnixMilli(row.NextMS).UTC()}
	}
	return due, nil
}
