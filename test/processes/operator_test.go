package processes

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reckon/domain/event"
	"reckon/domain/runner"
	"reckon/domain/session"
	"reckon/eventstore/node"
	"reckon/internal/supervision"
	"reckon/test/e2e"
	"reckon/test/sweep"
	"reckon/test/wait"
)

// What an operator does to processes, and what their callers see of it.

// inSession evaluates in the session "notebook".
func inSession(a *e2e.Account, expression string) (e evaluated, err error) {
	err = a.JSON("POST", "/api/evaluate", map[string]string{"expression": expression, "session_id": "notebook"}, &e)
	return e, err
}

// pending is an evaluation whose answer is awaited.
type pending struct {
	evaluated
	err   error
	ended chan struct{}
}

// begin sends an evaluation to one process and returns when the session's owner computes it.
func begin(t *testing.T, caller, owner *e2e.Account, expression string) *pending {
	t.Helper()
	p := &pending{ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.evaluated, p.err = inSession(caller, expression)
	}()
	wait.Until(t, "the owner computes", func() bool {
		var list struct {
			Sessions []struct {
				SessionID string `json:"session_id"`
				Busy      bool   `json:"busy"`
			} `json:"sessions"`
		}
		must(t, owner.JSON("GET", "/api/sessions", nil, &list))
		for _, s := range list.Sessions {
			if s.Busy {
				return true
			}
		}
		select {
		case <-p.ended:
			t.Fatalf("answered before it was seen: %+v, %v", p.evaluated, p.err)
		default:
		}
		return false
	})
	return p
}

func signal(t *testing.T, s *e2e.Server, which syscall.Signal) {
	t.Helper()
	must(t, syscall.Kill(s.PID(), which))
}

// freeze stops a process, and returns when none of its threads runs any more, which is after the signal was sent (proc(5), stat).
func freeze(t *testing.T, s *e2e.Server) {
	t.Helper()
	signal(t, s, syscall.SIGSTOP)
	t.Cleanup(func() { _ = syscall.Kill(s.PID(), syscall.SIGCONT) })
	wait.Until(t, "it is frozen", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.PID()))
		must(t, err)
		return !slices.ContainsFunc(threads, func(file string) bool {
			stat, err := os.ReadFile(file)
			return err == nil && !strings.Contains(string(stat), ") T ") // one that has ended runs no more
		})
	})
}

// pair is two API processes and an account whose session lives in the second.
func pair(t *testing.T) (in *installation, one, two *e2e.Server, here, there *e2e.Account) {
	t.Helper()
	in = install(t)
	in.headless("project,react")
	one, two = in.api("api"), in.api("api")
	here = one.NewAccount("alice@example.com")
	there = at(here, two)
	_, err := inSession(there, "z = 9")
	must(t, err)
	e, err := inSession(here, "z")
	must(t, err)
	if e.Result != "9" {
		t.Fatalf("not forwarded: %+v", e)
	}
	return in, one, two, here, there
}

