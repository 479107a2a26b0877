package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"reckon/domain/account"
	"reckon/internal/config"
	"reckon/projections"
	"reckon/readapi/operator"
)

// parkOne makes a folder with an account whose first event the read model tokens has parked, and returns the event's stream.
func parkOne(t *testing.T, data string) (stream string) {
	t.Helper()
	status, id, stderr := reckon(t, "correct horse battery\n", nil, "account", "create", "--init", "a@example.com", "--password-stdin", "--data", data)
	if status != 0 {
		t.Fatal(stderr)
	}
	if status, _, stderr := reckon(t, "", nil, "projections", "boot", "tokens", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	stream = account.Stream(strings.TrimSpace(id))
	db, err := projections.Open(t.Context(), "sqlite:"+filepath.Join(data, "readmodels.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projections.New(nil, nil).All() {
		if p.Name != "tokens" {
			continue
		}
		_, err = db.ExecContext(t.Context(), "INSERT INTO projection_parked (name, version, stream, revision, position, event_id, event_name, reason, parked_at) VALUES ('tokens', ?, ?, 0, 1, 'x', 'account.registered', 'a <b>\x1b[2Jreason', '2026-08-01 12:00:00')", p.Version, stream)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return stream
}

// operated serves the pages of a folder as `reckon operate` does.
func operated(t *testing.T, data string) (server *httptest.Server, link string) {
	t.Helper()
	server = httptest.NewUnstartedServer(nil)
	door, link := operator.NewDoor(server.Listener.Addr().String(), operator.Pages(operatorSource{installation{config.Installation{Data: data}}, make(chan struct{}, 1)}))
	server.Config.Handler = door
	server.Start()
	t.Cleanup(server.Close)
	return server, link
}

// ask sends a request with the given headers and returns the status, the answer's headers and its text.
func ask(t *testing.T, client *http.Client, method, address, form string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	if form != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range headers {
		if name == "Host" {
			request.Host = value
		}
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// TestOperatorsPagesRefuse: without the code, with a used one, by another name, from another origin and without the cookie a request
// learns and changes nothing, and no GET changes anything; the same requests are answered where all of that is right.
func TestOperatorsPagesRefuse(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stream := parkOne(t, data)
	server, link := operated(t, data)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	stranger, reader := &http.Client{CheckRedirect: stay}, &http.Client{CheckRedirect: stay, Jar: jar}
	refused := func(what string, want int, client *http.Client, method, address, form string, headers map[string]string) {
		t.Helper()
		response, body := ask(t, client, method, address, form, headers)
		if response.StatusCode != want || strings.Contains(body, stream) || len(response.Cookies()) > 0 {
			t.Errorf("%s: %s\n%s", what, response.Status, body)
		}
		h := response.Header
		if !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("Cache-Control") != "no-store" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", what, h)
		}
	}
	crossSite := map[string]string{"Sec-Fetch-Site": "cross-site"}
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	refused("no code", 401, stranger, "GET", server.URL+"/", "", nil)
	refused("a wrong code", 401, stranger, "GET", server.URL+"/?code=AAAAAAAAAAAAAAAAAAAAAAAAAA", "", nil)
	refused("an empty code", 401, stranger, "GET", server.URL+"/?code=", "", nil)
	refused("the code from another site", 403, stranger, "GET", link, "", crossSite)
	refused("the code by another name", 421, stranger, "GET", link, "", map[string]string{"Host": "rebound.example" + port})
	refused("the code by POST", 401, stranger, "POST", link, "", nil)

	response, _ := ask(t, reader, "GET", link, "", map[string]string{"Sec-Fetch-Site": "none"})
	to := response.Header.Get("Location")
	folder := strings.TrimSuffix(to, "/overview") + "/"
	if cookies := response.Cookies(); response.StatusCode != 303 || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Path != folder || len(cookies[0].Value) < 26 || len(folder) < 26 {
		t.Fatalf("%s, %v, %q", response.Status, cookies, to)
	}
	refused("the used code", 401, stranger, "GET", link, "", nil)
	refused("the used code, by its reader", 401, reader, "GET", link, "", nil)

	base := server.URL + folder
	drop := url.Values{"do": {"drop"}, "by": {"tokens"}, "stream": {stream}}.Encode()
	reading := []string{"overview", "log", "log?type=account.&kind=account&account=a@example.com", "stream?name=" + stream, "correlation?of=" + stream, "parked", "parked?by=tokens&stream=" + stream, "ask?do=retry&by=tokens", "ask?" + drop, "parked?" + drop}
	others := []struct {
		what    string
		status  int
		client  *http.Client
		headers map[string]string
	}{
		{"no cookie", 401, stranger, nil},
		{"another's cookie", 401, stranger, map[string]string{"Cookie": "reckon-operator=AAAAAAAAAAAAAAAAAAAAAAAAAA"}},
		{"the cookie of an account", 401, stranger, map[string]string{"Cookie": "reckon=AAAAAAAAAAAAAAAAAAAAAAAAAA", "Authorization": "Bearer x"}},
		{"DNS rebinding", 421, reader, map[string]string{"Host": "rebound.example" + port}},
		{"localhost, for which other cookies hold", 421, reader, map[string]string{"Host": "localhost" + port}},
		{"without the port", 421, reader, map[string]string{"Host": "127.0.0.1"}},
		{"another site", 403, reader, crossSite},
		{"another port of the machine", 403, reader, map[string]string{"Sec-Fetch-Site": "same-site"}},
	}
	for _, other := range others {
		for _, page := range reading {
			refused(other.what+": "+page, other.status, other.client, "GET", base+page, "", other.headers)
		}
		refused(other.what+": POST", other.status, other.client, "POST", base+"parked", drop, other.headers)
	}
	refused("POST of an old browser from another origin", 403, reader, "POST", base+"parked", drop, map[string]string{"Origin": "http://127.0.0.1:1"})
	refused("POST from nowhere", 403, reader, "POST", base+"parked", drop, map[string]string{"Origin": "null"})
	refused("another folder", 401, reader, "GET", server.URL+"/AAAAAAAAAAAAAAAAAAAAAAAAAA/log", "", nil)

	parked := func() bool {
		t.Helper()
		status, out, stderr := reckon(t, "", nil, "parked", "--data", data)
		if status > 1 {
			t.Fatal(stderr)
		}
		return strings.Contains(out, stream)
	}
	for _, page := range reading {
		for _, method := range []string{"GET", "HEAD"} {
			response, body := ask(t, reader, method, base+page, "", map[string]string{"Sec-Fetch-Site": "same-origin"})
			if response.StatusCode != 200 || strings.ContainsRune(body, '\x1b') || strings.Contains(body, "a <b>") {
				t.Errorf("%s %s: %s\n%s", method, page, response.Status, body)
			}
			if method == "GET" && page != "overview" && page != "ask?do=retry&by=tokens" && !strings.Contains(body, stream) {
				t.Errorf("%s does not show %s:\n%s", page, stream, body)
			}
		}
	}
	if !parked() {
		t.Fatal("something changed by what was refused, or by a GET")
	}

	for _, page := range []string{"overview", "log"} { // which would keep the log's files from a server that starts
		if response, body := ask(t, reader, "GET", base+page, "", map[string]string{"Sec-Fetch-Site": "same-origin", "HX-Request": "true"}); response.StatusCode != 503 || !strings.Contains(body, "no server runs") {
			t.Errorf("%s renews itself without a server: %s", page, response.Status)
		}
		if _, body := ask(t, reader, "GET", base+page, "", nil); strings.Contains(body, "data-refresh") || !strings.Contains(body, "No server runs") {
			t.Errorf("%s without a server:\n%s", page, body)
		}
	}

	own := map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": server.URL}
	for _, wrong := range []struct {
		method, page, form string
		status             int
	}{
		{"POST", "parked", "do=other", 400}, {"POST", "parked", "do=drop&by=tokens&stream=none", 404}, {"POST", "parked", "do=retry&by=none", 404},
		{"POST", "parked", "do=drop&stream=" + strings.Repeat("x", 3000), 400}, {"POST", "parked", "do=drop&by=" + strings.Repeat("x", 1<<20), 400},
		{"POST", "log", "x=1", 404}, {"GET", "none", "", 404}, {"GET", "log?type=nothing.like-this", "", 404}, {"GET", "stream?name=none", "", 404}, {"GET", "log?account=nobody@example.com", "", 404},
		{"GET", "stream?name=keys&from=-1", "", 400}, {"GET", "correlation?of=none", "", 404}, {"GET", "ask?do=other", "", 400}, {"GET", "ask?do=drop&by=none", "", 404},
	} {
		if response, body := ask(t, reader, wrong.method, base+wrong.page, wrong.form, own); response.StatusCode != wrong.status || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%s %s %.40s: %s, want %d\n%.2000s", wrong.method, wrong.page, wrong.form, response.Status, wrong.status, body)
		}
	}
	if response, body := ask(t, reader, "POST", base+"parked", drop, own); response.StatusCode != 303 || response.Header.Get("Location") != "parked" {
		t.Errorf("%s\n%s", response.Status, body)
	}
	if parked() {
		t.Error("it was not given up")
	}
}
