package oauth_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/grant"
	"reckon/internal/identity"
	"reckon/internal/oauth"
	"reckon/internal/passwords/passwordstest"
)

// noGrants approves everything and notes nothing.
type noGrants struct{}

func (noGrants) Approve(context.Context, grant.Approve) error               { return nil }
func (noGrants) Revoke(context.Context, string, string, grant.Reason) error { return nil }
func (noGrants) InForce(context.Context, string) (bool, error)              { return true, nil }

// registered are the addresses that the client of these tests registered.
var registered = []string{"https://app.example/cb", "http://127.0.0.1:1234/cb?x=y", "http://[::1]/cb", "http://localhost:7/cb"}

func provider(t testing.TB) (*oauth.Provider, string) {
	t.Helper()
	db, err := identity.Open(t.Context(), identity.Where{Address: "sqlite:" + filepath.Join(t.TempDir(), "identity.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	p := oauth.New(identity.New(db, time.Now, identity.DefaultRules(), passwordstest.NewHasher()), noGrants{}, time.Now, oauth.NewDocumentClient())
	client, err := p.Register(t.Context(), []byte(`{"redirect_uris":["`+strings.Join(registered, `","`)+`"]}`))
	if err != nil {
		t.Fatal(err)
	}
	return p, client.ClientID
}

// mayGo is the rule of redirects in other words than the code's: by the parts of the address as browsers read them.
func mayGo(to *url.URL) bool {
	return slices.ContainsFunc(registered, func(one string) bool {
		known, err := url.Parse(one)
		if err != nil || to.User != nil || to.Fragment != "" || to.Scheme != known.Scheme || to.Hostname() != known.Hostname() || to.EscapedPath() != known.EscapedPath() {
			return false
		}
		for name, values := range known.Query() {
			if !slices.Equal(to.Query()[name], values) {
				return false
			}
		}
		loopback := known.Hostname() == "127.0.0.1" || known.Hostname() == "::1"
		return to.Port() == known.Port() || loopback
	})
}

// FuzzAuthorize: whatever the parameters of a request for authorization, a browser is sent to an address that the client
// registered, or nowhere.
func FuzzAuthorize(f *testing.F) {
	const rest = "&response_type=code&code_challenge_method=S256&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	for _, one := range append([]string{
		"https://evil.example/cb", "https://app.example/cb/../evil", "https://app.example@evil.example/cb", "https://app.example\\@evil.example/cb", "//evil.example/cb",
		"http://127.0.0.1:9/cb?x=y", "http://127.0.0.1:9/cb?x=y#f", "http://127.0.0.1.evil.example/cb?x=y", "http://127.0.0.1:1@evil.example/cb?x=y", "http://localhost:8/cb",
		"javascript:alert(1)", "https://APP.example/cb", "https://app.example/cb?", "http://[::1]:9/cb", "http://[::1%25eth0]/cb", "https://app.example%2fcb", "http://127.1/cb?x=y", "http://127.0.0.1:/cb?x=y",
	}, registered...) {
		for _, more := range []string{rest, rest + "&state=s&scope=evaluate", rest + "&response_mode=fragment", "&response_type=token", rest + "&scope=root", rest + "&resource=https://evil.example", ""} {
			f.Add(url.QueryEscape(one) + more)
		}
	}
	f.Add("https%3A%2F%2Fapp.example%2Fcb&redirect_uri=https://evil.example" + rest)
	f.Add("https%3A%2F%2Fapp.example%2Fcb&request_uri=https://evil.example" + rest)
	p, client := provider(f)
	f.Fuzz(func(t *testing.T, query string) {
		asked, err := p.Authorize(t.Context(), "https://reckon.example", "192.0.2.1", "client_id="+client+"&redirect_uri="+query)
		if failed, ok := errors.AsType[*oauth.Failure](err); ok {
			if failed.Redirect != nil && (!mayGo(failed.Redirect) || failed.Redirect.Query().Get("error") == "") || failed.Code == "" || failed.Status < http.StatusBadRequest {
				t.Fatalf("%q: %s", query, failed.Redirect)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		if denied := asked.Deny(); !mayGo(asked.RedirectURI) || !mayGo(denied) || denied.Query().Get("iss") != "https://reckon.example" || asked.Scopes.IsEmpty() {
			t.Fatalf("%q: %s, %s", query, asked.RedirectURI, denied)
		}
		if strings.ContainsAny(asked.RedirectURI.Host, "; ,'\"*") { // it stands in a Content-Security-Policy
			t.Fatalf("%q: %s", query, asked.RedirectURI.Host)
		}
	})
}
