package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	runs "reckon/domain/run"
)

// get asks an address, with a token unless it is empty.
func get(t *testing.T, client *http.Client, url, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

func wantFigures(t *testing.T, body string, figures ...string) {
	t.Helper()
	for _, want := range figures {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// TestAServerWithoutTheAPIIsWatched: it has figures and readiness on its socket and on --admin-listen, where readiness needs no token.
func TestAServerWithoutTheAPIIsWatched(t *testing.T) {
	t.Parallel()
	data, token := shortTempDir(t), "a token of some length"
	command := reckonCommand(t, []string{"RECKON_ADMIN_TOKEN=" + token}, "serve", "--init", "--roles", "project,react", "--data", data, "--admin-listen", "127.0.0.1:0")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	go func() { _, _ = io.Copy(io.Discard, errs) }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
		t.Fatalf("%q, %v", line, err)
	}
	local := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", adminSocket(data))
	}}}
	status, body := get(t, local, "http://admin/readyz", "")
	var ready struct{ Ready bool }
	if err := json.Unmarshal([]byte(body), &ready); status != 200 || err != nil || !ready.Ready {
		t.Errorf("%d %s", status, body)
	}
	_, body = get(t, local, "http://admin/metrics", "")
	wantFigures(t, body, "reckon_ready 1", `reckon_dependency_up{dependency="eventstore"} 1`, `reckon_dependency_up{dependency="database"} 1`,
		`reckon_jobs_waiting{kind="evaluate"} 0`, `reckon_jobs_running{kind="proof"} 0`, "reckon_jobs_oldest_waiting_seconds 0",
		`reckon_reaction_parked{reaction="publish_outcome"} 0`, `reckon_part_up{part="read models"} 1`, `reckon_part_restarts_total{part="read models"} 0`,
		"reckon_log_refuses_appends 0", `reckon_collect_failed_total{figures="projections"} 0`)
	for _, of := range []string{`reckon_projection_phase{phase="running",projection="history",version="`, `reckon_projection_lag_seconds{projection="history",version="`} {
		if !strings.Contains(body, of) {
			t.Errorf("no %s", of)
		}
	}
	if strings.Contains(body, "reckon_runner_slots") || strings.Contains(body, "dependency=\"signing_key\"") {
		t.Errorf("figures of what this process does not do:\n%s", body)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

// TestGuardedReadiness: on a port anybody may ask for readiness, by a name of this machine, and for nothing else.
func TestGuardedReadiness(t *testing.T) {
	t.Parallel()
	data, token := filepath.Join(shortTempDir(t), "log"), "a token of some length"
	if status, _, stderr := reckon(t, "", []string{"RECKON_ADMIN_TOKEN=short"}, "node", "--init", "--data", data, "--admin-listen", "127.0.0.1:0"); status != 2 || !strings.Contains(stderr, "at least 16 bytes") {
		t.Errorf("status %d, %s", status, stderr)
	}
	command := reckonCommand(t, []string{"RECKON_ADMIN_TOKEN=" + token}, "node", "--init", "--data", data, "--admin-listen", "127.0.0.1:0")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	says := bufio.NewReader(out)
	first, _ := says.ReadString('\n')
	second, _ := says.ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(second), "figures http://")
	address, named := strings.CutSuffix(address, "/metrics")
	if !strings.HasPrefix(first, "ready ") || !found || !named {
		t.Fatalf("%q %q", first, second)
	}
	if status, body := get(t, http.DefaultClient, "http://"+address+"/readyz", ""); status != 200 || body != "{\"ready\":true}\n" {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := get(t, http.DefaultClient, "http://"+address+"/metrics", ""); status != 401 {
		t.Errorf("figures without a token: %d", status)
	}
	status, body := get(t, http.DefaultClient, "http://"+address+"/metrics", token)
	wantFigures(t, body, "reckon_ready 1", "reckon_log_refuses_appends 0")
	if status != 200 || !strings.Contains(body, "reckon_log_position ") || !strings.Contains(body, "go_goroutines") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := get(t, http.DefaultClient, "http://"+address+"/debug/pprof/heap", token); status != 200 {
		t.Errorf("profiles: %d", status)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

func TestUnsignedReceiptsAreSeen(t *testing.T) {
	t.Parallel()
	embedded, err := domain.Catalogue().Embed(runs.Sealed{RunID: 1, Signature: "s"}, runs.Sealed{RunID: 2}, runs.Reserved{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		e    event.Event
		want bool
	}{{runs.Sealed{Signature: "s"}, false}, {runs.Sealed{}, true}, {embedded[0], false}, {embedded[1], true}, {embedded[2], false}, {job.WasLost{}, false}} {
		if got := isUnsigned(c.e); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
}

func TestResultsOfAppends(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{nil: "ok", commands.ErrConflict: "conflict", commands.ErrUnavailable: "unavailable", context.Canceled: "refused"} {
		if got := appendResult(err); got != want {
			t.Errorf("%v: %s", err, got)
		}
	}
}
