package workbench_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/billing"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
	"reckon/test/browser"
	"reckon/test/wait"
)

// served is an API whose clock tells the browser's time, by which it judges when a cookie ends.
func served(t *testing.T, o apitest.Options) *apitest.Server {
	t.Helper()
	s := apitest.Start(t, o)
	s.Clock.Pass(time.Since(s.Clock.Now()))
	return s
}

// signIn opens an account for the browser's person by the pages.
func signIn(t *testing.T, b *browser.Tab, s *apitest.Server) *apitest.User {
	t.Helper()
	user := s.NewUser(t)
	b.Go(s.URL + "/sign-in")
	b.Fill("#email", user.Email)
	b.Fill("#password", user.Password)
	b.Click("main button.primary")
	b.Until(`location.pathname === "/" && document.querySelector('form[action="/sign-out"]')`)
	return user
}

// sound reports what is wrong with the page as it stands: barriers, and what is wider than a small window.
func sound(t *testing.T, b *browser.Tab, what string) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.Show(360, 740, scheme)
		if wide := b.Wide(); wide != "0" {
			t.Errorf("%s: %s px wider than a window of 360", what, wide)
		}
		for _, barrier := range b.Barriers() {
			t.Errorf("%s, %s: %s", what, scheme, barrier)
		}
	}
	b.Show(1280, 900, "light")
}

// clean reports violations of policies and errors of scripts on all pages so far.
func clean(t *testing.T, b *browser.Tab) {
	t.Helper()
	for _, fault := range b.Faults() {
		t.Error(fault)
	}
}

// TestFirstVisit: the first page is small, and answers without an account.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{Showcase: true})
	b.Go(s.URL + "/")
	b.Until(`document.querySelectorAll("#shown article .verdict").length === 2`) // before anything is pressed
	if bytes := b.Transferred(); bytes < 10_000 || bytes >= 200_000 {
		t.Errorf("%d bytes came for the first page", bytes)
	}
	sound(t, b, "the first page")
	b.Fill("#expression", "1+1")
	b.Click("#evaluate button.primary")
	b.Has("#cells .answer", "2")
	b.Has("#cells .verdict.refuted summary", "Refuted exactly -1") // as the stand-in has it; test/e2e has the real one
	b.Click("#cells .verdict summary")
	b.Has("#cells .verdict", "1+1 - (2)")
	b.Has("#cells", "The service keeps nothing of this")
	sound(t, b, "a checked answer")
	b.Click(".examples button")
	b.Until(`document.querySelectorAll("#cells > .cell").length === 2`)
	// The samples of circuits and proofs have run.
	b.Eval(`(document.querySelectorAll(".sample").forEach((sample) => { sample.open = true }), "")`)
	for selector, text := range map[string]string{
		`section[aria-labelledby="circuits"] .sample:nth-of-type(1) svg.chart`: "11", `section[aria-labelledby="circuits"] .sample:nth-of-type(2) svg.chart`: "1,000",
		`section[aria-labelledby="circuits"] .sample:nth-of-type(3) svg.chart`: "1", `section[aria-labelledby="proofs"] .sample:nth-of-type(1)`: "∀ (p q : Prop)", `section[aria-labelledby="proofs"] .sample:nth-of-type(2) .badge`: "rejected",
	} {
		if shown := b.Eval(fmt.Sprintf(`document.querySelector(%q).textContent`, selector)); !strings.Contains(shown, text) {
			t.Errorf("%s shows %s", selector, shown)
		}
	}
	b.Has(`section[aria-labelledby="proofs"] .sample:nth-of-type(1) .badge`, "verified")
	sound(t, b, "samples that are open")
	clean(t, b)
}

// TestAnswersOfEveryKind: what is no answer is not shown as one, with and without an account.
func TestAnswersOfEveryKind(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	evaluate := func(expression, shows string, within string) {
		t.Helper()
		before := b.Eval(`document.querySelectorAll("#cells > .cell").length`)
		b.Fill("#expression", expression)
		b.Eval(`(document.querySelector("#expression").focus(), "")`)
		b.ShiftEnter()
		b.Until(`document.querySelectorAll("#cells > .cell").length > ` + before)
		b.Has("#cells > .cell:last-child "+within, shows)
	}
	b.Go(s.URL + "/")
	evaluate("1 + 1", "Refuted exactly -1", ".verdict summary")
	evaluate("Sin[x]", "This is no answer", ".note")
	evaluate("Sin[x]", "Not checked", ".verdict")
	evaluate("sin(x)", "Sin[x]", ".suggestions")
	b.Click("#cells > .cell:last-child .apply")
	b.Until(`document.querySelector("#expression").value === "Sin[x]"`)
	evaluate("Import[x]", "Import", ".problem")
	evaluate("f[", "syntax_error", ".problem")
	evaluate("endless", "stopped", ".problem")
	evaluate(strings.Repeat("1+", 300)+"1", "400", ".problem")
	sound(t, b, "answers without an account")
	signIn(t, b, s)
	evaluate("Print[<&>]", "<&>", ".printed")
	evaluate("Print[<&>]", "Print::note: <&>", ".messages")
	evaluate("Plot[x,{x,0,1}]", "-Graphics-", ".answer")
	b.Until(`document.querySelector("#cells > .cell:last-child img.plot")?.complete`)
	evaluate("While[True]", "compute budget", ".problem")
	evaluate("Quit[]", "without a receipt", ".problem")
	sound(t, b, "answers with an account")
	clean(t, b)
}

// TestHostileTextIsText: whatever an expression or its answer holds is shown as characters.
func TestHostileTextIsText(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	signIn(t, b, s)
	for i, hostile := range []string{
		`<script>document.title="run"</script>`, `"><img src=x onerror="document.title='run'">`, `<svg onload="document.title='run'">`, "a\u202eb\u2066c\u200b\u0007d", "\n\nx\n", `{{.}}`, `<!--`, `</textarea></pre>x`,
		strings.Repeat("<b>é", 200_000),
	} {
		b.Fill("#expression", hostile)
		b.Click("#evaluate button.primary")
		b.Until(fmt.Sprintf(`document.querySelectorAll("#cells > .cell").length === %d`, i+1))
		shown := b.Eval(`plain(document.querySelector("#cells > .cell:last-child .expression"))`)
		if shown != hostile {
			t.Errorf("%.60q is shown as %.60q", hostile, shown)
		}
	}
	if made := b.Eval(`document.querySelectorAll("#cells script, #cells img, #cells svg, #cells b").length + " " + document.title`); made != "0 Evaluate · Reckon" {
		t.Error(made)
	}
	if seen := b.Text("#cells > .cell:nth-child(4) .expression"); !strings.Contains(seen, "U+202E") || strings.Contains(seen, "\u202e") {
		t.Errorf("%q", seen)
	}
	clean(t, b)
}

