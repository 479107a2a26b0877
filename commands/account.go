package commands

import (
	"context"
	"errors"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/token"
)

// RegisterAccount opens an account on the first plan of the catalogue. It may
// be repeated: an account registered twice is registered once.
func RegisterAccount(ctx context.Context, store Store, plans account.Plans, in Intent) (event.Position, error) {
	_, at, err := Handle(ctx, store, account.Decider, account.Stream(in.Account), in,
		account.Command(account.Register{Account: in.Account, Plan: plans[0].Name}))
	return at, err
}

// ErrNoPlan means that the catalogue has no plan of that name.
var ErrNoPlan = errors.New("no such plan")

// ChangePlan puts another plan in force.
func ChangePlan(ctx context.Context, store Store, plans account.Plans, in Intent, plan string) (event.Position, error) {
	if _, known := plans.Find(plan); !known {
		return event.Position{}, ErrNoPlan
	}
	_, at, err := Handle(ctx, store, account.Decider, account.Stream(in.Account), in,
		account.Command(account.ChangePlan{Account: in.Account, Plan: plan}))
	return at, err
}

// CloseAccount ends an account.
func CloseAccount(ctx context.Context, store Store, in Intent) (event.Position, error) {
	_, at, err := Handle(ctx, store, account.Decider, account.Stream(in.Account), in,
		account.Command(account.Close{Account: in.Account}))
	return at, err
}

// PlanOf is the plan in force for an account, from its stream. A plan that has
// left the catalogue is served as the first one.
func PlanOf(ctx context.Context, store Store, plans account.Plans, accountID string) (account.Plan, error) {
	history, err := store.Read(ctx, account.Stream(accountID))
	if err != nil {
		return account.Plan{}, err
	}
	state := account.Decider.Fold(history.Domain())
	switch {
	case !state.Exists:
		return account.Plan{}, account.ErrNone
	case state.Closed:
		return account.Plan{}, account.ErrClosed
	}
	return plans.InForce(state.Plan), nil
}

// MintToken makes a token valid; the caller made the secret and keeps it.
func MintToken(ctx context.Context, store Store, in Intent, tokenID, name, last4 string, expiresAt time.Time) (event.Position, error) {
	_, at, err := Handle(ctx, store, token.Decider, token.Stream(tokenID), in,
		token.Command(token.Mint{TokenID: tokenID, Account: in.Account, Name: name, Last4: last4, ExpiresAt: expiresAt}))
	return at, err
}

// RevokeToken ends a token of the intent's account.
func RevokeToken(ctx context.Context, store Store, in Intent, tokenID string) (event.Position, error) {
	_, at, err := Handle(ctx, store, token.Decider, token.Stream(tokenID), in,
		token.Command(token.Revoke{TokenID: tokenID, Account: in.Account}))
	return at, err
}
