package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// listed says what index streams must hold, by the rules of docs/node-protocol.md and from $all alone: for each stream its links.
func listed(records []Record) map[string][]Record {
	lists := map[string][]Record{}
	for _, r := range records {
		add := func(stream, data string) {
			revision := uint64(len(lists[stream]))
			if strings.HasPrefix(stream, "$bc-") {
				revision = r.Position
			}
			lists[stream] = append(lists[stream], Record{Stream: stream, Revision: revision, Position: r.Position, Type: LinkType, CreatedTicks: r.CreatedTicks, Data: []byte(data)})
		}
		link := fmt.Sprintf("%d@%s", r.Revision, r.Stream)
		name, _, categorised := strings.Cut(r.Stream, "-")
		categorised = categorised && name != "" && name[0] != '$'
		if categorised {
			if r.Type == LinkType && len(r.Data) > 0 {
				add("$ce-"+name, string(r.Data))
			} else {
				add("$ce-"+name, link)
			}
		}
		switch {
		case r.Type == TombstoneType && r.Revision == TombstoneRevision:
			add("$et-$deleted", link)
		case r.Type != LinkType:
			add("$et-"+r.Type, link)
		}
		if r.Revision == 0 && !strings.HasPrefix(r.Stream, "$") {
			add("$streams", link)
			if categorised {
				add("$category-"+name, link)
			}
		}
		var about map[string]any
		if r.Type != LinkType && json.Unmarshal(r.Metadata, &about) == nil {
			if id, isText := about["$correlationId"].(string); isText && id != "" {
				add("$bc-"+id, link)
			}
		}
	}
	return lists
}

func TestIndexStreams(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := inMemory(Options{Dir: tempDir(t), segmentBytes: 2000})
		open := func() *Log {
			l, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		l := open()
		defer func() { _ = l.Close() }()
		reopen := func(t *rapid.T) {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "without its index") {
				o.indexFiles = vfs.NewMem()
			}
			l = open()
		}
		stream := func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"a-1", "a-2-3", "a-", "b-1", "plain", "-x", "$sys-1", "$$a-1"}).Draw(t, "stream")
		}
		write := func(t *rapid.T) {
			events := make([]Proposed, rapid.IntRange(1, 3).Draw(t, "events"))
			for i := range events {
				events[i] = Proposed{
					ID:   uuid.New(),
					Type: rapid.SampledFrom([]string{"noted", "noted", LinkType, MetadataType, TombstoneType, "$deleted", strings.Repeat("long", 1024)}).Draw(t, "type"),
					Data: []byte(rapid.SampledFrom([]string{"", "0@b-1", "no link"}).Draw(t, "data")),
					Metadata: []byte(rapid.SampledFrom([]string{
						"", "{}", `{"$correlationId":"k"}`, `{"$correlationId":"k","x":[1]}`, `{"\u0024correlationId":"l"}`, `{"$CorrelationID":"m"}`, `{"$correlationId":7}`, `{"$correlationId":""}`, `{"$correlationId":"k"`,
					}).Draw(t, "metadata")),
				}
			}
			var gone *StreamDeletedError
			if _, err := l.Append(context.Background(), stream(t), Any(), events); err != nil && !errors.As(err, &gone) {
				t.Fatal(err)
			}
		}
		check := func(t *rapid.T) {
			everything, err := readEverything(l)
			if err != nil {
				t.Fatal(err)
			}
			lists := listed(everything)
			delete(lists, "$et-"+strings.Repeat("long", 1024)) // its name would be too long
			for _, name := range slices.Concat(slices.Collect(maps.Keys(lists)), []string{"$ce-none", "$bc-m", "$et-$>", "$ce-$sys", "$ce-"}) {
				sameList(t, l, name, lists[name])
			}
			if _, err := l.Verify(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": write, "write again": write, "reopen": reopen, "": check,
			"delete": func(t *rapid.T) { _, _ = l.Delete(context.Background(), stream(t), Any()) },
			"tombstone": func(t *rapid.T) {
				if rapid.IntRange(0, 4).Draw(t, "rarely") == 0 {
					_, _ = l.Tombstone(context.Background(), stream(t), Any())
				}
			},
		})
	})
}

func readEverything(l *Log) ([]Record, error) {
	view, err := l.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	return view.ReadAll(context.Background(), 0, false, Page{Records: int(view.Head()) + 1, Bytes: 1 << 30})
}

