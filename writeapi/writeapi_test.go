package writeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/token"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/identity"
	"reckon/internal/ratelimit"
	"reckon/test/apitest"
	"reckon/test/wait"
)

// appended counts the events of the log.
func appended(t *testing.T, s *apitest.Server) int {
	t.Helper()
	return len(history(t, s))
}

func history(t *testing.T, s *apitest.Server) (recorded []event.Recorded) {
	t.Helper()
	for r, err := range s.Store.ReadAll(t.Context(), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, r)
	}
	return recorded
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	a := u.Evaluate(t, "1+1").OK(t)
	runID := a.JSON["run_id"].(float64)
	want := fmt.Sprintf(`{"result":"2","status":"success","execution_time_ms":1,"run_id":%.0f,"plot_url":null,"receipt_url":"/api/receipts/%.0f","stdout":null,"warnings":[],"suggestions":[],"verification":{"verdict":"verified","basis":"exact","method":"rewrite_identity","check":"1+1 - (2)","residual":"0","elapsed_ms":1,"automatic":true}}`, runID, runID)
	if got := strings.TrimSpace(string(a.Body)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if a.Header.Get("X-RateLimit-Limit") != "20" || a.Header.Get("X-RateLimit-Remaining") != "19" || a.Header.Get("X-RateLimit-Reset") == "" || a.Header.Get("Consistency-Token") == "" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", a.Header)
	}
	a = u.Evaluate(t, "Print[<&>]").OK(t)
	if a.JSON["stdout"] != "<&>\n" || !reflect.DeepEqual(a.JSON["warnings"], []any{"Print::note: <&>"}) || a.JSON["verification"] != nil || strings.Contains(string(a.Body), `\u003c`) {
		t.Errorf("%s", a.Body)
	}
	if a = u.Evaluate(t, "f[x]").OK(t); a.JSON["status"] != "unevaluated" || a.JSON["result"] != "f[x]" {
		t.Errorf("%s", a.Body)
	}
	if a = u.Evaluate(t, "Plot[x,{x,0,1}]").OK(t); a.JSON["plot_url"] != fmt.Sprintf("/api/plots/%.0f", a.JSON["run_id"]) {
		t.Errorf("%s", a.Body)
	}
	if a = u.Evaluate(t, "Long").OK(t); len(a.JSON["result"].(string)) != 120_000 {
		t.Errorf("%d bytes", len(a.JSON["result"].(string)))
	}
}

// TestSlipsAreAnsweredWithSuggestions: the expression is evaluated as given, and the answer says what was probably meant. In a
// session that may have defined the name, only an answer with the name in it draws the suggestion.
func TestSlipsAreAnsweredWithSuggestions(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	const want = `"suggestions":[{"code":"parentheses","message":"did you mean Sin[x]? Parentheses multiply; a function's arguments stand in square brackets.",` +
		`"replacement":"Sin[x]","range":{"start":0,"end":6}}]`
	a := u.Evaluate(t, "sin(x)").OK(t)
	if warnings := fmt.Sprint(a.JSON["warnings"]); !strings.Contains(string(a.Body), want) || !strings.Contains(warnings, "did you mean Sin[x]?") {
		t.Errorf("%s", a.Body)
	}
	a = u.Evaluate(t, "Sin[x]").OK(t)
	if !strings.Contains(string(a.Body), `"suggestions":[]`) {
		t.Errorf("%s", a.Body)
	}
}

func TestEvaluationsThatEndWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	for expression, kind := range map[string]httpkit.Kind{"While[True]": httpkit.BudgetExhausted, "Quit[]": httpkit.EngineQuit} {
		a := u.Evaluate(t, expression)
		a.Want(t, kind)
		runID, ok := a.JSON["run_id"].(float64)
		if !ok || a.Header.Get("X-RateLimit-Limit") != "20" || a.Header.Get("Consistency-Token") == "" {
			t.Fatalf("%s %v", a.Body, a.Header)
		}
		u.Do(t, http.MethodGet, fmt.Sprintf("/api/receipts/%.0f", runID), "").Want(t, httpkit.NoReceipt)
	}
	before := appended(t, s)
	a := u.Evaluate(t, "saturate")
	a.Want(t, httpkit.Saturated)
	if a.Header.Get("Retry-After") != "7" || a.Header.Get("X-RateLimit-Remaining") != "18" {
		t.Errorf("503 with %v", a.Header)
	}
	if after := appended(t, s); after != before {
		t.Errorf("%d events of an evaluation that never ran", after-before)
	}
}

