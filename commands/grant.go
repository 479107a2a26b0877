package commands

import (
	"context"
	"errors"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/grant"
)

// ReadGrant is a grant as its stream has it now; one that was never approved has
// State.Exists false. Its error is a StreamError.
func ReadGrant(ctx context.Context, store Store, grantID string) (grant.State, error) {
	return readState(ctx, store, grant.Decider, grant.Stream(grantID))
}

// ApproveGrant lets an OAuth client act for the intent's account, which must be open. It returns the position
// of the grant's last event, account.ErrNotFound, account.ErrClosed, an error of the grant's decider, or of Handle.
func ApproveGrant(ctx context.Context, store Store, in Intent, approve grant.Approve) (event.Position, error) {
	owner, err := ReadAccount(ctx, store, in.Account)
	switch {
	case err != nil:
		return event.Position{}, err
	case !owner.Exists:
		return event.Position{}, account.ErrNotFound
	case owner.Closed:
		return event.Position{}, account.ErrClosed
	}
	approve.Account = in.Account
	_, at, err := Handle(ctx, store, grant.Decider, grant.Stream(approve.GrantID), in, grant.Command(approve))
	return at, err
}

// RevokeGrant ends a grant of the intent's account: its tokens authenticate nothing from now on, in any process. It
// returns the position of the grant's last event, grant.ErrNotFound, or an error of Handle.
func RevokeGrant(ctx context.Context, store Store, in Intent, grantID string, reason grant.Reason) (event.Position, error) {
	_, at, err := Handle(ctx, store, grant.Decider, grant.Stream(grantID), in,
		grant.Command(grant.Revoke{GrantID: grantID, Account: in.Account, Reason: reason}))
	return at, err
}

// EndGrants ends all grants of the intent's account that grantIDs names, as when the account is closed. It may be
// repeated; a grant that was never approved, or is another account's, is left alone. Its error is that of the first
// grant that could not be ended.
func EndGrants(ctx context.Context, store Store, in Intent, grantIDs []string, reason grant.Reason) error {
	for _, id := range grantIDs {
		if _, err := RevokeGrant(ctx, store, in.withNewID(), id, reason); err != nil && !errors.Is(err, grant.ErrNotFound) {
			return err
		}
	}
	return nil
}
