package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// The model is the protocol's rules written down a second time, over plain slices.

type modelStream struct {
	events     []Record
	tombstoned bool
	position   uint64
}

type model struct {
	log     []Record
	streams map[string]*modelStream
	now     time.Time
}

func (m *model) stream(name string) *modelStream {
	if m.streams[name] == nil {
		m.streams[name] = &modelStream{}
	}
	return m.streams[name]
}

// keys is the metadata of a stream as a map; nil when there is none.
func (m *model) keys(name string) map[string]any {
	events := m.stream("$$" + name).events
	if len(events) == 0 {
		return nil
	}
	keys := map[string]any{}
	newest := events[len(events)-1]
	if newest.Type == MetadataType && json.Unmarshal(newest.Data, &keys) != nil {
		keys = map[string]any{}
	}
	return keys
}

func (m *model) number(name, key string) (int64, bool) {
	n, ok := m.keys(name)[key].(float64)
	if n >= 9.2e18 {
		return DeletedBefore, ok
	}
	return int64(n), ok
}

func (m *model) softDeleted(name string) bool {
	before, ok := m.number(name, "$tb")
	return ok && before == DeletedBefore
}

func (m *model) add(name string, p Proposed) {
	s := m.stream(name)
	r := Record{
		Position: uint64(len(m.log)) + 1, Stream: name, Revision: uint64(len(s.events)), ID: p.ID, Type: p.Type, JSON: p.JSON,
		Data: p.Data, Metadata: p.Metadata, CreatedTicks: m.now.Unix() * TicksPerSecond,
	}
	if p.Type == TombstoneType {
		r.Revision = TombstoneRevision
	} else {
		s.events = append(s.events, r)
	}
	s.position = r.Position
	m.log = append(m.log, r)
}

// repair is the metadata the store writes to keep old events hidden.
func (m *model) repair(name string) {
	keys := m.keys(name)
	keys["$tb"] = len(m.stream(name).events)
	m.metadata(name, keys)
}

func (m *model) metadata(name string, keys map[string]any) {
	data, _ := json.Marshal(keys)
	m.add("$$"+name, Proposed{Type: MetadataType, JSON: true, Data: data})
}

type reaction string

const (
	done     reaction = "done"
	repeated reaction = "repeated"
	conflict reaction = "conflict"
	gone     reaction = "gone"
)

// expects says whether the stream is as expected, leaving ids aside.
func (m *model) expects(name string, e Expected) reaction {
	s := m.stream(name)
	if s.tombstoned { // the metadata of one can be written, and not read
		return gone
	}
	n, soft := len(s.events), m.softDeleted(name)
	ok := true
	switch e.Kind {
	case ExpectNoStream:
		ok = n == 0 || soft
	case ExpectStreamExists:
		if soft {
			return gone
		}
		ok = n > 0 || m.keys(name) != nil
	case ExpectRevision:
		ok = n > 0 && e.Revision == uint64(n-1)
	}
	if !ok {
		return conflict
	}
	return done
}

// replayed finds the ids in the stream from a revision on.
func replayed(s *modelStream, first int, events []Proposed) bool {
	if len(events) == 0 || first+len(events) > len(s.events) {
		return false
	}
	for i := range events {
		if s.events[first+i].ID != events[i].ID {
			return false
		}
	}
	return true
}

