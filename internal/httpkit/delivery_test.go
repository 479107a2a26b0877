package httpkit_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reckon/internal/access"
	"reckon/internal/httpkit"
)

// revocable lets in who has a header, until it is revoked; away: it cannot be asked.
type revocable struct{ revoked, away atomic.Bool }

func (a *revocable) Authenticate(r *http.Request, rule access.Rule) (context.Context, error) {
	switch {
	case rule.Who == access.Public:
	case a.away.Load():
		return nil, httpkit.Unavailable.Problem("the log is away")
	case a.revoked.Load() || r.Header.Get("Authorization") == "":
		return nil, httpkit.InvalidToken.Problem("the token was revoked")
	}
	return r.Context(), nil
}

// TestNothingIsDeliveredToARevokedCredential: every kind of route, whether its handler waits for its context or not. Time is that of a bubble.
func TestNothingIsDeliveredToARevokedCredential(t *testing.T) {
	t.Parallel()
	const never = time.Hour
	for name, c := range map[string]struct {
		path   string
		takes  time.Duration // that the handler works, unless its context ends
		deaf   bool          // the handler does not heed its context
		after  time.Duration // the credential is revoked
		away   bool          // rather than revoked, it cannot be asked
		back   bool          // and can again before the handler ends
		status int
		end    time.Duration // of the request
	}{
		"at once":                     {"/mine", 0, false, never, false, false, 200, 0},
		"long, and still good":        {"/mine", 5500 * time.Millisecond, false, never, false, false, 200, 5500 * time.Millisecond},
		"revoked":                     {"/mine", time.Minute, false, 100 * time.Millisecond, false, false, 401, 2 * time.Second},
		"revoked, later":              {"/mine", time.Minute, false, 5 * time.Second, false, false, 401, 6 * time.Second},
		"revoked, not heard":          {"/mine", 1500 * time.Millisecond, true, 100 * time.Millisecond, false, false, 401, 1500 * time.Millisecond},
		"not heard for long":          {"/mine", 9 * time.Second, true, 100 * time.Millisecond, false, false, 401, 9 * time.Second},
		"it ends its own credential":  {"/ends", 9 * time.Second, false, 100 * time.Millisecond, false, false, 200, 9 * time.Second},
		"public":                      {"/open", 9 * time.Second, false, 100 * time.Millisecond, false, false, 200, 9 * time.Second},
		"raw":                         {"/raw", 9 * time.Second, false, 100 * time.Millisecond, false, false, 401, 9 * time.Second},
		"a protocol":                  {"/protocol", 9 * time.Second, false, 100 * time.Millisecond, false, false, 401, 9 * time.Second},
		"not to be asked":             {"/mine", 5 * time.Second, false, 100 * time.Millisecond, true, false, 503, 5 * time.Second},
		"not to be asked for a while": {"/mine", 5 * time.Second, false, 100 * time.Millisecond, true, true, 200, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				credential := &revocable{}
				api := httpkit.New(httpkit.Settings{Logger: slog.New(slog.DiscardHandler), Authenticator: credential, Access: access.Table{
					"GET /mine": {Who: access.Scoped}, "GET /ends": {Who: access.BrowserOnly}, "GET /open": {Who: access.Public}, "GET /raw": {Who: access.Scoped, Undescribed: "raw"}, "POST /protocol": {Who: access.TokenOnly, Undescribed: "a protocol"},
				}})
				work := func(ctx context.Context) error {
					ended := ctx.Done()
					if c.deaf {
						ended = nil
					}
					select {
					case <-time.After(c.takes):
						return nil
					case <-ended:
						return ctx.Err()
					}
				}
				for _, path := range []string{"/mine", "/ends", "/open"} {
					httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: path, ID: path[1:], Tag: "test", EndsCredential: path == "/ends"}, func(ctx context.Context, _ *struct{}) (*echoOutput, error) {
						httpkit.AnswerHeader(ctx).Set("X-Secret", "of the account")
						out := &echoOutput{}
						out.Body.Echo = "what was waited for"
						return out, work(ctx)
					})
				}
				raw := func(w http.ResponseWriter, r *http.Request) {
					_ = work(r.Context())
					w.Header().Set("X-Secret", "of the account")
					_ = http.NewResponseController(w).Flush()
					_, _ = w.Write([]byte("what was waited for"))
				}
				httpkit.HandleRaw(api, http.MethodGet, "/raw", 0, raw)
				api.HandleProtocol(httpkit.Route{Method: http.MethodPost, Path: "/protocol"}, http.HandlerFunc(raw), api.WriteProblem)
				r := httptest.NewRequest(http.MethodGet, c.path, nil)
				if c.path == "/protocol" {
					r = httptest.NewRequest(http.MethodPost, c.path, strings.NewReader("{}"))
					r.Header.Set("Content-Type", "application/json")
				}
				r.Header.Set("Authorization", "Bearer x")
				flag := &credential.revoked
				if c.away {
					flag = &credential.away
				}
				revocation := time.AfterFunc(c.after, func() { flag.Store(true) })
				defer revocation.Stop()
				if c.back {
					time.AfterFunc(c.takes-time.Millisecond, func() { flag.Store(false) })
				}
				answer, begun := httptest.NewRecorder(), time.Now()
				api.ServeHTTP(answer, r)
				body := answer.Body.String()
				if answer.Code != c.status || time.Since(begun) != c.end {
					t.Errorf("%d after %v, want %d after %v: %s", answer.Code, time.Since(begun), c.status, c.end, body)
				}
				if delivered := strings.Contains(body, "what was waited for") || answer.Header().Get("X-Secret") != ""; delivered != (c.status == http.StatusOK) {
					t.Errorf("%v %s", answer.Header(), body)
				}
			})
		})
	}
}

