package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/eventstore/export"
)

// TestExportCommands exports a running node's log from its folder and through its port,
// imports it into a folder and into another node, and counts it.
func TestExportCommands(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folder, file := filepath.Join(root, "events"), filepath.Join(root, "events.ndjson")
	_, connection, _ := startedNode(t, nil, "--data", folder)
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--data", filepath.Join(root, "none"), "--eventstore", connection, "--keys", filepath.Join(root, "keys")); status != 0 {
		t.Fatal(stderr)
	}
	run := func(status int, says string, arguments ...string) string {
		t.Helper()
		got, stdout, stderr := reckon(t, "", nil, append([]string{"node"}, arguments...)...)
		if got != status || !strings.Contains(stderr, says) {
			t.Errorf("reckon node %v: status %d, want %d\n%s", arguments, got, status, stderr)
		}
		return stdout
	}
	var report export.Report
	if err := json.Unmarshal([]byte(run(0, "", "export", "--ndjson", "--data", folder, file)), &report); err != nil || report.Events < 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if printed := run(0, "", "export", "--data", folder); printed != string(written) {
		t.Errorf("%s\n%s", printed, written)
	}
	run(2, "is a whole export", "export", "--data", folder, file)
	through := run(0, "", "export", "--from", connection)
	if lines := strings.Count(through, "\n"); lines != bytes.Count(written, []byte("\n")) || strings.Contains(through, "salt") {
		t.Errorf("%d lines through the socket:\n%s", lines, through)
	}
	if one := run(0, "", "export", "--data", folder, "--stream", "keys", "--since", "1"); strings.Count(one, "\n") != 3 {
		t.Error(one)
	}

	imported := filepath.Join(root, "imported")
	run(0, "", "import", file, "--data", imported)
	run(0, "", "verify", "--data", imported)
	run(2, "is not empty", "import", file, "--data", imported)
	cut := filepath.Join(root, "cut.ndjson")
	if err := os.WriteFile(cut, written[:len(written)-2], 0o600); err != nil {
		t.Fatal(err)
	}
	run(1, "it was cut", "import", cut, "--data", filepath.Join(root, "none"))
	_, other, _ := startedNode(t, nil, "--data", filepath.Join(root, "other"))
	run(1, "it was cut", "import", cut, "--to", other)
	for range 2 {
		var done export.Imported
		if err := json.Unmarshal([]byte(run(0, "", "import", file, "--to", other)), &done); err != nil || done.Events != report.Events-1 {
			t.Errorf("%+v, %v", done, err)
		}
	}
	// a log with a stream of the same name
	third := filepath.Join(root, "third")
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", third); status != 0 {
		t.Fatal(stderr)
	}
	elsewhere := filepath.Join(root, "third.ndjson")
	run(0, "", "export", "--data", filepath.Join(third, "eventstore"), elsewhere)
	run(1, "is not that of the export", "import", elsewhere, "--to", other)

	var stats export.Stats
	if err := json.Unmarshal([]byte(run(0, "", "stats", "--json", "--data", folder)), &stats); err != nil || stats.Events != report.Events || stats.SegmentBytes == 0 || stats.IndexBytes == 0 || stats.BytesPerEvent == 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	if text := run(0, "", "stats", "--from", connection); !strings.Contains(text, "newest position") {
		t.Error(text)
	}
	run(2, "has no segments", "stats", "--data", root)
}
