package readapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/internal/view"
	"reckon/runners"
	"reckon/test/apitest"
	"reckon/test/wait"
)

func submit(t *testing.T, u *apitest.User, body string) string {
	t.Helper()
	id, _ := u.Do(t, http.MethodPost, "/api/jobs", body).OK(t).JSON["job_id"].(string)
	return id
}

func get(t *testing.T, u *apitest.User, id string) apitest.Answer {
	t.Helper()
	return u.Do(t, http.MethodGet, "/api/jobs/"+id, "").OK(t)
}

const evaluateJob = `{"expression":"1+1"}`

func TestJobLife(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	id := submit(t, u, evaluateJob)
	if a := get(t, u, id); a.JSON["status"] != "queued" || a.JSON["position"] != 1.0 || a.JSON["attempt"] != 0.0 || a.JSON["jobs_remaining_today"] != nil || a.JSON["resubmit"] != nil {
		t.Errorf("%s", a.Body)
	}
	s.Clock.Pass(time.Second)
	nonce := s.ClaimJob(t, id)
	a := get(t, u, id)
	want := `{"job_id":"` + id + `","kind":"evaluate","status":"running","created_at":"2026-08-01T12:00:00.000Z","started_at":"2026-08-01T12:00:01.000Z","finished_at":null,"timeout_ms":60000,"attempt":1,"error":null}`
	if got := strings.TrimSpace(string(a.Body)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Clock.Pass(time.Second)
	s.ComputeJob(t, id, nonce)
	a = get(t, u, id)
	result, _ := a.JSON["result"].(map[string]any)
	if a.JSON["status"] != "succeeded" || a.JSON["output"] != "2" || a.JSON["error"] != nil || a.JSON["finished_at"] != "2026-08-01T12:00:02.000Z" || result["result"] != "2" || result["run_id"] != a.JSON["run_id"] {
		t.Errorf("%s", a.Body)
	}
	listed := u.Do(t, http.MethodGet, "/api/jobs", "").OK(t)
	if row := listed.JSON["jobs"].([]any)[0].(map[string]any); row["preview"] != "1+1" {
		t.Errorf("%s", listed.Body)
	}
	// The run is a row of history, with a receipt.
	runID := runOf(t, a)
	receipt := u.Do(t, http.MethodGet, fmt.Sprintf("/api/receipts/%d", runID), "").OK(t)
	if record, _ := receipt.JSON["record"].(map[string]any); record["source"] != "job" || record["answer"] != "2" {
		t.Errorf("%s", receipt.Body)
	}
	for _, id := range []string{id, uuid.NewString(), "x", strings.ToUpper(id), "urn:uuid:" + id, "..%2Fkeys", "'%20OR%201=1--"} {
		other.Do(t, http.MethodGet, "/api/jobs/"+id, "").Want(t, httpkit.NoSuchJob)
		other.Do(t, http.MethodGet, "/api/jobs/"+id+"?wait_ms=25000", "").Want(t, httpkit.NoSuchJob)
	}
}

// TestJobEnds: each end says what it is, and nothing that there is not.
func TestJobEnds(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	end := func(body string, want map[string]any) {
		t.Helper()
		id := submit(t, u, body)
		s.RunJob(t, id)
		a := get(t, u, id)
		for field, value := range want {
			if text, isText := value.(string); isText && strings.HasSuffix(text, "…") {
				if got, _ := a.JSON[field].(string); !strings.HasPrefix(got, strings.TrimSuffix(text, "…")) {
					t.Errorf("%s: %s", field, a.Body)
				}
			} else if a.JSON[field] != value {
				t.Errorf("%s: %s", field, a.Body)
			}
		}
	}
	end(`{"expression":"While[True]","timeout_ms":1500}`, map[string]any{"status": "timeout", "error": "the evaluation ran past the job's time budget of 1.5s…", "output": nil, "result": nil})
	end(`{"expression":"Quit[]"}`, map[string]any{"status": "failed", "error": "the engine failed: quit", "output": nil, "result": nil})

	long := submit(t, u, `{"expression":"Long"}`) // output and result are blobs
	s.RunJob(t, long)
	if a := get(t, u, long); len(a.JSON["output"].(string)) != 120_000 {
		t.Errorf("%d bytes of output", len(a.JSON["output"].(string)))
	}

	lost := submit(t, u, evaluateJob)
	for range job.MaxAbandoned {
		if _, err := s.Jobs.AbandonJob(t.Context(), commands.Intent{ID: uuid.New(), At: s.Clock.Now()}, lost, s.ClaimJob(t, lost), true); err != nil {
			t.Fatal(err)
		}
	}
	if a := get(t, u, lost); a.JSON["status"] != "lost" || a.JSON["attempt"] != 3.0 || !strings.Contains(a.JSON["error"].(string), "the last because its runner ended") {
		t.Errorf("%s", a.Body)
	}

	untried := submit(t, u, evaluateJob)
	const lacked = "the store of large bytes could not be reached"
	giveBack := func(after time.Duration) {
		t.Helper()
		if _, err := s.Jobs.ReturnJob(t.Context(), commands.Intent{ID: uuid.New(), At: s.Clock.Now().Add(after)}, untried, s.ClaimJob(t, untried), lacked); err != nil {
			t.Fatal(err)
		}
	}
	giveBack(0)
	if a := get(t, u, untried); a.JSON["status"] != "queued" || a.JSON["error"] != nil || !strings.Contains(a.JSON["note"].(string), lacked) {
		t.Errorf("%s", a.Body)
	}
	giveBack(2 * job.GiveUpAfter)
	if a := get(t, u, untried); a.JSON["status"] != "lost" || a.JSON["note"] != nil || !strings.Contains(a.JSON["error"].(string), lacked+"; your slot was returned") {
		t.Errorf("%s", a.Body)
	}

	cancelled := submit(t, u, evaluateJob)
	u.Do(t, http.MethodDelete, "/api/jobs/"+cancelled, "").OK(t)
	if a := get(t, u, cancelled); a.JSON["status"] != "cancelled" || a.JSON["started_at"] != nil || a.JSON["finished_at"] == nil || a.JSON["error"] != nil || a.JSON["position"] != nil {
		t.Errorf("%s", a.Body)
	}

	handedBack := submit(t, u, evaluateJob)
	if err := s.Jobs.ReleaseJob(t.Context(), commands.Intent{ID: uuid.New(), At: s.Clock.Now()}, handedBack, s.ClaimJob(t, handedBack)); err != nil {
		t.Fatal(err)
	}
	if a := get(t, u, handedBack); a.JSON["status"] != "queued" || a.JSON["started_at"] != nil || a.JSON["attempt"] != 1.0 {
		t.Errorf("%s", a.Body)
	}
}

// awaited asks for a job with the longest wait, and returns once the server waits.
func awaited(t *testing.T, s *apitest.Server, u *apitest.User, id string) <-chan apitest.Answer {
	t.Helper()
	answers := make(chan apitest.Answer, 1)
	before := s.Watched(id)
	go func() { answers <- u.Do(t, http.MethodGet, "/api/jobs/"+id+"?wait_ms=25000", "") }()
	wait.Until(t, "the request waits for the job", func() bool { return s.Watched(id) > before })
	return answers
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)

	id := submit(t, u, evaluateJob)
	answers := awaited(t, s, u, id)
	s.RunJob(t, id)
	if a := (<-answers).OK(t); a.JSON["status"] != "succeeded" || a.JSON["run_id"] == nil {
		t.Errorf("%s", a.Body)
	}
	if a := u.Do(t, http.MethodGet, "/api/jobs/"+id+"?wait_ms=25000", "").OK(t); a.JSON["status"] != "succeeded" {
		t.Errorf("%s", a.Body)
	}

	id = submit(t, u, evaluateJob)
	answers = awaited(t, s, u, id)
	u.Do(t, http.MethodDelete, "/api/jobs/"+id, "").OK(t)
	if a := (<-answers).OK(t); a.JSON["status"] != "cancelled" {
		t.Errorf("%s", a.Body)
	}

	id = submit(t, u, evaluateJob)
	if a := u.Do(t, http.MethodGet, "/api/jobs/"+id+"?wait_ms=1", "").OK(t); a.JSON["status"] != "queued" || a.JSON["position"] != 1.0 {
		t.Errorf("%s", a.Body)
	}
	for _, wait := range []string{"-1", "25001", "x", "1.5", "1e3", "99999999999999999999"} {
		u.Do(t, http.MethodGet, "/api/jobs/"+id+"?wait_ms="+wait, "").Want(t, httpkit.InvalidParameter)
	}
	answers = awaited(t, s, u, id)
	close(s.Closing)
	if a := (<-answers).OK(t); a.JSON["status"] != "queued" {
		t.Errorf("%s", a.Body)
	}
	wait.Until(t, "no request waits for the job", func() bool { return s.Watched(id) == 0 })
}

