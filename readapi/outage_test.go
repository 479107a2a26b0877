package readapi_test

import (
	"net/http"
	"testing"
	"time"

	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/projections/pgtest"
	"reckon/test/apitest"
)

// TestDatabaseAway: while PostgreSQL is away, what needs it answers 503 with Retry-After and names the part; the rest works;
// and everything works again once it is back.
func TestDatabaseAway(t *testing.T) {
	line := pgtest.NewLine(t, pgtest.Database(t))
	s := apitest.Start(t, apitest.Options{Plans: unlimited(), ReadModels: line.Address(), Identity: line.Address(), MaxPlaceWait: view.MaxPlaceWait})
	u := s.NewUser(t)
	u.Evaluate(t, "1+1").OK(t)
	job := u.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1"}`).OK(t).JSON["job_id"].(string)
	credentials := `{"email":"` + u.Email + `","password":"` + u.Password + `"}`
	type request struct{ method, path, body, header, value string }
	needIt := []request{
		{http.MethodPost, "/auth/login", credentials, "X-Test", "sign in"},
		{http.MethodPost, "/auth/register", `{"email":"new@example.com","password":"correct horse"}`, "X-Test", "register"},
		{http.MethodGet, "/api/history", "", "Cookie", u.Cookie},
	}
	for _, list := range []string{"history", "history?query=x&status=success", "jobs", "tokens", "certificates", "sessions"} {
		needIt = append(needIt, request{http.MethodGet, "/api/" + list, "", "Authorization", "Bearer " + u.Token})
	}
	line.Cut()
	for _, r := range needIt {
		a := s.Do(t, r.method, r.path, r.body, r.header, r.value)
		if a.Code() != httpkit.Unavailable.Code || a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s, Retry-After %q", r.method, r.path, a.Status, a.Body, a.Header.Get("Retry-After"))
		}
	}
	u.Evaluate(t, "2+2").OK(t)
	if a := u.Do(t, http.MethodGet, "/api/jobs/"+job, "").OK(t); a.JSON["status"] != "queued" || a.JSON["position"] != nil {
		t.Errorf("a queued job without the queue's table: %s", a.Body)
	}

	line.Mend()
	for _, r := range needIt {
		a := s.Do(t, r.method, r.path, r.body, r.header, r.value)
		for deadline := time.Now().Add(time.Minute); a.Status != http.StatusOK; a = s.Do(t, r.method, r.path, r.body, r.header, r.value) {
			if time.Now().After(deadline) {
				t.Fatalf("%s %s once it is back: %d %s", r.method, r.path, a.Status, a.Body)
			}
		}
	}
}
