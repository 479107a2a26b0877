package writeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/slots"
	"reckon/internal/httpkit"
	"reckon/runners"
	"reckon/test/apitest"
)

// other is a kind of job that the service does not have: routes know a kind by its declaration alone.
type other struct{}

func (other) Declare() commands.JobKind {
	return commands.JobKind{
		Declaration: job.Declaration{
			Name: "other", Fields: []job.Field{{Name: "text", Type: job.Text, Required: true, Doc: "anything"}}, Result: "nothing",
			Refusals: []job.Refusal{{Code: "text_forbidden", Title: "The text is forbidden", Help: "Send another one."}},
		},
		Prepare: func(_ context.Context, _ commands.Intent, r commands.JobRequest, _ account.Plan, s *job.Submission) error {
			text := r.Fields.Text("text")
			switch {
			case text == nil:
				return &commands.JobFieldError{Field: "text", Problem: "is required"}
			case *text == "forbidden":
				return &commands.JobRefusedError{Code: "text_forbidden", Field: "text", Reason: "word", Detail: "the text is forbidden"}
			}
			s.Payload = event.Inline(*text)
			return nil
		},
	}
}

func (other) Run(context.Context, commands.Intent, runners.Work) (runners.End, error) {
	return runners.End{Status: job.Succeeded, Outcome: job.Outcome{Output: event.Inline("done")}}, nil
}

func submit(t *testing.T, u *apitest.User, body string, headers ...string) apitest.Answer {
	t.Helper()
	return u.Do(t, http.MethodPost, "/api/jobs", body, headers...)
}

func jobOf(t *testing.T, a apitest.Answer) string {
	t.Helper()
	id, _ := a.OK(t).JSON["job_id"].(string)
	if uuid.Validate(id) != nil {
		t.Fatalf("%s", a.Body)
	}
	return id
}

// day is an account's slots of the test's first day.
func day(t *testing.T, s *apitest.Server, accountID, utcDay string) slots.State {
	t.Helper()
	history, err := s.Store.Read(t.Context(), slots.Stream(accountID, utcDay))
	if err != nil {
		t.Fatal(err)
	}
	return slots.Decider.Fold(history.Domain())
}

func TestSubmitReceipt(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Kinds: []runners.Kind{other{}}})
	u := s.NewUser(t)
	a := submit(t, u, `{"expression":"1+1"}`)
	id := jobOf(t, a)
	want := `{"job_id":"` + id + `","kind":"evaluate","status":"queued","position":1,"created_at":"2026-08-01T12:00:00.000Z","started_at":null,"finished_at":null,"timeout_ms":60000,"attempt":0,"error":null,"jobs_remaining_today":9,"resubmit":false}`
	if got := strings.TrimSpace(string(a.Body)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if a.Header.Get("Consistency-Token") == "" || a.Header.Get("Cache-Control") != "no-store" || uuid.MustParse(id).Version() != 7 {
		t.Errorf("%s %v", id, a.Header)
	}
	a = submit(t, u, `{"kind":"other","text":"x","timeout_ms":500}`).OK(t)
	if a.JSON["kind"] != "other" || a.JSON["timeout_ms"] != 500.0 || a.JSON["jobs_remaining_today"] != 8.0 || a.JSON["position"] != 2.0 {
		t.Errorf("%s", a.Body)
	}
	a = submit(t, u, `{"kind":null,"expression":"x","session_id":"s","timeout_ms":null,"text":null,"wait_ms":null,"declarations":null}`).OK(t)
	if a.JSON["kind"] != "evaluate" || a.JSON["session_id"] != "s" {
		t.Errorf("%s", a.Body)
	}
}