// TestRunIsNamedOnceItCanBeRead: between a job's end and its run in the log, the
// job has no run, and whoever waits goes on waiting.
func TestRunIsNamedOnceItCanBeRead(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	id := submit(t, u, evaluateJob)
	nonce := s.ClaimJob(t, id)
	state, err := s.Jobs.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	publishTo := run.Stream(state.Queued.RunID)
	answers := awaited(t, s, u, id)
	s.EndJob(t, id, nonce, runners.End{Status: job.Failed, Outcome: job.Outcome{Error: "no", PublishTo: publishTo}}) // nothing to publish yet
	if a := get(t, u, id); a.JSON["status"] != "failed" || a.JSON["run_id"] != nil {
		t.Errorf("%s", a.Body)
	}
	select {
	case a := <-answers:
		t.Errorf("answered before the run: %s", a.Body)
	default:
	}
	late := awaited(t, s, u, id) // a watch that began after the end
	failed := run.Failed{Subject: run.Subject{RunID: state.Queued.RunID, Account: u.ID}, Reason: "quit"}
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: u.ID}
	if _, err := s.Store.Append(t.Context(), publishTo, event.NoStream, in.Propose(publishTo, []event.Event{failed})); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "no request waits for the job", func() bool { return s.Watched(id) == 0 }) // sooner than their waits would end
	for range 2 {
		if a := (<-answers).OK(t); a.JSON["run_id"] != float64(state.Queued.RunID) {
			t.Errorf("%s", a.Body)
		}
		answers = late
	}
}

