package processes

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/domain/job"
	"reckon/test/e2e"
	"reckon/test/proxy"
	"reckon/test/sweep"
	"reckon/test/wait"
)

var update = flag.Bool("update", false, "write testdata/failures.json: what callers are told while a part is away")

// failuresFile is what docs/outages.md shows (go test ./test -run TestOutagesPage -update).
var failuresFile = filepath.Join("testdata", "failures.json")

// failing is a way with what is wrong with it.
type failing struct {
	part, state string
	way         *proxy.Proxy
	fail        func(*proxy.Proxy)
}

func refuse(p *proxy.Proxy)  { p.Refuse() }
func swallow(p *proxy.Proxy) { p.Swallow() }
func slow(p *proxy.Proxy)    { p.Delay(50 * time.Millisecond) }

// failings are in the order of how long their requests wait: 5 s for a database, 30 s for the others.
func (w ways) failings() []failing {
	return []failing{
		{"database", "refusing", w.database, refuse}, {"database", "silent", w.database, swallow},
		{"identity", "refusing", w.identity, refuse}, {"identity", "silent", w.identity, swallow},
		{"blobs", "slow", w.blobs, slow}, {"eventstore", "slow", w.log, slow}, {"database", "slow", w.database, slow}, {"identity", "slow", w.identity, slow},
		{"blobs", "refusing", w.blobs, refuse}, {"blobs", "silent", w.blobs, swallow},
		{"eventstore", "refusing", w.log, refuse}, {"eventstore", "silent", w.log, swallow},
	}
}

// request is one of which the table tells the answer.
type request struct {
	name, method, path string
	body               any
}

// answerTo is the status of an answer, and for a refusal its code and its words.
func answerTo(a *e2e.Account, q request) string {
	response, err := a.Do(q.method, q.path, q.body, nil)
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return "no answer: " + err.Error()
	}
	if response.StatusCode == http.StatusOK {
		return "200"
	}
	var problem struct{ Code, Detail string }
	if err := json.Unmarshal(content, &problem); err != nil {
		return fmt.Sprintf("%d %s", response.StatusCode, content)
	}
	told := fmt.Sprintf("%d `%s`: %s", response.StatusCode, problem.Code, problem.Detail)
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		told += " (without Retry-After)"
	}
	return told
}

// notReady is what /readyz answers, and names.
func notReady(t *testing.T, server *e2e.Server) string {
	status, away := readyz(t, server)
	told := fmt.Sprint(status)
	slices.Sort(away)
	for _, name := range away {
		told += " `" + name + "`"
	}
	return told
}

// tableRequests are the requests of the table.
func tableRequests(t *testing.T, alice *e2e.Account) []request {
	t.Helper()
	var kept evaluated
	must(t, alice.JSON("POST", "/api/evaluate", longAnswer, &kept))
	ended := await(t, alice, submitTo(t, alice, map[string]any{"expression": "2 + 2"}))
	return []request{
		{"`POST /api/evaluate`", "POST", "/api/evaluate", map[string]any{"expression": "1 + 1"}},
		{"`POST /api/evaluate` over 16 KiB", "POST", "/api/evaluate", longAnswer},
		{"`POST /api/jobs`", "POST", "/api/jobs", map[string]any{"expression": "3 + 3"}},
		{"`GET /api/jobs/ID`", "GET", "/api/jobs/" + ended.JobID, nil},
		{"`GET /api/history`", "GET", "/api/history", nil},
		{"`GET /api/receipts/ID` over 16 KiB", "GET", fmt.Sprint("/api/receipts/", kept.RunID), nil},
		{"`GET /api/tokens`", "GET", "/api/tokens", nil},
		{"`POST /auth/login`", "POST", "/auth/login", map[string]any{"email": alice.Email, "password": "correct horse battery"}},
		{"`GET /billing/plans`", "GET", "/billing/plans", nil},
	}
}

// answersTo are the answers to requests that are made at once, by their names.
func answersTo(a *e2e.Account, requests []request) map[string]string {
	answers := map[string]string{}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, q := range requests {
		asking.Go(func() {
			answer := answerTo(a, q)
			mu.Lock()
			defer mu.Unlock()
			answers[q.name] = answer
		})
	}
	asking.Wait()
	return answers
}

// allAnswered tells whether all is well.
func allAnswered(t *testing.T, server *e2e.Server, a *e2e.Account, requests []request) bool {
	t.Helper()
	for _, q := range requests {
		if answerTo(a, q) != "200" {
			return false
		}
	}
	return notReady(t, server) == "200"
}

// TestWhatCallersAreTold takes each shared part away from a server, in each way, and writes down what requests are answered meanwhile; then the part is
// given back, and everything works again.
func TestWhatCallersAreTold(t *testing.T) {
	t.Parallel()
	in, w := installWithBucket(t).behind(t)
	server := in.api("api,project,run,react")
	alice := server.NewAccount("alice@example.com")
	requests := tableRequests(t, alice)
	works := func() bool { return allAnswered(t, server, alice, requests) }
	wait.Until(t, "everything works", works)
	told := map[string]map[string]string{}
	all := w.failings()
	for _, f := range all[:sweep.Size(t, "RECKON_FAILURES", 4, len(all))] {
		f.fail(f.way)
		answers := answersTo(alice, requests)
		ready := notReady(t, server)
		if f.state == "silent" {
			wait.Until(t, f.part+" is away", func() bool { ready = notReady(t, server); return ready != "200" })
		}
		answers["`GET /readyz`"] = ready
		told[f.part+", "+f.state] = answers
		f.way.Mend()
		wait.Until(t, "everything works after "+f.part+" was "+f.state, works)
	}
	compareTold(t, told)
	books := settle(t, connect(t, in.log))
	books.check(t)
	for id, of := range books.jobs {
		if of.state.Status != job.Succeeded || len(of.state.Spent) > 0 {
			t.Errorf("job %s is %s, attempts %v", id, of.state.Status, of.state.Spent)
		}
	}
}

// longAnswer is an evaluation whose expression and answer are blobs.
var longAnswer = map[string]any{"expression": `StringRepeat["x", 20000] <> "` + strings.Repeat("y", 17<<10) + `"`}

// toldMutex is held while the file of answers is written: several tests measure parts of it.
var toldMutex sync.Mutex

// compareTold compares what callers were told with testdata/failures.json, or writes it there.
func compareTold(t *testing.T, told map[string]map[string]string) {
	t.Helper()
	toldMutex.Lock()
	defer toldMutex.Unlock()
	content, err := os.ReadFile(failuresFile)
	must(t, err)
	var want map[string]map[string]string
	must(t, json.Unmarshal(content, &want))
	if *update {
		maps.Copy(want, told)
		content, err = json.MarshalIndent(want, "", "\t")
		must(t, errors.Join(err, os.WriteFile(failuresFile, append(content, '\n'), 0o600)))
		return
	}
	for failure, answers := range told {
		for name, answer := range answers {
			if want[failure][name] != answer {
				t.Errorf("%s, %s:\n got %s\nwant %s", failure, name, answer, want[failure][name])
			}
		}
	}
}
