package writeapi

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/grant"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/oauth"
	"reckon/internal/ratelimit"
	"reckon/internal/view"
)

// metadataFor is how long the metadata may be kept.
const metadataFor = 5 * time.Minute

type grantIDInput struct {
	ID httpkit.UUID `path:"id" doc:"connection_id" example:"5e0c1f7a-3b1d-4f0e-9d56-0a4f4c2b7e11"`
}

type disconnectOutput struct {
	Body struct {
		ConnectionID string `json:"connection_id" format:"uuid" doc:"Id of the connection"`
		Disconnected bool   `json:"disconnected" doc:"Always true: the app's tokens authenticate nothing from now on"`
	}
}

type metadataOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s Services) registerOAuth(api *httpkit.API) {
	httpkit.HandleRaw(api, http.MethodGet, oauth.AuthorizePath, 0, s.authorizePage)
	httpkit.HandleRaw(api, http.MethodPost, oauth.AuthorizePath, oauth.MaxFormBytes, s.authorizeForm)
	httpkit.HandleRaw(api, http.MethodPost, oauth.TokenPath, oauth.MaxFormBytes, s.token)
	httpkit.HandleRaw(api, http.MethodPost, oauth.RevokePath, oauth.MaxFormBytes, s.revoke)
	httpkit.HandleRaw(api, http.MethodPost, oauth.RegisterPath, oauth.MaxRegistrationBytes, s.registerClient)
	handleMetadata(api, oauth.ServerMetadataPath, "oauth-authorization-server", oauth.ServerMetadataOf)
	for _, resource := range access.Resources() {
		handleMetadata(api, oauth.ResourceMetadataPath+resource.Path(), "oauth-protected-resource-"+string(resource), func(issuer string) oauth.ResourceMetadata {
			return oauth.ResourceMetadataOf(issuer, resource)
		})
	}
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodDelete, Path: "/api/connections/{id}", ID: "disconnect", Tag: "Account", Summary: "Disconnect an app",
		Description: "Its tokens authenticate nothing from now on; what was computed with them stays. Disconnecting it again answers the same.",
		Kinds:       []httpkit.Kind{httpkit.NoSuchApp, httpkit.Unavailable}, Errors: problems,
	}, s.disconnect)
}

// handleMetadata serves a document of metadata at the address by which the client reaches the service.
func handleMetadata[T any](api *httpkit.API, path, id string, document func(issuer string) T) {
	httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: path, ID: id, PublicFor: metadataFor, ContentType: "application/json"},
		func(ctx context.Context, _ *struct{}) (*metadataOutput, error) {
			base := httpkit.RequestOf(ctx).Base
			if base == "" {
				return nil, httpkit.NoSuchRoute.Problem("this service does not know its public address; its operator must give --public-url")
			}
			body, err := json.Marshal(document(base))
			return &metadataOutput{ContentType: "application/json", Body: body}, err
		})
}

// MetadataURL is auth.Authenticator's.
func MetadataURL(ctx context.Context, resource access.Resource) string {
	base := httpkit.RequestOf(ctx).Base
	if base == "" {
		return ""
	}
	return base + oauth.ResourceMetadataPath + resource.Path()
}

func (s Services) disconnect(ctx context.Context, in *grantIDInput) (*disconnectOutput, error) {
	id := string(in.ID)
	if !view.ValidID(id) {
		return nil, grant.ErrNotFound
	}
	if err := s.OAuth.End(ctx, auth.PrincipalOf(ctx).Account, id, grant.ByPerson); err != nil {
		return nil, err
	}
	out := &disconnectOutput{}
	out.Body.ConnectionID, out.Body.Disconnected = id, true
	return out, nil
}

// person is who has signed in on the consent page.
type person struct{ account, email, secret string }

// personOf is the person of the request's browser session; nil: nobody has signed in.
func (s Services) personOf(r *http.Request) (*person, error) {
	ctx := r.Context()
	secret, owner, err := auth.SessionOf(r, s.Identity)
	if errors.Is(err, auth.ErrNoSession) || errors.Is(err, auth.ErrSessionNotFound) || errors.Is(err, auth.ErrSeveralSessions) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state, err := commands.ReadAccount(ctx, s.Store, owner)
	if err != nil || !state.Exists || state.Closed {
		return nil, err
	}
	email, err := s.Identity.EmailOf(ctx, owner)
	return &person{owner, email, secret}, err
}