func (m *model) append(name string, e Expected, events []Proposed) (reaction, Result) {
	s := m.stream(name)
	base, isMeta := name, IsMetaStream(name)
	if isMeta {
		base = name[2:]
	}
	r := m.expects(name, e)
	if r == gone {
		return gone, Result{}
	}
	if len(events) > 0 {
		switch {
		case e.Kind == ExpectRevision && (len(s.events) == 0 || e.Revision >= uint64(len(s.events)-1)):
			// no look at the ids
		case e.Kind == ExpectRevision || e.Kind == ExpectNoStream:
			first := 0
			if e.Kind == ExpectRevision {
				first = int(e.Revision) + 1
			}
			if replayed(s, first, events) {
				last := s.events[first+len(events)-1]
				return repeated, Result{int64(last.Revision), last.Position}
			}
		case r == done:
			known := 0
			var last Record
			for i := range events {
				found := false
				for _, stored := range s.events {
					if stored.ID == events[i].ID {
						found, last = true, stored
					}
				}
				if !found {
					break
				}
				known++
			}
			if known == len(events) {
				return repeated, Result{int64(last.Revision), last.Position}
			}
			if known > 0 {
				return conflict, Result{}
			}
		}
	}
	if r != done {
		return r, Result{}
	}
	if len(events) == 0 {
		return done, Result{int64(len(s.events)) - 1, s.position}
	}
	wasDeleted := m.softDeleted(base)
	for _, p := range events {
		m.add(name, p)
	}
	result := Result{int64(len(s.events)) - 1, s.position}
	switch {
	case wasDeleted && isMeta:
		m.repair(base)
	case wasDeleted:
		keys := m.keys(base)
		keys["$tb"] = len(s.events) - len(events)
		m.metadata(base, keys)
	}
	return done, result
}

func (m *model) delete(name string, e Expected) reaction {
	r := m.expects(name, e)
	if r == done && len(m.stream(name).events) == 0 && m.keys(name) == nil {
		return conflict
	}
	if r == done {
		m.metadata(name, map[string]any{"$tb": int64(DeletedBefore)})
	}
	return r
}

func (m *model) tombstone(name string, e Expected) reaction {
	r := m.expects(name, e)
	if r == done {
		m.add(name, Proposed{Type: TombstoneType})
		m.stream(name).tombstoned = true
	}
	return r
}

// visible is what a read of the stream shows; false when it does not find the stream.
func (m *model) visible(name string) ([]Record, bool) {
	events := m.stream(name).events
	if len(events) == 0 {
		return nil, false
	}
	if IsMetaStream(name) {
		return events[len(events)-1:], true
	}
	if m.softDeleted(name) {
		return nil, false
	}
	var shown []Record
	for i, r := range events {
		before, hasBefore := m.number(name, "$tb")
		count, hasCount := m.number(name, "$maxCount")
		age, hasAge := m.number(name, "$maxAge")
		hidden := hasBefore && int64(i) < before ||
			hasCount && count > 0 && int64(len(events)-i) > count ||
			hasAge && age > 0 && m.now.Unix()-r.CreatedTicks/TicksPerSecond > age
		if !hidden && !r.Redacted {
			shown = append(shown, r)
		}
	}
	return shown, true
}

// scavenge removes the payloads of what no read shows, up to a position.
func (m *model) scavenge(until uint64) {
	gone := map[uint64]bool{}
	for name, s := range m.streams {
		keep := map[uint64]bool{}
		if !s.tombstoned {
			shown, _ := m.visible(name)
			for _, r := range shown {
				keep[r.Revision] = true
			}
		}
		for i := range s.events {
			if r := &s.events[i]; r.Position > 1 && r.Position <= until && !keep[r.Revision] {
				r.Redacted, r.Data, r.Metadata = true, nil, nil
				gone[r.Position] = true
			}
		}
	}
	for i := range m.log {
		if r := &m.log[i]; gone[r.Position] {
			r.Redacted, r.Data, r.Metadata = true, nil, nil
		}
	}
}

// machine drives a log and the model side by side.
type machine struct {
	model *model
	log   *Log
	open  func() *Log
	ids   []uuid.UUID
	clock *testClock
	files *faultyFiles
	dir   string
	gone  [][]byte // payloads that were scavenged
}

type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

func (x *machine) drawStream(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b@c", "$sys", "$$a", "$$b@c", "$$$sys"}).Draw(t, "stream")
}

func (x *machine) drawExpected(t *rapid.T, stream string) Expected {
	last := uint64(max(0, len(x.model.stream(stream).events)-1))
	return rapid.SampledFrom([]Expected{
		Any(), NoStream(), StreamExists(), Revision(last), Revision(last + 1), Revision(last - min(last, 1)), Revision(last - min(last, 2)), Revision(0),
	}).Draw(t, "expected")
}

