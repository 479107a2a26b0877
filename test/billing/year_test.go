// Package billing_test has many accounts live through a year of subscriptions, on the real commands, reactions and read models.
package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/commands"
	"reckon/commands/reactions"
	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/eventstore/memory"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
	"reckon/test/sweep"
)

// days is how long a year of the test is: beyond 365 the invoices of the last renewals are paid.
const days = 365 + 30

// start has subscriptions on all days of months up to the 31st.
var start = time.Date(2027, 1, 31, 9, 0, 0, 0, time.UTC)

// habit is what one account does in the year.
type habit struct {
	id      string
	actions map[int][]string // by day: "pro month", "cancel", "close", "void"
	paysIn  int              // days after the issue; -1: never
	stops   int              // day from which it pays no more
}

// habits are the same for the same number of accounts.
func habits(n int) []habit {
	random := rand.New(rand.NewPCG(7, 11))
	all := make([]habit, n)
	offers := []string{"pro month", "pro month", "pro month", "pro year", "team month", "team year"}
	for i := range all {
		h := habit{id: fmt.Sprintf("0198a1b2-0000-7000-8000-%012d", i), actions: map[int][]string{}, paysIn: random.IntN(14), stops: days}
		first := random.IntN(200)
		do := func(day int, action string) { h.actions[day] = append(h.actions[day], action) }
		do(first, offers[random.IntN(len(offers))])
		switch i % 10 {
		case 0, 1, 2: // subscribes and pays
		case 3: // pays late, in the grace
			h.paysIn = 15 + random.IntN(5)
		case 4: // never pays, or when its subscription has ended
			if h.paysIn = -1; i%20 == 4 {
				h.paysIn = 22 + random.IntN(40)
			}
		case 5: // stops paying, and comes back
			h.stops = first + random.IntN(100)
			do(first+150, offers[random.IntN(len(offers))])
		case 6: // changes its mind
			for range 3 {
				do(first+random.IntN(150), offers[random.IntN(len(offers))])
			}
		case 7:
			do(first+random.IntN(100), "cancel")
			do(first+100+random.IntN(60), offers[random.IntN(len(offers))])
		case 8:
			do(first+random.IntN(150), "close")
		case 9:
			do(first+1, "void")
			do(first+random.IntN(90), offers[random.IntN(len(offers))])
		}
		all[i] = h
	}
	return all
}

// errCrash is a process that died: before an append, or after it and before it knew.
var errCrash = errors.New("the process died")

// crashing is the log of a process that dies now and then.
type crashing struct {
	*memory.Store
	random *rand.Rand
	odds   int  // one append in so many; 0: never
	died   *int // how many times it did
}

func (c crashing) Append(ctx context.Context, stream string, at event.Revision, events []event.Proposed) (commands.Appended, error) {
	if c.odds == 0 || c.random.IntN(c.odds) > 0 {
		return c.Store.Append(ctx, stream, at, events)
	}
	*c.died++
	if c.random.IntN(2) == 0 {
		return commands.Appended{}, errCrash
	}
	if appended, err := c.Store.Append(ctx, stream, at, events); err != nil {
		return appended, err
	}
	return commands.Appended{}, errCrash
}

// year is one run of the year.
type year struct {
	t        *testing.T
	log      *memory.Store
	store    crashing
	db       *bun.DB
	models   *projections.ReadModels
	random   *rand.Rand // of the order of accounts, and of crashes
	now      time.Time
	applied  event.Position
	payments map[int][]billing.Issued // by day
	events   map[string]int           // by name
	plans    account.Plans
}

func (y *year) Now() time.Time { return y.now }

func (y *year) read() []engine.Projection {
	return []engine.Projection{y.models.Subscriptions.Projection(), y.models.Invoices.Projection()}
}

// live runs the year. The order of accounts within a day, and where processes die, are the seed's.
func live(t *testing.T, all []habit, seed uint64, crashOdds int) *year {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	log := memory.New(domain.Catalogue())
	y := &year{
		t: t, log: log, store: crashing{log, random, crashOdds, new(int)}, db: projectiontest.Open(t, projections.Open, projectiontest.SQLite(t)), random: random, now: start,
		payments: map[int][]billing.Issued{}, events: map[string]int{}, plans: account.DefaultPlans(),
	}
	y.models = projections.New(y.db, nil)
	for _, p := range y.read() {
		if err := p.Create(t.Context(), y.db); err != nil {
			t.Fatal(err)
		}
	}
	byID := map[string]habit{}
	for _, h := range all {
		byID[h.id] = h
		y.must(h.id, func(in commands.Intent) error {
			_, err := commands.RegisterAccount(t.Context(), y.store, y.plans, in)
			return err
		})
	}
	order := slices.Clone(all)
	for day := range days {
		y.now = start.AddDate(0, 0, day)
		random.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		y.renew()
		y.project(day, byID)
		for _, invoice := range y.payments[day] {
			y.pay(invoice)
		}
		for _, h := range order {
			for _, action := range h.actions[day] {
				y.act(h.id, action)
			}
		}
		y.project(day, byID)
	}
	return y
}

