package readapi_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"reckon/test/apitest"
)

// TestAnswersAreDescribed compares answers, with their codes and headers, with the description of their route.
func TestAnswersAreDescribed(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	var api struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Description string
				Headers     map[string]any
			}
		}
	}
	if err := json.Unmarshal(s.Do(t, http.MethodGet, "/openapi.json", "").OK(t).Body, &api); err != nil {
		t.Fatal(err)
	}
	credentials := `{"email":"` + u.Email + `","password":"` + u.Password + `"}`
	etag := s.Do(t, http.MethodGet, "/billing/plans", "").OK(t).Header.Get("ETag")
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		wants              string // header
	}{
		{"POST", "/auth/login", credentials, nil, 200, "Set-Cookie"},
		{"POST", "/auth/login", " ", nil, 400, ""},
		{"POST", "/auth/register", " ", nil, 400, ""},
		{"POST", "/api/jobs", `{"expression":"1 +* 2"}`, nil, 400, ""},
		{"POST", "/api/jobs", `{"expression":"1","zzz":1}`, nil, 400, ""},
		{"POST", "/api/evaluate", `{"expression":"Quit[]"}`, nil, 422, "Consistency-Token"},
		{"POST", "/api/evaluate", `{"expression":" "}`, nil, 400, ""},
		{"POST", "/api/evaluate", `{`, nil, 400, ""},
		{"POST", "/api/evaluate", `{}`, []string{"Content-Type", "text/plain"}, 415, ""},
		{"GET", "/billing/plans", "", []string{"If-None-Match", etag}, 304, "ETag"},
		{"GET", "/billing/plans", "", nil, 200, "Cache-Control"},
		{"GET", "/api/history", "", nil, 200, ""},
	} {
		a := u.Do(t, c.method, c.path, c.body, c.headers...)
		if a.Status != c.status || c.wants != "" && a.Header.Get(c.wants) == "" {
			t.Errorf("%s %s %s: %d %v %s", c.method, c.path, c.body, a.Status, a.Header, a.Body)
		}
		described, is := api.Paths[c.path][strings.ToLower(c.method)].Responses[strconv.Itoa(a.Status)]
		if !is || a.Status >= 400 && !strings.Contains(described.Description, "`"+a.Code()+"`") {
			t.Errorf("%s %s answers %d %s, and describes %q", c.method, c.path, a.Status, a.Code(), described.Description)
		}
		for _, header := range []string{"Set-Cookie", "Consistency-Token", "Consistency", "Etag", "Api-Version", "X-Request-Id", "X-Ratelimit-Limit", "Retry-After"} {
			if len(a.Header.Values(header)) > 0 && !describes(described.Headers, header) {
				t.Errorf("%s %s %d: header %s is not described", c.method, c.path, a.Status, header)
			}
		}
	}
	if history := api.Paths["/api/history"]["get"].Responses["200"]; !describes(history.Headers, "Consistency") {
		t.Error("the header Consistency of lists is not described")
	}
}

func describes(headers map[string]any, name string) bool {
	for described := range headers {
		if strings.EqualFold(described, name) {
			return true
		}
	}
	return false
}