// TestStopping: what takes long is stopped from the keyboard, and the page says what became of it.
func TestStopping(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	b.Fill("#expression", "wait")
	b.ShiftEnter()
	b.Has("#state", "Evaluating")
	b.Has("#elapsed", "of at most 3 sec of computing")
	wait.Until(t, "the engine has the evaluation", func() bool { return s.Evaluated.Load() > 0 })
	b.Escape()
	b.Has("#state", "Stopped")
	wait.Until(t, "the stopped run is in the history", func() bool {
		return strings.Contains(string(user.Do(t, http.MethodGet, "/api/history", "").OK(t).Body), `"status":"error"`)
	})
	b.Fill("#expression", "1+1")
	b.ShiftEnter()
	b.Has("#cells .answer", "2")
	clean(t, b)
}

// TestPagesAndTheirPolicy: every page may be read by whom it is for, says in its status what it says in words, and is served with its policy.
func TestPagesAndTheirPolicy(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	user := s.NewUser(t)
	for expression, brought := range map[string]bool{"1%2B1": true, strings.Repeat("x", 4000): true, strings.Repeat("x", 4001): false} {
		if page := string(s.Do(t, http.MethodGet, "/?e="+expression, "").OK(t).Body); strings.Contains(page, "The address brought") == brought {
			t.Errorf("%.10s…: that it was brought should be %t", expression, brought)
		}
	}
	for path, want := range map[string][2]int{ // without a session, with one
		"/": {200, 200}, "/?e=x%3Cy": {200, 200}, "/sign-in": {200, 200}, "/sign-up": {200, 200}, "/sign-in?next=%2Fplans": {200, 200}, "/runs/1": {401, 404}, "/runs/x": {404, 404}, "/runs/%3Cscript%3E": {404, 404},
		"/history": {401, 200}, "/history?verdict=verified&query=%3C&status=": {401, 200}, "/history?status=nonsense": {401, 400}, "/history?from=x": {401, 400}, "/history?before=x": {401, 400}, "/jobs": {200, 200}, "/jobs?kind=qsim&status=lost": {200, 200}, "/jobs/x": {401, 404},
		"/bursts": {401, 200}, "/bursts?before=x": {401, 400}, "/bursts/x": {401, 404}, "/proofs": {200, 200}, "/account": {401, 200}, "/plans": {200, 200}, "/reference": {200, 200}, "/reference?q=%3Cscript%3E": {200, 200}, "/reference?offset=-1": {400, 400}, "/reference/Factor": {200, 200}, "/reference/Factr": {404, 404}, "/reference/a%2Fb%3F": {404, 404},
		"/certificates/x": {404, 404}, "/certificates/b3e2c1d0-5f4a-4c3b-8d2e-1f0a9b8c7d6e": {404, 404},
	} {
		for i, cookie := range []string{"", user.Cookie} {
			a := s.Do(t, http.MethodGet, path, "", "Cookie", cookie)
			if a.Status != want[i] || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(a.Header.Get("Content-Security-Policy"), "script-src 'self';") ||
				a.Header.Get("Cache-Control") != "no-store" || strings.Contains(string(a.Body), "<script>") || strings.Contains(string(a.Body), " style=") || strings.Contains(string(a.Body), " onclick=") {
				t.Errorf("%s with %q: %d %v\n%.300s", path, cookie, a.Status, a.Header, a.Body)
			}
		}
	}
}

// form posts a form as a browser does that has come from somewhere, with a page that was made for who the cookie is of unless the fields say for whom.
func form(t *testing.T, s *apitest.Server, path, cookie, origin string, fields url.Values) apitest.Answer {
	t.Helper()
	sent := url.Values{"made_for": {"nobody"}}
	if whose := s.Do(t, http.MethodGet, "/api/account", "", "Cookie", cookie); cookie != "" && whose.Status == http.StatusOK {
		sent.Set("made_for", whose.JSON["user_id"].(string))
	}
	maps.Copy(sent, fields)
	fields = sent
	request, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie, "Origin": origin} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := s.Client().Transport.RoundTrip(request) // which follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := apitest.Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	_ = json.Unmarshal(body, &a.JSON) // a page is no JSON
	return a
}

// TestFormsOfOtherSites: a page of another site can neither evaluate, nor sign in or out, for who reads it.
func TestFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	before := s.Evaluated.Load()
	for path, fields := range map[string]url.Values{
		"/": {"expression": {"1+1"}, "made_for": {user.ID}}, "/sign-in": {"email": {user.Email}, "password": {user.Password}}, "/sign-up": {"email": {"b@example.com"}, "password": {"correct horse"}}, "/sign-out": {},
	} {
		if a := form(t, s, path, user.Cookie, "https://example.org", fields); a.Code() != httpkit.CrossOrigin.Code || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %.200s", path, a.Status, a.Body)
		}
	}
	if s.Evaluated.Load() != before {
		t.Error("something was evaluated")
	}
	s.Do(t, http.MethodGet, "/api/sign-ins", "", "Cookie", user.Cookie).OK(t)
}

