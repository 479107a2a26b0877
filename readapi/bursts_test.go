package readapi_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
)

// fresh asks until the answer has the caller's own writes: a busy machine may answer without them after the time a list waits.
func fresh(t *testing.T, ask func() apitest.Answer) apitest.Answer {
	t.Helper()
	for {
		a := ask()
		if a.Header.Get(httpkit.ConsistencyHeader) != httpkit.Stale {
			return a
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// burstsOf are the rows of a list of bursts.
func burstsOf(t *testing.T, a apitest.Answer) []map[string]any {
	t.Helper()
	var rows []map[string]any
	list, _ := a.OK(t).JSON["bursts"].([]any)
	for _, row := range list {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// TestBursts follows one agent through two bursts, beside two other agents of the account and another account.
func TestBursts(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	ask := func(method, path, body string) apitest.Answer {
		return fresh(t, func() apitest.Answer { return u.Do(t, method, path, body, "User-Agent", "notebook/2") })
	}
	first := ask("POST", "/api/evaluate", `{"expression":"3+4"}`).OK(t)
	runID := fmt.Sprintf("%.0f", first.JSON["run_id"])
	s.Clock.Pass(5 * time.Minute) // not over the gap
	ask("POST", "/api/verify", `{"run_id":`+runID+`}`).OK(t)
	s.Clock.Pass(time.Second)
	jobID := ask("POST", "/api/jobs", `{"expression":"2+2"}`).OK(t).JSON["job_id"].(string)
	nonce := s.ClaimJob(t, jobID)
	s.Clock.Pass(time.Second)
	s.ComputeJob(t, jobID, nonce)
	s.Clock.Pass(5*time.Minute + time.Millisecond)
	last := ask("POST", "/api/evaluate", `{"expression":"Quit[]"}`)
	last.Want(t, httpkit.EngineQuit)
	other.Evaluate(t, "3").OK(t)
	s.Do(t, "POST", "/api/evaluate", `{"expression":"4"}`, "Cookie", u.Cookie, "User-Agent", "notebook/2", "Origin", s.URL).OK(t)
	u.Do(t, "POST", "/api/evaluate", `{"expression":"5"}`, "User-Agent", "").OK(t)

	// The list right after the writes has them all.
	list := ask("GET", "/api/bursts", "")
	rows := burstsOf(t, list)
	if len(rows) != 4 || list.JSON["scanned"] != 8.0 || list.JSON["truncated"] != false || list.JSON["gap_seconds"] != 300.0 || list.JSON["beta"] != true || list.JSON["next_before"] != nil ||
		list.JSON["scanned_from"] != event.Timestamp(s.Clock.Now().Add(-7*24*time.Hour)) {
		t.Fatalf("%s", list.Body)
	}
	if rows[0]["agent"] != nil || rows[1]["preview"] != "4" || rows[2]["preview"] != "Quit[]" || rows[2]["failures"] != 1.0 {
		t.Errorf("%s", list.Body)
	}
	jobRun := ask("GET", "/api/jobs/"+jobID, "").OK(t).JSON["run_id"]
	want := map[string]any{
		"burst_id": rows[3]["burst_id"], "agent": "notebook/2", "source": "web", "started_at": "2026-08-01T12:00:00.000Z", "ended_at": "2026-08-01T12:05:02.000Z", "duration_ms": 302_000.0,
		"evaluations": 2.0, "jobs": 1.0, "checks": 1.0, "failures": 0.0, "verified": 0.0, "refuted": 0.0, "first_run_id": first.JSON["run_id"], "last_run_id": jobRun, "preview": "3+4",
	}
	if !reflect.DeepEqual(rows[3], want) {
		t.Errorf("got  %v\nwant %v", rows[3], want)
	}

	// Its timeline is the summary with events; the parts of it are the whole.
	id := rows[3]["burst_id"].(string)
	whole := ask("GET", "/api/bursts/"+id, "").OK(t)
	for field, value := range want {
		if whole.JSON[field] != value {
			t.Errorf("%s: %s", field, whole.Body)
		}
	}
	events, _ := whole.JSON["events"].([]any)
	var shown []string
	for _, e := range events {
		row := e.(map[string]any)
		shown = append(shown, fmt.Sprintf("%v %.0f %.0f %v", row["type"], row["offset_ms"], row["gap_ms"], row["status"]))
	}
	wantEvents := []string{"evaluation 0 0 unevaluated", "check 300000 300000 <nil>", "job_submitted 301000 1000 queued", "job_ended 302000 1000 succeeded", "evaluation 302000 0 unevaluated"}
	if !reflect.DeepEqual(shown, wantEvents) || whole.JSON["next_after"] != nil || len(events[0].(map[string]any)) != 11 {
		t.Fatalf("%s", whole.Body)
	}
	var parts []any
	for after := ""; ; {
		part := ask("GET", "/api/bursts/"+id+"?limit=2"+after, "").OK(t)
		parts = append(parts, part.JSON["events"].([]any)...)
		next, more := part.JSON["next_after"].(string)
		if !more {
			break
		}
		after = "&after=" + next
	}
	if !reflect.DeepEqual(parts, events) {
		t.Errorf("the parts are %v", parts)
	}
	var paged []map[string]any
	for before := ""; ; {
		page := ask("GET", "/api/bursts?limit=1"+before, "")
		paged = append(paged, burstsOf(t, page)...)
		next, more := page.JSON["next_before"].(string)
		if !more {
			break
		}
		before = "&before=" + next
	}
	if !reflect.DeepEqual(paged, rows) {
		t.Errorf("the pages are %v", paged)
	}

	located := func(query, want string) {
		t.Helper()
		if a := ask("GET", "/api/bursts/locate?"+query, "").OK(t); strings.TrimSpace(string(a.Body)) != want {
			t.Errorf("%s: %s, want %s", query, a.Body, want)
		}
	}
	located("run_id="+runID, `{"found":true,"burst_id":"`+id+`"}`)
	located("job_id="+strings.ToUpper(jobID), `{"found":true,"burst_id":"`+id+`"}`)
	located("run_id=9007199254740991", `{"found":false,"reason":"no_such_run"}`)
	located("job_id="+uuid.NewString(), `{"found":false,"reason":"no_such_job"}`)
	located("job_id=run-"+runID, `{"found":false,"reason":"no_such_job"}`)
	if a := other.Do(t, "GET", "/api/bursts/locate?run_id="+runID, "").OK(t); a.JSON["found"] != false {
		t.Errorf("another account's run: %s", a.Body)
	}
	if theirs := burstsOf(t, fresh(t, func() apitest.Answer { return other.Do(t, "GET", "/api/bursts", "") })); len(theirs) != 1 {
		t.Errorf("another account has %v", theirs)
	}

	// An activity before the first: the id does not derive any more, and locate finds the burst.
	early := int64(9_000_000)
	in := commands.Intent{ID: uuid.New(), At: s.Clock.Now().Add(-11 * time.Minute), Account: u.ID, Actor: "token:" + u.TokenID, Source: event.SourceWeb, Agent: "notebook/2"}
	appended, err := s.Store.Append(t.Context(), run.Stream(early), event.NoStream, in.Propose(run.Stream(early), []event.Event{run.TimedOut{Subject: run.Subject{RunID: early, Account: u.ID, Expression: event.Inline("early"), Source: event.SourceWeb}, BudgetMS: 3000}}))
	if err != nil {
		t.Fatal(err)
	}
	logID, err := s.Store.LogID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token := []string{"User-Agent", "notebook/2", "Consistency-Token", httpkit.ConsistencyToken{Log: logID, Position: appended.Position}.String()}
	moved := fresh(t, func() apitest.Answer { return u.Do(t, "GET", "/api/bursts/locate?run_id="+runID, "", token...) }).OK(t)
	u.Do(t, "GET", "/api/bursts/"+id, "", token...).Want(t, httpkit.NoSuchBurst)
	if grown := ask("GET", "/api/bursts/"+moved.JSON["burst_id"].(string), "").OK(t); grown.JSON["preview"] != "early" || grown.JSON["evaluations"] != 3.0 {
		t.Errorf("%s", grown.Body)
	}
}

// TestBadRequestsForBursts sends what may be wrong with every parameter.
func TestBadRequestsForBursts(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	u.Evaluate(t, "1").OK(t)
	id := burstsOf(t, fresh(t, func() apitest.Answer { return u.Do(t, "GET", "/api/bursts", "") }))[0]["burst_id"].(string)
	for _, path := range []string{"/api/bursts?limit=0", "/api/bursts?limit=201", "/api/bursts?limit=1.0", "/api/bursts?limit=1e2", "/api/bursts?limit=", "/api/bursts?limit=1&limit=1", "/api/bursts?before=", "/api/bursts?before=1",
		"/api/bursts?before=1.2.3", "/api/bursts?before=" + strings.Repeat("9", 43), "/api/bursts?before=99999999999999999999.1", "/api/bursts?after=1.1", "/api/bursts?zzz=1", "/api/bursts?before=1.1&before=1.1", "/api/bursts?before=%ff",
		"/api/bursts/" + id + "?after=x", "/api/bursts/" + id + "?after=1.-1", "/api/bursts/" + id + "?limit=201", "/api/bursts/" + id + "?before=1.1", "/api/bursts/" + id + "?after=",
		"/api/bursts/locate?run_id=0", "/api/bursts/locate?run_id=-1", "/api/bursts/locate?run_id=1.0", "/api/bursts/locate?run_id=1e3", "/api/bursts/locate?run_id=", "/api/bursts/locate?run_id=9007199254740992",
		"/api/bursts/locate?run_id=1&run_id=1", "/api/bursts/locate?job_id=", "/api/bursts/locate?job_id=" + strings.Repeat("a", 37), "/api/bursts/locate?run_id=abc"} {
		u.Do(t, "GET", path, "").Want(t, httpkit.InvalidParameter)
	}
	for _, path := range []string{"/api/bursts/locate", "/api/bursts/locate?run_id=1&job_id=" + uuid.NewString()} {
		u.Do(t, "GET", path, "").Want(t, httpkit.LocateInput)
	}
	for _, id := range []string{strings.ToUpper(id), id[:31], id + "0", "0", strings.Repeat("0", 32), strings.Repeat("x", 5000), "'%20OR%201=1--", "%00", "..%2Fbursts", uuid.NewString(), "Locate"} {
		if a := u.Do(t, "GET", "/api/bursts/"+id, ""); a.Status != http.StatusNotFound && a.Code() != httpkit.InvalidParameter.Code {
			t.Errorf("%q: %d %s", id, a.Status, a.Body)
		}
	}
	for _, path := range []string{"/api/bursts", "/api/bursts/locate?run_id=1", "/api/bursts/" + id} {
		s.Do(t, "GET", path, "").Want(t, httpkit.Unauthenticated)
		if a := u.Do(t, "POST", path, "{}"); a.Code() != httpkit.MethodRefused.Code {
			t.Errorf("POST %s: %s", path, a.Body)
		}
	}
	if a := u.Do(t, "GET", "/api/bursts/"+id+"?after=9223372036854775807.9223372036854775807", "").OK(t); len(a.JSON["events"].([]any)) != 0 || a.JSON["next_after"] != nil {
		t.Errorf("after the last event: %s", a.Body)
	}
}
