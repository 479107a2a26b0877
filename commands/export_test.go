package commands

import (
	"context"

	"reckon/domain/session"
)

// OwnSession is the session stage by itself, for a plan with room for any number of sessions.
func OwnSession(ctx context.Context, store Store, owners Owners, in Intent, open session.Open) (Ownership, error) {
	owned, err := ownSession(ctx, store, owners, in, open, func() error { return nil })
	return owned.Ownership, err
}