// TestSigningIn: by the pages, with every refusal in words, and on to where the person wanted to go, if that is here.
func TestSigningIn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	for next, want := range map[string]string{"": "/", "/runs/7": "/runs/7", "//example.org": "/", "https://example.org/": "/", `/\example.org`: "/", "/\texample": "/", "javascript:alert(1)": "/", "/sign-in?next=/sign-in": "/", "/sign-out": "/"} {
		a := form(t, s, "/sign-in", "", s.URL, url.Values{"email": {user.Email}, "password": {user.Password}, "next": {next}})
		if a.Status != http.StatusSeeOther || a.Header.Get("Location") != want || !strings.Contains(a.Header.Get("Set-Cookie"), "HttpOnly") {
			t.Errorf("%q: %d %v", next, a.Status, a.Header)
		}
	}
	for fields, want := range map[string]int{
		"email=" + user.Email + "&password=not+it": 401, "email=&password=": 400, "": 400, "password=%FF": 400, "email=a&email=" + user.Email + "&password=x": 400, "email=%zz": 400,
	} {
		a := s.Do(t, http.MethodPost, "/sign-in", "made_for=nobody&"+fields, "Content-Type", "application/x-www-form-urlencoded", "Origin", s.URL)
		if a.Status != want || !strings.Contains(string(a.Body), `role="alert"`) || a.Header.Get("Set-Cookie") != "" || strings.Contains(string(a.Body), "not it") {
			t.Errorf("%q: %d %.2000s", fields, a.Status, a.Body)
		}
	}
	for fields, want := range map[string]int{"email=" + user.Email + "&password=correct+horse": 409, "email=new%40example.com&password=short": 400, "email=nobody&password=correct+horse": 400} {
		a := s.Do(t, http.MethodPost, "/sign-up", "made_for=nobody&"+fields, "Content-Type", "application/x-www-form-urlencoded", "Origin", s.URL)
		if a.Status != want || !strings.Contains(string(a.Body), `role="alert"`) || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %d %.2000s", fields, a.Status, a.Body)
		}
	}
	opened := form(t, s, "/sign-up", "", s.URL, url.Values{"email": {"new@example.com"}, "password": {"correct horse"}})
	cookie := strings.Split(opened.Header.Get("Set-Cookie"), ";")[0]
	if opened.Status != http.StatusSeeOther || cookie == "" {
		t.Fatalf("%d %v", opened.Status, opened.Header)
	}
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", cookie).OK(t)
	if again := s.Do(t, http.MethodGet, "/sign-in?next=/history", "", "Cookie", cookie); !strings.Contains(string(again.Body), "<h1>History</h1>") {
		t.Errorf("signed in already: %d %.2000s", again.Status, again.Body)
	}
	twice := s.Do(t, http.MethodPost, "/account", "do=mint&name=x", "Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded", "Origin", s.URL, "Origin", "https://example.org")
	if twice.Code() != httpkit.CrossOrigin.Code || form(t, s, "/account", cookie, s.URL, url.Values{"do": {"mint"}, "name": {"x"}}).Status != http.StatusOK {
		t.Errorf("two origins: %d", twice.Status)
	}
	if out := form(t, s, "/sign-out", cookie, s.URL, nil); out.Status != http.StatusSeeOther {
		t.Errorf("%d %s", out.Status, out.Body)
	}
	s.Do(t, http.MethodGet, "/api/history", "", "Cookie", cookie).Want(t, httpkit.Unauthenticated)
	if again := form(t, s, "/sign-out", cookie, s.URL, nil); again.Status != http.StatusSeeOther {
		t.Errorf("%d %s", again.Status, again.Body)
	}
	// A form of somebody signed in is not evaluated for a stranger when the session has ended.
	if a := form(t, s, "/", cookie, s.URL, url.Values{"expression": {"1+1"}, "made_for": {user.ID}}); a.Status != http.StatusUnauthorized || strings.Contains(string(a.Body), "class=\"answer\"") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestReceiptsAreCheckedInTheBrowser: what was signed is verified there, what is another answer is not.
func TestReceiptsAreCheckedInTheBrowser(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	signIn(t, b, s)
	b.Fill("#expression", "1+1")
	b.ShiftEnter()
	b.Click(".check-receipt")
	b.Has("output.receipt", "it is not signed") // a deployment without a key
	clean(t, b)
}

// TestEveryPageStands: nothing on any page keeps people from using it, at 360 pixels and in both schemes.
func TestEveryPageStands(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	for _, path := range []string{"/sign-in", "/sign-up", "/history", "/reference", "/reference?q=matrix", "/reference/Factor", "/reference/Import", "/reference/nothing", "/plans", "/certificates/x"} {
		b.Go(s.URL + path)
		sound(t, b, path)
	}
	user := signIn(t, b, s)
	for _, path := range []string{"/history", "/jobs", "/proofs", "/account"} { // while they are empty
		b.Go(s.URL + path)
		sound(t, b, path+", empty")
	}
	user.Evaluate(t, "1+1").OK(t)
	user.Evaluate(t, "<b>"+strings.Repeat("x", 3000)).OK(t)
	user.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1"}`).OK(t)
	b.Show(360, 740, "light")
	for _, path := range []string{"/history", "/jobs", "/plans"} { // every cell of their tables is in a small window
		b.Go(s.URL + path)
		b.Until(`document.querySelector("table.stack td[data-label]")`)
		if hidden := b.Eval(`[...document.querySelectorAll("table.stack td")].filter((cell) => cell.getBoundingClientRect().right > innerWidth).map((cell) => cell.innerText).join()`); hidden != "" {
			t.Errorf("%s: outside of a small window: %s", path, hidden)
		}
		if out := b.Eval(`(out => out && document.querySelector(".brand").getBoundingClientRect().bottom > out.getBoundingClientRect().top)(document.querySelector('form[action="/sign-out"] button'))`); out != "true" {
			t.Errorf("%s: signing out is not on the first line", path)
		}
	}
	for _, path := range []string{"/history", "/history?status=nonsense", "/jobs", "/plans", "/account"} {
		b.Go(s.URL + path)
		sound(t, b, path)
	}
	clean(t, b)
}

// TestHistory: it is filtered, shows what is new by itself, and leads to each run.
func TestHistory(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	b.Go(s.URL + "/history")
	b.Has("#rows", "Nothing yet")
	user.Evaluate(t, "1+1").OK(t)
	b.Has("#rows tbody", "verified") // without anybody's doing
	user.Evaluate(t, "<i>x").OK(t)
	user.Evaluate(t, "While[True]")
	b.Go(s.URL + "/history?query=%3Ci%3E")
	b.Has("#rows tbody", "<i>x")
	if n := b.Eval(`document.querySelectorAll("#rows tbody tr").length`); n != "1" {
		t.Errorf("%s rows", n)
	}
	b.Fill("#query", "")
	b.Fill("#status", "timeout")
	b.Click("main form.filters button")
	b.Until(`location.search.includes("status=timeout")`)
	b.Has("#rows tbody", "out of time")
	b.Go(s.URL + "/history?verdict=verified")
	b.Click("#rows tbody a")
	b.Until(`location.pathname.startsWith("/runs/")`)
	b.Has(".answer", "2")
	b.Has(".verdict", "Verified by exact arithmetic")
	b.Has(".facts", "stand-in 1")
	sound(t, b, "a run")
	b.Click(`form[action^="/runs/"] button`)
	b.Has(".verdict:nth-of-type(2), details.verdict", "Verified")
	b.Go(s.URL + "/history?query=%3Ci%3E")
	b.Click("#rows tbody a")
	b.Click(`form[action^="/runs/"] button`)
	b.Has(`.verdict[role="status"]`, "not in a form that can be checked")
	clean(t, b)
}

