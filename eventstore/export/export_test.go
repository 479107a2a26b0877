package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"reckon/eventstore"
	"reckon/eventstore/export"
	"reckon/eventstore/node"
	"reckon/eventstore/node/eventlog"
)

// makeLog makes a log with what a log can hold.
func makeLog(t testing.TB, dir string, fill func(*eventlog.Log)) {
	t.Helper()
	moment := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	l, err := eventlog.Open(eventlog.Options{Dir: dir, Clock: func() time.Time {
		moment = moment.Add(1234567 * 100 * time.Nanosecond)
		return moment
	}})
	if err != nil {
		t.Fatal(err)
	}
	fill(l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// assorted appends payloads of every kind, and deletes, revives and tombstones streams.
func assorted(t testing.TB, l *eventlog.Log, oddType string) {
	payloads := [][]byte{nil, []byte(`{"a":1.0,"a":2}`), []byte("{\"a\":\n1}"), []byte(" 1"), []byte("1 "), []byte("null"), []byte(`"\ud800<>&` + "\u2028" + `"`),
		{0xff, 0}, []byte("{"), []byte(`"` + "\xff" + `"`), []byte(strings.Repeat("[", 127) + strings.Repeat("]", 127)), []byte(strings.Repeat("[", 128) + strings.Repeat("]", 128)), bytes.Repeat([]byte("x"), 300_000)}
	streams := []string{"orders-1", "orders-2", "a\xffb", "with \"quotes\" and \n line", "$$orders-1", "$system"}
	must := func(_ eventlog.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	for i, payload := range payloads {
		for j, stream := range streams {
			first := eventlog.Proposed{ID: uuid.New(), Type: fmt.Sprintf("type-%d\xc3\xa9", j), JSON: i%2 == 0, Data: payload, Metadata: payloads[(i+j)%len(payloads)]}
			second := eventlog.Proposed{ID: uuid.New(), Type: oddType, Data: []byte(`{"b":2}`)}
			must(l.Append(ctx, stream, eventlog.Any(), []eventlog.Proposed{first, second}))
		}
	}
	must(l.Delete(ctx, "orders-1", eventlog.Any()))
	must(l.Append(ctx, "orders-1", eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: "again"}}))
	must(l.Delete(ctx, "orders-2", eventlog.Any()))
	must(l.Append(ctx, "gone", eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: "t"}}))
	must(l.Tombstone(ctx, "gone", eventlog.Any()))
	must(l.Tombstone(ctx, "never", eventlog.NoStream()))
}

func pass(uint64, uint64) error { return nil }

func passBytes(int64) error { return nil }

func exported(t testing.TB, dir string, s export.Selection) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := export.To(context.Background(), &out, export.Folder(dir), s, pass); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns the events of an export, and why reading ended; nil at its end.
func read(from io.Reader) (events []export.Event, r *export.Reader, err error) {
	if r, err = export.NewReader(from); err != nil {
		return nil, nil, err
	}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, r, nil
		}
		if err != nil {
			return events, r, err
		}
		events = append(events, e)
	}
}

