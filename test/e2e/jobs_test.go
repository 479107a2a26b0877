package e2e

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/eventstore"
	"reckon/runners"
	"reckon/runners/kinds"
	"reckon/test/wait"
)

type jobAnswer struct {
	JobID              string          `json:"job_id"`
	Kind               job.Kind        `json:"kind"`
	Status             job.Status      `json:"status"`
	Position           int             `json:"position"`
	Attempt            int             `json:"attempt"`
	RunID              int64           `json:"run_id"`
	Output             *string         `json:"output"`
	Error              *string         `json:"error"`
	Result             json.RawMessage `json:"result"`
	JobsRemainingToday int             `json:"jobs_remaining_today"`
	Resubmit           bool            `json:"resubmit"`
}

type jobBody map[string]any

func (a *Account) submit(t testing.TB, body jobBody) jobAnswer {
	t.Helper()
	var j jobAnswer
	if err := a.JSON("POST", "/api/jobs", body, &j); err != nil {
		t.Fatalf("%v: %v", body, err)
	}
	return j
}

// awaitJob waits until a job has ended.
func (a *Account) awaitJob(t testing.TB, id string) jobAnswer {
	t.Helper()
	var j jobAnswer
	wait.Until(t, "job "+id+" has ended", func() bool {
		j = jobAnswer{}
		if err := a.JSON("GET", "/api/jobs/"+id+"?wait_ms=25000", nil, &j); err != nil {
			t.Fatal(err)
		}
		return j.Status != job.Queued && j.Status != job.Running
	})
	return j
}

// awaitRunning waits until a runner has taken a job up.
func (a *Account) awaitRunning(t testing.TB, id string) {
	t.Helper()
	wait.Until(t, "a runner has taken job "+id+" up", func() bool {
		var j jobAnswer
		if err := a.JSON("GET", "/api/jobs/"+id+"?wait_ms=50", nil, &j); err != nil {
			t.Fatal(err)
		}
		return j.Status == job.Running
	})
}

type cancelAnswer struct {
	JobID              string     `json:"job_id"`
	Status             job.Status `json:"status"`
	Cancelled          bool       `json:"cancelled"`
	Refunded           bool       `json:"refunded"`
	JobsRemainingToday int        `json:"jobs_remaining_today"`
}