// TestJobsAreSubmittedAndCancelled: of both kinds that are written on the page; a form that is sent twice is one job.
func TestJobsAreSubmittedAndCancelled(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	b.Go(s.URL + "/jobs")
	b.Click("main details:first-of-type summary")
	b.Fill("#job-expression", "1+1")
	b.Click("main details:first-of-type button.primary")
	b.Has("#done", "9 jobs are left today")
	b.Has("#job", "queued")
	sound(t, b, "a queued job")
	b.Click("#job form button")
	b.Has("#done", "its slot is given back")
	b.Has("#done", "10 jobs are left today")
	b.Go(s.URL + "/jobs")
	b.Click("main details:nth-of-type(2) summary")
	b.Fill("#circuit", "{")
	b.Click("main details:nth-of-type(2) button.primary")
	b.Has("main .problem", "circuit")
	b.Fill("#circuit", "OPENQASM 3; include \"stdgates.inc\"; qubit[1] q; h q[0];")
	b.Click("main details:nth-of-type(2) button.primary")
	b.Has("#job", "queued")
	b.Has("#job", "qsim")
	b.Go(s.URL + "/jobs?status=cancelled")
	b.Has("#rows tbody", "cancelled")
	clean(t, b)

	twice := url.Values{"kind": {"evaluate"}, "expression": {"1+1"}, "key": {"once"}}
	for i := range 2 {
		a := form(t, s, "/jobs", user.Cookie, s.URL, twice)
		done := strings.Split(a.Header.Get("Set-Cookie"), ";")[0]
		page := s.Do(t, http.MethodGet, a.Header.Get("Location"), "", "Cookie", user.Cookie+"; "+done)
		if a.Status != http.StatusSeeOther || page.Status != http.StatusOK || strings.Contains(string(page.Body), "had been sent before") != (i == 1) {
			t.Errorf("%d: %d %v %.3000s", i, a.Status, a.Header, page.Body)
		}
	}
}

// TestJobsTellWhatTheyComputeAndForHowLong: a row names its input, state, verdict and time; what runs shows its time, its limit and how to end it.
func TestJobsTellWhatTheyComputeAndForHowLong(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	user.Do(t, http.MethodPost, "/api/jobs", `{"kind":"qsim","circuit":{"qubits":2,"shots":1000,"gates":[{"gate":"h","target":0}]}}`).OK(t)
	id := user.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1","timeout_ms":40000}`).OK(t).JSON["job_id"].(string)
	nonce := s.ClaimJob(t, id)
	s.Clock.Pass(12 * time.Second)
	row := fmt.Sprintf(`#rows tr:has([href="/jobs/%s"])`, id)
	b.Go(s.URL + "/jobs")
	b.Has("#rows", "gates: 1, qubits: 2, shots: 1000")
	b.Has(row, "running")
	b.Has(row, "1+1")
	b.Has(row, "12 sec of at most 40 sec")
	b.Click(row + " a")
	b.Has("#job", "12 sec of at most 40 sec")
	b.Until(`document.querySelector("#job progress").max === 40000 && document.querySelector("#job progress").value > 12000 && document.querySelector("#cancel")`) // it has moved by itself
	sound(t, b, "a running job")
	s.ComputeJob(t, id, nonce)
	b.Has("#job .facts", "12 sec")
	b.Go(s.URL + "/jobs?kind=evaluate")
	b.Has(row, "verified")
	b.Has(row, "12 sec")
	sound(t, b, "rows of jobs")
	clean(t, b)
}

// TestReferenceIsSearchedWhileTyping: and an example of an entry goes into the form of the first page.
func TestReferenceIsSearchedWhileTyping(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	b.Go(s.URL + "/reference")
	b.Type("#q", "factr")
	b.Until(`document.querySelector("#rows tbody a")?.innerText === "Factor"`)
	b.Click("#rows tbody a")
	b.Has("h1", "Factor")
	b.Click(".cell a")
	b.Until(`location.pathname === "/" && document.querySelector("#expression").value !== ""`)
	clean(t, b)
}

// TestTokensAreMadeAndRevoked: the secret is shown once, and works until it is revoked.
func TestTokensAreMadeAndRevoked(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	signIn(t, b, s)
	b.Go(s.URL + "/account")
	b.Has("main", "/mcp")
	b.Click("main details summary")
	b.Fill("#name", "<b>laptop")
	b.Click(`input[value="history:read"]`)
	b.Click(`button[value="mint"]`)
	secret := b.Text("#token")
	b.Eval(`(navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, "")`) // headless pages may not write the real one
	b.Click(`button[aria-label="Copy the token"]`)
	b.Until(`window.copied === document.querySelector("#token").textContent && document.querySelector("[data-once]").textContent.includes("Copied.")`)
	s.Do(t, http.MethodGet, "/api/history", "", "Authorization", "Bearer "+secret).OK(t)
	s.Do(t, http.MethodGet, "/api/jobs", "", "Authorization", "Bearer "+secret).Want(t, httpkit.InsufficientScope)
	b.Go(s.URL + "/account")
	if strings.Contains(b.Eval("document.body.textContent"), secret) {
		t.Error("the secret is shown again")
	}
	b.Has("main", "<b>laptop")
	b.Click(`button[aria-label="Revoke the token <b>laptop that ends in ` + secret[len(secret)-4:] + `"]`)
	b.Has("main", "The token is revoked")
	s.Do(t, http.MethodGet, "/api/history", "", "Authorization", "Bearer "+secret).Want(t, httpkit.InvalidToken)
	clean(t, b)
}

// TestBursts: what an account did is listed, drawn and told in words; the drawing is looked at closer by its links, with and without scripts.
func TestBursts(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	b.Go(s.URL + "/bursts")
	b.Has("main", "Nothing in seven days")
	sound(t, b, "no bursts")
	for i := range 5 {
		user.Evaluate(t, fmt.Sprintf("%d+%d", i, i)).OK(t)
		s.Clock.Pass(20 * time.Second)
	}
	hostile := "<b>\u202e\"'>"
	user.Evaluate(t, hostile).OK(t)
	user.Evaluate(t, "Quit[]")
	b.Go(s.URL + "/bursts")
	b.Until(`document.querySelector("td a") || (location.reload(), false)`)
	b.Has("main", "7 evaluations")
	sound(t, b, "bursts")
	b.Click("td a")
	b.Until(`document.querySelectorAll("svg.timeline path:not(.cross)").length === 7`)
	b.Has("main", "evaluation")
	if told := b.Eval(`[..."good bad open".split(" ").map(kind => document.querySelectorAll("svg.timeline path." + kind).length), document.querySelectorAll("svg.timeline path.bad + path.cross").length].join(" ")`); told != "1 1 5 1" {
		t.Errorf("marks verified, bad, others, crossed: %s", told)
	}
	if made := b.Eval(`document.querySelectorAll("td b").length + ""`); made != "0" {
		t.Error("a label became markup")
	}
	sound(t, b, "a burst")
	b.Click("a.zoom:nth-of-type(2)") // closer to the beginning
	b.Until(`document.querySelectorAll("svg.timeline path:not(.cross)").length < 7 && document.activeElement.matches("a.zoom")`)
	clean(t, b)
	closer := b.Eval(`document.querySelector("a.zoom").getAttribute("href")`)
	if page := user.Do(t, http.MethodGet, closer, "").OK(t); !strings.Contains(string(page.Body), "<svg class=\"timeline\"") {
		t.Errorf("%s is no page of its own", closer)
	}
	b.Go(s.URL + "/bursts/" + strings.Repeat("0", 32))
	b.Has("main", "no burst with this id")
	path, _, _ := strings.Cut(closer, "?")
	for query, want := range map[string]int{"?begin=x&end=1": 200, "?begin=-5&end=99999999999999": 200, "?begin=9&end=1": 200, "?after=x": 400} {
		if status := user.Do(t, http.MethodGet, path+query, "").Status; status != want {
			t.Errorf("%s: %d", query, status)
		}
	}
}

