package readapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	open := func(url string) (dom, console string) {
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
