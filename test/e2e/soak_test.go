package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reckon/domain/receipt"
	"reckon/test/need"
	"reckon/test/wait"
)

var soakFor = flag.Duration("soak", 0, "how long TestSoak goes on; 0: a few seconds")

// counts are what a leak of the server would add to.
type counts struct {
	goroutines, processes int
	descriptors           int // without the files of databases and of the log, of which there are as many as their pools have opened so far

	busy                 int // evaluations and checks
	heapMiB, residentMiB int // of the server's heap after a collection; of the server and all processes below it
}

func (c counts) over(other counts) bool {
	return c.goroutines > other.goroutines || c.descriptors > other.descriptors || c.processes > other.processes
}

// counts are the server's own, with all processes below it.
func (s *Server) counts(t *testing.T) (c counts) {
	t.Helper()
	open := fmt.Sprintf("/proc/%d/fd", s.PID())
	descriptors, err := os.ReadDir(open)
	if err != nil {
		need.Skip(t, "Linux's /proc", "make test, on Linux")
	}
	for _, descriptor := range descriptors {
		target, err := os.Readlink(filepath.Join(open, descriptor.Name()))
		if err == nil && !s.isStorage(target) { // an error: it has been closed
			c.descriptors++
		}
	}
	processes := family(t, s.PID())
	c.processes = len(processes) - 1
	for _, process := range processes {
		c.residentMiB += residentMiB(process)
	}
	s.askAdmin(t, "/debug/pprof/heap?gc=1", func(string) {})
	s.askAdmin(t, "/metrics", func(line string) {
		name, number, _ := strings.Cut(line, " ")
		switch value, _ := strconv.ParseFloat(number, 64); name { // of a comment it is 0, and not used
		case "go_goroutines":
			c.goroutines = int(value)
		case "go_memstats_heap_inuse_bytes":
			c.heapMiB = int(value) >> 20
		case `reckon_workers_busy{pool="engine"}`, `reckon_workers_busy{pool="checker"}`:
			c.busy += int(value)
		}
	})
	return c
}

// isStorage tells whether a path is a file of a database or of the log.
func (s *Server) isStorage(path string) bool {
	inData, err := filepath.Rel(s.Data, path)
	if err != nil {
		return false
	}
	if strings.HasPrefix(inData, filepath.Join("eventstore", "log")) {
		return true
	}
	database, _ := filepath.Match("*.db*", inData)
	return database
}

// askAdmin reads the lines that the admin socket answers.
func (s *Server) askAdmin(t *testing.T, path string, line func(string)) {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(s.Data, "admin.sock"))
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	response, err := client.Get("http://admin" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line(lines.Text())
	}
}

// residentMiB is the resident memory of a process; 0 when it has ended.
func residentMiB(process int) int {
	statm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process))
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() >> 20
}

// soakPlans differ in everything but the budget, so that clients of all of them can be compared.
const soakPlans = `[[plans]]
plan = "free"
evaluation_budget_ms = 1500
per_minute = 3000
concurrent_evaluations = 2
jobs_per_day = 10
job_budget_ms = 60000
concurrent_jobs = 1
qubits = 20
proof_export_bytes = 1048576
live_sessions = 1
denied_heads = ["Run", "Import"]
[[plans]]
plan = "pro"
evaluation_budget_ms = 1500
per_minute = 6000
concurrent_evaluations = 3
jobs_per_day = 10
job_budget_ms = 60000
concurrent_jobs = 1
qubits = 20
proof_export_bytes = 1048576
live_sessions = 2
denied_heads = ["Run", "Import"]
[[plans]]
plan = "team"
evaluation_budget_ms = 1500
per_minute = 100000
concurrent_evaluations = 11
jobs_per_day = 10
job_budget_ms = 60000
concurrent_jobs = 1
qubits = 20
proof_export_bytes = 1048576
live_sessions = 4
denied_heads = ["Run", "Import"]
`

// soaker is an account with its clients, and what they were told.
type soaker struct {
	*Account
	plan    string
	clients int

	mu       sync.Mutex
	answered map[int64]told  // by run
	left     map[string]bool // expressions whose clients went away
	problems map[string]int  // by code
	waits    []time.Duration // of those that were answered
}

// told is what a client was told of a run.
type told struct{ expression, result string } // the result is empty where there was none

// soak is a run of TestSoak.
type soak struct {
	t        *testing.T
	server   *Server
	accounts []*soaker
	serial   atomic.Int64 // makes every expression the only one of its kind
	asked    atomic.Int64
	wrong    atomic.Int64
	kills    int
}

