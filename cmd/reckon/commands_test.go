package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"reckon/commands"
	"reckon/internal/config"
	"reckon/internal/keyring"
	"reckon/test/need"
)

// asCommand makes this test's binary the command itself, in a process of its own.
const asCommand = "RUN_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(run(os.Args[1:]))
	}
	if file := os.Getenv(asMeasured); file != "" {
		os.Exit(runMeasured(file, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// reckonCommand is a process with this environment and no other.
func reckonCommand(t *testing.T, environment []string, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, arguments...)
	command.Env = append([]string{asCommand + "=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, environment...)
	command.Dir = t.TempDir()
	return command
}

// TestAnInterruptIsNoOutage: a command that is ended while its log does not answer says that it was ended.
func TestAnInterruptIsNoOutage(t *testing.T) {
	t.Parallel()
	interrupted := func(arguments ...string) (status int, said string) {
		t.Helper()
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = silent.Close() }()
		command := reckonCommand(t, nil, append(arguments, "--eventstore", "esdb://"+silent.Addr().String()+"?tls=false", "--insecure-eventstore")...)
		var output bytes.Buffer
		command.Stderr = &output
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		connection, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close() }()
		if err := command.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait() // its status is read below
		return command.ProcessState.ExitCode(), output.String()
	}
	if status, said := interrupted("audit", "--blobs", t.TempDir()); status != 2 || strings.TrimSpace(said) != "reckon: interrupted" {
		t.Errorf("%d: %s", status, said)
	}
	if status, said := interrupted("serve", "--init", "--data", filepath.Join(t.TempDir(), "data"), "--roles", "react", "--database", "sqlite:"+filepath.Join(t.TempDir(), "models.db")); status != 0 || !strings.Contains(said, "the start had not ended") {
		t.Errorf("a server that is told to stop while it waits: %d: %s", status, said)
	}
}

// startedNode runs `reckon node` until stop or the test's end; address is what it is ready at.
func startedNode(t *testing.T, environment []string, arguments ...string) (node *exec.Cmd, address string, stop func()) {
	t.Helper()
	node = reckonCommand(t, environment, append([]string{"node", "--init"}, arguments...)...)
	node.Cancel = func() error { return node.Process.Signal(syscall.SIGTERM) }
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			_ = node.Process.Kill()
			_ = node.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ready {
		t.Fatalf("%q, %v", line, err)
	}
	return node, address, func() {
		t.Helper()
		if err := node.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		stopped = true
		if err := node.Wait(); err != nil {
			t.Errorf("SIGTERM: %v", err)
		}
	}
}

// reckon runs a command to its end.
func reckon(t *testing.T, stdin string, environment []string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	command := reckonCommand(t, environment, arguments...)
	var out, errs bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errs
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestExitStatuses: 0 is fine, 1 found something wrong, 2 could not run; what
// is wrong is said on standard error and names the mistake.
// TestUsage: help shows the options of what a command does without a further word, and an error of usage names the help that lists what was meant.
func TestUsage(t *testing.T) {
	t.Parallel()
	help, err := reckonCommand(t, nil, "audit", "--help").Output()
	before, options, _ := bytes.Cut(help, []byte("Usage: "))
	if err != nil || !bytes.Contains(options, []byte("--reverify-from")) || !bytes.Contains(before, []byte("reckon audit usage")) {
		t.Errorf("%v\n%s", err, help)
	}
	for _, c := range [][]string{{"audit", "--nonsense"}, {"audit", "x"}, {"audit", "usage", "--nonsense"}, {"node", "verify", "--nonsense"}, {"verify"}, {"lean", "check", "x"}, {"serve", "x"}} {
		failed := reckonCommand(t, nil, c...)
		said, _ := failed.CombinedOutput() // its status is below
		var words []string
		for _, word := range c {
			if word != "x" && word != "--nonsense" {
				words = append(words, word)
			}
		}
		if want := "Try `reckon " + strings.Join(words, " ") + " --help`.\n"; failed.ProcessState.ExitCode() != 2 || !strings.HasSuffix(string(said), want) {
			t.Errorf("%v: %d\n%s", c, failed.ProcessState.ExitCode(), said)
		}
	}
}

func TestExitStatuses(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", data); status != 0 {
		t.Fatal(stderr)
	}
	file := filepath.Join(data, "file")
	if err := os.WriteFile(file, []byte("lisen = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		arguments []string
		status    int
		stderr    string
	}{
		"version":                   {[]string{"version"}, 0, ""},
		"version as a flag":         {[]string{"--version"}, 0, ""},
		"help":                      {[]string{"keys", "rotate", "--help"}, 0, ""},
		"licences":                  {[]string{"licences"}, 0, ""},
		"nothing":                   {nil, 2, "expected one of"},
		"no such command":           {[]string{"sing"}, 2, "sing"},
		"no such flag":              {[]string{"serve", "--lisen", "x"}, 2, "lisen"},
		"a flag without value":      {[]string{"serve", "--listen"}, 2, "listen"},
		"a role nobody has":         {[]string{"serve", "--roles", "cook"}, 2, "cook"},
		"no duration":               {[]string{"serve", "--grace", "soon"}, 2, "soon"},
		"no level":                  {[]string{"serve", "--log-level", "loud"}, 2, "loud"},
		"no such file":              {[]string{"serve", "--config", "nosuch.toml"}, 2, "nosuch.toml"},
		"no such key":               {[]string{"serve", "--config", file}, 2, "lisen"},
		"a file for a folder":       {[]string{"serve", "--data", file, "--listen", "127.0.0.1:0"}, 2, file},
		"node in a file":            {[]string{"node", "--data", file}, 2, file},
		"node beyond loopback":      {[]string{"node", "--init", "--data", filepath.Join(data, "node"), "--insecure-listen", "0.0.0.0:0"}, 2, "loopback"},
		"node on a port":            {[]string{"node", "--data", filepath.Join(data, "node"), "--listen", "127.0.0.1:0"}, 2, "give --secure too"},
		"a log anybody may write":   {[]string{"serve", "--data", data, "--eventstore", "esdb://127.0.0.1:1?tls=false"}, 2, "--insecure-eventstore"},
		"its keys":                  {[]string{"keys", "rotate", "--data", data, "--eventstore", "esdb://127.0.0.1:1"}, 2, "--insecure-eventstore"},
		"no engine yet":             {[]string{"engine", "status", "--data", data}, 1, ""},
		"no password":               {[]string{"account", "create", "a@example.com", "--password-stdin", "--data", data}, 2, "password"},
		"password as argument":      {[]string{"account", "create", "a@example.com", "--data", data}, 2, "password-stdin"},
		"no such account":           {[]string{"account", "plan", "a@example.com", "pro", "--data", data}, 2, "account"},
		"token for nobody":          {[]string{"account", "token", "a@example.com", "--name", "x", "--data", data}, 2, "account"},
		"token of the past":         {[]string{"account", "token", "a@example.com", "--name", "x", "--expires-in-days=-1", "--data", data}, 2, "expires-in-days"},
		"token of another age":      {[]string{"account", "token", "a@example.com", "--name", "x", "--expires-in-days=3651", "--data", data}, 2, "expires-in-days"},
		"no such log":               {[]string{"keys", "list", "--data", data, "--eventstore", "http://x"}, 2, "--eventstore"},
		"no read models":            {[]string{"projections", "pause", "history", "--data", data}, 2, "database of read models"},
		"retry of no reaction":      {[]string{"parked", "retry", "nosuch", "--data", data}, 2, "nosuch"},
		"a circuit that is no file": {[]string{"qsim", filepath.Join(data, "nosuch")}, 2, "nosuch"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := reckon(t, "", nil, c.arguments...)
			if status != c.status || !strings.Contains(stderr, c.stderr) || status == 2 && stderr == "" {
				t.Errorf("reckon %v: status %d, want %d and %q\nstdout: %s\nstderr: %s", c.arguments, status, c.status, c.stderr, stdout, stderr)
			}
		})
	}
}

// TestWhichSettingWins: a flag over the environment, the environment over the
// file, the file over the default. The folder made tells which won.
func TestWhichSettingWins(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	file := at("reckon.toml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf("data = %q\n[[plans]]\nplan = \"free\"\n", at("file"))), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want        string
		environment []string
		arguments   []string
	}{
		{"flag", []string{"RECKON_DATA=" + at("environment")}, []string{"--config", file, "--data", at("flag")}},
		{"environment", []string{"RECKON_DATA=" + at("environment")}, []string{"--config", file}},
		{"file", nil, []string{"--config", file}},
	} {
		status, _, stderr := reckon(t, "", c.environment, append([]string{"keys", "rotate", "--init"}, c.arguments...)...)
		made, err := filepath.Glob(at("*/eventstore"))
		if err != nil || status != 0 || len(made) != 1 || made[0] != at(c.want+"/eventstore") {
			t.Errorf("%s: status %d, made %v, %v\n%s", c.want, status, made, err, stderr)
		}
		if err := os.RemoveAll(at(c.want)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAccountsAndKeysWithoutAServer runs the operator's commands on a folder no
// server uses.
func TestAccountsAndKeysWithoutAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	do := func(want int, stdin string, arguments ...string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := reckon(t, stdin, []string{"RECKON_DATA=" + data}, arguments...)
		if status != want {
			t.Fatalf("reckon %v: status %d, want %d\n%s%s", arguments, status, want, stdout, stderr)
		}
		return stdout, stderr
	}
	var created struct {
		UserID string `json:"user_id"`
	}
	stdout, stderr := do(0, "a long password\r\n", "account", "create", "--init", "op@example.com", "--password-stdin", "--json")
	if !strings.Contains(stderr, "made a new installation in "+data) {
		t.Errorf("an installation was made without a word: %s", stderr)
	}
	if _, stderr := do(0, "", "keys", "list"); strings.Contains(stderr, "made") {
		t.Errorf("made again: %s", stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &created); err != nil || len(created.UserID) != 36 {
		t.Errorf("created %s: %v", stdout, err)
	}
	do(2, "another password\n", "account", "create", "OP@example.com", "--password-stdin")
	do(2, "short\n", "account", "create", "new@example.com", "--password-stdin")
	do(2, "a long password\n", "account", "create", "no address", "--password-stdin")

	var minted struct {
		TokenID string `json:"token_id"`
		Token   string `json:"token"`
	}
	stdout, _ = do(0, "", "account", "token", "op@example.com", "--name", "ops", "--expires-in-days", "30", "--json")
	if err := json.Unmarshal([]byte(stdout), &minted); err != nil || len(minted.TokenID) != 64 || minted.Token == "" {
		t.Errorf("minted %s: %v", stdout, err)
	}
	do(2, "", "account", "token", "op@example.com", "--name", " \t")
	do(0, "another password\n", "account", "password", "op@example.com", "--password-stdin")
	do(2, "short\n", "account", "password", "op@example.com", "--password-stdin")
	do(2, "another password\n", "account", "password", "nobody@example.com", "--password-stdin")
	if stdout, _ := do(0, "", "account", "signout", "op@example.com", "--json"); strings.TrimSpace(stdout) != "{\n  \"ended\": 0\n}" {
		t.Errorf("signout: %s", stdout)
	}
	do(0, "", "account", "revoke", "op@example.com", "--token", minted.TokenID)
	do(0, "", "account", "plan", "op@example.com", "pro")
	if _, stderr := do(2, "", "account", "plan", "op@example.com", "nosuch"); !strings.Contains(stderr, commands.ErrUnknownPlan.Error()) || !strings.Contains(stderr, "free, pro, team") {
		t.Errorf("no such plan: %s", stderr)
	}
	do(0, "", "account", "close", "op@example.com")
	do(2, "", "account", "token", "op@example.com", "--name", "ops")

	statuses := func() (list []string) {
		stdout, _ := do(0, "", "keys", "list", "--json")
		var reports []keyReport
		if err := json.Unmarshal([]byte(stdout), &reports); err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			list = append(list, r.Status)
		}
		return list
	}
	for _, step := range []struct {
		status int
		keys   string
	}{{0, "published"}, {0, "active"}, {0, "active published"}, {1, "active published"}} { // the second key waits ten minutes
		do(step.status, "", "keys", "rotate")
		if got := strings.Join(statuses(), " "); got != step.keys {
			t.Errorf("keys %s, want %s", got, step.keys)
		}
	}
}

// TestNodeAlone starts the node, uses it and stops it.
func TestNodeAlone(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data", "eventstore")
	node, connection, stop := startedNode(t, nil, "--data", folder)
	status, _, stderr := reckon(t, "", nil, "node", "--data", folder)
	if status != 2 || !strings.Contains(stderr, fmt.Sprint(node.Process.Pid)) {
		t.Errorf("a second node: status %d\n%s", status, stderr)
	}
	// The folder's owner is named by every command that needs it.
	status, _, stderr = reckon(t, "", nil, "keys", "list", "--data", filepath.Dir(folder))
	if status != 2 || !strings.Contains(stderr, fmt.Sprint(node.Process.Pid)) {
		t.Errorf("a command beside the node: status %d\n%s", status, stderr)
	}
	elsewhere, keyFolder := filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "keys")
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--data", elsewhere, "--eventstore", connection, "--keys", keyFolder); status != 0 {
		t.Errorf("through the node: status %d\n%s", status, stderr)
	}
	for _, command := range [][]string{{"keys", "rotate"}, {"account", "plan", "a@example.com", "pro"}, {"projections", "status"}, {"parked"}} { // the log is there, the rest may be anywhere
		status, _, stderr := reckon(t, "", nil, append(command, "--data", elsewhere, "--eventstore", connection)...)
		if status != 2 || !strings.Contains(stderr, "it is not known where the servers have their") {
			t.Errorf("reckon %v: status %d\n%s", command, status, stderr)
		}
	}
	if status, stdout, _ := reckon(t, "", nil, "keys", "list", "--data", elsewhere, "--eventstore", connection, "--keys", keyFolder); status != 0 || !strings.Contains(stdout, "published") {
		t.Errorf("through the node: status %d, %s", status, stdout)
	}
	stop()
	if status, _, stderr := reckon(t, "", nil, "keys", "list", "--data", filepath.Dir(folder)); status != 0 {
		t.Errorf("after the node: status %d\n%s", status, stderr)
	}
}

