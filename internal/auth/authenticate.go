package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/domain/token"
	"reckon/internal/access"
	"reckon/internal/httpkit"
)

// Credentials reads what a credential stands for, as the log has it when it is asked: a
// token that was revoked before the call is revoked, whichever process revoked it.
type Credentials interface {
	// Token returns the zero State for a token that was never minted.
	Token(ctx context.Context, tokenID string) (token.State, error)
	// Grant returns the zero State for a grant that was never approved.
	Grant(ctx context.Context, grantID string) (grant.State, error)
	// Account returns the zero State for an account that was never registered.
	Account(ctx context.Context, accountID string) (account.State, error)
}

// Sessions reads browser sessions.
type Sessions interface {
	// SessionAccount returns ErrSessionNotFound for a secret that is not a live session's.
	SessionAccount(ctx context.Context, secret string) (account string, err error)
}

// AccessToken is an OAuth access token that has not expired. It is good for Resource only, and for what both Scopes and
// its grant allow.
type AccessToken struct {
	GrantID, Account, ClientID string
	Scopes                     scope.Set
	Resource                   access.Resource
}

// AccessTokens reads OAuth access tokens.
type AccessTokens interface {
	// AccessToken returns ErrAccessTokenNotFound for a hash (TokenID) that is no live token's.
	AccessToken(ctx context.Context, hash string) (AccessToken, error)
}

// ErrAccessTokenNotFound means that no live access token has a hash.
var ErrAccessTokenNotFound = errors.New("no such access token")

// Errors of SessionOf.
var (
	// ErrNoSession means that a request has no cookie of a browser session.
	ErrNoSession = errors.New("no cookie of a browser session")
	// ErrSessionNotFound means that a secret names no live browser session.
	ErrSessionNotFound = errors.New("no such browser session")
	// ErrSeveralSessions means that a request has the cookies of several live browser sessions.
	ErrSeveralSessions = errors.New("cookies of several browser sessions")
)

// Cookie names of a browser session, with and without TLS. The __Host- prefix
// makes browsers insist on Secure, Path=/ and no Domain (RFC 6265bis §4.1.3.2).
const (
	SecureCookie = "__Host-reckon"
	PlainCookie  = "reckon"
)

// Names of the cookie by which a device is known that has signed in before; it opens nothing.
const (
	secureDeviceCookie = "__Host-reckon-device"
	plainDeviceCookie  = "reckon-device"
)

// DeviceCookieName is that cookie's name for a request.
func DeviceCookieName(r httpkit.Request) string {
	if r.Secure {
		return secureDeviceCookie
	}
	return plainDeviceCookie
}

// CookieName is the cookie in use for a request.
func CookieName(r httpkit.Request) string {
	if r.Secure {
		return SecureCookie
	}
	return PlainCookie
}

// Principal is the caller of a request.
type Principal struct {
	Account    string
	Plan       string    // name of the plan in force
	Actor      string    // as event metadata has it: session:<sign-in id>, token:<id>, oauth:<client>
	FullAccess bool      // it may do everything that the account may
	Scopes     scope.Set // what it may do otherwise
	TokenID    string    // of an API token
	GrantID    string    // of an OAuth access token
	Secret     string    // of a browser session
}

type principalKey struct{}

