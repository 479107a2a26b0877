package writeapi

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/oauth"
)

// NewOAuth returns the authorization server over the log and the identity tables.
func NewOAuth(store commands.Store, people *identity.Store, clock commands.Clock, build string) *oauth.Provider {
	return oauth.New(people, grants{store: store, clock: clock, build: build}, clock.Now, oauth.NewDocumentClient())
}

// grants is oauth.Grants over the log.
type grants struct {
	store commands.Store
	clock commands.Clock
	build string
}

// intent is what a request at one of the endpoints of OAuth wants for an account.
func (g grants) intent(ctx context.Context, account, actor string) commands.Intent {
	request := httpkit.RequestOf(ctx)
	return commands.Intent{
		ID: uuid.New(), At: g.clock.Now(), Account: account, Actor: actor, Source: event.SourceWeb,
		Agent: request.Agent, Traceparent: request.Traceparent, Build: g.build,
	}
}

// Approve is oauth.Grants.
func (g grants) Approve(ctx context.Context, approve grant.Approve) error {
	_, err := commands.ApproveGrant(ctx, g.store, g.intent(ctx, approve.Account, "session"), approve)
	return unavailable(err)
}

// Revoke is oauth.Grants.
func (g grants) Revoke(ctx context.Context, account, grantID string, reason grant.Reason) error {
	actor := "oauth"
	if reason == grant.ByPerson {
		actor = "session"
	}
	_, err := commands.RevokeGrant(ctx, g.store, g.intent(ctx, account, actor), grantID, reason)
	return unavailable(err)
}

// InForce is oauth.Grants.
func (g grants) InForce(ctx context.Context, grantID string) (bool, error) {
	state, err := commands.ReadGrant(ctx, g.store, grantID)
	if err != nil || !state.InForce() {
		return false, unavailable(err)
	}
	owner, err := commands.ReadAccount(ctx, g.store, state.Account)
	return owner.Exists && !owner.Closed, unavailable(err)
}

// EndConnections ends everything that the intent's account allowed to apps, as when it is closed. It may be repeated.
func EndConnections(ctx context.Context, store commands.Store, people *identity.Store, in commands.Intent, reason grant.Reason) error {
	connected, err := people.OAuthGrants(ctx, in.Account)
	if err != nil {
		return err
	}
	ids := make([]string, len(connected))
	for i, c := range connected {
		ids[i] = c.ID
	}
	if err := commands.EndGrants(ctx, store, in, ids, reason); err != nil {
		return err
	}
	var failed error
	for _, id := range ids {
		failed = errors.Join(failed, people.ForgetOAuthGrant(ctx, id))
	}
	return failed
}

// pageLimit is how long what a person has allowed, or an exchange of tokens, may take.
const pageLimit = 20 * time.Second
