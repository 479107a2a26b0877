package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/internal/auth"
	"reckon/internal/identity"
)

// MaxFormBytes is the longest body of a request with a form.
const MaxFormBytes = 16 << 10

// forms are how the secrets of each kind are written.
var forms = map[identity.SecretKind]auth.Form{
	identity.AuthorizationCode: auth.AuthorizationCode, identity.AccessToken: auth.AccessTokenForm, identity.RefreshToken: auth.RefreshTokenForm,
}

// grantType is what is exchanged: a secret in a parameter of its own, and the parameters that must come with it (RFC 6749 §4.1.3 and §6,
// RFC 7636 §4.5).
type grantType struct {
	kind      identity.SecretKind
	parameter string
	needed    []string
}

var grantTypes = map[string]grantType{
	"authorization_code": {identity.AuthorizationCode, "code", []string{"code", "redirect_uri", "code_verifier"}},
	"refresh_token":      {identity.RefreshToken, "refresh_token", []string{"refresh_token"}},
}

// verifiers are PKCE's (RFC 7636 §4.1).
var verifiers = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// require returns the *Failure of a form that lacks a parameter; one without a value counts as omitted (RFC 6749 §3.2).
func require(form url.Values, names ...string) error {
	for _, name := range names {
		if form.Get(name) == "" {
			return invalidRequest(name + " is missing")
		}
	}
	return nil
}

// Tokens is the answer of the token endpoint (RFC 6749 §5.1).
type Tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// Token exchanges a code or a refresh token, once: whoever comes second ends the grant (RFC 9700 §4.14.2). body is the form;
// authorization the request's header, which must be empty. Its error is a *Failure, or one of our own parts.
func (p *Provider) Token(ctx context.Context, issuer, authorization, body string) (Tokens, error) {
	form, err := parseOnce(body)
	if err != nil {
		return Tokens{}, err
	}
	exchanged, known := grantTypes[form.Get("grant_type")]
	switch {
	case form.Get("grant_type") == "":
		return Tokens{}, invalidRequest("grant_type is missing; it is authorization_code or refresh_token")
	case !known:
		return Tokens{}, &Failure{Status: http.StatusBadRequest, Code: "unsupported_grant_type", Description: "grant_type is authorization_code or refresh_token"}
	}
	if err := require(form, exchanged.needed...); err != nil {
		return Tokens{}, err
	}
	client, err := p.publicClient(ctx, authorization, form)
	if err != nil {
		return Tokens{}, err
	}
	secret, err := p.find(ctx, exchanged.kind, form.Get(exchanged.parameter))
	switch {
	case errors.Is(err, identity.ErrNoOAuthSecret):
		return Tokens{}, invalidGrant("the " + exchanged.parameter + " is unknown, expired or revoked")
	case err != nil:
		return Tokens{}, err
	case secret.Used:
		return Tokens{}, p.replayed(ctx, secret)
	case secret.ClientID != client:
		return Tokens{}, invalidGrant("the " + exchanged.parameter + " is another client's")
	case secret.Kind == identity.AuthorizationCode && secret.RedirectURI != form.Get("redirect_uri"):
		return Tokens{}, invalidGrant("the code was sent to another redirect_uri")
	case secret.Kind == identity.AuthorizationCode && !verifies(secret.Challenge, form.Get("code_verifier")):
		return Tokens{}, invalidGrant("the code_verifier is not that of the code_challenge")
	}
	granted, err := grantedScopes(issuer, secret, form)
	if err != nil {
		return Tokens{}, err
	}
	return p.exchange(ctx, secret, granted)
}