// TestRefusedSubmissionsCostNothing is every refusal of interface §4.3 for the kinds served.
func TestRefusedSubmissionsCostNothing(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Kinds: []runners.Kind{other{}}})
	u := s.NewUser(t)
	submit(t, u, `{"expression":"1+1"}`).OK(t) // the block of run ids is reserved
	before := appended(t, s)
	for name, c := range map[string]struct {
		body string
		kind httpkit.Kind
		says string // in detail or errors
	}{
		"no body":                    {``, httpkit.BodyRequired, ""},
		"not an object":              {`[]`, httpkit.InvalidRequest, ""},
		"empty":                      {`{}`, httpkit.ExpressionRequired, "expression"},
		"blank expression":           {`{"expression":" \n"}`, httpkit.ExpressionRequired, "expression"},
		"unknown field":              {`{"expression":"1","slot":1}`, httpkit.UnknownField, `\"slot\"`},
		"field of another case":      {`{"Expression":"1"}`, httpkit.UnknownField, `\"Expression\"`},
		"misnamed field":             {`{"input":"1"}`, httpkit.UnknownField, `\"expression\"`},
		"expression type":            {`{"expression":1}`, httpkit.InvalidRequest, "body.expression"},
		"unknown kind":               {`{"kind":"matlab","expression":"1"}`, httpkit.UnknownJobKind, "evaluate, "},
		"kind of another case":       {`{"kind":"Evaluate","expression":"1"}`, httpkit.UnknownJobKind, "Evaluate"},
		"kind type":                  {`{"kind":1}`, httpkit.InvalidRequest, "body.kind"},
		"denied head":                {`{"expression":"1+Run[\"ls\"]"}`, httpkit.ExpressionDenied, "Run"},
		"too deep":                   {`{"expression":"` + strings.Repeat("(", 100_000) + `"}`, httpkit.TooComplex, ""},
		"not in the language":        {`{"expression":"x²"}`, httpkit.Kind{Code: "syntax_error", Status: 400}, `"suggestions":[{`},
		"power of another language":  {`{"expression":"1 +\n x**2"}`, httpkit.Kind{Code: "syntax_error", Status: 400}, `line 2, column 3: the engine has no operator **`},
		"bad session":                {`{"expression":"1","session_id":"../x"}`, httpkit.InvalidSessionID, ""},
		"timeout zero":               {`{"expression":"1","timeout_ms":0}`, httpkit.InvalidRequest, "body.timeout_ms"},
		"timeout negative":           {`{"expression":"1","timeout_ms":-5}`, httpkit.InvalidRequest, "body.timeout_ms"},
		"timeout fraction":           {`{"expression":"1","timeout_ms":1.5}`, httpkit.InvalidRequest, "body.timeout_ms"},
		"timeout text":               {`{"expression":"1","timeout_ms":"60"}`, httpkit.InvalidRequest, "body.timeout_ms"},
		"timeout over the plan's":    {`{"expression":"1","timeout_ms":60001}`, httpkit.TimeoutOverPlan, "60000"},
		"timeout out of range":       {`{"expression":"1","timeout_ms":1e30}`, httpkit.InvalidRequest, ""},
		"text for evaluate":          {`{"expression":"1","text":""}`, httpkit.InvalidRequest, "body.text"},
		"declarations for evaluate":  {`{"expression":"1","declarations":[]}`, httpkit.InvalidRequest, "body.declarations"},
		"export for evaluate":        {`{"expression":"1","export":""}`, httpkit.InvalidRequest, "body.export"},
		"wait for evaluate":          {`{"expression":"1","wait_ms":0}`, httpkit.InvalidRequest, "body.wait_ms"},
		"wait for another":           {`{"kind":"other","text":"x","wait_ms":5}`, httpkit.InvalidRequest, "proof only"},
		"expression for another":     {`{"kind":"other","text":"","expression":"1"}`, httpkit.InvalidRequest, "body.expression"},
		"session for another":        {`{"kind":"other","text":"","session_id":"s"}`, httpkit.InvalidRequest, "body.session_id"},
		"run for another":            {`{"kind":"other","text":"","run_id":1}`, httpkit.InvalidRequest, "body.run_id"},
		"type of a declared field":   {`{"kind":"other","text":1}`, httpkit.InvalidRequest, "body.text"},
		"run out of range":           {`{"kind":"proof","run_id":1e30}`, httpkit.InvalidRequest, "body.run_id"},
		"a refusal of a kind's own":  {`{"kind":"other","text":"forbidden"}`, httpkit.Kind{Code: "text_forbidden", Status: 400}, `"location":"body.text","message":"word"`},
		"key empty":                  {`{"expression":"1","idempotency_key":""}`, httpkit.InvalidRequest, "body.idempotency_key"},
		"key too long":               {`{"expression":"1","idempotency_key":"` + strings.Repeat("k", 256) + `"}`, httpkit.InvalidRequest, "body.idempotency_key"},
		"key type":                   {`{"expression":"1","idempotency_key":7}`, httpkit.InvalidRequest, "body.idempotency_key"},
		"2 MB":                       {`{"expression":"` + strings.Repeat("x", 2<<20) + `"}`, httpkit.TooLarge, ""},
		"lone surrogate":             {`{"expression":"\ud800"}`, httpkit.InvalidJSON, ""},
		"the same field twice":       {`{"expression":"1","expression":"2"}`, httpkit.InvalidJSON, ""},
		"refused with a key is free": {`{"kind":"other","idempotency_key":"k"}`, httpkit.InvalidRequest, "body.text"},
	} {
		t.Run(name, func(t *testing.T) {
			a := submit(t, u, c.body)
			a.Want(t, c.kind)
			if !strings.Contains(string(a.Body), c.says) {
				t.Errorf("no %s in %s", c.says, a.Body)
			}
		})
	}
	submit(t, u, `{"expression":"1","idempotency_key":"a"}`, "Idempotency-Key", "b").Want(t, httpkit.InvalidRequest)
	if after := appended(t, s); after != before {
		t.Errorf("%d events were appended", after-before)
	}
	if a := submit(t, u, `{"expression":"1","idempotency_key":"k"}`).OK(t); a.JSON["jobs_remaining_today"] != 8.0 || a.JSON["resubmit"] != false {
		t.Errorf("%s", a.Body)
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	id := jobOf(t, submit(t, u, `{"expression":"1+1","idempotency_key":"k"}`))
	again := func(body string, headers ...string) {
		t.Helper()
		before := appended(t, s)
		a := submit(t, u, body, headers...).OK(t)
		if a.JSON["job_id"] != id || a.JSON["resubmit"] != true || a.JSON["jobs_remaining_today"] != 9.0 || appended(t, s) != before {
			t.Errorf("%s", a.Body)
		}
	}
	again(`{"expression":"1+1","idempotency_key":"k"}`)
	again(`{"expression":"1+1"}`, "Idempotency-Key", "k")
	again(`{"expression":"1+1","idempotency_key":"k"}`, "Idempotency-Key", "k")
	// A job that exists is answered whatever else the body says.
	again(`{"expression":"2+2","idempotency_key":"k"}`)
	again(`{"idempotency_key":"k"}`)
	again(`{"kind":"proof","timeout_ms":-1,"idempotency_key":"k"}`)
	again(`{"expression":"Run[1]","timeout_ms":99999999,"idempotency_key":"k"}`)

	if a := submit(t, other, `{"expression":"1+1","idempotency_key":"k"}`).OK(t); a.JSON["job_id"] == id || a.JSON["resubmit"] != false {
		t.Errorf("another account's key: %s", a.Body)
	}
	s.RunJob(t, id)
	a := submit(t, u, `{"expression":"1+1","idempotency_key":"k"}`).OK(t)
	if a.JSON["status"] != "succeeded" || a.JSON["output"] != "2" || a.JSON["run_id"] == nil || a.JSON["resubmit"] != true {
		t.Errorf("%s", a.Body)
	}
	// The next day the key still names the job, and the day's allowance is whole.
	s.Clock.Pass(12 * time.Hour)
	if a := submit(t, u, `{"expression":"1+1","idempotency_key":"k"}`).OK(t); a.JSON["job_id"] != id || a.JSON["jobs_remaining_today"] != 10.0 {
		t.Errorf("%s", a.Body)
	}
	if used := day(t, s, u.ID, "2026-08-01").SlotsUsed(); used != 1 {
		t.Errorf("%d slots for one job", used)
	}
}