// TestReadingMakesNothing: a command that only reads, or that needs what is there,
// says that nothing is there and leaves the disk as it was.
func TestReadingMakesNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	empty := filepath.Join(root, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	// moved is where an installation was put that a server had at away; of its parts only the log is there.
	away, moved := filepath.Join(root, "away"), filepath.Join(t.TempDir(), "moved")
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", away); status != 0 {
		t.Fatal(stderr)
	}
	complete, err := config.Installation{Data: away}.Complete()
	if err == nil {
		err = recordServed(complete)
	}
	if err = errors.Join(err, os.RemoveAll(filepath.Join(away, "keys")), os.Rename(away, moved)); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{filepath.Join(root, "nosuch"), empty, moved} {
		for _, command := range [][]string{
			{"keys", "list"}, {"parked"}, {"parked", "list"}, {"parked", "retry", "history"}, {"parked", "retry", "publish_outcome"}, {"parked", "drop", "history", "s"},
			{"projections", "status"}, {"projections", "boot", "history"}, {"projections", "pause", "history"}, {"projections", "teardown", "history", "1"},
			{"account", "token", "a@example.com", "--name", "x"}, {"account", "plan", "a@example.com", "pro"}, {"account", "close", "a@example.com"},
			{"account", "signout", "a@example.com"}, {"account", "tokens", "a@example.com"}, {"account", "revoke", "a@example.com", "--all"},
			{"lean", "recheck", "0198a1b2-0000-7000-8000-00000000000a"}, {"engine", "status"}, {"engine", "test"}, {"blobs", "collect"},
		} {
			if data == moved && slices.Contains(command, "boot") { // builds what is missing
				continue
			}
			status, stdout, stderr := reckon(t, "", nil, append(command, "--data", data)...)
			if keysList := command[0] == "keys" && data == moved; !keysList && (status == 0 || !strings.Contains(stdout+stderr, data)) || keysList && status != 0 {
				t.Errorf("reckon %v: status %d\n%s%s", command, status, stdout, stderr)
			}
		}
	}
	for folder, want := range map[string]string{root: "empty", empty: "", moved: "eventstore settings.json"} {
		names, err := entries(folder)
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("in %s are %q and not %q, %v", folder, got, want, err)
		}
	}
}