// must repeats a command, as its caller or a reaction does, until no process dies in it.
func (y *year) must(accountID string, f func(commands.Intent) error) {
	y.t.Helper()
	for range 100 {
		err := f(commands.Intent{ID: uuid.New(), At: y.now, Account: accountID})
		if err == nil {
			return
		}
		if !errors.Is(err, errCrash) {
			y.t.Fatalf("%s on %s: %v", accountID, y.now, err)
		}
	}
	y.t.Fatal("every process dies")
}

// refusals are what an account may be told: it owes something, is closed, or has nothing to cancel.
var refusals = []error{billing.ErrUnpaid, account.ErrClosed, billing.ErrNoSubscription, billing.ErrAlreadyPaid, billing.ErrVoided}

func (y *year) act(accountID, action string) {
	y.t.Helper()
	ctx := y.t.Context()
	y.must(accountID, func(in commands.Intent) (err error) {
		switch action {
		case "cancel":
			_, _, err = commands.CancelSubscription(ctx, y.store, y.plans, in)
		case "close":
			if _, err = commands.CloseAccount(ctx, y.store, in); err == nil || errors.Is(err, account.ErrClosed) {
				err = commands.FollowSubscription(ctx, y.store, y.plans, in) // the reaction
			}
		case "void":
			_, _, err = commands.VoidInvoice(ctx, y.store, y.plans, in, billing.Void{InvoiceID: billing.InvoiceNumber(accountID, 1)})
		default:
			plan, period, _ := strings.Cut(action, " ")
			_, _, err = commands.Subscribe(ctx, y.store, y.plans, in, commands.SubscribeTo{Plan: plan, Period: account.Period(period)})
		}
		if slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) }) {
			return nil
		}
		return err
	})
}

func (y *year) pay(invoice billing.Issued) {
	y.t.Helper()
	y.must(invoice.Account, func(in commands.Intent) error {
		_, _, err := commands.PayInvoice(y.t.Context(), y.store, y.plans, in, billing.Pay{
			InvoiceID: invoice.InvoiceID, AmountMinor: invoice.AmountMinor, Currency: invoice.Currency, Method: billing.PaidProvider, PaymentID: "evt " + invoice.InvoiceID,
		})
		if errors.Is(err, billing.ErrVoided) || errors.Is(err, billing.ErrAlreadyPaid) { // by credit
			return nil
		}
		return err
	})
}

// renew has two processes look at what is due, until no process died in it.
func (y *year) renew() {
	y.t.Helper()
	for range 2 {
		process := crashing{y.log.WithCatalogue(domain.Catalogue()), y.random, y.store.odds, y.store.died}
		r := reactions.Renewals{Store: process, Plans: y.plans, Due: y.models.Subscriptions, Clock: y, Logger: slog.New(slog.DiscardHandler), Build: "test"}
		y.must("", func(commands.Intent) error { _, err := r.Look(y.t.Context()); return err })
	}
}

// project applies what the log has gained, and notes when who pays.
func (y *year) project(day int, byID map[string]habit) {
	y.t.Helper()
	err := engine.InTx(y.t.Context(), y.db, func(ctx context.Context, tx *engine.Tx) error {
		for r, err := range y.log.ReadAll(ctx, y.applied) {
			if err != nil {
				return err
			}
			for _, p := range y.read() {
				if err := p.Apply(ctx, tx, r); err != nil {
					return err
				}
			}
			y.applied = r.Position
			y.events[r.Event.EventName()]++
			if e, is := r.Event.(billing.Issued); is {
				if h := byID[e.Account]; h.paysIn >= 0 && day < h.stops {
					y.payments[max(day+h.paysIn, day+1)] = append(y.payments[max(day+h.paysIn, day+1)], e)
				}
			}
		}
		return nil
	})
	if err != nil {
		y.t.Fatal(err)
	}
}

// books are the invoices of every account as the log has them: by id, all that an invoice says, and its status.
func (y *year) books(all []habit) map[string]string {
	y.t.Helper()
	books := map[string]string{}
	for _, h := range all {
		history, err := y.log.Read(y.t.Context(), billing.Stream(h.id))
		if err != nil {
			y.t.Fatal(err)
		}
		for i, invoice := range billing.Decider.Fold(history.Domain()).Invoices() {
			if invoice.Number != billing.InvoiceNumber(h.id, i+1) {
				y.t.Fatalf("%s is invoice %d of %s", invoice.Number, i+1, h.id)
			}
			written, err := json.Marshal(invoice.Issued)
			if err != nil {
				y.t.Fatal(err)
			}
			books[invoice.InvoiceID] = string(invoice.Status) + string(written)
		}
	}
	return books
}

// rows are the same as the read model has them.
func (y *year) rows(all []habit) map[string]string {
	y.t.Helper()
	rows := map[string]string{}
	for _, h := range all {
		list, _, err := y.models.Invoices.List(y.t.Context(), h.id, projections.Page{Limit: projections.MaxLimit})
		if err != nil {
			y.t.Fatal(err)
		}
		for _, row := range list {
			rows[row.InvoiceID] = fmt.Sprint(row.Status, row.Number, row.AmountMinor, row.Currency, row.Lines, row.IssuedAt, row.DueAt)
		}
	}
	return rows
}