// TestBadInputAppendsNothing is issue 3's list, each with its documented code.
func TestBadInputAppendsNothing(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: unlimited()})
	u := s.NewUser(t)
	u.Evaluate(t, "1+1").OK(t) // the block of run ids is reserved
	before := appended(t, s)
	for name, c := range map[string]struct {
		body string
		kind httpkit.Kind
	}{
		"no expression":     {`{}`, httpkit.ExpressionRequired},
		"empty":             {`{"expression":""}`, httpkit.ExpressionRequired},
		"blank":             {`{"expression":" \n\t"}`, httpkit.ExpressionRequired},
		"2 MB":              {`{"expression":"` + strings.Repeat("x", 2<<20) + `"}`, httpkit.TooLarge},
		"not UTF-8":         {"{\"expression\":\"\xff\"}", httpkit.InvalidJSON},
		"lone surrogate":    {`{"expression":"\ud800"}`, httpkit.InvalidJSON},
		"NUL":               {`{"expression":"a\u0000"}`, httpkit.InvalidJSON},
		"input":             {`{"input":"1+1"}`, httpkit.UnknownField},
		"unknown":           {`{"expression":"1+1","account":"x"}`, httpkit.UnknownField},
		"wrong type":        {`{"expression":["1+1"]}`, httpkit.InvalidRequest},
		"session type":      {`{"expression":"1+1","session_id":7}`, httpkit.InvalidRequest},
		"session SQL":       {`{"expression":"1+1","session_id":"a' OR '1'='1"}`, httpkit.InvalidSessionID},
		"session path":      {`{"expression":"1+1","session_id":"../../etc"}`, httpkit.InvalidSessionID},
		"session long":      {`{"expression":"1+1","session_id":"` + strings.Repeat("a", 65) + `"}`, httpkit.InvalidSessionID},
		"nested JSON":       {strings.Repeat("[", 100_000), httpkit.InvalidJSON},
		"nested expression": {`{"expression":"` + strings.Repeat("(", 100_000) + `"}`, httpkit.TooComplex},
		"nested calls":      {`{"expression":"` + strings.Repeat("f[", 100_000) + strings.Repeat("]", 100_000) + `"}`, httpkit.TooComplex},
		"denied":            {`{"expression":"Run[\"ls\"]"}`, httpkit.ExpressionDenied},
	} {
		t.Run(name, func(t *testing.T) { u.Do(t, http.MethodPost, "/api/evaluate", c.body).Want(t, c.kind) })
	}
	if after := appended(t, s); after != before {
		t.Errorf("%d events were appended", after-before)
	}
	if a := u.Do(t, http.MethodPost, "/api/evaluate", `{"input":"1+1"}`); !strings.Contains(a.JSON["detail"].(string), `"expression"`) {
		t.Errorf("%s", a.Body)
	}
}

// unlimited is the free plan without its limit per minute.
func unlimited() account.Plans {
	plans := account.DefaultPlans()
	plans[0].PerMinute = 1_000_000
	return plans
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	for body, kind := range map[string]httpkit.Kind{ // a request of a wrong form costs nothing of the minute
		`{"expression":" "}`:                                   httpkit.ExpressionRequired,
		`{"expression":"1","session_id":"a b"}`:                httpkit.InvalidSessionID,
		`{"expression":"1","session_id":"a","session":"none"}`: httpkit.UnknownField,
	} {
		u.Do(t, http.MethodPost, "/api/evaluate", body).Want(t, kind)
	}
	u.Do(t, http.MethodPost, "/api/verify", `{"run_id":1,"code":"1+1","result":"2"}`).Want(t, httpkit.VerifyInput)
	u.Do(t, http.MethodPost, "/api/verify", `{"code":"1+1","result":" "}`).Want(t, httpkit.VerifyInput)
	for i := range 20 {
		path, body := "/api/evaluate", `{"expression":"1+1"}`
		if i%2 == 1 { // a check counts as an evaluation
			path, body = "/api/verify", `{"code":"1+1","result":"2"}`
		}
		if a := u.Do(t, http.MethodPost, path, body).OK(t); a.Header.Get("X-RateLimit-Remaining") != fmt.Sprint(19-i) {
			t.Errorf("request %d: %v", i, a.Header)
		}
		s.Clock.Pass(time.Second)
	}
	before := appended(t, s)
	a := u.Evaluate(t, "1+1")
	a.Want(t, httpkit.RateLimited)
	if a.Header.Get("Retry-After") != "40" || a.Header.Get("X-RateLimit-Remaining") != "0" || a.Header.Get("X-RateLimit-Reset") != fmt.Sprint(s.Clock.Now().Add(40*time.Second).Unix()) {
		t.Errorf("%v", a.Header)
	}
	if after := appended(t, s); after != before {
		t.Error("a refused evaluation was logged")
	}
	other.Evaluate(t, "1+1").OK(t)
	u.Do(t, http.MethodGet, "/api/history", "").OK(t)
	s.Clock.Pass(40 * time.Second)
	u.Evaluate(t, "1+1").OK(t)
}