func TestListJobs(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	var ids []string
	for i := range 5 {
		body := evaluateJob
		if i%2 == 1 {
			body = `{"kind":"proof","export":"{\"meta\":{\"exporter\":{\"name\":\"lean4export\",\"version\":\"3.1.0\"},\"format\":{\"version\":\"3.1.0\"},\"lean\":{\"githash\":\"x\",\"version\":\"4.29.1\"}}}\n","declarations":["a"]}`
		}
		ids = append(ids, submit(t, u, body))
	}
	s.RunJob(t, ids[0])
	u.Do(t, http.MethodDelete, "/api/jobs/"+ids[1], "").OK(t)
	list := func(query string) (found []string, next any) {
		t.Helper()
		a := u.Do(t, http.MethodGet, "/api/jobs"+query, "").OK(t)
		var page struct {
			Jobs []struct {
				JobID string `json:"job_id"`
			}
			Next *string `json:"next_before"`
		}
		if err := json.Unmarshal(a.Body, &page); err != nil || page.Jobs == nil {
			t.Fatal(err, string(a.Body))
		}
		for _, j := range page.Jobs {
			found = append(found, fmt.Sprint(indexOf(ids, j.JobID)))
		}
		if page.Next == nil {
			return found, nil
		}
		return found, *page.Next
	}
	for query, want := range map[string]string{
		"": "4 3 2 1 0", "?status=queued": "4 3 2", "?kind=proof": "3 1", "?kind=evaluate": "4 2 0", "?status=cancelled&kind=proof": "1", "?status=lost": "", "?limit=200": "4 3 2 1 0",
	} {
		if found, next := list(query); strings.Join(found, " ") != want || next != nil {
			t.Errorf("%s: %v %v, want %s", query, found, next, want)
		}
	}
	var walked []string
	for query := "?limit=2"; ; {
		found, next := list(query)
		walked = append(walked, found...)
		if next == nil {
			break
		}
		query = fmt.Sprintf("?limit=2&before=%s", next)
	}
	if strings.Join(walked, " ") != "4 3 2 1 0" {
		t.Errorf("page by page: %v", walked)
	}
	if a := other.Do(t, http.MethodGet, "/api/jobs", "").OK(t); strings.TrimSpace(string(a.Body)) != `{"jobs":[],"next_before":null}` {
		t.Errorf("%s", a.Body)
	}
	for _, query := range []string{"?status=done", "?kind=x", "?limit=0", "?limit=201", "?limit=x", "?before=x", "?before='", "?offset=1", "?status=queued&status=queued"} {
		u.Do(t, http.MethodGet, "/api/jobs"+query, "").Want(t, httpkit.InvalidParameter)
	}
	// A row says the same as the job, but for what a list leaves out, and what it alone has.
	row := u.Do(t, http.MethodGet, "/api/jobs?status=succeeded", "").OK(t).JSON["jobs"].([]any)[0].(map[string]any)
	one := get(t, u, ids[0]).JSON
	delete(one, "output")
	delete(one, "result")
	if row["preview"] != "1+1" || row["verdict"] != "verified" {
		t.Errorf("listed as %v", row)
	}
	delete(row, "preview")
	delete(row, "verdict")
	if fmt.Sprint(row) != fmt.Sprint(one) {
		t.Errorf("listed as %v\n      is %v", row, one)
	}
}