func mustRead(t testing.TB, b []byte) []export.Event {
	t.Helper()
	events, _, err := read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// kept is what an import keeps of an event: all but its position and the log's own chain.
func kept(events []export.Event) (all []string) {
	for _, e := range events {
		if e.Stream != eventlog.IdentityStream {
			all = append(all, fmt.Sprintf("%q %d %v %q %d %t %x %x %v", e.Stream, e.Revision, e.ID, e.Type, e.CreatedTicks, e.JSON, e.Data, e.Metadata, e.Chain != nil && e.Chain.LastOfAppend))
		}
	}
	return all
}

func importTo(t testing.TB, b []byte, dir string) export.Imported {
	t.Helper()
	r, err := export.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	done, err := export.ToFolder(context.Background(), r, dir, passBytes)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestRoundTrip: a log of an export exports the same, and serves it.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	from, to := filepath.Join(root, "from"), filepath.Join(root, "to")
	makeLog(t, from, func(l *eventlog.Log) { assorted(t, l, "t\xfe") })
	first := exported(t, from, export.Selection{})
	if err := os.Mkdir(to, 0o700); err != nil { // an empty folder is taken
		t.Fatal(err)
	}
	done := importTo(t, first, to)
	second := exported(t, to, export.Selection{})
	want, got := kept(mustRead(t, first)), kept(mustRead(t, second))
	if !slices.Equal(got, want) || len(want) < 100 || done.Events != uint64(len(want)) || done.LeftOut != 1 {
		t.Errorf("%d events came back of %d, %+v", len(got), len(want), done)
	}
	// the folder is a log: it opens, its index agrees, and it goes on where the other would
	makeLog(t, to, func(l *eventlog.Log) {
		report, err := l.Verify(t.Context())
		if err != nil || report.Records != done.Log.Records || l.ID() != done.Log.LogID {
			t.Errorf("%+v, %v", report, err)
		}
		v, err := l.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		deleted, err1 := v.Stream("orders-2")
		revived, err2 := v.Stream("orders-1")
		tombstoned, err3 := v.Stream("gone")
		if err := errors.Join(err1, err2, err3); err != nil || !deleted.SoftDeleted || revived.SoftDeleted || revived.First != 26 || !tombstoned.Tombstoned {
			t.Errorf("%+v %+v %+v %v", deleted, revived, tombstoned, err)
		}
	})
	var notEmpty *eventlog.NotEmptyError
	r, err := export.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := export.ToFolder(t.Context(), r, to, passBytes); !errors.As(err, &notEmpty) {
		t.Errorf("over a log: %v", err)
	}
}

// TestRoundTripOfAnything is TestRoundTrip with arbitrary events.
func TestRoundTripOfAnything(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		from, to := filepath.Join(root, fmt.Sprint("from", n)), filepath.Join(root, fmt.Sprint("to", n))
		payload := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
			rapid.SampledFrom([][]byte{[]byte("null"), []byte(`{"x":[1,2]}`), []byte("\n"), []byte(`"a` + "\r" + `"`), []byte("0")}))
		type appended struct {
			stream string
			events []eventlog.Proposed
		}
		appends := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) appended {
			a := appended{stream: rapid.SampledFrom([]string{"a", "b-1", "$$a", "\x00\x80"}).Draw(t, "stream")}
			for range rapid.IntRange(1, 3).Draw(t, "events") {
				a.events = append(a.events, eventlog.Proposed{ID: uuid.New(), Type: rapid.StringN(1, 9, -1).Draw(t, "type"), JSON: rapid.Bool().Draw(t, "json"), Data: payload.Draw(t, "data"), Metadata: payload.Draw(t, "metadata")})
			}
			return a
		}), 0, 8).Draw(t, "appends")
		l, err := eventlog.Open(eventlog.Options{Dir: from})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range appends {
			if _, err := l.Append(context.Background(), a.stream, eventlog.Any(), a.events); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		var first, second bytes.Buffer
		if _, err := export.To(context.Background(), &first, export.Folder(from), export.Selection{}, pass); err != nil {
			t.Fatal(err)
		}
		r, err := export.NewReader(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := export.ToFolder(context.Background(), r, to, passBytes); err != nil {
			t.Fatal(err)
		}
		if _, err := export.To(context.Background(), &second, export.Folder(to), export.Selection{}, pass); err != nil {
			t.Fatal(err)
		}
		want, _, err1 := read(&first)
		got, _, err2 := read(&second)
		if err := errors.Join(err1, err2); err != nil || !slices.Equal(kept(got), kept(want)) {
			t.Fatalf("%v\n%q\n%q", err, kept(got), kept(want))
		}
	})
}

// small is an export of few events.
func small(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	makeLog(t, dir, func(l *eventlog.Log) {
		for i := range 3 {
			if _, err := l.Append(context.Background(), "s", eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: "t", JSON: true, Data: fmt.Appendf(nil, `{"n":%d}`, i), Metadata: []byte{1, byte(i)}}}); err != nil {
				t.Fatal(err)
			}
		}
	})
	return exported(t, dir, export.Selection{})
}

