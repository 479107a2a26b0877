package writeapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

// noRedirects has the test see where a browser is sent.
func noRedirects(s *apitest.Server) {
	s.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
}

func startOAuth(t *testing.T) (*apitest.Server, *apitest.User, *apitest.Client) {
	s := apitest.Start(t, apitest.Options{})
	noRedirects(s)
	return s, s.NewUser(t), s.NewClient(t)
}

// wantOAuth fails the test unless the answer is this error.
func wantOAuth(t *testing.T, what string, a apitest.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || a.JSON["error"] != code || a.JSON["error_description"] == "" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %d %s, want %d %s", what, a.Status, a.Body, status, code)
	}
}

// works tells whether an access token is accepted.
func works(t *testing.T, s *apitest.Server, token string) bool {
	t.Helper()
	a := s.Do(t, http.MethodGet, "/api/history", "", "Authorization", "Bearer "+token)
	if a.Status != http.StatusOK && a.Code() != "invalid_token" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return a.Status == http.StatusOK
}

// revokedBecause is why the only revoked grant of the log ended; empty: none did.
func revokedBecause(t *testing.T, s *apitest.Server) grant.Reason {
	t.Helper()
	var reason grant.Reason
	for e, err := range s.Store.ReadAll(t.Context(), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if revoked, ok := e.Event.(grant.Revoked); ok {
			reason = revoked.Reason
		}
	}
	return reason
}

