package workbench_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"reckon/domain/event"
	"reckon/internal/access"
	"reckon/internal/httpkit"
	"reckon/test/apitest"
	"reckon/test/browser"
)

// written counts the events of the log.
func written(t *testing.T, s *apitest.Server) (n int) {
	t.Helper()
	for _, err := range s.Store.ReadAll(t.Context(), event.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestEveryFormIsRefusedForAnybodyElse: of every route that pages send forms to, as the table of access has them; and is done for its own reader.
func TestEveryFormIsRefusedForAnybodyElse(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Elaborator: toolchain{}})
	maker, user := s.NewUser(t), s.NewUser(t)
	user.Evaluate(t, "1+1").OK(t)
	job, _ := user.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1"}`).OK(t).JSON["job_id"].(string)
	credentials := url.Values{"email": {"new@example.com"}, "password": {"correct horse"}}
	forms := []struct {
		route, path string
		fields      url.Values
		keeps       string // what was filled in, which the refusal shows
	}{
		{"POST /", "/", url.Values{"expression": {"1+1"}}, ">1&#43;1</textarea>"},
		{"POST /runs/{id}", "/runs/1", url.Values{}, ""},
		{"POST /jobs", "/jobs", url.Values{"kind": {"evaluate"}, "expression": {"2+2"}, "session_id": {"mine"}}, ">2&#43;2</textarea>"},
		{"POST /jobs/drawing", "/jobs/drawing", url.Values{"circuit": {`{"qubits":1}`}}, "{&#34;qubits&#34;:1}</textarea>"},
		{"POST /jobs/{id}", "/jobs/" + job, url.Values{}, ""},
		{"POST /proofs", "/proofs", url.Values{"do": {"elaborate"}, "source": {"theorem thm"}}, ">theorem thm</textarea>"},
		{"POST /account", "/account", url.Values{"do": {"mint"}, "name": {"laptop"}}, ""},
		{"POST /sign-up", "/sign-up", credentials, ""},
		{"POST /sign-in", "/sign-in", credentials, ""},
		{"POST /sign-out", "/sign-out", url.Values{}, ""},
	}
	named := []string{}
	for _, f := range forms {
		named = append(named, f.route)
		signs := strings.HasPrefix(f.route, "POST /sign-")
		before, evaluated := written(t, s), s.Evaluated.Load()
		with := func(madeFor ...string) url.Values {
			fields := url.Values{"made_for": madeFor}
			for name, values := range f.fields {
				fields[name] = values
			}
			return fields
		}
		for what, sent := range map[string]struct {
			cookie string
			fields url.Values
			want   int
			says   string
		}{
			"another account's page": {user.Cookie, with(maker.ID), 409, "You are signed in as " + user.Email + " now, and the page was made for another account."},
			"nobody's page":          {user.Cookie, with("nobody"), 409, "the page was made for somebody who was not signed in"},
			"signed out":             {"", with(maker.ID), 401, ""},
			"no page":                {user.Cookie, with(), 400, "does not say whom its page was made for"},
			"two pages":              {user.Cookie, with(maker.ID, user.ID), 400, "more than once"},
			"a page of nothing":      {user.Cookie, with(""), 400, "does not say"},
		} {
			a := form(t, s, f.path, sent.cookie, s.URL, sent.fields)
			if f.path == "/sign-out" && sent.want == 401 {
				if a.Status != http.StatusSeeOther {
					t.Errorf("%s, %s: %d", f.route, what, a.Status)
				}
				continue
			}
			if a.Status != sent.want || !strings.Contains(string(a.Body), sent.says) || !strings.Contains(string(a.Body), `role="alert"`) && !strings.Contains(string(a.Body), `class="note"`) || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s, %s: %d %v\n%.3000s", f.route, what, a.Status, a.Header, a.Body)
			}
			if sent.want != 400 && !strings.Contains(string(a.Body), f.keeps) {
				t.Errorf("%s, %s: what was filled in is lost\n%s", f.route, what, a.Body)
			}
		}
		if written(t, s) != before || s.Evaluated.Load() != evaluated {
			t.Errorf("%s: something was done", f.route)
		}
		cookie, madeFor := user.Cookie, user.ID
		if signs && f.path != "/sign-out" {
			cookie, madeFor = "", "nobody"
		}
		if a := form(t, s, f.path, cookie, s.URL, with(madeFor)); a.Status >= 400 {
			t.Errorf("%s is not done for its own reader: %d %.2000s", f.route, a.Status, a.Body)
		}
	}
	for route, rule := range access.Routes() {
		if route == "POST /oauth/authorize" { // a page of another folder, whose form has a proof of the sign-in
			continue
		}
		if strings.HasPrefix(route, "POST ") && strings.HasPrefix(rule.Undescribed, "a page for people") && !slices.Contains(named, route) {
			t.Errorf("%s is not tested", route)
		}
	}
}

