package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/eventlog"
	"reckon/test/wait"
)

// A record that is changed on the disk under a running node is not served: the reader and
// every later writer are told, other records are served, Done says why the node must be
// closed, and Close returns.
func TestDamagedRecordUnderARunningNode(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	for _, err := range []error{&eventlog.StorageError{Dir: "d", Operation: "write", Err: os.ErrPermission}, &eventlog.IndexError{Dir: "d", Reason: "r"}} {
		got := statusError(context.Background(), err)
		if status.Code(got) != codes.Unavailable || !strings.Contains(got.Error(), err.Error()) {
			t.Errorf("%T: %v", err, got)
		}
	}
}

// Whoever meets a damaged record is told so, with all that is before it on the way, however soon the node is closed over it.
func TestFinderOfDamageIsTold(t *testing.T) {
	t.Parallel()
	for round := range 8 {
		dir := t.TempDir()
		r := startIn(t, dir)
		const before = 150
		events := make([]eventlog.Proposed, before+50)
		for i := range events {
			events[i] = eventlog.Proposed{ID: uuid.New(), Type: "t", Data: []byte(fmt.Sprintf("event %d.%s", i, strings.Repeat(" ", 10_000)))}
		}
		for i := 0; i < len(events); i += 50 {
			if _, err := r.log.Append(t.Context(), "s", eventlog.Any(), events[i:i+50]); err != nil {
				t.Fatal(err)
			}
		}
		flipAt(t, dir, fmt.Sprintf("event %d.", before))
		closed := make(chan error, 1)
		go func() {
			found := <-r.Done()
			if err := r.Close(context.Background()); err != nil {
				found = err
			}
			closed <- found
		}()
		got, err := 0, error(nil)
		count := func(e *esdb.RecordedEvent) {
			if e.StreamID == "s" {
				got++
			}
		}
		switch round % 4 {
		case 0, 1:
			var reading *esdb.ReadStream
			if round%4 == 0 {
				reading, err = r.client.ReadAll(testCtx(t), esdb.ReadAllOptions{From: esdb.Start{}}, 10_000)
			} else {
				reading, err = r.client.ReadStream(testCtx(t), "s", esdb.ReadStreamOptions{From: esdb.Start{}}, 10_000)
			}
			for err == nil {
				var e *esdb.ResolvedEvent
				if e, err = reading.Recv(); err == nil {
					count(e.Event)
				}
			}
			reading.Close()
		default:
			var sub *esdb.Subscription
			if round%4 == 2 {
				sub, err = r.client.SubscribeToAll(testCtx(t), esdb.SubscribeToAllOptions{From: esdb.Start{}})
			} else {
				sub, err = r.client.SubscribeToStream(testCtx(t), "s", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
			}
			for err == nil {
				switch e := sub.Recv(); {
				case e.SubscriptionDropped != nil:
					err = e.SubscriptionDropped.Error
				case e.EventAppeared != nil:
					count(e.EventAppeared.Event)
				}
			}
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
		}
		if got != before || !strings.Contains(err.Error(), "damaged at position") || !strings.Contains(err.Error(), "DataLoss") {
			t.Errorf("round %d: %d events, then %v", round, got, err)
		}
		var damage *eventlog.CorruptError
		if err := <-closed; !errors.As(err, &damage) {
			t.Error(err)
		}
	}
}

// flipAt changes one byte of the text that the first segment of a log has once.
func flipAt(t *testing.T, dir, text string) {
	t.Helper()
	path := filepath.Join(dir, "segments", strings.Repeat("0", 20)+".seg")
	b, err := os.ReadFile(path)
	if err != nil || strings.Count(string(b), text) != 1 {
		t.Fatalf("%q is there %d times, %v", text, strings.Count(string(b), text), err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{text[0] ^ 1}, int64(strings.Index(string(b), text))); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Groups whose way leads over a damaged record stop there: their consumers get what is before it, and then DATA_LOSS, and info
// names the position. It ends the taking of appends once; after the operator has removed the file DAMAGE the node runs for
// readers, and the other groups deliver.
func TestGroupsStopAtDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	r.append(t, "s", esdb.NoStream{}, notes("0", "1", "2", "3 is damaged", "4")...)
	r.append(t, "kept", esdb.NoStream{}, notes("0", "1")...)
	for stream, groups := range map[string][]string{"s": {"ahead", "parks"}, "kept": {"whole", "checkpoint"}} {
		for _, name := range groups {
			r.createGroup(t, stream, name, groupRules())
		}
	}
	sub := r.consume(t, "kept", "checkpoint", 10)
	if err := sub.Ack(receive(t, sub, 1)...); err != nil {
		t.Fatal(err)
	}
	checkpoint := groupName{"kept", "checkpoint"}.checkpointStream()
	wait.Until(t, "the checkpoint", func() bool {
		info, err := streamInfoOf(r.log, checkpoint)
		return err == nil && info.Exists()
	})
	for range 72 { // a sealed segment
		large := eventlog.Proposed{ID: uuid.New(), Type: "t", Data: make([]byte, 990_000)}
		if _, err := r.log.Append(t.Context(), "large", eventlog.Any(), []eventlog.Proposed{large}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(testCtx(t)); err != nil {
		t.Fatal(err)
	}
	flipAt(t, dir, "3 is damaged")
	var damage *eventlog.CorruptError
	for range 2 {
		if _, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"}); !errors.As(err, &damage) || !strings.Contains(err.Error(), "remove the file DAMAGE") || !strings.Contains(err.Error(), "--skip-damaged") {
			t.Fatalf("open: %v", err)
		}
	}
	position := damage.Position
	if err := os.Remove(filepath.Join(dir, "DAMAGE")); err != nil {
		t.Fatal(err)
	}
	flipAt(t, dir, checkpoint+`$SubscriptionCheckpoint`)

	for range 2 {
		n, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0", ScavengeEvery: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		r := &running{n, dial(t, n.ConnectionString())}
		sub := r.consume(t, "s", "ahead", 10)
		got := receive(t, sub, 3)
		if texts := textsOf(got); texts != "0 1 2" {
			t.Errorf("got %s", texts)
		}
		if err := sub.Ack(got...); err != nil {
			t.Fatal(err)
		}
		if e := sub.Recv(); e.SubscriptionDropped == nil || !strings.Contains(e.SubscriptionDropped.Error.Error(), "DataLoss") || !strings.Contains(e.SubscriptionDropped.Error.Error(), fmt.Sprintf("damaged at position %d", position)) {
			t.Errorf("got %+v", e)
		}
		for of, want := range map[groupName]string{{"s", "ahead"}: fmt.Sprintf("Stopped: position %d is damaged", position), {"kept", "whole"}: "Live"} {
			info, err := r.client.GetPersistentSubscriptionInfo(testCtx(t), of.Stream, of.Group, esdb.GetPersistentSubscriptionOptions{})
			if err != nil || info.Status != want {
				t.Errorf("%v: %+v, %v", of, info, err)
			}
		}
		for _, of := range []groupName{{"s", "ahead"}, {"kept", "checkpoint"}} {
			if _, err := r.client.SubscribeToPersistentSubscription(testCtx(t), of.Stream, of.Group, esdb.SubscribeToPersistentSubscriptionOptions{}); err == nil || !strings.Contains(err.Error(), "DataLoss") {
				t.Errorf("%v: another consumer: %v", of, err)
			}
			if err := r.client.ReplayParkedMessages(testCtx(t), of.Stream, of.Group, esdb.ReplayParkedMessagesOptions{}); err == nil || !strings.Contains(err.Error(), "DataLoss") {
				t.Errorf("%v: replay: %v", of, err)
			}
		}
		// events that would be parked are not lost, and do not keep the node busy or from closing
		parks := r.consume(t, "s", "parks", 10)
		if err := parks.Nack("no", esdb.NackActionPark, receive(t, parks, 3)...); err != nil {
			t.Fatal(err)
		}
		if e := parks.Recv(); e.SubscriptionDropped == nil {
			t.Errorf("got %+v", e)
		}
		if texts := textsOf(receive(t, r.consume(t, "kept", "whole", 10), 2)); texts != "0 1" {
			t.Errorf("the other group: %s", texts)
		}
		if _, err := r.client.AppendToStream(testCtx(t), "kept", esdb.AppendToStreamOptions{}, note("2")); err == nil || !strings.Contains(err.Error(), "DataLoss") {
			t.Errorf("append: %v", err)
		}
		select {
		case err := <-n.Done():
			t.Errorf("it ends: %v", err)
		default:
		}
		if err := n.Close(testCtx(t)); err != nil {
			t.Error(err)
		}
	}
}

// A group that meets damage nobody knew of ends the taking of appends as every reader does.
func TestGroupFindsDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	r.append(t, "s", esdb.NoStream{}, notes("0", "1 is damaged")...)
	flipAt(t, dir, "1 is damaged")
	if err := r.client.CreatePersistentSubscriptionToAll(testCtx(t), "g", esdb.PersistentAllSubscriptionOptions{StartFrom: esdb.Start{}, Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"s"}}}); err != nil {
		t.Fatal(err)
	}
	var damage *eventlog.CorruptError
	if err := <-r.Done(); !errors.As(err, &damage) || damage.Position != 3 {
		t.Errorf("done: %v", err)
	}
	sub, err := r.client.SubscribeToPersistentSubscriptionToAll(testCtx(t), "g", esdb.SubscribeToPersistentSubscriptionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := receive(t, sub, 1)
	if err := sub.Ack(got...); err != nil || textsOf(got) != "0" {
		t.Errorf("%s, %v", textsOf(got), err)
	}
	if e := sub.Recv(); e.SubscriptionDropped == nil || !strings.Contains(e.SubscriptionDropped.Error.Error(), "damaged at position 3") {
		t.Errorf("got %+v", e)
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
}

// A start that cannot serve makes no log in a folder that has none.
func TestRefusedStartMakesNoLog(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	dir := filepath.Join(t.TempDir(), "new")
	for _, c := range []Config{
		{Listen: "0.0.0.0:0"}, {Listen: "nowhere"}, {Listen: taken.Addr().String()},
		{Secure: &Secure{Listen: taken.Addr().String()}}, {Secure: &Secure{Listen: "127.0.0.1:0", CertificateFile: dir, KeyFile: dir}},
	} {
		c.Dir = dir
		if n, err := Open(c); err == nil {
			stop(t, n)
			t.Errorf("%+v: it runs", c)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%+v: %v", c, err)
		}
	}
}