// slowClient is the writer of an answer to a client that takes a while to read each piece.
type slowClient struct {
	*httptest.ResponseRecorder
	perPiece time.Duration
}

func (c slowClient) Write(p []byte) (int, error) {
	time.Sleep(c.perPiece) // of a bubble
	return c.ResponseRecorder.Write(p)
}

// TestAnAnswerThatIsReadSlowlyEndsWithItsCredential: JSON in one piece, a file, and a raw page. Time is that of a bubble.
func TestAnAnswerThatIsReadSlowlyEndsWithItsCredential(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("x", 4<<20) // 64 pieces
	for name, c := range map[string]struct {
		path          string
		revoked, away time.Duration // after; 0: never
		cut           bool
	}{
		"JSON": {"/mine", 0, 0, false}, "JSON, revoked": {"/mine", 5 * time.Second, 0, true},
		"a file": {"/file", 0, 0, false}, "a file, revoked": {"/file", 5 * time.Second, 0, true},
		"raw": {"/raw", 0, 0, false}, "raw, revoked": {"/raw", 5 * time.Second, 0, true},
		"not to be asked": {"/file", 0, 5 * time.Second, false}, "public": {"/open", 5 * time.Second, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				credential := &revocable{}
				api := httpkit.New(httpkit.Settings{Logger: slog.New(slog.DiscardHandler), Authenticator: credential, Access: access.Table{
					"GET /mine": {Who: access.Scoped}, "GET /open": {Who: access.Public}, "GET /file": {Who: access.Scoped}, "GET /raw": {Who: access.Scoped, Undescribed: "raw"},
				}})
				for _, path := range []string{"/mine", "/open"} {
					httpkit.Handle(api, httpkit.Route{Method: http.MethodGet, Path: path, ID: path[1:], Tag: "test"}, func(context.Context, *struct{}) (*echoOutput, error) {
						out := &echoOutput{}
						out.Body.Echo = content
						return out, nil
					})
				}
				httpkit.HandleFile(api, httpkit.Route{Method: http.MethodGet, Path: "/file", ID: "file", Tag: "test"}, func(context.Context, *struct{}) (*httpkit.File, error) {
					return &httpkit.File{Content: seekCloser{strings.NewReader(content)}, Name: "f", ETag: "e"}, nil
				})
				httpkit.HandleRaw(api, http.MethodGet, "/raw", 0, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) })
				r := httptest.NewRequest(http.MethodGet, c.path, nil)
				r.Header.Set("Authorization", "Bearer x")
				for after, flag := range map[time.Duration]*atomic.Bool{c.revoked: &credential.revoked, c.away: &credential.away} {
					if after != 0 {
						defer time.AfterFunc(after, func() { flag.Store(true) }).Stop()
					}
				}
				answer, begun := slowClient{httptest.NewRecorder(), 300 * time.Millisecond}, time.Now()
				cut := func() (cut bool) {
					defer func() { cut = recover() == http.ErrAbortHandler }() //nolint:errorlint // the value itself, as net/http compares it
					api.ServeHTTP(answer, r)
					return false
				}()
				if whole := strings.Count(answer.Body.String(), "x") >= len(content); cut != c.cut || whole == c.cut {
					t.Errorf("cut %v, whole %v: %d bytes", cut, whole, answer.Body.Len())
				}
				if took := time.Since(begun); c.cut && took > c.revoked+recheckAndAPiece {
					t.Errorf("it went on for %v", took)
				}
			})
		})
	}
}

// recheckAndAPiece is the longest that an answer goes on: the time between two looks at a credential, and one piece.
const recheckAndAPiece = 2*time.Second + 300*time.Millisecond

type seekCloser struct{ *strings.Reader }

func (seekCloser) Close() error { return nil }