// TestForeignAndOpenFolders: an empty data or key folder that others could enter is closed; one that holds something, or is not ours, is refused.
func TestForeignAndOpenFolders(t *testing.T) {
	t.Parallel()
	data, keys := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "keys")
	for _, folder := range []string{data, keys} {
		if err := errors.Join(os.Mkdir(folder, 0o777), os.Chmod(folder, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", data, "--keys", keys); status != 0 || strings.Count(stderr, "could enter the empty folder") != 2 {
		t.Errorf("open folders: status %d\n%s", status, stderr)
	}
	for _, folder := range []string{data, keys} {
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", folder, info.Mode(), err)
		}
	}
	full := filepath.Join(t.TempDir(), "full")
	if err := errors.Join(os.Mkdir(full, 0o755), os.WriteFile(filepath.Join(full, "holiday.txt"), nil, 0o644), os.Chmod(full, 0o755)); err != nil { //nolint:gosec // open on purpose
		t.Fatal(err)
	}
	for _, command := range [][]string{{"serve", "--data", full}, {"serve", "--data", data, "--blobs", "file://" + full}, {"keys", "rotate", "--init", "--data", filepath.Join(t.TempDir(), "data"), "--keys", full},
		{"account", "create", "a@example.com", "--password-stdin", "--data", data, "--identity", "sqlite:" + filepath.Join(full, "holiday.txt")},
		{"projections", "boot", "history", "--data", data, "--database", "sqlite:" + filepath.Join(full, "holiday.txt")},
		{"node", "--data", full}, {"engine", "install", "--data", full}, {"engine", "test", "--data", full}, {"keys", "list", "--data", full}} {
		status, _, stderr := reckon(t, "a long password\n", nil, command...)
		if status != 2 || !strings.Contains(stderr, "chmod go-rwx "+full) {
			t.Errorf("reckon %v: status %d\n%s", command, status, stderr)
		}
		for path, mode := range map[string]os.FileMode{full: 0o755, filepath.Join(full, "holiday.txt"): 0o644} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Fatalf("reckon %v changed %s: %v, %v", command, path, info.Mode(), err)
			}
		}
	}
	if os.Geteuid() != 0 {
		need.Root(t)
	}
	const nobody = 65534
	if err := os.Chown(data, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"node"}, {"keys", "list"}, {"keys", "rotate"}, {"projections", "status"}, {"engine", "install"},
		{"account", "create", "a@example.com", "--password-stdin"}} {
		status, _, stderr := reckon(t, "a long password\n", nil, append(command, "--data", data)...)
		if status != 2 || !strings.Contains(stderr, data) || !strings.Contains(stderr, fmt.Sprint("belongs to user ", nobody)) {
			t.Errorf("reckon %v on another user's folder: status %d\n%s", command, status, stderr)
		}
	}
}

