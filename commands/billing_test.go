package commands_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/keys"
	"reckon/domain/receipt"
)

// later is an intent of anna some time after noon.
func later(d time.Duration) commands.Intent {
	in := intentOf(anna)
	in.At = noon.Add(d)
	return in
}

var toPro = commands.SubscribeTo{Plan: "pro", Period: account.Monthly}

func planOf(t *testing.T, l *log, accountID string) string {
	t.Helper()
	state, err := commands.ReadAccount(t.Context(), l, accountID)
	if err != nil {
		t.Fatal(err)
	}
	return state.Plan
}

func TestASubscriptionPutsItsPlanInForce(t *testing.T) {
	l, plans := newLog(t), account.DefaultPlans()
	subscribe := func(in commands.Intent, to commands.SubscribeTo) error {
		_, _, err := commands.Subscribe(t.Context(), l, plans, in, to)
		return err
	}
	if err := subscribe(later(0), toPro); !errors.Is(err, account.ErrNotFound) || l.count() != 0 {
		t.Errorf("nobody: %v", err)
	}
	register(t, l, anna)
	for _, c := range []struct {
		to   commands.SubscribeTo
		want error
	}{
		{commands.SubscribeTo{Plan: "gold", Period: account.Monthly}, commands.ErrUnknownPlan},
		{commands.SubscribeTo{Plan: "free", Period: account.Monthly}, commands.ErrNotForSale},
		{commands.SubscribeTo{Plan: "pro", Period: "week"}, commands.ErrNotForSale},
	} {
		if err := subscribe(later(0), c.to); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.to, err)
		}
	}
	for range 2 {
		if err := subscribe(later(0), toPro); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.names(billing.Stream(anna)); got != "subscription.started invoice.issued" {
		t.Errorf("%s", got)
	}
	if got := l.names(account.Stream(anna)); got != "account.registered account.plan_changed" || planOf(t, l, anna) != "pro" {
		t.Errorf("%s, %s in force", got, planOf(t, l, anna))
	}
	if _, err := commands.ChangePlan(t.Context(), l, plans, later(0), "team"); !errors.Is(err, commands.ErrSubscribed) {
		t.Errorf("an operator gives another plan: %v", err)
	}
	if err := subscribe(later(time.Hour), commands.SubscribeTo{Plan: "team", Period: account.Yearly}); err != nil || planOf(t, l, anna) != "team" {
		t.Errorf("changed: %v, %s in force", err, planOf(t, l, anna))
	}
	state, _, err := commands.CancelSubscription(t.Context(), l, plans, later(2*time.Hour))
	if err != nil || !state.Subscription.Cancelled || planOf(t, l, anna) != "team" {
		t.Errorf("cancelled: %v %+v", err, state.Subscription)
	}
	invoice := state.Invoices()[1]
	pay := billing.Pay{InvoiceID: invoice.InvoiceID, AmountMinor: invoice.AmountMinor, Currency: "USD", Method: billing.PaidOperator}
	for range 2 {
		if got, _, err := commands.PayInvoice(t.Context(), l, plans, later(3*time.Hour), pay); err != nil || got.Status != billing.InvoicePaid {
			t.Errorf("paid: %+v %v", got, err)
		}
	}
	if err := commands.AdvanceSubscription(t.Context(), l, plans, later(366*24*time.Hour)); err != nil || planOf(t, l, anna) != "free" {
		t.Errorf("a year later: %v, %s in force", err, planOf(t, l, anna))
	}
	if _, err := commands.ChangePlan(t.Context(), l, plans, later(367*24*time.Hour), "team"); err != nil || planOf(t, l, anna) != "team" {
		t.Errorf("an operator gives a plan: %v", err)
	}
	if err := commands.FollowSubscription(t.Context(), l, plans, later(367*24*time.Hour)); err != nil || planOf(t, l, anna) != "team" {
		t.Errorf("the end of the subscription is followed twice: %v, %s in force", err, planOf(t, l, anna))
	}
}

