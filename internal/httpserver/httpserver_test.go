package httpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reckon/internal/httpserver"
)

// pipes is a listener whose connections are in memory, so that a test's clock can stand for time.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// TestConnectionsAreBounded: one too many is accepted when another has ended.
func TestConnectionsAreBounded(t *testing.T) {
	limits := httpserver.ClientLimits()
	limits.Connections = 2
	server := httpserver.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), limits, slog.New(slog.DiscardHandler))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	ask := func() net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	answered := func(conn net.Conn) error {
		_, err := bufio.NewReader(conn).ReadString('\n')
		return err
	}
	first, second := ask(), ask()
	if err := errors.Join(answered(first), answered(second)); err != nil {
		t.Fatal(err)
	}
	third := ask()
	_ = third.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if err := answered(third); err == nil {
		t.Error("a third connection was accepted")
	}
	_ = third.SetReadDeadline(time.Time{})
	_ = first.Close()
	if err := answered(third); err != nil {
		t.Error(err)
	}
	fourth := ask()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if err := answered(fourth); err == nil {
		t.Error("a connection that waited is answered after the end")
	}
}

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.dialled <- server
	return client
}

// within serves a handler with the service's own limits under a clock of the test's.
func within(t *testing.T, handler http.Handler, test func(t *testing.T, dial func() net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})}
		server := httpserver.New(handler, httpserver.ClientLimits(), slog.New(slog.DiscardHandler))
		go func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		}()
		test(t, l.dial)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

// reads answers with how much of the body came, like a handler that wants it all.
var reads = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		http.Error(w, "too slow", http.StatusRequestTimeout)
		return
	}
	_, _ = fmt.Fprint(w, n)
})

var refuses = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })

var answersMuch = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 4<<20)) })