// TestEveryFormOfEveryPageIsBound: as the browser gets them, also on pages that refuse something.
func TestEveryFormOfEveryPageIsBound(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Elaborator: toolchain{}})
	user := s.NewUser(t)
	user.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"1+1","session_id":"s"}`).OK(t)
	job, _ := user.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1"}`).OK(t).JSON["job_id"].(string)
	counted := map[string]int{}
	bound := func(what string, page []byte, reader string) {
		t.Helper()
		document, err := html.Parse(bytes.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for node := range document.Descendants() {
			if node.Type != html.ElementNode {
				continue
			}
			sends := node.Data == "form" && attribute(node, "method") != "get"
			for _, a := range node.Attr {
				sends = sends || slices.Contains([]string{"hx-post", "hx-put", "hx-patch", "hx-delete"}, a.Key)
			}
			if !sends {
				continue
			}
			of := node
			for of != nil && of.Data != "form" {
				of = of.Parent
			}
			if of == nil || madeFor(of) != reader {
				t.Errorf("%s: a <%s> sends for nobody in particular, not for %s", what, node.Data, reader)
				continue
			}
			counted[attribute(of, "action")]++
		}
	}
	for _, path := range []string{"/", "/?session_id=s", "/sign-in", "/sign-up", "/runs/1", "/history", "/jobs", "/jobs/" + job, "/proofs", "/bursts", "/reference", "/plans", "/account", "/nothing"} {
		bound(path, s.Do(t, http.MethodGet, path, "", "Cookie", user.Cookie).Body, user.ID)
		bound(path+", signed out", s.Do(t, http.MethodGet, path, "").Body, "nobody")
	}
	for path, fields := range map[string]url.Values{"/": {"expression": {"f["}}, "/jobs": {"kind": {"qsim"}, "circuit": {"{"}}, "/jobs/drawing": {"circuit": {"{"}}, "/account": {"do": {"?"}}, "/proofs": {"do": {"inspect"}}} {
		bound("POST "+path, form(t, s, path, user.Cookie, s.URL, fields).Body, user.ID)
		fields.Set("made_for", "another")
		bound("POST "+path+", refused", form(t, s, path, user.Cookie, s.URL, fields).Body, user.ID)
	}
	for _, action := range []string{"/", "/sign-in", "/sign-up", "/sign-out", "/jobs", "/jobs/" + job, "/proofs", "/account", "/runs/1"} {
		if counted[action] == 0 {
			t.Errorf("no page has a form for %s", action)
		}
	}
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// madeFor is what the one field of a form says that binds it.
func madeFor(form *html.Node) string {
	found := []string{}
	for node := range form.Descendants() {
		if node.Data == "input" && attribute(node, "name") == "made_for" {
			found = append(found, attribute(node, "value"))
		}
	}
	return strings.Join(found, " and ")
}

// TestScriptsWriteForTheirPagesReader: what scripts send by themselves names whom it is for.
func TestScriptsWriteForTheirPagesReader(t *testing.T) {
	t.Parallel()
	writes := 0
	for _, path := range must(t, fs.Glob, os.DirFS("."), "assets/*.js") {
		script := string(must(t, fs.ReadFile, os.DirFS("."), path))
		for _, call := range regexp.MustCompile(`(?s)fetch\([^;]*?method: "[^;]*;`).FindAllString(script, -1) {
			writes++
			if !strings.Contains(call, "headers") || !strings.Contains(script, `"Reckon-Account": document.body.dataset.madeFor`) {
				t.Errorf("%s: %s", path, call)
			}
		}
		if regexp.MustCompile(`htmx\.ajax\("[^G]`).MatchString(script) || strings.Contains(script, "XMLHttpRequest") || strings.Contains(script, "sendBeacon") {
			t.Errorf("%s sends in another way", path)
		}
	}
	if writes != 1 {
		t.Errorf("%d writes", writes)
	}
	s := apitest.Start(t, apitest.Options{})
	user := s.NewUser(t)
	before := written(t, s)
	upload := func(account string) apitest.Answer {
		return s.Do(t, http.MethodPost, "/api/proofs", smallExport, "Content-Type", "application/x-ndjson", "Cookie", user.Cookie, "Origin", s.URL, "Reckon-Account", account)
	}
	upload(s.NewUser(t).ID).Want(t, httpkit.OtherAccount)
	upload("nobody").Want(t, httpkit.OtherAccount)
	if a := upload(user.ID); a.Status >= 300 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if written(t, s) == before {
		t.Error("nothing is stored for its own account")
	}
}

func must[A, T any](t *testing.T, read func(fs.FS, A) (T, error), from fs.FS, a A) T {
	t.Helper()
	value, err := read(from, a)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// become signs in as somebody in another tab of the same browser; nil: nobody.
func become(t *testing.T, b *browser.Tab, user *apitest.User) {
	t.Helper()
	b.Eval(`fetch("/auth/logout", { method: "POST" }).then(() => "")`)
	if user == nil {
		return
	}
	status := b.Eval(fmt.Sprintf(`fetch("/auth/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: %q, password: %q }) }).then((a) => a.status)`, user.Email, user.Password))
	if status != "200" {
		t.Fatalf("signing in answers %s", status)
	}
}

// TestTwoAccountsInOneBrowser: each kind of form of one account's page is sent after another has signed in in another tab. It is not done for the other, the page says who is signed in, and what was
// written is still there.
func TestTwoAccountsInOneBrowser(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{Elaborator: toolchain{}})
	first, second := s.NewUser(t), s.NewUser(t)
	second.Evaluate(t, "1+1").OK(t)
	job, _ := second.Do(t, http.MethodPost, "/api/jobs", `{"expression":"1+1"}`).OK(t).JSON["job_id"].(string)
	ran := fmt.Sprint(first.Evaluate(t, "2+2").OK(t).JSON["run_id"])
	own, _ := first.Do(t, http.MethodPost, "/api/jobs", `{"expression":"2+2"}`).OK(t).JSON["job_id"].(string)
	b.Go(s.URL + "/plans")
	refused := "You are signed in as " + second.Email + " now"
	for _, c := range []struct {
		what, path string
		send       func()
		says       string // selector
		kept       string // selector of a field
		text       string
	}{
		{"evaluating", "/", func() { b.Fill("#expression", "kept+1"); b.ShiftEnter() }, "#cells .problem", "#expression", "kept+1"},
		{"an example", "/", func() { b.Click(".examples button") }, "#cells .problem", "", ""},
		{"evaluating again", "/?session_id=s", func() { b.Click(".again button") }, "#cells .problem", "", ""},
		{"an expression as a job", "/jobs", func() {
			b.Click("main details:first-of-type summary")
			b.Fill("#job-expression", "kept+2")
			b.Click("main details:first-of-type button.primary")
		}, "main > .problem", "#job-expression", "kept+2"},
		{"a circuit as a job", "/jobs", func() {
			b.Click("main details:nth-of-type(2) summary")
			b.Fill("#circuit", `{"qubits": 3}`)
			b.Has("#diagram", refused)
			b.Click("main details:nth-of-type(2) button.primary")
		}, "main > .problem", "#circuit", `{"qubits": 3}`},
		{"cancelling", "/jobs/" + own, func() { b.Click("#cancel") }, "main .problem", "", ""},
		{"inspecting", "/proofs", func() {
			b.Fill("#upload", "7c9e6679-7425-50de-944b-e07fc1f90ae7")
			b.Fill("#declarations", "kept3")
			b.Click(`button[value="inspect"]`)
		}, "main > .problem", "#declarations", "kept3"},
		{"having a proof checked", "/proofs", func() {
			b.Fill("#upload", "7c9e6679-7425-50de-944b-e07fc1f90ae7")
			b.Fill("#declarations", "kept4")
			b.Click(`button[value="check"]`)
		}, "main > .problem", "#declarations", "kept4"},
		{"elaborating", "/proofs", func() {
			b.Click("main details summary")
			b.Fill("#source", "theorem kept5")
			b.Click(`button[value="elaborate"]`)
		}, "main details .problem", "#source", "theorem kept5"},
		{"checking a run", "/runs/" + ran, func() { b.Click(`form[action^="/runs/"] button`) }, "main .problem", "", ""},
		{"making a token", "/account", func() { b.Click("main details summary"); b.Fill("#name", "x"); b.Click(`button[value="mint"]`) }, "main .problem", "", ""},
		{"revoking a token", "/account", func() { b.Click(`button[value="revoke"]`) }, "main .problem", "", ""},
		{"ending a sign-in", "/account", func() { b.Click(`button[value="end"]`) }, "main .problem", "", ""},
		{"signing out", "/plans", func() { b.Click(`header form[action="/sign-out"] button`) }, "main .problem", "", ""},
	} {
		become(t, b, first)
		if c.what == "evaluating again" {
			first.Do(t, http.MethodPost, "/api/evaluate", `{"expression":"3+3","session_id":"s"}`).OK(t)
		}
		b.Go(s.URL + c.path)
		become(t, b, second)
		before, evaluated := written(t, s), s.Evaluated.Load()
		c.send()
		b.Has(c.says, refused)
		b.Has(c.says, "other_account")
		if c.kept != "" {
			if text := b.Eval(`document.querySelector("` + c.kept + `").value`); text != c.text {
				t.Errorf("%s: what was written is %q", c.what, text)
			}
		}
		if written(t, s) != before || s.Evaluated.Load() != evaluated {
			t.Errorf("%s: something was done for another account", c.what)
		}
	}
	sound(t, b, "a refused form")
	// What is sent from the page that was loaded again is done for who is signed in.
	become(t, b, first)
	b.Go(s.URL + "/")
	become(t, b, second)
	b.Fill("#expression", "17+4")
	b.ShiftEnter()
	b.Click("#cells a.elsewhere")
	b.Until(`location.search !== "" && document.querySelector("#expression").value === "17+4"`)
	b.Click("#evaluate button.primary")
	b.Has("#cells .answer", "17+4")
	if !strings.Contains(string(second.Do(t, http.MethodGet, "/api/history", "").OK(t).Body), "17+4") {
		t.Error("it is in another history")
	}
	second.Do(t, http.MethodGet, "/api/jobs/"+job, "").OK(t)
	clean(t, b)
}

// TestPagesOfNobody: what is written while nobody is signed in is not done for an account, nor the other way round; uploads are stored and lists renewed for whom the page was made for alone.
func TestPagesOfNobody(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user, other := s.NewUser(t), s.NewUser(t)
	b.Go(s.URL + "/")
	become(t, b, user)
	b.Fill("#expression", "kept+1")
	b.ShiftEnter()
	b.Has("#cells .problem", "made for somebody who was not signed in")
	b.Go(s.URL + "/jobs")
	become(t, b, nil)
	b.Click("main details:first-of-type summary")
	b.Fill("#job-expression", "kept+2")
	b.Click("main details:first-of-type button.primary")
	b.Has("main > .problem", "nobody is signed in now")
	become(t, b, user) // in another tab: the form is still theirs
	b.Click("main details:first-of-type button.primary")
	b.Has("#submitted", "kept+2")
	b.Has("#done", "9 jobs are left today")
	b.Go(s.URL + "/sign-in")
	b.Until(`location.pathname === "/"`) // who is signed in goes on
	become(t, b, nil)
	b.Go(s.URL + "/sign-in")
	become(t, b, user)
	b.Fill("#email", other.Email)
	b.Fill("#password", other.Password)
	b.Click("main button.primary")
	b.Has("main .problem", "You are signed in as "+user.Email)
	b.Go(s.URL + "/proofs")
	become(t, b, other)
	b.Eval(`upload(new File(["{}\n"], "a.ndjson"))`)
	b.Has("#uploaded", "another account than the one that is signed in now")
	become(t, b, user)
	user.Evaluate(t, "1+1").OK(t)
	b.Go(s.URL + "/history")
	b.Has("#rows", "1+1")
	become(t, b, other)
	b.Has("#away", "Somebody else is signed in")
	b.Has("#rows", "1+1")
	clean(t, b)
}

// TestLoadingAgainDoesNothingAgain: after each form that does something the page that is shown is one that was asked for.
func TestLoadingAgainDoesNothingAgain(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := served(t, apitest.Options{})
	user := signIn(t, b, s)
	user.Evaluate(t, "1+1").OK(t)
	reload := func(what string) {
		t.Helper()
		b.Until(`document.readyState === "complete"`)
		before, evaluated := written(t, s), s.Evaluated.Load()
		b.Eval(`(window.before = true, setTimeout(() => location.reload()), "")`)
		b.Until(`!window.before && document.readyState === "complete"`)
		if written(t, s) != before || s.Evaluated.Load() != evaluated {
			t.Errorf("%s: loading the page again does something", what)
		}
	}
	b.Go(s.URL + "/jobs")
	b.Click("main details:first-of-type summary")
	b.Fill("#job-expression", "1+1")
	b.Click("main details:first-of-type button.primary")
	b.Has("#done", "The job is submitted. 9 jobs are left today")
	reload("submitting")
	if b.Eval(`document.querySelector("#done")`) != "null" {
		t.Error("what was done is told twice")
	}
	b.Click("#cancel")
	b.Has("#done", "its slot is given back")
	reload("cancelling")
	b.Go(s.URL + "/account")
	b.Click("main details summary")
	b.Fill("#name", "laptop")
	b.Click(`button[value="mint"]`)
	b.Has("#token", "")
	reload("making a token")
	b.Click(`button[aria-label^="Revoke the token laptop that ends in "]`)
	b.Has("main", "The token is revoked")
	reload("revoking")
	b.Go(s.URL + "/runs/1")
	b.Click(`form[action^="/runs/"] button`)
	b.Has("[data-once]", "Verified")
	reload("checking a run")
	clean(t, b)
}