// TestAdminPort: who comes by a name of someone else's, or without the token, learns nothing.
func TestAdminPort(t *testing.T) {
	t.Parallel()
	const token = "a token long enough"
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("figures")) })
	handler := guardAdmin(inner, "metrics.example:9090", token)
	for _, c := range []struct {
		host, authorization string
		status              int
	}{
		{"127.0.0.1:9090", "Bearer " + token, 200}, {"[::1]:9090", "Bearer " + token, 200}, {"[::1]", "Bearer " + token, 200}, {"localhost", "Bearer " + token, 200},
		{"LOCALHOST:9090", "Bearer " + token, 200}, {"metrics.example:9090", "Bearer " + token, 200}, {"192.0.2.1", "Bearer " + token, 200},
		{"127.0.0.1:9090", "", 401}, {"127.0.0.1:9090", "Bearer ", 401}, {"127.0.0.1:9090", token, 401}, {"127.0.0.1:9090", "Bearer " + token + "x", 401}, {"127.0.0.1:9090", "bearer x", 401},
		{"evil.example", "Bearer " + token, 421}, {"evil.example:9090", "Bearer " + token, 421}, {"localhost.evil.example", "", 421}, {"", "Bearer " + token, 421}, {"127.0.0.1.evil.example:9090", "", 421},
	} {
		request := httptest.NewRequest("GET", "/metrics", nil)
		request.Host = c.host
		if c.authorization != "" {
			request.Header.Set("Authorization", c.authorization)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != c.status || (c.status != 200) == strings.Contains(answer.Body.String(), "figures") {
			t.Errorf("Host %q, %q: %d %s", c.host, c.authorization, answer.Code, answer.Body)
		}
	}
	if ownHost("", "") {
		t.Error("no name is the own one of a listener on all addresses")
	}
}

