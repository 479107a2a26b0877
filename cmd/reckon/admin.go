package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"reckon/commands"
	"reckon/internal/httpserver"
	"reckon/internal/telemetry"
)

// adminSocket returns the path of the socket on which a running server receives operators'
// commands. Only the user who can enter the data folder can connect.
func adminSocket(data string) string { return filepath.Join(data, "admin.sock") }

// maxSocketPath is what every system allows (sun_path in unix(7) and in the BSDs, less its final zero).
const maxSocketPath = 103

// makeAdmin serves operators on a Unix socket, and metrics on a port if asked to.
func (s *service) makeAdmin(ctx context.Context) error {
	path := adminSocket(s.config.Data)
	if len(path) > maxSocketPath {
		return fmt.Errorf("admin socket: the path %s is longer than the %d bytes a socket's may have; give a shorter --data", path, maxSocketPath)
	}
	if err := s.claimSocket(ctx, path); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path) // with the mode that private.RestrictUmask leaves it
	if err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, listener.Close())
	}
	mux := s.observationRoutes()
	mux.Handle("/projections/", http.StripPrefix("/projections", s.readSide.projector.Admin()))
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(serverSettings{Installation: s.config.Installation, Plans: s.plans, Log: s.log.connection, Process: s.id, PID: os.Getpid()})
	})
	mux.HandleFunc("POST /keys/rotate", s.rotateKey)
	mux.HandleFunc("POST /local-session", s.serveLocalSession)
	s.life.Add(httpPart("admin socket", httpserver.New(mux, httpserver.ProcessLimits(), s.logger), listener))
	s.life.Add(s.starting.watchers(s.observationRoutes()))
	return nil
}

// makeAdminListener serves those who watch the process on a port if asked to, from its first moment to its last.
func (s *service) makeAdminListener(ctx context.Context) error {
	if s.config.AdminListen == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.AdminListen)
	if err != nil {
		return fmt.Errorf("admin listener (--admin-listen): %w", err)
	}
	s.life.Add(servedAtOnce(ctx, "admin listener", httpserver.New(guardAdmin(s.starting, s.config.AdminListen, s.config.AdminToken), httpserver.ProcessLimits(), s.logger), listener))
	return nil
}

// rotateKey does the next step of a rotation with the private halves that this server has; one request at a time.
func (s *service) rotateKey(w http.ResponseWriter, r *http.Request) {
	s.rotating.Lock()
	defer s.rotating.Unlock()
	ring, err := openKeys(s.config.KeyFolder(), s.logger)
	if err == nil {
		var done commands.KeyRotation
		if done, err = rotateKey(r.Context(), s.log.store, ring, s.config.KeyFolder(), r.URL.Query().Get("lost") == "true"); err == nil {
			_ = json.NewEncoder(w).Encode(done)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusConflict)
}

// observationRoutes are what every server has for those who watch it.
func (s *service) observationRoutes() *http.ServeMux {
	return observation(s.metrics, s.health().ServeReadiness)
}

// observation serves metrics, readiness, life and profiles of a process.
func observation(metrics *telemetry.Metrics, readiness http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler())
	mux.HandleFunc("GET /readyz", readiness)
	mux.HandleFunc("GET /livez", serveLife)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	return mux
}

// guardAdmin requires the token, and a Host header that is an IP address, localhost or the
// configured name: a web page could otherwise reach the listener by a name of its own that
// resolves to this machine (DNS rebinding).
func guardAdmin(next http.Handler, address, token string) http.Handler {
	own, _, _ := net.SplitHostPort(address)
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(sent)) // equally long, so that the time tells nothing
		switch {
		case !ownHost(r.Host, own):
			http.Error(w, "this is not the host of that name", http.StatusMisdirectedRequest)
		case r.URL.Path == "/readyz", r.URL.Path == "/livez": // anybody may read them, as on the API: balancers and supervisors have no token
			next.ServeHTTP(w, r)
		case !bearer || subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", `Bearer realm="reckon admin"`)
			http.Error(w, "say Authorization: Bearer and the --admin-token", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ownHost tells whether a Host header is an IP address, localhost, or the name that was configured.
func ownHost(header, own string) bool {
	host := header
	if name, _, err := net.SplitHostPort(header); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost") || own != "" && strings.EqualFold(host, own)
}

// claimSocket removes the socket of a server that has ended. It returns an error when a
// server answers on the socket.
func (s *service) claimSocket(ctx context.Context, path string) error {
	connection, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		_ = connection.Close()
		return inUse(ctx, s.config.Data)
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ECONNREFUSED): // nobody listens any more
		return os.Remove(path)
	}
	return fmt.Errorf("admin socket: cannot tell whether another server uses the data folder %s: %w", s.config.Data, err)
}

// askServer sends a request to the server that runs on a data folder and decodes its JSON
// answer; ok is false when no server runs.
func askServer(ctx context.Context, data, method, path string, answer any) (ok bool, err error) {
	response, err := sendToServer(ctx, data, method, path)
	if response == nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return true, err
	}
	if response.StatusCode >= 300 {
		return true, errors.New(strings.TrimSpace(string(body)))
	}
	return true, json.Unmarshal(body, answer)
}

// sendToServer sends a request to the server that runs on a data folder. The response is nil, without an error, when no server runs.
func sendToServer(ctx context.Context, data, method, path string) (*http.Response, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", adminSocket(data))
	}}}
	request, err := http.NewRequestWithContext(ctx, method, "http://admin"+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	switch {
	case err == nil:
		return response, nil
	case ctx.Err() != nil: // the command was given up
		return nil, fmt.Errorf("the server that runs on %s does not answer: %w", data, ctx.Err())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED): // nobody listens
		return nil, nil
	}
	return nil, fmt.Errorf("cannot tell whether a server runs on %s: %w", data, err) // somebody may listen
}
