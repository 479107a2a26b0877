package processes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reckon/test/e2e"
	"reckon/test/wait"
)

// mostAttempts is how often is tried what a busy machine may spoil, a second apart.
const mostAttempts = 30

// strict is a catalogue whose limits a test reaches soon.
const strict = `[[plans]]
plan = "free"
evaluation_budget_ms = 20000
per_minute = 5
concurrent_evaluations = 64
jobs_per_day = 10
job_budget_ms = 60000
concurrent_jobs = 2
qubits = 4
proof_export_bytes = 1048576
proofs = true
live_sessions = 2
denied_heads = []
`

// TestLimitsAcrossFourProcesses: a plan's evaluations a minute and its live sessions are counted over all processes, exactly; while the
// database is away by each process alone, and never by none.
func TestLimitsAcrossFourProcesses(t *testing.T) {
	t.Parallel()
	in := installWith(t, strict)
	servers := make([]*e2e.Server, 4)
	roles := []string{"api,project,react", "api", "api", "api"}
	for i := range servers {
		servers[i] = in.api(roles[i])
	}

	// Each process is asked so often at once; the answers are counted.
	ask := func(a *e2e.Account, each int, body func(i int) map[string]string, want429 string) (answered int64) {
		t.Helper()
		var clients sync.WaitGroup
		var count atomic.Int64
		for i := range each * len(servers) {
			clients.Go(func() {
				err := at(a, servers[i%len(servers)]).JSON("POST", "/api/evaluate", body(i), nil)
				refused, _ := errors.AsType[*e2e.StatusError](err)
				switch {
				case err == nil:
					count.Add(1)
				case refused == nil || refused.Code != want429:
					t.Errorf("server %d: %v", i%len(servers), err)
				}
			})
		}
		clients.Wait()
		return count.Load()
	}
	plain := func(int) map[string]string { return map[string]string{"expression": "1+1"} }

	// A process that the database answers too slowly, on a busy machine, counts alone for some seconds, and says so.
	countedAlone := func() bool {
		for _, s := range servers {
			if strings.Contains(s.Output(), "counted by this process alone") {
				return true
			}
		}
		return false
	}

	// A window can only end early where all this takes a minute: then the answer of the last request says another end.
	for attempt := 1; ; attempt++ {
		a := servers[0].NewAccount(fmt.Sprintf("minute-%d@example.com", attempt))
		first := resetOf(t, a)
		answered := ask(a, 10, plain, "rate_limited") + 1
		again := resetOf(t, a)
		if answered == 5 && again == first {
			break
		}
		if again == first && !countedAlone() || attempt == mostAttempts {
			t.Errorf("%d evaluations of 5 a minute were answered by 4 processes", answered)
			break
		}
		t.Logf("%d answered; the minute was from %s to %s", answered, first, again)
		wait.Pace(time.Second) // what counts alone asks again after a while
	}

	// Sessions of names of their own, opened at once; five evaluations a minute allow no more tries than that.
	for attempt := 1; ; attempt++ {
		b := servers[0].NewAccount(fmt.Sprintf("sessions-%d@example.com", attempt))
		var opened atomic.Int64
		var clients sync.WaitGroup
		for i, s := range servers {
			clients.Go(func() {
				err := at(b, s).JSON("POST", "/api/evaluate", map[string]string{"expression": "x = 1", "session_id": fmt.Sprint("s", i)}, nil)
				refused, _ := errors.AsType[*e2e.StatusError](err)
				if err == nil {
					opened.Add(1)
				} else if refused == nil || refused.Code != "too_many_sessions" {
					t.Error(err)
				}
			})
		}
		clients.Wait()
		n := opened.Load()
		if n == 2 {
			break
		}
		if !countedAlone() || attempt == mostAttempts {
			t.Errorf("%d live sessions on a plan with 2", n)
			break
		}
		wait.Pace(time.Second)
	}

	// While the database is away each process counts alone, and says so.
	c := servers[0].NewAccount("away@example.com")
	in.database.Refuse()
	if n := ask(c, 8, plain, "rate_limited"); n != 5*int64(len(servers)) {
		t.Errorf("%d answers of 4 processes that each count 5, the database being away", n)
	}
	for i, s := range servers {
		if !strings.Contains(s.Output(), "counted by this process alone") {
			t.Errorf("server %d does not say that it counts alone:\n%s", i, s.Output())
		}
	}
	in.database.Mend()
	for attempt := 0; ; attempt++ { // each process asks again within 5 s
		d := servers[0].NewAccount(fmt.Sprintf("back-%d@example.com", attempt))
		if n := ask(d, 2, plain, "rate_limited"); n == 5 {
			break
		} else if attempt == 60 {
			t.Fatalf("%d answers: the processes do not count together again", n)
		}
		wait.Pace(time.Second)
	}
}

