package httpkit_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/httpkit"
	"reckon/internal/httpserver"
	"reckon/internal/httpserver/httpservertest"
	"reckon/internal/ratelimit"
	"reckon/test/wait"
)

// open lets everyone in, but for routes that ask for a credential and requests without one.
type open struct{}

func (open) Authenticate(r *http.Request, rule access.Rule) (context.Context, error) {
	if rule.Who != access.Public && r.Header.Get("Authorization") == "" {
		return nil, httpkit.Unauthenticated.Problem("a credential is needed").WithHeader("WWW-Authenticate", "Bearer")
	}
	return r.Context(), nil
}

// rules are who may call the routes of these tests.
var rules = access.Table{
	"POST /echo": {Who: access.Public}, "POST /mine/echo": {Who: access.Scoped, Scope: scope.Evaluate}, "GET /items/{id}": {Who: access.Public},
	"GET /fail/{id}": {Who: access.Public}, "GET /public": {Who: access.Public}, "GET /mine": {Who: access.Scoped, Scope: scope.Evaluate}, "GET /file": {Who: access.Public}, "POST /upload": {Who: access.Public}, "POST /protocol": {Who: access.TokenOnly, Scope: scope.MCP, Undescribed: "a protocol"},
}

var errTyped = errors.New("a typed error with advice")

type echoInput struct {
	Body struct {
		Expression string   `json:"expression" minLength:"1"`
		Number     int64    `json:"number,omitempty"`
		Tags       []string `json:"tags,omitempty"`
		Password   string   `json:"password,omitempty" minLength:"8"`
	}
}

type echoOutput struct {
	Body struct {
		Echo string `json:"echo"`
		ID   string `json:"id"`
	}
}

// serve is a real server over the routes the tests need.
func serve(t *testing.T, settings httpkit.Settings) *httptest.Server {
	t.Helper()
	if settings.Logger == nil {
		settings.Logger = slog.New(slog.DiscardHandler)
	}
	settings.Authenticator, settings.Access = open{}, rules
	api := httpkit.New(settings)
	for _, path := range []string{"/echo", "/mine/echo"} {
		httpkit.Handle(api, httpkit.Route{
			Method: http.MethodPost, Path: path, ID: strings.ReplaceAll(path[1:], "/", "-"), Tag: "test",
			MissingFieldKinds: map[string]httpkit.Kind{"expression": httpkit.ExpressionRequired},
			MisnamedFields:    map[string]string{"input": "expression"},
		}, func(_ context.Context, in *echoInput) (*echoOutput, error) {
			out := &echoOutput{}
			out.Body.Echo, out.Body.ID = in.Body.Expression, fmt.Sprint(in.Body.Number)
			return out, nil
		})
	}
	type item struct {
		ID    string `path:"id"`
		Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
		Run   int64  `query:"run" maximum:"9007199254740991"`
	}
	httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: "/items/{id}", ID: "item", Tag: "test"},
		func(ctx context.Context, in *item) (*echoOutput, error) {
			out := &echoOutput{}
			out.Body.ID = in.ID
			out.Body.Echo = fmt.Sprintf("%d %s <&>", in.Limit, httpkit.RequestOf(ctx).Address)
			return out, nil
		})
	httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: "/fail/{id}", ID: "fail", Tag: "test",
		Errors: []httpkit.Mapping{{Err: errTyped, Kind: httpkit.TooManySessions}}},
		func(_ context.Context, in *item) (*struct{}, error) {
			switch in.ID {
			case "panic":
				panic("boom")
			case "typed":
				return nil, fmt.Errorf("outer: %w", errTyped)
			case "cancelled":
				return nil, fmt.Errorf("read: %w", context.Canceled)
			case "deadline":
				return nil, context.DeadlineExceeded
			case "saturated":
				return nil, httpkit.Saturated.Problem("one too many")
			case "unavailable":
				return nil, httpkit.Unavailable.Problem("the log is away")
			case "run":
				return nil, httpkit.BudgetExhausted.Problem("over").WithRun(12)
			}
			for _, kind := range httpkit.Kinds() {
				if kind.Code == in.ID {
					return nil, kind.Problem("as the test says")
				}
			}
			return nil, errors.New("secret detail")
		})
	httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: "/public", ID: "public", Tag: "test", PublicFor: 300 * time.Second},
		func(context.Context, *struct{}) (*echoOutput, error) { return &echoOutput{}, nil })
	httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: "/mine", ID: "mine", Tag: "test"},
		func(context.Context, *struct{}) (*echoOutput, error) { return &echoOutput{}, nil })
	httpkit.Handle(api, httpkit.Route{Method: http.MethodPost, Path: "/upload", ID: "upload", Tag: "test", UploadBytes: 100_000},
		func(ctx context.Context, _ *struct{}) (*echoOutput, error) {
			n, err := io.Copy(io.Discard, httpkit.Upload(ctx))
			if err != nil {
				return nil, err
			}
			out := &echoOutput{}
			out.Body.Echo = fmt.Sprint(n)
			return out, nil
		})
	addFile(api)
	return httpservertest.Start(t, api, httpserver.ClientLimits()).Server
}

type answer struct {
	status  int
	header  http.Header
	body    string
	problem httpkit.Problem
}