// TestRefusedNavigations: what is refused before a page is asked is a page for a person, and a problem for everybody else.
func TestRefusedNavigations(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	for _, r := range []struct {
		method, path string
		status       int
	}{{http.MethodGet, "/nowhere", 404}, {http.MethodGet, "/history/", 404}, {http.MethodDelete, "/history", 405}} {
		page := s.Do(t, r.method, r.path, "", "Cookie", user.Cookie, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Site", "none")
		problem := s.Do(t, r.method, r.path, "", "Cookie", user.Cookie, "Accept", "*/*", "Sec-Fetch-Site", "same-origin")
		if page.Status != r.status || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(page.Body), "To the first page") || !strings.Contains(page.Header.Get("Content-Security-Policy"), "script-src 'self';") ||
			!strings.Contains(string(page.Body), `action="/sign-out"`) {
			t.Errorf("%s %s for a person: %d %v\n%.300s", r.method, r.path, page.Status, page.Header, page.Body)
		}
		if problem.Status != r.status || problem.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s for a program: %d %v", r.method, r.path, problem.Status, problem.Header)
		}
	}
	s.LogAway(true)
	if page := s.Do(t, http.MethodGet, "/api/receipts/1", "", "Cookie", user.Cookie, "Accept", "text/html"); page.Status != 503 || !strings.Contains(string(page.Body), "<main") || page.Header.Get("Retry-After") == "" {
		t.Errorf("while the log is away: %d %v\n%.300s", page.Status, page.Header, page.Body)
	}
}

// TestListsSayThatTheyAreOld: a list that renews itself says so when it cannot.
func TestListsSayThatTheyAreOld(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	user.Evaluate(t, "1+1").OK(t)
	b.Go(s.URL + "/history")
	s.Do(t, http.MethodPost, "/auth/close", `{"current_password":"`+user.Password+`"}`, "Cookie", user.Cookie).OK(t)
	b.Until(`!document.querySelector("#away").hidden`)
	b.Has("#away", "signed out")
	b.Has("#rows", "1+1")
}

// TestRefusedExpressionsStay: without scripts too, what was refused stands in the field, to be mended.
func TestRefusedExpressionsStay(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	a := form(t, s, "/", "", s.URL, url.Values{"expression": {"Sin[<x"}})
	if a.Status < 400 || !strings.Contains(string(a.Body), ">Sin[&lt;x</textarea>") {
		t.Errorf("%d\n%s", a.Status, a.Body)
	}
}

// TestJobsShowWhatWasSubmitted: of each kind, as text and the circuit drawn, hostile or not; what is refreshed leaves it in place.
func TestJobsShowWhatWasSubmitted(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	submit := func(body string) (id string) {
		id, _ = user.Do(t, http.MethodPost, "/api/jobs", body).OK(t).JSON["job_id"].(string)
		b.Go(s.URL + "/jobs/" + id)
		return id
	}
	const hostile = `"<img src=x onerror=alert(1)>` + "\u202e\"+1"
	encoded, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	submit(`{"expression":` + string(encoded) + `,"session_id":"s-1"}`)
	if shown := b.Eval(`plain(document.querySelector("code.submitted"))`); shown != hostile {
		t.Errorf("%q", shown)
	}
	b.Has("#submitted", "s-1")
	sound(t, b, "a job with its expression")
	ran := submit(`{"expression":"sin(x)"}`)
	b.Eval(`(document.querySelector("code.submitted").dataset.kept = "1", "")`)
	s.RunJob(t, ran)
	b.Has("#job .answer", "sin(x)") // the stand-in gives it back; the part that is refreshed has it
	b.Has("#job .suggestions", "Sin[x]")
	b.Until(`document.querySelector("#job a.apply") && document.querySelector("code.submitted").dataset.kept === "1"`)
	killed := submit(`{"expression":"cos(x)"}`)
	s.EndJobUnpublished(t, killed)
	b.Has("#job", "Its run is being written.")
	s.PublishJob(t, killed)
	b.Until(`document.querySelector('#job a[href^="/runs/"]') && !document.querySelector("#job").textContent.includes("is being written") && !document.querySelector("#job[data-refresh]")`) // by itself
	submit(`{"kind":"qsim","circuit":{"openqasm":"OPENQASM 3; include \"stdgates.inc\"; qubit[2] q; h q[0]; cx q[0], q[1];"}}`)
	b.Until(`document.querySelectorAll("#submitted .circuit svg").length === 1`)
	b.Click("#submitted > details summary")
	b.Has("code.submitted", "OPENQASM 3; include")
	sound(t, b, "a job with its circuit")
	submit(`{"kind":"qsim","circuit":{"qubits":2,"gates":[{"gate":"h","target":0}]}}`)
	b.Click("#submitted > details summary")
	b.Has("code.submitted", "\"gate\": \"h\"")
	long := submit(`{"expression":"` + strings.Repeat("1+", 10_000) + `1"}`)
	if length := b.Eval(`plain(document.querySelector("code.submitted")).length`); length != "20001" {
		t.Error(length)
	}
	s.RemoveBlobs(t)
	b.Go(s.URL + "/jobs/" + long)
	b.Has("main", "its text is not kept here any more")
	sound(t, b, "a job whose text was removed")
	if a := user.Do(t, http.MethodGet, "/api/jobs/"+long+"?submitted=true", "").OK(t); a.JSON["submitted_removed"] != true || a.JSON["submitted"] != nil {
		t.Errorf("%s", a.Body)
	}
	if a := user.Do(t, http.MethodGet, "/api/jobs/"+ran+"?submitted=true", "").OK(t); a.JSON["submitted_removed"] != nil || !strings.Contains(string(a.Body), `"submitted":{"expression":"sin(x)"}`) {
		t.Errorf("%s", a.Body)
	}
	s.NewUser(t).Do(t, http.MethodGet, "/api/jobs/"+ran+"?submitted=true", "").Want(t, httpkit.NoSuchJob)
	clean(t, b)
}