// listenAdmin answers on a folder's admin socket.
func listenAdmin(t *testing.T, handler http.Handler) (data string) {
	t.Helper()
	data = t.TempDir()
	listener, err := net.Listen("unix", adminSocket(data))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return data
}

func TestAskServer(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(serverSettings{Log: "esdb://x", Process: "p"})
	})
	mux.HandleFunc("GET /wrong", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such read model", http.StatusNotFound) })
	mux.HandleFunc("GET /garbled", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{")) })
	data := listenAdmin(t, mux)

	var answer serverSettings
	if ok, err := askServer(t.Context(), data, "GET", "/settings", &answer); !ok || err != nil || answer.Log != "esdb://x" {
		t.Errorf("%v, %v, %+v", ok, err, answer)
	}
	if ok, err := askServer(t.Context(), data, "GET", "/wrong", &answer); !ok || err == nil || !strings.Contains(err.Error(), "no such read model") {
		t.Errorf("a refusal: %v, %v", ok, err)
	}
	if ok, err := askServer(t.Context(), data, "GET", "/garbled", &answer); !ok || err == nil {
		t.Errorf("garbled: %v, %v", ok, err)
	}
	if ok, err := askServer(t.Context(), t.TempDir(), "GET", "/settings", &answer); ok || err != nil {
		t.Errorf("nobody there: %v, %v", ok, err)
	}
	// A command that was given up must not go on as if no server ran.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, err := askServer(ctx, data, "GET", "/settings", &answer); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v, %v", ok, err)
	}
}

func TestClaimSocket(t *testing.T) {
	t.Parallel()
	claim := func(data string) error {
		return (&service{process: process{config: config.Serve{Installation: config.Installation{Data: data}}}}).claimSocket(t.Context(), adminSocket(data))
	}
	live := listenAdmin(t, http.NotFoundHandler())
	if err := claim(live); err == nil || !strings.Contains(err.Error(), live) {
		t.Errorf("a live server's: %v", err)
	}
	if ok, err := askServer(t.Context(), live, "GET", "/", &struct{}{}); !ok {
		t.Errorf("the live server lost its socket: %v", err)
	}
	if err := claim(t.TempDir()); err != nil {
		t.Errorf("a new folder: %v", err)
	}
	stale := t.TempDir()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: adminSocket(stale)})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := claim(stale); err != nil {
		t.Errorf("a dead server's: %v", err)
	}
	if _, err := os.Lstat(adminSocket(stale)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead server's socket: %v", err)
	}
}