func (x *machine) drawEvents(t *rapid.T, stream string) []Proposed {
	events := make([]Proposed, rapid.IntRange(0, 3).Draw(t, "events"))
	for i := range events {
		events[i] = Proposed{ID: uuid.New(), Type: "noted", Data: fmt.Appendf(nil, "payload %d.", len(x.ids))}
		// few ids, so that they come again
		if len(x.ids) > 0 && rapid.IntRange(0, 2).Draw(t, "repeat") > 0 {
			events[i].ID = rapid.SampledFrom(x.ids[max(0, len(x.ids)-6):]).Draw(t, "id")
		}
		x.ids = append(x.ids, events[i].ID)
		if IsMetaStream(stream) {
			events[i].Type = rapid.SampledFrom([]string{MetadataType, MetadataType, MetadataType, "noted"}).Draw(t, "type")
			events[i].JSON = true
			events[i].Data = []byte(rapid.SampledFrom([]string{
				`{}`, `{"$maxCount":2}`, `{"$maxAge":5,"custom":true}`, `{"$tb":1}`, `{"$tb":9223372036854775807}`, `not json`, `{"$maxCount":1,"$maxAge":3,"$tb":2}`,
			}).Draw(t, "metadata"))
		}
	}
	return events
}

func reactionTo(err error) reaction {
	var wrong *WrongExpectedRevisionError
	var deleted *StreamDeletedError
	switch {
	case err == nil:
		return done
	case errors.As(err, &wrong):
		return conflict
	case errors.As(err, &deleted):
		return gone
	default:
		return reaction(err.Error())
	}
}

func (x *machine) append(t *rapid.T) {
	stream := x.drawStream(t)
	expected := x.drawExpected(t, stream)
	events := x.drawEvents(t, stream)
	wantReaction, want := x.model.append(stream, expected, events)
	got, err := x.log.Append(context.Background(), stream, expected, events)
	if wantReaction == repeated {
		wantReaction = done
	}
	if reactionTo(err) != wantReaction || err == nil && got != want {
		t.Fatalf("append of %d to %q expecting %s: got %v %+v, want %v %+v", len(events), stream, expected, reactionTo(err), got, wantReaction, want)
	}
	x.adopt(t)
}

// appendSeveral appends new events to several streams, some of which are checked.
func (x *machine) appendSeveral(t *rapid.T) {
	var events []ProposedIn
	for range rapid.IntRange(1, 5).Draw(t, "events") {
		stream := rapid.SampledFrom([]string{"a", "b@c", "$sys", "never3"}).Draw(t, "stream")
		e := Proposed{ID: uuid.New(), Type: "noted", Data: fmt.Appendf(nil, "payload %d.", len(x.ids))}
		x.ids = append(x.ids, e.ID)
		events = append(events, ProposedIn{stream, e})
	}
	var checks []Check
	for _, stream := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b@c", "$sys", "$$a", "never"}), rapid.ID[string]).Draw(t, "checked") {
		checks = append(checks, Check{stream, x.drawExpected(t, stream)})
	}
	want := x.model.appendSeveral(checks, events)
	written, position, err := x.log.AppendSeveral(context.Background(), checks, events)
	var failed *ChecksError
	if want != nil && (!errors.As(err, &failed) || len(failed.Failed) != len(want)) || want == nil && err != nil {
		t.Fatalf("append of %+v with %+v: got %v, want failures of %v", events, checks, err, want)
	}
	for _, f := range failedOf(failed) {
		if !want[f.Stream] {
			t.Fatalf("append of %+v with %+v: %q failed, want %v", events, checks, f.Stream, want)
		}
	}
	for _, w := range written {
		if s := x.model.stream(w.Stream); w.LastRevision != int64(len(s.events))-1 || s.position > position {
			t.Fatalf("append of %+v: %+v at %d, want revision %d at %d", events, w, position, len(s.events)-1, s.position)
		}
	}
	x.adopt(t)
}

func failedOf(e *ChecksError) []FailedCheck {
	if e == nil {
		return nil
	}
	return e.Failed
}