// TestEvaluationsAtOnce: the plan's limit counts evaluations and checks of one account, in sessions and without; what is
// refused costs nothing of the minute, and when one client has gone there is room again.
func TestEvaluationsAtOnce(t *testing.T) {
	t.Parallel()
	plans := account.DefaultPlans()
	plans[0].ConcurrentEvaluations = 2
	s := apitest.Start(t, apitest.Options{Plans: plans})
	u, other := s.NewUser(t), s.NewUser(t)
	for i, session := range []string{"", `,"session_id":"s"`} {
		leave := startAndLeave(t, s, u, `{"expression":"wait"`+session+`}`)
		defer leave()
		wait.Until(t, "the evaluation runs", func() bool { return s.Running.Running(u.ID) == i+1 })
	}
	opened := func(r event.Recorded) bool { return r.Stream == session.Stream(u.ID, "s") }
	// Its session is opened once a worker is found, after the run is counted.
	wait.Until(t, "the session is opened", func() bool { return slices.ContainsFunc(history(t, s), opened) })
	before := appended(t, s)
	a := u.Evaluate(t, "1+1")
	a.Want(t, httpkit.TooMany)
	if a.Header.Get("Retry-After") != "3" || a.Header.Get("X-RateLimit-Remaining") != "18" {
		t.Errorf("%v", a.Header)
	}
	u.Do(t, http.MethodPost, "/api/verify", `{"code":"1+1","result":"2"}`).Want(t, httpkit.TooMany)
	if after := appended(t, s); after != before {
		t.Error("a refused evaluation was logged")
	}
	other.Evaluate(t, "1+1").OK(t)
	u.Do(t, http.MethodGet, "/api/history", "").OK(t)
}

// TestAClientWhoGoesAwayStopsItsEvaluation: it ends in the log as cancelled; who evaluates next in its session is told that the
// variables are gone.
func TestAClientWhoGoesAwayStopsItsEvaluation(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	u.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"x=5","session_id":"s"}`).OK(t)
	leave := startAndLeave(t, s, u, `{"expression":"wait","session_id":"s"}`)
	wait.Until(t, "the evaluation runs", func() bool { return s.Running.Running(u.ID) == 1 })
	leave()
	wait.Until(t, "the evaluation has ended", func() bool { return s.Running.Running(u.ID) == 0 })
	var history apitest.Answer
	var runs []any
	wait.Until(t, "the run is in the history", func() bool { // the client that left had no consistency token to send
		history = u.Do(t, http.MethodGet, "/api/history?status=error", "").OK(t)
		runs, _ = history.JSON["runs"].([]any)
		return len(runs) > 0
	})
	if len(runs) != 1 || runs[0].(map[string]any)["expression"] != "wait" {
		t.Fatalf("%s", history.Body)
	}
	id := int64(runs[0].(map[string]any)["run_id"].(float64))
	stream, err := s.Store.Read(t.Context(), run.Stream(id))
	if err != nil || len(stream.Events) != 1 {
		t.Fatalf("%+v, %v", stream, err)
	}
	if failed, _ := stream.Events[0].Event.(run.Failed); failed.Reason != run.FailureCancelled {
		t.Errorf("%+v", stream.Events[0].Event)
	}
	a := u.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"x","session_id":"s"}`).OK(t)
	if warnings := fmt.Sprint(a.JSON["warnings"]); a.JSON["result"] != "x" || !strings.Contains(warnings, "Session s was lost, because its worker ended") {
		t.Errorf("%s", a.Body)
	}
}

// startAndLeave sends an evaluation and returns what closes its connection; nobody waits for the answer.
func startAndLeave(t *testing.T, s *apitest.Server, u *apitest.User, body string) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/api/evaluate", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+u.Token)
	request.Header.Set("Content-Type", "application/json")
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if response, err := s.Client().Do(request); err == nil {
			t.Errorf("answered %s", response.Status)
			_ = response.Body.Close()
		}
	}()
	return func() {
		cancel()
		<-gone
	}
}