func TestASocketsPathIsShort(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), strings.Repeat("d", maxSocketPath))
	err := (&service{process: process{config: config.Serve{Installation: config.Installation{Data: data}}}}).makeAdmin(t.Context())
	if err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("%v", err)
	}
}

// TestPeersShareOneSecret: processes that start at once on one folder.
func TestPeersShareOneSecret(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "keys")
	if _, err := keyring.Open(folder); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	secrets := map[string]int{}
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			s := &service{process: process{id: fmt.Sprint("process-", n), config: config.Serve{Installation: config.Installation{Keys: folder}}}}
			secret, err := s.peerSecret()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			secrets[string(secret)]++
		})
	}
	group.Wait()
	for secret := range secrets {
		if len(secrets) != 1 || len(secret) != 64 {
			t.Errorf("secrets: %v", secrets)
		}
	}
	entries, err := filepath.Glob(filepath.Join(folder, "peer*"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if info, err := os.Stat(entries[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	configured := &service{process: process{config: config.Serve{Installation: config.Installation{Keys: folder}, PeerSecret: "given"}}}
	if secret, err := configured.peerSecret(); err != nil || string(secret) != "given" {
		t.Errorf("%s, %v", secret, err)
	}
}

func TestSessionKeysComeApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		account := rapid.StringMatching(`[a-f0-9-]{1,36}`).Draw(t, "account")
		id := rapid.StringMatching(`[A-Za-z0-9._-]{1,64}`).Draw(t, "session")
		epoch := rapid.IntRange(1, 1<<30).Draw(t, "epoch")
		gotAccount, gotID, gotEpoch, ok := splitSessionKey(commands.SessionKey(account, id, epoch))
		if !ok || gotAccount != account || gotID != id || gotEpoch != epoch {
			t.Fatalf("%s %s %d, %v", gotAccount, gotID, gotEpoch, ok)
		}
	})
	for _, key := range []string{"", "a", "a/b", "a/b/c", "a/b/1/2", "a/b/"} {
		if _, _, _, ok := splitSessionKey(key); ok {
			t.Errorf("%q is a session's key", key)
		}
	}
}