// appendSeveral returns the streams that are not as expected; nil when the events were appended. Their ids are new.
func (m *model) appendSeveral(checks []Check, events []ProposedIn) map[string]bool {
	failed := map[string]bool{}
	for _, c := range checks {
		if m.expects(c.Stream, c.Expected) != done {
			failed[c.Stream] = true
		}
	}
	lengths := map[string]int{}
	deleted := map[string]map[string]any{}
	var order []string
	for _, e := range events {
		if m.stream(e.Stream).tombstoned {
			failed[e.Stream] = true
		}
		if _, seen := lengths[e.Stream]; !seen {
			order = append(order, e.Stream)
			lengths[e.Stream] = len(m.stream(e.Stream).events)
			if m.softDeleted(e.Stream) {
				deleted[e.Stream] = m.keys(e.Stream)
			}
		}
	}
	if len(failed) > 0 {
		return failed
	}
	for _, e := range events {
		m.add(e.Stream, e.Proposed)
	}
	for _, stream := range order {
		if keys := deleted[stream]; keys != nil {
			keys["$tb"] = lengths[stream]
			m.metadata(stream, keys)
		}
	}
	return nil
}

func (x *machine) delete(t *rapid.T) {
	stream := rapid.SampledFrom([]string{"a", "b@c", "$sys", "never"}).Draw(t, "stream")
	expected := x.drawExpected(t, stream)
	want := x.model.delete(stream, expected)
	got, err := x.log.Delete(context.Background(), stream, expected)
	if reactionTo(err) != want || err == nil && got.Position != uint64(len(x.model.log)) {
		t.Fatalf("delete of %q expecting %s: got %v at %d, want %v at %d", stream, expected, reactionTo(err), got.Position, want, len(x.model.log))
	}
	x.adopt(t)
}

func (x *machine) tombstone(t *rapid.T) {
	// rare, for nothing can happen to the stream afterwards
	if rapid.IntRange(0, 9).Draw(t, "rare") > 0 {
		return
	}
	stream := rapid.SampledFrom([]string{"b@c", "never2"}).Draw(t, "stream")
	expected := x.drawExpected(t, stream)
	want := x.model.tombstone(stream, expected)
	if _, err := x.log.Tombstone(context.Background(), stream, expected); reactionTo(err) != want {
		t.Fatalf("tombstone of %q expecting %s: got %v, want %v", stream, expected, reactionTo(err), want)
	}
	x.adopt(t)
}

// adopt takes over the ids the log made for events of its own.
func (x *machine) adopt(t *rapid.T) {
	for i := range x.model.log {
		if r := &x.model.log[i]; r.ID == uuid.Nil {
			record, err := x.log.record(x.log.index, r.Position)
			if err != nil {
				t.Fatal(err)
			}
			r.ID = record.ID
			if r.Revision != TombstoneRevision {
				x.model.stream(r.Stream).events[r.Revision].ID = record.ID
			}
		}
	}
}

func (x *machine) wait(t *rapid.T) {
	x.model.now = x.clock.advance(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
}

func (x *machine) reopen(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "rare") > 0 {
		return
	}
	if err := x.log.Close(); err != nil {
		t.Fatal(err)
	}
	x.log = x.open()
}

