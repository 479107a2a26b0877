package oauth

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/ory/fosite"

	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/identity"
)

// storage is fosite's, over the identity tables. A request's id is its grant's, so that what belongs to one consent is revoked together.
type storage struct{ *Provider }

// exchange is what a request at the token endpoint has come to know of the secret that it was sent with.
type exchange struct {
	account, grantID string
	narrower         *scope.Set // that the client asks for the access token, of the refresh token's; nil: all of them
}

type exchangeKey struct{}

// reasonKey is the key of a context's grant.Reason, with which a grant is revoked.
type reasonKey struct{}

// GetClient is fosite.ClientManager.
func (s *storage) GetClient(ctx context.Context, id string) (fosite.Client, error) {
	if client, ok := ctx.Value(clientOfDocument{}).(identity.OAuthClient); ok && client.ID == id {
		return fositeClient(client), nil
	}
	client, err := s.store.OAuthClient(ctx, id)
	if errors.Is(err, identity.ErrNoOAuthClient) {
		return nil, fosite.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return fositeClient(client), nil
}

func fositeClient(c identity.OAuthClient) fosite.Client {
	return &fosite.DefaultClient{
		ID: c.ID, RedirectURIs: c.RedirectURIs, GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		Scopes: c.Scopes.Names(), Public: true,
	}
}

// ClientAssertionJWTValid and SetClientAssertionJWT are fosite.ClientManager: clients have no assertions.
func (s *storage) ClientAssertionJWTValid(context.Context, string) error {
	return fosite.ErrInvalidClient
}

// SetClientAssertionJWT is fosite.ClientManager.
func (s *storage) SetClientAssertionJWT(context.Context, string, time.Time) error {
	return fosite.ErrInvalidClient
}

// BeginTX, Commit and Rollback are storage.Transactional.
func (s *storage) BeginTX(ctx context.Context) (context.Context, error) {
	return s.store.BeginOAuth(ctx)
}

// Commit is storage.Transactional.
func (s *storage) Commit(ctx context.Context) error { return s.store.CommitOAuth(ctx) }

// Rollback is storage.Transactional.
func (s *storage) Rollback(ctx context.Context) error { return s.store.RollbackOAuth(ctx) }

// keep stores a secret for a request.
func (s *storage) keep(ctx context.Context, kind identity.SecretKind, hash string, life time.Duration, r fosite.Requester) error {
	form := r.GetRequestForm()
	secret := identity.OAuthSecret{
		Hash: hash, Kind: kind, GrantID: r.GetID(), Account: r.GetSession().GetSubject(), ClientID: r.GetClient().GetID(),
		Scopes: scope.Known(r.GetGrantedScopes()), ExpiresAt: s.now().Add(life),
	}
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok && e.narrower != nil && kind == identity.AccessToken {
		secret.Scopes = *e.narrower
	}
	for _, audience := range r.GetGrantedAudience() {
		secret.Resource = access.Resource(audience)
	}
	if kind == identity.AuthorizationCode {
		secret.RedirectURI, secret.Challenge = form.Get("redirect_uri"), form.Get("code_challenge")
	}
	return s.store.AddOAuthSecret(ctx, secret)
}

// find returns the request that a secret was made for, used or not. It is fosite.ErrNotFound where there is none, or its grant
// is not in force any more.
func (s *storage) find(ctx context.Context, kind identity.SecretKind, hash string) (_ fosite.Requester, used bool, err error) {
	secret, err := s.store.OAuthSecretOf(ctx, kind, hash)
	if errors.Is(err, identity.ErrNoOAuthSecret) {
		return nil, false, fosite.ErrNotFound
	}
	if err != nil {
		return nil, false, err
	}
	inForce, err := s.grants.InForce(ctx, secret.GrantID)
	if err != nil {
		return nil, false, err
	}
	if !inForce {
		return nil, false, fosite.ErrNotFound
	}
	client, err := s.GetClient(ctx, secret.ClientID)
	if err != nil {
		return nil, false, err
	}
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		e.account, e.grantID = secret.Account, secret.GrantID
	}
	r := fosite.NewRequest()
	r.ID, r.Client, r.Session = secret.GrantID, client, &fosite.DefaultSession{Subject: secret.Account}
	r.RequestedScope, r.GrantedScope = secret.Scopes.Names(), secret.Scopes.Names()
	r.RequestedAudience, r.GrantedAudience = fosite.Arguments{string(secret.Resource)}, fosite.Arguments{string(secret.Resource)}
	r.Form = url.Values{}
	if kind == identity.AuthorizationCode {
		r.Form.Set("redirect_uri", secret.RedirectURI)
		r.Form.Set("code_challenge", secret.Challenge)
		r.Form.Set("code_challenge_method", "S256")
	}
	return r, secret.Used, nil
}

