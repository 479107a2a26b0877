package projections

import (
	"context"
	"encoding/json"

	"github.com/uptrace/bun"

	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/projections/engine"
)

// Invoices lists the invoices of each account.
type Invoices struct{ from source }

// InvoiceRow is one invoice.
type InvoiceRow struct {
	bun.BaseModel `bun:"table:invoices_v1,alias:i"`

	InvoiceID   string                `bun:"invoice_id,pk"`
	Position    int64                 `bun:"position,notnull"` // revision of its event in the account's stream: several may be issued in one append
	Account     string                `bun:"account,notnull"`
	Number      string                `bun:"number,notnull"`
	Status      billing.InvoiceStatus `bun:"status,notnull"`
	Currency    string                `bun:"currency,notnull"`
	AmountMinor int64                 `bun:"amount_minor,notnull"`
	Lines       Text                  `bun:"lines,type:text,notnull"` // JSON of []billing.Line
	IssuedAt    string                `bun:"issued_at,notnull"`
	DueAt       string                `bun:"due_at,notnull"`
	PaidAt      string                `bun:"paid_at,nullzero"`
}

// InvoiceLines are the lines of the invoice, in order.
func (r InvoiceRow) InvoiceLines() (lines []billing.Line, err error) {
	err = json.Unmarshal([]byte(r.Lines), &lines)
	return lines, err
}

var invoiceRows = engine.TableOf("invoice_id", func(r *InvoiceRow) string { return r.InvoiceID },
	engine.Index{Name: "invoices_v1_newest", Columns: "account, position DESC"})

// Projection declares the table invoices_v1 and its handlers.
func (*Invoices) Projection() engine.Projection {
	p := engine.Projection{Name: "invoices", Version: 1, Tables: []engine.Table{invoiceRows}}
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e billing.Issued, r event.Recorded) error {
		known, err := invoiceRows.Row(ctx, tx, e.InvoiceID)
		if err != nil || known != nil { // it may be paid by now
			return err
		}
		lines, err := json.Marshal(e.Lines)
		if err != nil {
			return err
		}
		invoiceRows.Upsert(tx, &InvoiceRow{
			InvoiceID: e.InvoiceID, Position: int64(r.Revision), Account: e.Account, Number: e.Number, Status: billing.InvoiceOpen,
			Currency: e.Currency, AmountMinor: e.AmountMinor, Lines: Text(lines), IssuedAt: e.IssuedAt, DueAt: e.DueAt,
		})
		return nil
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e billing.Paid, _ event.Recorded) error {
		return invoiceRows.Update(ctx, tx, e.InvoiceID, func(row *InvoiceRow) { row.Status, row.PaidAt = billing.InvoicePaid, e.PaidAt })
	})
	engine.On(&p, func(ctx context.Context, tx *engine.Tx, e billing.Voided, _ event.Recorded) error {
		return invoiceRows.Update(ctx, tx, e.InvoiceID, func(row *InvoiceRow) { row.Status = billing.InvoiceVoided })
	})
	return p
}

// List returns a page of an account's invoices, newest first, and the cursor of the next page, which is empty on the last. A bad
// parameter is a *QueryError.
func (i *Invoices) List(ctx context.Context, account string, p Page) (rows []InvoiceRow, next string, err error) {
	query := i.from.db.NewSelect().Model((*InvoiceRow)(nil)).Where("account = ?", account)
	return newestPage(ctx, query, p, func(r InvoiceRow) int64 { return r.Position })
}
