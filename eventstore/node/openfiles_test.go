package node

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reckon/test/need"
	"reckon/test/wait"
)

// TestStrangersLeaveFilesForTheLog: a process that may have 512 files open seals segments while more clients
// than that hold connections without a password.
func TestStrangersLeaveFilesForTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, line := runNode(t, dir, "ulimit -n 512; exec \"$0\"", childSecure+"=1")
	u, err := url.Parse(strings.TrimPrefix(line, "ready "))
	if err != nil || u.Host == "" {
		t.Fatal(line, err)
	}
	for range 600 {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	for range 100 { // while they are accepted
		if n := c.openFiles(t); n > 300 {
			t.Fatalf("%d files are open", n)
		}
		wait.Pace(5 * time.Millisecond)
	}
	owner := dialEncoded(t, "unix:"+filepath.Join(dir, SocketName))
	for i := range 80 { // more than a segment
		if err := sendAppend(testCtx(t), owner, fmt.Sprint("s", i%3), largeAppend(t, 900_000)); err != nil {
			t.Fatal(i, err)
		}
	}
	if segments, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg")); err != nil || len(segments) != 2 {
		t.Errorf("segments %v, %v", segments, err)
	}
}

// openFiles is how many files the node's process has open.
func (c *child) openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.command.Process.Pid))
	if err != nil {
		need.Skip(t, "Linux's /proc", "make test, on Linux")
	}
	return len(files)
}

// TestTooFewFilesToStart: below the least number a node says what it needs, and makes nothing.
func TestTooFewFilesToStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "log")
	_, line := runNode(t, dir, "ulimit -n 511; exec \"$0\"")
	if !strings.Contains(line, "needs 512") || !strings.Contains(line, "ulimit -n") {
		t.Errorf("it says %q", line)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("it made a folder")
	}
}