func TestSessionsKeepVariables(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: unlimited()})
	u, other := s.NewUser(t), s.NewUser(t)
	in := func(u *apitest.User, expression, session string) apitest.Answer {
		return u.Do(t, http.MethodPost, "/api/evaluate", fmt.Sprintf(`{"expression":%q,"session_id":%q}`, expression, session))
	}
	in(u, "x=5", "s").OK(t)
	if a := in(u, "x", "s").OK(t); a.JSON["result"] != "5" {
		t.Errorf("%s", a.Body)
	}
	if a := in(other, "x", "s").OK(t); a.JSON["result"] != "x" {
		t.Errorf("another account's variable: %s", a.Body)
	}
	if a := other.Do(t, http.MethodDelete, "/api/sessions/S", "").OK(t); a.JSON["existed"] != false {
		t.Errorf("%s", a.Body)
	}
	in(u, "1+1", "t").OK(t)
	in(u, "1+1", "third").Want(t, httpkit.TooManySessions)
	if a := u.Do(t, http.MethodDelete, "/api/sessions/s", "").OK(t); a.JSON["existed"] != true || a.JSON["session_id"] != "s" {
		t.Errorf("%s", a.Body)
	}
	if a := u.Do(t, http.MethodDelete, "/api/sessions/s", "").OK(t); a.JSON["existed"] != false {
		t.Errorf("%s", a.Body)
	}
	if a := in(u, "x", "s").OK(t); a.JSON["result"] != "x" {
		t.Errorf("a cleared session's variable: %s", a.Body)
	}
	for _, id := range []string{"a'%20OR%20'1'='1", "..%2F..%2Fetc", "%25", strings.Repeat("a", 65), "a%20b"} {
		u.Do(t, http.MethodDelete, "/api/sessions/"+id, "").Want(t, httpkit.InvalidSessionID)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Plans: unlimited()})
	u, other := s.NewUser(t), s.NewUser(t)
	runID := u.Evaluate(t, "1+1").OK(t).JSON["run_id"].(float64)
	verify := func(u *apitest.User, body string) apitest.Answer {
		return u.Do(t, http.MethodPost, "/api/verify", body)
	}
	byRun := fmt.Sprintf(`{"run_id":%.0f}`, runID)
	if a := verify(u, byRun).OK(t); a.JSON["verdict"] != "verified" || a.JSON["reason"] != nil || a.JSON["method"] != "rewrite_identity" {
		t.Errorf("%s", a.Body)
	}
	if a := verify(u, `{"code":"1+1","result":"3"}`).OK(t); a.JSON["verdict"] != "refuted" || a.Header.Get("Consistency-Token") != "" {
		t.Errorf("%s", a.Body)
	}
	a := verify(u, `{"code":"f[x]","result":"3","run_id":null}`).OK(t)
	if got, want := strings.TrimSpace(string(a.Body)), `{"verdict":"inconclusive","basis":null,"method":null,"check":null,"residual":null,"reason":"no_check_for_head","elapsed_ms":0}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	verify(other, byRun).Want(t, httpkit.NoSuchRun)
	verify(u, `{"run_id":999999}`).Want(t, httpkit.NoSuchRun)
	for _, body := range []string{`{}`, `{"code":"1"}`, `{"result":"1"}`, `{"run_id":1,"code":"1","result":"1"}`, `{"code":"","result":""}`, `{"run_id":1,"code":""}`} {
		verify(u, body).Want(t, httpkit.VerifyInput)
	}
	for _, body := range []string{`{"run_id":0}`, `{"run_id":-1}`, `{"run_id":"1"}`, `{"run_id":1.5}`, `{"run_id":9007199254740992}`, `{"run_id":1e30}`} {
		verify(u, body).Want(t, httpkit.InvalidRequest)
	}
}

func TestRegisterAndSignIn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	post := func(path, body string, headers ...string) apitest.Answer {
		return s.Do(t, http.MethodPost, path, body, headers...)
	}
	a := post("/auth/register", `{"email":"Ada@Example.com","password":"12345678"}`).OK(t)
	id, _ := a.JSON["user_id"].(string)
	if len(id) != 36 || len(a.JSON) != 1 || a.Header.Get("Consistency-Token") == "" {
		t.Errorf("%s", a.Body)
	}
	history, err := s.Store.Read(t.Context(), account.Stream(id))
	if err != nil || len(history.Events) != 1 || history.Events[0].Event != (account.Registered{Account: id, Plan: "free"}) {
		t.Errorf("%+v %v", history, err)
	}
	post("/auth/register", `{"email":"ada@example.COM","password":"another one"}`).Want(t, httpkit.EmailTaken)
	for _, body := range []string{
		`{"email":"ada@example.com","password":"1234567"}`, `{"email":"ada@example.com"}`, `{"password":"12345678"}`,
		`{"email":"nonsense","password":"12345678"}`, `{"email":"a@b.c","password":"` + strings.Repeat("x", 129) + `"}`, `{"email":5,"password":"12345678"}`,
	} {
		post("/auth/register", body).Want(t, httpkit.InvalidRequest)
	}
	post("/auth/register", `{"email":"a@b.c","password":"12345678","plan":"team"}`).Want(t, httpkit.UnknownField)

	a = post("/auth/login", `{"email":"ADA@example.com","password":"12345678"}`).OK(t)
	cookie := a.Header.Get("Set-Cookie")
	if a.JSON["user_id"] != id || !strings.HasPrefix(cookie, "reckon=") || !strings.Contains(cookie, "; HttpOnly") || !strings.Contains(cookie, "; SameSite=Lax") || !strings.Contains(cookie, "; Path=/") || strings.Contains(cookie, "Domain") {
		t.Errorf("%s %s", a.Body, cookie)
	}
	cookie = strings.Split(cookie, ";")[0]
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", cookie).OK(t)
	post("/auth/logout", "", "Cookie", cookie, "Sec-Fetch-Site", "cross-site").Want(t, httpkit.CrossOrigin)
	a = post("/auth/logout", "", "Cookie", cookie).OK(t)
	if !strings.Contains(a.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%v", a.Header)
	}
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", cookie).Want(t, httpkit.Unauthenticated)
}

func TestCookieUnderTLS(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]apitest.Options{"TLS here": {TLS: true}, "TLS at a proxy nobody named": {PublicURL: "https://reckon.example"}} {
		t.Run(name, func(t *testing.T) { cookieIsSecure(t, apitest.Start(t, o)) })
	}
}

func cookieIsSecure(t *testing.T, s *apitest.Server) {
	t.Helper()
	credentials := `{"email":"ada@example.com","password":"12345678"}`
	s.Do(t, http.MethodPost, "/auth/register", credentials).OK(t)
	a := s.Do(t, http.MethodPost, "/auth/login", credentials).OK(t)
	cookie := a.Header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-reckon=") || !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "; Path=/;") || strings.Contains(cookie, "Domain") || a.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%v", a.Header)
	}
	secret := strings.TrimPrefix(strings.Split(cookie, ";")[0], "__Host-")
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", "__Host-"+secret).OK(t)
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", secret).Want(t, httpkit.Unauthenticated) // a plain cookie may come from a neighbour
}

func TestFailedSignInsAreAlike(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	var first apitest.Answer
	for i, body := range []string{
		`{"email":"` + u.Email + `","password":"wrong horse"}`, `{"email":"nobody@example.com","password":"wrong horse"}`,
		`{"email":"` + u.Email + `","password":"x"}`, `{"email":"not an address","password":"wrong horse"}`,
	} {
		a := s.Do(t, http.MethodPost, "/auth/login", body, "X-Request-Id", "same")
		a.Want(t, httpkit.InvalidCredentials)
		a.Header.Del("Date")
		a.Header.Del("X-RateLimit-Remaining") // counts down whatever the address
		if i == 0 {
			first = a
		} else if string(a.Body) != string(first.Body) || !reflect.DeepEqual(a.Header, first.Header) {
			t.Errorf("%s: %s %v\nnot as %s %v", body, a.Body, a.Header, first.Body, first.Header)
		}
	}
}

func TestAttemptsAreLimited(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Rules: identity.Rules{
		Registrations: ratelimit.Rule{Requests: 2, Window: time.Hour}, SignIns: ratelimit.Rule{Requests: 3, Window: time.Minute},
	}})
	register := func(email string) apitest.Answer {
		return s.Do(t, http.MethodPost, "/auth/register", `{"email":"`+email+`","password":"12345678"}`)
	}
	register("a@b.c").OK(t)
	register("a@b.c").Want(t, httpkit.EmailTaken) // an attempt counts
	a := register("b@b.c")
	a.Want(t, httpkit.RateLimited)
	if a.Header.Get("Retry-After") != "3600" || a.Header.Get("X-RateLimit-Limit") != "2" {
		t.Errorf("%v", a.Header)
	}
	for i := range 4 {
		a := s.Do(t, http.MethodPost, "/auth/login", `{"email":"a@b.c","password":"12345678"}`)
		if i < 3 {
			a.OK(t)
		} else {
			a.Want(t, httpkit.RateLimited)
		}
	}
	s.Clock.Pass(time.Minute)
	s.Do(t, http.MethodPost, "/auth/login", `{"email":"a@b.c","password":"12345678"}`).OK(t)
}

// TestAKnownBrowserIsNotLockedOut: strangers use up what an account's unknown devices have; the browser that signed in before goes on, and
// its cookie is worth nothing for another account and opens nothing.
func TestAKnownBrowserIsNotLockedOut(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Rules: identity.Rules{
		Registrations: ratelimit.Rule{Requests: 9, Window: time.Hour}, SignIns: ratelimit.Rule{Requests: 2, Window: time.Minute},
	}})
	for _, email := range []string{"carol@b.c", "mallory@b.c"} {
		s.Do(t, http.MethodPost, "/auth/register", `{"email":"`+email+`","password":"12345678"}`).OK(t)
	}
	login := func(from, email, password, cookie string) apitest.Answer {
		return s.Do(t, http.MethodPost, "/auth/login", `{"email":"`+email+`","password":"`+password+`"}`, "X-Forwarded-For", from, "Cookie", cookie)
	}
	device := func(a apitest.Answer) string {
		t.Helper()
		set := a.OK(t).Header.Values("Set-Cookie")
		if len(set) != 2 || !strings.HasPrefix(set[1], "reckon-device=") || !strings.Contains(set[1], "HttpOnly; SameSite=Lax") {
			t.Fatal(set)
		}
		cookie, _, _ := strings.Cut(set[1], ";")
		return cookie
	}
	carols, mallorys := device(login("192.0.2.1", "carol@b.c", "12345678", "")), device(login("198.51.100.1", "mallory@b.c", "12345678", ""))
	for i := range 20 {
		login(fmt.Sprintf("203.0.%d.1", i), "carol@b.c", "wrong horse", "").Want(t, httpkit.InvalidCredentials)
	}
	login("203.0.113.1", "carol@b.c", "12345678", mallorys).Want(t, httpkit.RateLimited)
	login("192.0.2.1", "carol@b.c", "12345678", "").Want(t, httpkit.RateLimited)
	login("192.0.2.77", "carol@b.c", "12345678", carols).OK(t)
	login("192.0.2.77", "carol@b.c", "wrong horse", carols).Want(t, httpkit.InvalidCredentials)
	login("192.0.2.77", "carol@b.c", "12345678", carols).Want(t, httpkit.RateLimited)
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", carols).Want(t, httpkit.Unauthenticated)
	s.Clock.Pass(time.Hour)
	login("192.0.2.1", "carol@b.c", "12345678", "").OK(t)
}

// TestSignInsEnd: a browser session that is ended, by its owner or by a new password, fails with the next request.
func TestSignInsEnd(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	again := func(password string) string {
		t.Helper()
		return strings.Split(s.Do(t, http.MethodPost, "/auth/login", `{"email":"`+u.Email+`","password":"`+password+`"}`).OK(t).Header.Get("Set-Cookie"), ";")[0]
	}
	ids := func() (current string, others []string) {
		for _, row := range s.Do(t, http.MethodGet, "/api/sign-ins", "", "Cookie", u.Cookie).OK(t).JSON["sign_ins"].([]any) {
			id := row.(map[string]any)["sign_in_id"].(string)
			if row.(map[string]any)["current"] == true {
				current = id
			} else {
				others = append(others, id)
			}
		}
		return current, others
	}
	end := func(cookie, id string) apitest.Answer {
		return s.Do(t, http.MethodDelete, "/api/sign-ins/"+id, "", "Cookie", cookie)
	}
	signedIn := func(cookie string) bool {
		return s.Do(t, http.MethodGet, "/api/history", "", "Cookie", cookie).Status == http.StatusOK
	}
	second := again(u.Password)
	current, others := ids()
	if current == "" || len(others) != 1 {
		t.Fatal(current, others)
	}
	end(other.Cookie, others[0]).Want(t, httpkit.NoSuchSignIn)
	end(u.Cookie, "x").Want(t, httpkit.InvalidParameter)
	u.Do(t, http.MethodDelete, "/api/sign-ins/"+others[0], "").Want(t, httpkit.FirstPartyOnly)
	if end(u.Cookie, others[0]).OK(t); signedIn(second) || !signedIn(u.Cookie) {
		t.Error("the other sign-in has not ended, or this one has")
	}
	end(u.Cookie, others[0]).Want(t, httpkit.NoSuchSignIn)

	change := func(cookie, present, replacement string) apitest.Answer {
		return s.Do(t, http.MethodPost, "/auth/password", `{"current_password":"`+present+`","new_password":"`+replacement+`"}`, "Cookie", cookie)
	}
	third := again(u.Password)
	change(u.Cookie, "wrong horse", "another horse").Want(t, httpkit.WrongPassword)
	change(u.Cookie, u.Password, "short").Want(t, httpkit.InvalidRequest)
	u.Do(t, http.MethodPost, "/auth/password", `{"current_password":"`+u.Password+`","new_password":"another horse"}`).Want(t, httpkit.FirstPartyOnly)
	s.Do(t, http.MethodPost, "/auth/password", `{"current_password":"a","new_password":"another horse"}`, "Cookie", u.Cookie, "Sec-Fetch-Site", "cross-site").Want(t, httpkit.CrossOrigin)
	if change(u.Cookie, u.Password, "another horse").OK(t); signedIn(third) || !signedIn(u.Cookie) {
		t.Error("a new password ends the other sign-ins and not this one")
	}
	s.Do(t, http.MethodPost, "/auth/login", `{"email":"`+u.Email+`","password":"`+u.Password+`"}`).Want(t, httpkit.InvalidCredentials)
	again("another horse")
	u.Do(t, http.MethodGet, "/api/history", "").OK(t) // tokens are not the password's
}

// TestPasswordsAreNotGuessed by who has got hold of a browser session.
func TestPasswordsAreNotGuessed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Rules: identity.Rules{
		Registrations: ratelimit.Rule{Requests: 2, Window: time.Hour}, SignIns: ratelimit.Rule{Requests: 3, Window: time.Minute},
	}})
	u := s.NewUser(t)
	for i := range 4 {
		a := s.Do(t, http.MethodPost, "/auth/password", `{"current_password":"guess","new_password":"another horse"}`, "Cookie", u.Cookie)
		if i < 3 {
			a.Want(t, httpkit.WrongPassword)
		} else {
			a.Want(t, httpkit.RateLimited)
		}
		if left := a.Header.Get("X-RateLimit-Remaining"); left != fmt.Sprint(max(0, 2-i)) {
			t.Errorf("attempt %d: %s left", i, left)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u, other := s.NewUser(t), s.NewUser(t)
	mint := func(body string) apitest.Answer {
		return s.Do(t, http.MethodPost, "/api/tokens", body, "Cookie", u.Cookie)
	}
	a := mint(`{"name":"laptop","expires_in_days":1}`).OK(t)
	secret, _ := a.JSON["token"].(string)
	if !auth.WellFormed(secret) || a.JSON["token_id"] != auth.TokenID(secret) || a.JSON["name"] != "laptop" || a.JSON["created_at"] != "2026-08-01T12:00:00.000Z" || a.JSON["expires_at"] != "2026-08-02T12:00:00.000Z" {
		t.Errorf("%s", a.Body)
	}
	history, err := s.Store.Read(t.Context(), token.Stream(auth.TokenID(secret)))
	if err != nil || len(history.Events) != 1 {
		t.Fatal(history, err)
	}
	stored, err := event.Marshal(history.Events)
	if err != nil || strings.Contains(string(stored), secret) || strings.Contains(string(stored), u.Email) {
		t.Errorf("%s %v", stored, err)
	}
	use := func() apitest.Answer {
		return s.Do(t, http.MethodGet, "/api/history", "", "Authorization", "Bearer "+secret)
	}
	use().OK(t)
	refused := func(a apitest.Answer, why string) {
		t.Helper()
		a.Want(t, httpkit.InvalidToken)
		if detail, _ := a.JSON["detail"].(string); !strings.Contains(detail, why) {
			t.Errorf("%q, want %q", detail, why)
		}
	}
	s.Clock.Pass(24 * time.Hour)
	refused(use(), "expired at 2026-08-02T12:00:00.000Z")
	refused(s.Do(t, http.MethodGet, "/api/history", "", "Authorization", "Bearer "+auth.MintToken()), "unknown")

	other.Do(t, http.MethodDelete, "/api/tokens/"+u.TokenID, "").Want(t, httpkit.NoSuchToken)
	u.Do(t, http.MethodGet, "/api/history", "").OK(t)
	u.Do(t, http.MethodDelete, "/api/tokens/"+u.TokenID, "").OK(t)
	a = u.Do(t, http.MethodGet, "/api/history", "")
	refused(a, "revoked")
	if !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer ") {
		t.Errorf("%v", a.Header)
	}
	u.Do(t, http.MethodDelete, "/api/tokens/"+u.TokenID, "").Want(t, httpkit.InvalidToken)
	other.Do(t, http.MethodPost, "/api/tokens", `{"name":"x"}`).Want(t, httpkit.FirstPartyOnly)
	for _, body := range []string{`{"name":""}`, `{}`, `{"name":"` + strings.Repeat("x", 101) + `"}`, `{"name":"x","expires_in_days":0}`, `{"name":"x","expires_in_days":-1}`, `{"name":"x","expires_in_days":99999}`, `{"name":"x","expires_in_days":"1"}`} {
		mint(body).Want(t, httpkit.InvalidRequest)
	}
	for _, id := range []string{"x", "..%2F..", "'%20OR%201=1--", strings.Repeat("A", 64)} {
		other.Do(t, http.MethodDelete, "/api/tokens/"+id, "").Want(t, httpkit.InvalidParameter)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	for header, kind := range map[string]httpkit.Kind{
		"":                             httpkit.Unauthenticated,
		"Bearer":                       httpkit.InvalidToken,
		"Bearer x":                     httpkit.InvalidToken,
		"Basic " + u.Token:             httpkit.InvalidToken,
		u.Token:                        httpkit.InvalidToken,
		"Bearer " + u.Token[:42]:       httpkit.InvalidToken,
		"Bearer " + u.Token + "x":      httpkit.InvalidToken,
		"Bearer " + auth.MintToken():   httpkit.InvalidToken,
		"Bearer ' OR '1'='1":           httpkit.InvalidToken,
		"Bearer ../../" + u.Token[13:]: httpkit.InvalidToken,
	} {
		for _, route := range [][2]string{{http.MethodPost, "/api/evaluate"}, {http.MethodPost, "/api/verify"}, {http.MethodGet, "/api/history"}, {http.MethodGet, "/api/receipts/1"}, {http.MethodGet, "/api/plots/1"}, {http.MethodGet, "/api/sessions"}, {http.MethodDelete, "/api/sessions/a"}, {http.MethodGet, "/api/tokens"}, {http.MethodDelete, "/api/tokens/" + u.TokenID}} {
			var headers []string
			if header != "" {
				headers = []string{"Authorization", header}
			}
			a := s.Do(t, route[0], route[1], "", headers...)
			a.Want(t, kind)
			if a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s with %q: no WWW-Authenticate", route[0], route[1], header)
			}
		}
	}
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", "reckon=' OR '1'='1").Want(t, httpkit.Unauthenticated)
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", "__Host-"+u.Cookie).Want(t, httpkit.Unauthenticated)
	s.Do(t, http.MethodGet, "/api/history", "", "Authorization", "bearer "+u.Token).OK(t) // the scheme's case does not matter
}

func TestClosedAccount(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	stream := account.Stream(u.ID)
	if _, err := s.Store.Append(t.Context(), stream, 0, []event.Proposed{{ID: "0198a1b2-0000-7000-8000-000000000001", Event: account.Closed{Account: u.ID}, Metadata: event.Metadata{At: s.Clock.Now()}}}); err != nil {
		t.Fatal(err)
	}
	u.Evaluate(t, "1+1").Want(t, httpkit.InvalidToken)
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", u.Cookie).Want(t, httpkit.Unauthenticated)
}

// TestClosingAnAccount takes its password, and refuses every credential from the answer on.
func TestClosingAnAccount(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	u := s.NewUser(t)
	end := func(password string, headers ...string) apitest.Answer {
		return s.Do(t, http.MethodPost, "/auth/close", `{"current_password":"`+password+`"}`, headers...)
	}
	end("wrong horse", "Cookie", u.Cookie).Want(t, httpkit.WrongPassword)
	end(u.Password, "Authorization", "Bearer "+u.Token).Want(t, httpkit.FirstPartyOnly)
	end(u.Password, "Cookie", u.Cookie, "Sec-Fetch-Site", "cross-site").Want(t, httpkit.CrossOrigin)
	u.Do(t, http.MethodGet, "/api/history", "").OK(t)
	a := end(u.Password, "Cookie", u.Cookie).OK(t)
	if a.JSON["user_id"] != u.ID || a.JSON["closed"] != true || !strings.Contains(a.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%s %v", a.Body, a.Header)
	}
	u.Do(t, http.MethodGet, "/api/history", "").Want(t, httpkit.InvalidToken)
	s.Do(t, http.MethodGet, "/api/sign-ins", "", "Cookie", u.Cookie).Want(t, httpkit.Unauthenticated)
}

func TestLogAway(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	s.LogAway(true)
	a := u.Evaluate(t, "1+1")
	a.Want(t, httpkit.Unavailable)
	if a.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	credentials := `{"email":"late@example.com","password":"12345678"}`
	s.Do(t, http.MethodPost, "/auth/register", credentials).Want(t, httpkit.Unavailable)
	s.Do(t, http.MethodPost, "/auth/login", credentials).Want(t, httpkit.Unavailable)
	s.LogAway(false)
	id := s.Do(t, http.MethodPost, "/auth/login", credentials).OK(t).JSON["user_id"].(string) // finishes the registration
	if history, err := s.Store.Read(t.Context(), account.Stream(id)); err != nil || len(history.Events) != 1 {
		t.Errorf("%+v %v", history, err)
	}
}

func TestMetadataOfWhatIsWritten(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	u := s.NewUser(t)
	trace := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	a := u.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"1+1"}`, "Traceparent", trace, "User-Agent", "lab/1.0")
	history, err := s.Store.Read(t.Context(), fmt.Sprintf("run-%.0f", a.OK(t).JSON["run_id"]))
	if err != nil || len(history.Events) != 2 {
		t.Fatal(history, err)
	}
	m := history.Events[0].Metadata
	if m.Account != u.ID || m.Actor != "token:"+u.TokenID || m.Source != "web" || m.Agent != "lab/1.0" || m.Traceparent != trace || m.Build != "test" {
		t.Errorf("%+v", m)
	}
}

// FuzzEvaluateBody: whatever the body, the answer is JSON with a status the route documents.
func FuzzEvaluateBody(f *testing.F) {
	s := apitest.Start(f, apitest.Options{Plans: unlimited()})
	u := s.NewUser(f)
	for _, seed := range []string{`{"expression":"1+1"}`, `{"expression":"x","session_id":"s"}`, `{"Expression":"1"}`, `[]`, `{"expression":"\ud800"}`, "\xff", `{"expression":"f[`, `{"expression":"Run[1]"}`, `{"expression":"1","expression":"2"}`} {
		f.Add(seed)
	}
	allowed := map[int]bool{200: true, 400: true, 403: true, 408: true, 409: true, 413: true, 422: true, 503: true}
	f.Fuzz(func(t *testing.T, body string) {
		a := u.Do(t, http.MethodPost, "/api/evaluate", body)
		if !allowed[a.Status] || !json.Valid(a.Body) {
			t.Fatalf("%q: %d %s", body, a.Status, a.Body)
		}
	})
}
