package migration_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/eventstore"
	"reckon/eventstore/export"
	"reckon/eventstore/migration"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
)

// started is a node in a folder, and its client.
type started struct {
	dir  string
	node *node.Node
	migration.Log
}

func start(t testing.TB, dir string) *started {
	t.Helper()
	n, err := node.Open(node.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	client, err := eventstore.OpenClient(n.ConnectionString(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &started{dir, n, migration.Log{Address: n.ConnectionString(), Client: client}}
}

func (s *started) store(t testing.TB) *eventstore.Store {
	t.Helper()
	store, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: s.Address, Catalogue: domain.Catalogue()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

func (s *started) append(t testing.TB, stream string, names ...string) {
	t.Helper()
	var events []esdb.EventData
	for _, name := range names {
		events = append(events, esdb.EventData{EventID: uuid.New(), EventType: name, ContentType: esdb.ContentTypeJson, Data: []byte(`{"n": 1.0}`), Metadata: []byte("m")})
	}
	if _, err := s.Client.AppendToStream(t.Context(), stream, esdb.AppendToStreamOptions{}, events...); err != nil {
		t.Fatal(err)
	}
}

// fill gives a log a name and what a log can hold.
func (s *started) fill(t testing.TB) (id string) {
	t.Helper()
	id, err := s.store(t).LogID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	payloads := [][]byte{nil, []byte(`{"a":1.0,"a":2}`), []byte("{\"a\":\n1}"), []byte(" 1"), {0xff, 0}, []byte("{"), bytes.Repeat([]byte("x"), 300_000), []byte("{}")}
	for i, payload := range payloads {
		for j, stream := range []string{"orders-1", "orders-2", "a\xffb", "with \"quotes\" and \n line"} {
			one := esdb.EventData{EventID: uuid.New(), EventType: fmt.Sprintf("type-%d\xc3\xa9", j), ContentType: esdb.ContentType(i % 2), Data: payload, Metadata: payloads[(i+j)%len(payloads)]}
			two := esdb.EventData{EventID: uuid.New(), EventType: "second", Data: []byte("2")}
			if _, err := s.Client.AppendToStream(t.Context(), stream, esdb.AppendToStreamOptions{}, one, two); err != nil {
				t.Fatal(err)
			}
		}
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		stream := fmt.Sprintf("runner-%d", i)
		s.append(t, stream, "one", "two", "three")
		must(nil, s.store(t).KeepNewest(t.Context(), stream, 1))
		s.append(t, stream, "four")
	}
	must(s.Client.DeleteStream(t.Context(), "orders-1", esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}}))
	s.append(t, "orders-1", "again")
	s.append(t, "orders-3", "between")
	must(s.Client.DeleteStream(t.Context(), "orders-2", esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}}))
	s.append(t, "gone", "t")
	must(s.Client.TombstoneStream(t.Context(), "gone", esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}))
	must(s.Client.TombstoneStream(t.Context(), "never", esdb.TombstoneStreamOptions{ExpectedRevision: esdb.NoStream{}}))
	s.append(t, "$system", "of-the-server")
	s.append(t, "last", "end")
	return id
}

func (s *started) all(t testing.TB) (events []*esdb.RecordedEvent) {
	t.Helper()
	reading, err := s.Client.ReadAll(t.Context(), esdb.ReadAllOptions{From: esdb.Start{}}, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	for {
		e, err := reading.Recv()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		if has := e.OriginalEvent(); has.StreamID != eventstore.IdentityStream && (!strings.HasPrefix(has.StreamID, "$") || eventlog.IsMetaStream(has.StreamID)) {
			events = append(events, has)
		}
	}
}

// line is an event without its place among all and its stamp. A tombstone's id is the server's, and so is that of metadata that it wrote itself.
func line(e *esdb.RecordedEvent) string {
	id := e.EventID
	if e.EventType == eventlog.TombstoneType || e.EventType == eventlog.MetadataType {
		id = uuid.Nil
	}
	return fmt.Sprintf("%q %d %s %q %s %q %q", e.StreamID, e.EventNumber, id, e.EventType, e.ContentType, e.Data, e.UserMetadata)
}

func lines(events []*esdb.RecordedEvent) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(line(e) + "\n")
	}
	return b.String()
}

