package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
)

// never is a log that does not verify itself in the background.
var never = &verification{delay: 1 << 60, pause: 1 << 60, bytesPerSecond: 1}

// inMemory returns the options of a log whose files are in memory, in a folder of the disk for the lock.
func inMemory(o Options) Options {
	if o.files == nil {
		o.files = newFaultyFiles()
	}
	if o.indexFiles == nil {
		o.indexFiles = vfs.NewMem()
	}
	if o.verify == nil {
		o.verify = never
	}
	return o
}

// openLog opens a log whose files are in memory.
func openLog(t testing.TB, o Options) *Log {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o = inMemory(o)
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func event(text string) Proposed {
	return Proposed{ID: uuid.New(), Type: "noted", JSON: true, Data: []byte(text), Metadata: []byte(`{"about":1}`)}
}

func mustAppend(t testing.TB, l *Log, stream string, expected Expected, events ...Proposed) Result {
	t.Helper()
	result, err := l.Append(context.Background(), stream, expected, events)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func verify(t testing.TB, l *Log) Report {
	t.Helper()
	report, err := l.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func all(t testing.TB, l *Log) []Record {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	records, err := view.ReadAll(context.Background(), 0, false, Page{Records: int(view.Head()) + 1, Bytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestFirstEventNamesTheLog(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{})
	first := all(t, l)[0]
	var identity Identity
	if err := json.Unmarshal(first.Data, &identity); err != nil {
		t.Fatal(err)
	}
	if first.Stream != IdentityStream || first.Type != IdentityType || first.Position != 1 || first.ID != l.ID() || identity.LogID != l.ID() {
		t.Fatalf("got %+v", first)
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	e := event("a")
	mustAppend(t, l, "s", NoStream(), e, event("b"))
	mustAppend(t, l, "t", Any(), event("c"))
	if _, err := l.Delete(context.Background(), "t", Any()); err != nil {
		t.Fatal(err)
	}
	id, before, report := l.ID(), all(t, l), verify(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(context.Background(), "s", Any(), []Proposed{event("late")}); !errors.Is(err, ErrClosed) {
		t.Fatalf("append after close: %v", err)
	}

	l, err = Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	after := all(t, l)
	if l.ID() != id || len(after) != len(before) || verify(t, l) != report {
		t.Fatalf("%d records became %d", len(before), len(after))
	}
	for i := range before {
		if !sameRecord(&before[i], &after[i]) {
			t.Errorf("position %d changed", i+1)
		}
	}
	// the window of known ids outlives a restart
	if again := mustAppend(t, l, "s", Any(), e); again.Position != 2 || again.LastRevision != 0 {
		t.Errorf("the repeated append was stored again: %+v", again)
	}
}

func TestFolderInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir})
	_, err := Open(Options{Dir: dir})
	var inUse *FolderInUseError
	if !errors.As(err, &inUse) || inUse.PID != os.Getpid() || inUse.Dir != dir {
		t.Fatalf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir}); !errors.As(err, &inUse) {
		t.Fatalf("without its lock file: %v", err)
	}
	verify(t, l)
}

// A folder that has lost all but its index is not taken for a new one.
func TestSegmentsAreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "s", Any(), event("a"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []string{segmentFolder, headFileName} {
		if err := os.RemoveAll(filepath.Join(dir, lost)); err != nil {
			t.Fatal(err)
		}
		var damage *CorruptError
		if _, err := Open(Options{Dir: dir}); !errors.As(err, &damage) || damage.File != segmentFolder {
			t.Errorf("without %s: %v", lost, err)
		}
	}
}

// A folder of the format before the first release had its records in the folder "log".
func TestOldFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "log"), 0o700); err != nil {
		t.Fatal(err)
	}
	var format *FormatError
	if _, err := Open(Options{Dir: dir}); !errors.As(err, &format) || !strings.Contains(err.Error(), "before the first release") {
		t.Fatalf("got %v", err)
	}
}

func headOf(t *testing.T, l *Log) uint64 {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	return view.Head()
}

