package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
	"reckon/test/wait"
)

// These tests use the node as everyone does: through the official client.

type running struct {
	*Node
	client *esdb.Client
}

func start(t testing.TB) *running { return startIn(t, t.TempDir()) }

func startIn(t testing.TB, dir string) *running {
	t.Helper()
	n, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	return &running{n, dial(t, n.ConnectionString())}
}

func stop(t testing.TB, n *Node) {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Longest)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Error(err)
	}
}

// dial connects until the test's end. Where a node is killed under several callers each needs a client of its own: the official client blocks
// every further call for ever once it has found no node for one.
func dial(t testing.TB, connectionString string) *esdb.Client {
	t.Helper()
	config, err := esdb.ParseConnectionString(connectionString)
	if err != nil {
		t.Fatal(err)
	}
	config.Logger, config.KeepAliveTimeout = esdb.NoopLogging(), 10*time.Minute // a busy machine is no broken connection
	client, err := esdb.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func testCtx(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Longest)
	t.Cleanup(cancel)
	return ctx
}

func note(text string) esdb.EventData {
	return esdb.EventData{EventID: uuid.New(), EventType: "noted", ContentType: esdb.ContentTypeJson, Data: []byte(text), Metadata: []byte(`{"m":1}`)}
}

func (r *running) append(t testing.TB, stream string, expected esdb.ExpectedRevision, events ...esdb.EventData) *esdb.WriteResult {
	t.Helper()
	result, err := r.client.AppendToStream(testCtx(t), stream, esdb.AppendToStreamOptions{ExpectedRevision: expected}, events...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func code(err error) esdb.ErrorCode {
	var e *esdb.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return -1
}

func wantCode(t testing.TB, what string, err error, want esdb.ErrorCode) {
	t.Helper()
	if code(err) != want {
		t.Errorf("%s: got %v, want code %v", what, err, want)
	}
}

func drain(t testing.TB, r *esdb.ReadStream, err error) []*esdb.ResolvedEvent {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var events []*esdb.ResolvedEvent
	for {
		e, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func (r *running) read(t testing.TB, stream string, o esdb.ReadStreamOptions, count uint64) string {
	t.Helper()
	events, err := r.client.ReadStream(testCtx(t), stream, o, count)
	return texts(drain(t, events, err))
}

func texts(events []*esdb.ResolvedEvent) string {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Event == nil:
			b.WriteByte('?')
		default:
			b.Write(e.Event.Data)
		}
	}
	return b.String()
}

func (r *running) readError(t testing.TB, stream string) error {
	t.Helper()
	events, err := r.client.ReadStream(testCtx(t), stream, esdb.ReadStreamOptions{From: esdb.Start{}}, 10)
	if err != nil {
		return err
	}
	defer events.Close()
	_, err = events.Recv()
	return err
}

func TestConnectDirectlyAndByGossip(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("a"))
	discovered := dial(t, strings.Replace(r.ConnectionString(), "esdb://", "esdb+discover://", 1))
	result, err := discovered.AppendToStream(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Revision(0)}, note("b"))
	if err != nil || result.NextExpectedVersion != 1 {
		t.Fatal(result, err)
	}
	version, err := r.client.GetServerVersion()
	if err != nil || *version != (esdb.ServerVersion{Major: 24, Minor: 10}) {
		t.Fatal(version, err)
	}
}

func TestEventComesBackAsItWent(t *testing.T) {
	t.Parallel()
	r := start(t)
	before := time.Now().Add(-time.Second)
	e := note(`{"x":1}`)
	binary := esdb.EventData{EventID: uuid.New(), EventType: "blob", ContentType: esdb.ContentTypeBinary, Data: []byte{0, 255}}
	result := r.append(t, "käse\x00/@", esdb.NoStream{}, e, binary)
	events, err := r.client.ReadStream(testCtx(t), "käse\x00/@", esdb.ReadStreamOptions{From: esdb.Start{}}, 10)
	got := drain(t, events, err)
	if len(got) != 2 {
		t.Fatalf("%d events", len(got))
	}
	first, second := got[0].Event, got[1].Event
	if first.EventID != e.EventID || first.EventType != e.EventType || first.ContentType != "application/json" ||
		string(first.Data) != `{"x":1}` || string(first.UserMetadata) != `{"m":1}` || first.StreamID != "käse\x00/@" ||
		first.EventNumber != 0 || first.CreatedDate.Before(before) || first.Position.Commit != first.Position.Prepare {
		t.Errorf("got %+v", first)
	}
	if second.ContentType != "application/octet-stream" || string(second.Data) != "\x00\xff" || second.EventNumber != 1 {
		t.Errorf("got %+v", second)
	}
	if second.Position.Commit != result.CommitPosition || first.Position.Commit >= second.Position.Commit || *got[1].Commit != result.CommitPosition {
		t.Errorf("positions %v %v, appended at %d", first.Position, second.Position, result.CommitPosition)
	}
}