func TestConcurrentSubmissionsOfOneKeyAreOneJob(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	const clients = 8
	answers := make(chan apitest.Answer, clients)
	for range clients {
		go func() { answers <- u.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1","idempotency_key":"k"}`) }()
	}
	ids, fresh := map[string]bool{}, 0
	for range clients {
		a := <-answers
		ids[jobOf(t, a)] = true
		if a.JSON["resubmit"] == false {
			fresh++
		}
	}
	if len(ids) != 1 || fresh != 1 || day(t, s, u.ID, "2026-08-01").SlotsUsed() != 1 {
		t.Errorf("%d jobs, %d of them new, %d slots", len(ids), fresh, day(t, s, u.ID, "2026-08-01").SlotsUsed())
	}
}

func TestDailyAllowance(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Kinds: []runners.Kind{other{}}})
	u, other := s.NewUser(t), s.NewUser(t)
	s.Clock.Pass(11*time.Hour + 59*time.Minute + 30*time.Second) // 30 s to midnight
	var last string
	for i := range 10 { // the kinds share one allowance
		body := `{"expression":"1+1"}`
		if i%2 == 1 {
			body = `{"kind":"other","text":"x"}`
		}
		a := submit(t, u, body)
		last = jobOf(t, a)
		if a.JSON["jobs_remaining_today"] != float64(9-i) {
			t.Errorf("job %d: %s", i, a.Body)
		}
	}
	before := appended(t, s)
	a := submit(t, u, `{"expression":"1+1","idempotency_key":"late"}`)
	a.Want(t, httpkit.AllowanceSpent)
	if a.Header.Get("Retry-After") != "30" || appended(t, s) != before {
		t.Errorf("%v", a.Header)
	}
	submit(t, other, `{"expression":"1+1"}`).OK(t)
	// A cancelled job that never started gives its slot back.
	if a := u.Do(t, http.MethodDelete, "/api/jobs/"+last, "").OK(t); a.JSON["refunded"] != true || a.JSON["jobs_remaining_today"] != 1.0 {
		t.Errorf("%s", a.Body)
	}
	submit(t, u, `{"expression":"1+1"}`).OK(t)
	submit(t, u, `{"expression":"1+1"}`).Want(t, httpkit.AllowanceSpent)
	s.Clock.Pass(30 * time.Second)
	if a := submit(t, u, `{"expression":"1+1","idempotency_key":"late"}`).OK(t); a.JSON["jobs_remaining_today"] != 9.0 || a.JSON["created_at"] != "2026-08-02T00:00:00.000Z" {
		t.Errorf("%s", a.Body)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	cancel := func(id, want string) {
		t.Helper()
		a := u.Do(t, http.MethodDelete, "/api/jobs/"+id, "").OK(t)
		if got := strings.TrimSpace(string(a.Body)); got != strings.ReplaceAll(want, "ID", id) {
			t.Errorf("got  %s\nwant %s", got, strings.ReplaceAll(want, "ID", id))
		}
	}
	queued, running, finished := jobOf(t, submit(t, u, `{"expression":"1+1"}`)), jobOf(t, submit(t, u, `{"expression":"1+1"}`)), jobOf(t, submit(t, u, `{"expression":"1+1"}`))
	s.ClaimJob(t, running)
	s.RunJob(t, finished)
	other.Do(t, http.MethodDelete, "/api/jobs/"+queued, "").Want(t, httpkit.NoSuchJob)
	cancel(queued, `{"job_id":"ID","status":"cancelled","cancelled":true,"refunded":true,"jobs_remaining_today":8}`)
	cancel(queued, `{"job_id":"ID","status":"cancelled","cancelled":false,"refunded":false,"jobs_remaining_today":8}`)
	cancel(strings.ToUpper(queued), `{"job_id":"`+queued+`","status":"cancelled","cancelled":false,"refunded":false,"jobs_remaining_today":8}`)
	cancel(running, `{"job_id":"ID","status":"cancelled","cancelled":true,"refunded":false,"jobs_remaining_today":8}`)
	cancel(finished, `{"job_id":"ID","status":"succeeded","cancelled":false,"refunded":false,"jobs_remaining_today":8}`)
	for _, id := range []string{uuid.NewString(), "x", "urn:uuid:" + queued, "..%2F..%2Fkeys", "'%20OR%201=1--", strings.ReplaceAll(queued, "-", "")} {
		u.Do(t, http.MethodDelete, "/api/jobs/"+id, "").Want(t, httpkit.NoSuchJob)
	}
	// A refund belongs to the day that was spent.
	yesterday := jobOf(t, submit(t, u, `{"expression":"1+1"}`))
	s.Clock.Pass(12 * time.Hour)
	cancel(yesterday, `{"job_id":"ID","status":"cancelled","cancelled":true,"refunded":true,"jobs_remaining_today":10}`)
	if used := day(t, s, u.ID, "2026-08-01").SlotsUsed(); used != 2 {
		t.Errorf("%d slots of the day before are spent", used)
	}
}