func (a *Account) cancel(t testing.TB, id string) cancelAnswer {
	t.Helper()
	var c cancelAnswer
	if err := a.JSON("DELETE", "/api/jobs/"+id, nil, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// jobPlans is a plan under which limits are soon reached.
func jobPlans(t testing.TB, data string) string {
	t.Helper()
	path := filepath.Join(data, "reckon.toml")
	const plans = `[[plans]]
plan = "free"
evaluation_budget_ms = 10000
per_minute = 100000
concurrent_evaluations = 64
jobs_per_day = 6
job_budget_ms = 30000
concurrent_jobs = 1
qubits = 12
proof_export_bytes = 1048576
proofs = true
live_sessions = 2
denied_heads = ["Run", "Import"]

[[plans]]
plan = "pro"
prices = [{period = "month", amount_minor = 1200, currency = "USD"}]
evaluation_budget_ms = 20000
per_minute = 120
concurrent_evaluations = 64
jobs_per_day = 200
job_budget_ms = 900000
concurrent_jobs = 4
qubits = 24
proof_export_bytes = 16777216
proofs = true
live_sessions = 10
denied_heads = []
`
	if err := os.WriteFile(path, []byte(plans), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const forever = "While[True]"

func TestJobs(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", jobPlans(t, data), "--job-slots", "2")
	log := connect(t, server)
	accounts := 0
	fresh := func() *Account {
		accounts++
		return server.NewAccount(fmt.Sprintf("jobs-%d@example.com", accounts))
	}

	t.Run("every kind that can be submitted is run", func(t *testing.T) {
		account, ran := fresh(), 0
		for _, kind := range runners.Submittable(kinds.All(kinds.Parts{})) {
			if kind.Example == "" {
				continue // has tests of its own
			}
			ran++
			var body jobBody
			if err := json.Unmarshal([]byte(kind.Example), &body); err != nil {
				t.Fatal(err)
			}
			if j := account.awaitJob(t, account.submit(t, body).JobID); j.Status != job.Succeeded || j.Kind != kind.Name {
				t.Errorf("%+v", j)
			}
		}
		if ran == 0 {
			t.Error("no kind declares an example")
		}
	})
	t.Run("an evaluate job is a run with a receipt", func(t *testing.T) { evaluateJob(t, fresh()) })
	t.Run("failures and timeouts", func(t *testing.T) { failedJobs(t, fresh()) })
	t.Run("cancel", func(t *testing.T) { cancelJobs(t, fresh(), log) })
	t.Run("session", func(t *testing.T) { sessionJobs(t, fresh()) })
	t.Run("idempotency", func(t *testing.T) { idempotentJobs(t, fresh(), fresh(), log) })
	t.Run("refusals", func(t *testing.T) { refusedJobs(t, fresh(), fresh(), log) })
	t.Run("list", func(t *testing.T) { listJobs(t, fresh()) })
	t.Run("plans", func(t *testing.T) { servedPlans(t, server) })
	t.Run("audit", func(*testing.T) { server.mustBeClean() })
}

func evaluateJob(t *testing.T, account *Account) {
	submitted := account.submit(t, jobBody{"expression": "Integrate[x^2, x]", "timeout_ms": 20000})
	if submitted.Status != job.Queued || submitted.Position < 1 || submitted.JobsRemainingToday != 5 || submitted.Resubmit {
		t.Errorf("%+v", submitted)
	}
	j := account.awaitJob(t, submitted.JobID)
	var result evaluation
	if err := json.Unmarshal(j.Result, &result); err != nil {
		t.Fatal(err)
	}
	if j.Status != job.Succeeded || j.Output == nil || *j.Output != result.Result || j.RunID == 0 || j.RunID != result.RunID || j.Error != nil || j.Attempt != 1 {
		t.Fatalf("%+v", j)
	}
	if result.Verification == nil || result.Verification.Verdict != "verified" {
		t.Errorf("the answer is not checked: %s", j.Result)
	}
	// Whoever waited for the job can read its run at once.
	var receipt struct {
		Record struct {
			RunID      int64  `json:"run_id"`
			Expression string `json:"expression"`
			Answer     string `json:"answer"`
			Source     string `json:"source"`
			Account    string `json:"account"`
		} `json:"record"`
		Signature *string `json:"signature"`
	}
	if err := account.JSON("GET", fmt.Sprintf("/api/receipts/%d", j.RunID), nil, &receipt); err != nil {
		t.Fatal(err)
	}
	if r := receipt.Record; r.RunID != j.RunID || r.Expression != "Integrate[x^2, x]" || r.Answer != *j.Output || r.Source != "job" || r.Account != account.ID || receipt.Signature == nil {
		t.Errorf("%+v", receipt)
	}
	if found := account.historyOfJobs(t); !slices.Contains(found, fmt.Sprintf("%d success", j.RunID)) {
		t.Errorf("run %d is not in history: %v", j.RunID, found)
	}
}

// historyOfJobs lists run id and status of what jobs wrote. The run is appended
// by the runner, not by this client: the list may need a moment.
func (a *Account) historyOfJobs(t *testing.T) (found []string) {
	t.Helper()
	var jobs struct {
		Jobs []jobAnswer `json:"jobs"`
	}
	wait.Until(t, "history and the list of jobs agree", func() bool {
		var h history
		if err := a.JSON("GET", "/api/history?source=job", nil, &h); err != nil {
			t.Fatal(err)
		}
		if err := a.JSON("GET", "/api/jobs", nil, &jobs); err != nil {
			t.Fatal(err)
		}
		runs, ended := 0, true
		for _, j := range jobs.Jobs {
			if j.RunID != 0 {
				runs++
			}
			ended = ended && j.Status != job.Queued && j.Status != job.Running
		}
		if !ended || runs != len(h.Runs) {
			return false
		}
		for _, r := range h.Runs {
			found = append(found, fmt.Sprintf("%d %s", r.RunID, r.Status))
		}
		return true
	})
	return found
}

func failedJobs(t *testing.T, account *Account) {
	j := account.awaitJob(t, account.submit(t, jobBody{"expression": forever, "timeout_ms": 300}).JobID)
	if j.Status != job.TimedOut || j.Error == nil || j.Output != nil || j.RunID == 0 {
		t.Errorf("%+v", j)
	}
	j = account.awaitJob(t, account.submit(t, jobBody{"expression": "Quit[]"}).JobID)
	if j.Status != job.Failed || j.Error == nil || j.Output != nil || j.RunID == 0 {
		t.Errorf("%+v", j)
	}
	// What the engine does not know is an answer, not a failure.
	j = account.awaitJob(t, account.submit(t, jobBody{"expression": "Integrate[Sin[Sin[x]], x]"}).JobID)
	if j.Status != job.Succeeded || !strings.Contains(string(j.Result), `"unevaluated"`) {
		t.Errorf("%+v", j)
	}
	if found := account.historyOfJobs(t); len(found) != 3 || !strings.HasSuffix(found[2], " timeout") || !strings.HasSuffix(found[1], " error") || !strings.HasSuffix(found[0], " unevaluated") {
		t.Errorf("%v", found)
	}
}

func cancelJobs(t *testing.T, account *Account, log *eventstore.Store) {
	running, queued := account.submit(t, jobBody{"expression": forever}), account.submit(t, jobBody{"expression": "1+1"})
	account.awaitRunning(t, running.JobID)
	if c := account.cancel(t, queued.JobID); c != (cancelAnswer{queued.JobID, job.Cancelled, true, true, 5}) {
		t.Errorf("queued: %+v", c)
	}
	if c := account.cancel(t, running.JobID); c != (cancelAnswer{running.JobID, job.Cancelled, true, false, 5}) {
		t.Errorf("running: %+v", c)
	}
	// The plan runs one job at a time: the next one runs because the killed one does not.
	next := account.submit(t, jobBody{"expression": "2+2"})
	if j := account.awaitJob(t, next.JobID); j.Status != job.Succeeded {
		t.Errorf("%+v", j)
	}
	if c := account.cancel(t, next.JobID); c != (cancelAnswer{next.JobID, job.Succeeded, false, false, 4}) {
		t.Errorf("finished: %+v", c)
	}
	for _, id := range []string{queued.JobID, running.JobID} {
		j := account.awaitJob(t, id)
		if j.Status != job.Cancelled || j.Output != nil || j.RunID != 0 || j.Error != nil {
			t.Errorf("%+v", j)
		}
		state := fold(t, log, id)
		if history, err := log.Read(t.Context(), run.Stream(state.Queued.RunID)); err != nil || len(history.Events) != 0 {
			t.Errorf("a cancelled job has published its run: %v %v", history, err)
		}
	}
	if used := used(t, log, account); used != 2 {
		t.Errorf("%d slots are spent", used)
	}
}

func sessionJobs(t *testing.T, account *Account) {
	account.evaluate(t, "x = 5", "lab")
	j := account.awaitJob(t, account.submit(t, jobBody{"expression": "y = x + 1", "session_id": "lab"}).JobID)
	if j.Status != job.Succeeded || j.Output == nil || *j.Output != "6" {
		t.Errorf("%+v", j)
	}
	if e := account.evaluate(t, "x y", "lab"); e.Result != "30" {
		t.Errorf("the job's variable: %+v", e)
	}
	if e := account.evaluate(t, "x", ""); e.Result != "x" {
		t.Errorf("a session's variable outside: %+v", e)
	}
	// A session that does not live yet is opened by its first job.
	first := account.submit(t, jobBody{"expression": "z = 7", "session_id": "other"})
	account.awaitJob(t, first.JobID)
	if e := account.evaluate(t, "z", "other"); e.Result != "7" {
		t.Errorf("%+v", e)
	}
}

func idempotentJobs(t *testing.T, account, other *Account, log *eventstore.Store) {
	body := jobBody{"expression": "40+2", "idempotency_key": "k"}
	first := account.submit(t, body)
	if j := account.submit(t, body); j.JobID != first.JobID || !j.Resubmit || j.JobsRemainingToday != 5 {
		t.Errorf("%+v", j)
	}
	account.awaitJob(t, first.JobID)
	response, err := account.Do("POST", "/api/jobs", jobBody{"kind": "lottery"}, http.Header{"Idempotency-Key": {"k"}})
	if err != nil {
		t.Fatal(err)
	}
	var j jobAnswer
	if err := decode(response, &j); err != nil || j.JobID != first.JobID || !j.Resubmit || j.Status != job.Succeeded || j.Output == nil || *j.Output != "42" {
		t.Errorf("another body: %+v %v", j, err)
	}
	response, err = account.Do("POST", "/api/jobs", body, http.Header{"Idempotency-Key": {"l"}})
	if err != nil {
		t.Fatal(err)
	}
	if status, code := statusOf(decode(response, nil)); status != http.StatusBadRequest || code != "invalid_request" {
		t.Errorf("two keys: %d %s", status, code)
	}
	if j := other.submit(t, body); j.JobID == first.JobID || j.Resubmit {
		t.Errorf("another account's key: %+v", j)
	}
	if used := used(t, log, account); used != 1 {
		t.Errorf("%d slots are spent", used)
	}
}

// refusedJobs: each refusal has its documented code and spends nothing, by the
// answers and by the log.
func refusedJobs(t *testing.T, account, other *Account, log *eventstore.Store) {
	account.submit(t, jobBody{"expression": "1"})
	for _, c := range []struct {
		body   any
		status int
		code   string
	}{
		{jobBody{}, 400, "expression_required"},
		{jobBody{"expression": ""}, 400, "expression_required"},
		{jobBody{"expression": "1", "priority": 9}, 400, "unknown_field"},
		{jobBody{"expression": 1}, 400, "invalid_request"},
		{jobBody{"kind": "lottery", "expression": "1"}, 400, "unknown_job_kind"},
		{jobBody{"expression": "Run[\"ls\"]"}, 403, "expression_denied"},
		{jobBody{"expression": "1", "session_id": "a b"}, 400, "invalid_session_id"},
		{jobBody{"expression": "1", "timeout_ms": 0}, 400, "invalid_request"},
		{jobBody{"expression": "1", "timeout_ms": 30001}, 400, "timeout_over_plan"},
		{jobBody{"expression": "1", "wait_ms": 100}, 400, "invalid_request"},
		{jobBody{"expression": "1", "export": "x"}, 400, "invalid_request"},
		{"{", 400, "invalid_json"},
		{`{"expression":"` + strings.Repeat("(", 100_000) + `"}`, 400, "expression_too_complex"},
		{`{"expression":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "body_too_large"},
	} {
		if status, code := statusOf(account.JSON("POST", "/api/jobs", c.body, nil)); status != c.status || code != c.code {
			t.Errorf("%.80v: %d %s, want %d %s", c.body, status, code, c.status, c.code)
		}
		if used := used(t, log, account); used != 1 {
			t.Fatalf("%.80v: %d slots are spent", c.body, used)
		}
	}
	var last jobAnswer
	for i := range 5 {
		if last = account.submit(t, jobBody{"expression": "1"}); last.JobsRemainingToday != 4-i {
			t.Errorf("%+v", last)
		}
	}
	response, err := account.Do("POST", "/api/jobs", jobBody{"expression": "1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wait int64
	if _, err := fmt.Sscan(response.Header.Get("Retry-After"), &wait); err != nil || wait < 1 || wait > 24*60*60 {
		t.Errorf("Retry-After %q", response.Header.Get("Retry-After"))
	}
	if status, code := statusOf(decode(response, nil)); status != 429 || code != "daily_allowance_spent" {
		t.Errorf("%d %s", status, code)
	}
	if used := used(t, log, account); used != 6 {
		t.Errorf("%d slots are spent", used)
	}
	for _, method := range []string{"GET", "DELETE"} {
		for _, id := range []string{last.JobID, "nonsense", "00000000-0000-0000-0000-000000000000"} {
			if status, code := statusOf(other.JSON(method, "/api/jobs/"+id, nil, nil)); status != 404 || code != "no_such_job" {
				t.Errorf("%s %s by another: %d %s", method, id, status, code)
			}
		}
	}
	if status, code := statusOf(account.JSON("GET", "/api/jobs/"+last.JobID+"?wait_ms=25001", nil, nil)); status != 400 || code != "invalid_parameter" {
		t.Errorf("%d %s", status, code)
	}
}

func listJobs(t *testing.T, account *Account) {
	var ids []string
	for _, body := range []jobBody{{"expression": "1"}, {"expression": "2"}, {"expression": "3"}} {
		ids = append(ids, account.submit(t, body).JobID)
	}
	list := func(query string) (found []string, next *string) {
		t.Helper()
		var page struct {
			Jobs []jobAnswer `json:"jobs"`
			Next *string     `json:"next_before"`
		}
		if err := account.JSON("GET", "/api/jobs"+query, nil, &page); err != nil {
			t.Fatal(err)
		}
		for _, j := range page.Jobs {
			found = append(found, j.JobID)
		}
		return found, page.Next
	}
	slices.Reverse(ids)
	if found, _ := list(""); !slices.Equal(found, ids) { // a list sees the client's own writes
		t.Errorf("%v, want %v", found, ids)
	}
	if found, next := list("?limit=2"); !slices.Equal(found, ids[:2]) || next == nil {
		t.Errorf("%v %v", found, next)
	} else if found, next = list("?limit=2&before=" + *next); !slices.Equal(found, ids[2:]) || next != nil {
		t.Errorf("%v %v", found, next)
	}
	if found, _ := list("?kind=evaluate"); !slices.Equal(found, ids) {
		t.Errorf("%v", found)
	}
	if found, _ := list("?kind=proof"); len(found) != 0 {
		t.Errorf("%v", found)
	}
	for _, id := range ids {
		account.awaitJob(t, id)
	}
}

func servedPlans(t *testing.T, server *Server) {
	response, err := http.Get(server.URL + "/billing/plans")
	if err != nil {
		t.Fatal(err)
	}
	var catalogue struct {
		Plans []struct {
			Plan       string `json:"plan"`
			JobsPerDay int    `json:"jobs_per_day"`
			Prices     []struct {
				Quote struct {
					Record struct {
						Plan        string `json:"plan"`
						AmountMinor int64  `json:"amount_minor"`
					} `json:"record"`
					Signature *string `json:"signature"`
				} `json:"quote"`
			} `json:"prices"`
		} `json:"plans"`
	}
	if err := decode(response, &catalogue); err != nil {
		t.Fatal(err)
	}
	plans := catalogue.Plans
	if len(plans) != 2 || plans[0].Plan != "free" || plans[0].JobsPerDay != 6 || len(plans[0].Prices) != 0 || len(plans[1].Prices) != 1 {
		t.Fatalf("%+v", plans)
	}
	if q := plans[1].Prices[0].Quote; q.Record.Plan != "pro" || q.Record.AmountMinor != 1200 || q.Signature == nil {
		t.Errorf("%+v", q)
	}
}

// TestJobsSurviveKill: what was accepted is done after a kill -9, once.
func TestJobsSurviveKill(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	config := jobPlans(t, data)
	server := Start(t, data, "--config", config)
	account := server.NewAccount("patient@example.com")
	// The first is running when the process dies, the others wait behind it.
	running := account.submit(t, jobBody{"expression": "Pause[3]; 41+1"})
	waiting := account.submit(t, jobBody{"expression": "20+3", "idempotency_key": "w"})
	endless := account.submit(t, jobBody{"expression": forever, "timeout_ms": 500})
	account.awaitRunning(t, running.JobID)
	server.Kill()

	server = Start(t, data, "--config", config)
	account.URL = server.URL
	if j := account.submit(t, jobBody{"expression": "20+3", "idempotency_key": "w"}); j.JobID != waiting.JobID || !j.Resubmit {
		t.Errorf("%+v", j)
	}
	for id, want := range map[string]string{running.JobID: "42", waiting.JobID: "23"} {
		if j := account.awaitJob(t, id); j.Status != job.Succeeded || j.Output == nil || *j.Output != want || j.RunID == 0 {
			t.Errorf("%+v", j)
		}
	}
	if j := account.awaitJob(t, running.JobID); j.Attempt != 2 {
		t.Errorf("the job that was running: %+v", j)
	}
	if j := account.awaitJob(t, endless.JobID); j.Status != job.TimedOut {
		t.Errorf("%+v", j)
	}
	if used := used(t, connect(t, server), account); used != 3 {
		t.Errorf("%d slots are spent", used)
	}
	server.mustBeClean()
}

// TestLongPollsEndWithTheServer: Ctrl-C answers who waits.
func TestLongPollsEndWithTheServer(t *testing.T) {
	t.Parallel()
	data := DataFolder(t)
	server := Start(t, data, "--config", jobPlans(t, data), "--grace", "100ms")
	account := server.NewAccount("waiting@example.com")
	submitted := account.submit(t, jobBody{"expression": forever})
	account.awaitRunning(t, submitted.JobID)
	answered := make(chan error, 1)
	var j jobAnswer
	sent := make(chan struct{})
	trace := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) }})
	request, err := http.NewRequestWithContext(trace, "GET", server.URL+"/api/jobs/"+submitted.JobID+"?wait_ms=25000", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+account.Token)
	oneRequest := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		response, err := oneRequest.Do(request)
		if err == nil {
			err = decode(response, &j)
		}
		answered <- err
	}()
	<-sent
	// Connections are accepted in their order: after the answer on a later one the first is the server's.
	response, err := oneRequest.Get(server.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if status := server.Interrupt(); status != 0 {
		t.Errorf("exit status %d\n%s", status, server.Output())
	}
	if err := <-answered; err != nil || j.Status != job.Running && j.Status != job.Queued {
		t.Errorf("%+v %v", j, err)
	}
}

// connect opens a server's log as any client may.
func connect(t *testing.T, server *Server) *eventstore.Store {
	t.Helper()
	log, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: server.Log, Catalogue: domain.Catalogue(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	return log
}

func fold(t *testing.T, log *eventstore.Store, jobID string) job.State {
	t.Helper()
	history, err := log.Read(t.Context(), job.Stream(jobID))
	if err != nil {
		t.Fatal(err)
	}
	return job.Decider.Fold(history.Domain())
}

// used counts an account's spent slots in the log, today and, should midnight
// have passed during the test, yesterday.
func used(t *testing.T, log *eventstore.Store, account *Account) (n int) {
	t.Helper()
	now := time.Now()
	for _, at := range []time.Time{now, now.AddDate(0, 0, -1)} {
		history, err := log.Read(t.Context(), slots.Stream(account.ID, commands.Day(at)))
		if err != nil {
			t.Fatal(err)
		}
		n += slots.Decider.Fold(history.Domain()).SlotsUsed()
	}
	return n
}