// TestFrozenOwner: a process that takes requests and does nothing holds its callers until its
// lease ends; then they are answered from a fresh session. When it goes on it has lost the session.
func TestFrozenOwner(t *testing.T) {
	t.Parallel()
	_, _, two, here, there := pair(t)
	freeze(t, two)
	begun := time.Now()
	var waiting sync.WaitGroup
	for range 3 { // each of them has lost its variables
		waiting.Go(func() {
			e, err := inSession(here, "z")
			t.Logf("answered %v after the owner froze", time.Since(begun).Round(time.Millisecond))
			if err != nil || e.Result != "z" || !strings.Contains(strings.Join(e.Warnings, " "), "was lost, because the process that held it stopped reporting") {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
	waiting.Wait()
	_, err := inSession(here, "z = 10")
	must(t, err)
	signal(t, two, syscall.SIGCONT)
	if e, err := inSession(there, "z"); err != nil || e.Result != "10" {
		t.Errorf("by way of the process that was frozen: %+v, %v", e, err)
	}
}

// TestStoppingWaitsForForwarded: neither the owner of a session nor the process that forwards to
// it cuts an evaluation when it is told to stop.
func TestStoppingWaitsForForwarded(t *testing.T) {
	t.Parallel()
	in, one, two, here, there := pair(t)
	p := begin(t, here, there, "Pause[2]; z + 1")
	signal(t, two, syscall.SIGTERM)
	if <-p.ended; p.err != nil || p.Result != "10" {
		t.Errorf("the owner stops: %+v, %v", p.evaluated, p.err)
	}
	if status := two.Wait(); status != 0 {
		t.Errorf("it ends with %d:\n%s", status, two.Output())
	}
	three := in.api("api")
	there = at(here, three)
	if e, err := inSession(there, "z = 5"); err != nil || !strings.Contains(strings.Join(e.Warnings, " "), "was lost, because the process that held it was stopped") {
		t.Errorf("%+v, %v", e, err)
	}
	p = begin(t, here, there, "Pause[2]; z + 1")
	signal(t, one, syscall.SIGTERM)
	if <-p.ended; p.err != nil || p.Result != "6" {
		t.Errorf("the forwarding process stops: %+v, %v", p.evaluated, p.err)
	}
	if status := one.Wait(); status != 0 {
		t.Errorf("it ends with %d:\n%s", status, one.Output())
	}
}

// TestOwnerDiesWhileItEvaluates: its callers are answered from a fresh session once its lease has
// ended; none is told that the log is away.
func TestOwnerDiesWhileItEvaluates(t *testing.T) {
	t.Parallel()
	_, _, two, here, there := pair(t)
	p := begin(t, here, there, "Pause[4]; z")
	two.Kill()
	if <-p.ended; p.err != nil || p.Result != "z" || !strings.Contains(strings.Join(p.Warnings, " "), "was lost, because the process that held it stopped reporting") {
		t.Errorf("%+v, %v", p.evaluated, p.err)
	}
}

// thinking is a client's pause between two requests, which are evaluations: clients need not take all processor time.
func thinking(t *testing.T) time.Duration {
	return time.Duration(sweep.Size(t, "RECKON_THINKING_MS", 1000, 20)) * time.Millisecond
}

// TestRollingRestart: every server is replaced behind a balancer that asks /readyz, and no
// client has a request refused or cut.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	const clients = 4
	pause := thinking(t)
	in := install(t)
	in.shared = append(in.shared, "--unready-grace", unreadyGrace.String())
	in.headless("project,react")
	servers := []*e2e.Server{in.api("api"), in.api("api")}
	b, front := newBalancer(t)
	for _, s := range servers {
		b.add(t, s.URL)
	}
	wait.Until(t, "both are ready", func() bool { return b.ready() == 2 })

	alice := servers[0].NewAccount("alice@example.com")
	alice.URL = front
	var answered atomic.Int64
	ended := make(chan struct{})
	var working sync.WaitGroup
	for n := range clients {
		working.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				var e evaluated
				if err := alice.JSON("POST", "/api/evaluate", map[string]string{"expression": fmt.Sprintf("%d + %d", n, i)}, &e); err != nil {
					t.Errorf("client %d, request %d: %v", n, i, err)
					return
				}
				answered.Add(1)
				wait.Pace(pause)
			}
		})
	}
	for i, old := range servers {
		before := answered.Load()
		replacement := in.api("api")
		b.add(t, replacement.URL)
		wait.Until(t, "the replacement is ready", func() bool { return b.ready() == 3 })
		signal(t, old, syscall.SIGTERM)
		if status := old.Wait(); status != 0 {
			t.Errorf("server %d ends with %d:\n%s", i, status, old.Output())
		}
		b.remove(old.URL)
		wait.Until(t, "requests are answered", func() bool { return answered.Load() > before+clients || t.Failed() })
	}
	close(ended)
	working.Wait()
	t.Logf("%d requests answered while both servers were replaced, %d failed", answered.Load(), b.failed.Load())
	if n := b.failed.Load(); n > 0 {
		t.Errorf("%d requests failed in the balancer", n)
	}
}

