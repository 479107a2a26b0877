package readapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

// TestEveryRowIsServed: the table of who may call what has no row for a route that is not there, and each is in the description or says why
// not. A route without a row cannot be added (httpkit.Handle).
func TestEveryRowIsServed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{NoProjections: true})
	rows := access.Routes().Operations()
	slices.Sort(rows)
	rows = slices.DeleteFunc(rows, func(row string) bool { return row == "POST /billing/payments" }) // only where there is a payment provider
	if served := s.API.Operations(); !slices.Equal(rows, served) {
		t.Errorf("the table has %q\nserved are    %q", rows, served)
	}
	var description struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(s.Do(t, http.MethodGet, "/openapi.json", "").OK(t).Body, &description); err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for path, methods := range description.Paths {
		for method := range methods {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	for operation, rule := range access.Routes() {
		if described[operation] == (rule.Undescribed != "") {
			t.Errorf("%s: in the description: %v; why not: %q", operation, described[operation], rule.Undescribed)
		}
		delete(described, operation)
		if rule.Who == 0 || rule.HasScope() != (scope.Of(rule.Scope).Len() == 1) {
			t.Errorf("%s: %+v", operation, rule)
		}
	}
	if len(described) > 0 {
		t.Errorf("described and not served: %v", described)
	}
}

// mint is a token with these scopes, or with full access; days 0: it does not expire.
func mint(t *testing.T, s *apitest.Server, u *apitest.User, scopes []string, days int) (secret, id string) {
	t.Helper()
	body := map[string]any{"name": "t"}
	if scopes != nil {
		body["scopes"] = scopes
	}
	if days > 0 {
		body["expires_in_days"] = days
	}
	written, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Do(t, http.MethodPost, "/api/tokens", string(written), "Cookie", u.Cookie).OK(t)
	return a.JSON["token"].(string), a.JSON["token_id"].(string)
}

// credential is one that a request is sent with, and what it comes to by who may call the route; empty: the route is reached.
type credential struct {
	name, header, value string
	code                func(access.Rule) string
}

// always is a credential that no route takes.
func always(code string) func(access.Rule) string { return func(access.Rule) string { return code } }

// TestEveryRouteWithEveryCredential is the table of internal/access against the running API.
func TestEveryRouteWithEveryCredential(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: plentiful()})
	u, closed := s.NewUser(t), s.NewUser(t)
	bearer := func(name, secret, code string) credential {
		return credential{name: name, header: "Authorization", value: "Bearer " + secret, code: always(code)}
	}
	expired, _ := mint(t, s, u, nil, 1)
	s.Clock.Pass(25 * time.Hour)
	revoked, id := mint(t, s, u, nil, 0)
	u.Do(t, http.MethodDelete, "/api/tokens/"+id, "").OK(t)
	if _, err := commands.CloseAccount(t.Context(), s.Store, commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: closed.ID, Actor: "operator"}); err != nil {
		t.Fatal(err)
	}
	credentials := []credential{
		{name: "none", code: always("unauthenticated")},
		bearer("garbage", "x", "invalid_token"),
		bearer("an unknown token", auth.MintToken(), "invalid_token"),
		bearer("an expired token", expired, "invalid_token"),
		bearer("a revoked token", revoked, "invalid_token"),
		bearer("a closed account's token", closed.Token, "invalid_token"),
		{name: "another scheme", header: "Authorization", value: "Basic dTpw", code: always("invalid_token")},
		{name: "a garbage cookie", header: "Cookie", value: "reckon=x", code: always("unauthenticated")},
		{name: "a closed account's cookie", header: "Cookie", value: closed.Cookie, code: always("unauthenticated")},
		{name: "a browser session", header: "Cookie", value: u.Cookie, code: always("")},
		{name: "a token", header: "Authorization", value: "Bearer " + u.Token, code: func(rule access.Rule) string {
			if rule.Who == access.BrowserOnly {
				return "first_party_only"
			}
			return ""
		}},
	}
	all := scope.Of(scope.All()...)
	for _, one := range scope.All() {
		for name, scopes := range map[string]scope.Set{"a token with " + string(one): scope.Of(one), "a token without " + string(one): all.Without(scope.Of(one))} {
			secret, _ := mint(t, s, u, scopes.Names(), 0)
			credentials = append(credentials, credential{name: name, header: "Authorization", value: "Bearer " + secret, code: func(rule access.Rule) string {
				switch {
				case !rule.HasScope():
					return "first_party_only"
				case !scopes.Has(rule.Scope):
					return "insufficient_scope"
				}
				return ""
			}})
		}
	}
	client := s.NewClient(t)
	s.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	connect := func(scopes scope.Set, resource access.Resource) (token, refresh string) {
		return u.Connect(t, client, scopes.String(), resource.Path())
	}
	expiredAccess, _ := connect(access.API.Scopes(), access.API)
	s.Clock.Pass(time.Hour)
	revokedAccess, refresh := connect(access.API.Scopes(), access.API)
	s.Form(t, "/oauth/revoke", url.Values{"token": {revokedAccess}, "client_id": {client.ID}}).OK(t)
	forMCP, _ := connect(access.MCP.Scopes(), access.MCP)
	liveAccess, liveRefresh := connect(access.API.Scopes(), access.API)
	credentials = append(credentials,
		bearer("an expired access token", expiredAccess, "invalid_token"),
		bearer("a revoked access token", revokedAccess, "invalid_token"),
		bearer("a revoked refresh token", refresh, "invalid_token"),
		bearer("a refresh token", liveRefresh, "invalid_token"),
		bearer("an unknown access token", auth.AccessTokenForm.Mint(), "invalid_token"),
		credential{name: "an access token for the MCP endpoint", header: "Authorization", value: "Bearer " + forMCP, code: func(rule access.Rule) string {
			if rule.Resource() == access.MCP {
				return ""
			}
			return "invalid_token"
		}},
		credential{name: "an access token with every scope", header: "Authorization", value: "Bearer " + liveAccess, code: func(rule access.Rule) string {
			switch {
			case !rule.HasScope():
				return "first_party_only"
			case rule.Resource() != access.API:
				return "invalid_token"
			}
			return ""
		}},
	)
	for _, one := range access.API.Scopes().Scopes() {
		for name, scopes := range map[string]scope.Set{"an access token with " + string(one): scope.Of(one), "an access token without " + string(one): access.API.Scopes().Without(scope.Of(one))} {
			secret, _ := connect(scopes, access.API)
			credentials = append(credentials, credential{name: name, header: "Authorization", value: "Bearer " + secret, code: func(rule access.Rule) string {
				switch {
				case !rule.HasScope():
					return "first_party_only"
				case rule.Resource() != access.API:
					return "invalid_token"
				case !scopes.Has(rule.Scope):
					return "insufficient_scope"
				}
				return ""
			}})
		}
	}
	tried := 0
	for _, c := range credentials {
		for _, operation := range access.Routes().Operations() {
			if operation == "POST /auth/logout" && c.name == "a browser session" {
				continue // TestSignOut
			}
			tried++
			tryCredential(t, s, operation, c)
		}
	}
	if tried < 1500 {
		t.Errorf("only %d requests: the walk is wrong", tried)
	}
}

