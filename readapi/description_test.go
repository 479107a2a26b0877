package readapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

//go:generate go test . -run TestDescription -update

var update = flag.Bool("update", false, "write docs/api/openapi.json and docs/errors.md")

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says (%v); run: go generate ./readapi", path, err)
	}
}

func TestDescriptionIsServedAndKept(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	a := s.Do(t, http.MethodGet, "/openapi.json", "").OK(t)
	golden(t, "../docs/api/openapi.json", a.Body)
	golden(t, "../docs/errors.md", errorsPage(s.API.Kinds()))
	if a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Cache-Control") != "public, max-age=86400" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", a.Header)
	}
}

func errorsPage(kinds []httpkit.Kind) []byte {
	var page bytes.Buffer
	page.WriteString("# Error codes\n\nGenerated from internal/httpkit/kinds.go and the declarations of the kinds of job by `go generate ./readapi`.\n\n" +
		"Every error is `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, `code`, `error` (the same text as `detail`), `request_id`,\n" +
		"`errors` (the single faults of a refused request) and, where an evaluation was logged without an answer, `run_id`.\n\n" +
		"A request refused before it is read (a head that is not HTTP, another `Expect`, a head over 64 KiB, another version of HTTP) gets\n" +
		"the same form of answer; then the connection is closed.\n\n| code | status | means | what to do |\n|---|---|---|---|\n")
	for _, kind := range kinds {
		fmt.Fprintf(&page, "| `%s` | %d | %s | %s |\n", kind.Code, kind.Status, kind.Title, kind.Help)
	}
	return page.Bytes()
}

