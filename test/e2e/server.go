// Package e2e drives the real binary over HTTP with the real engine, as a user
// and an operator would.
//
// It promises no stand-ins: the binary is built from this tree, its data lies in
// a folder of the test's own, and only loopback is used. The engine's
// environment is the one all tests of the machine share.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reckon/runners/portfolio"
	"reckon/test/binary"
	"reckon/test/engines"
	"reckon/test/locked"
	"reckon/test/wait"
)

// DataFolder is an empty data folder whose engines are already installed.
func DataFolder(t testing.TB) string {
	t.Helper()
	data := t.TempDir()
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	engines.Link(t, data)
	return data
}

// GenerousPlans is a configuration under which a test may evaluate as fast as it can.
func GenerousPlans(t testing.TB, data string) string {
	t.Helper()
	path := filepath.Join(data, "reckon.toml")
	const plans = `[[plans]]
plan = "free"
evaluation_budget_ms = 3000
per_minute = 100000
concurrent_evaluations = 64
jobs_per_day = 1000
job_budget_ms = 60000
concurrent_jobs = 4
qubits = 20
proof_export_bytes = 1048576
proofs = true
live_sessions = 2
denied_heads = ["Run", "Import"]
`
	if err := os.WriteFile(path, []byte(plans), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Server is a running `reckon serve`.
type Server struct {
	URL  string
	Log  string // connection string of the event log
	Data string

	admin   string // where --admin-listen was asked for
	t       testing.TB
	process *exec.Cmd
	output  *locked.Buffer
	exited  chan struct{}
}

// Settings of a process's engines. A second engine takes as much processor time to start as the process itself.
var (
	FirstEngine = []string{"--engines", "none"}
	EveryEngine = []string{"--engines", strings.Join(portfolio.Default, ",")} // those that a process has by default
)

// Start runs a server on a data folder and waits until it is ready. It has the FirstEngine only, unless the arguments say otherwise.
func Start(t testing.TB, data string, arguments ...string) *Server {
	t.Helper()
	return StartThrough(t, nil, data, arguments...)
}

// StartThrough is Start by way of a program, as env or sh, that becomes the one named by its further arguments.
func StartThrough(t testing.TB, through []string, data string, arguments ...string) *Server {
	t.Helper()
	s := &Server{Data: data, t: t, output: &locked.Buffer{}, exited: make(chan struct{})}
	settings := slices.Concat([]string{"--data", data, "--listen", "127.0.0.1:0", "--registrations-per-hour", "1000", "--sign-ins-per-minute", "1000"}, FirstEngine, arguments)
	arguments = slices.Concat(through, []string{binary.Reckon(t), "serve", "--init"}, settings)
	s.process = exec.Command(arguments[0], arguments[1:]...)
	s.process.Stderr = s.output
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(ready)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			line := lines.Text()
			_, _ = fmt.Fprintln(s.output, line)
			if address, ok := strings.CutPrefix(line, "ready "); ok {
				ready <- address
			}
			if log, ok := strings.CutPrefix(line, "  log  "); ok {
				s.Log = log
				ready <- ""
			}
		}
	}()
	go func() {
		_ = s.process.Wait()
		close(s.exited)
	}()
	t.Cleanup(s.Kill)
	deadline := time.After(wait.Longest)
	for s.URL == "" || s.Log == "" {
		select {
		case address, more := <-ready:
			if !more {
				<-s.exited
				t.Fatalf("the server ended before it was ready:\n%s", s.output)
			}
			if address != "" {
				s.URL = address
			}
		case <-deadline:
			t.Fatalf("not ready after %v:\n%s", wait.Longest, s.output)
		}
	}
	return s
}

// Kill ends the server at once, as kill -9 does.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	<-s.exited
}

// Interrupt is Ctrl-C; it returns the exit status.
func (s *Server) Interrupt() int {
	s.t.Helper()
	if err := s.process.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	return s.Wait()
}

// Wait waits until a server that was told to stop has, and returns its exit status.
func (s *Server) Wait() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(wait.Longest):
		s.t.Fatalf("still running after it was told to stop:\n%s", s.output)
	}
	return s.process.ProcessState.ExitCode()
}

// Output is what the server has printed so far.
func (s *Server) Output() string { return s.output.String() }

// PID is the server's process id.
func (s *Server) PID() int { return s.process.Process.Pid }

// Account is a signed-in client.
type Account struct {
	ID    string
	Email string
	Token string
	URL   string
	http  *http.Client
}

// transport is of all accounts. It closes idle connections before the server does, after 25 s: a request is never sent on one that is being closed.
var transport = sync.OnceValue(func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = 10 * time.Second
	return t
})

// NewAccount registers an address and mints a token, over HTTP only.
func (s *Server) NewAccount(email string) *Account {
	s.t.Helper()
	a := &Account{Email: email, URL: s.URL, http: &http.Client{Timeout: time.Minute, Transport: transport()}}
	credentials := map[string]string{"email": email, "password": "correct horse battery"}
	var registered struct {
		UserID string `json:"user_id"`
	}
	s.must(a.JSON("POST", "/auth/register", credentials, &registered))
	a.ID = registered.UserID
	response, err := a.Do("POST", "/auth/login", credentials, nil)
	s.must(err)
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if len(response.Cookies()) == 0 { // the session's, then the device's
		s.t.Fatalf("login: %s without a cookie", response.Status)
	}
	var minted struct {
		Token string `json:"token"`
	}
	response, err = a.Do("POST", "/api/tokens", map[string]string{"name": "e2e"}, http.Header{"Cookie": {response.Cookies()[0].String()}})
	s.must(err)
	s.must(decode(response, &minted))
	a.Token = minted.Token
	return a
}

// Command runs another verb of the binary on the server's data folder.
func (s *Server) Command(stdin string, arguments ...string) string {
	s.t.Helper()
	command := exec.Command(binary.Reckon(s.t), append(arguments, "--data", s.Data)...)
	command.Stdin = strings.NewReader(stdin)
	output, err := command.CombinedOutput()
	if err != nil {
		s.t.Fatalf("reckon %v: %v\n%s", arguments, err, output)
	}
	return string(output)
}

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.output)
	}
}

// Do sends one request; body is JSON unless it is a string or bytes.
func (a *Account) Do(method, path string, body any, header http.Header) (*http.Response, error) {
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(context.Background(), method, a.URL+path, reader)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if a.Token != "" {
		request.Header.Set("Authorization", "Bearer "+a.Token)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	return a.http.Do(request)
}

// StatusError is an answer that was not 200.
type StatusError struct {
	Status int
	Code   string `json:"code"`
	Detail string `json:"detail"`
	RunID  int64  `json:"run_id"`
	// SessionEnded is why the session of an evaluation ended with it.
	SessionEnded string `json:"session_ended"`
}

func (e *StatusError) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Detail) }

// JSON sends one request and decodes a 200; anything else is a *StatusError.
func (a *Account) JSON(method, path string, body, answer any) error {
	response, err := a.Do(method, path, body, nil)
	if err != nil {
		return err
	}
	return decode(response, answer)
}

func decode(response *http.Response, answer any) error {
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		problem := &StatusError{Status: response.StatusCode}
		if err := json.Unmarshal(content, problem); err != nil {
			problem.Detail = string(content)
		}
		return problem
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(content, answer)
}

// statusOf is the status and code of a refused request; 200 when it was not refused.
func statusOf(err error) (status int, code string) {
	var refused *StatusError
	if errors.As(err, &refused) {
		return refused.Status, refused.Code
	}
	return http.StatusOK, ""
}
