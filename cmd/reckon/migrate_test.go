package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/domain"
	"reckon/eventstore"
	"reckon/eventstore/migration"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
)

// copiedLines are the events of a log that a migration copies, one a line, without their places and stamps.
func copiedLines(t *testing.T, client *esdb.Client) (lines []string) {
	t.Helper()
	reading, err := client.ReadAll(t.Context(), esdb.ReadAllOptions{From: esdb.Start{}}, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	for {
		e, err := reading.Recv()
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		has := e.OriginalEvent()
		if has.StreamID != eventstore.IdentityStream && (!strings.HasPrefix(has.StreamID, "$") || strings.HasPrefix(has.StreamID, "$$")) {
			lines = append(lines, fmt.Sprintf("%s %d %s %s %q %q", has.StreamID, has.EventNumber, has.EventID, has.EventType, has.Data, has.UserMetadata))
		}
	}
}

func openClient(t *testing.T, address string) *esdb.Client {
	t.Helper()
	client, err := eventstore.OpenClient(address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// logToMigrate makes a log of an installation with events in many streams, and heartbeats of which only the newest is shown.
func logToMigrate(t *testing.T, dir string, events int) {
	t.Helper()
	log, err := eventlog.Open(eventlog.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 7))
	add := func(stream, name, data string) *eventlog.Pending {
		pending, err := log.Submit(t.Context(), stream, eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: name, JSON: true, Data: []byte(data), Metadata: []byte(`{"v":1}`)}})
		if err != nil {
			t.Fatal(err)
		}
		return pending
	}
	add(eventstore.IdentityStream, eventstore.NamedEvent, "{}")
	add("$$runner-1", eventlog.MetadataType, `{"$maxCount":1}`)
	var last *eventlog.Pending
	for i := range events {
		stream := fmt.Sprintf("run-%d", random.IntN(events))
		if i%10 == 0 {
			stream = "runner-1"
		}
		last = add(stream, "some.event", fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("x", random.IntN(400))))
	}
	if _, err := last.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMigrateKilled kills `reckon migrate` whenever the target has grown by some events, and once the target too, until a migration ends
// by itself. At no moment may anybody write to the target, and in the end it has what the source has.
func TestMigrateKilled(t *testing.T) {
	t.Parallel()
	const events = 1500
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	logToMigrate(t, from, events)
	target, address, stop := startedNode(t, nil, "--data", to)
	client := openClient(t, address)
	random := rand.New(rand.NewPCG(3, 3))
	kills := 0
	for goal := 0; ; {
		command := reckonCommand(t, nil, "migrate", "--from", from, "--to", address)
		var output strings.Builder
		command.Stdout, command.Stderr = &output, &output
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		if goal < events {
			goal += 100 + random.IntN(300)
		}
		err, over := awaitEvents(t, client, goal, ended)
		if !over {
			if identity, _, err := eventstore.ReadIdentity(t.Context(), client); err == nil && identity.Events > 0 && identity.Copying == nil && identity.Usable() == nil {
				t.Log("the last kill came after the end")
			} else if kills++; identity.Usable() == nil && identity.Events > 0 {
				t.Errorf("an unfinished copy may be written to: %+v", identity)
			}
			_ = command.Process.Signal(syscall.SIGKILL)
			err = <-ended
		}
		if err == nil {
			break
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("%v\n%s", err, output.String())
		}
		if kills == 2 { // the target loses nothing that it acknowledged
			_, _ = target.Process.Signal(syscall.SIGKILL), target.Wait()
			target, address, stop = startedNode(t, nil, "--data", to)
			client = openClient(t, address)
		}
	}
	if kills < 3 {
		t.Errorf("%d kills", kills)
	}
	copied := copiedLines(t, client)
	stop()
	n, err := node.Open(node.Config{Dir: from})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close(context.Background()) }()
	source := copiedLines(t, openClient(t, n.ConnectionString()))
	if len(source) != events+1 || len(copied) != len(source) {
		t.Fatalf("%d events, the copy has %d", len(source), len(copied))
	}
	for i := range source {
		if source[i] != copied[i] {
			t.Fatalf("event %d: %s\nin the copy: %s", i, source[i], copied[i])
		}
	}
	_ = target
}

