package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore"
	"reckon/eventstore/export"
	"reckon/eventstore/node/eventlog"
)

// TestDamagedLog has every command name how far a damaged log is right, and both ways to the other records: the node that reads
// only once the file DAMAGE is removed, and the export that leaves out what is damaged.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folder, file := filepath.Join(root, "events"), filepath.Join(root, "sound.ndjson")
	log, err := eventlog.Open(eventlog.Options{Dir: folder})
	if err != nil {
		t.Fatal(err)
	}
	const events = 95 // of 800 kB: the first segment does not hold all
	for i := range events {
		e := eventlog.Proposed{ID: uuid.New(), Type: "t", Data: []byte(strings.Repeat(fmt.Sprintf("event %d;", i), 100_000))}
		if _, err := log.Append(t.Context(), fmt.Sprintf("s-%d", i%3), eventlog.Any(), []eventlog.Proposed{e}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	segment := filepath.Join(folder, "segments", strings.Repeat("0", 20)+".seg")
	f, err := os.OpenFile(segment, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("?"), 3_000_000); err != nil { // of the fourth event, at position 5
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(status int, arguments ...string) (stdout, stderr string) {
		t.Helper()
		got, stdout, stderr := reckon(t, "", nil, append([]string{"node"}, arguments...)...)
		if got != status {
			t.Errorf("reckon node %v: status %d, want %d\n%s", arguments, got, status, stderr)
		}
		return stdout, stderr
	}
	for _, arguments := range [][]string{{"verify"}, {"backup", filepath.Join(root, "copy")}, {"export"}, {"export", filepath.Join(root, "cut.ndjson")}, {"stats"}, {"scavenge"}, {"reindex"}} {
		if _, stderr := run(1, append(arguments, "--data", folder)...); !strings.Contains(stderr, "damaged at position 5") || !strings.Contains(stderr, "all up to position 4 is right") {
			t.Errorf("%v: %s", arguments, stderr)
		}
	}
	if _, stderr := run(1, "verify", "--data", folder); !strings.Contains(stderr, "no other record behind it is damaged") {
		t.Error(stderr)
	}

	stdout, stderr := run(1, "export", "--skip-damaged", "--data", folder, file)
	var report export.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || report.Events != events || report.Gaps != 1 || report.Lost != 1 || report.Position != events+1 {
		t.Errorf("%s, %v", stdout, err)
	}
	if !strings.Contains(stderr, "left out: position 5 (segments/") || !strings.Contains(stderr, "1 records of the log are damaged") {
		t.Error(stderr)
	}
	written, err := os.ReadFile(file)
	if err != nil || strings.Count(string(written), "\n") != events+3 || !strings.Contains(string(written), "\n"+`{"gap":true,"first":5,"last":5,"file":"segments/`) {
		t.Errorf("%d lines, %v", strings.Count(string(written), "\n"), err)
	}
	if printed, _ := run(1, "export", "--skip-damaged", "--data", folder); printed != string(written) {
		t.Error("standard output differs")
	}
	if _, stderr := run(2, "export", "--skip-damaged", "--data", folder, file); !strings.Contains(stderr, "is a whole export") {
		t.Error(stderr)
	}
	if _, stderr := run(2, "import", file, "--data", filepath.Join(root, "new")); !strings.Contains(stderr, "comes where revision") {
		t.Error(stderr)
	}

	if err := os.Remove(filepath.Join(folder, "DAMAGE")); err != nil {
		t.Fatal(err)
	}
	_, address, stop := startedNode(t, nil, "--data", folder)
	client, err := eventstore.OpenClient(address, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	read, err := client.ReadStream(t.Context(), "s-2", esdb.ReadStreamOptions{From: esdb.Start{}}, events)
	for n := range events / 3 {
		if err == nil {
			_, err = read.Recv()
		}
		if err != nil {
			t.Fatalf("event %d of another stream: %v", n, err)
		}
	}
	read.Close()
	if _, err := client.AppendToStream(t.Context(), "s-2", esdb.AppendToStreamOptions{}, esdb.EventData{EventID: uuid.New(), EventType: "t"}); err == nil || !strings.Contains(err.Error(), "damaged at position 5") {
		t.Errorf("append: %v", err)
	}
	stop()
	if err := os.Rename(filepath.Join(folder, "index"), filepath.Join(folder, "away")); err != nil {
		t.Fatal(err)
	}
	if _, stderr := run(2, "--data", folder); !strings.Contains(stderr, "without which nothing can be read over it") || !strings.Contains(stderr, "--skip-damaged") {
		t.Error(stderr)
	}
}
