package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNodeEndsWithTwo removes files of the log under a running node: its orderly end says so.
func TestNodeEndsWithTwo(t *testing.T) {
	for _, lost := range []string{"HEAD", filepath.Join("segments", "00000000000000000000.seg")} {
		folder := filepath.Join(t.TempDir(), "events")
		node, _, _ := startedNode(t, nil, "--data", folder)
		if err := os.Remove(filepath.Join(folder, lost)); err != nil {
			t.Fatal(err)
		}
		if err := node.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		var ended *exec.ExitError
		if err := node.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 2 {
			t.Errorf("%s: %v", lost, err)
		}
		if said, isBuffer := node.Stderr.(*bytes.Buffer); isBuffer && !strings.Contains(said.String(), lost) {
			t.Errorf("%s: %s", lost, said)
		}
		if status, _, said := reckon(t, "", nil, "node", "--data", folder); status != 2 || !strings.Contains(said, "damaged") {
			t.Errorf("%s: the next start: %d, %s", lost, status, said)
		}
	}
}

// TestNodeBackupWithinTheLog is refused.
func TestNodeBackupWithinTheLog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	_, _, stop := startedNode(t, nil, "--data", folder)
	stop()
	if status, _, said := reckon(t, "", nil, "node", "backup", filepath.Join(folder, "segments", "b"), "--data", folder); status != 2 || !strings.Contains(said, "name one elsewhere") {
		t.Errorf("%d, %s", status, said)
	}
}