// proof shows that a form was filled in on the page that this session was shown for this very request.
func (p *person) proof(query string) string {
	mac := hmac.New(sha256.New, []byte(p.secret))
	mac.Write([]byte("consent\n" + query))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// authorizePage asks the person.
func (s Services) authorizePage(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	asked, err := s.OAuth.Authorize(ctx, httpkit.RequestOf(ctx).Base, httpkit.RequestOf(ctx).Address, r.URL.RawQuery)
	if err != nil {
		s.answerAuthorizeError(w, r, err)
		return
	}
	who, err := s.personOf(r)
	if err != nil {
		s.answerAuthorizeError(w, r, err)
		return
	}
	s.showConsent(w, asked, r.URL.RawQuery, who, "", http.StatusOK)
}

// authorizeForm takes what the person answered. The request is checked again as if it were new.
func (s Services) authorizeForm(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	form, err := readForm(r)
	if err != nil {
		s.answerAuthorizeError(w, r, err)
		return
	}
	query := form.Get("request")
	asked, err := s.OAuth.Authorize(ctx, httpkit.RequestOf(ctx).Base, httpkit.RequestOf(ctx).Address, query)
	if err != nil {
		s.answerAuthorizeError(w, r, err)
		return
	}
	if form.Get("answer") == "sign-in" {
		s.signInToConsent(w, r, asked, query, form)
		return
	}
	who, err := s.personOf(r)
	switch {
	case err != nil:
		s.answerAuthorizeError(w, r, err)
		return
	case who == nil:
		s.showConsent(w, asked, query, nil, "Your session has ended. Sign in again.", http.StatusUnauthorized)
		return
	case !hmac.Equal([]byte(form.Get("consent")), []byte(who.proof(query))):
		s.showConsent(w, asked, query, who, "That form was not filled in here. Answer this one.", http.StatusForbidden)
		return
	}
	switch form.Get("answer") {
	case "allow":
		limited, cancel := context.WithTimeout(ctx, pageLimit) // begins here: who asks was looked up within the limits of the parts that know it
		defer cancel()
		to, err := s.OAuth.Approve(limited, asked, who.account)
		if errors.Is(err, identity.ErrTooManyGrants) {
			s.showConsent(w, asked, query, who, "Your account has as many connected apps as it can have. Disconnect one first.", http.StatusConflict)
			return
		}
		if err != nil {
			s.answerAuthorizeError(w, r, err)
			return
		}
		redirect(w, to)
	case "deny":
		redirect(w, asked.Deny())
	default:
		s.showConsent(w, asked, query, who, "", http.StatusBadRequest)
	}
}

// signInToConsent opens a browser session, under the same limits and with the same answers as POST /auth/login, and asks the person.
func (s Services) signInToConsent(w http.ResponseWriter, r *http.Request, asked *oauth.Authorization, query string, form url.Values) {
	ctx := r.Context()
	in := &signInInput{}
	in.Body.Email, in.Body.Password = form.Get("email"), form.Get("password")
	if _, err := s.login(ctx, in); err != nil {
		problem, refused := errors.AsType[*httpkit.Problem](err)
		if !refused || problem.Status >= http.StatusInternalServerError {
			s.answerAuthorizeError(w, r, err)
			return
		}
		if retry := problem.GetHeaders().Get("Retry-After"); retry != "" {
			w.Header().Set("Retry-After", retry)
		}
		s.showConsent(w, asked, query, nil, problem.Detail, problem.Status)
		return
	}
	redirect(w, &url.URL{Path: oauth.AuthorizePath, RawQuery: query})
}

func redirect(w http.ResponseWriter, to *url.URL) {
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusSeeOther)
}

// answerAuthorizeError sends the browser of a person who has signed in back to the client with the error, or shows a page. Anybody may
// register a client: a link of ours would lead who follows it anywhere without having asked (RFC 9700, section 4.11.2).
func (s Services) answerAuthorizeError(w http.ResponseWriter, r *http.Request, err error) {
	failed := s.oauthFailure(r, err)
	if failed.Redirect != nil {
		if who, err := s.personOf(r); err == nil && who != nil {
			redirect(w, failed.Redirect)
			return
		}
	}
	showError(w, failed)
}

// oauthFailure is what a client is told; why something of ours failed is in the log only.
func (s Services) oauthFailure(r *http.Request, err error) *oauth.Failure {
	if known, ok := errors.AsType[*oauth.Failure](err); ok {
		return known
	}
	for _, refusal := range []error{account.ErrClosed, account.ErrNotFound} {
		if errors.Is(err, refusal) {
			return &oauth.Failure{Status: http.StatusForbidden, Code: "access_denied", Description: "the account is closed"}
		}
	}
	problem := httpkit.Translate(err, problems)
	if problem.Status == http.StatusServiceUnavailable {
		return &oauth.Failure{Status: problem.Status, Code: "temporarily_unavailable", Description: problem.Detail}
	}
	if r.Context().Err() == nil {
		s.Logger.ErrorContext(r.Context(), "request failed", "request_id", httpkit.RequestOf(r.Context()).ID, "route", r.URL.Path, "cause", err)
	}
	return &oauth.Failure{Status: http.StatusInternalServerError, Code: "server_error", Description: "something went wrong here; request " + httpkit.RequestOf(r.Context()).ID}
}

