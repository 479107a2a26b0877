package processes

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reckon/test/e2e"
)

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

	// A window can only end early where all this takes a minute: then the answer of the last request says another end.
	for attempt := 1; ; attempt++ {
		a := servers[0].NewAccount(fmt.Sprintf("minute-%d@example.com", attempt))
		first := resetOf(t, a)
		answered := ask(a, 10, plain, "rate_limited") + 1
		if again := resetOf(t, a); again != first && attempt < 3 {
			t.Logf("the minute was over: %s, then %s", first, again)
			continue
		}
		if answered != 5 {
			t.Errorf("%d evaluations of 5 a minute were answered by 4 processes", answered)
		}
		break
	}

	// Sessions of names of their own, opened at once; five evaluations a minute allow no more tries than that.
	b := servers[0].NewAccount("sessions@example.com")
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
	if n := opened.Load(); n != 2 {
		t.Errorf("%d live sessions on a plan with 2", n)
	}

	// While the database is away each process counts alone, and says so.
	c := servers[0].NewAccount("away@example.com")
	in.database.cut()
	if n := ask(c, 8, plain, "rate_limited"); n != 5*int64(len(servers)) {
		t.Errorf("%d answers of 4 processes that each count 5, the database being away", n)
	}
	for i, s := range servers {
		if !strings.Contains(s.Output(), "counted by this process alone") {
			t.Errorf("server %d does not say that it counts alone:\n%s", i, s.Output())
		}
	}
	in.database.mend()
	for attempt := 0; ; attempt++ { // each process asks again within 5 s
		d := servers[0].NewAccount(fmt.Sprintf("back-%d@example.com", attempt))
		if n := ask(d, 2, plain, "rate_limited"); n == 5 {
			break
		} else if attempt == 60 {
			t.Fatalf("%d answers: the processes do not count together again", n)
		}
		time.Sleep(time.Second)
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
