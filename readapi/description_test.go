package readapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"reckon/internal/httpkit"
	"reckon/writeapi/apitest"
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
	s := apitest.Start(t, apitest.Options{})
	a := s.Do(t, http.MethodGet, "/openapi.json", "").OK(t)
	golden(t, "../docs/api/openapi.json", a.Body)
	golden(t, "../docs/errors.md", errorsPage())
	if a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Cache-Control") != "public, max-age=86400" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", a.Header)
	}
}

func errorsPage() []byte {
	var page bytes.Buffer
	page.WriteString("# Error codes\n\nGenerated from internal/httpkit/kinds.go by `go generate ./readapi`.\n\n" +
		"Every error is `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, `code`, `error` (the same text as `detail`), `request_id`,\n" +
		"`errors` (the single faults of a refused request) and, where an evaluation was logged without an answer, `run_id`.\n\n| code | status | means | what to do |\n|---|---|---|---|\n")
	for _, kind := range httpkit.Kinds() {
		fmt.Fprintf(&page, "| `%s` | %d | %s | %s |\n", kind.Code, kind.Status, kind.Title, kind.Help)
	}
	return page.Bytes()
}

// TestDescriptionTellsTheTruth compares the description with what is served.
func TestDescriptionTellsTheTruth(t *testing.T) {
	s := apitest.Start(t, apitest.Options{})
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
		"/healthz", "/readyz", "/auth/register", "/auth/login", "/auth/logout", "/api/tokens", "/api/tokens/{id}", "/api/evaluate", "/api/verify",
		"/api/receipts/{id}", "/api/plots/{id}", "/api/history", "/api/sessions", "/api/sessions/{id}", "/.well-known/service-keys.json",
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
	s := apitest.Start(t, apitest.Options{})
	for path, want := range map[string]string{"/docs": "/api/evaluate", "/docs/errors": `id="rate_limited"`} {
		a := s.Do(t, http.MethodGet, path, "").OK(t)
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(string(a.Body), want) || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: %v", path, a.Header)
		}
		if strings.Contains(string(a.Body), "<script") || strings.Contains(string(a.Body), "http://") || strings.Contains(string(a.Body), "https://") {
			t.Errorf("%s is not complete in itself", path)
		}
	}
}