// TestSlowClientsAreLetGo: whatever a client is slow at and whatever the handler does with it, 30 seconds end it.
func TestSlowClientsAreLetGo(t *testing.T) {
	for name, form := range map[string]struct {
		sends string
		then  string // is sent over and over, a second apart
		reads bool
	}{
		"nothing":                      {sends: "", reads: true},
		"half a head":                  {sends: "POST / HTTP/1.1\r\nHost: x\r\n", reads: true},
		"a head a byte a second":       {sends: "POST / HTTP/1.1\r\nHost: x\r\nX: ", then: "x", reads: true},
		"content length and silence":   {sends: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n{", reads: true},
		"small length and silence":     {sends: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{", reads: true},
		"huge length and silence":      {sends: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n\r\n{", reads: true},
		"chunked and silence":          {sends: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", reads: true},
		"chunks without an end":        {sends: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", then: "1\r\n{\r\n", reads: true},
		"a chunk's size without end":   {sends: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", then: "0", reads: true},
		"trailers without an end":      {sends: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n0\r\nA: ", then: "x", reads: true},
		"a body a byte a second":       {sends: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n", then: "x", reads: true},
		"expect 100 and silence":       {sends: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n", reads: true},
		"a get with a body":            {sends: "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n", reads: true},
		"an answer nobody reads":       {sends: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		"two bodies, second is silent": {sends: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n.POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n.", reads: true},
		"idle after an answer":         {sends: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", reads: true},
	} {
		for how, handler := range map[string]http.Handler{"read": reads, "refused": refuses, "answered at length": answersMuch} {
			t.Run(name+", "+how, func(t *testing.T) {
				within(t, handler, func(t *testing.T, dial func() net.Conn) {
					begun := time.Now()
					client := dial()
					gone := make(chan struct{})
					go func() {
						defer close(gone)
						if form.reads {
							_, _ = io.Copy(io.Discard, client)
							return
						}
						<-t.Context().Done()
					}()
					writer := make(chan struct{})
					go func() {
						defer close(writer)
						_, err := io.WriteString(client, form.sends)
						for err == nil && time.Since(begun) < time.Minute {
							time.Sleep(time.Second)
							_, err = io.WriteString(client, form.then)
						}
					}()
					<-writer // an empty write succeeds until the other end is closed
					if took := time.Since(begun); took > 30*time.Second {
						t.Errorf("held for %v", took)
					}
					_ = client.Close()
					if form.reads {
						<-gone
					}
				})
			})
		}
	}
}

// TestLivingClientsAreNot: a slow upload over minutes, a slow download and a
// handler that takes its time all come to their end.
func TestLivingClientsAreNot(t *testing.T) {
	t.Run("upload", func(t *testing.T) {
		within(t, reads, func(t *testing.T, dial func() net.Conn) {
			const size, piece = 16 << 20, 64 << 10
			begun := time.Now()
			client := dial()
			var sending sync.WaitGroup
			defer sending.Wait()
			sending.Go(func() {
				_, _ = fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
				for range size / piece { // 4.7 KiB a second, in bursts
					_, _ = client.Write(make([]byte, piece))
					time.Sleep(14 * time.Second)
				}
			})
			if status, body := answered(t, client); status != http.StatusOK || body != fmt.Sprint(size) {
				t.Errorf("%d %s", status, body)
			}
			if took := time.Since(begun); took < 50*time.Minute {
				t.Errorf("took %v: not slow at all", took)
			}
		})
	})
	t.Run("too slow an upload", func(t *testing.T) {
		within(t, reads, func(t *testing.T, dial func() net.Conn) {
			begun := time.Now()
			client := dial()
			var sending sync.WaitGroup
			defer sending.Wait()
			defer func() { _ = client.Close() }()
			sending.Go(func() {
				_, err := io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n")
				for err == nil && time.Since(begun) < time.Hour { // never silent for long, at a quarter of the least rate
					_, err = client.Write(make([]byte, 1<<10))
					time.Sleep(time.Second)
				}
			})
			response, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil || response.StatusCode != http.StatusRequestTimeout || !response.Close {
				t.Fatalf("%v %v", response, err)
			}
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("held for %v", took)
			}
		})
	})
	t.Run("download", func(t *testing.T) {
		within(t, answersMuch, func(t *testing.T, dial func() net.Conn) {
			client := dial()
			_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			response, err := http.ReadResponse(bufio.NewReaderSize(slowly{client}, 60<<10), nil)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, response.Body); err != nil || n != 4<<20 {
				t.Errorf("%d %v", n, err)
			}
		})
	})
	for name, request := range map[string]string{
		"poll":             "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"poll with a body": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"chunked poll":     "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			polled := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				for range 5 { // an event stream with a minute between events
					select {
					case <-time.After(time.Minute):
						_, _ = io.WriteString(w, "event\n")
						_ = http.NewResponseController(w).Flush()
					case <-r.Context().Done():
						return
					}
				}
			})
			within(t, polled, func(t *testing.T, dial func() net.Conn) {
				client := dial()
				_, _ = io.WriteString(client, request)
				if status, body := answered(t, client); status != http.StatusOK || strings.Count(body, "event") != 5 {
					t.Errorf("%d %s", status, body)
				}
			})
		})
	}
	t.Run("a client that leaves ends its poll", func(t *testing.T) {
		ended := make(chan error, 1)
		var waits http.HandlerFunc = func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
				ended <- context.Cause(r.Context())
			case <-time.After(time.Hour):
				ended <- nil
			}
		}
		synctest.Test(t, func(t *testing.T) {
			ended = make(chan error, 1)
			l := &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})}
			server := httpserver.New(waits, httpserver.ClientLimits(), slog.New(slog.DiscardHandler))
			go func() { _ = server.Serve(l) }()
			client := l.dial()
			_, _ = io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
			_ = client.Close()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			_ = server.Close()
		})
	})
	t.Run("a refused body in flight", func(t *testing.T) {
		within(t, refuses, func(t *testing.T, dial func() net.Conn) {
			client := dial()
			for range 3 { // the connection lives on
				go func() {
					_, _ = io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n")
					time.Sleep(time.Second)
					_, _ = io.WriteString(client, "body")
				}()
				if status, _ := answered(t, client); status != http.StatusUnauthorized {
					t.Errorf("%d", status)
				}
			}
		})
	})
}

// slowly takes one piece in 14 seconds.
type slowly struct{ net.Conn }

func (s slowly) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Second)
	return io.ReadFull(s.Conn, p[:min(len(p), 60<<10)])
}

func answered(t *testing.T, c net.Conn) (int, string) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestAmbiguousRequestsAreRefused: a second request hides behind each; none is ever served, and the connection ends.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	const hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, request := range map[string]string{
		"CL and TE":           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"TE and CL":           "POST / HTTP/1.1\r\nHost: x\r\ntransfer-encoding: Chunked\r\ncontent-length: 40\r\n\r\n0\r\n\r\n",
		"CL.0 and TE":         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two CL, equal":       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n.",
		"two CL":              "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n.",
		"CL list":             "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n.",
		"CL with a sign":      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n.",
		"negative CL":         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"two TE":              "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"TE list":             "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"unknown TE":          "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"TE of HTTP/1.0":      "POST / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"CL, TE of 1.0":       "POST / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"space before colon":  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 1\r\n\r\n.",
		"folded TE":           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"folded, tab":         "POST / HTTP/1.1\r\nHost: x\r\nX: y\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n.",
		"bare line feed":      "POST / HTTP/1.1\r\nHost: x\nContent-Length: 1\r\n\r\n.",
		"bare end of head":    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\n.",
		"bare in a chunk":     "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\n..\r\n0\r\n\r\n",
		"chunk with a sign":   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\n..\r\n0\r\n\r\n",
		"two hosts":           "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"second of two":       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n..POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"third, after a body": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat(".", 9000) + "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.URL.Path)
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					http.Error(w, "unreadable", http.StatusBadRequest)
				}
			})
			within(t, handler, func(t *testing.T, dial func() net.Conn) {
				client := dial()
				var sending sync.WaitGroup
				defer sending.Wait()
				defer func() { _ = client.Close() }()
				sending.Go(func() { _, _ = io.WriteString(client, request+hidden) })
				last, answers := http.Response{}, bufio.NewReader(client)
				for {
					response, err := http.ReadResponse(answers, nil)
					if err != nil {
						break
					}
					_, _ = io.Copy(io.Discard, response.Body)
					last = *response
				}
				if last.StatusCode != http.StatusBadRequest && last.StatusCode != http.StatusNotImplemented || !last.Close {
					t.Errorf("ends with %d, Connection: close %v", last.StatusCode, last.Close)
				}
			})
			for _, path := range seen {
				if path == "/hidden" {
					t.Error("the hidden request was served")
				}
			}
		})
	}
}