// waitForHead returns when the log has reached the position.
func waitForHead(t *testing.T, l *Log, watch *Watch, position uint64) {
	t.Helper()
	for headOf(t, l) < position {
		<-watch.C
	}
}

// A write that waits for a group must not be decided twice, and its outcome must hold.
func TestWritesThatReadTheirOwnGroup(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{})
	first, second := event("1"), event("2")
	var pending []*Pending
	submit := func(expected Expected, events ...Proposed) {
		p, err := l.Submit(context.Background(), "s", expected, events)
		if err != nil {
			t.Fatal(err)
		}
		pending = append(pending, p)
	}
	for range 50 {
		submit(NoStream(), first)
		submit(Revision(0), second)
		submit(NoStream(), first, second)
	}
	for i, p := range pending {
		result, err := p.Wait(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		want := Result{LastRevision: 1, Position: 3}
		if i%3 == 0 {
			want = Result{LastRevision: 0, Position: 2}
		}
		if result != want {
			t.Fatalf("append %d: got %+v", i, result)
		}
	}
	if n := len(all(t, l)); n != 3 {
		t.Fatalf("%d records", n)
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{})
	ctx := context.Background()
	big := event("x")
	big.Data = make([]byte, MaxAppendBytes)
	refusals := map[string]error{}
	_, refusals["invalid: no stream"] = l.Append(ctx, "", Any(), []Proposed{event("a")})
	_, refusals["invalid: no base stream"] = l.Append(ctx, "$$", Any(), []Proposed{event("a")})
	_, refusals["invalid: long name"] = l.Append(ctx, string(make([]byte, MaxStreamNameBytes+1)), Any(), []Proposed{event("a")})
	_, refusals["invalid: no expectation"] = l.Append(ctx, "s", Expected{}, []Proposed{event("a")})
	_, refusals["invalid: no id"] = l.Append(ctx, "s", Any(), []Proposed{{Type: "t"}})
	_, refusals["invalid: no type"] = l.Append(ctx, "s", Any(), []Proposed{{ID: uuid.New()}})
	_, refusals["denied: all"] = l.Append(ctx, AllStream, Any(), []Proposed{event("a")})
	_, refusals["denied: delete metadata"] = l.Delete(ctx, "$$s", Any())
	_, refusals["denied: tombstone metadata"] = l.Tombstone(ctx, "$$s", Any())
	_, refusals["large"] = l.Append(ctx, "s", Any(), []Proposed{big})
	for name, err := range refusals {
		var invalid *InvalidRequestError
		var denied *AccessDeniedError
		var large *AppendTooLargeError
		ok := name[0] == 'i' && errors.As(err, &invalid) || name[0] == 'd' && errors.As(err, &denied) || name[0] == 'l' && errors.As(err, &large)
		if !ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := len(all(t, l)); n != 1 {
		t.Errorf("%d records after refusals only", n)
	}
}

func TestRecentWindowIsBounded(t *testing.T) {
	t.Parallel()
	r := newRecentIDs(recentRecords)
	ids := make([]uuid.UUID, 3*recentRecords)
	for i := range ids {
		ids[i] = uuid.New()
		r.add(ids[i], "s", recordedAt{uint64(i), uint64(i + 1)}, 100)
	}
	if len(r.places) != recentRecords || len(r.ring) > 2*recentRecords+1 {
		t.Fatalf("%d ids remembered, ring of %d", len(r.places), len(r.ring))
	}
	if _, ok := r.find(ids[len(ids)-recentRecords-1], "s"); ok {
		t.Error("an id outside of the window is known")
	}
	if at, ok := r.find(ids[len(ids)-recentRecords], "s"); !ok || at.revision != uint64(len(ids)-recentRecords) {
		t.Error("the oldest id of the window is unknown")
	}
	r.add(uuid.New(), "s", recordedAt{1, 1}, recentBytes+1)
	if len(r.places) != 1 {
		t.Errorf("%d ids remembered beyond the size of the window", len(r.places))
	}
}