// TestIdleLogDoesNotGrow: a server with an embedded log that holds a session, and does nothing for
// many leases, writes nothing, and keeps the session.
func TestIdleLogDoesNotGrow(t *testing.T) {
	t.Parallel()
	const interval = 50 * time.Millisecond
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data, "--beat", interval.String())
	alice := server.NewAccount("alice@example.com")
	_, err := inSession(alice, "x = 1")
	must(t, err)
	wait.Pace(60 * interval) // the time in which nothing may be written
	if again, err := inSession(alice, "x"); err != nil || again.Result != "1" || len(again.Warnings) > 0 {
		t.Errorf("after %v: %+v, %v", 60*interval, again, err)
	}
	if status := server.Interrupt(); status != 0 {
		t.Fatalf("it ends with %d:\n%s", status, server.Output())
	}
	n, err := node.Open(node.Config{Dir: data + "/eventstore"})
	must(t, err)
	defer func() { _ = n.Close(t.Context()) }()
	log := connect(t, n.ConnectionString())
	opened, idle := false, 0
	for r, err := range log.ReadAll(t.Context(), event.Position{}) {
		must(t, err)
		switch r.Event.(type) {
		case runner.Beat:
			t.Errorf("a heartbeat that nobody could read: %+v", r.Event)
		case session.Opened:
			opened = true
		case session.Expired: // by the server that stops: it was there for the evaluation above
			opened = false
		}
		if opened {
			idle++
		}
	}
	// session.opened, two runs and their receipts, and nothing else
	if want := 5; idle > want {
		t.Errorf("%d events while the session was held, want at most %d", idle, want)
	}
}

// TestALongJobStaysWithItsServer: a server with an embedded log, which writes no heartbeats, runs a job for many leases and nobody takes it over.
func TestALongJobStaysWithItsServer(t *testing.T) {
	t.Parallel()
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data, "--beat", "50ms")
	alice := server.NewAccount("alice@example.com")
	var submitted struct {
		JobID string `json:"job_id"`
	}
	must(t, alice.JSON("POST", "/api/jobs", map[string]string{"expression": "Pause[3]; 7"}, &submitted))
	var ended struct{ Status, Output string }
	must(t, alice.JSON("GET", "/api/jobs/"+submitted.JobID+"?wait_ms=25000", nil, &ended))
	if ended.Status != "succeeded" || ended.Output != "7" {
		t.Errorf("%+v", ended)
	}
	if strings.Contains(server.Output(), "took a job over") {
		t.Errorf("taken over:\n%s", server.Output())
	}
}

// TestOutagesAreQuiet: while the log or the database is away a process that does everything, and
// is asked all the while, writes at most a line a second about that, and works again afterwards, which it says once of each part.
func TestOutagesAreQuiet(t *testing.T) {
	t.Parallel()
	const lasts = supervision.Silence + 2*supervision.ReadinessLooks
	in := install(t)
	server := in.api("api,project,run,react")
	alice := server.NewAccount("alice@example.com")
	works := func() bool {
		if alice.JSON("POST", "/api/evaluate", map[string]string{"expression": "1 + 1"}, nil) != nil {
			return false
		}
		response, err := alice.Do("GET", "/readyz", nil, nil)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	wait.Until(t, "it works", works)
	for _, outage := range []struct {
		of        string
		cut, mend func()
	}{
		{"the log", func() { in.node.kill() }, in.startNode},
		{"the database", in.database.Refuse, in.database.Mend},
	} {
		before := strings.Count(server.Output(), "\n")
		begun := time.Now()
		outage.cut()
		for time.Since(begun) < lasts {
			for _, path := range []string{"/readyz", "/api/history", "/api/jobs"} {
				asking, cancel := context.WithTimeout(t.Context(), supervision.Readiness.Timeout)
				request, err := http.NewRequestWithContext(asking, http.MethodGet, server.URL+path, nil)
				must(t, err)
				request.Header.Set("Authorization", "Bearer "+alice.Token)
				if response, err := http.DefaultClient.Do(request); err == nil {
					_ = response.Body.Close()
				}
				cancel()
			}
		}
		outage.mend()
		wait.Until(t, "it works after "+outage.of+" was away", works)
		output := strings.Split(server.Output(), "\n")[before:]
		seconds := int(time.Since(begun)/time.Second) + 1
		lines, again := len(output)-1, map[string]int{}
		for _, line := range output {
			if _, of, is := strings.Cut(line, `msg="ready again" dependency=`); is {
				again[strings.Fields(of)[0]]++
				lines--
			}
		}
		t.Logf("%s away for %v: %d lines in %d s, ready again: %v", outage.of, lasts, lines, seconds, again)
		if lines == 0 || lines > seconds+1 || len(again) == 0 || len(again) != len(output)-1-lines {
			t.Errorf("%d lines in %d s while %s was away:\n%s", lines, seconds, outage.of, strings.Join(output, "\n"))
		}
	}
}
