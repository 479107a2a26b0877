package main

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"reckon/eventstore/node"
	"reckon/test/wait"
)

// TestNodeUsers: users are managed while the node runs and while it does not, and what is changed counts for the next call.
func TestNodeUsers(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "eventstore")
	passwordFile := filepath.Join(t.TempDir(), "ops")
	if err := os.WriteFile(passwordFile, []byte("password of ops\r\nnot this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, address, stop := startedNode(t, []string{"RECKON_NODE_ADMIN_PASSWORD=password of admin"}, "--data", folder, "--secure", "--listen", "127.0.0.1:0", "--ops-password-file", passwordFile)
	if exists(filepath.Join(folder, node.FirstPasswordsFile)) {
		t.Error("passwords that were given are written to a file")
	}
	reads := func(name, password string) bool {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(name, password)
		config, err := esdb.ParseConnectionString(u.String())
		if err != nil {
			t.Fatal(err)
		}
		config.Logger = esdb.NoopLogging()
		patient := time.Minute // instead of 10 s
		config.DefaultDeadline = &patient
		client, err := esdb.NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
		defer cancel()
		_, err = client.AppendToStream(ctx, "plain", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, esdb.EventData{EventType: "t"})
		return err == nil
	}
	do := func(status int, stdin string, arguments ...string) (stdout, stderr string) {
		t.Helper()
		got, stdout, stderr := reckon(t, stdin, nil, append([]string{"node", "users"}, append(arguments, "--data", folder)...)...)
		if got != status {
			t.Fatalf("reckon node users %v: status %d\n%s", arguments, got, stderr)
		}
		return stdout, stderr
	}
	for name, password := range map[string]string{"admin": "password of admin", "ops": "password of ops"} {
		if !reads(name, password) {
			t.Errorf("%s is refused", name)
		}
	}
	do(0, "password of ann\n", "create", "ann", "--full-name", "Ann", "--groups", "readers", "--password-stdin")
	if _, stderr := do(2, "password of ann\n", "create", "ann", "--password-stdin"); !strings.Contains(stderr, "exists") {
		t.Error(stderr)
	}
	do(2, "short\n", "create", "bob", "--password-stdin")
	do(2, "", "disable", "nobody")
	if !reads("ann", "password of ann") {
		t.Error("ann is refused")
	}
	do(0, "another password\n", "password", "ann", "--password-stdin")
	if reads("ann", "password of ann") || !reads("ann", "another password") {
		t.Error("the password is not replaced")
	}
	do(0, "", "disable", "ann")
	if reads("ann", "another password") {
		t.Error("ann is disabled and reads")
	}
	do(0, "", "enable", "ann")
	do(0, "", "groups", "ann", "writers", "readers")
	list := func() (rows []userRow) {
		stdout, _ := do(0, "", "list", "--json")
		if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stdout, "argon2") {
			t.Error("the list shows hashes")
		}
		return rows
	}
	if rows := list(); len(rows) != 3 || rows[1].Login != "ann" || strings.Join(rows[1].Groups, ",") != "writers,readers" || rows[1].Disabled || rows[1].FullName != "Ann" {
		t.Errorf("%+v", rows)
	}
	stop()
	do(0, "", "delete", "ann") // the node does not run: its folder is opened
	if rows := list(); len(rows) != 2 {
		t.Errorf("%+v", rows)
	}
	status, _, stderr := reckon(t, "", nil, "node", "--data", folder, "--secure", "--insecure-listen", "127.0.0.1:0")
	if status != 2 || !strings.Contains(stderr, "can't be used together") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
