package readapi_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"reckon/test/apitest"
)

// TestPagesInABrowser opens the pages in headless Chromium: the policy lets them
// style themselves, and lets nobody show them in a frame.
func TestPagesInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium (Debian: chromium)")
	}
	s := apitest.Start(t, apitest.Options{})
	around := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><p>around</p><iframe src="%s/docs"></iframe>`, s.URL)
	}))
	defer around.Close()
	open := func(url string) (dom, console string) { return openInBrowser(t, browser, url) }
	for path, want := range map[string]string{"/docs": "/api/evaluate", "/docs/errors": `id="rate_limited"`} {
		dom, console := open(s.URL + path)
		if !strings.Contains(dom, want) || strings.Contains(console, "Content Security Policy") {
			t.Errorf("%s:\n%.300s\n%s", path, dom, console)
		}
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
	if dom, console := open(plot.URL); !strings.Contains(dom, `id="own"`) || !strings.Contains(console, "foreign.png") || strings.Contains(console, "data:image") {
		t.Errorf("a plot:\n%.300s\n%s", dom, console)
	}
	if dom, console := open(around.URL); !strings.Contains(dom, "around") || !strings.Contains(console, "frame-ancestors") {
		t.Errorf("a frame around the page:\n%.300s\n%s", dom, console)
	}
}

// openInBrowser opens an address in headless Chromium and returns the document as it is when nothing happens in it any more, and the
// browser's log.
func openInBrowser(t *testing.T, browser, url string) (dom, console string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", url)
	var out, log strings.Builder
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", url, err, log.String())
	}
	return out.String(), log.String()
}

// visitor is what a person does on the reference: it searches, chooses a language, is refused, signs in, evaluates and asks for a job
// that is not there. What the person sees is put into attributes of the body.
const visitor = `
(async () => {
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
})();
`

// TestReferenceInABrowser: the reference is searched, and tried with a session of one's own, under its policy.
func TestReferenceInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium (Debian: chromium)")
	}
	s := apitest.Start(t, apitest.Options{})
	s.Clock.Pass(time.Since(s.Clock.Now())) // the browser judges by the real time when a cookie ends
	user := s.NewUser(t)
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	acts := strings.NewReplacer("EMAIL", user.Email, "PASSWORD", user.Password).Replace(visitor)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path != "/docs/reference.js" {
				return nil
			}
			script, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(script) + acts))
			r.Header.Del("Content-Length")
			r.ContentLength = -1
			return err
		},
	})
	defer proxy.Close()
	dom, console := openInBrowser(t, browser, proxy.URL+"/docs")
	body := dom[strings.Index(dom, "<body"):]
	body = html.UnescapeString(body[:strings.Index(body, ">\n")+1])
	for _, want := range []string{
		`data-found="2 of `, `data-shown="evaluate get-receipt"`, `data-languages="Python"`, `data-refused="POST /api/evaluate: 401, sign in above`, `data-session="signed in"`, `data-password=""`,
		`data-answer="POST /api/evaluate: 200 `, `"stdout": "<&>\n"`, `data-missing="GET /api/jobs/..%2Fx: 404 `, `data-history="GET /api/history?query=Print%5B%3C: 200 `,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the visitor does not see %s", want)
		}
	}
	if strings.Contains(console, "Content Security Policy") || strings.Contains(console, "Uncaught") || t.Failed() {
		for line := range strings.Lines(console) {
			if strings.Contains(line, "CONSOLE") {
				t.Log(line)
			}
		}
		t.Errorf("%s", body)
	}
}