func config(from, to *started) migration.Config {
	return migration.Config{Source: from.Log, Events: export.Folder(from.dir), Target: to.Log}
}

// TestRun copies a log with what a log can hold, from its folder and through its server. The copy has the same events in the same
// order under another name; both refuse what they must.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, through := range []string{"folder", "server"} {
		t.Run(through, func(t *testing.T) {
			from, to := start(t, t.TempDir()), start(t, t.TempDir())
			id := from.fill(t)
			c := config(from, to)
			if through == "server" {
				c.Events = export.Server(from.Client)
			}
			dry := c
			dry.DryRun = true
			planned, err := migration.Run(t.Context(), dry)
			if err != nil || planned.Done || len(to.all(t)) > 0 {
				t.Fatalf("%+v, %v", planned, err)
			}
			before := lines(from.all(t))
			report, err := migration.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if report.SHA256 != planned.SHA256 || !report.Done || report.Present != 0 || report.Removed != 0 || report.From != id || report.LeftOut["$system"] != 1 {
				t.Errorf("%+v", report)
			}
			if after := lines(from.all(t)); after != before {
				t.Error("the source's events changed")
			}
			if copied := lines(to.all(t)); copied != before {
				t.Errorf("copy:\n%.4000s\nsource:\n%.4000s", copied, before)
			}
			identity, err := to.store(t).Identity(t.Context())
			if err != nil || identity.Origin != id || identity.ID != report.To || len(identity.Former) != 1 || identity.Former[0] != id {
				t.Errorf("%+v, %v", identity, err)
			}
			propose := []event.Proposed{{ID: uuid.NewString(), Event: run.Reserved{}, Metadata: event.Metadata{Version: 1, At: time.Now()}}}
			var moved *eventstore.MovedError
			if _, err := from.store(t).Append(t.Context(), "runids", event.NoStream, propose); !errors.As(err, &moved) || moved.Copy != report.To {
				t.Errorf("an append to the source: %v", err)
			}
			if err := from.store(t).KeepNewest(t.Context(), "runner-9", 1); !errors.As(err, &moved) {
				t.Errorf("metadata for the source: %v", err)
			}
			if _, err := to.store(t).Append(t.Context(), "runids", event.NoStream, propose); err != nil {
				t.Errorf("an append to the target: %v", err)
			}
			again, err := migration.Run(t.Context(), c)
			if err != nil || !again.Done || !again.Before || again.To != report.To {
				t.Errorf("once more: %+v, %v", again, err)
			}
			var used *migration.TargetInUseError
			other := config(to, from) // back again
			if _, err := migration.Run(t.Context(), other); !errors.As(err, &used) {
				t.Errorf("to a log: %v", err)
			}
			if _, err := migration.Run(t.Context(), config(from, start(t, t.TempDir()))); !errors.As(err, &moved) {
				t.Errorf("to another target: %v", err)
			}
			back, err := migration.TakeBack(t.Context(), from.Log)
			if err != nil {
				t.Fatal(err)
			}
			if id, err := from.store(t).LogID(t.Context()); err != nil || id != back || id == report.From {
				t.Errorf("taken back: %s, %v", id, err)
			}
		})
	}
}