// TestJobsShowWhatWasAskedFor: all that a circuit asked for is on its job's page, the likeliest of long lists, and the whole in the JSON it leads to.
func TestJobsShowWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	id, _ := user.Do(t, http.MethodPost, "/api/jobs", `{"kind":"qsim","circuit":{"qubits":6,"shots":20,"seed":1,"statevector":true,"memory":true,"npy":true,"marginals":[[1,0]],"observables":[{"ZIIIII":1,"IIIIIZ":-0.5}],
		"gates":[{"gate":"h","target":0},{"gate":"h","target":1},{"gate":"h","target":2},{"gate":"h","target":3},{"gate":"h","target":4},{"gate":"x","target":5}]}}`).OK(t).JSON["job_id"].(string)
	s.RunJob(t, id)
	b.Go(s.URL + "/jobs/" + id)
	b.Has("#job", "Observables")
	b.Has("#job", "Marginal of the qubits 1, 0")
	b.Has("#job", "the 32 largest of 64 amplitudes")
	b.Has("#job", "100000")
	b.Has("#job", "The key of each of 20 shots")
	for _, link := range []string{"/api/jobs/" + id, "/api/jobs/" + id + "/statevector.npy"} {
		if there := b.Eval(`String(document.querySelectorAll('#job a[href="` + link + `"]').length)`); there != "1" {
			t.Errorf("%s: %s links", link, there)
		}
	}
	sound(t, b, "a job with all that a circuit can ask for")
	b.Go(s.URL + "/jobs")
	b.Click("main details:nth-of-type(2) summary")
	b.Fill("#circuit", "{\"qubits\": 2,\n\"gates\": [}")
	b.Click("main details:nth-of-type(2) button.primary")
	b.Has("main .problem", "line 2, column 11")
	clean(t, b)
}

