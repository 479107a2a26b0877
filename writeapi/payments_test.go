package writeapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/internal/httpkit"
	"reckon/internal/payments"
	"reckon/test/apitest"
)

const paymentSecret = "0123456789abcdef0123456789abcdef"

func withPayments(t *testing.T) *apitest.Server {
	t.Helper()
	signed, err := payments.NewSigned(paymentSecret)
	if err != nil {
		t.Fatal(err)
	}
	return apitest.Start(t, apitest.Options{Payments: signed})
}

// tell is a call of the payment provider.
func tell(t testing.TB, s *apitest.Server, body string, headers ...string) apitest.Answer {
	t.Helper()
	return s.Do(t, http.MethodPost, "/billing/payments", body, append([]string{payments.SignatureHeader, payments.Sign(paymentSecret, []byte(body), s.Clock.Now())}, headers...)...)
}

func subscribed(t *testing.T, s *apitest.Server, u *apitest.User) billing.Invoice {
	t.Helper()
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: u.ID, Actor: "operator"}
	state, _, err := commands.Subscribe(t.Context(), s.Store, account.DefaultPlans(), in, commands.SubscribeTo{Plan: "pro", Period: account.Monthly})
	if err != nil {
		t.Fatal(err)
	}
	return state.Invoices()[0]
}

func paymentOf(event string, i billing.Invoice) string {
	return fmt.Sprintf(`{"event":%q,"type":"payment.succeeded","account":%q,"invoice_id":%q,"amount_minor":%d,"currency":%q}`, event, i.Account, i.InvoiceID, i.AmountMinor, i.Currency)
}

// payments of an account, as its stream has them.
func paymentsOf(t *testing.T, s *apitest.Server, accountID string) (all []billing.Paid) {
	t.Helper()
	history, err := s.Store.Read(t.Context(), billing.Stream(accountID))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history.Events {
		if paid, is := e.Event.(billing.Paid); is {
			if e.Metadata.Actor != "payments:signed" {
				t.Errorf("paid by %s", e.Metadata.Actor)
			}
			all = append(all, paid)
		}
	}
	return all
}

// TestAPaymentIsNotedOnce: however often and however many at a time it is told, also later with a new signature.
func TestAPaymentIsNotedOnce(t *testing.T) {
	t.Parallel()
	s := withPayments(t)
	u := s.NewUser(t)
	invoice := subscribed(t, s, u)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			if a := tell(t, s, paymentOf("evt_1", invoice)); a.Status != http.StatusOK || a.JSON["applied"] != true || a.JSON["event"] != "evt_1" {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	calls.Wait()
	s.Clock.Pass(24 * time.Hour)
	tell(t, s, paymentOf("evt_1", invoice)).OK(t)
	paid := paymentsOf(t, s, u.ID)
	if len(paid) != 1 || paid[0].PaymentID != "signed:evt_1" || paid[0].AmountMinor != 1200 || paid[0].Method != billing.PaidProvider {
		t.Errorf("%+v", paid)
	}
	// The money of another event is not owed, and neither event pays another invoice.
	tell(t, s, paymentOf("evt_2", invoice)).Want(t, httpkit.PaymentRefused)
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: u.ID}
	other, err := commands.IssueInvoice(t.Context(), s.Store, in, billing.Issue{Reference: "r", Description: "d", AmountMinor: 1200, Currency: "USD"})
	if err != nil {
		t.Fatal(err)
	}
	tell(t, s, paymentOf("evt_1", other)).Want(t, httpkit.PaymentRefused)
	if got := paymentsOf(t, s, u.ID); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestNoMoneyIsInvented: whatever is wrong with a call, nothing is noted.
func TestNoMoneyIsInvented(t *testing.T) {
	t.Parallel()
	s := withPayments(t)
	u, v := s.NewUser(t), s.NewUser(t)
	invoice, others := subscribed(t, s, u), subscribed(t, s, v)
	good := paymentOf("evt_1", invoice)
	for name, c := range map[string]struct {
		answer apitest.Answer
		want   httpkit.Kind
	}{
		"not signed":           {s.Do(t, http.MethodPost, "/billing/payments", good), httpkit.InvalidSignature},
		"another body":         {s.Do(t, http.MethodPost, "/billing/payments", good, payments.SignatureHeader, payments.Sign(paymentSecret, []byte(good+" "), s.Clock.Now())), httpkit.InvalidSignature},
		"signed too long ago":  {s.Do(t, http.MethodPost, "/billing/payments", good, payments.SignatureHeader, payments.Sign(paymentSecret, []byte(good), s.Clock.Now().Add(-6*time.Minute))), httpkit.InvalidSignature},
		"a user's token":       {u.Do(t, http.MethodPost, "/billing/payments", good), httpkit.InvalidSignature},
		"nothing":              {tell(t, s, ""), httpkit.InvalidRequest},
		"no JSON":              {tell(t, s, "paid"), httpkit.InvalidRequest},
		"too much":             {tell(t, s, `{"event":"`+strings.Repeat("x", payments.MaxBodyBytes)+`"}`), httpkit.TooLarge},
		"another amount":       {tell(t, s, strings.Replace(good, "1200", "1199", 1)), httpkit.PaymentRefused},
		"another currency":     {tell(t, s, strings.Replace(good, "USD", "EUR", 1)), httpkit.PaymentRefused},
		"no such invoice":      {tell(t, s, strings.Replace(good, invoice.InvoiceID, uuid.NewString(), 1)), httpkit.PaymentRefused},
		"another's invoice":    {tell(t, s, strings.Replace(good, invoice.InvoiceID, others.InvoiceID, 1)), httpkit.PaymentRefused},
		"no such account":      {tell(t, s, strings.Replace(good, u.ID, uuid.NewString(), 1)), httpkit.PaymentRefused},
		"no account":           {tell(t, s, strings.Replace(good, u.ID, "", 1)), httpkit.InvalidRequest},
		"no id of an account":  {tell(t, s, strings.Replace(good, u.ID, strings.ToUpper(u.ID), 1)), httpkit.InvalidRequest},
		"no type":              {tell(t, s, strings.Replace(good, `"type":"payment.succeeded",`, "", 1)), httpkit.InvalidRequest},
		"an id without end":    {tell(t, s, paymentOf(strings.Repeat("e", 300), invoice)), httpkit.InvalidRequest},
		"an id with a newline": {tell(t, s, paymentOf("a\nb", invoice)), httpkit.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) { c.answer.Want(t, c.want) })
	}
	if a := tell(t, s, `{"event":"evt_9","type":"payment.failed"}`).OK(t); a.JSON["applied"] != false {
		t.Errorf("%s", a.Body)
	}
	for _, id := range []string{u.ID, v.ID} {
		if got := paymentsOf(t, s, id); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	}
	s.LogAway(true)
	tell(t, s, good).Want(t, httpkit.Unavailable) // the provider calls again
	s.LogAway(false)
	tell(t, s, good).OK(t)
}

func TestThereIsNoWebhookWithoutASecret(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	tell(t, s, "{}").Want(t, httpkit.NoSuchRoute)
}
