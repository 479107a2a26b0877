package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/handler/pkce"

	"reckon/domain/grant"
	"reckon/internal/identity"
)

// Lives of codes and tokens.
const (
	CodeLife    = time.Minute
	AccessLife  = time.Hour
	RefreshLife = 30 * 24 * time.Hour // from its last use
)

// Grants are the grants of the log.
type Grants interface {
	// Approve lets a client act for approve.Account.
	Approve(ctx context.Context, approve grant.Approve) error
	// Revoke ends a grant of the account; one that is not there is no error.
	Revoke(ctx context.Context, account, grantID string, reason grant.Reason) error
	// InForce tells whether a grant allows anything now, and its account is open.
	InForce(ctx context.Context, grantID string) (bool, error)
}

// Provider answers the protocol's requests.
type Provider struct {
	store   *identity.Store
	grants  Grants
	now     func() time.Time
	storage *storage
	fosite  *fosite.Fosite
	// documents are those that clients have as their ids.
	documents documents
}

// New returns a Provider. web reads the documents that clients have as their ids.
func New(store *identity.Store, grants Grants, now func() time.Time, web *http.Client) *Provider {
	p := &Provider{store: store, grants: grants, now: now, documents: documents{http: web, now: now}}
	p.storage = &storage{Provider: p}
	config := &fosite.Config{
		AuthorizeCodeLifespan: CodeLife, AccessTokenLifespan: AccessLife, RefreshTokenLifespan: RefreshLife,
		ScopeStrategy: fosite.ExactScopeStrategy, AudienceMatchingStrategy: sameAudience,
		EnforcePKCE: true, RefreshTokenScopes: []string{}, OmitRedirectScopeParam: true,
		SanitationWhiteList: []string{"redirect_uri", "code_challenge", "code_challenge_method"},
		// A redirect address is secure or it is not registered (checkRedirectURI).
		RedirectSecureChecker:        func(_ context.Context, u *url.URL) bool { return checkRedirectURI(u.String()) == nil },
		ClientAuthenticationStrategy: p.publicClient,
	}
	code := &oauth2.AuthorizeExplicitGrantHandler{
		AccessTokenStrategy: secrets{}, RefreshTokenStrategy: secrets{}, AuthorizeCodeStrategy: secrets{},
		CoreStorage: p.storage, TokenRevocationStorage: p.storage, Config: config,
	}
	challenge := &pkce.Handler{AuthorizeCodeStrategy: secrets{}, Storage: p.storage, Config: config}
	refresh := &oauth2.RefreshTokenGrantHandler{
		AccessTokenStrategy: secrets{}, RefreshTokenStrategy: secrets{}, TokenRevocationStorage: p.storage, Config: config,
	}
	config.AuthorizeEndpointHandlers = fosite.AuthorizeEndpointHandlers{code, challenge}
	config.TokenEndpointHandlers = fosite.TokenEndpointHandlers{code, challenge, refresh}
	config.RevocationHandlers = fosite.RevocationHandlers{&oauth2.TokenRevocationHandler{
		AccessTokenStrategy: secrets{}, RefreshTokenStrategy: secrets{}, TokenRevocationStorage: p.storage,
	}}
	p.fosite = fosite.NewOAuth2Provider(p.storage, config)
	return p
}

// sameAudience lets nothing by that was not granted; which resources there are, resourceOf says.
func sameAudience(_, needle []string) error {
	if len(needle) > 1 {
		return fosite.ErrInvalidRequest.WithHint("One resource at a time.")
	}
	return nil
}

// publicClient takes the client for whom its id names: clients have no secrets, what they hold is proved by PKCE and by rotation.
func (p *Provider) publicClient(ctx context.Context, r *http.Request, form url.Values) (fosite.Client, error) {
	if r.Header.Get("Authorization") != "" || form.Get("client_secret") != "" || form.Get("client_assertion") != "" {
		return nil, fosite.ErrInvalidClient.WithHint("Clients of this server have no secret: send client_id in the form.")
	}
	client, err := p.storage.GetClient(ctx, keyOf(form.Get("client_id")))
	if errors.Is(err, fosite.ErrNotFound) {
		return nil, fosite.ErrInvalidClient.WithHint("No such client; register again.")
	}
	return client, err
}

// Failure is an error that a client is told (RFC 6749 §4.1.2.1, §5.2).
type Failure struct {
	Status      int // of an answer that is no redirect
	Code        string
	Description string
	// Redirect is where the browser goes with the error; nil: the request does not say where in a way that can be believed.
	Redirect *url.URL
	cause    error
}

func (f *Failure) Error() string { return f.Code + ": " + f.Description }

// Unwrap is the error behind it, for the log.
func (f *Failure) Unwrap() error { return f.cause }

func invalidRequest(description string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Code: "invalid_request", Description: description}
}

// failure is what the client is told of an error. One of our own parts is returned as it is.
func failure(err error) error {
	if known, ok := errors.AsType[*Failure](err); ok {
		return known
	}
	e, ok := errors.AsType[*fosite.RFC6749Error](err)
	if !ok {
		return err
	}
	gone := e.CodeField >= http.StatusInternalServerError && errors.Is(err, fosite.ErrNotFound)
	if gone || errors.Is(err, fosite.ErrInvalidatedAuthorizeCode) { // between two looks of fosite's at the code another request used it
		return &Failure{Status: http.StatusBadRequest, Code: "invalid_grant", Description: "the code was used already", cause: err}
	}
	if e.CodeField >= http.StatusInternalServerError {
		if cause := innermost(e); cause != nil {
			return cause
		}
		return err
	}
	return &Failure{Status: e.CodeField, Code: e.ErrorField, Description: describe(e), cause: err}
}

// descriptions are what a client's author is told of a code of fosite's, whose own texts are about its settings.
var descriptions = map[string]string{
	"invalid_request": "a parameter is missing or not as it has to be",
	"invalid_grant":   "the code or refresh token is not valid: unknown, expired, used or revoked, of another client or redirect_uri, or its code_verifier is another one",
	"invalid_client":  "there is no such client, or it was authenticated: clients of this server are public, and send their client_id in the form",
	"invalid_scope":   "a scope is not known here, or was not granted",
}

func describe(e *fosite.RFC6749Error) string {
	if known := descriptions[e.ErrorField]; known != "" {
		return known
	}
	return plain(e.DescriptionField)
}

// innermost is the first error behind fosite's that is not fosite's; nil: there is none.
func innermost(err error) error {
	for err != nil {
		if _, theirs := err.(*fosite.RFC6749Error); !theirs { //nolint:errorlint // one link of the chain at a time
			if _, more := errors.AsType[*fosite.RFC6749Error](err); !more {
				return err
			}
		}
		err = errors.Unwrap(err)
	}
	return nil
}

// plain keeps what may stand in an error_description (RFC 6749 §5.2).
func plain(s string) string {
	out := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\'')
		case c >= 0x20 && c < 0x7f:
			out = append(out, c)
		}
	}
	return string(out)
}
