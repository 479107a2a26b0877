package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/domain/event"
	"reckon/domain/keys"
	"reckon/domain/receipt"
)

// ErrNotForSale means that the catalogue has no price of a plan for a period.
var ErrNotForSale = errors.New("not for sale")

// ErrOtherQuote means that a quote is not for what is subscribed to.
var ErrOtherQuote = errors.New("the quote is for something else")

// SubscribeTo names the plan and period of a subscription, and a quote that keeps a price.
type SubscribeTo struct {
	Plan   string
	Period account.Period
	Quote  *receipt.Envelope // keeps a price; nil: the catalogue's
}

// Subscribe begins a subscription of the intent's account, or changes the one it has, and puts the plan in force. Doing it
// again changes nothing. It returns the account's billing and the position of its last event, ErrUnknownPlan, ErrNotForSale,
// ErrOtherQuote, account.ErrNotFound, account.ErrClosed, an error of billing.OpenQuote or of billing's decider, or one of Handle.
func Subscribe(ctx context.Context, store Store, plans account.Plans, in Intent, to SubscribeTo) (billing.State, event.Position, error) {
	none := billing.State{}
	if _, err := openAccount(ctx, store, in.Account); err != nil {
		return none, event.Position{}, err
	}
	price, quoteID, err := priceOf(ctx, store, plans, in, to)
	if err != nil {
		return none, event.Position{}, err
	}
	return handleSubscription(ctx, store, plans, in, billing.Subscribe{Account: in.Account, Plan: to.Plan, Price: price, QuoteID: quoteID, Plans: plans, Now: in.At})
}

// priceOf is the price that a quote keeps, with the quote's id, or the catalogue's.
func priceOf(ctx context.Context, store Store, plans account.Plans, in Intent, to SubscribeTo) (_ account.Price, quoteID string, err error) {
	plan, known := plans.Find(to.Plan)
	if !known {
		return account.Price{}, "", unknownPlan(plans, to.Plan)
	}
	price, sold := plan.PriceOf(to.Period)
	if to.Quote == nil {
		if !sold {
			return account.Price{}, "", fmt.Errorf("%s for a %s is %w", to.Plan, to.Period, ErrNotForSale)
		}
		return price, "", nil
	}
	history, err := store.Read(ctx, keys.Stream)
	if err != nil {
		return account.Price{}, "", &StreamError{Stream: keys.Stream, Cause: err}
	}
	quote, err := billing.OpenQuote(*to.Quote, keys.Decider.Fold(history.Domain()), in.At)
	switch {
	case err != nil:
		return account.Price{}, "", err
	case quote.Plan != to.Plan || quote.Period != to.Period:
		return account.Price{}, "", fmt.Errorf("%w: %s for a %s", ErrOtherQuote, quote.Plan, quote.Period)
	}
	return quote.Price(), to.Quote.ID, nil
}

func unknownPlan(plans account.Plans, name string) error {
	return fmt.Errorf("%w: %q; the catalogue has %s", ErrUnknownPlan, name, strings.Join(plans.Names(), ", "))
}

// AdvanceSubscription does what is due of the intent's account's subscription: it renews or ends it. Its errors are Handle's,
// and account.ErrNotFound.
func AdvanceSubscription(ctx context.Context, store Store, plans account.Plans, in Intent) error {
	_, _, err := handleSubscription(ctx, store, plans, in, billing.Advance{Account: in.Account, Plans: plans, Now: in.At})
	return err
}

// CancelSubscription lets the subscription of the intent's account end with its period. It returns the account's billing and the
// position of its last event, billing.ErrNoSubscription, or an error of Handle.
func CancelSubscription(ctx context.Context, store Store, plans account.Plans, in Intent) (billing.State, event.Position, error) {
	return handleSubscription(ctx, store, plans, in, billing.Cancel{Account: in.Account, Plans: plans, Now: in.At})
}