func TestSubmitWithoutLog(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	s.LogAway(true)
	a := submit(t, u, `{"expression":"1+1"}`)
	a.Want(t, httpkit.Unavailable)
	if a.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}

// FuzzSubmitBody: whatever the body, the answer is JSON with a status the route
// documents, and a slot is spent exactly where the answer says so.
func FuzzSubmitBody(f *testing.F) {
	plans := unlimited()
	plans[0].JobsPerDay = 1_000_000
	s := apitest.Start(f, apitest.Options{Plans: plans, Kinds: []runners.Kind{other{}}})
	u := s.NewUser(f)
	for _, seed := range []string{
		`{"expression":"1+1"}`, `{"kind":"other","text":"x"}`, `{"kind":"proof","declarations":["a"]}`,
		`{"expression":"x","session_id":"s","timeout_ms":5,"idempotency_key":"k"}`, `{"idempotency_key":"k"}`, `{"wait_ms":1}`, `[]`, `{"text":{"a":1e9}}`, "\xff",
		`{"kind":"other","text":null}`, `{"timeout_ms":9223372036854775808}`, `{"text":[],"kind":"other"}`,
	} {
		f.Add(seed)
	}
	allowed := map[int]bool{200: true, 400: true, 403: true, 413: true}
	f.Fuzz(func(t *testing.T, body string) {
		before := day(t, s, u.ID, "2026-08-01").SlotsUsed()
		a := u.Do(t, http.MethodPost, "/api/jobs", body)
		if !allowed[a.Status] || !json.Valid(a.Body) {
			t.Fatalf("%q: %d %s", body, a.Status, a.Body)
		}
		spent := day(t, s, u.ID, "2026-08-01").SlotsUsed() - before
		if want := a.Status == http.StatusOK && a.JSON["resubmit"] == false; want != (spent == 1) || spent > 1 {
			t.Fatalf("%q: %d slots spent by %d %s", body, spent, a.Status, fmt.Sprint(a.JSON["resubmit"]))
		}
	})
}
