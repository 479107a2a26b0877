package reactions_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/eventstore/memory"
	"reckon/test/wait"
)

// clock is moved by its test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// subscribed are accounts that are always proposed, as by a read model that is behind or wrong.
type subscribed []string

func (s subscribed) DueSubscriptions(_ context.Context, now time.Time, after billing.Due, limit int) (page []billing.Due, err error) {
	for _, id := range s {
		if id > after.Account && len(page) < limit {
			page = append(page, billing.Due{Account: id, At: now})
		}
	}
	return page, nil
}

// failing is a log that fails an append to some streams; the process lives on.
type failing struct {
	*memory.Store
	fails func(stream string) error
}

func (f failing) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if err := f.fails(stream); err != nil {
		return commands.Appended{}, err
	}
	return f.Store.Append(ctx, stream, at, events)
}

const accounts = 250 // more than a page

func subscribedAccounts(t *testing.T, log *memory.Store, at time.Time) (ids subscribed) {
	t.Helper()
	for i := range accounts {
		id := fmt.Sprintf("0198a1b2-0000-7000-8000-%012d", i)
		in := commands.Intent{ID: uuid.New(), At: at, Account: id}
		if _, err := commands.RegisterAccount(t.Context(), log, account.DefaultPlans(), in); err != nil {
			t.Fatal(err)
		}
		in.ID = uuid.New()
		state, _, err := commands.Subscribe(t.Context(), log, account.DefaultPlans(), in, commands.SubscribeTo{Plan: "pro", Period: account.Monthly})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // the others end when their grace is over
			in.ID = uuid.New()
			if _, _, err := commands.PayInvoice(t.Context(), log, account.DefaultPlans(), in, billing.Pay{InvoiceID: state.Invoices()[0].InvoiceID, AmountMinor: 1200, Currency: "USD", Method: billing.PaidOperator}); err != nil {
				t.Fatal(err)
			}
		}
		ids = append(ids, id)
	}
	return ids
}

func renewals(log commands.Store, ids subscribed, now *clock) *reactions.Renewals {
	return &reactions.Renewals{Store: log, Plans: account.DefaultPlans(), Due: ids, Clock: now, Logger: slog.New(slog.DiscardHandler), Build: "test"}
}

// counted returns how many events of each name the accounts' billing streams hold, and how many plans were changed.
func counted(t *testing.T, log *memory.Store, ids subscribed) map[string]int {
	t.Helper()
	names := map[string]int{}
	for _, id := range ids {
		for _, stream := range []string{billing.Stream(id), account.Stream(id)} {
			history, err := log.Read(t.Context(), stream)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range history.Domain() {
				names[e.EventName()]++
			}
		}
	}
	return names
}

// TestRenewalsOfSeveralProcesses: four processes look at the same time, again and again; everything is done once.
func TestRenewalsOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	log, start := memory.New(domain.Catalogue()), time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	ids := subscribedAccounts(t, log, start)
	now := &clock{start}
	look := func(at time.Time) {
		now.now = at
		var running sync.WaitGroup
		for range 4 {
			process := log.WithCatalogue(domain.Catalogue()) // with a queue and kept states of its own
			running.Go(func() {
				if looked, err := renewals(process, ids, now).Look(t.Context()); err != nil || looked != accounts {
					t.Errorf("%d looked at, %v", looked, err)
				}
			})
		}
		running.Wait()
	}
	want := func(renewed, ended, invoices, plans int) {
		t.Helper()
		got := counted(t, log, ids)
		if got["subscription.renewed"] != renewed || got["subscription.ended"] != ended || got["invoice.issued"] != invoices || got["account.plan_changed"] != plans {
			t.Errorf("%v", got)
		}
	}
	look(start.AddDate(0, 0, 20))
	want(0, 0, accounts, accounts)
	look(start.AddDate(0, 0, 21))
	want(0, accounts/2, accounts, accounts+accounts/2)
	look(time.Date(2027, 2, 28, 12, 0, 0, 0, time.UTC))
	want(accounts/2, accounts/2, accounts+accounts/2, accounts+accounts/2)
	look(time.Date(2027, 3, 21, 12, 0, 0, 0, time.UTC)) // of the renewals nothing was paid
	want(accounts/2, accounts, accounts+accounts/2, 2*accounts)
	look(time.Date(2028, 3, 21, 12, 0, 0, 0, time.UTC))
	want(accounts/2, accounts, accounts+accounts/2, 2*accounts)
}

// TestARenewalThatFailsHoldsUpNoOther: and is done by the next look. What was left between two appends, a reaction finishes.
func TestARenewalThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	log, start := memory.New(domain.Catalogue()), time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	ids := subscribedAccounts(t, log, start)
	broken := errors.New("broken")
	failed := 0
	store := failing{log, func(stream string) error {
		if stream == billing.Stream(ids[1]) || stream == account.Stream(ids[3]) {
			failed++
			return broken
		}
		return nil
	}}
	r := renewals(store, ids, &clock{start.AddDate(0, 0, 21)})
	if looked, err := r.Look(t.Context()); looked != accounts || !errors.Is(err, broken) || failed != 2 {
		t.Fatalf("%d, %v, %d failed", looked, err, failed)
	}
	if got := counted(t, log, ids); got["subscription.ended"] != accounts/2-1 || got["account.plan_changed"] != accounts+accounts/2-2 {
		t.Errorf("%v", got)
	}
	store.fails = func(string) error { return nil }
	r.Store = store
	if _, err := r.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, log, ids); got["subscription.ended"] != accounts/2 || got["account.plan_changed"] != accounts+accounts/2 {
		t.Errorf("%v", got)
	}
}

// TestRenewalsBeginAtOnce: what became due while no process ran does not wait for the first interval.
func TestRenewalsBeginAtOnce(t *testing.T) {
	t.Parallel()
	log, start := memory.New(domain.Catalogue()), time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	ids := subscribedAccounts(t, log, start)[:1]
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- renewals(log, ids, &clock{start.AddDate(0, 1, 0)}).Run(ctx) }()
	wait.Until(t, "the subscription is renewed", func() bool { return counted(t, log, ids)["subscription.renewed"] > 0 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
