package apitest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Redirect is the address that test clients register.
const Redirect = "http://127.0.0.1:1234/callback?a=b"

// Verifier is the PKCE verifier of test clients.
const Verifier = "0123456789-0123456789-0123456789-0123456789-._~"

// Challenge is the PKCE challenge of a verifier (S256).
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Client is an OAuth client that has registered.
type Client struct {
	ID     string
	server *Server
}

// NewClient registers an OAuth client.
func (s *Server) NewClient(t testing.TB) *Client {
	t.Helper()
	body, err := json.Marshal(map[string]any{"client_name": "Notebook", "redirect_uris": []string{Redirect, "https://app.example/cb"}})
	must(t, err)
	a := s.Do(t, http.MethodPost, "/oauth/register", string(body))
	id, _ := a.JSON["client_id"].(string)
	if a.Status != http.StatusCreated || id == "" {
		t.Fatalf("register: %d %s", a.Status, a.Body)
	}
	return &Client{ID: id, server: s}
}

// Query is a request for authorization; changes are name, value pairs, an empty value leaves the parameter out.
func (c *Client) Query(changes ...string) string {
	query := url.Values{
		"client_id": {c.ID}, "redirect_uri": {Redirect}, "response_type": {"code"}, "state": {"s t&ate"},
		"code_challenge": {Challenge(Verifier)}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		query.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			query.Del(changes[i])
		}
	}
	return query.Encode()
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// Fields are the hidden fields of a page.
func Fields(page []byte) url.Values {
	fields := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(string(page), -1) {
		fields.Set(m[1], html.UnescapeString(m[2]))
	}
	return fields
}

// Form sends a form.
func (s *Server) Form(t testing.TB, path string, fields url.Values, headers ...string) Answer {
	t.Helper()
	return s.Do(t, http.MethodPost, path, fields.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

// Answer has the user answer the consent page of a request for authorization ("allow", "deny"), and returns where the browser is sent.
func (u *User) Answer(t testing.TB, query, answer string) *url.URL {
	t.Helper()
	page := u.server.Do(t, http.MethodGet, "/oauth/authorize?"+query, "", "Cookie", u.Cookie).OK(t)
	fields := Fields(page.Body)
	fields.Set("answer", answer)
	a := u.server.Form(t, "/oauth/authorize", fields, "Cookie", u.Cookie)
	to, err := url.Parse(a.Header.Get("Location"))
	if must(t, err); a.Status != http.StatusSeeOther || to.Host == "" {
		t.Fatalf("%s: %d %s", answer, a.Status, a.Body)
	}
	return to
}

// Exchange exchanges a code; changes are as Query's.
func (c *Client) Exchange(t testing.TB, code string, changes ...string) Answer {
	t.Helper()
	fields := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {c.ID}, "redirect_uri": {Redirect}, "code_verifier": {Verifier}}
	return c.server.Form(t, "/oauth/token", changed(fields, changes))
}

// Refresh exchanges a refresh token; changes are as Query's.
func (c *Client) Refresh(t testing.TB, token string, changes ...string) Answer {
	t.Helper()
	fields := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {c.ID}}
	return c.server.Form(t, "/oauth/token", changed(fields, changes))
}

func changed(fields url.Values, changes []string) url.Values {
	for i := 0; i < len(changes); i += 2 {
		fields.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			fields.Del(changes[i])
		}
	}
	return fields
}

// Connect has the user allow the client these scopes, with spaces between them, at a resource ("" for the API, "/mcp"), and
// returns the tokens.
func (u *User) Connect(t testing.TB, c *Client, scopes, resource string) (access, refresh string) {
	t.Helper()
	to := u.Answer(t, c.Query("scope", scopes, "resource", strings.TrimSuffix(u.server.URL, "/")+resource), "allow")
	a := c.Exchange(t, to.Query().Get("code")).OK(t)
	access, _ = a.JSON["access_token"].(string)
	refresh, _ = a.JSON["refresh_token"].(string)
	return access, refresh
}