func TestWrongExpectedVersion(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("a"), note("b"))
	for _, c := range []struct {
		stream   string
		expected esdb.ExpectedRevision
	}{
		{"s", esdb.NoStream{}}, {"s", esdb.Revision(0)}, {"s", esdb.Revision(2)}, {"new", esdb.Revision(0)}, {"new", esdb.StreamExists{}},
	} {
		_, err := r.client.AppendToStream(testCtx(t), c.stream, esdb.AppendToStreamOptions{ExpectedRevision: c.expected}, note("x"))
		wantCode(t, fmt.Sprintf("%s expecting %#v", c.stream, c.expected), err, esdb.ErrorCodeWrongExpectedVersion)
	}
	if got := r.read(t, "s", esdb.ReadStreamOptions{From: esdb.Start{}}, 10); got != "ab" {
		t.Errorf("stream holds %q", got)
	}
}

func TestReadingAStream(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("0"), note("1"), note("2"), note("3"))
	const most = ^uint64(0)
	for _, c := range []struct {
		from  esdb.StreamPosition
		dir   esdb.Direction
		count uint64
		want  string
	}{
		{esdb.Start{}, esdb.Forwards, most, "0123"}, {esdb.Start{}, esdb.Forwards, 2, "01"}, {esdb.Revision(2), esdb.Forwards, most, "23"},
		{esdb.Revision(9), esdb.Forwards, most, ""}, {esdb.End{}, esdb.Forwards, most, ""},
		{esdb.End{}, esdb.Backwards, most, "3210"}, {esdb.End{}, esdb.Backwards, 1, "3"}, {esdb.Revision(1), esdb.Backwards, most, "10"},
		{esdb.Revision(9), esdb.Backwards, most, "3210"}, {esdb.Start{}, esdb.Backwards, most, "0"}, {esdb.Revision(0), esdb.Backwards, most, "0"},
	} {
		if got := r.read(t, "s", esdb.ReadStreamOptions{From: c.from, Direction: c.dir}, c.count); got != c.want {
			t.Errorf("from %#v direction %v count %d: got %q, want %q", c.from, c.dir, c.count, got, c.want)
		}
	}
	wantCode(t, "a stream that is not there", r.readError(t, "none"), esdb.ErrorCodeResourceNotFound)
}

func TestLongStreamInPages(t *testing.T) {
	t.Parallel()
	r := start(t)
	const total = 3*pageRecords + 7
	for n := 0; n < total; n += 50 {
		events := make([]esdb.EventData, min(50, total-n))
		for i := range events {
			events[i] = note(".")
		}
		r.append(t, "long", esdb.Any{}, events...)
	}
	for _, o := range []esdb.ReadStreamOptions{{From: esdb.Start{}}, {From: esdb.End{}, Direction: esdb.Backwards}} {
		events, err := r.client.ReadStream(testCtx(t), "long", o, total*2)
		got := drain(t, events, err)
		if len(got) != total {
			t.Fatalf("%d events, want %d", len(got), total)
		}
		for i, e := range got {
			want := uint64(i)
			if o.Direction == esdb.Backwards {
				want = total - 1 - want
			}
			if e.Event.EventNumber != want {
				t.Fatalf("event %d has revision %d", i, e.Event.EventNumber)
			}
		}
	}
	all, err := r.client.ReadAll(testCtx(t), esdb.ReadAllOptions{From: esdb.Start{}}, total+100)
	if n := len(drain(t, all, err)); n != total+1 {
		t.Errorf("$all has %d events", n)
	}
}

