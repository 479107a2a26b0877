package readapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/ratelimit"
	"reckon/test/apitest"
)

// servedRoute is one operation of the description.
type servedRoute struct {
	Method, Path string
	Parameters   []struct {
		Name, In string
		Schema   map[string]any
	}
	RequestBody struct {
		Content map[string]struct{ Schema map[string]any }
	}
	Responses map[string]struct{ Headers map[string]any }
	described described
}

// servedRoutes lists the operations of the description in the order of their paths.
func servedRoutes(t *testing.T, s *apitest.Server) []servedRoute {
	t.Helper()
	description := s.Do(t, http.MethodGet, "/openapi.json", "").OK(t).Body
	var api struct {
		Paths map[string]map[string]servedRoute
	}
	if err := json.Unmarshal(description, &api); err != nil {
		t.Fatal(err)
	}
	var routes []servedRoute
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[path])) {
			route := api.Paths[path][method]
			route.Path, route.Method, route.described = path, strings.ToUpper(method), registryOf(t, description)
			routes = append(routes, route)
		}
	}
	if len(routes) < 25 {
		t.Fatalf("only %d routes: the walk is wrong", len(routes))
	}
	return routes
}

// at is the path with every parameter set to value.
func (r servedRoute) at(value string) string {
	return regexp.MustCompile(`\{\w+\}`).ReplaceAllLiteralString(r.Path, url.PathEscape(value))
}

// fields are the members of the route's JSON body with their schemas; those of its
// alternatives together.
func (r servedRoute) fields() map[string]map[string]any {
	all := map[string]map[string]any{}
	r.described.collect(all, r.RequestBody.Content["application/json"].Schema)
	return all
}