// scavenge removes payloads, in the model too, and looks for them in the files.
func (x *machine) scavenge(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rare") > 0 {
		return
	}
	report, err := x.log.Scavenge(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	segments := *x.log.segments.Load()
	if want := segments.tail().base; report.Position != want {
		t.Fatalf("scavenged up to %d, want %d", report.Position, want)
	}
	payloads := map[uint64][]byte{}
	for i := range x.model.log {
		payloads[x.model.log[i].Position] = x.model.log[i].Data
	}
	x.model.scavenge(segments.tail().base)
	contents := x.files.contents(x.dir)
	for i := range x.model.log {
		r := &x.model.log[i]
		if text := payloads[r.Position]; r.Redacted && bytes.HasPrefix(text, []byte("payload ")) {
			x.gone = append(x.gone, text)
		}
	}
	for name, b := range contents {
		for _, text := range x.gone {
			if bytes.Contains(b, text) {
				t.Fatalf("%s has %q", name, text)
			}
		}
	}
	if _, err := x.log.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func (x *machine) check(t *rapid.T) {
	view, err := x.log.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	if view.Head() != uint64(len(x.model.log)) {
		t.Fatalf("the log has %d records, the model %d", view.Head(), len(x.model.log))
	}
	x.checkAll(t, view)
	for _, name := range []string{"a", "b@c", "$sys", "$$a", "$$b@c", "never", "never2"} {
		x.checkStream(t, view, name)
	}
}

func (x *machine) checkAll(t *rapid.T, view *View) {
	forwards := rapid.Uint64Range(0, view.Head()+2).Draw(t, "from")
	page := Page{Records: rapid.IntRange(1, 5).Draw(t, "records"), Bytes: 1 << 20}
	got, err := view.ReadAll(context.Background(), forwards, false, page)
	start := min(uint64(len(x.model.log)), max(forwards, 1)-1)
	want := x.model.log[start:]
	if err != nil || !sameRecords(got, want[:min(len(want), page.Records)]) {
		t.Fatalf("$all from %d: got %v %v", forwards, got, err)
	}
	got, err = view.ReadAll(context.Background(), forwards, true, page)
	want = nil
	for i := min(len(x.model.log), int(max(forwards, 1))-1) - 1; i >= 0 && len(want) < page.Records; i-- {
		want = append(want, x.model.log[i])
	}
	if err != nil || !sameRecords(got, want) {
		t.Fatalf("$all back from %d: got %v %v", forwards, got, err)
	}
}

func (x *machine) checkStream(t *rapid.T, view *View, name string) {
	info, err := view.Stream(name)
	if err != nil {
		t.Fatal(err)
	}
	base := name
	if IsMetaStream(name) {
		base = name[2:]
	}
	if dead := x.model.stream(name).tombstoned || x.model.stream(base).tombstoned; info.Tombstoned != dead {
		t.Fatalf("%q tombstoned: %v", name, info.Tombstoned)
	} else if dead {
		return
	}
	want, found := x.model.visible(name)
	if info.Exists() != found {
		t.Fatalf("%q exists: %v, want %v", name, info.Exists(), found)
	}
	if !found {
		return
	}
	var got []Record
	if info.First <= uint64(info.Last) {
		if got, err = view.ReadStream(context.Background(), name, info.First, uint64(info.Last), false, Page{Records: 1000, Bytes: 1 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	if !sameRecords(got, want) {
		t.Fatalf("%q shows %v, want %v", name, got, want)
	}
	for _, r := range x.model.stream(name).events {
		_, ok, err := view.Event(name, r.Revision)
		shown := len(want) > 0 && r.Revision >= want[0].Revision
		if err != nil || ok != shown {
			t.Fatalf("%q revision %d as a link's target: %v %v, want %v", name, r.Revision, ok, err, shown)
		}
	}
}

func sameRecords(a, b []Record) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		// the log and the model order the keys of repaired metadata in the same way
		if a[i].ID != b[i].ID || a[i].Stream != b[i].Stream || a[i].Revision != b[i].Revision || a[i].Position != b[i].Position || !bytes.Equal(a[i].Data, b[i].Data) || a[i].Redacted != b[i].Redacted {
			return false
		}
	}
	return true
}

func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir := tempDir(t)
		files := newFaultyFiles()
		o := inMemory(Options{Dir: dir, files: files, segmentBytes: 2000})
		clock := &testClock{now: time.Unix(1_700_000_000, 0)}
		o.Clock = clock.Now
		x := &machine{clock: clock, files: files, dir: dir, model: &model{streams: map[string]*modelStream{}, now: clock.now}}
		x.open = func() *Log {
			l, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		x.log = x.open()
		defer func() { _ = x.log.Close() }()
		first, err := x.log.record(x.log.index, 1)
		if err != nil {
			t.Fatal(err)
		}
		x.model.add(first.Stream, Proposed{ID: first.ID, Type: first.Type, JSON: true, Data: first.Data})
		t.Repeat(map[string]func(*rapid.T){
			"append": x.append, "append again": x.append, "append to several": x.appendSeveral, "delete": x.delete, "tombstone": x.tombstone, "wait": x.wait, "reopen": x.reopen, "scavenge": x.scavenge, "": x.check,
		})
		if _, err := x.log.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "eventlog")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