// fault reports what must not be, a few times.
func (s *soak) fault(format string, arguments ...any) {
	const most = 20
	if s.wrong.Add(1) <= most {
		s.t.Errorf(format, arguments...)
	}
}

// TestSoak: 32 clients of 8 accounts on three plans evaluate, in sessions and without, run over the budget, want too much, quit and
// go away in the middle, while the processes that evaluate are killed. Every request has one answer: the right one, or a problem that
// names its run or says when to come again. What was acknowledged is in the history once, with a receipt that verifies; what was not
// asked for is not. No account's clients get less than half of what those of the account with most clients get. When all are gone the
// server has no more goroutines, descriptors and processes than before, and its memory is that of its caches. -soak 10m goes on for so long.
func TestSoak(t *testing.T) {
	t.Parallel()
	length := cmp.Or(*soakFor, 6*time.Second)
	data := DataFolder(t)
	config := filepath.Join(data, "reckon.toml")
	if err := os.WriteFile(config, []byte(soakPlans), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &soak{t: t, server: Start(t, data, "--workers", "4", "--config", config)}
	for i, clients := range []int{11, 3, 3, 3, 3, 3, 3, 3} {
		a := &soaker{Account: s.server.NewAccount(fmt.Sprintf("client%d@example.com", i)), clients: clients, answered: map[int64]told{}, left: map[string]bool{}, problems: map[string]int{}}
		if a.plan = []string{"team", "free", "pro"}[i%3]; a.plan != "free" {
			s.server.Command("", "account", "plan", a.Email, a.plan)
		}
		a.http.Transport = &http.Transport{MaxIdleConnsPerHost: clients}
		s.accounts = append(s.accounts, a)
	}
	s.run(2 * time.Second) // everything has been used once
	before := s.most()
	for _, a := range s.accounts {
		a.waits = nil
	}
	watched, stopWatching := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(watched) })
	asked := s.asked.Load()
	s.run(length)
	stopWatching()
	watching.Wait()
	after := s.back(before)
	t.Logf("%v: %d requests, %d kills; before %+v, after %+v", length, s.asked.Load()-asked, s.kills, before, after)
	const cachesMiB = 96 // of the states of streams, of the database and of the log; docs/scale.md
	if after.over(before) || after.heapMiB > before.heapMiB+cachesMiB {
		t.Errorf("left behind: before %+v, after %+v", before, after)
	}
	s.checkShares()
	var checking sync.WaitGroup
	for _, a := range s.accounts {
		checking.Go(func() { s.checkHistory(a) })
	}
	checking.Wait()
	s.accounts[0].evaluate(t, "1+1", "")
	if t.Failed() {
		output := s.server.Output()
		t.Logf("the end of the server's log:\n%s", output[max(0, len(output)-20_000):])
	}
}

// most are the highest of counts taken when nothing is evaluated any more: connections, and the processes that are forked beforehand,
// come and go by one or two.
func (s *soak) most() (most counts) {
	wait.Until(s.t, "no worker is busy", func() bool { return s.server.counts(s.t).busy == 0 })
	for range 20 {
		c := s.server.counts(s.t)
		most.goroutines, most.descriptors, most.processes = max(most.goroutines, c.goroutines), max(most.descriptors, c.descriptors), max(most.processes, c.processes)
		most.heapMiB, most.residentMiB = max(most.heapMiB, c.heapMiB), max(most.residentMiB, c.residentMiB)
		wait.Pace(20 * time.Millisecond)
	}
	return most
}

// back waits until no more is there than before, and returns what there is in the end.
func (s *soak) back(before counts) (c counts) {
	for deadline := time.Now().Add(wait.Longest); ; wait.Pace(20 * time.Millisecond) {
		if c = s.server.counts(s.t); !c.over(before) || time.Now().After(deadline) {
			return c
		}
	}
}

// watch logs the memory of a long run.
func (s *soak) watch(ctx context.Context) {
	for {
		select {
		case <-time.After(time.Minute):
			s.t.Logf("%d requests: %+v", s.asked.Load(), s.server.counts(s.t))
		case <-ctx.Done():
			return
		}
	}
}

// run has all clients ask for so long, and processes killed meanwhile; then sessions are cleared and connections closed.
func (s *soak) run(length time.Duration) {
	until := time.Now().Add(length)
	var group sync.WaitGroup
	for i, a := range s.accounts {
		for client := range a.clients {
			group.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), uint64(client))) //nolint:gosec // which request comes next is no secret
				for time.Now().Before(until) {
					s.ask(a, client, random)
					wait.Pace(time.Duration(random.IntN(40)) * time.Millisecond) // a client's own pace; nothing is waited for
				}
			})
		}
	}
	group.Go(func() { s.kill(until) })
	group.Wait()
	for _, a := range s.accounts {
		for client := range a.clients {
			if err := a.JSON("DELETE", "/api/sessions/"+sessionOf(client), nil, nil); err != nil {
				s.fault("%v", err)
			}
		}
		a.http.CloseIdleConnections()
	}
}