func (d described) collect(into map[string]map[string]any, schema map[string]any) {
	if ref, ok := schema["$ref"].(string); ok {
		schema, _ = d[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	for _, combined := range []string{"oneOf", "anyOf", "allOf"} {
		alternatives, _ := schema[combined].([]any)
		for _, alternative := range alternatives {
			d.collect(into, alternative.(map[string]any))
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		if into[name] == nil && property.(map[string]any)["type"] != "null" { // what another alternative must not have
			into[name] = property.(map[string]any)
		}
	}
}

// membersOf are the properties of a schema; those of its alternatives together.
func (d described) membersOf(name string) map[string]map[string]any {
	all := map[string]map[string]any{}
	d.collect(all, map[string]any{"$ref": "#/components/schemas/" + name})
	return all
}

// ask sends a request as somebody who may use every route: with a token, and with a
// browser session where a token is refused.
func (r servedRoute) ask(t *testing.T, u *apitest.User, s *apitest.Server, path, body string, headers ...string) apitest.Answer {
	t.Helper()
	a := u.Do(t, r.Method, path, body, headers...)
	if a.Code() == "first_party_only" {
		a = s.Do(t, r.Method, path, body, append([]string{"Cookie", u.Cookie}, headers...)...)
	}
	return a
}

// internals are words of the program that no client knows.
var internals = regexp.MustCompile(`json: |Go (struct|value)|\bstruct\b|\bmap\[|<nil>|strconv|unmarshal|reflect|\bu?int(8|16|32|64)\b|float64|e\+[0-9]`)

func TestNoAnswerNamesWhatTheProgramIsMadeOf(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: plentiful()})
	u, asked := s.NewUser(t), 0
	check := func(r servedRoute, what, path, body string) {
		t.Helper()
		asked++
		a := r.ask(t, u, s, path, body)
		if a.Status >= http.StatusInternalServerError && a.Code() != "no_elaboration" || internals.Match(a.Body) {
			t.Errorf("%s %s with %s: %d %s", r.Method, r.Path, what, a.Status, a.Body)
		}
	}
	values := []string{`1.0`, `1e3`, `1.5`, `-1`, `1e30`, `1e400`, `9223372036854775808`, `9007199254740993`, `0.1e-999999999999`, `true`, `"x"`, `[]`, `[1]`, `{}`, `null`}
	for _, r := range servedRoutes(t, s) {
		for field := range r.fields() {
			for _, value := range values {
				body := fmt.Sprintf(`{%q:%s}`, field, value)
				check(r, body, r.at("1"), body)
				whole := r.minimal() // but for this field
				whole[field] = json.RawMessage(value)
				written, err := json.Marshal(whole)
				if err != nil {
					t.Fatal(err)
				}
				check(r, string(written), r.at("1"), string(written))
				if field != "circuit" {
					continue
				}
				for member := range r.described.membersOf("CircuitInput") {
					body := fmt.Sprintf(`{"kind":"qsim","circuit":{"qubits":2,"gates":[],%q:%s}}`, member, value)
					check(r, body, r.at("1"), strings.Replace(body, `"gates":[],"gates"`, `"gates"`, 1))
				}
				for member := range r.described.membersOf("CircuitEntryInput") {
					for _, entry := range []string{`"gate":"h","target":0`, `"if":{"measured":0},"then":[]`, `"while":{"measured":0},"do":[]`} {
						if strings.Contains(entry, `"`+member+`"`) {
							entry = `"gate":"h"`
						}
						body := fmt.Sprintf(`{"kind":"qsim","circuit":{"qubits":2,"gates":[{%s,%q:%s}]}}`, entry, member, value)
						check(r, body, r.at("1"), body)
					}
				}
				for member := range r.described.membersOf("CircuitConditionInput") {
					body := fmt.Sprintf(`{"kind":"qsim","circuit":{"qubits":2,"gates":[{"if":{%q:%s},"then":[]}]}}`, member, value)
					check(r, body, r.at("1"), body)
				}
			}
		}
		for _, p := range r.Parameters {
			for _, value := range values {
				switch p.In {
				case "path":
					check(r, p.Name+" "+value, r.at(value), "")
				case "query":
					query := "?" + p.Name + "=" + url.QueryEscape(value)
					check(r, query, r.at("1")+query, "")
				}
			}
		}
	}
	if asked < 400 {
		t.Errorf("only %d requests: the walk is wrong", asked)
	}
}

// TestEnumerationsAreListedInFull: who writes a value that does not exist is told all that do.
func TestEnumerationsAreListedInFull(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, seen := s.NewUser(t), 0
	for _, r := range servedRoutes(t, s) {
		for _, p := range r.Parameters {
			values, _ := p.Schema["enum"].([]any)
			if len(values) == 0 {
				continue
			}
			seen++
			a := r.ask(t, u, s, r.at("1")+"?"+p.Name+"=zzz", "")
			for _, value := range values {
				if detail, _ := a.JSON["detail"].(string); !strings.Contains(detail, value.(string)) {
					t.Errorf("%s %s: %q does not name %s", r.Method, r.Path, detail, value)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d enumerations: the walk is wrong", seen)
	}
}

// minimal are bodies that each route with a JSON body accepts the form of, before one field is made empty.
func (r servedRoute) minimal() map[string]any {
	switch r.Path {
	case "/api/evaluate", "/api/public/evaluate", "/api/jobs":
		return map[string]any{"expression": "1+1"}
	case "/api/verify":
		return map[string]any{"code": "1+1", "result": "2"}
	case "/api/tokens":
		return map[string]any{"name": "a"}
	case "/api/proofs/validate":
		return map[string]any{"declarations": []string{"a"}, "upload_id": "b3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e"}
	case "/api/proofs/elaborate":
		return map[string]any{"source": "theorem a : True := trivial"}
	case "/auth/close":
		return map[string]any{"current_password": "not the password"}
	case "/auth/password":
		return map[string]any{"current_password": "not the password", "new_password": "another horse"}
	case "/auth/register", "/auth/login":
		return map[string]any{"email": "a@example.com", "password": "correct horse"}
	}
	return nil
}

// TestEmptyTextsAreRefused: to leave a thing out is the one way to say nothing, in a body,
// a query and a header.
func TestEmptyTextsAreRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: plentiful()})
	u, asked := s.NewUser(t), 0
	refused := func(r servedRoute, what string, a apitest.Answer) {
		t.Helper()
		asked++
		if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), "empty") && !strings.Contains(string(a.Body), "length >= 1") && !strings.Contains(string(a.Body), "1 to ") &&
			!strings.Contains(string(a.Body), `"code":"unknown_job_kind"`) && !strings.Contains(string(a.Body), `"code":"verify_input"`) && !strings.Contains(string(a.Body), `"code":"invalid_module"`) &&
			!strings.Contains(string(a.Body), "length >= 8") {
			t.Errorf("%s %s with an empty %s: %d %s", r.Method, r.Path, what, a.Status, a.Body)
		}
	}
	for _, r := range servedRoutes(t, s) {
		for name, schema := range r.fields() {
			empty := any("")
			if slices.Contains(typesOf(schema), "array") {
				if items, _ := schema["items"].(map[string]any); items["type"] != "string" {
					continue
				}
				empty = []string{""}
			} else if !slices.Contains(typesOf(schema), "string") {
				continue
			}
			body := r.minimal()
			if body == nil {
				t.Fatalf("%s %s has a body that this test does not know", r.Method, r.Path)
			}
			if r.Path == "/api/jobs" && name != "expression" && name != "session_id" && name != "kind" && name != "idempotency_key" {
				body = map[string]any{"kind": "proof", "declarations": []string{"a"}}
			}
			body[name] = empty
			written, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			refused(r, "body."+name, r.ask(t, u, s, r.at("1"), string(written)))
		}
		body := ""
		if minimal := r.minimal(); minimal != nil && r.Method == http.MethodPost {
			written, err := json.Marshal(minimal)
			if err != nil {
				t.Fatal(err)
			}
			body = string(written)
		}
		for _, p := range r.Parameters {
			if p.Name == "If-None-Match" || p.Name == "If-Match" {
				continue // lists of validators, which may be empty (RFC 9110, 5.6.1)
			}
			switch p.In {
			case "query":
				refused(r, p.Name, r.ask(t, u, s, r.at("1")+"?"+p.Name+"=", body))
				refused(r, p.Name+" without =", r.ask(t, u, s, r.at("1")+"?"+p.Name, body))
			case "header":
				refused(r, p.Name, r.ask(t, u, s, r.at("1"), body, p.Name, ""))
			}
		}
	}
	if asked < 50 {
		t.Errorf("only %d requests: the walk is wrong", asked)
	}
	for path, query := range map[string]string{"/api/history": "query=%20"} {
		if a := u.Do(t, http.MethodGet, path+"?"+query, ""); a.Status != http.StatusBadRequest {
			t.Errorf("%s?%s: %d %s", path, query, a.Status, a.Body)
		}
	}
	for _, session := range []string{"", ".", ".."} {
		body := fmt.Sprintf(`{"expression":"1","session_id":%q}`, session)
		u.Do(t, http.MethodPost, "/api/evaluate", body).Want(t, httpkit.InvalidSessionID)
		u.Do(t, http.MethodPost, "/api/jobs", body).Want(t, httpkit.InvalidSessionID)
	}
	u.Do(t, http.MethodDelete, "/api/sessions/%2E%2E", "").Want(t, httpkit.InvalidSessionID)
}