// TestPayingLateBringsThePlanBack: who pays what ended a subscription has the plan again, and is asked for it once.
func TestPayingLateBringsThePlanBack(t *testing.T) {
	l, plans := newLog(t), account.DefaultPlans()
	register(t, l, anna)
	if _, _, err := commands.Subscribe(t.Context(), l, plans, later(0), commands.SubscribeTo{Plan: "pro", Period: account.Yearly}); err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	if err := commands.AdvanceSubscription(t.Context(), l, plans, later(21*day)); err != nil || planOf(t, l, anna) != "free" {
		t.Fatalf("not paid: %v, %s in force", err, planOf(t, l, anna))
	}
	owed := billing.Pay{InvoiceID: billing.InvoiceNumber(anna, 1), AmountMinor: 12000, Currency: "USD", Method: billing.PaidProvider, PaymentID: "evt_1"}
	for range 2 { // the provider tells it again
		if _, _, err := commands.PayInvoice(t.Context(), l, plans, later(22*day), owed); err != nil || planOf(t, l, anna) != "pro" {
			t.Errorf("paid late: %v, %s in force", err, planOf(t, l, anna))
		}
	}
	state, err := commands.ReadBilling(t.Context(), l, anna)
	if err != nil || len(state.Invoices()) != 1 || !state.Subscription.Live || state.CreditMinor("USD") != 12000/365+1 {
		t.Errorf("%+v, credit %d, %v", state.Subscription, state.CreditMinor("USD"), err)
	}
	if err := commands.FollowSubscription(t.Context(), l, plans, later(22*day)); err != nil || planOf(t, l, anna) != "pro" { // as the reaction does
		t.Errorf("followed again: %v, %s in force", err, planOf(t, l, anna))
	}
}