// sessionOf is shared by two clients of an account, and the plan may not have as many.
func sessionOf(client int) string { return fmt.Sprint("s", client/2) }

// kill kills -9 a worker every half second, and now and then the process that all workers come from.
func (s *soak) kill(until time.Time) {
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // which one is killed is no secret
	for n := 1; ; n++ {
		wait.Pace(min(500*time.Millisecond, time.Until(until))) // the pace of the kills; nothing is waited for
		if !time.Now().Before(until) {
			return
		}
		below := family(s.t, s.server.PID())[1:]
		parents := below[:min(2, len(below))] // the engine's and the checker's; family lists children first
		victims := below[len(parents):]
		if n%8 == 0 {
			victims = parents
		}
		if len(victims) > 0 {
			_ = syscall.Kill(victims[random.IntN(len(victims))], syscall.SIGKILL) // it may have ended
			s.kills++
		}
	}
}

// ask sends one request and looks at what comes back.
func (s *soak) ask(a *soaker, client int, random *rand.Rand) {
	n := 1 + s.serial.Add(1) // from 2: the engine writes x^2 for 1*x^2
	s.asked.Add(1)
	body := map[string]string{}
	result := "" // of an answer; empty: there must be none
	switch kind := random.IntN(20); {
	case kind < 9:
		body["expression"], result = fmt.Sprintf("%d + 1", n), fmt.Sprint(n+1)
	case kind < 11:
		body["expression"], result = fmt.Sprintf("Integrate[%d x, x]", 2*n), fmt.Sprintf("%d*x^2", n)
	case kind < 14:
		body["expression"], body["session_id"], result = fmt.Sprintf("v = %d; v + 1", n), sessionOf(client), fmt.Sprint(n+1)
	case kind < 15:
		body["expression"] = fmt.Sprintf("Pause[20]; %d", n) // over the budget
	case kind < 16:
		body["expression"] = fmt.Sprintf("%d; Quit[]", n)
	case kind < 17:
		body["expression"] = fmt.Sprintf(`%d; StringRepeat["a", 3*10^6]`, n)
	case kind < 18:
		body["expression"], body["session_id"] = fmt.Sprintf(`Print[StringRepeat["a", 3*10^6]]; %d`, n), sessionOf(client)
	default: // the client goes away
		expression := fmt.Sprintf("Pause[%d/1000]; %d", random.IntN(100), n)
		a.mu.Lock()
		a.left[expression] = true
		a.mu.Unlock()
		leave := a.start(s.t, expression, "")
		wait.Pace(time.Duration(random.IntN(60)) * time.Millisecond) // when it goes away is its own affair
		leave()
		return
	}
	sent := time.Now()
	response, err := a.Do("POST", "/api/evaluate", body, nil)
	if err != nil {
		s.fault("%s: %v", body["expression"], err)
		return
	}
	content, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		s.fault("%s: %v", body["expression"], err)
		return
	}
	if s.hear(a, body["expression"], result, response, content, time.Since(sent)) {
		wait.Pace(200 * time.Millisecond) // it may come again sooner than it was told, but not at once
	}
}

// hear looks at an answer, and reports whether it says to come again later.
func (s *soak) hear(a *soaker, expression, result string, response *http.Response, content []byte, waited time.Duration) (later bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if response.StatusCode == http.StatusOK {
		var e evaluation
		if err := json.Unmarshal(content, &e); err != nil || e.Result != result || e.RunID == 0 || result == "" {
			s.fault("%s: %v, %.300s", expression, err, content)
			return false
		}
		s.note(a, e.RunID, told{expression, result})
		a.waits = append(a.waits, waited)
		return false
	}
	var problem StatusError
	if err := json.Unmarshal(content, &problem); err != nil || problem.Code == "" || problem.Detail == "" {
		s.fault("%s: %d %.300s", expression, response.StatusCode, content)
		return false
	}
	a.problems[problem.Code]++
	comeAgain, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	switch {
	case problem.RunID != 0: // its code says why: the kills take whoever is there
		s.note(a, problem.RunID, told{expression, ""})
	case problem.Code == "too_many_sessions":
	case slices.Contains([]string{"rate_limited", "too_many_evaluations", "saturated", "unavailable"}, problem.Code) && comeAgain > 0:
	default:
		s.fault("%s: %d %s", expression, response.StatusCode, content)
	}
	return comeAgain > 0
}

