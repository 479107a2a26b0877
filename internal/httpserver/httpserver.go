// Package httpserver serves HTTP to clients, to operators and among processes; no other
// package makes an http.Server.
//
// It promises that no client holds a connection by being slow, whatever the handler does:
// headers, bodies and answers have deadlines, and bodies and answers a minimum rate. It
// promises that a request whose end two readers could find in different places is refused,
// and that every answer carries headers that forbid a browser to run scripts, to frame the
// answer and to guess its type. It knows nothing of the handlers it serves.
package httpserver

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"reckon/internal/openfiles"
)

// Limits bound how long a slow client can hold a connection. None may be zero.
type Limits struct {
	Header time.Duration // for the headers of a request, from their first byte
	Idle   time.Duration // between two requests of a connection
	// MaxSilence is the longest time in which no byte of a body arrives, and the longest in
	// which the client reads no byte of an answer.
	MaxSilence        time.Duration
	MinBytesPerSecond int // average rate that bodies and answers must reach
	// DiscardWait is how long the rest of a body that is not read may still arrive, so that
	// the client receives the answer instead of a reset connection.
	DiscardWait time.Duration
	Connections int // at a time; others wait to be accepted
}

// MaxConnections bounds the connections of a listener where the limit of open files does not.
const MaxConnections = 8192

// ClientLimits returns the limits for clients of the API. An idle connection is closed
// within 30 seconds, as a slow one is: the server cannot distinguish a client that does not
// read a short answer from one that sends no further request.
func ClientLimits() Limits {
	return Limits{Header: 10 * time.Second, Idle: 25 * time.Second, MaxSilence: 15 * time.Second, MinBytesPerSecond: 4 << 10, DiscardWait: 2 * time.Second, Connections: openfiles.Port.AtMost(MaxConnections)}
}

// ProcessLimits returns the limits among the processes of an installation, whose clients
// keep idle connections for a minute.
func ProcessLimits() Limits {
	l := ClientLimits()
	l.Idle = 2 * time.Minute
	l.Connections = openfiles.Processes.AtMost(MaxConnections)
	return l
}

// MaxHeaderBytes is the largest head of a request, about: net/http adds 4 KiB.
const MaxHeaderBytes = 64 << 10

// Server is an http.Server that serves with limits.
type Server struct {
	http    *http.Server
	limits  Limits
	refuser Refuser      // nil: the handler is none
	closing *atomic.Bool // connections are closed after their next answer
}

// New returns a server of HTTP/1.1. TLS ends at a proxy, or in the listener that is served. It panics where the limits allow no connection.
func New(handler http.Handler, limits Limits, logger *slog.Logger) *Server {
	if limits.Connections < 1 {
		panic("httpserver: the limits allow no connection")
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	closing := new(atomic.Bool)
	refuser, _ := handler.(Refuser)
	return &Server{limits: limits, refuser: refuser, closing: closing, http: &http.Server{
		Handler: guard{handler, limits, closing}, Protocols: protocols, MaxHeaderBytes: MaxHeaderBytes,
		ReadHeaderTimeout: limits.Header, IdleTimeout: limits.Idle,
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered by the handler like everything else
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if ours, is := c.(*conn); is && state == http.StateIdle {
				ours.answered()
			}
		},
	}}
}

// Serve is http.Server's, with limits on every connection.
func (s *Server) Serve(l net.Listener) error {
	return s.http.Serve(newListener(l, s.limits, s.refuser))
}

// CloseConnectionsAfterAnswers closes each connection after its next answer. Unlike Shutdown it
// closes no idle one, on which a proxy may be about to send a request.
func (s *Server) CloseConnectionsAfterAnswers() { s.closing.Store(true) }

// Shutdown is http.Server's.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// Close is http.Server's.
func (s *Server) Close() error { return s.http.Close() }

// ServerAndListener returns the server and the listener that Serve uses, for tests that
// serve with net/http/httptest.
func (s *Server) ServerAndListener(l net.Listener) (*http.Server, net.Listener) {
	return s.http, newListener(l, s.limits, s.refuser)
}

// listener accepts connections while it has fewer than it may have.
type listener struct {
	net.Listener
	limits  Limits
	refuser Refuser
	places  chan struct{}
	closed  chan struct{}
	shut    func()
}

func newListener(l net.Listener, limits Limits, refuser Refuser) *listener {
	closed := make(chan struct{})
	return &listener{Listener: l, limits: limits, refuser: refuser, places: make(chan struct{}, limits.Connections), closed: closed, shut: sync.OnceFunc(func() { close(closed) })}
}

// Accept is net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	leave := sync.OnceFunc(func() { <-l.places })
	c, err := l.Listener.Accept()
	if err != nil {
		leave()
		return nil, err
	}
	return &conn{Conn: c, limits: l.limits, refuser: l.refuser, leave: leave}, nil
}

// Close is net.Listener.
func (l *listener) Close() error {
	l.shut()
	return l.Listener.Close()
}

// Refuser is a handler that writes the refusals of this package and of net/http itself.
type Refuser interface {
	// RefuseFraming answers an ambiguous request.
	RefuseFraming(w http.ResponseWriter, r *http.Request, why string)
	// RefuseUnread answers a request that net/http refuses with a status before a handler has it. r has the method, the
	// address of the client and, where it can be told, RequestURI, as they were sent; nothing else of the request.
	RefuseUnread(w http.ResponseWriter, r *http.Request, status int)
}

// guard sets the security headers of every answer, refuses ambiguous requests and bounds bodies.
type guard struct {
	next    http.Handler
	limits  Limits
	closing *atomic.Bool
}

// ServeHTTP is http.Handler.
func (g guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	setSecurity(header)
	why := ""
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		why = c.checkFraming(r)
	}
	// Only the reader of a chunked body knows where it ends: the connection is closed after it.
	if why != "" || r.ContentLength < 0 || g.closing.Load() {
		header.Set("Connection", "close")
	}
	if r.ContentLength != 0 && r.Body != nil && r.Body != http.NoBody {
		arriving := &body{ReadCloser: r.Body, control: http.NewResponseController(w), limits: g.limits, waitBudget: g.limits.MaxSilence}
		defer func() { _ = arriving.stopWaiting() }()
		w = &answer{w, arriving}
		r = r.WithContext(r.Context()) // net/http looks at its own copy to tell what is left of the body
		r.Body = arriving
	}
	if why == "" {
		g.next.ServeHTTP(w, r)
		return
	}
	if refuser, ok := g.next.(Refuser); ok {
		refuser.RefuseFraming(w, r, why)
		return
	}
	http.Error(w, why, http.StatusBadRequest)
}

func setSecurity(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Opener-Policy", "same-origin") // a page that opened one of ours has no handle of it
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'") // pages and plots say their own
}

// answer stops waiting for the body when the answer begins: net/http then reads the rest of
// the body before it sends the first line.
type answer struct {
	http.ResponseWriter
	body *body
}

func (a *answer) endBody() {
	if a.body.stopWaiting() { // net/http does not notice that a client ended its body early
		a.Header().Set("Connection", "close")
	}
}

// WriteHeader is http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK {
		a.endBody()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write is http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.endBody()
	return a.ResponseWriter.Write(p)
}

// FlushError is what http.ResponseController looks for.
func (a *answer) FlushError() error {
	a.endBody()
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush is http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