// PrincipalOf is the principal of a request that was authenticated.
func PrincipalOf(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// Authenticator is httpkit's: bearer token first, browser session otherwise.
type Authenticator struct {
	Credentials Credentials
	Sessions    Sessions
	// AccessTokens reads OAuth access tokens; nil: there are none.
	AccessTokens AccessTokens
	Now          func() time.Time
	// TokenUsed is called with the id of every accepted API token; nil: it is not called.
	TokenUsed func(ctx context.Context, tokenID string)
	// GrantUsed is called with the id of the grant of every accepted access token; nil: it is not called.
	GrantUsed func(ctx context.Context, grantID string)
	// MetadataURL is the address of a resource's OAuth metadata (RFC 9728) as this client sees it; nil, or an empty
	// address: there is none.
	MetadataURL func(ctx context.Context, resource access.Resource) string
}

// Authenticate is httpkit.Authenticator.
func (a *Authenticator) Authenticate(r *http.Request, rule access.Rule) (context.Context, error) {
	if rule.Who == access.Public {
		return r.Context(), nil
	}
	p, err := a.authenticateCredential(r, rule)
	if err != nil {
		return nil, err
	}
	state, err := a.Credentials.Account(r.Context(), p.Account)
	switch {
	case err != nil:
		return nil, err
	case p.Secret != "" && (!state.Exists || state.Closed): // nobody sent a token that another could replace
		return nil, a.unauthorized(r.Context(), rule, httpkit.Unauthenticated, "the browser session has ended: its account is closed")
	case !state.Exists || state.Closed:
		return nil, a.unauthorized(r.Context(), rule, httpkit.InvalidToken, "the account of this credential is closed")
	}
	p.Plan = state.Plan
	if err := a.authorize(r.Context(), p, rule); err != nil {
		return nil, err
	}
	if p.TokenID != "" && a.TokenUsed != nil {
		a.TokenUsed(r.Context(), p.TokenID)
	}
	if p.GrantID != "" && a.GrantUsed != nil {
		a.GrantUsed(r.Context(), p.GrantID)
	}
	return context.WithValue(r.Context(), principalKey{}, p), nil
}

// authorize returns the problem of a caller whose credential is valid and does not open the route, or nil.
func (a *Authenticator) authorize(ctx context.Context, p Principal, rule access.Rule) error {
	switch rule.Who {
	case access.Scoped, access.TokenOnly:
		if !p.FullAccess && !p.Scopes.Has(rule.Scope) {
			return a.insufficientScope(ctx, rule)
		}
		return nil
	case access.FirstParty:
		if !p.FullAccess {
			return httpkit.FirstPartyOnly.Problem("an app's token, or one with scopes, cannot do this; sign in, or use an API token without scopes")
		}
		return nil
	case access.BrowserOnly:
		if p.Secret == "" {
			return httpkit.FirstPartyOnly.Problem("a token cannot do this; sign in and use the browser session")
		}
		return nil
	}
	return fmt.Errorf("auth: nobody may call this route: %+v", rule)
}

func (a *Authenticator) authenticateCredential(r *http.Request, rule access.Rule) (Principal, error) {
	ctx := r.Context()
	if header := r.Header.Get("Authorization"); header != "" {
		return a.authenticateHeader(ctx, header, rule)
	}
	if rule.Who == access.TokenOnly {
		return Principal{}, a.unauthorized(ctx, rule, httpkit.Unauthenticated, sendToken)
	}
	secret, owner, err := SessionOf(r, a.Sessions)
	switch {
	case errors.Is(err, ErrNoSession):
		return Principal{}, a.unauthorized(ctx, rule, httpkit.Unauthenticated, sendToken)
	case errors.Is(err, ErrSessionNotFound):
		return Principal{}, a.unauthorized(ctx, rule, httpkit.Unauthenticated, "the browser session has ended; sign in again")
	case errors.Is(err, ErrSeveralSessions):
		return Principal{}, a.unauthorized(ctx, rule, httpkit.Unauthenticated, "the browser sent the cookies of two sessions, and which is yours is not known; delete this site's cookies and sign in again")
	}
	return Principal{Account: owner, Actor: "session:" + SignInID(secret), FullAccess: true, Secret: secret}, err
}

// sendToken tells a caller without credentials what to do.
const sendToken = "send an API token as Authorization: Bearer …, or sign in"

// maxSessionCookies bounds the cookies of one request that are looked up.
const maxSessionCookies = 8

// SessionOf finds the live browser session of a request among its cookies, and whose it is. Over plain HTTP a neighbour, another port of
// this host among them, may have set cookies of the same name, which browsers may send first: dead ones are passed over, and of two live
// ones none is taken. Its errors are ErrNoSession, ErrSessionNotFound, ErrSeveralSessions and those of the lookup.
func SessionOf(r *http.Request, sessions Sessions) (secret, account string, err error) {
	err = ErrNoSession
	for i, c := range r.CookiesNamed(CookieName(httpkit.RequestOf(r.Context()))) {
		if c.Value == "" || subtle.ConstantTimeCompare([]byte(c.Value), []byte(secret)) == 1 || i >= maxSessionCookies {
			continue
		}
		owner, found := sessions.SessionAccount(r.Context(), c.Value)
		switch {
		case errors.Is(found, ErrSessionNotFound) && secret == "":
			err = ErrSessionNotFound
		case errors.Is(found, ErrSessionNotFound):
		case found != nil:
			return "", "", found
		case secret != "":
			return "", "", ErrSeveralSessions
		default:
			secret, account, err = c.Value, owner, nil
		}
	}
	return secret, account, err
}

func (a *Authenticator) authenticateHeader(ctx context.Context, header string, rule access.Rule) (Principal, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return Principal{}, a.unauthorized(ctx, rule, httpkit.InvalidToken, "the Authorization header must be: Bearer, a space and a token")
	}
	switch {
	case APIToken.WellFormed(secret):
		return a.authenticateAPIToken(ctx, secret, rule)
	case AccessTokenForm.WellFormed(secret) && a.AccessTokens != nil:
		return a.authenticateAccessToken(ctx, secret, rule)
	}
	return Principal{}, a.unauthorized(ctx, rule, httpkit.InvalidToken, "the token is malformed: its checksum does not match")
}

