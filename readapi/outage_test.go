package readapi_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"reckon/internal/database"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/projections/pgtest"
	"reckon/test/apitest"
	"reckon/test/wait"
)

// TestDatabaseAway: while PostgreSQL is away, what needs it answers 503 with Retry-After and names the part; the rest works;
// and everything works again once it is back.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	way, through := pgtest.Behind(t, pgtest.Database(t))
	s := apitest.Start(t, apitest.Options{Plans: unlimited(), ReadModels: through, Identity: through, MaxPlaceWait: view.MaxPlaceWait})
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
	way.Refuse()
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

	way.Mend()
	for _, r := range needIt {
		wait.Until(t, r.method+" "+r.path+" is answered once it is back", func() bool {
			return s.Do(t, r.method, r.path, r.body, r.header, r.value).Status == http.StatusOK
		})
	}
}

// TestDatabaseFrozen: while PostgreSQL accepts connections and answers nothing, what needs it answers 503 with Retry-After and names the
// part, however many ask at once; the rest works; and what happened meanwhile is listed once it goes on.
func TestDatabaseFrozen(t *testing.T) {
	t.Parallel()
	server := pgtest.NewFreezable(t)
	s := apitest.Start(t, apitest.Options{Plans: unlimited(), ReadModels: server.Address(), Identity: server.Address(), MaxPlaceWait: view.MaxPlaceWait})
	u := s.NewUser(t)
	u.Evaluate(t, "1+1").OK(t)
	type request struct{ method, path, body, header, value, part string }
	const models, identities = "the database of read models", "the database of identities"
	needIt := []request{
		{http.MethodPost, "/auth/login", `{"email":"` + u.Email + `","password":"` + u.Password + `"}`, "X-Test", "sign in", identities},
		{http.MethodGet, "/api/history", "", "Cookie", u.Cookie, identities},
	}
	for _, list := range []string{"history", "history?query=1%2B1", "jobs", "certificates", "sessions"} {
		needIt = append(needIt, request{http.MethodGet, "/api/" + list, "", "Authorization", "Bearer " + u.Token, models})
	}
	server.Freeze()
	var group sync.WaitGroup
	for range 6 { // more than a pool has connections
		for _, r := range needIt {
			group.Go(func() {
				a := s.Do(t, r.method, r.path, r.body, r.header, r.value)
				if a.Code() != httpkit.Unavailable.Code || a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), r.part) {
					t.Errorf("%s %s: %d %s, Retry-After %q", r.method, r.path, a.Status, a.Body, a.Header.Get("Retry-After"))
				}
			})
		}
	}
	u.Evaluate(t, "2+2").OK(t)
	group.Wait()
	u.Evaluate(t, "3+3").OK(t)

	server.Thaw()
	wait.Until(t, "three runs are listed once it goes on", func() bool {
		a := u.Do(t, http.MethodGet, "/api/history", "")
		rows, _ := a.JSON["runs"].([]any)
		return a.Status == http.StatusOK && len(rows) == 3
	})
}

// TestSQLiteLocked: what has to write to a file that another process keeps locked answers 503 and names the part; lists go on.
func TestSQLiteLocked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "identity.db")
	s := apitest.Start(t, apitest.Options{Plans: unlimited(), Identity: "sqlite:" + file})
	u := s.NewUser(t)
	u.Do(t, http.MethodGet, "/api/history", "").OK(t) // the first use of a token is stored
	other, err := database.SQLite("another process", file, "_txlock=exclusive", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	held, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	credentials := `{"email":"` + u.Email + `","password":"` + u.Password + `"}`
	var group sync.WaitGroup
	for range 12 { // more than a pool has connections
		group.Go(func() {
			a := s.Do(t, http.MethodPost, "/auth/login", credentials)
			if a.Code() != httpkit.Unavailable.Code || a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), "the database of identities") {
				t.Errorf("sign in: %d %s, Retry-After %q", a.Status, a.Body, a.Header.Get("Retry-After"))
			}
		})
	}
	u.Do(t, http.MethodGet, "/api/history", "").OK(t)
	group.Wait()
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.Do(t, http.MethodPost, "/auth/login", credentials).OK(t)
}

// TestADamagedBlobIsNotServed: whoever asks for what is stored there is told that something went wrong here, and nothing of it.
func TestADamagedBlobIsNotServed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	run := u.Evaluate(t, "Long").OK(t).JSON["run_id"].(float64)
	path := fmt.Sprint("/api/receipts/", run)
	u.Do(t, http.MethodGet, path, "").OK(t)
	s.DamageBlobs(t)
	u.Do(t, http.MethodGet, path, "").Want(t, httpkit.Internal)
}
