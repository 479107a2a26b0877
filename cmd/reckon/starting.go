package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"reckon/internal/httpserver"
	"reckon/internal/lifecycle"
	"reckon/internal/telemetry"
	"reckon/readapi"
)

// starting answers those who watch a process before and after its parts can: that it lives, and what its start waits for.
type starting struct {
	part    atomic.Pointer[string]        // the part that the start waits for; nil: none of those that may be away
	routes  atomic.Pointer[http.ServeMux] // of the process while its parts run; nil: it is being started or stopped
	noRoom  atomic.Bool                   // the log's disk is full, so that it is not opened
	metrics http.Handler                  // while there are no routes
}

// newStarting answers from now on. Its metrics are those that alerts need: an alert on a metric that a process does not have never fires.
func newStarting() *starting {
	s := &starting{}
	m := telemetry.NewMetrics(buildRevision())
	m.Gauge("reckon_ready", nil, func() float64 { return 0 })
	m.Collect("start", []string{"reckon_log_refuses_appends"}, func(_ context.Context, add telemetry.Add) error {
		if s.noRoom.Load() {
			add("reckon_log_refuses_appends", 1)
		}
		return nil
	})
	s.metrics = m.Handler()
	return s
}

// waitsFor notes the part that a start waits for, until answered is called.
func (s *starting) waitsFor(part string) { s.part.Store(&part) }

// answered notes that the part answers.
func (s *starting) answered() { s.part.Store(nil) }

// ServeHTTP is http.Handler.
func (s *starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if routes := s.routes.Load(); routes != nil {
		routes.ServeHTTP(w, r)
		return
	}
	detail := "the process is being started, or stopped"
	if part := s.part.Load(); part != nil {
		detail = fmt.Sprintf("the process is being started, and waits for %s", *part)
	}
	switch r.URL.Path {
	case "/livez":
		serveLife(w, r)
	case "/readyz":
		readapi.ServeStarting(w, detail)
	case "/metrics":
		s.metrics.ServeHTTP(w, r)
	default:
		http.Error(w, detail, http.StatusServiceUnavailable)
	}
}

// serveLife answers as long as the process serves requests, whatever else is away.
func serveLife(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") } // whoever asked has gone

// watchers leads those who watch the process to its routes while its parts run.
func (s *starting) watchers(routes *http.ServeMux) lifecycle.Part {
	return lifecycle.Part{
		Name:  "routes of watchers",
		Start: func(context.Context) error { s.routes.Store(routes); return nil },
		Stop:  func(context.Context) error { s.routes.Store(nil); return nil },
	}
}

// servedAtOnce is httpPart of a listener that is served from now on, and not only once the part is started.
func servedAtOnce(ctx context.Context, name string, server *httpserver.Server, listener net.Listener) lifecycle.Part {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	var failed error // once ended is closed
	go func() {
		defer close(ended)
		failed = serveUntil(serving, server, listener)
	}()
	return lifecycle.Part{
		Name: name, RunOnce: true,
		Run: func(ctx context.Context) error {
			select {
			case <-ended:
				return failed
			case <-ctx.Done():
				return nil
			}
		},
		Stop: func(context.Context) error {
			stop()
			<-ended
			return nil
		},
	}
}
