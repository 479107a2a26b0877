package readapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

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
		if into[name] == nil {
			into[name] = property.(map[string]any)
		}
	}
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
var internals = regexp.MustCompile(`json: |Go (struct|value)|strconv|unmarshal|\bu?int(8|16|32|64)\b|float64|e\+[0-9]`)

func TestNoAnswerNamesWhatTheProgramIsMadeOf(t *testing.T) {
	s := apitest.Start(t, apitest.Options{})
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