// CreateAuthorizeCodeSession is oauth2.AuthorizeCodeStorage.
func (s *storage) CreateAuthorizeCodeSession(ctx context.Context, hash string, r fosite.Requester) error {
	return s.keep(ctx, identity.AuthorizationCode, hash, CodeLife, r)
}

// GetAuthorizeCodeSession is oauth2.AuthorizeCodeStorage.
func (s *storage) GetAuthorizeCodeSession(ctx context.Context, hash string, _ fosite.Session) (fosite.Requester, error) {
	r, used, err := s.find(ctx, identity.AuthorizationCode, hash)
	if err == nil && used {
		err = fosite.ErrInvalidatedAuthorizeCode
	}
	return r, err
}

// InvalidateAuthorizeCodeSession is oauth2.AuthorizeCodeStorage.
func (s *storage) InvalidateAuthorizeCodeSession(ctx context.Context, hash string) error {
	return s.store.UseOAuthSecret(ctx, identity.AuthorizationCode, hash)
}

// CreatePKCERequestSession is pkce.PKCERequestStorage: the challenge is in the code's own row.
func (s *storage) CreatePKCERequestSession(context.Context, string, fosite.Requester) error {
	return nil
}

// GetPKCERequestSession is pkce.PKCERequestStorage.
func (s *storage) GetPKCERequestSession(ctx context.Context, hash string, _ fosite.Session) (fosite.Requester, error) {
	r, _, err := s.find(ctx, identity.AuthorizationCode, hash)
	return r, err
}

// DeletePKCERequestSession is pkce.PKCERequestStorage: the code is used once, and its challenge with it.
func (s *storage) DeletePKCERequestSession(context.Context, string) error { return nil }

// CreateAccessTokenSession is oauth2.AccessTokenStorage.
func (s *storage) CreateAccessTokenSession(ctx context.Context, hash string, r fosite.Requester) error {
	return s.keep(ctx, identity.AccessToken, hash, AccessLife, r)
}

// GetAccessTokenSession is oauth2.AccessTokenStorage.
func (s *storage) GetAccessTokenSession(ctx context.Context, hash string, _ fosite.Session) (fosite.Requester, error) {
	r, _, err := s.find(ctx, identity.AccessToken, hash)
	return r, err
}

// DeleteAccessTokenSession is oauth2.AccessTokenStorage: access tokens go with their grant.
func (s *storage) DeleteAccessTokenSession(context.Context, string) error { return nil }

// CreateRefreshTokenSession is oauth2.RefreshTokenStorage.
func (s *storage) CreateRefreshTokenSession(ctx context.Context, hash, _ string, r fosite.Requester) error {
	return s.keep(ctx, identity.RefreshToken, hash, RefreshLife, r)
}

// GetRefreshTokenSession is oauth2.RefreshTokenStorage.
func (s *storage) GetRefreshTokenSession(ctx context.Context, hash string, _ fosite.Session) (fosite.Requester, error) {
	r, used, err := s.find(ctx, identity.RefreshToken, hash)
	if err == nil && used {
		err = fosite.ErrInactiveToken
	}
	return r, err
}

// DeleteRefreshTokenSession is oauth2.RefreshTokenStorage: refresh tokens go with their grant.
func (s *storage) DeleteRefreshTokenSession(context.Context, string) error { return nil }

// RotateRefreshToken is oauth2.RefreshTokenStorage. The access tokens of the grant stay valid until they expire: a client may
// have requests under way with the last one.
func (s *storage) RotateRefreshToken(ctx context.Context, _, hash string) error {
	return s.store.UseOAuthSecret(ctx, identity.RefreshToken, hash)
}

// RevokeRefreshToken is oauth2.TokenRevocationStorage: it ends the whole grant.
func (s *storage) RevokeRefreshToken(ctx context.Context, grantID string) error {
	return s.revoke(ctx, grantID)
}

// RevokeAccessToken is oauth2.TokenRevocationStorage: it ends the whole grant.
func (s *storage) RevokeAccessToken(ctx context.Context, grantID string) error {
	return s.revoke(ctx, grantID)
}

// revoke ends the grant of this exchange in the log, and then removes its rows.
func (s *storage) revoke(ctx context.Context, grantID string) error {
	e, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok || e.grantID != grantID {
		return fosite.ErrNotFound
	}
	reason, _ := ctx.Value(reasonKey{}).(grant.Reason)
	if err := s.grants.Revoke(ctx, e.account, grantID, reason); err != nil {
		return err
	}
	return s.store.ForgetOAuthGrant(ctx, grantID)
}