func indexOf(ids []string, id string) int {
	for i, other := range ids {
		if other == id {
			return i
		}
	}
	return -1
}

func TestListWithoutReadModels(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{NoProjections: true, MaxPlaceWait: view.MaxPlaceWait})
	u := s.NewUser(t)
	id := submit(t, u, evaluateJob)
	if a := u.Do(t, http.MethodGet, "/api/jobs", "").OK(t); a.Header.Get("Consistency") != "stale" {
		t.Errorf("%v", a.Header)
	}
	if a := get(t, u, id); a.JSON["status"] != "queued" {
		t.Errorf("%s", a.Body)
	}
}

// TestWhoWaitsStaysAdmitted: what a request waits for is not given to a credential that has ended meanwhile, and is not computed for it.
func TestWhoWaitsStaysAdmitted(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: plentiful()})
	u := s.NewUser(t)
	secret, tokenID := mint(t, s, u, nil, 0)
	id := submit(t, u, evaluateJob)
	polled, evaluated := make(chan apitest.Answer, 1), make(chan apitest.Answer, 1)
	go func() {
		polled <- s.Do(t, http.MethodGet, "/api/jobs/"+id+"?wait_ms=25000", "", "Authorization", "Bearer "+secret)
	}()
	wait.Until(t, "the request waits for the job", func() bool { return s.Watched(id) > 0 })
	u.Do(t, http.MethodDelete, "/api/tokens/"+tokenID, "").OK(t)
	(<-polled).Want(t, httpkit.InvalidToken)
	if a := get(t, u, id); a.JSON["status"] != "queued" {
		t.Errorf("the account's job: %s", a.Body)
	}

	go func() { evaluated <- u.Evaluate(t, "wait") }()
	wait.Until(t, "the evaluation runs", func() bool { return s.Running.Running(u.ID) > 0 })
	s.Do(t, http.MethodPost, "/auth/close", `{"current_password":"`+u.Password+`"}`, "Cookie", u.Cookie).OK(t)
	(<-evaluated).Want(t, httpkit.InvalidToken)
}