// resetOf evaluates once and returns when the window ends, as the answer says it.
func resetOf(t *testing.T, a *e2e.Account) string {
	t.Helper()
	response, err := a.Do("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, http.Header{"Authorization": {"Bearer " + a.Token}})
	must(t, err)
	_ = response.Body.Close()
	return response.Header.Get("X-RateLimit-Reset")
}

// cookieOf signs in and returns the cookie.
func cookieOf(t *testing.T, s *e2e.Server, email, password string) string {
	t.Helper()
	response, err := http.Post(s.URL+"/auth/login", "application/json", strings.NewReader(fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)))
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return ""
	}
	return response.Cookies()[0].String()
}

// asked is the status of a request with a credential.
func asked(t *testing.T, s *e2e.Server, method, path, body, header, value string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	must(t, err)
	request.Header.Set(header, value)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	return response.StatusCode
}

// TestWhatIsEndedEndsInEveryProcess: a credential that was ended in one place, by its owner or by an operator's command, fails with the
// very next request, whichever process answers it.
func TestWhatIsEndedEndsInEveryProcess(t *testing.T) {
	t.Parallel()
	in := install(t)
	dataOne, dataTwo := e2e.DataFolder(t), e2e.DataFolder(t)
	one, two := in.serve(dataOne, "api,project,react"), in.serve(dataTwo, "api")
	a := one.NewAccount("anna@example.com")
	ended := func(what, header, value string) {
		t.Helper()
		for i, s := range []*e2e.Server{two, one} {
			if status := asked(t, s, "GET", "/api/history", "", header, value); status != 401 {
				t.Errorf("%s: server %d answers %d", what, i, status)
			}
		}
	}
	holds := func(what, header, value string) {
		t.Helper()
		for i, s := range []*e2e.Server{one, two} {
			if status := asked(t, s, "GET", "/api/history", "", header, value); status != 200 {
				t.Fatalf("%s: server %d answers %d", what, i, status)
			}
		}
	}
	here, there := cookieOf(t, one, a.Email, password), cookieOf(t, two, a.Email, password)
	holds("a sign-in", "Cookie", here)
	if status := asked(t, two, "POST", "/auth/password", `{"current_password":"`+password+`","new_password":"another horse"}`, "Cookie", there); status != 200 {
		t.Fatal(status)
	}
	ended("a sign-in after a new password", "Cookie", here)
	holds("the one that changed it", "Cookie", there)
	holds("a token", "Authorization", "Bearer "+a.Token)

	if report := operate(t, 0, "", "account", "signout", a.Email, "--data", dataTwo); report != "1 sign-ins ended\n" && report != "2 sign-ins ended\n" {
		t.Errorf("signout: %s", report)
	}
	ended("a sign-in that an operator ended", "Cookie", there)
	here = cookieOf(t, one, a.Email, "another horse")
	operate(t, 0, "set by an operator\n", "account", "password", a.Email, "--password-stdin", "--data", dataOne)
	ended("a sign-in whose password an operator replaced", "Cookie", here)
	if cookieOf(t, two, a.Email, "another horse") != "" || cookieOf(t, two, a.Email, "set by an operator") == "" {
		t.Error("the operator's password is not the one in force")
	}
	operate(t, 2, "short\n", "account", "password", a.Email, "--password-stdin", "--data", dataOne)

	var tokens []struct {
		TokenID    string `json:"token_id"`
		LastUsedOn string `json:"last_used_on"`
	}
	second := strings.TrimSpace(operate(t, 0, "", "account", "token", a.Email, "--name", "second", "--data", dataOne))
	third := strings.TrimSpace(operate(t, 0, "", "account", "token", a.Email, "--name", "third", "--data", dataOne))
	must(t, json.Unmarshal([]byte(operate(t, 0, "", "account", "tokens", a.Email, "--json", "--data", dataTwo)), &tokens))
	if len(tokens) != 3 || tokens[2].LastUsedOn == "" || tokens[0].LastUsedOn != "" {
		t.Fatalf("%+v", tokens)
	}
	holds("the third token", "Authorization", "Bearer "+third)
	operate(t, 0, "", "account", "revoke", a.Email, "--token", tokens[0].TokenID, "--data", dataTwo)
	ended("a token that an operator revoked", "Authorization", "Bearer "+third)
	holds("another one", "Authorization", "Bearer "+second)
	operate(t, 2, "", "account", "revoke", a.Email, "--data", dataTwo)
	operate(t, 2, "", "account", "revoke", a.Email, "--token", strings.Repeat("0", 64), "--data", dataTwo)
	if report := operate(t, 0, "", "account", "revoke", a.Email, "--all", "--data", dataTwo); report != "2 tokens revoked\n" {
		t.Errorf("revoke --all: %s", report)
	}
	ended("every token", "Authorization", "Bearer "+second)
	ended("every token", "Authorization", "Bearer "+a.Token)
}
