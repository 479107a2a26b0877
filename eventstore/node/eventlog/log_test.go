package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
)

var discard = slog.New(slog.DiscardHandler)

// openLog opens a log whose storage is in memory.
func openLog(t testing.TB, o Options) *Log {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.fs == nil {
		o.fs = vfs.NewMem()
	}
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
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir})
	_, err := Open(Options{Dir: dir})
	var inUse *FolderInUseError
	if !errors.As(err, &inUse) || inUse.PID != os.Getpid() || inUse.Dir != dir {
		t.Fatalf("got %v", err)
	}
	verify(t, l)
}

func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	db, err := pebble.Open(filepath.Join(dir, "log"), &pebble.Options{Logger: storageLogger{to: discard}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Set([]byte("x"), []byte("y"), pebble.Sync), db.Close()); err != nil {
		t.Fatal(err)
	}
	var format *FormatError
	if _, err := Open(Options{Dir: dir}); !errors.As(err, &format) {
		t.Fatalf("got %v", err)
	}
}

func TestChainFindsEveryTampering(t *testing.T) {
	position := uint64(4) // of the tampered record
	rewrite := func(change func(stored) stored) func(db *pebble.DB) error {
		return func(db *pebble.DB) error {
			value, closer, err := db.Get(recordKey(position))
			if err != nil {
				return err
			}
			s, err := parseRecord(append([]byte(nil), value...))
			if err != nil {
				return err
			}
			_ = closer.Close()
			s = change(s)
			forged, _ := appendRecord(nil, &s.Record, [saltBytes]byte{9}, hash{})
			return db.Set(recordKey(position), forged, pebble.Sync)
		}
	}
	tampering := map[string]func(db *pebble.DB) error{
		"payload": func(db *pebble.DB) error {
			value, closer, err := db.Get(recordKey(position))
			if err != nil {
				return err
			}
			changed := append([]byte(nil), value...)
			_ = closer.Close()
			changed[len(changed)-1] ^= 1
			return db.Set(recordKey(position), changed, pebble.Sync)
		},
		"rewritten record": rewrite(func(s stored) stored { s.Data = []byte("forged"); return s }),
		"other type":       rewrite(func(s stored) stored { s.Type = "other"; return s }),
		"removed":          func(db *pebble.DB) error { return db.Delete(recordKey(position), pebble.Sync) },
		"garbage":          func(db *pebble.DB) error { return db.Set(recordKey(position), []byte("x"), pebble.Sync) },
		"lost index": func(db *pebble.DB) error {
			return db.Delete(appendRevisionKey(nil, "s", 2), pebble.Sync)
		},
	}
	for name, tamper := range tampering {
		t.Run(name, func(t *testing.T) {
			l := openLog(t, Options{})
			for i := range 6 {
				mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
			}
			verify(t, l)
			if err := tamper(l.db); err != nil {
				t.Fatal(err)
			}
			var damage *CorruptError
			if _, err := l.Verify(newestView(t, l)); !errors.As(err, &damage) || damage.Position != position {
				t.Fatalf("got %v", err)
			}
		})
	}
}

// newestView lets readers see what a test wrote behind the log's back.
func newestView(t testing.TB, l *Log) context.Context {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	l.publish(newView(l, view.head, view.createdTicks))
	view.Close()
	return t.Context()
}

func TestRedactedPayloadKeepsTheChain(t *testing.T) {
	l := openLog(t, Options{})
	for i := range 4 {
		mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
	}
	before := verify(t, l)
	value, closer, err := l.db.Get(recordKey(3))
	if err != nil {
		t.Fatal(err)
	}
	without := redacted(append([]byte(nil), value...))
	if err := errors.Join(closer.Close(), l.db.Set(recordKey(3), without, pebble.Sync)); err != nil {
		t.Fatal(err)
	}
	newestView(t, l)
	after := verify(t, l)
	if after.Redacted != 1 || after.Chain != before.Chain {
		t.Fatalf("got %+v, was %+v", after, before)
	}
	if r := all(t, l)[2]; !r.Redacted || len(r.Data) != 0 || r.Type != "noted" {
		t.Errorf("got %+v", r)
	}
}

func TestDamagedTailIsRefusedAtOpen(t *testing.T) {
	fs := vfs.NewMem()
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir, fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "s", Any(), event("a"), event("b"), event("c"))
	if err := errors.Join(l.db.Delete(recordKey(3), pebble.Sync), l.Close()); err != nil {
		t.Fatal(err)
	}
	var damage *CorruptError
	if _, err := Open(Options{Dir: dir, fs: fs}); !errors.As(err, &damage) || damage.Position != 3 {
		t.Fatalf("got %v", err)
	}
}