// readForm reads the fields of a form, none of which may be repeated.
func readForm(r *http.Request) (url.Values, error) {
	body, err := readFormBody(r)
	if err != nil {
		return nil, err
	}
	return oauth.ParseForm(body)
}

func readFormBody(r *http.Request) (string, error) {
	refused := func(status int, description string) error {
		return &oauth.Failure{Status: status, Code: "invalid_request", Description: description}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" || r.Header.Get("Content-Encoding") != "" {
		return "", refused(http.StatusBadRequest, "the body must be application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(r.Body)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return "", refused(http.StatusRequestEntityTooLarge, "the body is too large")
	}
	if err != nil {
		return "", refused(http.StatusBadRequest, "the body could not be read to its end")
	}
	return string(body), nil
}

func (s Services) token(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), pageLimit)
	defer cancel()
	body, err := readFormBody(r)
	if err == nil {
		var tokens oauth.Tokens
		if tokens, err = s.OAuth.Token(ctx, httpkit.RequestOf(ctx).Base, r.Header.Get("Authorization"), body); err == nil {
			s.writeOAuth(w, r, http.StatusOK, tokens)
			return
		}
	}
	s.writeOAuthError(w, r, err)
}

func (s Services) revoke(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), pageLimit)
	defer cancel()
	body, err := readFormBody(r)
	if err == nil {
		err = s.OAuth.Revoke(ctx, r.Header.Get("Authorization"), body)
	}
	if err != nil {
		s.writeOAuthError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (s Services) registerClient(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	registered, err := s.registerClientOf(ctx, r)
	if err != nil {
		s.writeOAuthError(w, r, err)
		return
	}
	s.writeOAuth(w, r, http.StatusCreated, registered)
}

func (s Services) registerClientOf(ctx context.Context, r *http.Request) (oauth.ClientMetadata, error) {
	allowance, err := s.Identity.CountClientRegistration(ctx, httpkit.RequestOf(ctx).Address)
	if err != nil {
		return oauth.ClientMetadata{}, err
	}
	if err := s.refuseRegistration(ctx, allowance); err != nil {
		return oauth.ClientMetadata{}, err
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return oauth.ClientMetadata{}, &oauth.Failure{Status: http.StatusBadRequest, Code: "invalid_client_metadata", Description: "the body must be application/json"}
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = httpkit.CheckJSON(body)
	}
	if err != nil {
		return oauth.ClientMetadata{}, &oauth.Failure{Status: http.StatusBadRequest, Code: "invalid_client_metadata", Description: "the body is too large, or not acceptable JSON"}
	}
	return s.OAuth.Register(ctx, body)
}

// refuseRegistration writes the allowance, and returns the failure where it is used up.
func (s Services) refuseRegistration(ctx context.Context, allowance ratelimit.Allowance) error {
	if err := s.rejectIfOverLimit(ctx, allowance, "at most %d clients are registered from one address in an hour", allowance.Limit); err != nil {
		if problem, ok := errors.AsType[*httpkit.Problem](err); ok {
			httpkit.AnswerHeader(ctx).Set("Retry-After", problem.GetHeaders().Get("Retry-After"))
		}
		return &oauth.Failure{Status: http.StatusTooManyRequests, Code: "temporarily_unavailable", Description: "too many clients were registered from this address; try again later"}
	}
	return nil
}

func (s Services) writeOAuth(w http.ResponseWriter, r *http.Request, status int, body any) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Pragma", "no-cache") // RFC 6749 §5.1, beside Cache-Control: no-store
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.Logger.DebugContext(r.Context(), "client left before its answer", "request_id", httpkit.RequestOf(r.Context()).ID, "error", err)
	}
}

// writeOAuthError answers an error as OAuth has it (RFC 6749 §5.2).
func (s Services) writeOAuthError(w http.ResponseWriter, r *http.Request, err error) {
	failed := s.oauthFailure(r, err)
	if failed.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	if failed.Code == "invalid_client" && r.Header.Get("Authorization") != "" { // RFC 6749 §5.2
		w.Header().Set("WWW-Authenticate", `Basic realm="reckon"`)
	}
	s.writeOAuth(w, r, failed.Status, map[string]string{"error": failed.Code, "error_description": failed.Description})
}