func (a *Authenticator) authenticateAPIToken(ctx context.Context, secret string, rule access.Rule) (Principal, error) {
	id := TokenID(secret)
	state, err := a.Credentials.Token(ctx, id)
	if err != nil {
		return Principal{}, err
	}
	if !state.ValidAt(a.Now()) {
		return Principal{}, a.unauthorized(ctx, rule, httpkit.InvalidToken, refusal(state))
	}
	return Principal{Account: state.Account, Actor: "token:" + id, FullAccess: state.FullAccess, Scopes: state.Scopes, TokenID: id}, nil
}

// authenticateAccessToken takes a token for the route's own resource only: one for the MCP endpoint is worth nothing
// elsewhere, and the other way round (RFC 8707 §2).
func (a *Authenticator) authenticateAccessToken(ctx context.Context, secret string, rule access.Rule) (Principal, error) {
	token, err := a.AccessTokens.AccessToken(ctx, TokenID(secret))
	if errors.Is(err, ErrAccessTokenNotFound) {
		return Principal{}, a.unauthorized(ctx, rule, httpkit.InvalidToken, "the token is unknown, expired or revoked")
	}
	if err != nil {
		return Principal{}, err
	}
	approved, err := a.Credentials.Grant(ctx, token.GrantID)
	switch {
	case err != nil:
		return Principal{}, err
	case !approved.InForce() || approved.Account != token.Account || approved.ClientID != token.ClientID || approved.Resource != string(token.Resource):
		return Principal{}, a.unauthorized(ctx, rule, httpkit.InvalidToken, "the token is unknown, expired or revoked")
	case token.Resource != rule.Resource():
		return Principal{}, a.unauthorized(ctx, rule, httpkit.InvalidToken, "the token is for another resource of this service")
	}
	return Principal{Account: token.Account, Actor: "oauth:" + token.ClientID, Scopes: token.Scopes.And(approved.Scopes), GrantID: token.GrantID}, nil
}

// refusal says why a token is not valid. Only who holds its secret is told.
func refusal(s token.State) string {
	switch {
	case !s.Exists:
		return "the token is unknown: it was never minted here"
	case s.Revoked:
		return "the token was revoked; mint another one"
	}
	return "the token expired at " + event.Timestamp(s.ExpiresAt) + "; mint another one"
}

// unauthorized returns a 401 with the WWW-Authenticate header of RFC 6750 §3.
func (a *Authenticator) unauthorized(ctx context.Context, rule access.Rule, kind httpkit.Kind, detail string) error {
	challenge := a.challenge(ctx, rule)
	if rule.Scope != "" { // what a client is to ask for (RFC 6750 §3)
		challenge += `, scope="` + string(rule.Scope) + `"`
	}
	if kind.Code == httpkit.InvalidToken.Code {
		challenge += `, error="invalid_token"`
	}
	return kind.Problem("%s", detail).WithHeader("WWW-Authenticate", challenge)
}

// insufficientScope returns a 403 with the WWW-Authenticate header of RFC 6750 §3.1.
func (a *Authenticator) insufficientScope(ctx context.Context, rule access.Rule) error {
	return httpkit.InsufficientScope.Problem("this needs the scope %s, which the token does not have", rule.Scope).
		WithHeader("WWW-Authenticate", a.challenge(ctx, rule)+`, error="insufficient_scope", scope="`+string(rule.Scope)+`"`)
}

// challenge says how to authenticate (RFC 6750 §3, RFC 9728 §5.1).
func (a *Authenticator) challenge(ctx context.Context, rule access.Rule) string {
	if a.MetadataURL != nil {
		if address := a.MetadataURL(ctx, rule.Resource()); address != "" {
			return `Bearer resource_metadata="` + address + `"`
		}
	}
	return `Bearer realm="reckon"`
}