// typesOf are the types that a schema allows.
func typesOf(schema map[string]any) []any {
	if list, several := schema["type"].([]any); several {
		return list
	}
	return []any{schema["type"]}
}

// plentiful are plans whose limits no test reaches.
func plentiful() account.Plans {
	plans := account.DefaultPlans()
	for i := range plans {
		plans[i].PerMinute, plans[i].JobsPerDay = 10_000, 10_000
	}
	return plans
}

// TestUUIDsInEitherCase: every path and body that takes a UUID takes it in capitals too.
func TestUUIDsInEitherCase(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: plentiful()})
	u := s.NewUser(t)
	job := u.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1"}`).OK(t).JSON["job_id"].(string)
	ids := 0
	for _, r := range servedRoutes(t, s) {
		for _, p := range r.Parameters {
			if p.In != "path" || p.Schema["format"] != "uuid" {
				continue
			}
			ids++
			if !strings.HasPrefix(r.Path, "/api/jobs/") {
				continue
			}
			if strings.HasSuffix(r.Path, ".npy") { // a job without a file is known all the same
				u.Do(t, r.Method, r.at(strings.ToUpper(job)), "").Want(t, httpkit.NoStatevector)
				continue
			}
			if a := u.Do(t, r.Method, r.at(strings.ToUpper(job)), "").OK(t); a.JSON["job_id"] != job {
				t.Errorf("%s %s: %s", r.Method, r.Path, a.Body)
			}
		}
	}
	if ids != 7 {
		t.Errorf("%d paths take a UUID, of 7", ids)
	}
	for _, other := range []string{"{" + job + "}", "urn:uuid:" + job, strings.ReplaceAll(job, "-", ""), job + "0", "x"} {
		u.Do(t, http.MethodGet, "/api/jobs/"+url.PathEscape(other), "").Want(t, httpkit.NoSuchJob)
	}
}

