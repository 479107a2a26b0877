package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/token"
	"reckon/internal/httpkit"
)

// Credentials reads what a credential stands for, as the log has it when it is asked: a
// token that was revoked before the call is revoked, whichever process revoked it.
type Credentials interface {
	// Token returns the zero State for a token that was never minted.
	Token(ctx context.Context, tokenID string) (token.State, error)
	// Account returns the zero State for an account that was never registered.
	Account(ctx context.Context, accountID string) (account.State, error)
}

// Sessions reads browser sessions.
type Sessions interface {
	// SessionAccount returns ErrSessionNotFound for a secret that is not a live session's.
	SessionAccount(ctx context.Context, secret string) (account string, err error)
}

// ErrSessionNotFound means that a secret names no live browser session.
var ErrSessionNotFound = errors.New("no such browser session")

// Cookie names of a browser session, with and without TLS. The __Host- prefix
// makes browsers insist on Secure, Path=/ and no Domain (RFC 6265bis §4.1.3.2).
const (
	SecureCookie = "__Host-reckon"
	PlainCookie  = "reckon"
)

// CookieName is the cookie in use for a request.
func CookieName(r httpkit.Request) string {
	if r.Secure {
		return SecureCookie
	}
	return PlainCookie
}

// Principal is the caller of a request.
type Principal struct {
	Account string
	Plan    string // name of the plan in force
	Actor   string // as event metadata has it: session, token:<id>
	TokenID string // of an API token
	Secret  string // of a browser session
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
	Now         func() time.Time
	// TokenUsed is called with the id of every accepted API token; nil: it is not called.
	TokenUsed func(ctx context.Context, tokenID string)
	// MetadataURL is the address of this resource's OAuth metadata (RFC 9728); empty: there is none.
	MetadataURL string
}

// Authenticate is httpkit.Authenticator.
func (a *Authenticator) Authenticate(r *http.Request, route httpkit.Route) (context.Context, error) {
	if route.Access == httpkit.Public {
		return r.Context(), nil
	}
	p, err := a.authenticateCredential(r, route)
	if err != nil {
		return nil, err
	}
	state, err := a.Credentials.Account(r.Context(), p.Account)
	switch {
	case err != nil:
		return nil, err
	case !state.Exists || state.Closed:
		return nil, a.unauthorized(httpkit.InvalidToken, "the account of this credential is closed")
	}
	p.Plan = state.Plan
	if p.TokenID != "" && a.TokenUsed != nil {
		a.TokenUsed(r.Context(), p.TokenID)
	}
	return context.WithValue(r.Context(), principalKey{}, p), nil
}

func (a *Authenticator) authenticateCredential(r *http.Request, route httpkit.Route) (Principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		return a.authenticateToken(r.Context(), header, route)
	}
	cookie, err := r.Cookie(CookieName(httpkit.RequestOf(r.Context())))
	if err != nil || cookie.Value == "" {
		return Principal{}, a.unauthorized(httpkit.Unauthenticated, "send an API token as Authorization: Bearer …, or sign in")
	}
	owner, err := a.Sessions.SessionAccount(r.Context(), cookie.Value)
	if errors.Is(err, ErrSessionNotFound) {
		return Principal{}, a.unauthorized(httpkit.Unauthenticated, "the browser session has ended; sign in again")
	}
	return Principal{Account: owner, Actor: "session", Secret: cookie.Value}, err
}

func (a *Authenticator) authenticateToken(ctx context.Context, header string, route httpkit.Route) (Principal, error) {
	scheme, secret, _ := strings.Cut(header, " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return Principal{}, a.unauthorized(httpkit.InvalidToken, "the Authorization header must be: Bearer, a space and a token")
	}
	if !WellFormed(secret) {
		return Principal{}, a.unauthorized(httpkit.InvalidToken, "the token is malformed: its checksum does not match")
	}
	if route.Access == httpkit.BrowserOnly {
		return Principal{}, httpkit.FirstPartyOnly.Problem("a token cannot do this; sign in and use the browser session")
	}
	id := TokenID(secret)
	state, err := a.Credentials.Token(ctx, id)
	if err != nil {
		return Principal{}, err
	}
	if !state.ValidAt(a.Now()) {
		return Principal{}, a.unauthorized(httpkit.InvalidToken, refusal(state))
	}
	return Principal{Account: state.Account, Actor: "token:" + id, TokenID: id}, nil
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
func (a *Authenticator) unauthorized(kind httpkit.Kind, detail string) error {
	challenge := `Bearer realm="reckon"`
	if a.MetadataURL != "" {
		challenge = `Bearer resource_metadata="` + a.MetadataURL + `"`
	}
	if kind.Code == httpkit.InvalidToken.Code {
		challenge += `, error="invalid_token"`
	}
	return kind.Problem("%s", detail).WithHeader("WWW-Authenticate", challenge)
}