// scavenged makes a log of which all beats of a runner but the newest have lost their payloads, and all its metadata but the newest.
func scavenged(t testing.TB, dir string, beats int) {
	t.Helper()
	builder, err := eventlog.NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	revisions := map[string]uint64{}
	add := func(stream, name string, removed bool, data string) {
		l := &eventlog.Linked{Record: eventlog.Record{Stream: stream, Revision: revisions[stream], ID: uuid.New(), Type: name, JSON: true, Redacted: removed}, LastOfAppend: true}
		revisions[stream]++
		if removed {
			l.DataBytes, l.PayloadHash = uint32(len(data)), eventlog.PayloadHash([16]byte{1}, nil, []byte(data))
		} else {
			l.Data = []byte(data)
		}
		if err := builder.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	add(eventstore.IdentityStream, eventstore.NamedEvent, false, "{}")
	add("expired", "e", true, "{}")
	add("expired", "e", true, "{}")
	add("$$runner-1", eventlog.MetadataType, true, `{"$maxCount":2}`)
	add("$$runner-1", eventlog.MetadataType, false, `{"$maxCount":1}`)
	for i := range beats {
		add("runner-1", "runner.beat", i < beats-1, fmt.Sprintf(`{"n":%d}`, i))
		if i%100 == 0 {
			add("other", "o", false, "{}")
		}
	}
	if _, err := builder.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestScavenged copies a log whose files have lost payloads, from its folder and through its server: the copy says where, at the same
// revisions.
func TestScavenged(t *testing.T) {
	t.Parallel()
	const beats = 700
	dir := filepath.Join(t.TempDir(), "from")
	scavenged(t, dir, beats)
	from := start(t, dir)
	for name, through := range map[string][]export.Source{
		"folder": {export.Folder(dir)}, "server": {export.Server(from.Client)}, "folder after server": {export.Server(from.Client), export.Folder(dir)},
	} {
		to := start(t, t.TempDir())
		c := config(from, to)
		if c.Events = through[0]; len(through) == 2 {
			c.Ahead = true
			if report, err := migration.Run(t.Context(), c); err != nil || report.Done {
				t.Fatalf("%s: %+v, %v", name, report, err)
			}
			c.Ahead, c.Events = false, through[1]
		}
		report, err := migration.Run(t.Context(), c)
		expired := uint64(2) // a server does not show that there was such a stream
		if name == "server" {
			expired = 0
		}
		if err != nil || report.Removed != beats+expired {
			t.Fatalf("%s: %+v, %v", name, report, err)
		}
		revisions := 0
		for _, e := range to.all(t) {
			if e.StreamID == "runner-1" {
				if e.EventNumber != uint64(revisions) || e.EventNumber < beats-1 != (e.EventType == eventstore.RemovedEvent) {
					t.Fatalf("%s at %d", line(e), revisions)
				}
				revisions++
			}
		}
		reading, err := to.Client.ReadStream(t.Context(), "runner-1", esdb.ReadStreamOptions{From: esdb.Start{}}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := reading.Recv()
		if err != nil || shown.OriginalEvent().EventNumber != beats-1 || revisions != beats {
			t.Errorf("%+v, %v, %d revisions", shown, err, revisions)
		}
		reading.Close()
		if _, err := migration.TakeBack(t.Context(), from.Log); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInterrupted ends a migration at random places, again and again, until one ends by itself.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	from, to := start(t, t.TempDir()), start(t, t.TempDir())
	from.fill(t)
	want := lines(from.all(t))
	random := rand.New(rand.NewPCG(1, 2))
	store := to.store(t)
	var refused int
	for round := 0; ; round++ {
		if round > 500 {
			t.Fatal("no migration has ended")
		}
		ctx, stop := context.WithCancel(t.Context())
		c := config(from, to)
		left := 1 + random.IntN(2+5*round)
		c.Progress = func(migration.Phase, uint64, uint64) {
			if left--; left == 0 {
				stop()
			}
		}
		report, err := migration.Run(ctx, c)
		stop()
		if err == nil {
			if !report.Done || report.Present == 0 || refused == 0 {
				t.Errorf("%+v after %d rounds, refused %d times", report, round, refused)
			}
			break
		}
		if !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "cancel") {
			t.Fatal(err)
		}
		var unfinished *eventstore.UnfinishedError
		if _, err := store.LogID(t.Context()); errors.As(err, &unfinished) {
			refused++
		}
	}
	if copied := lines(to.all(t)); copied != want {
		t.Errorf("copy:\n%.4000s\nsource:\n%.4000s", copied, want)
	}
	if id, err := store.LogID(t.Context()); err != nil || id == "" {
		t.Error(id, err)
	}
}

// TestChangedCopy changes an unfinished copy in every way, and the second pass says where it differs.
func TestChangedCopy(t *testing.T) {
	t.Parallel()
	from := start(t, t.TempDir())
	from.fill(t)
	of := func(change func(at int, e *esdb.EventData) (leaveOut bool)) (*started, error) {
		to := start(t, t.TempDir())
		c := config(from, to)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		c.Progress = func(migration.Phase, uint64, uint64) { stop() }
		if _, err := migration.Run(ctx, c); err == nil {
			t.Fatal("it was not interrupted")
		}
		for i, e := range from.all(t)[:20] {
			content := esdb.ContentTypeBinary
			if e.ContentType == "application/json" {
				content = esdb.ContentTypeJson
			}
			proposed := esdb.EventData{EventID: e.EventID, EventType: e.EventType, ContentType: content, Data: e.Data, Metadata: e.UserMetadata}
			if change(i, &proposed) {
				continue
			}
			if _, err := to.Client.AppendToStream(t.Context(), e.StreamID, esdb.AppendToStreamOptions{}, proposed); err != nil {
				t.Fatal(err)
			}
		}
		_, err := migration.Run(t.Context(), config(from, to))
		return to, err
	}
	for name, change := range map[string]func(e *esdb.EventData) bool{
		"id":           func(e *esdb.EventData) bool { e.EventID = uuid.New(); return false },
		"type":         func(e *esdb.EventData) bool { e.EventType += "x"; return false },
		"content type": func(e *esdb.EventData) bool { e.ContentType = 1 - e.ContentType; return false },
		"data":         func(e *esdb.EventData) bool { e.Data = append(bytes.Clone(e.Data), 'x'); return false },
		"metadata":     func(e *esdb.EventData) bool { e.Metadata = append(bytes.Clone(e.Metadata), 'x'); return false },
		"left out":     func(*esdb.EventData) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			to, err := of(func(i int, e *esdb.EventData) bool { return i == 7 && change(e) })
			var differs *migration.DifferenceError
			if !errors.As(err, &differs) || differs.Position == 0 {
				t.Errorf("%v", err)
			}
			var unfinished *eventstore.UnfinishedError
			if _, err := to.store(t).LogID(t.Context()); !errors.As(err, &unfinished) {
				t.Errorf("the target is in force: %v", err)
			}
		})
	}
	if id, err := from.store(t).LogID(t.Context()); err != nil || id == "" {
		t.Errorf("the source is not in force: %v", err)
	}
	if _, err := of(func(int, *esdb.EventData) bool { return false }); err != nil {
		t.Errorf("an unchanged beginning: %v", err)
	}
}

// TestRefused: what is no source or no target, and a source that is written to meanwhile.
func TestRefused(t *testing.T) {
	t.Parallel()
	from, to, other := start(t, t.TempDir()), start(t, t.TempDir()), start(t, t.TempDir())
	var none *migration.NoLogError
	if _, err := migration.Run(t.Context(), config(from, to)); !errors.As(err, &none) {
		t.Errorf("no log: %v", err)
	}
	from.fill(t)
	other.append(t, "someone-elses", "event")
	var used *migration.TargetInUseError
	if _, err := migration.Run(t.Context(), config(from, other)); !errors.As(err, &used) || !strings.Contains(used.Reason, "someone-elses") {
		t.Errorf("a target with events: %v", err)
	}
	if err := from.Client.CreatePersistentSubscription(t.Context(), "orders-1", "theirs", esdb.PersistentStreamSubscriptionOptions{}); err != nil {
		t.Fatal(err)
	}
	var groups *migration.GroupsError
	if _, err := migration.Run(t.Context(), config(from, to)); !errors.As(err, &groups) || groups.Groups[0] != "orders-1::theirs" {
		t.Errorf("a group: %v", err)
	}
	if _, err := migration.TakeBack(t.Context(), from.Log); !errors.As(err, new(*migration.NotMovedError)) {
		t.Errorf("taken back too early: %v", err)
	}

	c := config(from, to)
	c.WithoutGroups, c.Events = true, export.Server(from.Client)
	wrote := false
	c.Progress = func(phase migration.Phase, position, of uint64) {
		if phase == migration.Verify && position == of && !wrote {
			wrote = true
			from.append(t, "orders-1", "late")
		}
	}
	var written *migration.SourceWrittenError
	if _, err := migration.Run(t.Context(), c); !errors.As(err, &written) || written.Stream != "orders-1" || !wrote {
		t.Errorf("a source that is written to: %v", err)
	}
	c.Progress = nil
	if report, err := migration.Run(t.Context(), c); err != nil || !report.Done || report.Present == 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if got, want := lines(to.all(t)), lines(from.all(t)); got != want {
		t.Errorf("copy:\n%.4000s\nsource:\n%.4000s", got, want)
	}
}

// TestWrittenAfterClosing: a process that does not heed the closing writes to the source; the migration does not put the target in
// force, and the next one copies that too.
func TestWrittenAfterClosing(t *testing.T) {
	t.Parallel()
	from, to := start(t, t.TempDir()), start(t, t.TempDir())
	from.fill(t)
	subscription, err := from.Client.SubscribeToStream(t.Context(), eventstore.IdentityStream, esdb.SubscribeToStreamOptions{From: esdb.End{}})
	if err != nil {
		t.Fatal(err)
	}
	ahead := config(from, to)
	ahead.Ahead = true
	if report, err := migration.Run(t.Context(), ahead); err != nil || report.Done || report.Present > 0 {
		t.Errorf("ahead: %+v, %v", report, err)
	}
	if id, err := from.store(t).LogID(t.Context()); err != nil || id == "" {
		t.Errorf("the source is closed: %v", err)
	}
	appended := make(chan error, 1)
	go func() {
		for subscription.Recv().EventAppeared == nil {
		}
		_, err := from.Client.AppendToStream(context.Background(), "orders-1", esdb.AppendToStreamOptions{}, esdb.EventData{EventID: uuid.New(), EventType: "late"})
		appended <- err
	}()
	c := config(from, to)
	c.Events, c.Quiet = export.Server(from.Client), 3*time.Second // the append takes milliseconds
	_, err = migration.Run(t.Context(), c)
	if failed := <-appended; failed != nil {
		t.Fatal(failed)
	}
	var written *migration.SourceWrittenError
	if !errors.As(err, &written) {
		t.Fatalf("%v", err)
	}
	if err := to.store(t).KeepNewest(t.Context(), "x", 1); !errors.As(err, new(*eventstore.UnfinishedError)) {
		t.Errorf("the target is in force: %v", err)
	}
	c.Quiet = 0
	if report, err := migration.Run(t.Context(), c); err != nil || !report.Done {
		t.Errorf("%+v, %v", report, err)
	}
	if got, want := lines(to.all(t)), lines(from.all(t)); got != want {
		t.Errorf("copy:\n%.4000s\nsource:\n%.4000s", got, want)
	}
}

// TestWrittenWhileComparing: what comes to the source between copying and comparing is said to have come, and not to be missing in a
// wrong copy; the same call again copies it.
func TestWrittenWhileComparing(t *testing.T) {
	t.Parallel()
	from, to := start(t, t.TempDir()), start(t, t.TempDir())
	from.fill(t)
	c := config(from, to)
	c.Events = export.Server(from.Client)
	begun := false
	c.Progress = func(phase migration.Phase, _, _ uint64) {
		if phase == migration.Verify && !begun {
			begun = true
			if _, err := from.Client.AppendToStream(t.Context(), "orders-1", esdb.AppendToStreamOptions{}, esdb.EventData{EventID: uuid.New(), EventType: "late"}); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := migration.Run(t.Context(), c); !errors.As(err, new(*migration.SourceWrittenError)) {
		t.Fatalf("%v", err)
	}
	if report, err := migration.Run(t.Context(), c); err != nil || !report.Done {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestRunningProcessEnds: a process that runs on the source is told when it is migrated, and its appends are refused.
func TestRunningProcessEnds(t *testing.T) {
	t.Parallel()
	from, to := start(t, filepath.Join(t.TempDir(), "from")), start(t, t.TempDir())
	from.fill(t)
	store := from.store(t)
	if err := store.KeepNewest(t.Context(), "runner-1", 1); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- store.AwaitMove(t.Context()) }()
	if _, err := migration.Run(t.Context(), config(from, to)); err != nil {
		t.Fatal(err)
	}
	var moved *eventstore.MovedError
	if err := <-ended; !errors.As(err, &moved) || moved.To != to.Address {
		t.Errorf("%v", err)
	}
	if err := store.KeepNewest(t.Context(), "runner-1", 1); !errors.As(err, &moved) || errors.Is(err, commands.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
