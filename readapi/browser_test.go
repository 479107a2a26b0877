package readapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/test/apitest"
	"reckon/test/browser"
)

// TestPagesInABrowser opens the pages in headless Chromium: the policy lets them
// style themselves, and lets nobody show them in a frame.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := apitest.Start(t, apitest.Options{})
	around := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><p>around</p><iframe src="%s/docs"></iframe>`, s.URL)
	}))
	defer around.Close()
	for path, want := range map[string]string{"/docs": "/api/evaluate", "/docs/errors": `id="rate_limited"`} {
		b.Go(s.URL + path)
		if dom := b.Eval("document.documentElement.outerHTML"); !strings.Contains(dom, want) {
			t.Errorf("%s:\n%.300s", path, dom)
		}
	}
	if faults := b.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
	user := s.NewUser(t)
	policy := user.Do(t, http.MethodGet, user.Evaluate(t, "Plot[x,{x,0,1}]").OK(t).JSON["plot_url"].(string), "").OK(t).Header.Get("Content-Security-Policy")
	plot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		w.Header().Set("Content-Security-Policy", policy)
		// A transparent pixel; and a picture from elsewhere, which the policy must not let load.
		_, _ = fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image id="own" width="9" height="9" href="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="/><image width="9" height="9" href="https://example.com/foreign.png"/></svg>`)
	}))
	defer plot.Close()
	b.Go(plot.URL)
	b.Until(`document.querySelector("#own")`)
	b.Fault("foreign.png")
	b.Go(around.URL)
	b.Until(`document.body.innerText.includes("around")`)
	b.Fault("frame-ancestors")
	if slices.ContainsFunc(b.Faults(), func(fault string) bool { return strings.Contains(fault, "data:image") }) {
		t.Errorf("a plot's own picture: %q", b.Faults())
	}
}

// visitor is what a person does on the reference: it searches, chooses a language, is refused, signs in, evaluates and asks for a job
// that is not there. What the person sees is put into attributes of the body.
const visitor = `(async () => {
  const seen = document.body.dataset;
  const type = (element, text, kind) => { element.value = text; element.dispatchEvent(new Event(kind)); };
  const until = async (found) => { while (!found()) await new Promise((later) => setTimeout(later, 10)); };
  const sendForm = async (id) => {
    const operation = document.getElementById(id), status = operation.querySelector(".status");
    status.textContent = "";
    operation.querySelector(".try form").requestSubmit();
    await until(() => status.textContent.length > 1);
    return status.textContent + " " + operation.querySelector(".answer").textContent;
  };
  type(document.querySelector("#search"), "Signed Receipt", "input");
  seen.found = document.querySelector("#found").textContent;
  seen.shown = [...document.querySelectorAll(".operation")].filter((o) => !o.hidden).map((o) => o.id).join(" ");
  type(document.querySelector("#search"), "", "input");
  type(document.querySelector("#language"), "Python", "change");
  seen.languages = [...new Set([...document.querySelectorAll(".sample")].filter((s) => !s.hidden).map((s) => s.dataset.language))].join(" ");
  seen.refused = await sendForm("evaluate");
  const form = document.querySelector("#sign-in");
  form.elements.email.value = "EMAIL";
  form.elements.password.value = "PASSWORD";
  form.requestSubmit();
  await until(() => document.querySelector("#session").textContent);
  seen.session = document.querySelector("#session").textContent;
  seen.password = form.elements.password.value;
  document.querySelector("#evaluate textarea").value = JSON.stringify({ expression: "Print[<&>]" });
  seen.answer = await sendForm("evaluate");
  document.querySelector("#get-job input[name=id]").value = "../x";
  seen.missing = await sendForm("get-job");
  document.querySelector("#list-history input[name=query]").value = "Print[<";
  seen.history = await sendForm("list-history");
})()`

// TestReferenceInABrowser: the reference is searched, and tried with a session of one's own, under its policy.
func TestReferenceInABrowser(t *testing.T) {
	t.Parallel()
	b := browser.New(t)
	s := apitest.Start(t, apitest.Options{})
	s.Clock.Pass(time.Since(s.Clock.Now())) // the browser judges by the real time when a cookie ends
	user := s.NewUser(t)
	b.Go(s.URL + "/docs")
	b.Eval(strings.NewReplacer("EMAIL", user.Email, "PASSWORD", user.Password).Replace(visitor))
	for seen, want := range map[string]string{
		"found": "2 of ", "shown": "evaluate get-receipt", "languages": "Python", "refused": "POST /api/evaluate: 401, sign in above", "session": "signed in", "password": "",
		"answer": "POST /api/evaluate: 200 ", "missing": "GET /api/jobs/..%2Fx: 404 ", "history": "GET /api/history?query=Print%5B%3C: 200 ",
	} {
		if got := b.Eval("document.body.dataset." + seen); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: the visitor sees %q, not %q", seen, got, want)
		}
	}
	if answer := b.Eval("document.body.dataset.answer"); !strings.Contains(answer, `"stdout": "<&>\n"`) {
		t.Error(answer)
	}
	b.Show(320, 740, "light")
	if wide := b.Wide(); wide != "0" {
		t.Errorf("%s px wider than a window of 320", wide)
	}
	if faults := b.Faults(); len(faults) > 0 {
		t.Error(faults)
	}
}