// note keeps what was told of a run, which no other request was told.
func (s *soak) note(a *soaker, run int64, what told) {
	if other, twice := a.answered[run]; twice {
		s.fault("run %d is told of %v and %v", run, other, what)
	}
	a.answered[run] = what
}

// checkShares compares what the clients of each account got.
func (s *soak) checkShares() {
	const enough = 100 // answers of the account with most clients; of fewer the share is chance
	perClient := func(a *soaker) float64 { return float64(len(a.waits)) / float64(a.clients) }
	flood := s.accounts[0]
	for _, a := range s.accounts {
		slices.Sort(a.waits)
		p50, p99 := time.Duration(0), time.Duration(0)
		if n := len(a.waits); n > 0 {
			p50, p99 = a.waits[n/2], a.waits[n*99/100]
		}
		s.t.Logf("%-4s %2d clients: %6d answers, %6.1f each, p50 %v, p99 %v; problems %v", a.plan, a.clients, len(a.waits), perClient(a), p50.Round(time.Millisecond), p99.Round(time.Millisecond), a.problems)
		if len(flood.waits) >= enough && perClient(a) < perClient(flood)/2 {
			s.t.Errorf("a client of %s has %.1f answers, one of the account with most clients %.1f", a.Email, perClient(a), perClient(flood))
		}
		if a != flood && a.problems["saturated"] > len(a.waits)/20 {
			s.t.Errorf("%s was refused %d times for want of workers", a.Email, a.problems["saturated"])
		}
	}
}

// checkHistory compares an account's history with what it was told, and verifies every receipt.
func (s *soak) checkHistory(a *soaker) {
	var keySet struct {
		Keys []struct {
			KID string `json:"kid"`
			X   string `json:"x"`
		} `json:"keys"`
	}
	if err := a.JSON("GET", "/.well-known/service-keys.json", nil, &keySet); err != nil {
		s.fault("%v", err)
		return
	}
	published := map[string]ed25519.PublicKey{}
	for _, k := range keySet.Keys {
		published[k.KID], _ = base64.RawURLEncoding.DecodeString(k.X)
	}
	seen := map[int64]bool{}
	for before, more := "", true; more; {
		var page struct {
			Runs []struct {
				RunID      int64   `json:"run_id"`
				Expression string  `json:"expression"`
				Result     *string `json:"result"`
				ReceiptURL *string `json:"receipt_url"`
			} `json:"runs"`
			HasMore    bool   `json:"has_more"`
			NextBefore string `json:"next_before"`
		}
		path := "/api/history?limit=200"
		if before != "" {
			path += "&before=" + url.QueryEscape(before)
		}
		if err := a.JSON("GET", path, nil, &page); err != nil {
			s.fault("%v", err)
			return
		}
		for _, run := range page.Runs {
			if seen[run.RunID] {
				s.fault("run %d is in the history twice", run.RunID)
			}
			seen[run.RunID] = true
			was, acknowledged := a.answered[run.RunID]
			switch {
			case acknowledged && (run.Expression != was.expression || (run.Result != nil) != (was.result != "") || run.Result != nil && *run.Result != was.result):
				s.fault("the history has %+v, and what was told is %+v", run, was)
			case acknowledged && run.ReceiptURL != nil:
				s.checkReceipt(a, *run.ReceiptURL, was, published)
			case acknowledged && was.result != "":
				s.fault("run %d has no receipt", run.RunID)
			case !acknowledged && !a.left[run.Expression]:
				s.fault("run %d of %s was told to nobody", run.RunID, run.Expression)
			}
			if !acknowledged {
				delete(a.left, run.Expression) // it must not be there a second time
			}
		}
		before, more = page.NextBefore, page.HasMore
	}
	for run, was := range a.answered {
		if !seen[run] {
			s.fault("run %d of %s was acknowledged and is not in the history", run, was.expression)
		}
	}
}

func (s *soak) checkReceipt(a *soaker, path string, was told, published map[string]ed25519.PublicKey) {
	var sealed receipt.Envelope
	var record receipt.Record
	err := a.JSON("GET", path, nil, &sealed)
	if err == nil {
		err = errors.Join(receipt.Check(sealed, published), json.NewDecoder(bytes.NewReader(sealed.Record)).Decode(&record))
	}
	if err != nil || record.Expression != was.expression || record.Answer != was.result {
		s.fault("%s of %+v: %v, %+v", path, was, err, record)
	}
}
