package oauth

import (
	"context"
	"net/http"
	"net/url"
	"time"

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
	store  *identity.Store
	grants Grants
	now    func() time.Time
	// documents are those that clients have as their ids.
	documents documents
}

// New returns a Provider. web reads the documents that clients have as their ids.
func New(store *identity.Store, grants Grants, now func() time.Time, web *http.Client) *Provider {
	return &Provider{store: store, grants: grants, now: now, documents: documents{http: web, now: now}}
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

func invalidGrant(description string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Code: "invalid_grant", Description: description}
}

func invalidClient(description string) *Failure {
	return &Failure{Status: http.StatusUnauthorized, Code: "invalid_client", Description: description}
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
