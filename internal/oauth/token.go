package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ory/fosite"

	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/internal/identity"
)

// MaxFormBytes is the longest body of a request with a form.
const MaxFormBytes = 16 << 10

// tokenParameters are those that are read at the token and revocation endpoints.
var tokenParameters = []string{"grant_type", "code", "redirect_uri", "client_id", "code_verifier", "refresh_token", "token", "token_type_hint", "client_secret", "client_assertion"}

// grantParameters are those that an exchange must have (RFC 6749 §4.1.3 and §6, RFC 7636 §4.5), by grant_type.
var grantParameters = map[string][]string{
	"authorization_code": {"code", "redirect_uri", "code_verifier"}, "refresh_token": {"refresh_token"},
}

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

// Token exchanges a code or a refresh token. body is the form; authorization the request's header, which must be empty. Its error
// is a *Failure, or one of our own parts.
func (p *Provider) Token(ctx context.Context, issuer, authorization, body string) (Tokens, error) {
	form, err := parseOnce(body)
	if err != nil {
		return Tokens{}, err
	}
	known := &exchange{}
	ctx = context.WithValue(context.WithValue(ctx, exchangeKey{}, known), reasonKey{}, grant.ReplayedSecret)
	tokens, err := p.exchange(ctx, issuer, authorization, form)
	if errors.Is(err, identity.ErrOAuthSecretUsed) { // two came at once, and the other was first
		if err := p.storage.revoke(ctx, known.grantID); err != nil {
			return Tokens{}, err
		}
		return Tokens{}, &Failure{Status: http.StatusBadRequest, Code: "invalid_grant", Description: "it was used before; everything that came of it is revoked"}
	}
	return tokens, failure(err)
}

func (p *Provider) exchange(ctx context.Context, issuer, authorization string, form url.Values) (Tokens, error) {
	needed, known := grantParameters[form.Get("grant_type")]
	switch {
	case form.Get("grant_type") == "":
		return Tokens{}, invalidRequest("grant_type is missing; it is authorization_code or refresh_token")
	case !known:
		return Tokens{}, &Failure{Status: http.StatusBadRequest, Code: "unsupported_grant_type", Description: "grant_type is authorization_code or refresh_token"}
	}
	if err := require(form, needed...); err != nil {
		return Tokens{}, err
	}
	request, err := p.fosite.NewAccessRequest(ctx, formRequest(authorization, form), &fosite.DefaultSession{})
	if err != nil {
		return Tokens{}, err
	}
	granted := scope.Known(request.GetRequestedScopes())
	if asked := form.Get("scope"); asked != "" && form.Get("grant_type") == "refresh_token" { // RFC 6749 §6
		narrower, err := scope.Parse(strings.Fields(asked))
		if err != nil || !narrower.Without(granted).IsEmpty() {
			return Tokens{}, &Failure{Status: http.StatusBadRequest, Code: "invalid_scope", Description: "the refresh token's scopes are: " + granted.String()}
		}
		granted = narrower
		if known, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
			known.narrower = &narrower
		}
	}
	if asked := form.Get("resource"); asked != "" { // RFC 8707 §2.2: no other than was granted
		resource, err := resourceOf(issuer, asked, scope.Set{}, scope.Set{})
		if err != nil {
			return Tokens{}, err
		}
		if !request.GetRequestedAudience().Has(string(resource)) {
			return Tokens{}, &Failure{Status: http.StatusBadRequest, Code: "invalid_target", Description: "the person allowed another resource"}
		}
	}
	answer, err := p.fosite.NewAccessResponse(ctx, request)
	if err != nil {
		return Tokens{}, err
	}
	refresh, _ := answer.GetExtra("refresh_token").(string)
	return Tokens{
		AccessToken: answer.GetAccessToken(), TokenType: "Bearer", ExpiresIn: int64(AccessLife / time.Second),
		RefreshToken: refresh, Scope: granted.String(),
	}, nil
}

// Revoke ends the grant that a token is of (RFC 7009). A token that is not there is no error. Its error is a *Failure, or one of our own parts.
func (p *Provider) Revoke(ctx context.Context, authorization, body string) error {
	form, err := parseOnce(body)
	if err != nil {
		return err
	}
	if err := require(form, "token"); err != nil {
		return err
	}
	ctx = context.WithValue(context.WithValue(ctx, exchangeKey{}, &exchange{}), reasonKey{}, grant.ByClient)
	err = p.fosite.NewRevocationRequest(ctx, formRequest(authorization, form))
	if errors.Is(err, fosite.ErrUnauthorizedClient) { // another client's token: it learns nothing and ends nothing
		return nil
	}
	return failure(err)
}

// formRequest is a request with the fields that are read.
func formRequest(authorization string, form url.Values) *http.Request {
	only := url.Values{}
	for _, name := range tokenParameters {
		if form.Has(name) {
			only.Set(name, form.Get(name))
		}
	}
	header := http.Header{}
	if authorization != "" {
		header.Set("Authorization", authorization)
	}
	return &http.Request{Method: http.MethodPost, URL: &url.URL{}, Header: header, Form: only, PostForm: only}
}

// End ends a grant of an account for a reason: in the log, and then its codes and tokens. It returns grant.ErrNotFound.
func (p *Provider) End(ctx context.Context, account, grantID string, reason grant.Reason) error {
	if err := p.grants.Revoke(ctx, account, grantID, reason); err != nil {
		return err
	}
	return p.store.ForgetOAuthGrant(ctx, grantID)
}