// TestMethodsOnEveryRoute: every address answers a method that it does not take with 405,
// and OPTIONS with what it takes.
func TestMethodsOnEveryRoute(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	taken := map[string][]string{"/openapi.json": {"GET"}, "/docs": {"GET"}, "/docs/errors": {"GET"}, "/docs/reference.js": {"GET"}, "/docs/reference.css": {"GET"}, "/llms.txt": {"GET"}, "/agents.md": {"GET"}, "/mcp": {"POST"}}
	for _, r := range servedRoutes(t, s) {
		taken[r.Path] = append(taken[r.Path], r.Method)
	}
	for path, methods := range taken {
		if slices.Contains(methods, http.MethodGet) {
			methods = append(methods, http.MethodHead)
		}
		methods = append(methods, http.MethodOptions)
		slices.Sort(methods)
		allow, at := strings.Join(methods, ", "), servedRoute{Path: path}.at("1")
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get"} {
			if slices.Contains(methods, method) {
				continue
			}
			a := s.Do(t, method, at, "")
			if a.Code() != "method_not_allowed" || a.Status != http.StatusMethodNotAllowed || a.Header.Get("Allow") != allow {
				t.Errorf("%s %s: %d, Allow %q, want 405 with %q: %s", method, at, a.Status, a.Header.Get("Allow"), allow, a.Body)
			}
		}
		a := s.Do(t, http.MethodOptions, at, "")
		if a.Status != http.StatusNoContent || a.Header.Get("Allow") != allow {
			t.Errorf("OPTIONS %s: %d, Allow %q, want %q", at, a.Status, a.Header.Get("Allow"), allow)
		}
	}
}

// TestPublicReadsCrossOrigin: what pages of other sites may read they may ask for with any
// header, and what they may not is not offered.
func TestPublicReadsCrossOrigin(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	public := map[string]bool{"/api/docs/search": true, "/api/docs/symbol/{name}": true, "/api/docs/support": true, "/api/docs/availability.json": true, "/billing/plans": true, "/.well-known/service-keys.json": true, "/api/certificates/{id}/public": true, "/api/certificates/{id}/inclusion": true, "/.well-known/transparency-log.json": true, "/transparency/checkpoint": true, "/transparency/tile/{a}/{b}": true, "/openapi.json": true, "/docs": true, "/docs/errors": true, "/docs/reference.js": true, "/docs/reference.css": true, "/llms.txt": true, "/agents.md": true}
	paths := slices.Sorted(maps.Keys(public))
	for _, r := range servedRoutes(t, s) {
		if !public[r.Path] {
			paths = append(paths, r.Path)
		}
	}
	for _, path := range paths {
		at := servedRoute{Path: path}.at("b3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e")
		a := s.Do(t, http.MethodOptions, at, "", "Origin", "https://example.org", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "if-none-match, api-version")
		var got []string
		for name := range a.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				got = append(got, name+": "+a.Header.Get(name))
			}
		}
		slices.Sort(got)
		var want []string
		if public[path] {
			want = []string{"Access-Control-Allow-Headers: API-Version, If-None-Match, X-Request-Id", "Access-Control-Allow-Methods: GET, HEAD", "Access-Control-Allow-Origin: *",
				"Access-Control-Expose-Headers: ETag, API-Version, X-Request-Id, Retry-After", "Access-Control-Max-Age: 86400"}
		}
		if a.Status != http.StatusNoContent || !slices.Equal(got, want) {
			t.Errorf("%s: %d %q, want %q", at, a.Status, got, want)
		}
		for _, headers := range [][]string{{}, {"API-Version", "1999-01"}} {
			a := s.Do(t, http.MethodGet, at, "", headers...)
			if origin := a.Header.Get("Access-Control-Allow-Origin"); public[path] != (origin == "*") {
				t.Errorf("GET %s %v: %d, Access-Control-Allow-Origin %q", at, headers, a.Status, origin)
			}
		}
	}
}

