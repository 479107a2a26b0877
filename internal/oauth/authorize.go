package oauth

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/internal/identity"
)

// MaxQueryBytes is the longest query of a request for authorization.
const MaxQueryBytes = 8 << 10

// challenges are PKCE's for S256: 32 bytes in base64url (RFC 7636 §4.2).
var challenges = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Authorization is a request for authorization that can be put before a person.
type Authorization struct {
	Client      identity.OAuthClient
	Vouches     string // host of the document that describes the client; empty: it registered itself
	Scopes      scope.Set
	Resource    access.Resource
	RedirectURI *url.URL
	asked       string // the redirect address as the client wrote it
	challenge   string // PKCE, S256
	state       string
	issuer      string
}

// Authorize reads the query of a request for authorization at the issuer's address, which came from a client's address. Its error is a
// *Failure, or one of our own parts.
func (p *Provider) Authorize(ctx context.Context, issuer, from, query string) (*Authorization, error) {
	if len(query) > MaxQueryBytes {
		return nil, invalidRequest("the request is too long")
	}
	form, err := parseOnce(query)
	if err != nil {
		return nil, err
	}
	client, err := p.presentedClient(ctx, form.Get("client_id"), from)
	if err != nil {
		return nil, err
	}
	if !matchRedirectURI(client.RedirectURIs, form.Get("redirect_uri")) {
		return nil, invalidRequest("the redirect_uri is missing, or is not one that the app registered")
	}
	a := &Authorization{Client: client, asked: form.Get("redirect_uri"), challenge: form.Get("code_challenge"), state: form.Get("state"), issuer: issuer}
	if isDocument(form.Get("client_id")) {
		a.Vouches = hostOf(form.Get("client_id"))
	}
	if a.RedirectURI, err = url.Parse(a.asked); err != nil {
		return nil, invalidRequest("the redirect_uri cannot be read")
	}
	// From here on the client is told.
	if f := a.check(form); f != nil {
		f.Redirect = a.address(url.Values{"error": {f.Code}, "error_description": {f.Description}})
		return nil, f
	}
	return a, nil
}

// check reads the parameters of a request whose client and redirect address are known.
func (a *Authorization) check(form url.Values) *Failure {
	switch {
	case form.Get("request") != "":
		return &Failure{Status: http.StatusBadRequest, Code: "request_not_supported", Description: "send the parameters themselves"}
	case form.Get("request_uri") != "":
		return &Failure{Status: http.StatusBadRequest, Code: "request_uri_not_supported", Description: "send the parameters themselves"}
	case form.Get("response_type") == "":
		return invalidRequest("response_type is missing; it is code")
	case form.Get("response_type") != "code":
		return &Failure{Status: http.StatusBadRequest, Code: "unsupported_response_type", Description: "response_type is code"}
	case form.Get("response_mode") != "" && form.Get("response_mode") != "query":
		return invalidRequest("response_mode must be query")
	case form.Get("code_challenge_method") != "S256" || !challenges.MatchString(a.challenge):
		return invalidRequest("PKCE is required: code_challenge, and code_challenge_method=S256")
	}
	requested := scope.Known(strings.Fields(form.Get("scope")))
	var failed *Failure
	if a.Resource, failed = resourceOf(a.issuer, form.Get("resource"), requested, a.Client.Scopes); failed != nil {
		return failed
	}
	allowed := a.Resource.Scopes().And(a.Client.Scopes)
	a.Scopes = allowed
	if form.Get("scope") != "" { // what is not a scope of the resource is left out; the answer says what was granted
		a.Scopes = a.Scopes.And(requested)
	}
	if a.Scopes.IsEmpty() {
		return &Failure{Status: http.StatusBadRequest, Code: "invalid_scope", Description: "scopes of this resource that the app registered are: " + allowed.String()}
	}
	return nil
}

// resourceOf is the resource that a resource parameter names (RFC 8707), and without one that of the requested scopes, or of the registered ones.
func resourceOf(issuer, parameter string, requested, registered scope.Set) (access.Resource, *Failure) {
	wanted := requested
	if wanted.IsEmpty() {
		wanted = registered
	}
	for _, resource := range access.Resources() {
		if parameter != "" && strings.TrimSuffix(parameter, "/") == issuer+resource.Path() {
			return resource, nil
		}
		if parameter == "" && !wanted.IsEmpty() && wanted.Without(resource.Scopes()).IsEmpty() {
			return resource, nil
		}
	}
	if parameter == "" && requested.IsEmpty() {
		return access.API, nil
	}
	return "", &Failure{Status: http.StatusBadRequest, Code: "invalid_target", Description: "resources of this server are " + plain(issuer) + " and " + plain(issuer) + "/mcp: name the one that the token is for"}
}

// ParseForm reads a form of which no field may be repeated. Its error is a *Failure.
func ParseForm(body string) (url.Values, error) { return parseOnce(body) }

// parseOnce reads form fields of which none may be repeated (RFC 6749 §3.1).
func parseOnce(query string) (url.Values, error) {
	form, err := url.ParseQuery(query)
	if err != nil {
		return nil, invalidRequest("the request cannot be read")
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, invalidRequest("the parameter " + plain(name) + " is given more than once")
		}
	}
	return form, nil
}

// address is the redirect address with the parameters of an answer.
func (a *Authorization) address(parameters url.Values) *url.URL {
	to := *a.RedirectURI
	query := to.Query()
	for name, values := range parameters {
		query[name] = values
	}
	if a.state != "" {
		query.Set("state", a.state)
	}
	query.Set("iss", a.issuer) // RFC 9207
	to.RawQuery = query.Encode()
	return &to
}

// Deny is where the browser goes when the person says no.
func (a *Authorization) Deny() *url.URL {
	return a.address(url.Values{"error": {"access_denied"}, "error_description": {"the person did not allow it"}})
}

// Approve lets the client act for the account, and returns where the browser goes with the code. Its errors are
// identity.ErrTooManyGrants, those of Grants.Approve, and those of our own parts.
func (p *Provider) Approve(ctx context.Context, a *Authorization, account string) (*url.URL, error) {
	id := uuid.NewString()
	if a.Vouches != "" { // as it is now: its tokens are exchanged by what was approved
		if err := p.store.PutOAuthClient(ctx, a.Client); err != nil {
			return nil, err
		}
	}
	if err := p.store.AddOAuthGrant(ctx, id, account, a.Client.ID); err != nil {
		return nil, err
	}
	err := p.grants.Approve(ctx, grant.Approve{GrantID: id, Account: account, ClientID: a.Client.ID, ClientName: a.Client.Name, Resource: string(a.Resource), Scopes: a.Scopes})
	if err != nil {
		return nil, err
	}
	code := forms[identity.AuthorizationCode].Mint()
	err = p.store.AddOAuthSecret(ctx, identity.OAuthSecret{
		Hash: auth.TokenID(code), Kind: identity.AuthorizationCode, GrantID: id, Account: account, ClientID: a.Client.ID, Scopes: a.Scopes, Resource: a.Resource,
		RedirectURI: a.asked, Challenge: a.challenge, ExpiresAt: p.now().Add(CodeLife),
	})
	if err != nil {
		return nil, err
	}
	return a.address(url.Values{"code": {code}}), nil
}