// awaitEvents waits until a log has so many events, or a process has ended: then over is true and err how.
func awaitEvents(t *testing.T, client *esdb.Client, events int, ended <-chan error) (err error, over bool) {
	t.Helper()
	for {
		select {
		case err := <-ended:
			return err, true
		default:
		}
		reading, err := client.ReadAll(t.Context(), esdb.ReadAllOptions{Direction: esdb.Backwards, From: esdb.End{}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		e, err := reading.Recv()
		reading.Close()
		if err == nil && e.OriginalEvent().Position.Commit >= uint64(events) {
			return nil, false
		}
	}
}

// nameLog names a log, as the first server that runs on it does.
func nameLog(t *testing.T, dir string) {
	t.Helper()
	n, err := node.Open(node.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close(context.Background()) }()
	store, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: n.ConnectionString(), Catalogue: domain.Catalogue()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.LogID(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestMigrateCommand: what `reckon migrate` refuses and how it ends, and that a log is taken back.
func TestMigrateCommand(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	from := filepath.Join(root, "data", "eventstore")
	if status, _, stderr := reckon(t, "", nil, "keys", "rotate", "--init", "--data", filepath.Dir(from)); status != 0 {
		t.Fatal(stderr)
	}
	_, address, _ := startedNode(t, nil, "--data", filepath.Join(root, "to"))
	run := func(status int, says string, arguments ...string) string {
		t.Helper()
		got, stdout, stderr := reckon(t, "", nil, append([]string{"migrate"}, arguments...)...)
		if got != status || !strings.Contains(stderr, says) {
			t.Errorf("reckon migrate %v: status %d, want %d and %q\n%s", arguments, got, status, says, stderr)
		}
		return stdout
	}
	run(2, "say --to", "--from", from)
	run(2, "no event log", "--from", filepath.Join(root, "none"), "--to", address)
	run(2, "--insecure-eventstore", "--from", from, "--to", "esdb://127.0.0.1:1?tls=false")
	run(2, "holds no log of Reckon", "--from", address, "--to", address)
	run(2, "holds no log of Reckon", "--from", from, "--to", address) // no server has run on it
	nameLog(t, from)
	run(2, "was not migrated", "--from", from, "--take-back", "--yes")
	var report migration.Report
	for _, done := range []bool{false, true} {
		arguments := []string{"--from", from, "--to", address}
		if !done {
			arguments = append(arguments, "--dry-run")
		}
		if err := json.Unmarshal([]byte(run(0, "", arguments...)), &report); err != nil || report.Done != done || report.Events < 1 {
			t.Errorf("%+v, %v", report, err)
		}
	}
	refused := func(says string, arguments ...string) {
		t.Helper()
		status, _, stderr := reckon(t, "", nil, arguments...)
		if (status == 0) != (says == "") || !strings.Contains(stderr, says) {
			t.Errorf("reckon %v: status %d, %q wanted\n%s", arguments, status, says, stderr)
		}
	}
	rotate := []string{"keys", "rotate", "--data", filepath.Dir(from)}
	keys := func() int {
		found, err := os.ReadDir(filepath.Join(filepath.Dir(from), "keys"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	before := keys()
	refused("was migrated to "+address, rotate...)
	if after := keys(); after != before {
		t.Errorf("%d files of keys, and %d after a refused rotation", before, after)
	}
	run(2, "give the folder: --from "+from, "--from", "unix:"+filepath.Join(from, "node.sock"), "--to", address)
	_, other, _ := startedNode(t, nil, "--data", filepath.Join(root, "other"))
	run(2, "was migrated to "+address, "--from", from, "--to", other)
	run(2, "nobody answers", "--from", from, "--take-back")
	run(0, "", "--from", from, "--take-back", "--yes")
	refused("", rotate...)
}