// TestDescriptionTellsTheTruth compares the description with what is served.
func TestDescriptionTellsTheTruth(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	description := s.Do(t, http.MethodGet, "/openapi.json", "").OK(t)
	var api struct {
		OpenAPI    string
		Paths      map[string]map[string]struct{ Security []map[string][]string }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(description.Body, &api); err != nil || !strings.HasPrefix(api.OpenAPI, "3.1") {
		t.Fatal(err, api.OpenAPI)
	}
	for _, path := range []string{
		"/healthz", "/readyz", "/auth/register", "/auth/login", "/auth/logout", "/auth/password", "/auth/close", "/api/sign-ins", "/api/sign-ins/{id}", "/api/tokens", "/api/tokens/{id}", "/api/evaluate", "/api/verify",
		"/api/receipts/{id}", "/api/plots/{id}", "/api/history", "/api/sessions", "/api/sessions/{id}", "/api/jobs", "/api/jobs/{id}", "/billing/plans", "/.well-known/service-keys.json",
	} {
		if api.Paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
	for path, methods := range api.Paths {
		for method, operation := range methods {
			a := s.Do(t, strings.ToUpper(method), strings.NewReplacer("{id}", "1").Replace(path), "")
			if closed := len(operation.Security) > 0; closed != (a.Status == http.StatusUnauthorized) {
				t.Errorf("%s %s: described as closed: %v, answers %d without a credential", method, path, closed, a.Status)
			}
		}
	}
	if api.Components.Schemas["Problem"] == nil || strings.Contains(string(description.Body), "$schema") {
		t.Error("the description has no Problem, or a $schema")
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	for path, want := range map[string]string{"/docs": "/api/evaluate", "/docs/errors": `id="rate_limited"`} {
		a := s.Do(t, http.MethodGet, path, "").OK(t)
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(string(a.Body), want) || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: %v", path, a.Header)
		}
		if inline := strings.Count(string(a.Body), "<script") - strings.Count(string(a.Body), `<script src="/docs/`); inline != 0 || strings.Contains(string(a.Body), "<style") ||
			strings.Contains(string(a.Body), "http://") || strings.Contains(string(a.Body), "https://") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s is not of this service alone", path)
		}
	}
}

// TestAnswersAreAsDescribed checks real answers against the schemas that describe them.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	s, _ := signed(t)
	u := s.NewUser(t)
	schemas := registryOf(t, s.Do(t, http.MethodGet, "/openapi.json", "").Body)
	check := func(name string, a apitest.Answer) {
		t.Helper()
		var value any
		if err := json.Unmarshal(a.Body, &value); err != nil {
			t.Fatal(err)
		}
		if faults := schemas.faults(name, value); len(faults) > 0 {
			t.Errorf("%s: %v in %s", name, faults, a.Body)
		}
	}
	for _, expression := range []string{"1+1", "f[x]", "Plot[x,{x,0,1}]", "Print[<&>]"} {
		check("Evaluation", u.Evaluate(t, expression).OK(t))
	}
	check("Problem", u.Evaluate(t, "While[True]"))
	check("Problem", u.Do(t, http.MethodPost, "/api/evaluate", `{"input":1}`))
	u.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"x=5","session_id":"s"}`).OK(t)
	check("VerifyOutputBody", u.Do(t, http.MethodPost, "/api/verify", `{"run_id":2}`).OK(t))
	check("VerifyOutputBody", u.Do(t, http.MethodPost, "/api/verify", `{"run_id":1}`).OK(t))
	check("HistoryOutputBody", u.Do(t, http.MethodGet, "/api/history", "").OK(t))
	check("ReceiptOutputBody", u.Do(t, http.MethodGet, "/api/receipts/1", "").OK(t))
	check("ReceiptOutputBody", u.Do(t, http.MethodGet, "/api/receipts/2", "").OK(t))
	check("SessionsOutputBody", u.Do(t, http.MethodGet, "/api/sessions", "").OK(t))
	check("TokensOutputBody", u.Do(t, http.MethodGet, "/api/tokens", "").OK(t))
	check("SignInsOutputBody", s.Do(t, http.MethodGet, "/api/sign-ins", "", "Cookie", u.Cookie).OK(t))
	check("KeysOutputBody", s.Do(t, http.MethodGet, "/.well-known/service-keys.json", "").OK(t))
	var id string
	for kind, submission := range map[string]string{
		"Evaluate": `{"expression":"1+1","session_id":"s"}`,
		"Qsim":     `{"kind":"qsim","circuit":{"qubits":2,"statevector":true,"gates":[{"gate":"h","target":0},{"gate":"CX","control":[0],"target":1}]}}`,
	} {
		receipt := u.Do(t, http.MethodPost, "/api/jobs", submission).OK(t)
		check("JobReceipt", receipt)
		check(kind+"JobReceipt", receipt)
		id = receipt.JSON["job_id"].(string)
		s.RunJob(t, id)
		ended := u.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t)
		check("Job", ended)
		check(kind+"Job", ended)
		if ended.JSON["result"] == nil {
			t.Errorf("%s", ended.Body)
		}
	}
	check("JobsOutputBody", u.Do(t, http.MethodGet, "/api/jobs", "").OK(t))
	check("CancelOutputBody", u.Do(t, http.MethodDelete, "/api/jobs/"+id, "").OK(t))
	check("PlansOutputBody", s.Do(t, http.MethodGet, "/billing/plans", "").OK(t))
	check("Readiness", s.Do(t, http.MethodGet, "/readyz", ""))
}

// described are the schemas of a description, read back as a client reads them.
type described map[string]any

func registryOf(t *testing.T, description []byte) described {
	t.Helper()
	var api struct{ Components struct{ Schemas described } }
	if err := json.Unmarshal(description, &api); err != nil {
		t.Fatal(err)
	}
	return api.Components.Schemas
}

// faults checks the part of JSON Schema that the description uses.
func (d described) faults(name string, value any) []string { return d.check(d[name], name, value) }

func (d described) check(schema any, at string, value any) (faults []string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return []string{at + ": no schema"}
	}
	if ref, ok := s["$ref"].(string); ok {
		return d.faults(strings.TrimPrefix(ref, "#/components/schemas/"), value)
	}
	if options, ok := s["oneOf"].([]any); ok {
		fitting := 0
		for _, option := range options {
			if len(d.check(option, at, value)) == 0 {
				fitting++
			}
		}
		if fitting != 1 {
			faults = append(faults, fmt.Sprintf("%s: %d of %d alternatives fit", at, fitting, len(options)))
		}
		return faults
	}
	if values, ok := s["enum"].([]any); ok && !slices.Contains(values, value) {
		faults = append(faults, fmt.Sprintf("%s: %v is not one of %v", at, value, values))
	}
	types, ok := s["type"].([]any)
	if !ok {
		types = []any{s["type"]}
	}
	if !slices.ContainsFunc(types, func(name any) bool { return isA(name, value) }) {
		return append(faults, fmt.Sprintf("%s: %v is not a %v", at, value, types))
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			faults = append(faults, d.check(s["items"], fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, given := v[name.(string)]; !given {
				faults = append(faults, at+": no "+name.(string))
			}
		}
		for name, item := range v {
			if s["additionalProperties"] != false && properties[name] == nil {
				continue
			}
			faults = append(faults, d.check(properties[name], at+"."+name, item)...)
		}
	}
	return faults
}

func isA(name, value any) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	}
	return name == "object"
}

// TestAlternativesExcludeEachOther: among alternatives of which exactly one is to hold, however they are nested, no plain type stands twice: no value of
// it would be allowed.
func TestAlternativesExcludeEachOther(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../docs/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	checkAlternatives(t, "", document)
}

func checkAlternatives(t *testing.T, at string, node any) {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for i, each := range node {
			checkAlternatives(t, fmt.Sprint(at, "/", i), each)
		}
	case map[string]any:
		types := plainTypes(node)
		if slices.Sort(types); len(slices.Compact(slices.Clone(types))) < len(types) {
			t.Errorf("%s: alternatives of %v", at, types)
		}
		for name, each := range node {
			checkAlternatives(t, at+"/"+name, each)
		}
	}
}

// plainTypes are the types of a schema's alternatives that are neither objects nor references.
func plainTypes(schema map[string]any) (types []string) {
	alternatives, _ := schema["oneOf"].([]any)
	for _, each := range alternatives {
		alternative, _ := each.(map[string]any)
		if plain, is := alternative["type"].(string); is && plain != "object" {
			types = append(types, plain)
		}
		types = append(types, plainTypes(alternative)...)
	}
	return types
}