func TestDeleteAndRevive(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("a"), note("b"))
	deleted, err := r.client.DeleteStream(testCtx(t), "s", esdb.DeleteStreamOptions{ExpectedRevision: esdb.Revision(1)})
	if err != nil || deleted.Position.Commit == 0 || deleted.Position.Prepare == 0 {
		t.Fatal(deleted, err)
	}
	wantCode(t, "read after delete", r.readError(t, "s"), esdb.ErrorCodeResourceNotFound)
	_, err = r.client.AppendToStream(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.StreamExists{}}, note("x"))
	wantCode(t, "append that needs the stream", err, esdb.ErrorCodeStreamDeleted)
	if result := r.append(t, "s", esdb.NoStream{}, note("c")); result.NextExpectedVersion != 2 {
		t.Errorf("revived at revision %d", result.NextExpectedVersion)
	}
	if got := r.read(t, "s", esdb.ReadStreamOptions{From: esdb.Start{}}, 10); got != "c" {
		t.Errorf("after revival %q", got)
	}
	metadata, err := r.client.GetStreamMetadata(testCtx(t), "s", esdb.ReadStreamOptions{})
	if err != nil || metadata.TruncateBefore() == nil || *metadata.TruncateBefore() != 2 {
		t.Errorf("metadata after revival: %+v %v", metadata, err)
	}
	_, err = r.client.DeleteStream(testCtx(t), "never", esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}})
	wantCode(t, "delete of nothing", err, esdb.ErrorCodeUnknown)
	if err == nil || !strings.Contains(err.Error(), "WrongExpectedVersion") {
		t.Errorf("delete of nothing: %v", err)
	}
}

func TestTombstone(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("a"))
	buried, err := r.client.TombstoneStream(testCtx(t), "s", esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Revision(0)})
	if err != nil || buried.Position.Commit == 0 {
		t.Fatal(buried, err)
	}
	wantCode(t, "read", r.readError(t, "s"), esdb.ErrorCodeStreamDeleted)
	wantCode(t, "read of metadata", r.readError(t, "$$s"), esdb.ErrorCodeStreamDeleted)
	_, err = r.client.AppendToStream(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, note("b"))
	wantCode(t, "append", err, esdb.ErrorCodeStreamDeleted)
	_, err = r.client.TombstoneStream(testCtx(t), "s", esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}})
	wantCode(t, "tombstone again", err, esdb.ErrorCodeStreamDeleted)
	all, err := r.client.ReadAll(testCtx(t), esdb.ReadAllOptions{From: esdb.End{}, Direction: esdb.Backwards}, 1)
	last := drain(t, all, err)
	if len(last) != 1 || last[0].Event.EventType != eventlog.TombstoneType || last[0].Event.EventNumber != eventlog.TombstoneRevision || last[0].Event.Position.Commit != buried.Position.Commit {
		t.Errorf("$all ends with %+v", last[0].Event)
	}
	// the suite of the Python client has these
	for _, expected := range []esdb.ExpectedRevision{esdb.Any{}, esdb.Revision(0), esdb.Any{}} {
		if _, err := r.client.SetStreamMetadata(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: expected}, esdb.StreamMetadata{}); err != nil {
			t.Errorf("metadata expecting %v: %v", expected, err)
		}
	}
	wantCode(t, "read of metadata that was written", r.readError(t, "$$s"), esdb.ErrorCodeStreamDeleted)
	wantCode(t, "read after metadata was written", r.readError(t, "s"), esdb.ErrorCodeStreamDeleted)
}

