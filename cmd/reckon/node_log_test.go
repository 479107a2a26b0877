package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/eventstore/node/eventlog"
)

// TestLogCommands verifies and copies a log beside the node that has it, restores the copy,
// and finds what is damaged in it.
func TestLogCommands(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folder, backup, restored := filepath.Join(root, "installation", "eventstore"), filepath.Join(root, "backup"), filepath.Join(root, "restored")
	_, connection, _ := startedNode(t, nil, "--data", folder)
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--data", filepath.Join(root, "none"), "--eventstore", connection, "--keys", filepath.Join(root, "keys")); status != 0 {
		t.Fatal(stderr)
	}
	run := func(status int, says string, arguments ...string) (eventlog.Report, string) {
		t.Helper()
		got, stdout, stderr := reckon(t, "", nil, append([]string{"node"}, arguments...)...)
		if got != status || !strings.Contains(stderr, says) {
			t.Errorf("reckon node %v: status %d, want %d\n%s", arguments, got, status, stderr)
		}
		var report eventlog.Report
		if status == 0 {
			if err := json.Unmarshal([]byte(stdout), &report); err != nil {
				t.Error(err)
			}
		}
		return report, stdout
	}
	anchor := filepath.Join(root, "anchor.json")
	live, text := run(0, "", "verify", "--data", folder)
	if err := os.WriteFile(anchor, []byte(text), 0o600); err != nil || live.Records < 2 || live.Segments != 1 {
		t.Fatalf("%v, %+v", err, live)
	}
	run(0, "", "verify", "--data", folder, "--anchor", anchor)
	if ofData, _ := run(0, "", "verify", "--data", filepath.Dir(folder)); ofData != live { // a data folder, whose log is in eventstore
		t.Errorf("%+v, want %+v", ofData, live)
	}
	run(2, "in use by process", "reindex", "--data", folder)
	if copied, _ := run(0, "", "backup", backup, "--data", folder); copied != live {
		t.Errorf("%+v, want %+v", copied, live)
	}
	run(2, "is not empty", "backup", backup, "--data", folder)
	if back, _ := run(0, "", "restore", backup, "--data", restored); back != live {
		t.Errorf("%+v, want %+v", back, live)
	}
	run(2, "is not empty", "restore", backup, "--data", restored)
	if again, _ := run(0, "", "reindex", "--data", restored); again != live {
		t.Errorf("%+v, want %+v", again, live)
	}
	run(0, "", "verify", "--data", restored, "--anchor", anchor)

	other := filepath.Join(root, "other")
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", other); status != 0 {
		t.Fatal(stderr)
	}
	run(1, "its id is", "verify", "--data", filepath.Join(other, "eventstore"), "--anchor", anchor)
	run(2, "no anchor", "verify", "--data", restored, "--anchor", filepath.Join(restored, "HEAD"))
	run(2, "has no segments", "verify", "--data", root)
	run(2, "has no segments", "backup", filepath.Join(root, "b"), "--data", root)
	run(2, "has no segments", "reindex", "--data", root)
	for _, command := range [][]string{{"verify"}, {"backup", filepath.Join(root, "b")}, {"stats"}} {
		run(2, "there is no such folder", append(command, "--data", filepath.Join(root, "none"))...)
	}

	head := filepath.Join(restored, "HEAD")
	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	run(1, "reindex --accept-end", "verify", "--data", restored)
	run(1, "reindex --accept-end", "reindex", "--data", restored)
	if again, _ := run(0, "", "reindex", "--data", restored, "--accept-end"); again != live {
		t.Errorf("%+v, want %+v", again, live)
	}
	segments, err := filepath.Glob(filepath.Join(restored, "segments", "*.seg"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	b, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(string(b), "RKEV") // the newest record
	b[at+30] ^= 1
	if err := os.WriteFile(segments[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	run(1, "is damaged at position", "verify", "--data", restored)
	run(1, "is damaged at position", "reindex", "--data", restored)
	run(1, "is damaged at position", "backup", filepath.Join(root, "c"), "--data", restored)
	if err := os.RemoveAll(filepath.Join(restored, "segments")); err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{"HEAD", "index"} { // either tells that there was a log
		run(1, "the segments are gone", "verify", "--data", restored)
		run(1, "the segments are gone", "backup", filepath.Join(root, "d"), "--data", restored)
		if err := os.RemoveAll(filepath.Join(restored, rest)); err != nil {
			t.Fatal(err)
		}
	}
	run(2, "has no segments", "verify", "--data", restored)
}
