package writeapi

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/billing"
	"reckon/internal/httpkit"
	"reckon/internal/payments"
)

// paymentsPath is where a payment provider calls.
const paymentsPath = "/billing/payments"

type paymentOutput struct {
	Body struct {
		Event   string `json:"event" doc:"Id of the event"`
		Applied bool   `json:"applied" doc:"Whether it is about a payment; the same event again answers the same"`
	}
}

// registerPayments adds the webhook of a payment provider, where there is one. It is for that provider alone, and so the description
// of the API leaves it out.
func (s Services) registerPayments(api *httpkit.API) {
	if s.Payments == nil {
		return
	}
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: paymentsPath, ID: "receive-payment", Tag: "Billing", Summary: "Webhook of the payment provider",
		Description: "A call is signed by the provider (docs/billing.md). The same event again changes nothing.",
		UploadBytes: payments.MaxBodyBytes, Errors: problems,
		Kinds: []httpkit.Kind{httpkit.InvalidSignature, httpkit.InvalidRequest, httpkit.PaymentRefused, httpkit.TooLarge, httpkit.Unavailable},
	}, s.receivePayment)
}

func (s Services) receivePayment(ctx context.Context, _ *struct{}) (*paymentOutput, error) {
	body, err := io.ReadAll(httpkit.Upload(ctx))
	if _, is := errors.AsType[*httpkit.Problem](err); is {
		return nil, err
	} else if err != nil {
		return nil, httpkit.InvalidRequest.Problem("the body could not be read to its end").WithCause(err)
	}
	e, err := s.Payments.Read(httpkit.UploadHeader(ctx), body, s.Clock.Now())
	if err != nil {
		return nil, err
	}
	out := &paymentOutput{}
	out.Body.Event, out.Body.Applied = e.ID, e.Kind == payments.Succeeded
	if !out.Body.Applied {
		return out, nil
	}
	return out, s.settle(ctx, e)
}

// settle notes a payment that a provider told of.
func (s Services) settle(ctx context.Context, e payments.Event) error {
	owner, err := uuid.Parse(e.Account)
	if err != nil || owner.String() != e.Account {
		return httpkit.InvalidRequest.Problem("account is not the id of an account").WithField("body.account", "no UUID")
	}
	if invoice, err := uuid.Parse(e.InvoiceID); err != nil || invoice.String() != e.InvoiceID { // a number is for people: it is of an account
		return httpkit.InvalidRequest.Problem("invoice_id is not the id of an invoice").WithField("body.invoice_id", "no UUID")
	}
	intent := s.intent(ctx)
	intent.Account, intent.Actor = e.Account, "payments:"+s.Payments.Name()
	_, at, err := commands.PayInvoice(ctx, s.Store, s.Plans, intent, billing.Pay{
		InvoiceID: e.InvoiceID, AmountMinor: e.AmountMinor, Currency: e.Currency, Method: billing.PaidProvider, PaymentID: s.Payments.Name() + ":" + e.ID,
	})
	if err == nil {
		s.Writes.RecordWrite(e.Account, at)
	}
	return err
}