// TestAYearOfSubscriptions: a year of 1,000 accounts, twice, in other orders and with processes that die at one append in fifty, gives the
// same invoices to the cent; so do the read models, live, and built again from the log with every event applied twice.
func TestAYearOfSubscriptions(t *testing.T) {
	n := sweep.Size(t, "RECKON_SUBSCRIPTIONS", 200, 1000)
	all := habits(n)
	calm, stormy := live(t, all, 1, 0), live(t, all, 2, 50)
	if died := *stormy.store.died; died < n/10 {
		t.Errorf("only %d processes died", died)
	}
	books := calm.books(all)
	if other := stormy.books(all); !maps.Equal(books, other) {
		for id, written := range books {
			if other[id] != written {
				t.Errorf("%s\n%s", written, other[id])
				break
			}
		}
		t.Fatalf("%d and %d invoices, not the same", len(books), len(other))
	}
	if !maps.Equal(calm.rows(all), stormy.rows(all)) {
		t.Error("the read models of both years differ")
	}
	for _, y := range []*year{calm, stormy} {
		y.rebuildTwice(all)
	}
	calm.expect(all, len(books))
	t.Logf("%d accounts, %d invoices, %d processes died; %v", n, len(books), *stormy.store.died, calm.events)
}

// rebuildTwice builds the read models again, each event applied twice, and wants the rows that they had.
func (y *year) rebuildTwice(all []habit) {
	y.t.Helper()
	rows, dump := y.rows(all), projectiontest.Dump(y.t, y.db, y.read()...)
	books := y.books(all)
	if len(rows) != len(books) {
		y.t.Errorf("%d rows of %d invoices", len(rows), len(books))
	}
	again := projectiontest.Open(y.t, projections.Open, projectiontest.SQLite(y.t))
	models := projections.New(again, nil)
	both := []engine.Projection{models.Subscriptions.Projection(), models.Invoices.Projection()}
	for _, p := range both {
		if err := p.Create(y.t.Context(), again); err != nil {
			y.t.Fatal(err)
		}
	}
	err := engine.InTx(y.t.Context(), again, func(ctx context.Context, tx *engine.Tx) error {
		for r, err := range y.log.ReadAll(ctx, event.Position{}) {
			if err != nil {
				return err
			}
			for _, p := range both {
				if err := errors.Join(p.Apply(ctx, tx, r), p.Apply(ctx, tx, r)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		y.t.Fatal(err)
	}
	if projectiontest.Dump(y.t, again, both...) != dump {
		y.t.Error("the read models that were built again have other rows")
	}
}

// expect compares with what is counted without deciders: who subscribes once and pays has an invoice for each month or year that
// began, of the price of the catalogue, all paid but those that are too young.
func (y *year) expect(all []habit, invoices int) {
	y.t.Helper()
	plain := 0
	end := start.AddDate(0, 0, days-1)
	for i, h := range all {
		if i%10 > 3 {
			continue
		}
		plain++
		for day, actions := range h.actions {
			plan, period, _ := strings.Cut(actions[0], " ")
			of, _ := y.plans.Find(plan)
			price, _ := of.PriceOf(account.Period(period))
			began := start.AddDate(0, 0, day)
			want := int64(0)
			for month := 0; ; month++ {
				first := time.Date(began.Year(), began.Month()+time.Month(month), 1, 9, 0, 0, 0, time.UTC)
				next := first.AddDate(0, 0, min(began.Day(), first.AddDate(0, 1, -1).Day())-1)
				if next.After(end) {
					break
				}
				if period == "month" || month%12 == 0 {
					want += price.AmountMinor
				}
			}
			got := int64(0)
			list, _, err := y.models.Invoices.List(y.t.Context(), h.id, projections.Page{Limit: projections.MaxLimit})
			if err != nil {
				y.t.Fatal(err)
			}
			for _, row := range list {
				issued, err := event.ParseTimestamp(row.IssuedAt)
				if err != nil {
					y.t.Fatal(err)
				}
				got += row.AmountMinor
				if old := issued.AddDate(0, 0, 21).Before(end); old && row.Status != billing.InvoicePaid {
					y.t.Errorf("%s of %s is %s", row.Number, row.IssuedAt, row.Status)
				}
			}
			if got != want {
				y.t.Errorf("%s, %s from %s: asked for %d, want %d", h.id, actions[0], began, got, want)
			}
		}
	}
	if plain != 4*len(all)/10 || invoices < 3*len(all) {
		y.t.Errorf("%d plain accounts, %d invoices of %d accounts", plain, invoices, len(all))
	}
	for _, name := range []string{"subscription.renewed", "subscription.cancelled", "subscription.ended", "subscription.settled", "invoice.voided", "account.closed"} {
		if y.events[name] < len(all)/20 {
			y.t.Errorf("only %d %s", y.events[name], name)
		}
	}
}