// TestConnectAnApp is the whole story: register, sign in on the page, allow, exchange, use, refresh, disconnect.
func TestConnectAnApp(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	query := c.Query("scope", "history:read evaluate openid", "resource", s.URL)

	page := s.Do(t, http.MethodGet, "/oauth/authorize?"+query, "").OK(t)
	policy := page.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self' http://127.0.0.1:1234", "style-src 'sha256-"} {
		if !strings.Contains(policy, part) {
			t.Errorf("policy %q", policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(string(page.Body), "<script") || !strings.Contains(string(page.Body), "Notebook") || !strings.Contains(string(page.Body), `name="password"`) {
		t.Errorf("%s\n%s", policy, page.Body)
	}
	fields := apitest.Fields(page.Body)
	fields.Set("answer", "sign-in")
	fields.Set("email", u.Email)
	fields.Set("password", "not the password")
	if a := s.Form(t, "/oauth/authorize", fields); a.Status != http.StatusUnauthorized || a.Header.Get("Set-Cookie") != "" || !strings.Contains(string(a.Body), "wrong email or password") {
		t.Errorf("a wrong password: %d %s", a.Status, a.Body)
	}
	fields.Set("password", u.Password)
	signedIn := s.Form(t, "/oauth/authorize", fields)
	cookie, _, _ := strings.Cut(signedIn.Header.Get("Set-Cookie"), ";")
	if signedIn.Status != http.StatusSeeOther || !strings.HasPrefix(signedIn.Header.Get("Location"), "/oauth/authorize?") || cookie == "" {
		t.Fatalf("%d %v", signedIn.Status, signedIn.Header)
	}
	u.Cookie = cookie
	to := u.Answer(t, query, "allow")
	answer := to.Query()
	if to.Host != "127.0.0.1:1234" || to.Path != "/callback" || answer.Get("a") != "b" || answer.Get("state") != "s t&ate" || answer.Get("iss") != s.URL || !strings.HasPrefix(answer.Get("code"), "rk_oac_") {
		t.Fatalf("%s", to)
	}
	exchanged := c.Exchange(t, answer.Get("code")).OK(t)
	if exchanged.JSON["token_type"] != "Bearer" || exchanged.JSON["expires_in"] != 3600.0 || exchanged.JSON["scope"] != "evaluate history:read" || exchanged.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s", exchanged.Body)
	}
	token, refresh := exchanged.JSON["access_token"].(string), exchanged.JSON["refresh_token"].(string)
	if !works(t, s, token) {
		t.Error("the token does not work")
	}
	s.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"1+1"}`, "Authorization", "Bearer "+token).OK(t)
	s.Do(t, http.MethodGet, "/api/jobs", "", "Authorization", "Bearer "+token).Want(t, httpkit.InsufficientScope)

	list := s.Do(t, http.MethodGet, "/api/connections", "", "Cookie", u.Cookie).OK(t)
	rows, _ := list.JSON["connections"].([]any)
	if len(rows) != 1 {
		t.Fatalf("%s", list.Body)
	}
	row := rows[0].(map[string]any)
	if row["client_name"] != "Notebook" || fmt.Sprint(row["scopes"]) != "[evaluate history:read]" || row["resource"] != "api" || row["last_used_on"] != "2026-08-01" || row["created_at"] != "2026-08-01T12:00:00.000Z" {
		t.Errorf("%s", list.Body)
	}
	s.Clock.Pass(time.Hour)
	if works(t, s, token) {
		t.Error("the token works after an hour")
	}
	refreshed := c.Refresh(t, refresh).OK(t)
	token, refresh = refreshed.JSON["access_token"].(string), refreshed.JSON["refresh_token"].(string)
	if !works(t, s, token) || refreshed.JSON["scope"] != "evaluate history:read" {
		t.Errorf("%s", refreshed.Body)
	}
	other := s.NewUser(t)
	s.Do(t, http.MethodDelete, "/api/connections/"+row["connection_id"].(string), "", "Cookie", other.Cookie).Want(t, httpkit.NoSuchApp)
	for range 2 {
		s.Do(t, http.MethodDelete, "/api/connections/"+row["connection_id"].(string), "", "Cookie", u.Cookie).OK(t)
	}
	if works(t, s, token) || revokedBecause(t, s) != grant.ByPerson {
		t.Error("the token works after its app was disconnected")
	}
	wantOAuth(t, "refresh after it was disconnected", c.Refresh(t, refresh), http.StatusBadRequest, "invalid_grant")
	if list := s.Do(t, http.MethodGet, "/api/connections", "", "Cookie", u.Cookie).OK(t); strings.TrimSpace(string(list.Body)) != `{"connections":[]}` {
		t.Errorf("%s", list.Body)
	}
}

// TestSecretsThatComeTwice: a code or refresh token that comes again ends the grant with everything that came of it.
func TestSecretsThatComeTwice(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	code := u.Answer(t, c.Query(), "allow").Query().Get("code")
	first := c.Exchange(t, code).OK(t)
	wantOAuth(t, "a code again", c.Exchange(t, code), http.StatusBadRequest, "invalid_grant")
	if works(t, s, first.JSON["access_token"].(string)) || revokedBecause(t, s) != grant.ReplayedSecret {
		t.Error("the token of a code that came twice works")
	}
	wantOAuth(t, "its refresh token", c.Refresh(t, first.JSON["refresh_token"].(string)), http.StatusBadRequest, "invalid_grant")

	token, refresh := u.Connect(t, c, "", "")
	other, otherRefresh := u.Connect(t, c, "", "") // another grant, which stays
	second := c.Refresh(t, refresh).OK(t)
	if !works(t, s, token) {
		t.Error("an access token ended with a rotation")
	}
	wantOAuth(t, "a refresh token again", c.Refresh(t, refresh), http.StatusBadRequest, "invalid_grant")
	if works(t, s, token) || works(t, s, second.JSON["access_token"].(string)) || !works(t, s, other) {
		t.Error("the family was not revoked, or another one was")
	}
	wantOAuth(t, "the newest refresh token", c.Refresh(t, second.JSON["refresh_token"].(string)), http.StatusBadRequest, "invalid_grant")
	c.Refresh(t, otherRefresh).OK(t)
}

// TestSecretsThatComeAtOnce: of several that come at the same moment one is answered at most, and the grant ends.
func TestSecretsThatComeAtOnce(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	_, refresh := u.Connect(t, c, "", "")
	code := u.Answer(t, c.Query(), "allow").Query().Get("code")
	for name, exchange := range map[string]func() apitest.Answer{
		"code":          func() apitest.Answer { return c.Exchange(t, code) },
		"refresh token": func() apitest.Answer { return c.Refresh(t, refresh) },
	} {
		var all sync.WaitGroup
		answers := make([]apitest.Answer, 6)
		for i := range answers {
			all.Go(func() { answers[i] = exchange() })
		}
		all.Wait()
		exchanged := 0
		for _, a := range answers {
			if a.Status == http.StatusOK {
				exchanged++
				if works(t, s, a.JSON["access_token"].(string)) {
					t.Errorf("%s: the token works", name)
				}
				continue
			}
			wantOAuth(t, name, a, http.StatusBadRequest, "invalid_grant")
		}
		if exchanged > 1 {
			t.Errorf("%s: exchanged %d times", name, exchanged)
		}
	}
}

// TestCodesAreBound: to client, redirect address, verifier, resource and minute.
func TestCodesAreBound(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	other := s.NewClient(t)
	code := func() string { return u.Answer(t, c.Query("resource", s.URL), "allow").Query().Get("code") }
	for name, x := range map[string]struct {
		changes []string
		code    string
	}{
		"another client":       {[]string{"client_id", other.ID}, "invalid_grant"},
		"no client":            {[]string{"client_id", ""}, "invalid_client"},
		"an unknown client":    {[]string{"client_id", uuid.NewString()}, "invalid_client"},
		"a secret":             {[]string{"client_secret", "x"}, "invalid_client"},
		"another redirect":     {[]string{"redirect_uri", "https://app.example/cb"}, "invalid_grant"},
		"another port":         {[]string{"redirect_uri", "http://127.0.0.1:1235/callback?a=b"}, "invalid_grant"},
		"no redirect":          {[]string{"redirect_uri", ""}, "invalid_request"},
		"another verifier":     {[]string{"code_verifier", strings.Repeat("a", 43)}, "invalid_grant"},
		"no verifier":          {[]string{"code_verifier", ""}, "invalid_request"},
		"no code":              {[]string{"code", ""}, "invalid_request"},
		"the challenge itself": {[]string{"code_verifier", apitest.Challenge(apitest.Verifier)}, "invalid_grant"},
		"another resource":     {[]string{"resource", s.URL + "/mcp"}, "invalid_target"},
		"a foreign resource":   {[]string{"resource", "https://other.example"}, "invalid_target"},
		"a code of another":    {[]string{"code", "rk_oac_000000000000000000000000000000000000"}, "invalid_grant"},
		"another grant type":   {[]string{"grant_type", "password"}, "unsupported_grant_type"},
		"client credentials":   {[]string{"grant_type", "client_credentials"}, "unsupported_grant_type"},
		"no grant type":        {[]string{"grant_type", ""}, "invalid_request"},
	} {
		status := http.StatusBadRequest
		if x.code == "invalid_client" {
			status = http.StatusUnauthorized
		}
		wantOAuth(t, name, c.Exchange(t, code(), x.changes...), status, x.code)
	}
	late := code()
	c.Exchange(t, late, "resource", s.URL+"/").OK(t)
	late = code()
	s.Clock.Pass(time.Minute)
	wantOAuth(t, "after a minute", c.Exchange(t, late), http.StatusBadRequest, "invalid_grant")
	_, refresh := u.Connect(t, c, "", "")
	wantOAuth(t, "another client's refresh token", other.Refresh(t, refresh), http.StatusBadRequest, "invalid_grant")
	s.Clock.Pass(30 * 24 * time.Hour)
	wantOAuth(t, "a refresh token after 30 days", c.Refresh(t, refresh), http.StatusBadRequest, "invalid_grant")
	for name, a := range map[string]apitest.Answer{
		"JSON":            s.Do(t, http.MethodPost, "/oauth/token", `{}`),
		"nothing":         s.Form(t, "/oauth/token", nil),
		"twice":           s.Do(t, http.MethodPost, "/oauth/token", "grant_type=refresh_token&grant_type=refresh_token&client_id="+c.ID, "Content-Type", "application/x-www-form-urlencoded"),
		"half an escape":  s.Do(t, http.MethodPost, "/oauth/token", "grant_type=%", "Content-Type", "application/x-www-form-urlencoded"),
		"many parameters": s.Form(t, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {c.ID}, "refresh_token": {refresh}, "a": {"b"}, "code": {"x"}}),
	} {
		if a.Status != http.StatusBadRequest || a.JSON["error"] == nil {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if a := s.Do(t, http.MethodPost, "/oauth/token", strings.Repeat("a", 20_000), "Content-Type", "application/x-www-form-urlencoded"); a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: %d", a.Status)
	}
}

// TestTheConsentPageTellsNoAddresses: a wrong sign-in there is answered alike for an address that is registered and for one that is not. Time is that of
// POST /auth/login, whose handler it calls.
func TestTheConsentPageTellsNoAddresses(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	attempt := func(email, password string) apitest.Answer {
		a := s.Form(t, "/oauth/authorize", url.Values{"request": {c.Query()}, "answer": {"sign-in"}, "email": {email}, "password": {password}})
		for _, varies := range []string{"X-Request-Id", "Date", "X-Ratelimit-Remaining"} {
			a.Header.Del(varies)
		}
		return a
	}
	known := attempt(u.Email, "not the password")
	for _, other := range []apitest.Answer{attempt("nobody@example.com", "not the password"), attempt("no address", "not the password"), attempt(u.Email, ""), attempt("nobody@example.com", strings.Repeat("x", 500))} {
		if known.Status != http.StatusUnauthorized || other.Status != known.Status || string(other.Body) != string(known.Body) || !reflect.DeepEqual(other.Header, known.Header) {
			t.Errorf("%d %v %s\nnot as %d %v %s", other.Status, other.Header, other.Body, known.Status, known.Header, known.Body)
		}
	}
}

// TestARefreshMayAskForLess (RFC 6749 section 6): the access token has what was asked for, the refresh token what it had; more than that is
// refused, and uses nothing up.
func TestARefreshMayAskForLess(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	_, refresh := u.Connect(t, c, "evaluate history:read", "")
	for _, more := range []string{"jobs:write", "evaluate jobs:write", "root", "mcp"} {
		wantOAuth(t, more, c.Refresh(t, refresh, "scope", more), http.StatusBadRequest, "invalid_scope")
	}
	a := c.Refresh(t, refresh, "scope", "history:read").OK(t)
	if a.JSON["scope"] != "history:read" {
		t.Errorf("%s", a.Body)
	}
	bearer := "Bearer " + a.JSON["access_token"].(string)
	s.Do(t, http.MethodGet, "/api/history", "", "Authorization", bearer).OK(t)
	s.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"1+1"}`, "Authorization", bearer).Want(t, httpkit.InsufficientScope)
	a = c.Refresh(t, a.JSON["refresh_token"].(string)).OK(t)
	if a.JSON["scope"] != "evaluate history:read" {
		t.Errorf("all of them again: %s", a.Body)
	}
	s.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"1+1"}`, "Authorization", "Bearer "+a.JSON["access_token"].(string)).OK(t)
}

// TestAuthorizeRefusals: who asked is told where that is certain; the browser goes nowhere else.
func TestAuthorizeRefusals(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	for name, changes := range map[string][]string{
		"another host":       {"redirect_uri", "https://evil.example/cb"},
		"another path":       {"redirect_uri", "http://127.0.0.1:1234/other?a=b"},
		"another query":      {"redirect_uri", "http://127.0.0.1:1234/callback"},
		"another port, name": {"redirect_uri", "https://app.example:444/cb"},
		"a prefix":           {"redirect_uri", "https://app.example/cb/x"},
		"a user":             {"redirect_uri", "http://x@127.0.0.1:1234/callback?a=b"},
		"a fragment":         {"redirect_uri", "https://app.example/cb#x"},
		"no redirect":        {"redirect_uri", ""},
		"no client":          {"client_id", ""},
		"an unknown client":  {"client_id", uuid.NewString()},
		"too long":           {"state", strings.Repeat("s", 9000)},
	} {
		a := s.Do(t, http.MethodGet, "/oauth/authorize?"+c.Query(changes...), "", "Cookie", u.Cookie)
		if a.Status != http.StatusBadRequest || a.Header.Get("Location") != "" || !strings.Contains(string(a.Body), "cannot be connected") {
			t.Errorf("%s: %d %v %s", name, a.Status, a.Header, a.Body)
		}
	}
	for name, x := range map[string]struct {
		changes []string
		code    string
	}{
		"no PKCE":               {[]string{"code_challenge", ""}, "invalid_request"},
		"plain":                 {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"no method":             {[]string{"code_challenge_method", ""}, "invalid_request"},
		"a short challenge":     {[]string{"code_challenge", "x"}, "invalid_request"},
		"implicit":              {[]string{"response_type", "token"}, "unsupported_response_type"},
		"no response type":      {[]string{"response_type", ""}, "invalid_request"},
		"form_post":             {[]string{"response_mode", "form_post"}, "invalid_request"},
		"a request object":      {[]string{"request", "e30."}, "request_not_supported"},
		"one elsewhere":         {[]string{"request_uri", "https://evil.example/"}, "request_uri_not_supported"},
		"no such scope":         {[]string{"scope", "root"}, "invalid_scope"},
		"another's scope":       {[]string{"scope", "evaluate", "resource", s.URL + "/mcp"}, "invalid_scope"},
		"scopes of two":         {[]string{"scope", "evaluate mcp"}, "invalid_target"},
		"a foreign resource":    {[]string{"resource", "https://other.example"}, "invalid_target"},
		"a resource's path":     {[]string{"resource", s.URL + "/mcp/x"}, "invalid_target"},
		"a resource's fragment": {[]string{"resource", s.URL + "#"}, "invalid_target"},
	} {
		a := s.Do(t, http.MethodGet, "/oauth/authorize?"+c.Query(x.changes...), "", "Cookie", u.Cookie)
		to, err := url.Parse(a.Header.Get("Location"))
		if err != nil || a.Status != http.StatusSeeOther || to.Host != "127.0.0.1:1234" || to.Query().Get("error") != x.code || to.Query().Get("state") != "s t&ate" || to.Query().Get("iss") != s.URL {
			t.Errorf("%s: %d %s %s, want %s", name, a.Status, to, a.Body, x.code)
		}
		if a := s.Do(t, http.MethodGet, "/oauth/authorize?"+c.Query(x.changes...), ""); a.Status < http.StatusBadRequest || a.Header.Get("Location") != "" || !strings.Contains(string(a.Body), x.code) {
			t.Errorf("%s, with nobody signed in: %d %v %s, want %s", name, a.Status, a.Header, a.Body, x.code)
		}
	}
	if to := u.Answer(t, c.Query(), "deny"); to.Query().Get("error") != "access_denied" || to.Query().Get("code") != "" || to.Query().Get("iss") != s.URL {
		t.Errorf("denied: %s", to)
	}
	if to := u.Answer(t, c.Query("redirect_uri", "http://127.0.0.1:60000/callback?a=b", "state", ""), "allow"); to.Host != "127.0.0.1:60000" || to.Query().Has("state") || to.Query().Get("code") == "" {
		t.Errorf("another port of the loopback address: %s", to)
	}
	// Without scopes and resource: what the API has, and nothing of MCP.
	page := s.Do(t, http.MethodGet, "/oauth/authorize?"+c.Query(), "", "Cookie", u.Cookie).OK(t)
	if !strings.Contains(string(page.Body), "<code>evaluate</code>") || strings.Contains(string(page.Body), "<code>mcp</code>") {
		t.Errorf("%s", page.Body)
	}
}

// TestConsentCannotBeForged: a form needs the session, the proof of this session for this very request, and not to come from another site.
func TestConsentCannotBeForged(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	other := s.NewUser(t)
	before := appended(t, s)
	page := func(u *apitest.User, query string) url.Values {
		fields := apitest.Fields(s.Do(t, http.MethodGet, "/oauth/authorize?"+query, "", "Cookie", u.Cookie).OK(t).Body)
		fields.Set("answer", "allow")
		return fields
	}
	mine, theirs, narrow := page(u, c.Query()), page(other, c.Query()), page(u, c.Query("scope", "verify"))
	swapped, none := url.Values{"request": mine["request"], "consent": narrow["consent"], "answer": {"allow"}}, url.Values{"request": mine["request"], "answer": {"allow"}}
	for name, x := range map[string]struct {
		fields  url.Values
		headers []string
		status  int
	}{
		"no session":              {mine, nil, http.StatusUnauthorized},
		"another's proof":         {theirs, []string{"Cookie", u.Cookie}, http.StatusForbidden},
		"another request's proof": {swapped, []string{"Cookie", u.Cookie}, http.StatusForbidden},
		"no proof":                {none, []string{"Cookie", u.Cookie}, http.StatusForbidden},
		"another site":            {mine, []string{"Cookie", u.Cookie, "Origin", "https://evil.example"}, http.StatusForbidden},
		"another site's fetch":    {mine, []string{"Cookie", u.Cookie, "Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
	} {
		if a := s.Form(t, "/oauth/authorize", x.fields, x.headers...); a.Status != x.status || a.Header.Get("Location") != "" {
			t.Errorf("%s: %d %v", name, a.Status, a.Header)
		}
	}
	if after := appended(t, s); after != before {
		t.Errorf("%d events", after-before)
	}
	if a := s.Form(t, "/oauth/authorize", mine, "Cookie", u.Cookie, "Origin", s.URL); a.Status != http.StatusSeeOther {
		t.Errorf("the page's own form: %d %s", a.Status, a.Body)
	}
	if a := s.Form(t, "/oauth/authorize", url.Values{"request": {c.Query("redirect_uri", "https://evil.example")}, "answer": {"allow"}}, "Cookie", u.Cookie); a.Status != http.StatusBadRequest || a.Header.Get("Location") != "" {
		t.Errorf("a form with another address: %d %v", a.Status, a.Header)
	}
}

// TestRevokeEndpoint: a client ends its own grant with either token, and nobody else's (RFC 7009).
func TestRevokeEndpoint(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	other := s.NewClient(t)
	revoke := func(client *apitest.Client, token, hint string) apitest.Answer {
		fields := url.Values{"token": {token}, "client_id": {client.ID}}
		if hint != "" {
			fields.Set("token_type_hint", hint)
		}
		return s.Form(t, "/oauth/revoke", fields)
	}
	for _, hint := range []string{"", "access_token", "refresh_token", "nonsense"} {
		for i := range 2 {
			token, refresh := u.Connect(t, c, "", "")
			secret := []string{token, refresh}[i]
			revoke(other, secret, hint).OK(t)
			if !works(t, s, token) {
				t.Fatal("another client revoked it")
			}
			for range 2 {
				revoke(c, secret, hint).OK(t)
			}
			if works(t, s, token) || revokedBecause(t, s) != grant.ByClient {
				t.Errorf("%s %q: the token works", hint, secret)
			}
			wantOAuth(t, "its refresh token", c.Refresh(t, refresh), http.StatusBadRequest, "invalid_grant")
		}
	}
	revoke(c, "nonsense", "").OK(t)
	wantOAuth(t, "no client", s.Form(t, "/oauth/revoke", url.Values{"token": {"x"}}), http.StatusUnauthorized, "invalid_client")
}

func TestRegisterClients(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	register := func(body any) apitest.Answer {
		written, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return s.Do(t, http.MethodPost, "/oauth/register", string(written))
	}
	type m = map[string]any
	refused := 0
	for _, address := range []string{
		"", "x", "http://app.example/cb", "javascript:alert(1)", "data:text/html,x", "https:app.example", "https:///cb", "//app.example/cb", "https://u:p@app.example/cb", "https://app.example/cb#f",
		"https://app.example/c b", "https://app.example\\@evil.example/", "https://*.example/cb", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/", "javascript://cb", "https://app.example:99999999/",
		"https://a;script-src/", "HTTPS://app.example/", "https://app.example/\u00e9", "https://app.example/" + strings.Repeat("x", 500), "http://[::2]/cb",
	} {
		s.Clock.Pass(time.Hour)
		a := register(m{"redirect_uris": []string{"https://fine.example/", address}})
		wantOAuth(t, address, a, http.StatusBadRequest, "invalid_redirect_uri")
		refused++
	}
	s.Clock.Pass(time.Hour)
	for _, body := range []any{m{}, m{"redirect_uris": []string{}}, m{"redirect_uris": make([]string, 11)}} {
		wantOAuth(t, fmt.Sprint(body), register(body), http.StatusBadRequest, "invalid_redirect_uri")
	}
	for _, body := range []any{
		[]int{1}, "x", m{"redirect_uris": "https://fine.example/"}, m{"redirect_uris": []string{"https://fine.example/"}, "grant_types": []string{"password"}},
		m{"redirect_uris": []string{"https://fine.example/"}, "response_types": []string{"token"}}, m{"redirect_uris": []string{"https://fine.example/"}, "client_name": "a\u202eb"},
		m{"redirect_uris": []string{"https://fine.example/"}, "client_name": strings.Repeat("x", 101)}, m{"redirect_uris": []string{"https://fine.example/"}, "x": strings.Repeat("x", 20_000)},
	} {
		wantOAuth(t, fmt.Sprint(body), register(body), http.StatusBadRequest, "invalid_client_metadata")
	}
	s.Clock.Pass(time.Hour)
	a := register(m{"redirect_uris": []string{"http://localhost/cb", "http://[::1]:3/cb", "https://app.example"}, "client_name": "<b>x</b>", "token_endpoint_auth_method": "client_secret_basic", "logo_uri": "https://x.example"})
	if a.Status != http.StatusCreated || a.JSON["token_endpoint_auth_method"] != "none" || a.JSON["client_secret"] != nil || a.JSON["client_name"] != "<b>x</b>" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	page := s.Do(t, http.MethodGet, "/oauth/authorize?"+url.Values{"client_id": {a.JSON["client_id"].(string)}, "redirect_uri": {"https://app.example"}, "response_type": {"code"}, "code_challenge": {apitest.Challenge("x")}, "code_challenge_method": {"S256"}}.Encode(), "").OK(t)
	if strings.Contains(string(page.Body), "<b>") || !strings.Contains(string(page.Body), "&lt;b&gt;x&lt;/b&gt;") {
		t.Errorf("%s", page.Body)
	}
	last := a
	for range 25 {
		last = register(m{"redirect_uris": []string{"https://fine.example/"}})
	}
	if last.Status != http.StatusTooManyRequests || last.JSON["error"] != "temporarily_unavailable" || last.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", last.Status, last.Body)
	}
}

func TestOAuthMetadata(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	server := s.Do(t, http.MethodGet, "/.well-known/oauth-authorization-server", "").OK(t)
	if server.JSON["issuer"] != s.URL || server.JSON["token_endpoint"] != s.URL+"/oauth/token" || fmt.Sprint(server.JSON["code_challenge_methods_supported"]) != "[S256]" ||
		server.JSON["authorization_response_iss_parameter_supported"] != true || server.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%s", server.Body)
	}
	for path, want := range map[string]string{"": "[evaluate verify history:read receipts:read jobs:read jobs:write proofs:write sessions:write]", "/mcp": "[mcp]"} {
		a := s.Do(t, http.MethodGet, "/.well-known/oauth-protected-resource"+path, "").OK(t)
		if a.JSON["resource"] != s.URL+path || fmt.Sprint(a.JSON["authorization_servers"]) != "["+s.URL+"]" || fmt.Sprint(a.JSON["scopes_supported"]) != want {
			t.Errorf("%s", a.Body)
		}
	}
	challenge := s.Do(t, http.MethodGet, "/api/history", "").Header.Get("WWW-Authenticate")
	if want := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource", scope="history:read"`, s.URL); challenge != want {
		t.Errorf("%s, want %s", challenge, want)
	}
	public := apitest.Start(t, apitest.Options{PublicURL: "https://reckon.example"})
	if a := public.Do(t, http.MethodGet, "/.well-known/oauth-authorization-server", "").OK(t); a.JSON["issuer"] != "https://reckon.example" {
		t.Errorf("%s", a.Body)
	}
}

