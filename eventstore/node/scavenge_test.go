package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// A client asks the node to scavenge: what was truncated is gone from the files and from
// reads, also of $all, and of groups of consumers; everything else is there.
func TestScavengeByRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(testCtx(t)); err != nil {
			t.Error(err)
		}
	}()
	// 66 MiB, so that the first segment is sealed
	const large, segment = 66, 64 << 20
	for i := range large {
		text := fmt.Sprintf("payload-%d.", i) + strings.Repeat("x", eventlog.MaxAppendBytes-100)
		for _, stream := range []string{"old", "kept"} {
			if stream == "kept" {
				text = fmt.Sprint("kept-", i)
			}
			event := eventlog.Proposed{ID: uuid.New(), Type: "noted", Data: []byte(text)}
			if _, err := n.log.Append(t.Context(), stream, eventlog.Any(), []eventlog.Proposed{event}); err != nil {
				t.Fatal(err)
			}
		}
	}
	client := dial(t, n.ConnectionString())
	all := func() (old, kept int) {
		t.Helper()
		reading, err := client.ReadAll(testCtx(t), esdb.ReadAllOptions{From: esdb.Start{}}, math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		defer reading.Close()
		for {
			e, err := reading.Recv()
			if errors.Is(err, io.EOF) {
				return old, kept
			}
			if err != nil {
				t.Fatal(err)
			}
			switch r := e.OriginalEvent(); {
			case r.StreamID == "old" && len(r.Data) > 1000:
				old++
			case r.StreamID == "kept" && len(r.Data) > 0:
				kept++
			case r.StreamID == "old" || r.StreamID == "kept":
				t.Errorf("an event without its payload: %+v", r)
			}
		}
	}
	if old, kept := all(); old != large || kept != large {
		t.Fatalf("%d, %d", old, kept)
	}
	var metadata esdb.StreamMetadata
	metadata.SetMaxCount(1)
	if _, err := client.SetStreamMetadata(testCtx(t), "old", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, metadata); err != nil {
		t.Fatal(err)
	}
	request := esdb.EventData{EventID: uuid.New(), EventType: ScavengeRequestedType, ContentType: esdb.ContentTypeJson, Data: []byte("{}")}
	if _, err := client.AppendToStream(testCtx(t), ScavengeStream, esdb.AppendToStreamOptions{}, request); err != nil {
		t.Fatal(err)
	}
	following, err := client.SubscribeToStream(testCtx(t), ScavengeStream, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = following.Close() }()
	var result ScavengeResult
	for result.Request != request.EventID {
		e := following.Recv()
		if e.SubscriptionDropped != nil {
			t.Fatal(e.SubscriptionDropped.Error)
		}
		if e.EventAppeared != nil && e.EventAppeared.OriginalEvent().EventType == ScavengeEndedType {
			if err := json.Unmarshal(e.EventAppeared.OriginalEvent().Data, &result); err != nil {
				t.Fatal(err)
			}
		}
	}
	if result.Error != "" || result.Rewritten != 1 || result.Removed < 60 || result.Freed < segment-(4<<20) {
		t.Fatalf("%+v", result)
	}
	if old, kept := all(); old != large-int(result.Removed) || kept != large {
		t.Errorf("%d, %d after %+v", old, kept, result)
	}
	if err := client.CreatePersistentSubscriptionToAll(testCtx(t), "g", esdb.PersistentAllSubscriptionOptions{StartFrom: esdb.Start{}, Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"old", "kept"}}}); err != nil {
		t.Fatal(err)
	}
	group, err := client.SubscribeToPersistentSubscriptionToAll(testCtx(t), "g", esdb.SubscribeToPersistentSubscriptionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = group.Close() }()
	for got := 0; got < 2*large-int(result.Removed); got++ {
		e := group.Recv()
		if e.SubscriptionDropped != nil {
			t.Fatal(e.SubscriptionDropped.Error)
		}
		if e.EventAppeared == nil {
			got--
			continue
		}
		if len(e.EventAppeared.Event.OriginalEvent().Data) == 0 {
			t.Errorf("a group delivers a scavenged event: %+v", e.EventAppeared.Event.OriginalEvent())
		}
		if err := group.Ack(e.EventAppeared.Event); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "segments", "00000000000000000000.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range result.Removed {
		if strings.Contains(string(b), fmt.Sprintf("payload-%d.", i)) {
			t.Errorf("payload %d is still there", i)
		}
	}
	if report, err := n.Verify(t.Context()); err != nil || report.Redacted != result.Removed {
		t.Errorf("%+v, %v", report, err)
	}
}

// A schedule goes on over restarts: what is due when a node starts is done then, and not again before its time.
func TestScavengeByScheduleOutlastsRestarts(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	config := Config{Dir: dir, Listen: "127.0.0.1:0", ScavengeEvery: time.Hour, Clock: func() time.Time { return now }}
	ended := func(n *Node) (count int) {
		t.Helper()
		client := dial(t, n.ConnectionString())
		reading, err := client.ReadStream(testCtx(t), ScavengeStream, esdb.ReadStreamOptions{From: esdb.Start{}}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		defer reading.Close()
		for {
			e, err := reading.Recv()
			if err != nil {
				return count
			}
			var result ScavengeResult
			if e.OriginalEvent().EventType == ScavengeEndedType && json.Unmarshal(e.OriginalEvent().Data, &result) == nil && result.Request == uuid.Nil && result.Error == "" {
				count++
			}
		}
	}
	want := 0
	for _, later := range []time.Duration{0, 59 * time.Minute, 2 * time.Minute, 0, 58 * time.Minute, 3 * time.Minute} {
		now = now.Add(later)
		n, err := Open(config)
		if err != nil {
			t.Fatal(err)
		}
		if later == 2*time.Minute || later == 3*time.Minute { // an hour after the log was made, and after the scavenge before
			want++
			for ctx := testCtx(t); ended(n) < want; {
				if ctx.Err() != nil {
					t.Fatal("a scavenge that is due does not come")
				}
			}
		}
		last, err := lastScheduled(t.Context(), n.log)
		if err != nil || now.Sub(last) >= time.Hour {
			t.Errorf("the last scavenge was %s ago, %v", now.Sub(last), err)
		}
		if got := ended(n); got != want {
			t.Errorf("%d scavenges after %s more, want %d", got, later, want)
		}
		if err := n.Close(testCtx(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScavengeByScheduleIsNotTooOften(t *testing.T) {
	t.Parallel()
	if err := (Config{Dir: "d", ScavengeEvery: 1}).Validate(); err == nil || !strings.Contains(err.Error(), "ScavengeEvery") {
		t.Errorf("got %v", err)
	}
}
