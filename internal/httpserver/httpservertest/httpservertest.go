// Package httpservertest serves a handler in tests as the service serves it.
package httpservertest

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"reckon/internal/httpserver"
)

// Server is a server that counts its connections.
type Server struct {
	*httptest.Server
	Open     *atomic.Int64 // connections now
	Accepted *atomic.Int64 // and ever
}

// Start serves on a free loopback port until the test ends.
func Start(t testing.TB, handler http.Handler, limits httpserver.Limits) Server {
	return start(t, handler, limits, (*httptest.Server).Start)
}

// StartTLS is Start with TLS.
func StartTLS(t testing.TB, handler http.Handler, limits httpserver.Limits) Server {
	return start(t, handler, limits, (*httptest.Server).StartTLS)
}

func start(t testing.TB, handler http.Handler, limits httpserver.Limits, begin func(*httptest.Server)) Server {
	t.Helper()
	s := Server{httptest.NewUnstartedServer(nil), &atomic.Int64{}, &atomic.Int64{}}
	s.Config, s.Listener = httpserver.New(handler, limits, slog.New(slog.DiscardHandler)).ServerAndListener(s.Listener)
	served := s.Config.ConnState
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		served(c, state)
		switch state {
		case http.StateNew:
			s.Open.Add(1)
			s.Accepted.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.Open.Add(-1)
		case http.StateActive, http.StateIdle:
		}
	}
	begin(s.Server)
	t.Cleanup(s.Close)
	return s
}