// refusals are the codes with which a credential is refused.
var refusals = []string{"unauthenticated", "invalid_token", "first_party_only", "insufficient_scope"}

func tryCredential(t *testing.T, s *apitest.Server, operation string, c credential) {
	t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	rule, _ := access.Routes().Of(method, path)
	r := servedRoute{Method: method, Path: path}
	body := ""
	if minimal := r.minimal(); minimal != nil && method == http.MethodPost {
		written, err := json.Marshal(minimal)
		if err != nil {
			t.Fatal(err)
		}
		body = string(written)
	}
	var headers []string
	if c.header != "" {
		headers = []string{c.header, c.value}
	}
	a := s.Do(t, method, r.at(strings.Repeat("0", 64)), body, headers...)
	want := ""
	if rule.Who != access.Public {
		want = c.code(rule)
	}
	got := a.Code()
	if !slices.Contains(refusals, got) {
		got = ""
	}
	challenge := a.Header.Get("WWW-Authenticate")
	switch {
	case rule.Who == access.TokenOnly && c.header == "Cookie":
		if got != "unauthenticated" {
			t.Errorf("%s with %s: %d %.200s", operation, c.name, a.Status, a.Body)
		}
	case got != want:
		t.Errorf("%s with %s: %d %.200s, want %q", operation, c.name, a.Status, a.Body, want)
	case want == "insufficient_scope" && challenge != fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource%s", error="insufficient_scope", scope=%q`, s.URL, rule.Resource().Path(), rule.Scope),
		want == "invalid_token" && !strings.Contains(challenge, `error="invalid_token"`),
		want == "unauthenticated" && (challenge == "" || strings.Contains(challenge, "error")),
		want == "first_party_only" && challenge != "":
		t.Errorf("%s with %s: WWW-Authenticate %q", operation, c.name, challenge)
	}
}

