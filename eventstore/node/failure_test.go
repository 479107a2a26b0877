package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/eventlog"
)

// A record that is changed on the disk under a running node is not served: the reader and
// every later writer are told, other records are served, Done says why the node must be
// closed, and Close returns.
func TestDamagedRecordUnderARunningNode(t *testing.T) {
	dir := t.TempDir()
	n, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	client := dial(t, n.ConnectionString())
	for _, stream := range []string{"whole", "damaged"} {
		e := note(strings.Repeat(stream, 20))
		if _, err := client.AppendToStream(testCtx(t), stream, esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}, e); err != nil {
			t.Fatal(err)
		}
	}
	segments, err := filepath.Glob(filepath.Join(dir, "segments", "*"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	f, err := os.OpenFile(segments[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("D"), int64(strings.LastIndex(string(b), "damaged"))); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	read := func(stream string) error {
		events, err := client.ReadStream(testCtx(t), stream, esdb.ReadStreamOptions{From: esdb.Start{}}, 10)
		if err != nil {
			return err
		}
		defer events.Close()
		_, err = events.Recv()
		return err
	}
	if err := read("damaged"); err == nil || !strings.Contains(err.Error(), "damaged at position 3") {
		t.Errorf("read: %v", err)
	}
	_, err = client.AppendToStream(testCtx(t), "whole", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, note("more"))
	if err == nil || !strings.Contains(err.Error(), "damaged at position 3") {
		t.Errorf("append: %v", err)
	}
	if err := read("whole"); err != nil {
		t.Errorf("another record: %v", err)
	}
	var damage *eventlog.CorruptError
	if err := <-n.Done(); !errors.As(err, &damage) || damage.Position != 3 || n.Health().Err == nil {
		t.Errorf("done: %v", err)
	}
	if err := n.Close(testCtx(t)); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"}); !errors.As(err, &damage) || damage.Position != 3 {
		t.Errorf("open: %v", err)
	}
}

// What a client is told when the log takes no more appends can be repeated once it does again.
func TestRefusedStorageIsUnavailable(t *testing.T) {
	for _, err := range []error{&eventlog.StorageError{Dir: "d", Operation: "write", Err: os.ErrPermission}, &eventlog.IndexError{Dir: "d", Reason: "r"}} {
		got := statusError(context.Background(), err)
		if status.Code(got) != codes.Unavailable || !strings.Contains(got.Error(), err.Error()) {
			t.Errorf("%T: %v", err, got)
		}
	}
}