// handleSubscription is Handle for commands that may begin or end a subscription: the plan in force follows.
func handleSubscription(ctx context.Context, store Store, plans account.Plans, in Intent, command billing.Command) (billing.State, event.Position, error) {
	state, at, err := Handle(ctx, store, billing.Decider, billing.Stream(in.Account), in, command)
	if err != nil {
		return state, at, err
	}
	return state, at, FollowSubscription(ctx, store, plans, in)
}

// FollowSubscription puts the plan in force that the subscription of the intent's account gives it now: its own, or the first of
// the catalogue when there is none. Starts and ends are followed once: a plan that an operator gave since then stays.
// A subscription of a closed account ends. It finishes what another process began, and may be repeated.
// It returns account.ErrNotFound or an error of Handle.
func FollowSubscription(ctx context.Context, store Store, plans account.Plans, in Intent) error {
	state, err := ReadBilling(ctx, store, in.Account)
	if err != nil || state.Changes == 0 {
		return err
	}
	plan := plans[0].Name
	if state.Subscription.Live {
		plan = state.Subscription.Plan
	}
	_, _, err = Handle(ctx, store, account.Decider, account.Stream(in.Account), in.withNewID(),
		account.Command(account.FollowSubscription{Account: in.Account, Plan: plan, Change: state.Changes}))
	if errors.Is(err, account.ErrClosed) {
		_, _, err = Handle(ctx, store, billing.Decider, billing.Stream(in.Account), in.withNewID(), billing.Command(billing.Close{Account: in.Account, Now: in.At}))
	}
	return err
}

// IssueInvoice asks the intent's account for money that is no subscription's. The same reference is issued once. It returns
// the invoice, account.ErrNotFound, account.ErrClosed, an error of billing's decider, or one of Handle.
func IssueInvoice(ctx context.Context, store Store, in Intent, issue billing.Issue) (billing.Invoice, error) {
	if _, err := openAccount(ctx, store, in.Account); err != nil {
		return billing.Invoice{}, err
	}
	issue.Account, issue.Now = in.Account, in.At
	state, _, err := Handle(ctx, store, billing.Decider, billing.Stream(in.Account), in, billing.Command(issue))
	if err != nil {
		return billing.Invoice{}, err
	}
	invoice, _ := state.InvoiceOf(issue.Reference)
	return invoice, nil
}

// PayInvoice is the payment of an invoice of the intent's account, and puts the plan in force that it brings back. A payment that is
// told again changes nothing. It returns the invoice and the position of the account's last event in billing, an error of billing's
// decider, or one of Handle.
func PayInvoice(ctx context.Context, store Store, plans account.Plans, in Intent, pay billing.Pay) (billing.Invoice, event.Position, error) {
	pay.Account, pay.Now = in.Account, in.At
	return handleInvoice(ctx, store, plans, in, pay.InvoiceID, pay)
}

// VoidInvoice makes an open invoice of the intent's account void. Its results are PayInvoice's.
func VoidInvoice(ctx context.Context, store Store, plans account.Plans, in Intent, void billing.Void) (billing.Invoice, event.Position, error) {
	void.Account, void.Now = in.Account, in.At
	return handleInvoice(ctx, store, plans, in, void.InvoiceID, void)
}

func handleInvoice(ctx context.Context, store Store, plans account.Plans, in Intent, invoice string, command billing.Command) (billing.Invoice, event.Position, error) {
	state, at, err := handleSubscription(ctx, store, plans, in, command)
	if err != nil {
		return billing.Invoice{}, at, err
	}
	found, _ := state.Invoice(invoice)
	return found, at, nil
}

// ReadBilling is an account's subscription and invoices as its stream has them now. Its error is a StreamError.
func ReadBilling(ctx context.Context, store Store, accountID string) (billing.State, error) {
	return readState(ctx, store, billing.Decider, billing.Stream(accountID))
}

// openAccount is an account that is open. It returns account.ErrNotFound, account.ErrClosed, or a StreamError.
func openAccount(ctx context.Context, store Store, accountID string) (account.State, error) {
	state, err := ReadAccount(ctx, store, accountID)
	switch {
	case err != nil:
	case !state.Exists:
		err = account.ErrNotFound
	case state.Closed:
		err = account.ErrClosed
	}
	return state, err
}