// TestAccessTokensEndWithTheirAccount: and an app cannot be connected to a closed one.
func TestAccessTokensEndWithTheirAccount(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	token, refresh := u.Connect(t, c, "", "")
	query := c.Query()
	fields := apitest.Fields(s.Do(t, http.MethodGet, "/oauth/authorize?"+query, "", "Cookie", u.Cookie).OK(t).Body)
	fields.Set("answer", "allow")
	if _, err := commands.CloseAccount(t.Context(), s.Store, commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: u.ID, Actor: "operator"}); err != nil {
		t.Fatal(err)
	}
	if works(t, s, token) {
		t.Error("a closed account's token works")
	}
	wantOAuth(t, "refresh", c.Refresh(t, refresh), http.StatusBadRequest, "invalid_grant")
	if a := s.Form(t, "/oauth/authorize", fields, "Cookie", u.Cookie); a.Status != http.StatusUnauthorized || a.Header.Get("Location") != "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestOAuthWhileTheLogIsAway: nothing is answered that is not certain, and nothing is lost.
func TestOAuthWhileTheLogIsAway(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	token, refresh := u.Connect(t, c, "", "")
	s.LogAway(true)
	if a := s.Do(t, http.MethodGet, "/api/history", "", "Authorization", "Bearer "+token); a.Status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	away := c.Refresh(t, refresh)
	wantOAuth(t, "refresh", away, http.StatusServiceUnavailable, "temporarily_unavailable")
	if away.Header.Get("Retry-After") == "" || !strings.Contains(string(away.Body), "the event log is unavailable") {
		t.Errorf("%v %s", away.Header, away.Body)
	}
	s.LogAway(false)
	c.Refresh(t, refresh).OK(t)
}

// TestWhoAsksIsLookedUpBeforeThePagesLimit: identities that are slow use up nothing of what the page may take after that, at whose end the
// event log would be told as away.
func TestWhoAsksIsLookedUpBeforeThePagesLimit(t *testing.T) {
	t.Parallel()
	s, u, c := startOAuth(t)
	theirs := account.Stream(u.ID)
	page := s.Do(t, http.MethodGet, "/oauth/authorize?"+c.Query(), "", "Cookie", u.Cookie).OK(t)
	if s.Limited(theirs) {
		t.Error("who asks for the page is looked up within its limit")
	}
	fields := apitest.Fields(page.Body)
	fields.Set("answer", "deny")
	if a := s.Form(t, "/oauth/authorize", fields, "Cookie", u.Cookie); a.Status != http.StatusSeeOther || s.Limited(theirs) {
		t.Errorf("who answers it is looked up within the limit of what follows: %d", a.Status)
	}
	u.Answer(t, c.Query(), "allow") // looks the account up again, within the limit
	if !s.Limited(theirs) {
		t.Error("what a person allows has no limit")
	}
}
