package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reckon/internal/disk"
	"reckon/test/need"
	"reckon/test/wait"
)

// TestANodeWhoseDiskIsFull: appends are refused, reads go on and the figures say why for as long as the disk is full, while the node runs and
// when it is started; once there is room it ends to be started again, with all that it has acknowledged.
func TestANodeWhoseDiskIsFull(t *testing.T) {
	t.Parallel()
	small, token, watched := need.SmallDisk(t, 8<<20), "a token of some length", need.Address(t)
	data, filling := filepath.Join(small, "log"), filepath.Join(small, "filling")
	fill := func() {
		t.Helper()
		if err := os.WriteFile(filling, make([]byte, 16<<20), 0o600); !disk.Refuses(err) {
			t.Fatal(err)
		}
	}
	makeRoom := func() {
		t.Helper()
		if err := os.Remove(filling); err != nil {
			t.Fatal(err)
		}
	}
	refuses := func() bool {
		_, body := get(t, http.DefaultClient, "http://"+watched+"/metrics", token)
		return strings.Contains(body, "\nreckon_log_refuses_appends 1\n") && strings.Contains(body, "\nreckon_ready 0\n")
	}
	answers := func() bool {
		response, err := http.Get("http://" + watched + "/livez")
		return err == nil && response.Body.Close() == nil
	}
	start := func() (node *exec.Cmd, says *bufio.Reader) {
		t.Helper()
		node = reckonCommand(t, []string{"RECKON_ADMIN_TOKEN=" + token}, "node", "--init", "--data", data, "--admin-listen", watched)
		node.Stderr = new(bytes.Buffer)
		out, err := node.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = node.Process.Kill(), node.Wait() }) // it may have ended before
		return node, bufio.NewReader(out)
	}
	ready := func(says *bufio.Reader) {
		t.Helper()
		if line, err := says.ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
			t.Fatalf("%q %v", line, err)
		}
	}
	created := 0
	create := func() (status int, stderr string) {
		status, _, stderr = reckon(t, "correct horse battery\n", nil, "node", "users", "create", fmt.Sprint("user", created), "--password-stdin", "--data", data)
		if status == 0 {
			created++
		}
		return status, stderr
	}
	listed := func() int {
		t.Helper()
		status, users, stderr := reckon(t, "", nil, "node", "users", "list", "--data", data)
		if status != 0 {
			t.Fatalf("%d %s", status, stderr)
		}
		return strings.Count(users, "user")
	}

	node, says := start()
	ready(says)
	fill()
	for status, stderr := create(); ; status, stderr = create() { // the last page of a file takes some
		if status == 0 && created < 100 {
			continue
		}
		if !strings.Contains(stderr, "no space left on device") {
			t.Fatalf("%d users: %d, %s", created, status, stderr)
		}
		break
	}
	if !refuses() {
		t.Error("the figures do not say that appends are refused")
	}
	if n := listed(); n != created {
		t.Errorf("%d users are read of %d", n, created)
	}
	makeRoom()
	var ended *exec.ExitError
	if err := node.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 2 {
		t.Errorf("with room it ends with %v", err)
	}
	if said, is := node.Stderr.(*bytes.Buffer); is && !strings.Contains(said.String(), "reads go on") {
		t.Errorf("it says %s", said)
	}

	fill()
	node, says = start()
	wait.Until(t, "those who watch are answered", answers)
	wait.Until(t, "the start waits for room", refuses)
	makeRoom()
	ready(says)
	if n := listed(); n != created {
		t.Errorf("started again, it has %d users of %d", n, created)
	}
	if status, stderr := create(); status != 0 {
		t.Errorf("an append with room: %d, %s", status, stderr)
	}
	if err := errors.Join(node.Process.Signal(syscall.SIGTERM), node.Wait()); err != nil {
		t.Error(err)
	}
}