// TestRequestsAfterOneAnother: bodies of every size, in one piece or byte by byte, are told from the next request.
func TestRequestsAfterOneAnother(t *testing.T) {
	var sent strings.Builder
	sizes := []int{0, 1, 2, 4095, 4096, 4097, 70_000, 0, 3}
	for _, n := range sizes {
		// The body looks like headers; only its place tells that it is none.
		body := strings.Repeat("Transfer-Encoding: chunked\r\n\r\n", n/30+1)[:n]
		fmt.Fprintf(&sent, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", n, body)
	}
	for _, piece := range []int{1, 7, 4096, sent.Len()} {
		within(t, reads, func(t *testing.T, dial func() net.Conn) {
			client := dial()
			var sending sync.WaitGroup
			sending.Go(func() {
				for rest := sent.String(); rest != ""; rest = rest[min(len(rest), piece):] {
					if _, err := io.WriteString(client, rest[:min(len(rest), piece)]); err != nil {
						t.Error(err)
						return
					}
				}
			})
			answers := bufio.NewReader(client)
			for _, n := range sizes {
				response, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(response.Body)
				if err != nil || string(body) != fmt.Sprint(n) || response.Close {
					t.Errorf("%d bytes in pieces of %d: %s %s %v", n, piece, response.Status, body, err)
				}
			}
			sending.Wait()
			_ = client.Close()
		})
	}
}

// TestHeadersOfEveryAnswer: whatever a handler answers, browsers run, frame and guess nothing.
func TestHeadersOfEveryAnswer(t *testing.T) {
	for _, request := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"} {
		within(t, refuses, func(t *testing.T, dial func() net.Conn) {
			client := dial()
			_, _ = io.WriteString(client, request)
			response, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			h := response.Header
			if h.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%q: %v", request, h)
			}
			_ = client.Close()
		})
	}
}
