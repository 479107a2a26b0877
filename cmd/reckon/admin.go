package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"reckon/internal/config"
)

// adminSocket is where a running server listens for operators' commands. Who may
// open the folder may give them.
func adminSocket(data string) string { return filepath.Join(data, "admin.sock") }

// maxSocketPath is what every system allows (sun_path in unix(7) and in the BSDs, less its final zero).
const maxSocketPath = 103

// makeAdmin serves operators on a Unix socket, and metrics on their own listener.
func (s *service) makeAdmin(ctx context.Context) error {
	if err := os.MkdirAll(s.config.Data, 0o700); err != nil {
		return err
	}
	path := adminSocket(s.config.Data)
	if len(path) > maxSocketPath {
		return fmt.Errorf("admin socket: the path %s is longer than the %d bytes a socket's may have; give a shorter --data", path, maxSocketPath)
	}
	if err := s.claimSocket(path); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, listener.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/projections/", http.StripPrefix("/projections", s.projector.Admin()))
	mux.HandleFunc("GET /connections", func(w http.ResponseWriter, _ *http.Request) { // where the parts of this server are
		_ = json.NewEncoder(w).Encode(connections{Eventstore: s.connection, Process: s.process})
	})
	s.serveAdmin(mux, listener)
	if s.config.AdminListen == "" || !s.config.Has(config.RoleAPI) {
		return nil
	}
	if listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.AdminListen); err != nil {
		return fmt.Errorf("admin listener (--admin-listen): %w", err)
	}
	metrics := http.NewServeMux()
	metrics.Handle("GET /metrics", s.metrics.Handler())
	metrics.HandleFunc("GET /debug/pprof/", pprof.Index)
	metrics.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	s.serveAdmin(metrics, listener)
	return nil
}

// claimSocket removes the socket of a server that is gone, and leaves a live one's.
func (s *service) claimSocket(path string) error {
	connection, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		_ = connection.Close()
		return fmt.Errorf("another server uses the data folder %s; give this one its own --data", s.config.Data)
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ECONNREFUSED): // nobody listens any more
		return os.Remove(path)
	}
	return fmt.Errorf("admin socket: cannot tell whether another server uses the data folder %s: %w", s.config.Data, err)
}

func (s *service) serveAdmin(handler http.Handler, listener net.Listener) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	s.running.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.logger.Error("admin listener", "error", err)
		}
	})
	s.stoppers = append(s.stoppers, func() { _ = server.Close() })
}

type connections struct {
	Eventstore string `json:"eventstore"`
	Process    string `json:"process"`
}

// askServer asks the server that runs on a data folder; ok is false when none does.
func askServer(ctx context.Context, data, method, path string, answer any) (ok bool, err error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", adminSocket(data))
	}}}
	request, err := http.NewRequestWithContext(ctx, method, "http://admin"+path, nil)
	if err != nil {
		return false, err
	}
	response, err := client.Do(request)
	if err != nil {
		return false, ctx.Err() // nobody listens, or the command was given up
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return true, err
	}
	if response.StatusCode >= 300 {
		return true, fmt.Errorf("the server answered %s: %s", response.Status, body)
	}
	return true, json.Unmarshal(body, answer)
}