// verifies tells whether a challenge was made of a verifier (RFC 7636 §4.6).
func verifies(challenge, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return verifiers.MatchString(verifier) && subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// grantedScopes are those of the access token: the secret's, or fewer for which a refresh asks (RFC 6749 §6), for the resource that the
// person allowed (RFC 8707 §2.2).
func grantedScopes(issuer string, secret identity.OAuthSecret, form url.Values) (scope.Set, error) {
	if asked := form.Get("resource"); asked != "" {
		resource, failed := resourceOf(issuer, asked, scope.Set{}, scope.Set{})
		if failed != nil {
			return scope.Set{}, failed
		}
		if resource != secret.Resource {
			return scope.Set{}, &Failure{Status: http.StatusBadRequest, Code: "invalid_target", Description: "the person allowed another resource"}
		}
	}
	asked := form.Get("scope")
	if asked == "" || secret.Kind != identity.RefreshToken {
		return secret.Scopes, nil
	}
	fewer, err := scope.Parse(strings.Fields(asked))
	if err != nil || fewer.IsEmpty() || !fewer.Without(secret.Scopes).IsEmpty() {
		return scope.Set{}, &Failure{Status: http.StatusBadRequest, Code: "invalid_scope", Description: "the refresh token's scopes are: " + secret.Scopes.String()}
	}
	return fewer, nil
}

// exchange replaces a secret by an access token with the granted scopes and a refresh token with all of the secret's. Access tokens that
// came of it before stay valid until they expire: a client may have requests under way with the last one.
func (p *Provider) exchange(ctx context.Context, secret identity.OAuthSecret, granted scope.Set) (Tokens, error) {
	access, refresh := forms[identity.AccessToken].Mint(), forms[identity.RefreshToken].Mint()
	token := identity.OAuthSecret{
		Hash: auth.TokenID(access), Kind: identity.AccessToken, GrantID: secret.GrantID, Account: secret.Account, ClientID: secret.ClientID, Scopes: granted,
		Resource: secret.Resource, ExpiresAt: p.now().Add(AccessLife),
	}
	next := token
	next.Hash, next.Kind, next.Scopes, next.ExpiresAt = auth.TokenID(refresh), identity.RefreshToken, secret.Scopes, p.now().Add(RefreshLife)
	err := p.store.ExchangeOAuthSecret(ctx, secret, token, next)
	if errors.Is(err, identity.ErrOAuthSecretUsed) { // two came at once, and the other was first
		return Tokens{}, p.replayed(ctx, secret)
	}
	if err != nil {
		return Tokens{}, err
	}
	return Tokens{AccessToken: access, TokenType: "Bearer", ExpiresIn: int64(AccessLife / time.Second), RefreshToken: refresh, Scope: granted.String()}, nil
}

// replayed ends the grant of a secret that comes a second time, and returns what whoever sent it is answered.
func (p *Provider) replayed(ctx context.Context, secret identity.OAuthSecret) error {
	if err := p.End(ctx, secret.Account, secret.GrantID, grant.ReplayedSecret); err != nil {
		return err
	}
	return invalidGrant("it was used before; everything that came of it is revoked")
}

// Revoke ends the grant that a token is of (RFC 7009). A token that is not there is no error, nor is another client's: it learns nothing and
// ends nothing. Its error is a *Failure, or one of our own parts.
func (p *Provider) Revoke(ctx context.Context, authorization, body string) error {
	form, err := parseOnce(body)
	if err != nil {
		return err
	}
	if err := require(form, "token"); err != nil {
		return err
	}
	client, err := p.publicClient(ctx, authorization, form)
	if err != nil {
		return err
	}
	kind := identity.AccessToken
	if forms[identity.RefreshToken].WellFormed(form.Get("token")) { // the token says what it is; token_type_hint is not read
		kind = identity.RefreshToken
	}
	secret, err := p.find(ctx, kind, form.Get("token"))
	if errors.Is(err, identity.ErrNoOAuthSecret) || err == nil && secret.ClientID != client {
		return nil
	}
	if err != nil {
		return err
	}
	return p.End(ctx, secret.Account, secret.GrantID, grant.ByClient)
}

// publicClient returns the id, as it is kept, of the client for whom the form's client_id names: clients have no secrets, what they hold is
// proved by PKCE and by rotation.
func (p *Provider) publicClient(ctx context.Context, authorization string, form url.Values) (string, error) {
	if authorization != "" || form.Get("client_secret") != "" || form.Get("client_assertion") != "" {
		return "", invalidClient("clients of this server have no secret: send client_id in the form")
	}
	client, err := p.store.OAuthClient(ctx, keyOf(form.Get("client_id")))
	if errors.Is(err, identity.ErrNoOAuthClient) {
		return "", invalidClient("there is no such client: send client_id in the form, or register again")
	}
	return client.ID, err
}

// find returns a secret, used or not. It is identity.ErrNoOAuthSecret where there is none, or its grant is not in force any more.
func (p *Provider) find(ctx context.Context, kind identity.SecretKind, sent string) (identity.OAuthSecret, error) {
	if !forms[kind].WellFormed(sent) {
		return identity.OAuthSecret{}, identity.ErrNoOAuthSecret
	}
	secret, err := p.store.OAuthSecretOf(ctx, kind, auth.TokenID(sent))
	if err != nil {
		return identity.OAuthSecret{}, err
	}
	inForce, err := p.grants.InForce(ctx, secret.GrantID)
	if err == nil && !inForce {
		err = identity.ErrNoOAuthSecret
	}
	return secret, err
}

// End ends a grant of an account for a reason: in the log, and then its codes and tokens. It returns grant.ErrNotFound.
func (p *Provider) End(ctx context.Context, account, grantID string, reason grant.Reason) error {
	if err := p.grants.Revoke(ctx, account, grantID, reason); err != nil {
		return err
	}
	return p.store.ForgetOAuthGrant(ctx, grantID)
}