// Nothing a reader saw, and nothing acknowledged, may be missing after the power fails at
// any moment: the clone of the file system holds only what was fsynced.
func TestPowerFailure(t *testing.T) {
	fs := vfs.NewCrashableMem()
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, fs: fs})
	// every round allows the writers more appends than it waits for, so that the power
	// fails while they write, and the log stays small
	const rounds, perRound = 12, 60
	permits := make(chan struct{}, rounds*perRound)
	var mu sync.Mutex
	acknowledged := map[uuid.UUID]uint64{}
	var writers sync.WaitGroup
	for n := range 8 {
		writers.Go(func() {
			for range permits {
				e := event("x")
				result, err := l.Append(context.Background(), fmt.Sprintf("s%d", n), Any(), []Proposed{e})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acknowledged[e.ID] = result.Position
				mu.Unlock()
			}
		})
	}
	watch := l.Watch(AllStream)
	defer watch.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		for range perRound {
			permits <- struct{}{}
		}
		waitForHead(t, l, watch, uint64(round*perRound+1+random.IntN(perRound)))
		mu.Lock()
		promised := maps.Clone(acknowledged)
		mu.Unlock()
		seen := headOf(t, l)
		crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * (round % 2), RNG: random})
		checkAfterCrash(t, crashed, dir, l.ID(), promised, seen)
	}
	close(permits)
	writers.Wait()
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

func checkAfterCrash(t *testing.T, crashed vfs.FS, crashedDir string, id uuid.UUID, promised map[uuid.UUID]uint64, seen uint64) {
	t.Helper()
	// under another name, for the folder itself is still locked
	dir, fs := t.TempDir(), vfs.NewMem()
	if ok, err := vfs.Clone(crashed, fs, filepath.Join(crashedDir, "log"), filepath.Join(dir, "log")); err != nil || !ok {
		t.Fatal(ok, err)
	}
	l, err := Open(Options{Dir: dir, fs: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	if l.ID() != id {
		t.Fatalf("the log is another one after the crash")
	}
	report := verify(t, l)
	if report.Records < seen {
		t.Fatalf("a reader saw position %d, the log ends at %d", seen, report.Records)
	}
	positions := map[uuid.UUID]uint64{}
	for _, r := range all(t, l) {
		positions[r.ID] = r.Position
	}
	for id, position := range promised {
		if positions[id] != position {
			t.Errorf("the append acknowledged at position %d is at %d", position, positions[id])
		}
	}
}

// A write that waits for a group must not be decided twice, and its outcome must hold.
func TestWritesThatReadTheirOwnGroup(t *testing.T) {
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

func TestClockGoingBack(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var mu sync.Mutex
	set := func(at time.Time) {
		mu.Lock()
		defer mu.Unlock()
		now = at
	}
	l := openLog(t, Options{Clock: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	mustAppend(t, l, "s", Any(), event("a"))
	set(time.Unix(900_000, 0))
	mustAppend(t, l, "s", Any(), event("b"))
	records := all(t, l)
	if records[1].CreatedTicks != 1_000_000*TicksPerSecond || records[2].CreatedTicks != records[1].CreatedTicks {
		t.Fatalf("stamps %d, %d", records[1].CreatedTicks, records[2].CreatedTicks)
	}
	mustAppend(t, l, MetaStream("s"), Any(), Proposed{ID: uuid.New(), Type: MetadataType, JSON: true, Data: []byte(`{"$maxAge":10}`)})
	for _, c := range []struct {
		at    int64
		first uint64
	}{{1_000_010, 0}, {1_000_011, 2}, {900_000, 0}} {
		set(time.Unix(c.at, 0))
		view, err := l.View()
		if err != nil {
			t.Fatal(err)
		}
		info, err := view.Stream("s")
		view.Close()
		if err != nil || info.First != c.first {
			t.Errorf("at %d: first visible %d, %v", c.at, info.First, err)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	l := openLog(t, Options{})
	ctx := context.Background()
	big := event("x")
	big.Data = make([]byte, MaxAppendBytes)
	refusals := map[string]error{}
	_, refusals["invalid: no stream"] = l.Append(ctx, "", Any(), []Proposed{event("a")})
	_, refusals["invalid: no base stream"] = l.Append(ctx, "$$", Any(), []Proposed{event("a")})
	_, refusals["invalid: long name"] = l.Append(ctx, string(make([]byte, MaxStreamNameBytes)), Any(), []Proposed{event("a")})
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
	r := newRecentIDs()
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