func TestStreamMetadata(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("0"), note("1"), note("2"))
	_, err := r.client.GetStreamMetadata(testCtx(t), "s", esdb.ReadStreamOptions{})
	wantCode(t, "metadata that was never set", err, esdb.ErrorCodeResourceNotFound)
	metadata := esdb.StreamMetadata{}
	metadata.SetMaxCount(2)
	metadata.SetMaxAge(time.Hour)
	metadata.SetAcl(esdb.UserStreamAcl)
	metadata.AddCustomProperty("colour", "blue")
	if _, err := r.client.SetStreamMetadata(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}, metadata); err != nil {
		t.Fatal(err)
	}
	got, err := r.client.GetStreamMetadata(testCtx(t), "s", esdb.ReadStreamOptions{})
	if err != nil || *got.MaxCount() != 2 || *got.MaxAge() != time.Hour || got.CustomProperty("colour") != "blue" {
		t.Fatalf("%+v %v", got, err)
	}
	if shown := r.read(t, "s", esdb.ReadStreamOptions{From: esdb.Start{}}, 10); shown != "12" {
		t.Errorf("with $maxCount 2 the stream shows %q", shown)
	}
	if shown := r.read(t, "s", esdb.ReadStreamOptions{From: esdb.End{}, Direction: esdb.Backwards}, 10); shown != "21" {
		t.Errorf("backwards %q", shown)
	}
	metadata = esdb.StreamMetadata{}
	metadata.SetTruncateBefore(9)
	if _, err := r.client.SetStreamMetadata(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Revision(0)}, metadata); err != nil {
		t.Fatal(err)
	}
	// everything hidden is not the same as not there
	if shown := r.read(t, "s", esdb.ReadStreamOptions{From: esdb.Start{}}, 10); shown != "" {
		t.Errorf("truncated, the stream shows %q", shown)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	r := start(t)
	link := func(target string) esdb.EventData {
		return esdb.EventData{EventID: uuid.New(), EventType: eventlog.LinkType, ContentType: esdb.ContentTypeBinary, Data: []byte(target)}
	}
	r.append(t, "a@b", esdb.NoStream{}, note("A"), note("B"))
	r.append(t, "gone", esdb.NoStream{}, note("G"))
	r.append(t, "links", esdb.NoStream{}, link("1@a@b"), link("0@gone"), link("7@a@b"), link("nonsense"), link("0@links"), note("E"))
	if _, err := r.client.DeleteStream(testCtx(t), "gone", esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	events, err := r.client.ReadStream(testCtx(t), "links", esdb.ReadStreamOptions{From: esdb.Start{}, ResolveLinkTos: true}, 10)
	got := drain(t, events, err)
	if s := texts(got); s != "B??nonsense1@a@bE" {
		t.Errorf("resolved: %q", s)
	}
	if got[0].Link == nil || got[0].Link.StreamID != "links" || got[0].Event.StreamID != "a@b" || got[0].Event.EventNumber != 1 || *got[0].Commit != got[0].Link.Position.Commit {
		t.Errorf("got %+v", got[0])
	}
	if got[1].Link == nil || got[3].Link != nil || got[5].Link != nil {
		t.Error("links are told from events wrongly")
	}
	if s := r.read(t, "links", esdb.ReadStreamOptions{From: esdb.Start{}}, 10); s != "1@a@b0@gone7@a@bnonsense0@linksE" {
		t.Errorf("unresolved: %q", s)
	}
}

func TestReadingAll(t *testing.T) {
	t.Parallel()
	r := start(t)
	first := r.append(t, "a", esdb.NoStream{}, note("1"))
	r.append(t, "$persistentsubscription-$all::g-checkpoint", esdb.NoStream{}, note("hidden"))
	r.append(t, "b", esdb.NoStream{}, note("2"), note("3"))
	last := r.append(t, "$sys", esdb.NoStream{}, note("4"))
	at := func(w *esdb.WriteResult) esdb.Position {
		return esdb.Position{Commit: w.CommitPosition, Prepare: w.PreparePosition}
	}
	for _, c := range []struct {
		name  string
		o     esdb.ReadAllOptions
		count uint64
		want  string
	}{
		{"from an event, inclusive", esdb.ReadAllOptions{From: at(first)}, 100, "1234"},
		{"limited", esdb.ReadAllOptions{From: at(first)}, 2, "12"},
		{"from the end", esdb.ReadAllOptions{From: esdb.End{}}, 100, ""},
		{"backwards from an event, exclusive", esdb.ReadAllOptions{From: at(last), Direction: esdb.Backwards}, 3, "321"},
		{"backwards from the end", esdb.ReadAllOptions{From: esdb.End{}, Direction: esdb.Backwards}, 2, "43"},
		{"backwards from the start", esdb.ReadAllOptions{From: esdb.Start{}, Direction: esdb.Backwards}, 100, ""},
		{"beyond the end", esdb.ReadAllOptions{From: esdb.Position{Commit: 1 << 50, Prepare: 1 << 50}}, 100, ""},
		{"backwards from beyond the end", esdb.ReadAllOptions{From: esdb.Position{Commit: 1 << 50, Prepare: 1 << 50}, Direction: esdb.Backwards}, 1, "4"},
	} {
		events, err := r.client.ReadAll(testCtx(t), c.o, c.count)
		if got := texts(drain(t, events, err)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestIdempotentAppend(t *testing.T) {
	t.Parallel()
	r := start(t)
	a, b, c := note("a"), note("b"), note("c")
	first := r.append(t, "s", esdb.NoStream{}, a)
	second := r.append(t, "s", esdb.Revision(0), b, c)
	for name, again := range map[string]*esdb.WriteResult{
		"no stream": r.append(t, "s", esdb.NoStream{}, a),
		"any":       r.append(t, "s", esdb.Any{}, a),
	} {
		if *again != *first {
			t.Errorf("%s: %+v, first %+v", name, again, first)
		}
	}
	if again := r.append(t, "s", esdb.Revision(0), b, c); *again != *second {
		t.Errorf("exact: %+v, first %+v", again, second)
	}
	_, err := r.client.AppendToStream(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Revision(0)}, b, note("other"))
	wantCode(t, "partly the same", err, esdb.ErrorCodeWrongExpectedVersion)
	r.append(t, "t", esdb.NoStream{}, a)
	if got := r.read(t, "s", esdb.ReadStreamOptions{From: esdb.Start{}}, 10) + r.read(t, "t", esdb.ReadStreamOptions{From: esdb.Start{}}, 10); got != "abca" {
		t.Errorf("stored %q", got)
	}
}

func TestAppendLimit(t *testing.T) {
	t.Parallel()
	r := start(t)
	event := func(size int) esdb.EventData {
		e := note("")
		e.Data, e.Metadata = make([]byte, size-2*len(e.EventType)), nil
		return e
	}
	r.append(t, "s", esdb.NoStream{}, event(eventlog.MaxAppendBytes))
	_, err := r.client.AppendToStream(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, event(eventlog.MaxAppendBytes/2), event(eventlog.MaxAppendBytes/2+1))
	if err == nil || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("one byte too many: %v", err)
	}
	// far over the limit the reason must still arrive, though the server stopped listening early
	var many []esdb.EventData
	for range 20 {
		many = append(many, event(1<<20))
	}
	_, err = r.client.AppendToStream(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, many...)
	if err == nil || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("20 MiB: %v", err)
	}
	r.append(t, "s", esdb.Revision(0), note("still alive"))
}

func TestSecondNodeOnTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startIn(t, dir)
	_, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0"})
	var inUse *eventlog.FolderInUseError
	if !errors.As(err, &inUse) || inUse.PID == 0 {
		t.Fatalf("got %v", err)
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var refused *NotLoopbackError
	if _, err := Open(Config{Dir: dir, Listen: "0.0.0.0:0"}); !errors.As(err, &refused) {
		t.Fatalf("got %v", err)
	}
	startIn(t, dir) // the refusal left the folder free
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if _, err := Open(Config{Dir: t.TempDir(), Listen: listener.Addr().String()}); err == nil {
		t.Fatal("opened on a port in use")
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	e := note("a")
	first := r.append(t, "s", esdb.NoStream{}, e)
	id := r.LogID()
	stop(t, r.Node)
	r = startIn(t, dir)
	if r.LogID() != id {
		t.Error("the log has another id after a restart")
	}
	if again := r.append(t, "s", esdb.Any{}, e); *again != *first {
		t.Errorf("the repeated append is %+v, was %+v", again, first)
	}
	all, err := r.client.ReadAll(testCtx(t), esdb.ReadAllOptions{From: esdb.Start{}}, 1)
	if named := drain(t, all, err); named[0].Event.StreamID != eventlog.IdentityStream || named[0].Event.EventID != id {
		t.Errorf("the first event is %+v", named[0].Event)
	}
	if report, err := r.Verify(testCtx(t)); err != nil || report.Records != 2 || report.LogID != id {
		t.Errorf("%+v %v", report, err)
	}
}

func TestCloseEndsSubscriptions(t *testing.T) {
	t.Parallel()
	r := start(t)
	sub, err := r.client.SubscribeToAll(testCtx(t), esdb.SubscribeToAllOptions{From: esdb.End{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	stop(t, r.Node)
	for {
		if dropped := sub.Recv().SubscriptionDropped; dropped != nil {
			return
		}
	}
}
