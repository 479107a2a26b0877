package readapi

import (
	"context"
	"net/http"
	"time"

	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/projections"
)

type subscriptionInput struct{ Freshness }

type subscriptionOutput struct{ Body view.NullableSubscription }

type invoicesInput struct {
	Freshness
	Page
}

type invoicesOutput struct {
	Body struct {
		Invoices []invoiceRow `json:"invoices" doc:"Newest first; empty when nothing was ever asked for"`
		view.NextPage
	}
}

type invoiceRow struct {
	InvoiceID   string                `json:"invoice_id" format:"uuid" example:"6f0e3f52-0c1d-5d2b-9a57-8e41630bd117" doc:"Id of the invoice"`
	Number      string                `json:"number" example:"7K3M9Q2X4B8D-0001" doc:"Its number: your account's series, a hyphen, and its place in the series, which has no gaps"`
	IssuedAt    string                `json:"issued_at" format:"date-time" example:"2026-08-01T12:00:00.000Z" doc:"When it was issued: RFC 3339, UTC, milliseconds"`
	DueAt       string                `json:"due_at" format:"date-time" example:"2026-08-15T12:00:00.000Z" doc:"When it is to be paid at the latest: RFC 3339, UTC, milliseconds"`
	PaidAt      *string               `json:"paid_at" format:"date-time" doc:"When the service learned that it was paid: RFC 3339, UTC, milliseconds; null: it was not"`
	Status      billing.InvoiceStatus `json:"status" enum:"open,paid,voided" example:"open" doc:"open, paid or voided (nothing is to be paid)"`
	Currency    string                `json:"currency" example:"USD" doc:"ISO 4217 code"`
	AmountMinor int64                 `json:"amount_minor" minimum:"0" example:"1200" doc:"Sum of the lines in the currency's smallest unit (cents for USD)"`
	Lines       []billing.Line        `json:"lines" doc:"What it is for, in order"`
}

func (s Services) registerBilling(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/billing/subscription", ID: "get-subscription", Tag: "Billing", Summary: "Your subscription",
		Description: "null where there is none: on the Free plan, and where an operator gave the plan. It follows the log by moments.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.subscription)
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/billing/invoices", ID: "list-invoices", Tag: "Billing", Summary: "Your invoices, newest first",
		Description: "What you were asked to pay, and whether you did. An invoice never changes but for its status and paid_at.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.invoices)
}

func (s Services) subscription(ctx context.Context, in *subscriptionInput) (*subscriptionOutput, error) {
	if err := s.waitUntilApplied(ctx, "subscriptions", in.Token); err != nil {
		return nil, err
	}
	row, err := s.Models.Subscriptions.Of(ctx, auth.PrincipalOf(ctx).Account)
	if err != nil || row == nil {
		return &subscriptionOutput{}, err
	}
	shown, err := subscriptionAt(*row, s.Now())
	return &subscriptionOutput{Body: view.NullableSubscription{Subscription: shown}}, err
}

// subscriptionAt is how a subscription stands at a time. One that is past due ends when the grace of its invoice is over, if that is
// not after the end of its period.
func subscriptionAt(row projections.SubscriptionRow, now time.Time) (*view.Subscription, error) {
	shown := &view.Subscription{Plan: row.Plan, Period: row.Period, Status: view.SubscriptionActive, StartedAt: row.StartedAt, RenewsAt: &row.RenewsAt}
	unpaid, err := row.UnpaidInvoices()
	if err != nil {
		return nil, err
	}
	if row.Cancelled {
		shown.Status, shown.RenewsAt, shown.EndsAt = view.SubscriptionEnding, nil, &row.RenewsAt
	}
	for _, invoice := range unpaid {
		due, err := event.ParseTimestamp(invoice.DueAt)
		if err != nil {
			return nil, err
		}
		if now.Before(due) {
			continue
		}
		if shown.Status = view.SubscriptionPastDue; invoice.EndsAt <= row.RenewsAt { // of one form: they compare as the times do
			shown.RenewsAt = nil
		}
		if shown.EndsAt == nil || invoice.EndsAt < *shown.EndsAt {
			shown.EndsAt = &invoice.EndsAt
		}
	}
	return shown, nil
}

func (s Services) invoices(ctx context.Context, in *invoicesInput) (*invoicesOutput, error) {
	if err := s.waitUntilApplied(ctx, "invoices", in.Token); err != nil {
		return nil, err
	}
	rows, next, err := s.Models.Invoices.List(ctx, auth.PrincipalOf(ctx).Account, in.asked())
	if err != nil {
		return nil, refusedQuery(err)
	}
	out := &invoicesOutput{}
	out.Body.NextBefore = view.NullIfEmpty(next)
	out.Body.Invoices = make([]invoiceRow, len(rows))
	for i, row := range rows {
		lines, err := row.InvoiceLines()
		if err != nil {
			return nil, err
		}
		out.Body.Invoices[i] = invoiceRow{
			InvoiceID: row.InvoiceID, Number: row.Number, IssuedAt: row.IssuedAt, DueAt: row.DueAt, PaidAt: view.NullIfEmpty(row.PaidAt),
			Status: row.Status, Currency: row.Currency, AmountMinor: row.AmountMinor, Lines: lines,
		}
	}
	return out, nil
}
