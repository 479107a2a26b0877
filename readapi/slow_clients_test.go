package readapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"reckon/internal/httpserver"
	"reckon/internal/httpserver/httpservertest"
	"reckon/test/apitest"
	"reckon/test/wait"
)

// slowForms are ways to keep a request going; each ends with the connection, if ever.
var slowForms = map[string]func(c *net.TCPConn, head string){
	"length and silence": func(c *net.TCPConn, head string) {
		_, _ = io.WriteString(c, head+"Content-Length: 200000\r\n\r\n{")
	},
	"small length and silence": func(c *net.TCPConn, head string) {
		_, _ = io.WriteString(c, head+"Content-Length: 20\r\n\r\n{")
	},
	"huge length and silence": func(c *net.TCPConn, head string) {
		_, _ = io.WriteString(c, head+"Content-Length: 900000000000\r\n\r\n{")
	},
	"chunked and silence": func(c *net.TCPConn, head string) {
		_, _ = io.WriteString(c, head+"Transfer-Encoding: chunked\r\n\r\n5\r\n{")
	},
	"a byte now and then": func(c *net.TCPConn, head string) {
		again(c, head+"Content-Length: 200000\r\n\r\n", "{")
	},
	"a chunk now and then": func(c *net.TCPConn, head string) {
		again(c, head+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n")
	},
	"a header now and then": func(c *net.TCPConn, head string) { again(c, head, "X: y\r\n") },
	"expect 100 and silence": func(c *net.TCPConn, head string) {
		_, _ = io.WriteString(c, head+"Content-Length: 20\r\nExpect: 100-continue\r\n\r\n")
	},
	"half closed": func(c *net.TCPConn, head string) {
		_, _ = io.WriteString(c, head+"Content-Length: 200000\r\n\r\n{")
		_ = c.CloseWrite()
	},
	"reads no answer": func(c *net.TCPConn, head string) {
		_, _ = io.WriteString(c, strings.Repeat(head+"Content-Length: 2\r\n\r\n{}", 50))
	},
}

// again sends a piece over and over until the connection ends.
func again(c *net.TCPConn, first, piece string) {
	_, err := io.WriteString(c, first)
	for ; err == nil; _, err = io.WriteString(c, piece) {
		wait.Pace(20 * time.Millisecond) // the slow client's own pace; nothing is asserted about it
	}
}

// TestNoRouteHoldsSlowClients: every route × every way to be slow, with and
// without a credential, and addresses and methods that are not served.
func TestNoRouteHoldsSlowClients(t *testing.T) {
	t.Parallel()
	api := apitest.Start(t, apitest.Options{}) // for the test's own requests, which a busy machine may make slow as well
	u := api.NewUser(t)
	limits := httpserver.ClientLimits()
	limits.Header, limits.Idle, limits.MaxSilence, limits.DiscardWait = 300*time.Millisecond, 300*time.Millisecond, 300*time.Millisecond, 100*time.Millisecond
	s := httpservertest.Start(t, api.API, limits)
	var description struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(api.Do(t, http.MethodGet, "/openapi.json", "").OK(t).Body, &description); err != nil {
		t.Fatal(err)
	}
	routes := []string{"POST /nowhere", "GET /nowhere", "POST /openapi.json", "PATCH /api/evaluate", "BREW /api/evaluate", "POST /api/evaluate?a=1&a=2", "OPTIONS *", "POST /api/evaluate/", "HEAD /docs", "GET /docs", "GET /openapi.json", "GET /docs/errors"}
	for path, methods := range description.Paths {
		for method := range methods {
			routes = append(routes, strings.ToUpper(method)+" "+strings.NewReplacer("{id}", "1").Replace(path))
		}
	}
	if len(routes) < 35 {
		t.Fatalf("only %d routes", len(routes))
	}
	credentials := map[string]string{"no credential": "", "a bad one": "Authorization: Bearer rk_pat_x\r\n", "a good one": "Authorization: Bearer " + u.Token + "\r\n"}

	var clients sync.WaitGroup
	let := make(chan struct{}) // closed when the server has let everyone go
	tried := 0
	for _, route := range routes {
		for form, slow := range slowForms {
			for who, credential := range credentials {
				tried++
				clients.Go(func() {
					c, err := net.Dial("tcp", s.Listener.Addr().String())
					if err != nil {
						t.Error(err)
						return
					}
					defer func() { _ = c.Close() }()
					slow(c.(*net.TCPConn), route+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+credential)
					<-let
					if form == "reads no answer" {
						return
					}
					answer, err := http.ReadResponse(bufio.NewReader(c), nil)
					if err == nil && answer.StatusCode == http.StatusContinue {
						return
					}
					if err == nil && !answer.Close {
						t.Errorf("%s, %s, %s: %s without Connection: close", route, form, who, answer.Status)
					}
				})
			}
		}
	}
	t.Logf("%d clients on %d routes", tried, len(routes))
	deadline, limited := t.Deadline()
	for s.Accepted.Load() < int64(tried) || s.Open.Load() > 0 {
		if limited && time.Until(deadline) < 30*time.Second { // to be told before the run is killed
			t.Errorf("%d of %d connections are still open", s.Open.Load(), tried)
			s.CloseClientConnections()
			break
		}
		wait.Pace(10 * time.Millisecond)
	}
	close(let)
	clients.Wait()
	if health := api.Do(t, http.MethodGet, "/healthz", ""); health.Status != http.StatusOK {
		t.Error(fmt.Sprint(health.Status))
	}
}