// TestOtherAccountsThingsAreNotThere: what belongs to one account is to another as if it did not exist.
func TestOtherAccountsThingsAreNotThere(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: plentiful()})
	owner, other := s.NewUser(t), s.NewUser(t)
	plotted := owner.Evaluate(t, "Plot[x,{x,0,1}]").OK(t)
	run := fmt.Sprintf("%.0f", plotted.JSON["run_id"])
	job := owner.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1"}`).OK(t).JSON["job_id"].(string)
	owner.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"x=5","session_id":"s"}`).OK(t)
	certified := uuid.NewString()
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: owner.ID, Actor: "operator"}
	if _, err := s.Store.Append(t.Context(), certificate.Stream(certified), event.NoStream, in.Propose(certificate.Stream(certified), []event.Event{certificate.Issued{CertificateID: certified, Account: owner.ID, Verdict: certificate.Verified}})); err != nil {
		t.Fatal(err)
	}
	burst := fresh(t, func() apitest.Answer { return owner.Do(t, http.MethodGet, "/api/bursts/locate?run_id="+run, "") }).OK(t).JSON["burst_id"].(string)
	things := map[string]struct {
		id   string
		kind httpkit.Kind
	}{
		"GET /api/plots/{id}":              {run, httpkit.NoSuchRun},
		"GET /api/bursts/{id}":             {burst, httpkit.NoSuchBurst},
		"GET /api/receipts/{id}":           {run, httpkit.NoSuchRun},
		"GET /api/receipts/{id}/inclusion": {run, httpkit.NoSuchRun},
		"GET /api/jobs/{id}":               {job, httpkit.NoSuchJob},
		"DELETE /api/jobs/{id}":            {job, httpkit.NoSuchJob},

		"GET /api/jobs/{id}/statevector.npy": {job, httpkit.NoSuchJob},

		"DELETE /api/connections/{id}": {uuid.NewString(), httpkit.NoSuchApp},           // TestConnectAnApp tries another account's
		"DELETE /api/sign-ins/{id}":    {strings.Repeat("0", 32), httpkit.NoSuchSignIn}, // TestSignIns tries another account's
		"DELETE /api/tokens/{id}":      {owner.TokenID, httpkit.NoSuchToken},
		"GET /api/certificates/{id}":   {certified, httpkit.NoCertificate},
	}
	for _, operation := range access.Routes().Operations() {
		method, path, _ := strings.Cut(operation, " ")
		rule, _ := access.Routes().Of(method, path)
		if rule.Who == access.Public || !strings.Contains(path, "{") {
			continue
		}
		if path == "/api/sessions/{id}" { // the name is the account's own: another one's session of that name does not exist
			if a := other.Do(t, method, "/api/sessions/s", "").OK(t); a.JSON["existed"] != false {
				t.Errorf("%s: %s", operation, a.Body)
			}
			continue
		}
		thing, known := things[operation]
		if !known {
			t.Errorf("%s: this test does not know whose things it answers", operation)
			continue
		}
		headers := []string{"Authorization", "Bearer " + other.Token}
		if rule.Who == access.BrowserOnly {
			headers = []string{"Cookie", other.Cookie}
		}
		s.Do(t, method, servedRoute{Path: path}.at(thing.id), "", headers...).Want(t, thing.kind)
	}
	other.Do(t, http.MethodPost, "/api/verify", `{"run_id":`+run+`}`).Want(t, httpkit.NoSuchRun)
	for path, list := range map[string]string{"/api/history": "runs", "/api/jobs": "jobs", "/api/tokens": "tokens", "/api/sessions": "sessions", "/api/certificates": "certificates", "/api/bursts": "bursts"} {
		theirs, mine := other.Do(t, http.MethodGet, path, "").OK(t), owner.Do(t, http.MethodGet, path, "").OK(t)
		allowed := 0
		if path == "/api/tokens" {
			allowed = 1 // their own
		}
		if rows, ok := theirs.JSON[list].([]any); !ok || len(rows) != allowed {
			t.Errorf("%s of another account: %s", path, theirs.Body)
		}
		if rows, _ := mine.JSON[list].([]any); len(rows) == 0 && path != "/api/certificates" {
			t.Errorf("%s of the owner: %s", path, mine.Body)
		}
	}
	owner.Do(t, http.MethodDelete, "/api/jobs/"+job, "").OK(t)
	owner.Do(t, http.MethodGet, "/api/certificates/"+certified, "").OK(t)
}

// TestTokensWithScopes: the list and the answer say what a token may do, and names that are no scope's are refused.
func TestTokensWithScopes(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	ask := func(body string) apitest.Answer {
		return s.Do(t, http.MethodPost, "/api/tokens", body, "Cookie", u.Cookie)
	}
	for _, body := range []string{`{"name":"n","scopes":[]}`, `{"name":"n","scopes":["root"]}`, `{"name":"n","scopes":"evaluate"}`, `{"name":"n","scopes":["Evaluate"]}`, `{"name":"n","scopes":[""]}`} {
		ask(body).Want(t, httpkit.InvalidRequest)
	}
	limited := ask(`{"name":"n","scopes":["history:read","evaluate","evaluate"]}`).OK(t)
	if got := fmt.Sprint(limited.JSON["scopes"]); got != "[evaluate history:read]" {
		t.Errorf("%s", limited.Body)
	}
	token := limited.Header.Get("Consistency-Token")
	list := s.Do(t, http.MethodGet, "/api/tokens", "", "Cookie", u.Cookie, "Consistency-Token", token).OK(t)
	rows, _ := list.JSON["tokens"].([]any)
	if len(rows) != 2 || fmt.Sprint(rows[0].(map[string]any)["scopes"]) != "[evaluate history:read]" || rows[1].(map[string]any)["scopes"] != nil {
		t.Errorf("%s", list.Body)
	}
	if full := ask(`{"name":"n"}`).OK(t); full.JSON["scopes"] != nil || !strings.Contains(string(full.Body), `"scopes":null`) {
		t.Errorf("%s", full.Body)
	}
}