// TestVersionIsNotReadFromTheEnvironment: a variable that somebody set for another reason must not replace a command by a line of text.
func TestVersionIsNotReadFromTheEnvironment(t *testing.T) {
	t.Parallel()
	environment := []string{"RECKON_VERSION=1.4.2", "RECKON_HELP=true"}
	status, stdout, stderr := reckon(t, "", environment, "keys", "list", "--data", filepath.Join(t.TempDir(), "none"))
	if status != 2 || stdout != "" || !strings.Contains(stderr, "there is no event log") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	if status, stdout, _ := reckon(t, "", environment, "--help"); status != 0 || strings.Contains(stdout, "RECKON_VERSION") || strings.Contains(stdout, "RECKON_HELP") {
		t.Errorf("status %d\n%s", status, stdout)
	}
	if status, stdout, _ := reckon(t, "", environment, "--version"); status != 0 || stdout == "" {
		t.Errorf("status %d, %q", status, stdout)
	}
	file := filepath.Join(t.TempDir(), "reckon.toml")
	if err := os.WriteFile(file, []byte("version = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, stdout, stderr := reckon(t, "", []string{"RECKON_CONFIG=" + file}, "keys", "list", "--data", filepath.Join(t.TempDir(), "none")); status != 2 || stdout != "" {
		t.Errorf("in a file: status %d\n%s%s", status, stdout, stderr)
	}
}

// TestWhatRunsAtOnceIsACommand: it does without the model of the commands what the model says.
func TestWhatRunsAtOnceIsACommand(t *testing.T) {
	t.Parallel()
	if status, ran := runAtOnce([]string{"--version"}); status != 0 || !ran {
		t.Errorf("--version: %d, %t", status, ran)
	}
	if status, ran := runAtOnce([]string{"version"}); status != 0 || !ran {
		t.Errorf("version: %d, %t", status, ran)
	}
	for _, args := range [][]string{nil, {"--help"}, {"version", "--help"}, {"qsim-child", "x"}} {
		if _, ran := runAtOnce(args); ran {
			t.Errorf("%q ran", args)
		}
	}
}
