package readapi_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
	"reckon/test/wait"
)

// operator is what an operator does for a user.
type operator struct {
	t    *testing.T
	s    *apitest.Server
	user *apitest.User
}

func (o operator) intent() commands.Intent {
	return commands.Intent{ID: uuid.New(), At: o.s.Clock.Now(), Account: o.user.ID, Actor: "operator"}
}

func (o operator) subscribe(plan string, period account.Period) {
	o.t.Helper()
	if _, _, err := commands.Subscribe(o.t.Context(), o.s.Store, account.DefaultPlans(), o.intent(), commands.SubscribeTo{Plan: plan, Period: period}); err != nil {
		o.t.Fatal(err)
	}
}

func (o operator) pay(n int, amount int64) {
	o.t.Helper()
	pay := billing.Pay{InvoiceID: billing.InvoiceID(o.user.ID, n), AmountMinor: amount, Currency: "USD", Method: billing.PaidOperator}
	if _, _, err := commands.PayInvoice(o.t.Context(), o.s.Store, account.DefaultPlans(), o.intent(), pay); err != nil {
		o.t.Fatal(err)
	}
}

// ask asks a list that has applied everything the log holds.
func (o operator) ask(path string) apitest.Answer {
	o.t.Helper()
	head, err := o.s.Store.Head(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	log, err := o.s.Store.LogID(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	var a apitest.Answer
	wait.Until(o.t, "the read model has caught up", func() bool {
		a = o.user.Do(o.t, http.MethodGet, path, "", "Consistency-Token", httpkit.ConsistencyToken{Log: log, Position: head}.String()).OK(o.t)
		return a.Header.Get("Consistency") == ""
	})
	return a
}

func TestTheSubscriptionAsItStands(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	o := operator{t, s, s.NewUser(t)}
	want := func(fields string) {
		t.Helper()
		got := strings.TrimSpace(string(o.ask("/billing/subscription").Body))
		if fields != "null" {
			fields = `{"plan":` + fields + `}`
		}
		if got != fields {
			t.Errorf("got  %s\nwant %s", got, fields)
		}
	}
	want("null")
	o.subscribe("pro", account.Monthly)
	const begun = `"pro","period":"month","status":"active","started_at":"2026-08-01T12:00:00.000Z","renews_at":"2026-09-01T12:00:00.000Z","ends_at":null`
	want(begun)
	s.Clock.Pass(14 * 24 * time.Hour)
	want(`"pro","period":"month","status":"past_due","started_at":"2026-08-01T12:00:00.000Z","renews_at":null,"ends_at":"2026-08-22T12:00:00.000Z"`)
	o.pay(1, 1200)
	want(begun)
	if _, _, err := commands.CancelSubscription(t.Context(), s.Store, account.DefaultPlans(), o.intent()); err != nil {
		t.Fatal(err)
	}
	want(`"pro","period":"month","status":"ending","started_at":"2026-08-01T12:00:00.000Z","renews_at":null,"ends_at":"2026-09-01T12:00:00.000Z"`)
	s.Clock.Pass(17 * 24 * time.Hour)
	if err := commands.AdvanceSubscription(t.Context(), s.Store, account.DefaultPlans(), o.intent()); err != nil {
		t.Fatal(err)
	}
	want("null")
}

func TestInvoicesAreListed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	o := operator{t, s, s.NewUser(t)}
	if body := strings.TrimSpace(string(o.ask("/billing/invoices").Body)); body != `{"invoices":[],"next_before":null}` {
		t.Errorf("never checked out: %s", body)
	}
	o.subscribe("pro", account.Monthly)
	o.pay(1, 1200)
	s.Clock.Pass(time.Hour)
	o.subscribe("team", account.Monthly)
	first := o.ask("/billing/invoices?limit=1")
	rows := first.JSON["invoices"].([]any)
	row := rows[0].(map[string]any)
	_, unused := billing.Prorate(1200, at(t, "2026-08-01T12:00:00Z"), at(t, "2026-09-01T12:00:00Z"), at(t, "2026-08-01T13:00:00Z"))
	if len(rows) != 1 || row["status"] != "open" || row["paid_at"] != nil || row["number"] != billing.InvoiceNumber(o.user.ID, 2) || row["amount_minor"] != float64(4900-unused) {
		t.Errorf("%s", first.Body)
	}
	lines := row["lines"].([]any)
	if credit := lines[1].(map[string]any); len(lines) != 2 || !reflect.DeepEqual(credit, map[string]any{"kind": "credit", "description": "credit", "amount_minor": float64(-unused)}) {
		t.Errorf("%v", lines)
	}
	second := o.ask("/billing/invoices?limit=1&before=" + first.JSON["next_before"].(string))
	const paid = `"issued_at":"2026-08-01T12:00:00.000Z","due_at":"2026-08-15T12:00:00.000Z","paid_at":"2026-08-01T12:00:00.000Z","status":"paid","currency":"USD","amount_minor":1200,"lines":[{"kind":"period","description":"pro, month","plan":"pro","period":"month","from":"2026-08-01T12:00:00.000Z","to":"2026-09-01T12:00:00.000Z","amount_minor":1200}]`
	if !strings.Contains(string(second.Body), paid) || second.JSON["next_before"] != nil {
		t.Errorf("%s", second.Body)
	}
	o.user.Do(t, http.MethodGet, "/billing/invoices?limit=0", "").Want(t, httpkit.InvalidParameter)
}

// TestBillingIsForItsOwnerOnly: another account sees nothing of it, nobody sees it without a credential, and a browser's session sees it.
func TestBillingIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	o := operator{t, s, s.NewUser(t)}
	o.subscribe("pro", account.Monthly)
	other := operator{t, s, s.NewUser(t)}
	o.ask("/billing/subscription")
	if body := string(other.ask("/billing/subscription").Body) + string(other.ask("/billing/invoices").Body); body != "null\n"+`{"invoices":[],"next_before":null}`+"\n" {
		t.Errorf("another account is told %q", body)
	}
	for _, path := range []string{"/billing/subscription", "/billing/invoices"} {
		s.Do(t, http.MethodGet, path, "").Want(t, httpkit.Unauthenticated)
		s.Do(t, http.MethodGet, path, "", "Authorization", "Bearer x").Want(t, httpkit.InvalidToken)
		a := s.Do(t, http.MethodGet, path, "", "Cookie", o.user.Cookie).OK(t)
		if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, a.Header)
		}
	}
}

// TestAPlanIsInForceWithItsSubscription: the next request has its limits.
func TestAPlanIsInForceWithItsSubscription(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	o := operator{t, s, s.NewUser(t)}
	limit := func() string { return o.user.Evaluate(t, "1+1").Header.Get("X-RateLimit-Limit") }
	if got := limit(); got != "20" {
		t.Errorf("free: %s", got)
	}
	o.subscribe("team", account.Yearly)
	if got := limit(); got != "600" {
		t.Errorf("team: %s", got)
	}
	s.Clock.Pass(21 * 24 * time.Hour)
	if err := commands.AdvanceSubscription(t.Context(), s.Store, account.DefaultPlans(), o.intent()); err != nil {
		t.Fatal(err)
	}
	if got := limit(); got != "20" {
		t.Errorf("unpaid: %s", got)
	}
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	parsed, err := event.ParseTimestamp(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
