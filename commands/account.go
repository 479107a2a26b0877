package commands

import (
	"context"
	"errors"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/domain/token"
)

// RegisterAccount opens the intent's account on the first plan of the catalogue,
// and returns the position of the account's last event. It may be repeated: an
// account that exists stays as it is. Its errors are Handle's.
func RegisterAccount(ctx context.Context, store Store, plans account.Plans, in Intent) (event.Position, error) {
	_, at, err := Handle(ctx, store, account.Decider, account.Stream(in.Account), in,
		account.Command(account.Register{Account: in.Account, Plan: plans[0].Name}))
	return at, err
}

// ErrUnknownPlan means that the catalogue has no plan of that name.
var ErrUnknownPlan = errors.New("no such plan")

// ErrSubscribed means that an account's plan is that of its subscription.
var ErrSubscribed = errors.New("the account has a subscription, and its plan is that of the subscription: subscribe it to another plan, or cancel the subscription")

// ChangePlan puts another plan in force for the intent's account, and returns the
// position of the account's last event. The plan of an account with a subscription is the subscription's. It returns
// ErrUnknownPlan, ErrSubscribed, account.ErrNotFound, account.ErrClosed, or an error of Handle.
func ChangePlan(ctx context.Context, store Store, plans account.Plans, in Intent, plan string) (event.Position, error) {
	if _, known := plans.Find(plan); !known {
		return event.Position{}, unknownPlan(plans, plan)
	}
	switch owed, err := ReadBilling(ctx, store, in.Account); {
	case err != nil:
		return event.Position{}, err
	case owed.Subscription.Live:
		return event.Position{}, ErrSubscribed
	}
	_, at, err := Handle(ctx, store, account.Decider, account.Stream(in.Account), in,
		account.Command(account.ChangePlan{Account: in.Account, Plan: plan}))
	return at, err
}

// PlanOf is the plan in force for an account, from its stream. For a plan that is
// no longer in the catalogue it answers the catalogue's first. It returns
// account.ErrNotFound, account.ErrClosed, or a StreamError.
func PlanOf(ctx context.Context, store Store, plans account.Plans, accountID string) (account.Plan, error) {
	state, err := openAccount(ctx, store, accountID)
	if err != nil {
		return account.Plan{}, err
	}
	return plans.InForce(state.Plan), nil
}

// ReadAccount is an account as its stream has it now; one that was never registered has
// State.Exists false. Its error is a StreamError.
func ReadAccount(ctx context.Context, store Store, accountID string) (account.State, error) {
	return readState(ctx, store, account.Decider, account.Stream(accountID))
}

// ReadToken is a token as its stream has it now; one that was never minted has
// State.Exists false. Its error is a StreamError.
func ReadToken(ctx context.Context, store Store, tokenID string) (token.State, error) {
	return readState(ctx, store, token.Decider, token.Stream(tokenID))
}

// MintToken makes an API token of the intent's account valid until expiresAt (zero:
// for ever), for these scopes (none: for everything that the account may do). tokenID is the SHA-256 of the secret, which the caller made and the
// log never sees; last4 its last four characters. It returns the position of the
// token's last event, or an error of the token's decider or of Handle.
func MintToken(ctx context.Context, store Store, in Intent, tokenID, name, last4 string, scopes scope.Set, expiresAt time.Time) (event.Position, error) {
	_, at, err := Handle(ctx, store, token.Decider, token.Stream(tokenID), in,
		token.Command(token.Mint{TokenID: tokenID, Account: in.Account, Name: name, Last4: last4, Scopes: scopes, ExpiresAt: expiresAt}))
	return at, err
}

// RevokeToken ends a token of the intent's account; it authenticates nothing from
// now on. It returns the position of the token's last event, token.ErrNotFound when
// the account has no such token, or an error of Handle.
func RevokeToken(ctx context.Context, store Store, in Intent, tokenID string) (event.Position, error) {
	_, at, err := Handle(ctx, store, token.Decider, token.Stream(tokenID), in,
		token.Command(token.Revoke{TokenID: tokenID, Account: in.Account}))
	return at, err
}