// sameList compares an index stream with its links: read whole, in pages, backwards, and one by one.
func sameList(t *rapid.T, l *Log, stream string, want []Record) {
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	info, err := view.Stream(stream)
	if err != nil || info.Exists() != (len(want) > 0) || info.First != 0 || info.Tombstoned {
		t.Fatalf("%s: %+v, %v, want %d links", stream, info, err, len(want))
	}
	if len(want) == 0 {
		return
	}
	last := want[len(want)-1].Revision
	if uint64(info.Last) != last {
		t.Fatalf("%s ends at %d, want %d", stream, info.Last, last)
	}
	ids := map[uuid.UUID]bool{}
	equal := func(got, want *Record) {
		ids[got.ID] = true
		if got.Stream != want.Stream || got.Revision != want.Revision || got.Position != want.Position || got.Type != want.Type || got.CreatedTicks != want.CreatedTicks || !bytes.Equal(got.Data, want.Data) || got.JSON || got.Metadata != nil {
			t.Fatalf("%s: %+v, want %+v", stream, got, want)
		}
	}
	for _, records := range []int{1000, 2} {
		next, n := uint64(0), 0
		for next <= last {
			page, err := view.ReadStream(context.Background(), stream, next, last+5, false, Page{Records: records, Bytes: 1 << 20})
			if err != nil || len(page) == 0 {
				t.Fatal(err, len(page))
			}
			for i := range page {
				equal(&page[i], &want[n])
				n++
			}
			next = page[len(page)-1].Revision + 1
		}
		if n != len(want) {
			t.Fatalf("%s: %d links, want %d", stream, n, len(want))
		}
	}
	back, err := view.ReadStream(context.Background(), stream, want[0].Revision, last, true, Page{Records: 1000, Bytes: 1 << 20})
	if err != nil || len(back) != len(want) {
		t.Fatal(err, len(back))
	}
	for i := range back {
		equal(&back[len(back)-1-i], &want[i])
		one, found, err := view.Event(stream, want[i].Revision)
		if err != nil || !found {
			t.Fatalf("%s: revision %d is not there: %v", stream, want[i].Revision, err)
		}
		equal(&one, &want[i])
	}
	if len(ids) != len(want) {
		t.Fatalf("%s: %d ids of %d links", stream, len(ids), len(want))
	}
}

// TestIndexStreamsAreNotWritten: nobody writes to an index stream or deletes it; its metadata can be written, for it says who may read.
func TestIndexStreamsAreNotWritten(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{})
	mustAppend(t, l, "a-1", Any(), event("1"))
	for _, stream := range []string{"$ce-a", "$et-noted", "$category-a", "$bc-x", "$streams", "$ce-nothing"} {
		_, appended := l.Append(context.Background(), stream, Any(), []Proposed{event("x")})
		_, deleted := l.Delete(context.Background(), stream, Any())
		_, tombstoned := l.Tombstone(context.Background(), stream, Any())
		for _, err := range []error{appended, deleted, tombstoned} {
			var denied *AccessDeniedError
			if !errors.As(err, &denied) {
				t.Errorf("%s: %v", stream, err)
			}
		}
	}
	metadata := Proposed{ID: uuid.New(), Type: MetadataType, JSON: true, Data: []byte(`{"$acl":{"$r":"ann"},"$tb":9223372036854775807}`)}
	mustAppend(t, l, "$$$ce-a", Any(), metadata)
	metadata.ID = uuid.New()
	mustAppend(t, l, "$$$ce-a", Revision(0), metadata)
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	if info, err := view.Stream("$ce-a"); err != nil || !info.Exists() || info.Last != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestIndexStreamsWake: who waits for an index stream is woken by what it lists, and by nothing else.
func TestIndexStreamsWake(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{})
	watches := map[string]*Watch{}
	for _, stream := range []string{"$ce-a", "$et-noted", "$bc-k", "$streams", "$category-a", "$ce-b"} {
		watches[stream] = l.Watch(stream)
		defer watches[stream].Close()
	}
	mustAppend(t, l, "a-1", Any(), Proposed{ID: uuid.New(), Type: "noted", Metadata: []byte(`{"$correlationId":"k"}`)})
	for stream, watch := range watches {
		if stream == "$ce-b" {
			continue
		}
		select {
		case <-watch.C:
		case <-time.After(time.Minute):
			t.Errorf("%s was not woken", stream)
		}
	}
	select {
	case <-watches["$ce-b"].C:
		t.Error("$ce-b was woken")
	default:
	}
}

func FuzzCorrelationID(f *testing.F) {
	for _, metadata := range []string{"", `{"$correlationId":"k"}`, `{"\u0024correlationId":"k"}`, `{"$correlationId":null}`, `[{"$correlationId":"k"}]`, strings.Repeat("[", 20000) + `"$correlationId"`} {
		f.Add([]byte(metadata))
	}
	f.Fuzz(func(t *testing.T, metadata []byte) {
		id := correlationID(metadata)
		if id == "" {
			return
		}
		var about map[string]any
		if err := json.Unmarshal(metadata, &about); err != nil || about["$correlationId"] != id {
			t.Errorf("%q has no correlation id %q: %v", metadata, id, err)
		}
	})
}
