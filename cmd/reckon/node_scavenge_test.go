package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// TestNodeScavenge removes payloads in a folder, by the node that runs on it, and by commands
// that are killed: an anchor made before verifies after each.
func TestNodeScavenge(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	original := filepath.Join(root, "original")
	log, err := eventlog.Open(eventlog.Options{Dir: original})
	if err != nil {
		t.Fatal(err)
	}
	add := func(stream, eventType, text string) {
		t.Helper()
		if _, err := log.Append(t.Context(), stream, eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: eventType, JSON: true, Data: []byte(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	const large = 66 // MiB, so that a segment is sealed
	for i := range large {
		add("s", "noted", fmt.Sprintf("payload-%d.", i)+strings.Repeat("x", eventlog.MaxAppendBytes-100))
	}
	add("$$s", eventlog.MetadataType, `{"$maxCount":1}`)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	anchor := filepath.Join(root, "anchor.json")
	status, report, said := reckon(t, "", nil, "node", "verify", "--data", original)
	if status != 0 {
		t.Fatal(said)
	}
	if err := os.WriteFile(anchor, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := func(name string) string {
		t.Helper()
		folder := filepath.Join(root, name)
		if err := errors.Join(os.CopyFS(folder, os.DirFS(original)), os.Chmod(folder, 0o700)); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	scavenged := func(folder string) (done eventlog.ScavengeReport) {
		t.Helper()
		status, stdout, said := reckon(t, "", nil, "node", "scavenge", "--data", folder)
		if err := json.Unmarshal([]byte(stdout), &done); status != 0 || err != nil {
			t.Fatalf("%d: %v: %s%s", status, err, stdout, said)
		}
		return done
	}
	verified := func(folder string) {
		t.Helper()
		if status, _, said := reckon(t, "", nil, "node", "verify", "--data", folder, "--anchor", anchor); status != 0 {
			t.Fatal(said)
		}
	}
	gone := func(folder string, removed uint64) {
		t.Helper()
		verified(folder)
		b, err := os.ReadFile(filepath.Join(folder, "segments", "00000000000000000000.seg"))
		if err != nil || len(b) > 4<<20 || bytes.Contains(b, []byte("payload-1.")) || removed < large/2 {
			t.Errorf("%d removed, the segment has %d bytes: %v", removed, len(b), err)
		}
	}

	stopped := copied("stopped")
	gone(stopped, scavenged(stopped).Removed)
	if again := scavenged(stopped); again.Removed != 0 {
		t.Errorf("again: %+v", again)
	}

	running := copied("running")
	_, _, stop := startedNode(t, nil, "--data", running)
	gone(running, scavenged(running).Removed)
	stop()

	if status, _, said := reckon(t, "", nil, "node", "scavenge", "--data", root); status != 2 || !strings.Contains(said, "no log in") {
		t.Errorf("%d, %s", status, said)
	}
	if _, err := os.Stat(filepath.Join(root, "LOCK")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder without a log was touched: %v", err)
	}
	crashed := copied("crashed")
	for delay := 100 * time.Millisecond; ; delay += 100 * time.Millisecond {
		node, _, _ := startedNode(t, nil, "--data", crashed)
		command := reckonCommand(t, nil, "node", "scavenge", "--data", crashed)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		killed := time.AfterFunc(delay, func() { _ = node.Process.Kill() })
		ended := command.Wait()
		if killed.Stop() {
			_ = node.Process.Kill() // it answered before
		}
		_ = node.Wait()
		verified(crashed)
		if ended == nil {
			break
		}
	}
	gone(crashed, large)

	killed := copied("killed")
	for delay := 20 * time.Millisecond; ; delay += 30 * time.Millisecond {
		command := reckonCommand(t, nil, "node", "scavenge", "--data", killed)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(delay, func() { _ = command.Process.Kill() }) // it may have ended
		ended := command.Wait()
		verified(killed)
		if ended == nil {
			break
		}
	}
	gone(killed, large) // the command that ended may have found nothing to do
	drafts, err := filepath.Glob(filepath.Join(killed, "segments", "*.new"))
	if err != nil || len(drafts) > 0 {
		t.Errorf("%v, %v", drafts, err)
	}
}