func ask(t *testing.T, server *httptest.Server, method, path, body string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequest(method, server.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = path // exactly as written: no cleaning, no re-encoding
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if i > 0 && headers[i] == headers[i-2] {
			request.Header.Add(headers[i], headers[i+1])
		} else {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	request.Host = request.Header.Get("Host")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: response.Header, body: string(content)}
	if response.Header.Get("Content-Type") == "application/problem+json" && method != http.MethodHead {
		if err := json.Unmarshal(content, &a.problem); err != nil {
			t.Fatalf("%v in %s", err, content)
		}
	}
	return a
}

func (a answer) want(t *testing.T, kind httpkit.Kind) {
	t.Helper()
	p := a.problem
	if a.status != kind.Status || p.Code != kind.Code || p.Status != kind.Status || p.Title != kind.Title {
		t.Fatalf("got %d %s, want %d %s", a.status, a.body, kind.Status, kind.Code)
	}
	if p.Detail == "" || p.Err != p.Detail || p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") || p.Type != "/docs/errors#"+kind.Code {
		t.Fatalf("incomplete problem %s", a.body)
	}
}

func TestStrictBodies(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for name, c := range map[string]struct {
		body   string
		kind   httpkit.Kind
		detail string
	}{
		"empty":             {" ", httpkit.BodyRequired, ""},
		"no expression":     {`{}`, httpkit.ExpressionRequired, "expression"},
		"empty expression":  {`{"expression":""}`, httpkit.ExpressionRequired, "expression"},
		"misnamed":          {`{"input":"1"}`, httpkit.UnknownField, `the field is "expression"`},
		"unknown":           {`{"expression":"1","zzz":1}`, httpkit.UnknownField, `"zzz"`},
		"unknown, needed":   {`{"expr":"1"}`, httpkit.UnknownField, `it needs the field "expression"`},
		"key casing":        {`{"Expression":"1"}`, httpkit.UnknownField, `"Expression"`},
		"number for string": {`{"expression":1}`, httpkit.InvalidRequest, "body.expression"},
		"string for number": {`{"expression":"1","number":"1"}`, httpkit.InvalidRequest, "body.number"},
		"fraction":          {`{"expression":"1","number":1.5}`, httpkit.InvalidRequest, "number"},
		"huge number":       {`{"expression":"1","number":1e400}`, httpkit.InvalidRequest, ""},
		"object for string": {`{"expression":{}}`, httpkit.InvalidRequest, "body.expression"},
		"null expression":   {`{"expression":null}`, httpkit.InvalidRequest, "body.expression"},
		"array body":        {`[]`, httpkit.InvalidRequest, ""},
		"null body":         {`null`, httpkit.InvalidRequest, ""},
		"string body":       {`"x"`, httpkit.InvalidRequest, ""},
		"cut short":         {`{"expression":"1"`, httpkit.InvalidJSON, ""},
		"trailing":          {`{"expression":"1"} x`, httpkit.InvalidJSON, ""},
		"two values":        {`{"expression":"1"}{"expression":"2"}`, httpkit.InvalidJSON, ""},
		"twice":             {`{"expression":"1","expression":"2"}`, httpkit.InvalidJSON, `"expression" stands twice`},
		"twice, escaped":    {`{"expression":"1","expressio\u006e":"2"}`, httpkit.InvalidJSON, "twice"},
		"twice, inner":      {`{"expression":"1","tags":[{"a":1,"a":2}]}`, httpkit.InvalidJSON, "twice"},
		"not UTF-8":         {"{\"expression\":\"\xff\"}", httpkit.InvalidJSON, "UTF-8"},
		"overlong UTF-8":    {"{\"expression\":\"\xc0\xaf\"}", httpkit.InvalidJSON, "UTF-8"},
		"raw surrogate":     {"{\"expression\":\"\xed\xa0\x80\"}", httpkit.InvalidJSON, "UTF-8"},
		"BOM":               {"\xef\xbb\xbf{\"expression\":\"1\"}", httpkit.InvalidJSON, "byte order mark"},
		"high surrogate":    {`{"expression":"\ud800"}`, httpkit.InvalidJSON, "surrogate"},
		"two high":          {`{"expression":"\ud800\ud800"}`, httpkit.InvalidJSON, "surrogate"},
		"low surrogate":     {`{"expression":"a\udc00"}`, httpkit.InvalidJSON, "surrogate"},
		"surrogate key":     {`{"\ud800":"1"}`, httpkit.InvalidJSON, "surrogate"},
		"NUL":               {`{"expression":"\u0000"}`, httpkit.InvalidJSON, `\u0000`},
		"nested":            {strings.Repeat("[", 100_000), httpkit.InvalidJSON, ""},
		"nested, closed":    {strings.Repeat("[", 65) + strings.Repeat("]", 65), httpkit.InvalidJSON, "64 levels"},
		"nested in field":   {`{"expression":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + "}", httpkit.InvalidJSON, ""},
		"too large":         {`{"expression":"` + strings.Repeat("x", 2_000_000) + `"}`, httpkit.TooLarge, "1048576"},
		"one byte over":     {`{"expression":"` + strings.Repeat("x", httpkit.MaxJSONBytes-16) + `"}`, httpkit.TooLarge, ""},
		"not JSON":          {`expression=1`, httpkit.InvalidJSON, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, server, http.MethodPost, "/mine/echo", c.body, "Authorization", "x")
			a.want(t, c.kind)
			if !strings.Contains(a.problem.Detail, c.detail) {
				t.Errorf("detail %q does not say %q", a.problem.Detail, c.detail)
			}
		})
	}
}

func TestBodiesThatAreFine(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for _, c := range []struct{ body, want string }{
		{`{"expression":"\ud83d\ude00 \\ud800 <&>"}`, "😀 \\ud800 <&>"},
		{` {"expression" : "\\u0000\"", "tags":["a","a"], "number":9007199254740993 } ` + "\n", `\u0000"`},
		{`{"expression":"` + strings.Repeat("x", httpkit.MaxJSONBytes-17) + `"}`, strings.Repeat("x", httpkit.MaxJSONBytes-17)},
	} {
		a := ask(t, server, http.MethodPost, "/mine/echo", c.body, "Authorization", "x", "Content-Type", "application/json; charset=UTF-8")
		var got struct{ Echo string }
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Echo != c.want {
			t.Errorf("%.60s: %d %.80s", c.body, a.status, a.body)
		}
		if strings.Contains(a.body, `\u003c`) || strings.Contains(a.body, "$schema") || a.header.Get("Link") != "" {
			t.Errorf("decorated answer: %v %.80s", a.header, a.body)
		}
	}
}

// TestIntegersInEveryNotation: JSON knows one kind of number (RFC 8259 §6).
func TestIntegersInEveryNotation(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for number, want := range map[string]string{
		"1.0": "1", "1e3": "1000", "1E+3": "1000", "-12.50e1": "-125", "1000e-3": "1", "0.0": "0", "-0.0e9": "0", "0e99999": "0", "9007199254740993.0": "9007199254740993",
		"9.223372036854775807e18": "9223372036854775807", "-9223372036854775808": "-9223372036854775808",
	} {
		a := ask(t, server, http.MethodPost, "/mine/echo", `{"expression":"1.0 e \\\"2e3\\", "number": `+number+`}`, "Authorization", "x")
		var got struct{ Echo, ID string }
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.ID != want || got.Echo != `1.0 e \"2e3\` {
			t.Errorf("%s: %d %s, want %s", number, a.status, a.body, want)
		}
	}
	for _, number := range []string{"1.5", "1e-3", "1e19", "1e30", "1e400", "9223372036854775808", "1e-99999999999999999999", "1e99999999999999999999", "0.1e-5"} {
		a := ask(t, server, http.MethodPost, "/mine/echo", `{"expression":"1","number":`+number+`}`, "Authorization", "x")
		a.want(t, httpkit.InvalidRequest)
		if strings.Contains(a.body, "json:") || strings.Contains(a.body, "Go ") || strings.Contains(a.body, "int64") {
			t.Errorf("%s: %s", number, a.body)
		}
	}
}

func TestBoundsAreWrittenAsIntegers(t *testing.T) {
	t.Parallel()
	a := ask(t, serve(t, httpkit.Settings{}), http.MethodGet, "/items/x?run=9007199254740993", "")
	a.want(t, httpkit.InvalidParameter)
	if !strings.Contains(a.body, "<= 9007199254740991") {
		t.Errorf("%s", a.body)
	}
}

// TestPublicBodiesAreSmall: nobody without a credential makes the service hold a megabyte.
func TestPublicBodiesAreSmall(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	body := func(n int) string { return `{"expression":"` + strings.Repeat("x", n-len(`{"expression":""}`)) + `"}` }
	ask(t, server, http.MethodPost, "/echo", body(64<<10+1)).want(t, httpkit.TooLarge)
	if a := ask(t, server, http.MethodPost, "/echo", body(64<<10)); a.status != http.StatusOK {
		t.Errorf("%d %.200s", a.status, a.body)
	}
	if a := ask(t, server, http.MethodPost, "/mine/echo", body(64<<10+1), "Authorization", "x"); a.status != http.StatusOK {
		t.Errorf("%d %.200s", a.status, a.body)
	}
}

func TestPasswordIsNotEchoed(t *testing.T) {
	t.Parallel()
	a := ask(t, serve(t, httpkit.Settings{}), http.MethodPost, "/echo", `{"password":"hunter2"}`)
	a.want(t, httpkit.ExpressionRequired)
	if len(a.problem.Errors) != 2 || strings.Contains(a.body, "hunter2") {
		t.Errorf("%s", a.body)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for _, headers := range [][]string{
		{"Content-Type", "text/plain"}, {"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Type", "application/json; charset=latin1"},
		{"Content-Type", "application/merge-patch+json"}, {"Content-Type", ";;"}, {"Content-Type", ""}, {"Content-Encoding", "gzip"}, {"Content-Encoding", "identity, gzip"},
	} {
		ask(t, server, http.MethodPost, "/echo", `{"expression":"1"}`, headers...).want(t, httpkit.NotJSON)
	}
}

// TestMediaTypesHaveNoCase: RFC 9110 section 8.3.1.
func TestMediaTypesHaveNoCase(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for _, media := range []string{"Application/JSON", "APPLICATION/JSON; Charset=utf-8", "application/json;charset=\"UTF-8\""} {
		if a := ask(t, server, http.MethodPost, "/echo", `{"expression":"1"}`, "Content-Type", media); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", media, a.status, a.body)
		}
	}
}

// TestRefusalsAreInOwnWords: whole sentences, and nothing of the language that the service is written in.
func TestRefusalsAreInOwnWords(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for _, body := range []string{`{"expression":NaN}`, `{"expression":"1`, "{\"expression\":\"1\x01\"}", "\xff\xfe{\x00", `{"a":01}`, `{'a':1}`, `{"a":"\q"}`, `{"a" 1}`, `tru`, `]`, `{"a":1}}`, `{"a":-}`} {
		a := ask(t, server, http.MethodPost, "/echo", body)
		a.want(t, httpkit.InvalidJSON)
		if detail := a.problem.Detail; strings.Contains(detail, "EOF") || strings.Contains(detail, "invalid") || strings.Contains(detail, `\x`) || strings.Contains(detail, "…") {
			t.Errorf("%s: %s", body, detail)
		}
	}
	for _, query := range []string{"limit=%zz", "limit=1;drop", "a=%"} {
		if a := ask(t, server, http.MethodGet, "/items/a?"+query, ""); strings.Contains(a.problem.Detail, "invalid") {
			t.Errorf("%s: %s", query, a.problem.Detail)
		}
	}
}

// TestIdentityIsNoEncoding: RFC 9110 §12.5.3.
func TestIdentityIsNoEncoding(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for _, encoding := range []string{"identity", "Identity", " identity "} {
		if a := ask(t, server, http.MethodPost, "/echo", `{"expression":"1"}`, "Content-Encoding", encoding); a.status != http.StatusOK {
			t.Errorf("%q: %d %s", encoding, a.status, a.body)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for path, id := range map[string]string{
		"/items/a%20b": "a b", "/items/a%2Fb": "a/b", "/items/%252F": "%2F", "/items/..%2F..%2Fetc%2Fpasswd": "../../etc/passwd",
		"/items/1'%20OR%20'1'='1": "1' OR '1'='1", "/items/a+b": "a+b", "/items/%C3%A9": "é", "/items/x?cachebuster=1": "x",
	} {
		a := ask(t, server, http.MethodGet, path, "")
		var got struct{ ID string }
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 || got.ID != id {
			t.Errorf("%s: %d %s, want id %q", path, a.status, a.body, id)
		}
	}
	for path, kind := range map[string]httpkit.Kind{
		"/nothing": httpkit.NoSuchRoute, "/items/a/": httpkit.NoSuchRoute, "//items/a": httpkit.NoSuchRoute, "/items/../items/a": httpkit.NoSuchRoute,
		"/items/a/b": httpkit.NoSuchRoute, "/": httpkit.NoSuchRoute, "/ITEMS/a": httpkit.NoSuchRoute,
		"/items/%ff": httpkit.InvalidParameter, "/items/a%00b": httpkit.InvalidParameter, "/mine?zzz=1": httpkit.InvalidParameter,
		"/items/a?limit=x": httpkit.InvalidParameter, "/items/a?limit=0": httpkit.InvalidParameter, "/items/a?limit=201": httpkit.InvalidParameter,
		"/items/a?limit=": httpkit.InvalidParameter, "/items/a?limit": httpkit.InvalidParameter, "/items/a?limit=1&limit=2": httpkit.InvalidParameter, "/items/a?limit=1;drop": httpkit.InvalidParameter, "/items/a?limit=%ff": httpkit.InvalidParameter,
		"/items/a?limit=%00": httpkit.InvalidParameter, "/items/a?limit=%zz": httpkit.InvalidParameter, "/items/a?limit=99999999999999999999": httpkit.InvalidParameter,
		"/items/a?limit=1%20UNION%20SELECT%201": httpkit.InvalidParameter,
	} {
		t.Run(path, func(t *testing.T) {
			ask(t, server, http.MethodGet, path, "", "Authorization", "Bearer x").want(t, kind)
		})
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	a := ask(t, server, http.MethodDelete, "/items/a", "")
	a.want(t, httpkit.MethodRefused)
	if a.header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("Allow: %q", a.header.Get("Allow"))
	}
	if a := ask(t, server, http.MethodOptions, "/echo", ""); a.status != 204 || a.header.Get("Allow") != "OPTIONS, POST" {
		t.Errorf("%d %v", a.status, a.header)
	}
	get, head := ask(t, server, http.MethodGet, "/items/a", ""), ask(t, server, http.MethodHead, "/items/a", "")
	if head.status != 200 || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
		t.Errorf("HEAD: %d %v %q", head.status, head.header, head.body)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	ask(t, server, http.MethodGet, "/fail/panic", "").want(t, httpkit.Internal)
	ask(t, server, http.MethodGet, "/fail/typed", "").want(t, httpkit.TooManySessions)
	a := ask(t, server, http.MethodGet, "/fail/deadline", "")
	a.want(t, httpkit.Unavailable)
	if a.header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	ask(t, server, http.MethodGet, "/fail/cancelled", "").want(t, httpkit.Cancelled)
	a = ask(t, server, http.MethodGet, "/fail/other", "")
	a.want(t, httpkit.Internal)
	if strings.Contains(a.body, "secret") {
		t.Error("an internal error's text was served")
	}
	a = ask(t, server, http.MethodGet, "/fail/run", "")
	a.want(t, httpkit.BudgetExhausted)
	if a.problem.RunID == nil || *a.problem.RunID != 12 {
		t.Errorf("%s", a.body)
	}
}

// TestAPartThatWasCalledOffIsNotAway: what a part says to a request that nobody waits for is no outage.
func TestAPartThatWasCalledOffIsNotAway(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	away := httpkit.Unavailable.Problem("the event log is unavailable")
	if got := httpkit.TranslateFor(gone, away, nil); got.Code != httpkit.Unavailable.Code {
		t.Errorf("while it waits: %+v", got)
	}
	leave()
	if got := httpkit.TranslateFor(gone, away, nil); got.Code != httpkit.Cancelled.Code {
		t.Errorf("when it has gone: %+v", got)
	}
	taken := httpkit.EmailTaken.Problem("taken")
	if got := httpkit.TranslateFor(gone, taken, nil); got != taken {
		t.Errorf("a refusal: %+v", got)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for _, path := range []string{"/items/a", "/nothing", "/fail/panic", "/items/%ff"} {
		h := ask(t, server, http.MethodGet, path, "", "X-Request-Id", "my-id.1").header
		if h.Get("X-Request-Id") != "my-id.1" || h.Get("API-Version") != httpkit.Version || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cross-Origin-Opener-Policy") != "same-origin" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
	if id := ask(t, server, http.MethodGet, "/items/a", "", "X-Request-Id", "bad id\"").header.Get("X-Request-Id"); len(id) != 36 {
		t.Errorf("foreign request id kept: %q", id)
	}
	ask(t, server, http.MethodGet, "/items/a", "", "API-Version", "2025-01").want(t, httpkit.UnsupportedVersion)
	if a := ask(t, server, http.MethodGet, "/items/a", "", "API-Version", httpkit.Version); a.status != 200 {
		t.Errorf("own version refused: %s", a.body)
	}
}

func TestPublicAnswers(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	a := ask(t, server, http.MethodGet, "/public", "", "Origin", "https://elsewhere.example")
	etag := a.header.Get("ETag")
	if a.status != 200 || etag == "" || a.header.Get("Cache-Control") != "public, max-age=300" || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	for _, header := range []string{etag, `"x", W/` + etag, "*"} {
		if again := ask(t, server, http.MethodGet, "/public", "", "If-None-Match", header); again.status != 304 || again.body != "" {
			t.Errorf("If-None-Match %s: %d %q", header, again.status, again.body)
		}
	}
	if again := ask(t, server, http.MethodGet, "/public", "", "If-None-Match", `"other"`); again.status != 200 {
		t.Errorf("%d", again.status)
	}
	if head := ask(t, server, http.MethodHead, "/public", ""); head.header.Get("ETag") != etag || head.body != "" {
		t.Errorf("HEAD: %v", head.header)
	}
}

func TestCrossOriginWrites(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	body := `{"expression":"1"}`
	ask(t, server, http.MethodPost, "/echo", body, "Sec-Fetch-Site", "cross-site").want(t, httpkit.CrossOrigin)
	ask(t, server, http.MethodPost, "/echo", body, "Origin", "https://evil.example").want(t, httpkit.CrossOrigin)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "same-origin"}, {}, {"Origin", server.URL},
		{"Sec-Fetch-Site", "cross-site", "Authorization", "Bearer x"},
	} {
		if a := ask(t, server, http.MethodPost, "/echo", body, headers...); a.status != 200 {
			t.Errorf("%v: %d %s", headers, a.status, a.body)
		}
	}
	if a := ask(t, server, http.MethodGet, "/items/a", "", "Sec-Fetch-Site", "cross-site"); a.status != 200 {
		t.Errorf("a read was refused: %s", a.body)
	}
	const own = "reckon.example"
	public, proxied := serve(t, httpkit.Settings{PublicURL: "https://" + own}), serve(t, httpkit.Settings{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, c := range []struct {
		server *httptest.Server
		right  bool
		header []string
	}{
		{public, true, []string{"Host", own, "Origin", "https://reckon.example"}},
		{public, true, []string{"Host", "inside:8080", "Origin", "https://reckon.example"}},
		{public, false, []string{"Host", own, "Origin", "http://reckon.example"}},
		{public, false, []string{"Host", "evil.example", "Origin", "https://evil.example"}},
		{public, false, []string{"Host", "evil.example", "Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"}},
		{public, false, []string{"Host", own, "Origin", "https://reckon.example:8443"}},
		{proxied, true, []string{"Host", own, "Origin", "https://reckon.example", "X-Forwarded-Proto", "https"}},
		{proxied, false, []string{"Host", own, "Origin", "http://reckon.example", "X-Forwarded-Proto", "https"}},
		{server, true, []string{"Host", own, "Origin", "http://reckon.example"}},
		{server, true, []string{"Host", own, "Origin", "https://reckon.example"}},
		{server, false, []string{"Host", own, "Origin", "ftp://reckon.example"}},
	} {
		if a := ask(t, c.server, http.MethodPost, "/echo", body, c.header...); a.status != 200 && a.status != 403 || (a.status == 200) != c.right {
			t.Errorf("%v: %d %s", c.header, a.status, a.body)
		}
	}
}

func TestCredentialComesBeforeBody(t *testing.T) {
	t.Parallel()
	a := ask(t, serve(t, httpkit.Settings{}), http.MethodGet, "/mine", "")
	a.want(t, httpkit.Unauthenticated)
	if a.header.Get("WWW-Authenticate") == "" {
		t.Error("401 without WWW-Authenticate")
	}
}

func TestUploadIsStreamedAndBounded(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	if a := ask(t, server, http.MethodPost, "/upload", strings.Repeat("x", 100_000), "Content-Type", "application/x-ndjson"); !strings.Contains(a.body, `"100000"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	ask(t, server, http.MethodPost, "/upload", strings.Repeat("x", 100_001)).want(t, httpkit.TooLarge)
	ask(t, server, http.MethodPost, "/upload", strings.Repeat("x", 2_000_000)).want(t, httpkit.TooLarge)
}

// TestWhoStillSendsReadsTheRefusal: a client that reads nothing before it has sent all, at the pace of its line.
func TestWhoStillSendsReadsTheRefusal(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	const chunk, chunks = 1 << 20, 40
	for _, form := range []struct{ head, before, after, end string }{
		{head: fmt.Sprintf("Content-Length: %d", chunk*chunks)},
		{"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n", chunk), "\r\n", "0\r\n\r\n"},
	} {
		conn := dialled(t, server, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"+form.head+"\r\n\r\n")
		for range chunks {
			if _, err := io.WriteString(conn, form.before+strings.Repeat("x", chunk)+form.after); err != nil {
				t.Fatalf("%s: %v", form.head, err)
			}
			wait.Pace(75 * time.Millisecond) // 3 s in all
		}
		_, _ = io.WriteString(conn, form.end)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || response.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v %v", form.head, response, err)
		}
	}
}

func TestExpectContinueIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatalf("%v %v", response, err)
	}
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	address := func(settings httpkit.Settings, headers ...string) string {
		a := ask(t, serve(t, settings), http.MethodGet, "/items/a", "", headers...)
		return strings.Fields(a.body)[1]
	}
	proxied := httpkit.Settings{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}}
	for _, c := range []struct {
		settings  httpkit.Settings
		forwarded string
		want      string
	}{
		{httpkit.Settings{}, "1.2.3.4", "127.0.0.1"},
		{proxied, "1.2.3.4", "1.2.3.4"},
		{proxied, "6.6.6.6, 1.2.3.4, 10.0.0.1", "1.2.3.4"},
		{proxied, "1.2.3.4, nonsense", "127.0.0.1"},
		{proxied, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{proxied, "::ffff:1.2.3.4", "1.2.3.4"},
	} {
		if got := address(c.settings, "X-Forwarded-For", c.forwarded); got != c.want {
			t.Errorf("%q: %s, want %s", c.forwarded, got, c.want)
		}
	}
}

func TestSetRateLimit(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	httpkit.SetRateLimit(h, ratelimit.Allowance{Limit: 20, Remaining: 3, ResetAt: time.UnixMilli(1_000_500)})
	if h.Get("X-RateLimit-Limit") != "20" || h.Get("X-RateLimit-Remaining") != "3" || h.Get("X-RateLimit-Reset") != "1001" {
		t.Errorf("%v", h)
	}
}

func TestConsistencyToken(t *testing.T) {
	t.Parallel()
	want := httpkit.ConsistencyToken{Log: "5b1c7f0e-51b6-4f0c-9a64-2f8d1f5a7e11", Position: event.Position{Commit: 1 << 63, Prepare: 7}}
	got, err := httpkit.ParseConsistencyToken(want.String())
	if err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{"", "x", "AAAA", want.String() + "=", strings.Repeat("A", 400), "!!"} {
		if _, err := httpkit.ParseConsistencyToken(bad); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestWritesRemembersTheLatest(t *testing.T) {
	t.Parallel()
	w := httpkit.NewAccountWrites()
	at := func(n uint64) event.Position { return event.Position{Commit: n, Prepare: n} }
	w.RecordWrite("a", at(5))
	w.RecordWrite("a", at(3))
	for i := range 30_000 {
		w.RecordWrite(fmt.Sprint(i), at(1))
	}
	if w.LastWrite("a") != at(5) || w.LastWrite("29999") != at(1) || w.LastWrite("nobody") != (event.Position{}) {
		t.Error(w.LastWrite("a"), w.LastWrite("29999"))
	}
}

func TestKindsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range httpkit.Kinds() {
		if seen[kind.Code] || kind.Code == "" || kind.Title == "" || kind.Help == "" || kind.Status < 400 {
			t.Errorf("%+v", kind)
		}
		seen[kind.Code] = true
	}
}

func TestDescriptionIsDeterministic(t *testing.T) {
	t.Parallel()
	describe := func() []byte {
		api := httpkit.New(httpkit.Settings{Logger: slog.New(slog.DiscardHandler), Authenticator: open{}, Access: rules})
		httpkit.Handle(api, httpkit.Route{Method: http.MethodPost, Path: "/echo", ID: "echo", Tag: "test", Limit: &httpkit.Limit{Allowance: func(context.Context) (ratelimit.Allowance, error) {
			return ratelimit.Allowance{Limit: 20, Remaining: 7, ResetAt: time.Unix(1_800_000_000, 0)}, nil
		}, Exceeded: httpkit.RateLimited}},
			func(context.Context, *echoInput) (*echoOutput, error) { return nil, nil })
		description, err := api.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		return description
	}
	first := describe()
	if !bytes.Equal(first, describe()) {
		t.Error("two descriptions of one API differ")
	}
	for _, want := range []string{`"openapi": "3.1.0"`, `"Problem"`, "application/problem+json", "X-RateLimit-Limit", "`rate_limited`"} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("no %s in %s", want, first)
		}
	}
	if bytes.Contains(first, []byte(`"422"`)) {
		t.Error("validation is described as 422")
	}
}

// TestALimitThatCannotBeLookedUpIsTheAnswer: the handler, which counts in the same place, is not called to wait for it a second time.
func TestALimitThatCannotBeLookedUpIsTheAnswer(t *testing.T) {
	t.Parallel()
	errAway := errors.New("the counts cannot be reached")
	api := httpkit.New(httpkit.Settings{Logger: slog.New(slog.DiscardHandler), Authenticator: open{}, Access: rules})
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodPost, Path: "/echo", ID: "echo", Tag: "test", Errors: []httpkit.Mapping{{Err: errAway, Kind: httpkit.Unavailable}},
		Limit: &httpkit.Limit{Exceeded: httpkit.RateLimited, Allowance: func(context.Context) (ratelimit.Allowance, error) { return ratelimit.Allowance{}, errAway }},
	}, func(context.Context, *echoInput) (*echoOutput, error) {
		t.Error("the handler was called")
		return nil, errAway
	})
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/echo", strings.NewReader(`{"expression":"1"}`))
	request.Header.Set("Content-Type", "application/json")
	api.ServeHTTP(answer, request)
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), errAway.Error()) {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// TestPublicURLDecidesAboutTLS: behind a proxy that says nothing, or that nobody trusts, the public address alone tells.
func TestPublicURLDecidesAboutTLS(t *testing.T) {
	t.Parallel()
	for publicURL, want := range map[string]string{"https://reckon.example": "max-age=31536000", "http://reckon.example": "", "": ""} {
		server := serve(t, httpkit.Settings{PublicURL: publicURL})
		for _, headers := range [][]string{{}, {"X-Forwarded-Proto", "http"}, {"X-Forwarded-Proto", "https"}} {
			for _, path := range []string{"/items/a", "/nowhere", "/mine", "/public"} {
				if got := ask(t, server, http.MethodGet, path, "", headers...).header.Get("Strict-Transport-Security"); got != want {
					t.Errorf("%q %v %s: HSTS %q, want %q", publicURL, headers, path, got, want)
				}
			}
		}
	}
}

// TestOwnOriginBehindAProxy: a browser that sends no Sec-Fetch-Site, and a proxy that rewrites Host.
func TestOwnOriginBehindAProxy(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{PublicURL: "https://reckon.example"})
	if a := ask(t, server, http.MethodPost, "/echo", `{"expression":"1"}`, "Origin", "https://reckon.example"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, origin := range []string{"http://reckon.example", "https://evil.example", "https://reckon.example.evil.example", "null"} {
		ask(t, server, http.MethodPost, "/echo", `{"expression":"1"}`, "Origin", origin).want(t, httpkit.CrossOrigin)
	}
}

// TestForwardedHeadersOfStrangers are worth one line each, with the remedy, and never a flood.
func TestForwardedHeadersOfStrangers(t *testing.T) {
	t.Parallel()
	warned := func(settings httpkit.Settings, headers ...string) string {
		var log bytes.Buffer
		settings.Logger = slog.New(slog.NewTextHandler(&log, nil))
		server := serve(t, settings)
		for range 20 {
			ask(t, server, http.MethodGet, "/items/a", "", headers...)
		}
		server.Close()
		return log.String()
	}
	for _, header := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Real-IP"} {
		if said := warned(httpkit.Settings{}, header, "x"); strings.Count(said, "\n") != 1 || !strings.Contains(said, "--trusted-proxies 127.0.0.1/32") {
			t.Errorf("%s: %q", header, said)
		}
	}
	if said := warned(httpkit.Settings{}); said != "" {
		t.Errorf("%q", said)
	}
	if said := warned(httpkit.Settings{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, "X-Forwarded-For", "1.2.3.4"); said != "" {
		t.Errorf("%q", said)
	}
}

// TestLevelsOfProblems: whoever asks a lot, or has no elaboration here, cannot fill the log; what is wrong with the service is in it, at the level of
// who mends it. Nothing but the service's own fault is an error.
func TestLevelsOfProblems(t *testing.T) {
	t.Parallel()
	levels := map[string]string{httpkit.Internal.Code: "ERROR", httpkit.Unavailable.Code: "WARN", httpkit.NoElaboration.Code: "INFO", "other": "ERROR"}
	for _, kind := range httpkit.Kinds() {
		if _, given := levels[kind.Code]; !given {
			levels[kind.Code] = "" // no line
		}
	}
	for id, level := range levels {
		var log bytes.Buffer
		server := serve(t, httpkit.Settings{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ask(t, server, http.MethodGet, "/fail/"+id, "")
		server.Close()
		if said := log.String(); strings.Count(said, "request failed") != min(len(level), 1) || !strings.Contains(said, level) {
			t.Errorf("%s: %q", id, said)
		}
	}
}

func TestWarningsAboutStrangersAreBounded(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	api := httpkit.New(httpkit.Settings{Logger: slog.New(slog.NewTextHandler(&log, nil)), Authenticator: open{}, Access: rules})
	for i := range 1000 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", i/256, i%256)
		r.Header.Set("X-Forwarded-For", "1.2.3.4")
		api.ServeHTTP(httptest.NewRecorder(), r)
	}
	if lines := strings.Count(log.String(), "--trusted-proxies 10.0"); lines != 8 {
		t.Errorf("%d lines", lines)
	}
}

// TestAmbiguousRequestsAreProblems: the refusal is an answer like others, and ends the connection.
func TestAmbiguousRequestsAreProblems(t *testing.T) {
	t.Parallel()
	server := serve(t, httpkit.Settings{})
	for _, path := range []string{"/echo", "/mine", "/nowhere", "/upload"} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /public HTTP/1.1\r\nHost: x\r\n\r\n", path)
		all, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(all)), nil)
		if err != nil || response.StatusCode != http.StatusBadRequest || !response.Close || !strings.Contains(string(all), `"code":"ambiguous_request"`) || strings.Count(string(all), "HTTP/1.1") != 1 ||
			response.Header.Get("X-Request-Id") == "" || response.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %v\n%s", path, err, all)
		}
		_ = conn.Close()
	}
}

// dialled is a connection on which bytes were sent as they are written.
func dialled(t *testing.T, server *httptest.Server, bytes string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, bytes); err != nil {
		t.Fatal(err)
	}
	return conn
}

// exchange sends a request as it is written and returns the answer to it.
func exchange(t *testing.T, server *httptest.Server, request string) answer {
	t.Helper()
	conn := dialled(t, server, request)
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: response.Header, body: string(content)}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &a.problem); err != nil {
			t.Fatalf("%v in %q", err, content)
		}
	}
	return a
}

// TestWhatNetHTTPRefusesIsAProblem: requests that no handler sees are answered as all others are.
func TestWhatNetHTTPRefusesIsAProblem(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server := serve(t, httpkit.Settings{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	const get, host, post = "GET /items/a HTTP/1.1\r\n", "Host: x\r\n", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	for name, c := range map[string]struct {
		request string
		kind    httpkit.Kind
		detail  string
	}{
		"unknown expectation":     {get + host + "Expect: foo\r\n\r\n", httpkit.ExpectationFailed, "100-continue"},
		"expectation of a POST":   {post + "Expect: foo\r\nContent-Length: 2\r\n\r\n{}", httpkit.ExpectationFailed, ""},
		"bad escape in a path":    {"GET /items/%zz HTTP/1.1\r\n" + host + "\r\n", httpkit.InvalidParameter, `"%zz"`},
		"bare percent":            {"GET /% HTTP/1.1\r\n" + host + "\r\n", httpkit.InvalidParameter, `"%"`},
		"no Host":                 {get + "\r\n", httpkit.MalformedRequest, ""},
		"two Hosts":               {get + host + host + "\r\n", httpkit.MalformedRequest, ""},
		"bad Host":                {get + "Host: a b\r\n\r\n", httpkit.MalformedRequest, ""},
		"control character":       {get + host + "X: a\x01b\r\n\r\n", httpkit.MalformedRequest, ""},
		"bad name":                {get + host + "X y: a\r\n\r\n", httpkit.MalformedRequest, ""},
		"bad first line":          {"GET\r\n" + host + "\r\n", httpkit.MalformedRequest, ""},
		"bad method":              {"G(T / HTTP/1.1\r\n" + host + "\r\n", httpkit.MalformedRequest, ""},
		"HTTP/2.0":                {"GET / HTTP/2.0\r\n" + host + "\r\n", httpkit.UnsupportedHTTP, ""},
		"Transfer-Encoding: gzip": {post + "Transfer-Encoding: gzip\r\n\r\n", httpkit.UnknownCoding, ""},
		"xchunked":                {post + "Transfer-Encoding: xchunked\r\n\r\n", httpkit.UnknownCoding, ""},
		"large headers":           {get + host + "X: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", httpkit.HeadersTooLarge, "65536"},
		"two Content-Lengths":     {post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", httpkit.AmbiguousRequest, "twice"},
		"a list of them":          {post + "Content-Length: 2, 2\r\n\r\n{}", httpkit.AmbiguousRequest, "one decimal number"},
		"Content-Length: +2":      {post + "Content-Length: +2\r\n\r\n{}", httpkit.AmbiguousRequest, "one decimal number"},
		"Content-Length: -1":      {post + "Content-Length: -1\r\n\r\n{}", httpkit.AmbiguousRequest, "one decimal number"},
		"Content-Length: 0x2":     {post + "Content-Length: 0x2\r\n\r\n{}", httpkit.AmbiguousRequest, "one decimal number"},
		"after an answered one":   {get + host + "\r\n" + "GET /% HTTP/1.1\r\n" + host + "\r\n", httpkit.InvalidParameter, `"%"`},
		"after an answered POST":  {post + "Content-Length: 18\r\n\r\n" + `{"expression":"1"}` + get + host + "Expect: foo\r\n\r\n", httpkit.ExpectationFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := exchange(t, server, c.request)
			if strings.HasPrefix(name, "after") {
				a = secondAnswer(t, server, c.request)
			}
			a.want(t, c.kind)
			if !strings.Contains(a.problem.Detail, c.detail) {
				t.Error(a.problem.Detail)
			}
			for header, want := range map[string]string{
				"Content-Type": "application/problem+json", "Api-Version": httpkit.Version, "Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			} {
				if got := a.header.Get(header); got != want {
					t.Errorf("%s: %q, want %q", header, got, want)
				}
			}
		})
	}
	if a := exchange(t, server, "HEAD /% HTTP/1.1\r\nHost: x\r\n\r\n"); a.status != http.StatusBadRequest || a.body != "" {
		t.Errorf("%d %q", a.status, a.body)
	}
	server.Close()
	if log.Len() > 0 { // whatever a stranger sends
		t.Errorf("logged: %s", &log)
	}
}

// secondAnswer sends two requests at once and returns the answer to the second.
func secondAnswer(t *testing.T, server *httptest.Server, requests string) answer {
	t.Helper()
	conn := dialled(t, server, requests)
	reader := bufio.NewReader(conn)
	var a answer
	for range 2 {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		a = answer{status: response.StatusCode, header: response.Header, body: string(content)}
	}
	if err := json.Unmarshal([]byte(a.body), &a.problem); err != nil {
		t.Fatalf("%v in %q", err, a.body)
	}
	return a
}