// TestDamagedExportsAreRefused: every cut, every changed byte, every missing, doubled or moved line.
func TestDamagedExportsAreRefused(t *testing.T) {
	t.Parallel()
	b := small(t)
	mustRead(t, b)
	for n := range b {
		if _, _, err := read(bytes.NewReader(b[:n])); !errors.As(err, new(*export.FormatError)) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		changed := bytes.Clone(b)
		for _, flip := range []byte{1, 0x20, 0x80} {
			changed[n] = b[n] ^ flip
			if _, _, err := read(bytes.NewReader(changed)); !errors.As(err, new(*export.FormatError)) {
				t.Fatalf("byte %d changed by %#x: %v\n%s", n, flip, err, changed)
			}
		}
	}
	if _, _, err := read(bytes.NewReader(append(bytes.Clone(b), '\n'))); err == nil {
		t.Error("a byte behind the last line")
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(b, nil), []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines {
		without := slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...))
		double := slices.Concat(slices.Concat(lines[:i+1]...), slices.Concat(lines[i:]...))
		moved := slices.Clone(lines)
		moved[i], moved[(i+1)%len(lines)] = moved[(i+1)%len(lines)], moved[i]
		for what, b := range map[string][]byte{"without": without, "double": double, "moved": slices.Concat(moved...)} {
			if _, _, err := read(bytes.NewReader(b)); !errors.As(err, new(*export.FormatError)) {
				t.Errorf("%s line %d: %v", what, i+1, err)
			}
		}
	}
	for name, line := range map[string]string{
		"deep":      `{"position":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}\n",
		"endless":   strings.Repeat("x", 33<<20),
		"twice":     `{"format":"reckon-export","version":1,"version":1,"after":0}` + "\n",
		"unknown":   `{"format":"reckon-export","version":1,"after":0,"x":0}` + "\n",
		"version 2": `{"format":"reckon-export","version":2,"after":0}` + "\n",
		"null":      `{"format":"reckon-export","version":1,"after":null}` + "\n",
	} {
		if _, _, err := read(strings.NewReader(line)); !errors.As(err, new(*export.FormatError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInterruptedImportLeavesNothing: the folder is there whole or not at all.
func TestInterruptedImportLeavesNothing(t *testing.T) {
	t.Parallel()
	b := small(t)
	to := filepath.Join(t.TempDir(), "to")
	for _, bad := range [][]byte{b[:len(b)-1], b[:len(b)/2], bytes.Replace(b, []byte(`"n":1`), []byte(`"n":7`), 1)} {
		r, err := export.NewReader(bytes.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := export.ToFolder(t.Context(), r, to, passBytes); !errors.As(err, new(*export.FormatError)) {
			t.Error(err)
		}
		if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	}
	// what a killed import left is no log, and is replaced
	if err := errors.Join(os.Mkdir(filepath.Join(to, "segments"), 0o700), os.WriteFile(filepath.Join(to, "COPYING"), nil, 0o600),
		os.WriteFile(filepath.Join(to, "segments", "00000000000000000000.seg"), []byte("half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.Open(eventlog.Options{Dir: to}); !errors.As(err, new(*eventlog.FormatError)) {
		t.Errorf("half an import was opened: %v", err)
	}
	importTo(t, b, to)
	// streams that are not whole make no log
	dir := t.TempDir()
	makeLog(t, dir, func(l *eventlog.Log) { assorted(t, l, "t\xfe") })
	for _, s := range []export.Selection{{Since: 20}, {Stream: "orders-1"}, {Category: "orders"}} {
		r, err := export.NewReader(bytes.NewReader(exported(t, dir, s)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = export.ToFolder(t.Context(), r, filepath.Join(t.TempDir(), "part"), passBytes)
		if whole := s.Since == 0; whole != (err == nil) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestSelections: what is left out is what was not asked for.
func TestSelections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeLog(t, dir, func(l *eventlog.Log) { assorted(t, l, "t\xfe") })
	all := mustRead(t, exported(t, dir, export.Selection{}))
	of := func(match func(e *export.Event) bool) (want []string) {
		for i := range all {
			if match(&all[i]) {
				want = append(want, kept(all[i:i+1])...)
			}
		}
		return want
	}
	for s, match := range map[export.Selection]func(e *export.Event) bool{
		{Since: 7}:                                func(e *export.Event) bool { return e.Position > 7 },
		{Since: uint64(len(all))}:                 func(*export.Event) bool { return false },
		{Stream: "orders-2"}:                      func(e *export.Event) bool { return e.Stream == "orders-2" },
		{Category: "orders"}:                      func(e *export.Event) bool { return strings.HasPrefix(e.Stream, "orders-") },
		{Stream: "a\xffb", Since: 30}:             func(e *export.Event) bool { return e.Stream == "a\xffb" && e.Position > 30 },
		{Category: "gone"}:                        func(*export.Event) bool { return false },
		{Stream: eventlog.MetaStream("orders-1")}: func(e *export.Event) bool { return e.Stream == "$$orders-1" },
	} {
		if got, want := kept(mustRead(t, exported(t, dir, s))), of(match); !slices.Equal(got, want) {
			t.Errorf("%+v: %d events, want %d", s, len(got), len(want))
		}
	}
	if _, err := export.To(t.Context(), io.Discard, export.Folder(dir), export.Selection{Since: uint64(len(all)) + 1}, pass); err == nil {
		t.Error("since a position that is not there")
	}
}

var errStop = errors.New("stop here")

// TestExportToFileGoesOn: an export that ends at any event is continued, and is then the same.
func TestExportToFileGoesOn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, other := filepath.Join(root, "log"), filepath.Join(root, "other")
	for _, d := range []string{dir, other} {
		makeLog(t, d, func(l *eventlog.Log) { assorted(t, l, "t\xfe") })
	}
	for _, s := range []export.Selection{{}, {Category: "orders"}, {Since: 5}} {
		want := exported(t, dir, s)
		file := filepath.Join(root, fmt.Sprintf("%+v.ndjson", s))
		for stop := uint64(10); ; stop += 40 {
			report, err := export.ToFile(t.Context(), file, export.Folder(dir), s, func(position, _ uint64) error {
				if position >= stop {
					return errStop
				}
				return nil
			})
			if err == nil {
				if report.Events == 0 || report.Before == 0 {
					t.Errorf("%+v", report)
				}
				break
			}
			if !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			// the end of a file may be missing after a power failure
			info, err := os.Stat(file)
			if err == nil {
				err = os.Truncate(file, info.Size()-min(info.Size(), 11))
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := export.ToFile(t.Context(), file, export.Folder(other), s, pass); !errors.As(err, new(*export.OtherExportError)) && info.Size() > 300 {
				t.Fatalf("another log: %v", err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%+v: %v, %d bytes, want %d", s, err, len(got), len(want))
		}
		if _, err := export.ToFile(t.Context(), file, export.Folder(dir), s, pass); !errors.As(err, new(*export.CompleteError)) {
			t.Errorf("a whole export: %v", err)
		}
	}
	for _, content := range []string{"my notes", "my notes\n", `{"format":"reckon-exports"`, string(small(t)[:900]) + "x\n"} {
		file := filepath.Join(root, "notes")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := export.ToFile(t.Context(), file, export.Folder(dir), export.Selection{}, pass)
		if after, readErr := os.ReadFile(file); !errors.As(err, new(*export.OtherExportError)) || readErr != nil || string(after) != content {
			t.Errorf("%.20q: %v, then %.20q, %v", content, err, after, readErr)
		}
	}
}

// TestServersEventsAreCompared: an event of the server with the right id and anything else in it is not taken for the export's.
func TestServersEventsAreCompared(t *testing.T) {
	t.Parallel()
	n, err := node.Open(node.Config{Dir: filepath.Join(t.TempDir(), "to")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close(context.Background()) })
	client, err := eventstore.OpenClient(n.ConnectionString(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	load := func(stream string, second eventlog.Proposed) error {
		dir := t.TempDir()
		makeLog(t, dir, func(l *eventlog.Log) {
			events := []eventlog.Proposed{{ID: uuid.NewSHA1(uuid.Nil, []byte(stream)), Type: "t", Data: []byte("first")}, second}
			if _, err := l.Append(t.Context(), stream, eventlog.NoStream(), events); err != nil {
				t.Fatal(err)
			}
		})
		r, err := export.NewReader(bytes.NewReader(exported(t, dir, export.Selection{})))
		if err != nil {
			t.Fatal(err)
		}
		_, err = export.ToServer(t.Context(), r, client, passBytes)
		return err
	}
	for what, change := range map[string]func(*eventlog.Proposed){
		"id": func(p *eventlog.Proposed) { p.ID = uuid.New() }, "type": func(p *eventlog.Proposed) { p.Type = "u" }, "not": func(p *eventlog.Proposed) { p.JSON = false },
		"data": func(p *eventlog.Proposed) { p.Data = []byte(`{"a":2}`) }, "metadata": func(p *eventlog.Proposed) { p.Metadata = nil },
	} {
		event := eventlog.Proposed{ID: uuid.New(), Type: "t", JSON: true, Data: []byte(`{"a":1}`), Metadata: []byte("m")}
		for range 2 {
			if err := load(what, event); err != nil {
				t.Fatal(what, err)
			}
		}
		change(&event)
		var conflict *export.ConflictError
		if err := load(what, event); !errors.As(err, &conflict) || conflict.Stream != what || conflict.Revision != 1 || !strings.Contains(conflict.Reason, what) {
			t.Errorf("another %s: %v", what, err)
		}
	}
}

// TestServers: an export goes to a server, again after an interruption, and comes back.
func TestServers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	from := filepath.Join(root, "from")
	makeLog(t, from, func(l *eventlog.Log) { assorted(t, l, "t") }) // gRPC carries types that are UTF-8 only
	b := exported(t, from, export.Selection{})
	n, err := node.Open(node.Config{Dir: filepath.Join(root, "to")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close(context.Background()) })
	client, err := eventstore.OpenClient(n.ConnectionString(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	load := func(b []byte, stop int64) (export.Imported, error) {
		r, err := export.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return export.ToServer(t.Context(), r, client, func(read int64) error {
			if read >= stop {
				return errStop
			}
			return nil
		})
	}
	whole := int64(len(b)) + 1
	for part := range int64(6) {
		if _, err := load(b, (part+1)*whole/7); !errors.Is(err, errStop) {
			t.Fatal(err)
		}
	}
	done, err := load(b, whole)
	if err != nil || done.Present == 0 || done.LeftOut != 27 { // $system and the log's own
		t.Fatalf("%+v, %v", done, err)
	}
	again, err := load(b, whole)
	if err != nil || again.Events != done.Events {
		t.Errorf("again: %+v, %v", again, err)
	}
	var back bytes.Buffer
	if _, err := export.To(t.Context(), &back, export.Server(client), export.Selection{}, pass); err != nil {
		t.Fatal(err)
	}
	// stamps are the server's, and so are the ids of what it writes itself
	same := func(events []export.Event) (all []string) {
		for _, e := range events {
			if strings.HasPrefix(e.Stream, "$") && !eventlog.IsMetaStream(e.Stream) {
				continue
			}
			if e.Type == eventlog.TombstoneType || eventlog.IsMetaStream(e.Stream) {
				e.ID = uuid.Nil
			}
			e.CreatedTicks, e.Chain = 0, nil
			all = append(all, kept([]export.Event{e})...)
		}
		return all
	}
	want, got := same(mustRead(t, b)), same(mustRead(t, back.Bytes()))
	if !slices.Equal(got, want) {
		t.Errorf("%d events came back of %d", len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%.300s\n%.300s", got[i], want[i])
			}
		}
	}
	// another log with the same streams is not mixed in
	var conflict *export.ConflictError
	if _, err := load(small(t), whole); err != nil {
		t.Fatal(err)
	}
	if _, err := load(small(t), whole); !errors.As(err, &conflict) || conflict.Stream != "s" || conflict.Revision != 0 {
		t.Errorf("another stream of the same name: %v", err)
	}
	// and the server's own export makes a log, without its stream of users and the like
	r, err := export.NewReader(&back)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := export.ToFolder(t.Context(), r, filepath.Join(root, "back"), passBytes); err != nil || done.Events == 0 {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestCount counts by hand.
func TestCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeLog(t, dir, func(l *eventlog.Log) { assorted(t, l, "t\xfe") })
	events := mustRead(t, exported(t, dir, export.Selection{}))
	var size uint64
	streams, types := map[string]uint64{}, map[string]uint64{}
	for _, e := range events {
		size += uint64(len(e.Data) + len(e.Metadata))
		streams[e.Stream]++
		types[e.Type]++
	}
	s, err := export.Count(t.Context(), export.Folder(dir), 3, pass)
	if err != nil {
		t.Fatal(err)
	}
	if s.Events != uint64(len(events)) || s.Position != s.Events || s.PayloadBytes != size || s.Streams != uint64(len(streams)) || s.Types != uint64(len(types)) ||
		!s.First.Equal(events[0].Created()) || !s.Last.Equal(events[len(events)-1].Created()) {
		t.Errorf("%+v", s)
	}
	if len(s.LargestStreams) != 3 || s.LargestStreams[0].Bytes < s.LargestStreams[1].Bytes || s.LargestStreams[0].Events != streams[s.LargestStreams[0].Name] {
		t.Errorf("%+v", s.LargestStreams)
	}
}

func FuzzReader(f *testing.F) {
	b := small(f)
	f.Add(b)
	f.Add(bytes.ReplaceAll(b, []byte(`"link"`), []byte(`"lonk"`)))
	damaged := f.TempDir()
	makeLog(f, damaged, func(l *eventlog.Log) {
		if _, err := l.Append(f.Context(), "s", eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: "t", Data: []byte("{}")}, {ID: uuid.New(), Type: "t"}}); err != nil {
			f.Fatal(err)
		}
	})
	segment := filepath.Join(damaged, "segments", strings.Repeat("0", 20)+".seg")
	content, err := os.ReadFile(segment)
	if err != nil {
		f.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(segment, content, 0o600); err != nil {
		f.Fatal(err)
	}
	f.Add(exported(f, damaged, export.Selection{SkipDamaged: true}))
	f.Add([]byte(`{"format":"reckon-export","version":1,"after":0}` + "\n" +
		`{"position":9,"stream":"s","revision":0,"id":"00000000-0000-0000-0000-000000000001","type":"t","created":"2026-11-22T21:17:34.3610286Z","content_type":"application/json","data":{}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, r, err := read(bytes.NewReader(b))
		if err != nil {
			return
		}
		// what is read is what would be written, but for spaces and the order of members
		var again bytes.Buffer
		w, err := export.NewWriter(&again, r.Header())
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			if err := w.Write(&events[i]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.End(r.Position(), r.Link()); err != nil {
			t.Fatal(err)
		}
		if back := mustRead(t, again.Bytes()); !slices.Equal(kept(back), kept(events)) {
			t.Errorf("%q\n%q", kept(back), kept(events))
		}
	})
}

// An export that leaves out damaged records has the others as they are, and a line for each gap; the reader takes it, and no line
// of it can be taken out or changed.
func TestExportOfADamagedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeLog(t, dir, func(l *eventlog.Log) { assorted(t, l, "odd") })
	whole := exported(t, dir, export.Selection{})
	segment := filepath.Join(dir, "segments", strings.Repeat("0", 20)+".seg")
	b, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{len(b) / 4, len(b) / 2} {
		b[at] ^= 1
	}
	if err := os.WriteFile(segment, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report, err := export.To(t.Context(), &out, export.Folder(dir), export.Selection{SkipDamaged: true}, pass)
	if err != nil || report.Gaps != 2 || report.Lost != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	lines, all := strings.SplitAfter(out.String(), "\n"), strings.SplitAfter(string(whole), "\n")
	if len(lines) != len(all) { // a gap stands for a record
		t.Fatalf("%d lines of %d", len(lines), len(all))
	}
	for i, line := range lines[1 : len(lines)-2] {
		if line != all[i+1] && !strings.HasPrefix(line, `{"gap":true,"first":`) {
			t.Errorf("line %d: %.200s, was %.200s", i+2, line, all[i+1])
		}
	}
	read := func(text string) (events, gaps uint64, err error) {
		r, err := export.NewReader(strings.NewReader(text))
		for err == nil {
			_, err = r.Next()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if r == nil {
			return 0, 0, err
		}
		return r.Events(), r.Gaps(), err
	}
	if events, gaps, err := read(out.String()); err != nil || events != report.Events || gaps != 2 {
		t.Errorf("%d events, %d gaps, %v", events, gaps, err)
	}
	for i, line := range lines[:len(lines)-1] {
		if i > 1 && i < len(lines)-2 && !strings.HasPrefix(line, `{"gap":`) {
			continue // reading an export takes a moment
		}
		without := strings.Join(append(slices.Clone(lines[:i]), lines[i+1:]...), "")
		if _, _, err := read(without); err == nil {
			t.Errorf("without line %d it is taken", i+1)
		}
	}
	if _, _, err := read(strings.Replace(out.String(), `"gaps":true`, `"gaps":false`, 1)); err == nil {
		t.Error("taken as one without gaps")
	}
	// a part: gaps before it are not its own
	out.Reset()
	if report, err := export.To(t.Context(), &out, export.Folder(dir), export.Selection{SkipDamaged: true, Since: report.Position - 3}, pass); err != nil || report.Gaps != 0 || report.Events != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}
