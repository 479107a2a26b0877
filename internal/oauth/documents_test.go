package oauth_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reckon/internal/identity"
	"reckon/internal/oauth"
	"reckon/internal/passwords/passwordstest"
)

// TestClientsDescribedByADocument (draft-ietf-oauth-client-id-metadata-document): the client_id is an address, and what is read there is the client.
func TestClientsDescribedByADocument(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	documents := map[string]string{}
	app := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads.Add(1)
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/client.json", http.StatusFound)
			return
		case "/page":
			w.Header().Set("Content-Type", "text/html")
		default:
			w.Header().Set("Content-Type", "application/json")
		}
		if documents[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(documents[r.URL.Path]))
	}))
	t.Cleanup(app.Close)
	describe := func(path, id, more string) {
		documents[path] = `{"client_id":"` + id + `","client_name":"Notebook","redirect_uris":["https://app.example/cb","com.example.app:/cb"]` + more + `}`
	}
	describe("/client.json", app.URL+"/client.json", `,"scope":"evaluate","logo_uri":"https://app.example/logo"`)
	describe("/moved", app.URL+"/moved", "")
	describe("/page", app.URL+"/page", "")
	describe("/other", app.URL+"/client.json", "")
	describe("/secret", app.URL+"/secret", `,"client_secret":"x"`)
	describe("/key", app.URL+"/key", `,"token_endpoint_auth_method":"private_key_jwt"`)
	describe("/long", app.URL+"/long", `,"x":"`+strings.Repeat("x", 5<<10)+`"`)
	documents["/bad-redirect"] = `{"client_id":"` + app.URL + `/bad-redirect","redirect_uris":["javascript:/x"]}`
	documents["/none"] = `[]`

	db, err := identity.Open(t.Context(), identity.Where{Address: "sqlite:" + filepath.Join(t.TempDir(), "identity.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := identity.New(db, time.Now, identity.DefaultRules(), passwordstest.NewHasher())
	p := oauth.New(store, noGrants{}, time.Now, app.Client())
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636, appendix B
	authorize := func(from, id, redirect string) (*oauth.Authorization, error) {
		return p.Authorize(t.Context(), "https://reckon.example", from, url.Values{
			"client_id": {id}, "redirect_uri": {redirect}, "response_type": {"code"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
		}.Encode())
	}
	id := app.URL + "/client.json"
	a, err := authorize("192.0.2.1", id, "com.example.app:/cb")
	if err != nil {
		t.Fatal(err)
	}
	if a.Client.Name != "Notebook" || "https://"+a.Vouches != app.URL || a.Scopes.String() != "evaluate" || len(a.Client.ID) != 36 {
		t.Errorf("%+v", a)
	}
	if _, err := authorize("192.0.2.1", id, "https://evil.example/cb"); err == nil || reads.Load() != 1 {
		t.Errorf("an address that the document does not have: %v; %d reads", err, reads.Load())
	}
	if _, err := store.OAuthClient(t.Context(), a.Client.ID); !errors.Is(err, identity.ErrNoOAuthClient) {
		t.Errorf("kept before anybody approved it: %v", err)
	}
	to, err := p.Approve(t.Context(), a, "account")
	if err != nil {
		t.Fatal(err)
	}
	body := url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "client_id": {id}, "redirect_uri": {"com.example.app:/cb"}, "code_verifier": {verifier}}
	tokens, err := p.Token(t.Context(), "https://reckon.example", "", body.Encode())
	if err != nil || tokens.Scope != "evaluate" {
		t.Fatalf("%+v, %v", tokens, err)
	}
	again := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}, "client_id": {id}}
	if _, err := p.Token(t.Context(), "https://reckon.example", "", again.Encode()); err != nil {
		t.Error(err)
	}

	for _, path := range []string{"/moved", "/page", "/other", "/secret", "/key", "/long", "/bad-redirect", "/none", "/nothing", "/client.json?x=y", "/client.json#f", "/a/../client.json", "/%2e/client.json", "", "/"} {
		failed, ok := errors.AsType[*oauth.Failure](second(authorize("192.0.2.2", app.URL+path, "https://app.example/cb")))
		if !ok || failed.Code != "invalid_client" || failed.Redirect != nil {
			t.Errorf("%s: %v", path, failed)
		}
	}
	before := reads.Load()
	for range 3 { // that it cannot be read is remembered too
		_, _ = authorize("192.0.2.2", app.URL+"/nothing", "https://app.example/cb")
	}
	if reads.Load() != before {
		t.Errorf("%d reads of a document that is not there", reads.Load()-before)
	}
	var last error
	for i := range 30 {
		_, last = authorize("192.0.2.3", app.URL+"/n"+strings.Repeat("x", i), "https://app.example/cb")
	}
	if failed, ok := errors.AsType[*oauth.Failure](last); !ok || failed.Status != http.StatusTooManyRequests || reads.Load() != before+20 {
		t.Errorf("%v after %d reads", last, reads.Load()-before)
	}
	// As the service has it, no host but those of the public Internet is asked.
	p = oauth.New(store, noGrants{}, time.Now, oauth.NewDocumentClient())
	before = reads.Load()
	if _, err := authorize("192.0.2.4", id, "https://app.example/cb"); err == nil || reads.Load() != before {
		t.Errorf("%v: the own machine is asked", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestHostsOfThePublicInternet(t *testing.T) {
	t.Parallel()
	for address, public := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "255.255.255.255": false, "224.0.0.1": false, "::1": false, "::": false, "::ffff:10.0.0.1": false, "::ffff:8.8.8.8": true, "fe80::1": false, "fd00::1": false,
		"64:ff9b::a00:1": false, "2002:a00:1::1": false, "2001::1": false, "198.51.100.7": false,
	} {
		if got := oauth.IsPublic(netip.MustParseAddr(address)); got != public {
			t.Errorf("%s: %v", address, got)
		}
	}
}
