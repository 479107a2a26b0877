package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"reckon/internal/config"
	"reckon/internal/lifecycle"
	"reckon/test/engines"
	"reckon/test/wait"
)

// startService starts the parts of `reckon serve` within this process, everything embedded.
func startService(t *testing.T) *service {
	t.Helper()
	data := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	engines.Link(t, data)
	s, err := assemble(t.Context(), settingsOfServe(t, data), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.drainAndStop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := s.life.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// settingsOfServe are those of `reckon serve` on a data folder.
func settingsOfServe(t *testing.T, data string, arguments ...string) (c config.Serve) {
	t.Helper()
	parser, err := kong.New(&c, config.Options(func(string) string { return "" })...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(append([]string{"--data", data, "--listen", "127.0.0.1:0"}, arguments...)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAWitnessIsNamedOnce: two names of one witness are refused before anything is made: its quorum could never be reached.
func TestAWitnessIsNamedOnce(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "d")
	const one, again = "w.example/1+24426aa2+BOrhyHk7VZfEs/SQ52rDEXLEOWkPjuFBQruFGmH5pJ8O https://a.example", "w.example/2+c5c81764+BOrhyHk7VZfEs/SQ52rDEXLEOWkPjuFBQruFGmH5pJ8O https://b.example"
	c := settingsOfServe(t, data, "--witness", one, "--witness", again, "--witness-quorum", "2")
	if _, err := assemble(t.Context(), c, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "name each witness once") {
		t.Errorf("%v", err)
	}
	if made, err := os.ReadDir(data); err == nil && len(made) > 0 {
		t.Errorf("made %v", made)
	}
}

// readiness is what a test looks at of /readyz.
type readiness struct {
	status   int
	Stopping bool `json:"stopping"`
	Parts    []struct {
		Name     string `json:"name"`
		Phase    string `json:"phase"`
		Restarts int    `json:"restarts"`
		Ready    bool   `json:"ready"`
	} `json:"parts"`
}

func (s *service) askReady(t *testing.T) (r readiness) {
	t.Helper()
	response, err := http.Get("http://" + s.api.listener.Addr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	r.status = response.StatusCode
	if err := json.NewDecoder(response.Body).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *service) untilReady(t *testing.T, what string, condition func(readiness) bool) {
	t.Helper()
	wait.Until(t, what, func() bool { return condition(s.askReady(t)) })
}

// restartable are the parts that are begun again; all others end the process.
var restartable = []string{
	"files of state vectors", "read models", "subscription to the log", "signing key", "recovery of abandoned jobs", "heartbeat", "jobs",
	"reaction complete_submission", "reaction refund_cancelled", "reaction refund_lost", "reaction publish_outcome", "reaction end_closed", "reaction follow_subscription", "renewals of subscriptions", "transparency log",
}

// TestEveryPartComesBack ends the background work of every part of a server, one after another:
// /readyz says so, it is begun again, and /readyz is 200 again.
func TestEveryPartComesBack(t *testing.T) {
	t.Parallel()
	s := startService(t)
	ready := func(r readiness) bool { return r.status == http.StatusOK && !r.Stopping }
	s.untilReady(t, "ready", ready)
	var once []string
	for _, p := range s.life.States() {
		if !slices.Contains(restartable, p.Name) {
			once = append(once, p.Name)
			continue
		}
		s.life.Cut(p.Name)
		state := func() lifecycle.State {
			states := s.life.States()
			return states[slices.IndexFunc(states, func(other lifecycle.State) bool { return other.Name == p.Name })]
		}
		s.untilReady(t, p.Name+" reported as ended or begun again", func(r readiness) bool {
			return r.status == http.StatusServiceUnavailable || state().Restarts == 1
		})
		s.untilReady(t, p.Name+" begun again", func(r readiness) bool { return ready(r) && state().Restarts == 1 && state().Healthy })
	}
	if want := []string{"embedded node", "name of the log", "peers", "admin socket", "API"}; !slices.Equal(once, want) {
		t.Errorf("parts that cannot be begun again: %v, want %v", once, want)
	}
	if len(s.life.States()) != len(once)+len(restartable) {
		t.Errorf("parts %+v", s.life.States())
	}
	s.stopping.Store(true)
	if r := s.askReady(t); r.status != http.StatusServiceUnavailable || !r.Stopping {
		t.Errorf("stopping: %+v", r)
	}
}

// TestListenersEndTheProcess: what cannot be begun again ends the process with an error that
// names it.
func TestListenersEndTheProcess(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"embedded node", "name of the log", "peers", "admin socket", "API"} {
		t.Run(name, func(t *testing.T) {
			s := startService(t)
			s.life.Cut(name)
			if err := <-s.life.Failed(); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
				t.Errorf("%v", err)
			}
		})
	}
}