func TestASubscriptionHonoursQuotes(t *testing.T) {
	l, own := newLog(t), newRing(1)
	plans := account.DefaultPlans()
	register(t, l, anna)
	public, _ := own.Generate()
	if _, err := commands.PublishKey(t.Context(), l, later(0), public); err != nil {
		t.Fatal(err)
	}
	if _, err := commands.ActivateKey(t.Context(), l, later(0), own, keys.Thumbprint(public)); err != nil {
		t.Fatal(err)
	}
	quote := func(plan string, amount int64, by ed25519.PrivateKey) *receipt.Envelope {
		kid := keys.Thumbprint(by.Public().(ed25519.PublicKey))
		seal, err := receipt.SealJSON(billing.QuoteOf(plan, account.Price{Period: account.Monthly, AmountMinor: amount, Currency: "USD"}, noon), &receipt.Signer{KID: kid, Key: by})
		if err != nil {
			t.Fatal(err)
		}
		envelope := seal.Envelope("", "")
		return &envelope
	}
	genuine := quote("pro", 999, privateKey(1)) // the catalogue asks for more by now
	garbled := *genuine
	garbled.CanonicalForm = strings.Replace(garbled.CanonicalForm, "999", "99", 1)
	for name, c := range map[string]struct {
		in    commands.Intent
		plan  string
		quote *receipt.Envelope
		want  error
	}{
		"of another plan": {later(time.Hour), "team", genuine, commands.ErrOtherQuote},
		"too late":        {later(25 * time.Hour), "pro", genuine, billing.ErrQuoteExpired},
		"changed":         {later(time.Hour), "pro", &garbled, billing.ErrQuoteForged},
		"by another key":  {later(time.Hour), "pro", quote("pro", 999, privateKey(9)), billing.ErrQuoteForged},
		"of no plan":      {later(time.Hour), "gold", quote("gold", 1, privateKey(1)), commands.ErrUnknownPlan},
	} {
		if _, _, err := commands.Subscribe(t.Context(), l, plans, c.in, commands.SubscribeTo{Plan: c.plan, Period: account.Monthly, Quote: c.quote}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	state, _, err := commands.Subscribe(t.Context(), l, plans, later(time.Hour), commands.SubscribeTo{Plan: "pro", Period: account.Monthly, Quote: genuine})
	if err != nil || state.Invoices()[0].AmountMinor != 999 {
		t.Errorf("%+v %v", state, err)
	}
	history, _ := l.Read(t.Context(), billing.Stream(anna))
	if e := history.Events[0].Event.(billing.Started); e.QuoteID != genuine.ID || e.AmountMinor != 999 {
		t.Errorf("%+v", e)
	}
}

// TestADeadProcessLeavesNoHalfSubscription: whichever append is lost, the reaction's command puts the plan in force, once.
func TestADeadProcessLeavesNoHalfSubscription(t *testing.T) {
	l, plans := newLog(t), account.DefaultPlans()
	register(t, l, anna)
	dead := errors.New("the process died")
	l.before = func(stream string) error {
		if stream == account.Stream(anna) {
			return dead
		}
		return nil
	}
	if _, _, err := commands.Subscribe(t.Context(), l, plans, later(0), toPro); !errors.Is(err, dead) || planOf(t, l, anna) != "free" {
		t.Fatalf("%v, %s in force", err, planOf(t, l, anna))
	}
	l.before = nil
	for range 2 {
		if err := commands.FollowSubscription(t.Context(), l.elsewhere(), plans, later(0)); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.names(account.Stream(anna)); got != "account.registered account.plan_changed" || planOf(t, l, anna) != "pro" {
		t.Errorf("%s, %s in force", got, planOf(t, l, anna))
	}
	if _, _, err := commands.Subscribe(t.Context(), l, plans, later(0), toPro); err != nil || l.names(billing.Stream(anna)) != "subscription.started invoice.issued" {
		t.Errorf("again: %v %s", err, l.names(billing.Stream(anna)))
	}
}

func TestAClosedAccountHasNoSubscription(t *testing.T) {
	l, plans := newLog(t), account.DefaultPlans()
	register(t, l, anna)
	if _, _, err := commands.Subscribe(t.Context(), l, plans, later(0), toPro); err != nil {
		t.Fatal(err)
	}
	if _, err := commands.CloseAccount(t.Context(), l, later(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the reaction to account.closed
		if err := commands.FollowSubscription(t.Context(), l, plans, later(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.names(billing.Stream(anna)); got != "subscription.started invoice.issued subscription.ended" {
		t.Errorf("%s", got)
	}
	if _, _, err := commands.Subscribe(t.Context(), l, plans, later(time.Hour), toPro); !errors.Is(err, account.ErrClosed) {
		t.Errorf("subscribed: %v", err)
	}
	if _, err := commands.IssueInvoice(t.Context(), l, later(time.Hour), billing.Issue{Reference: "r", Description: "d", AmountMinor: 1, Currency: "USD"}); !errors.Is(err, account.ErrClosed) {
		t.Errorf("issued: %v", err)
	}
	owed := billing.Pay{InvoiceID: billing.InvoiceNumber(anna, 1), AmountMinor: 1200, Currency: "USD", Method: billing.PaidOperator}
	if _, _, err := commands.PayInvoice(t.Context(), l, plans, later(time.Hour), owed); err != nil {
		t.Errorf("what is owed cannot be paid: %v", err)
	}

	// Closed between the look at the account and the append: the subscription ends at once.
	register(t, l, bert)
	l.before = func(stream string) error {
		if stream != billing.Stream(bert) {
			return nil
		}
		l.before = nil
		in := later(0)
		in.Account = bert
		_, err := commands.CloseAccount(context.Background(), l, in)
		return err
	}
	in := later(0)
	in.Account = bert
	if _, _, err := commands.Subscribe(t.Context(), l, plans, in, toPro); err != nil {
		t.Fatal(err)
	}
	if state, err := commands.ReadBilling(t.Context(), l, bert); err != nil || state.Subscription.Live {
		t.Errorf("%+v %v", state.Subscription, err)
	}
}

func TestInvoicesOfAnOperator(t *testing.T) {
	l := newLog(t)
	issue := billing.Issue{Reference: "training 7", Description: "a day of training", AmountMinor: 90000, Currency: "EUR"}
	if _, err := commands.IssueInvoice(t.Context(), l, later(0), issue); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
	register(t, l, anna)
	for range 2 {
		invoice, err := commands.IssueInvoice(t.Context(), l, later(0), issue)
		if err != nil || invoice.Number != billing.InvoiceNumber(anna, 1) || invoice.AmountMinor != 90000 {
			t.Errorf("%+v %v", invoice, err)
		}
	}
	for range 2 {
		voided, _, err := commands.VoidInvoice(t.Context(), l, account.DefaultPlans(), later(0), billing.Void{InvoiceID: billing.InvoiceNumber(anna, 1), Note: "not held"})
		if err != nil || voided.Status != billing.InvoiceVoided {
			t.Errorf("%+v %v", voided, err)
		}
	}
	if got := l.names(billing.Stream(anna)); got != "invoice.issued invoice.voided" {
		t.Errorf("%s", got)
	}
}