// noTheorem is an elaborator that finds an error in every source.
type noTheorem struct{}

func (noTheorem) Elaborate(context.Context, string, string, []string) (commands.Elaborated, error) {
	return commands.Elaborated{Messages: []commands.ElaborationMessage{{Severity: commands.SeverityError, Line: 1, Message: "not a theorem"}}}, nil
}

// TestLimitedAnswersSayTheLimit: a route whose answers are counted says so in each of them,
// and one that may be asked again later says when.
func TestLimitedAnswersSayTheLimit(t *testing.T) {
	t.Parallel()
	plans := account.DefaultPlans()
	plans[0].PerMinute, plans[0].JobsPerDay = 2, 2
	rule := ratelimit.Rule{Requests: 2, Window: time.Minute}
	limited := 0
	for _, r := range servedRoutes(t, apitest.Start(t, apitest.Options{})) {
		if r.Responses["200"].Headers["X-RateLimit-Limit"] == nil {
			continue
		}
		limited++
		s := apitest.Start(t, apitest.Options{Plans: plans, Rules: identity.Rules{Registrations: rule, SignIns: rule}, Elaborator: noTheorem{}, AnonymousPerHour: 2})
		u := s.NewUser(t)
		body, err := json.Marshal(r.minimal())
		if err != nil {
			t.Fatal(err)
		}
		over := false
		for range 4 {
			a := r.ask(t, u, s, r.at("1"), string(body), "Content-Type", "application/json")
			for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
				if a.Header.Get(name) == "" {
					t.Errorf("%s %s: %d without %s: %s", r.Method, r.Path, a.Status, name, a.Body)
				}
			}
			over = over || a.Status == http.StatusTooManyRequests
			if wait := a.Header.Get("Retry-After"); (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable) != (wait != "") {
				t.Errorf("%s %s: %d, Retry-After %q", r.Method, r.Path, a.Status, wait)
			}
		}
		if !over {
			t.Errorf("%s %s is never limited", r.Method, r.Path)
		}
	}
	if limited < 8 {
		t.Errorf("only %d limited routes", limited)
	}
}

// TestWhatIsAwayIsAskedLater: with the log away every 503 says when to try again.
func TestWhatIsAwayIsAskedLater(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, away := s.NewUser(t), 0
	s.LogAway(true)
	for _, r := range servedRoutes(t, s) {
		body, err := json.Marshal(r.minimal())
		if err != nil {
			t.Fatal(err)
		}
		a := u.Do(t, r.Method, r.at("1"), string(body))
		if a.Status != http.StatusServiceUnavailable {
			continue
		}
		if away++; a.Header.Get("Retry-After") == "" || r.Responses["503"].Headers["Retry-After"] == nil {
			t.Errorf("%s %s: Retry-After %q, described: %v", r.Method, r.Path, a.Header.Get("Retry-After"), r.Responses["503"].Headers)
		}
	}
	if away < 10 {
		t.Errorf("only %d routes were away", away)
	}
}
