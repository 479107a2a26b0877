package writeapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

// limitHeaders are those of every limited answer.
var limitHeaders = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

// TestEveryAnswerOfALimitedRouteSaysTheLimit: also what is refused before it is counted, which leaves the limit as it was.
func TestEveryAnswerOfALimitedRouteSaysTheLimit(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{}) // of its own: registrations and sign-ins count for the address that all tests have
	u := s.NewUser(t)
	refused := []struct{ body, contentType string }{
		{`{`, "application/json"}, {``, "application/json"}, {`{"unknown":1}`, "application/json"}, {`{}`, "text/plain"}, {`[]`, "application/json"},
		{`"` + strings.Repeat("x", 2<<20) + `"`, "application/json"}, {`{}`, ""},
	}
	for path, limit := range map[string]int{
		"/api/evaluate": 20, "/api/verify": 20, "/api/proofs/validate": 20, "/api/proofs/elaborate": 20, "/api/jobs": 10, "/auth/register": 1000, "/auth/login": 1000,
	} {
		first := ""
		for i, r := range refused {
			a := u.Do(t, http.MethodPost, path, r.body, "Content-Type", r.contentType)
			if a.Status < 400 || a.Status >= 500 {
				t.Errorf("POST %s, body %d: %d %s", path, i, a.Status, a.Body)
			}
			for _, name := range limitHeaders {
				if len(a.Header[name]) != 1 {
					t.Errorf("POST %s, body %d: %s is %q in %d %s", path, i, name, a.Header[name], a.Status, a.Body)
				}
			}
			if a.Header.Get("X-RateLimit-Limit") != strconv.Itoa(limit) {
				t.Errorf("POST %s: limit %s", path, a.Header.Get("X-RateLimit-Limit"))
			}
			if remaining := a.Header.Get("X-RateLimit-Remaining"); first == "" {
				first = remaining
			} else if remaining != first {
				t.Errorf("POST %s, body %d: %s left, %s before", path, i, remaining, first)
			}
		}
	}
	a := s.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"1"}`)
	if a.Want(t, httpkit.Unauthenticated); a.Header.Get("X-RateLimit-Limit") != "" {
		t.Error("an unknown caller is told a limit")
	}
	if a := u.Do(t, http.MethodGet, "/api/history", "").OK(t); a.Header.Get("X-RateLimit-Limit") != "" {
		t.Error("a route without a limit says one")
	}
}

// TestWhatIsRefusedForNowIsNotCounted: an elaboration where there is no toolchain costs nothing of the minute.
func TestWhatIsRefusedForNowIsNotCounted(t *testing.T) {
	t.Parallel()
	u := apitest.Share(t).NewUser(t)
	for range 25 { // the plan allows 20 a minute
		a := u.Do(t, http.MethodPost, "/api/proofs/elaborate", `{"source":"theorem a : 1 = 1 := rfl"}`)
		a.Want(t, httpkit.NoElaboration)
		if a.Header.Get("X-RateLimit-Remaining") != "20" || a.Header.Get("Retry-After") == "" {
			t.Fatalf("%v", a.Header)
		}
	}
}

// TestJobsSayTheDaysLimit: as it stands after the submission.
func TestJobsSayTheDaysLimit(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	for left := 9; left >= 0; left-- {
		a := submit(t, u, `{"expression":"1+1"}`).OK(t)
		if a.Header.Get("X-RateLimit-Limit") != "10" || a.Header.Get("X-RateLimit-Remaining") != strconv.Itoa(left) || a.Header.Get("X-RateLimit-Reset") != "1785628800" { // 2026-08-02T00:00:00Z
			t.Errorf("%v", a.Header)
		}
	}
	a := submit(t, u, `{"expression":"1+1"}`)
	a.Want(t, httpkit.AllowanceSpent)
	if a.Header.Get("X-RateLimit-Remaining") != "0" || a.Header.Get("Retry-After") != "43200" {
		t.Errorf("%v", a.Header)
	}
}