// TestRunsSayWhatWasMeant: a run that is looked at again has its suggestions as its cell had them.
func TestRunsSayWhatWasMeant(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	user.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"sin(x)","session_id":"s-1"}`).OK(t)
	user.Evaluate(t, "sin(x)").OK(t)
	for _, path := range []string{"/runs/2", "/?session_id=s-1"} {
		b.Go(s.URL + path)
		b.Has(".suggestions", "Sin[x]")
		b.Has("article", "of the expression as the language reads it")
		if n := b.Eval(`document.querySelectorAll("article .messages").length + " " + document.querySelectorAll("article a.apply").length`); n != "0 1" {
			t.Errorf("%s: %s", path, n)
		}
		sound(t, b, path)
	}
	clean(t, b)
}

// TestVerdictsOnSentences: a sentence that is read as a product is shown with what was probably meant first, and its verdict says that it is of what is written.
func TestVerdictsOnSentences(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	signIn(t, b, s).Evaluate(t, apitest.Sentence).OK(t)
	for _, step := range []func(){
		func() { b.Go(s.URL + "/runs/1") },
		func() {
			b.Go(s.URL + "/")
			b.Fill("#expression", apitest.Sentence)
			b.Click("#evaluate button.primary")
		},
	} {
		step()
		b.Has("article .verdict.unchecked", "Verified as written")
		b.Until(`(document.querySelector("article .suggestions").compareDocumentPosition(document.querySelector("article .answer")) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0`)
		if n := b.Eval(`"" + document.querySelectorAll("article .verdict.verified").length`); n != "0" {
			t.Errorf("%s verdicts in green", n)
		}
		sound(t, b, "a sentence")
	}
	clean(t, b)
}

// TestNumbersInTheReadersForm: numbers, times and prices are written as the browser's language has them, and keep their values.
func TestNumbersInTheReadersForm(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	b.Speak("de-DE")
	b.Go(s.URL + "/plans")
	for _, want := range []string{"12,00 $", "15 Min.", "2.000", "16 MiB"} {
		b.Until(`document.querySelector("main").innerText.replace(/\s/g, " ").includes("` + want + `")`)
	}
	if value := b.Eval(`[...document.querySelectorAll("data")].find((e) => e.textContent.includes("16 MiB")).value`); value != "16777216" {
		t.Error(value)
	}
	b.Go(s.URL + "/reference/Factor")
	b.Until(`/^\d\d\.\d\d\.\d{4}$/.test(document.querySelector(".cell time").textContent)`)
	for ms, want := range map[int]string{0: "0 ms", 999: "999 ms", 1500: "1,5 Sek.", 59_999: "59,999 Sek.", 60_000: "1 Min.", 61_000: "1 Min. 1 Sek.", 3_660_000: "1 Std. 1 Min."} {
		if got := b.Eval(fmt.Sprintf(`duration(%d).replace(/\s/g, " ")`, ms)); got != want {
			t.Errorf("%d: %q, not %q", ms, got, want)
		}
	}
	sound(t, b, "plans in another language's form")
	clean(t, b)
}

// TestPagesSayWhoIsSignedIn: in their head and on the account's page, from both of which one signs out; a form of one account's page is
// not evaluated as another.
func TestPagesSayWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	b.Has("header .person", user.Email)
	b.Go(s.URL + "/account")
	b.Has("main", user.Email)
	b.Has("main", user.ID)
	sound(t, b, "the account")
	other := s.NewUser(t)
	before := s.Evaluated.Load()
	a := form(t, s, "/", other.Cookie, s.URL, url.Values{"expression": {"1+1"}, "made_for": {user.ID}})
	if a.Status != http.StatusConflict || !strings.Contains(string(a.Body), "the page was made for another account") || s.Evaluated.Load() != before {
		t.Errorf("%d %.2000s", a.Status, a.Body)
	}
	b.Click(`main form[action="/sign-out"] button`)
	b.Until(`location.pathname === "/" && document.querySelector('a[href^="/sign-up"]')`)
	if strings.Contains(b.Eval("document.documentElement.outerHTML"), user.Email) {
		t.Error("the page says who was signed in")
	}
	whose := user.Do(t, http.MethodGet, "/api/account", "").OK(t)
	if whose.JSON["user_id"] != user.ID || whose.JSON["email"] != user.Email || whose.JSON["plan"] != "free" {
		t.Errorf("%s", whose.Body)
	}
	clean(t, b)
}

// TestScriptsShowWhatIsNotSeen: what the scripts write of an uploaded file has every character, in its order.
func TestScriptsShowWhatIsNotSeen(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	signIn(t, b, s)
	b.Go(s.URL + "/proofs")
	b.Eval(`upload(new File(['{"meta":{"exporter":{"name":"lean4export","version":"1"},"format":{"version":"3.1.0"},"lean":{"version":"4.9\\u202e<b>","githash":"x"}}}\n'], "z\u202enosj.ndjson"))`)
	b.Has("#uploaded", "zU+202Enosj.ndjson")
	b.Has("#uploaded", "4.9U+202E<b>")
	b.Has("#uploaded", "SHA-256")
	sound(t, b, "an upload")
	clean(t, b)
}

// TestVisitorsSeeJobsAndProofs: both pages show samples that have run, and the theorems of an export without sending it.
func TestVisitorsSeeJobsAndProofs(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	b.Go(s.URL + "/")
	b.Click(`nav a[href="/jobs"]`)
	b.Has("h1", "Jobs")
	b.Click(".sample summary")
	b.Until(`document.querySelector(".sample svg.chart").textContent.includes("11")`)
	b.Has(`main a[href^="/sign-up"]`, "Open an account")
	sound(t, b, "jobs without an account")
	// The scheme that is chosen here stays, whatever the system's is.
	b.Click("#scheme")
	b.Go(s.URL + "/plans")
	b.Until(`document.documentElement.dataset.scheme === "dark" && getComputedStyle(document.documentElement).backgroundColor === "rgb(20, 23, 27)"`)
	b.Click("#scheme")
	b.Until(`document.documentElement.dataset.scheme === "light" && getComputedStyle(document.documentElement).backgroundColor === "rgb(255, 255, 255)"`)
	b.Eval(`(document.cookie = "reckon-scheme=; path=/; max-age=0", "")`)
	b.Go(s.URL + "/")
	b.Click(`nav a[href="/proofs"]`)
	b.Has("h1", "Proofs")
	b.Click("#sample")
	b.Has("#uploaded", "Nothing was sent")
	b.Has("#theorems", "and_swap")
	b.Has(`main a[download="and_swap.ndjson"]`, "sample")
	sound(t, b, "proofs without an account")
	clean(t, b)
	signIn(t, b, s)
	b.Go(s.URL + "/proofs")
	b.Click("#sample")
	b.Until(`document.querySelector("#upload").value.length === 36 && document.querySelector("#declarations").value === "and_swap"`)
	b.Click("#theorems input")
	b.Until(`document.querySelector("#declarations").value === ""`)
	b.Click("#theorems input")
	sound(t, b, "the theorems of an export")
	b.Click(`button[value="inspect"]`)
	b.Has("main", "no fault found")
	clean(t, b)
}

// TestAssetsNameTheirContent: each that a page loads is kept for ever under its address; under that of another build it is what there is, and not kept.
func TestAssetsNameTheirContent(t *testing.T) {
	t.Parallel()
	s := apitest.Share(t)
	page := string(s.Do(t, http.MethodGet, "/", "").OK(t).Body)
	loaded := regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(loaded) < 6 {
		t.Fatalf("%d assets", len(loaded))
	}
	for _, found := range loaded {
		parts := strings.Split(found[1], "/")
		a := s.Do(t, http.MethodGet, found[1], "").OK(t)
		sum := sha256.Sum256(a.Body)
		if parts[2] != base64.RawURLEncoding.EncodeToString(sum[:12]) || a.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || a.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", found[1], a.Header)
		}
		old := s.Do(t, http.MethodGet, "/assets/AAAAAAAAAAAAAAAA/"+parts[3], "").OK(t)
		if string(old.Body) != string(a.Body) || old.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s of another build: %v", parts[3], old.Header)
		}
	}
	s.Do(t, http.MethodGet, "/assets/x/nothing.js", "").Want(t, httpkit.NoSuchRoute)
	s.Do(t, http.MethodGet, "/assets/x/..%2Fworkbench.go", "").Want(t, httpkit.NoSuchRoute)
}

// TestTooMuchIsAPage: a form that is larger than the service takes is refused with a page, and so is a body that is too large for its route.
func TestTooMuchIsAPage(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	for what, expression := range map[string]string{"the form": strings.Repeat("x", 4<<20), "the body of the route": strings.Repeat("x", 2<<20)} {
		a := form(t, s, "/", user.Cookie, s.URL, url.Values{"expression": {expression}, "made_for": {user.ID}})
		if a.Status != http.StatusRequestEntityTooLarge || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(string(a.Body), "too_large") || !strings.Contains(string(a.Body), `role="alert"`) {
			t.Errorf("%s: %d %v %.400s", what, a.Status, a.Header, a.Body)
		}
	}
	if s.Evaluated.Load() != 0 {
		t.Error("it was evaluated")
	}
}

// TestTimelineByPointerAndKeys: what is dragged over is looked at closer, Shift moves, Ctrl and the wheel zoom, and keys do the same.
func TestTimelineByPointerAndKeys(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	for i := range 8 {
		user.Evaluate(t, fmt.Sprintf("%d+%d", i, i)).OK(t)
		s.Clock.Pass(20 * time.Second)
		if i == 3 {
			s.Clock.Pass(2 * time.Minute)
		}
	}
	b.Go(s.URL + "/bursts")
	b.Until(`document.querySelector("td a") || (location.reload(), false)`)
	b.Click("td a")
	b.Until(`document.querySelectorAll("svg.timeline path:not(.cross)").length === 8 && document.querySelectorAll("svg.timeline .pause").length === 1`)
	b.Until(`document.querySelector("svg.timeline").textContent.includes("2 min 19 sec")`)
	b.Eval(`(document.querySelector("svg.timeline").scrollIntoView(), "")`)
	span := func() (begin, end int) {
		if _, err := fmt.Sscan(b.Eval(`(({ begin, end }) => begin + " " + end)(document.querySelector("svg.timeline").dataset)`), &begin, &end); err != nil {
			t.Fatal(err)
		}
		return begin, end
	}
	changed := func(what string, do func()) {
		t.Helper()
		before := b.Eval(`JSON.stringify(document.querySelector("svg.timeline").dataset)`)
		do()
		b.Until(`JSON.stringify(document.querySelector("svg.timeline")?.dataset) !== ` + strconv.Quote(before) + ` && document.querySelector("svg.timeline")`)
	}
	// drag presses at one part of the drawing's width and lets go at another.
	drag := func(from, to float64, shift bool) {
		b.Eval(fmt.Sprintf(`((from, to, shiftKey) => {
			const svg = document.querySelector("svg.timeline"), at = svg.getBoundingClientRect();
			const send = (kind, part) => svg.dispatchEvent(new PointerEvent(kind, { bubbles: true, cancelable: true, button: 0, pointerType: "mouse", shiftKey, clientX: at.left + part * at.width, clientY: at.top + 30 }));
			svg.setPointerCapture = () => {};
			send("pointerdown", from); send("pointermove", to); send("pointerup", to);
			return "";
		})(%g, %g, %t)`, from, to, shift))
	}
	wholeBegin, wholeEnd := span()
	changed("drag", func() { drag(0.3, 0.6, false) })
	begin, end := span()
	if begin <= wholeBegin || end >= wholeEnd || end-begin > (wholeEnd-wholeBegin)/2 {
		t.Errorf("dragged: %d to %d of %d to %d", begin, end, wholeBegin, wholeEnd)
	}
	b.Until(`location.search.includes("begin=") && document.activeElement.matches("#timeline .scroll")`)
	changed("move", func() { drag(0.4, 0.6, true) })
	if moved, movedEnd := span(); moved >= begin || movedEnd-moved != end-begin {
		t.Errorf("moved to %d to %d from %d to %d", moved, movedEnd, begin, end)
	}
	sound(t, b, "a part of a timeline")
	for _, key := range []struct {
		press string
		wants func(begin, end, earlierBegin, earlierEnd int) bool
	}{
		{"+", func(begin, end, a, z int) bool { return end-begin < z-a }}, {">", func(begin, end, a, z int) bool { return begin > a && end-begin == z-a }},
		{"<", func(begin, _, a, _ int) bool { return begin < a }}, {"-", func(begin, end, a, z int) bool { return end-begin > z-a }},
		{"0", func(begin, end, _, _ int) bool { return begin == wholeBegin && end == wholeEnd }},
	} {
		b.Until(`document.activeElement.matches("#timeline .scroll")`)
		earlierBegin, earlierEnd := span()
		changed(key.press, func() { b.Press(key.press) })
		if begin, end := span(); !key.wants(begin, end, earlierBegin, earlierEnd) {
			t.Errorf("%s: %d to %d, after %d to %d", key.press, begin, end, earlierBegin, earlierEnd)
		}
	}
	b.Until(`location.search === ""`)
	changed("wheel", func() {
		b.Eval(`(svg => { const at = svg.getBoundingClientRect(); svg.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, ctrlKey: true, deltaY: -100, clientX: at.left + at.width / 2, clientY: at.top + 30 })); return "" })(document.querySelector("svg.timeline"))`)
	})
	if begin, end := span(); begin <= wholeBegin || end >= wholeEnd {
		t.Errorf("the wheel shows %d to %d", begin, end)
	}
	clean(t, b)
}

// TestBracketsAreMarked: the one at the caret and its partner, in the language and in circuits; what stands in strings and comments is none.
func TestBracketsAreMarked(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	marks := func(field, text string, caret int) string {
		b.Eval(fmt.Sprintf(`((field, text, caret) => { field.focus(); field.value = text; field.setSelectionRange(caret, caret); field.dispatchEvent(new Event("input", { bubbles: true })); return "" })(document.querySelector(%q), %s, %d)`, field, strconv.Quote(text), caret))
		return b.Eval(`(back => { let at = 0; const found = []; for (const node of back.childNodes) { if (node.nodeName === "MARK") found.push(node.className + at); at += node.textContent.length } return found.join() })(document.querySelector("` + field + `").previousElementSibling)`)
	}
	b.Go(s.URL + "/")
	for _, c := range []struct {
		text  string
		caret int
		want  string
	}{
		{"f[x, {1, 2}]", 12, "pair1,pair11"}, {"f[x, {1, 2}]", 1, "pair1,pair11"}, {"f[x, {1, 2}]", 6, "pair5,pair10"}, {"f[x", 2, "alone1"}, {"(x]", 3, "alone2"}, {"f[\"]\"]", 6, "pair1,pair5"}, {"f[(* ] (* ) *) *) x]", 20, "pair1,pair19"},
		{"\"[\"", 2, ""}, {"x + y", 3, ""}, {"\"\\\"[\" (", 7, "alone6"},
	} {
		if got := marks("#expression", c.text, c.caret); got != c.want {
			t.Errorf("%q at %d: %q, not %q", c.text, c.caret, got, c.want)
		}
	}
	marks("#expression", "f[x", 2)
	b.Has(".editor [role=status]", "The bracket [ has no partner.")
	// A bracket is marked where it stands: the text behind the field is as tall as the one in it.
	if tall := b.Eval(`(field => { field.value = ("a long name ".repeat(40) + "f[x]\n").repeat(3); field.focus(); field.setSelectionRange(field.value.length - 1, field.value.length - 1); field.dispatchEvent(new Event("input")); return field.scrollHeight - field.previousElementSibling.scrollHeight })(document.querySelector("#expression"))`); tall != "0" {
		t.Errorf("%s px apart", tall)
	}
	sound(t, b, "marked brackets")
	signIn(t, b, s)
	b.Go(s.URL + "/jobs")
	b.Click("main details:nth-of-type(2) summary")
	if got := marks("#circuit", "gate g q { // }\n}", 17); got != "pair9,pair16" {
		t.Error(got)
	}
	b.Until(`document.querySelector("#diagram .note")`)
	sound(t, b, "marked brackets of a circuit")
	clean(t, b)
}

// TestConsentPages: who is asked whether an app may be connected has pages as sound as the others.
func TestConsentPages(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	asked := s.URL + "/oauth/authorize?" + s.NewClient(t).Query()
	b.Go(asked)
	b.Has("main button", "Sign in")
	sound(t, b, "the consent page, nobody signed in")
	user := signIn(t, b, s)
	b.Go(asked)
	b.Has("main", user.Email)
	b.Has("main button", "Allow")
	sound(t, b, "the consent page")
	b.Go(s.URL + "/oauth/authorize?client_id=nobody")
	b.Has("main h1", "This cannot be connected")
	sound(t, b, "a request that is no client's")
	clean(t, b)
}

// TestInvoicesOnPlans: what an invoice is for, and when it was paid, stand on the page.
func TestInvoicesOnPlans(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	intent := func() commands.Intent {
		return commands.Intent{ID: uuid.New(), At: s.Clock.Now(), Account: user.ID, Actor: "operator"}
	}
	if _, _, err := commands.Subscribe(t.Context(), s.Store, account.DefaultPlans(), intent(), commands.SubscribeTo{Plan: "pro", Period: account.Monthly}); err != nil {
		t.Fatal(err)
	}
	row := func(holds string) {
		t.Helper()
		for shown := ""; !strings.Contains(shown, holds); { // the page is of what the read model has applied
			b.Go(s.URL + "/plans")
			shown = b.Eval(`document.querySelector("main table tbody tr")?.innerText ?? ""`)
		}
	}
	row("! open")
	b.Has("main table tbody td ul", "pro")
	b.Has("main table tbody td ul", "$12.00")
	b.Has("main table tbody td:last-child", "–")
	pay := billing.Pay{InvoiceID: billing.InvoiceID(user.ID, 1), AmountMinor: 1200, Currency: "USD", Method: billing.PaidOperator}
	if _, _, err := commands.PayInvoice(t.Context(), s.Store, account.DefaultPlans(), intent(), pay); err != nil {
		t.Fatal(err)
	}
	row("✓ paid")
	b.Until(`document.querySelector("main table tbody td:last-child time")`)
	sound(t, b, "the plans page with an invoice")
	clean(t, b)
}

// TestProofSampleIsThatOfTheDocumentation: whoever has read one knows the other.
func TestProofSampleIsThatOfTheDocumentation(t *testing.T) {
	sample, documented := must(t, fs.ReadFile, os.DirFS("samples"), "and_swap.ndjson"), must(t, fs.ReadFile, os.DirFS("../../docs"), "and_swap.ndjson")
	if string(sample) != string(documented) {
		t.Error("samples/and_swap.ndjson is another export than docs/and_swap.ndjson")
	}
}
