package eventlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reckon/test/wait"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
)

// fullDisk is a file system for the index that can be told that the disk is full.
type fullDisk struct {
	vfs.FS
	full atomic.Bool
	left atomic.Int64 // writes until it is full, when it is counted
}

// fullAfter lets the disk take some more writes.
func (d *fullDisk) fullAfter(writes int) { d.left.Store(int64(writes) + 1) }

// room empties the disk.
func (d *fullDisk) room() {
	d.left.Store(0)
	d.full.Store(false)
}

func (d *fullDisk) err() error {
	if d.left.Load() > 0 && d.left.Add(-1) == 0 {
		d.full.Store(true)
	}
	if d.full.Load() {
		return &os.PathError{Op: "write", Path: "index", Err: errFull}
	}
	return nil
}

func (d *fullDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.err(); err != nil {
		return nil, err
	}
	f, err := d.FS.Create(name, category)
	return fullFile{f, d}, err
}

type fullFile struct {
	vfs.File
	disk *fullDisk
}

func (f fullFile) Write(b []byte) (int, error) {
	if err := f.disk.err(); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f fullFile) Sync() error {
	if err := f.disk.err(); err != nil {
		return err
	}
	return f.File.Sync()
}

// lines counts what is logged.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, r.Message)
	return nil
}

func (l *lines) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *lines) WithGroup(string) slog.Handler { return l }

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.text)
}

// The disk is full when the index wants to write what it holds in memory: the log takes no
// more appends, is read as before, says so once, and closes. The next start, with
// space on the disk, has everything.
func TestFullDiskDuringAFlush(t *testing.T) {
	t.Parallel()
	disk, said := &fullDisk{FS: vfs.NewMem()}, &lines{}
	options := inMemory(Options{Dir: t.TempDir(), indexFiles: disk, Logger: slog.New(said)})
	l, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	e := event("1")
	mustAppend(t, l, "s", Any(), e, event("2"))
	disk.full.Store(true)
	if _, err := l.index.AsyncFlush(); err != nil {
		t.Fatal(err)
	}
	<-l.Failed()
	var storage *StorageError
	if err := l.Err(); !errors.As(err, &storage) || !storage.Full() || !strings.Contains(err.Error(), "free space") {
		t.Fatalf("got %v", err)
	}
	for range 100 {
		if _, err := l.Append(t.Context(), "s", Any(), []Proposed{event("3")}); !errors.As(err, &storage) {
			t.Fatalf("got %v", err)
		}
	}
	if n := len(all(t, l)); n != 3 {
		t.Errorf("%d records are read", n)
	}
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if n := said.count(); n != 1 {
		t.Errorf("%d lines were logged: %q", n, said.text)
	}
	disk.full.Store(false)
	if l, err = Open(options); err != nil {
		t.Fatal(err)
	}
	if report := verify(t, l); report.Records != 3 {
		t.Errorf("%+v", report)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// The writer fills the index while the disk takes nothing of it: it ends all the same.
func TestFullDiskWhileTheWriterWaitsForTheIndex(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{FS: vfs.NewMem()}
	l, err := Open(inMemory(Options{Dir: t.TempDir(), indexFiles: disk}))
	if err != nil {
		t.Fatal(err)
	}
	disk.full.Store(true)
	stream := strings.Repeat("s", 4000) // so that entries of the index are large
	for n := 0; ; n++ {
		events := make([]Proposed, 2000)
		for i := range events {
			events[i] = event("")
		}
		if _, err := l.Append(t.Context(), fmt.Sprint(stream, n), Any(), events); err != nil {
			var storage *StorageError
			if !errors.As(err, &storage) {
				t.Fatalf("got %v", err)
			}
			break
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A disk that is full at the start refuses it, whether the index is there or must be built,
// and nothing is left behind that a later start could not use.
func TestFullDiskAtTheStart(t *testing.T) {
	t.Parallel()
	for _, built := range []bool{true, false} {
		disk := &fullDisk{FS: vfs.NewMem()}
		options := inMemory(Options{Dir: t.TempDir(), indexFiles: disk})
		l, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, l, "s", Any(), event("1"))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if !built {
			if err := forgetIndex(disk, options.Dir+"/"+indexFolder); err != nil {
				t.Fatal(err)
			}
		}
		disk.full.Store(true)
		var storage *StorageError
		if _, err := Open(options); !errors.As(err, &storage) || !storage.Full() {
			t.Fatalf("got %v", err)
		}
		disk.full.Store(false)
		if l, err = Open(options); err != nil {
			t.Fatal(err)
		}
		if report := verify(t, l); report.Records != 2 {
			t.Errorf("%+v", report)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The storage library's logger must not end the process: whatever it calls fatal ends the
// taking of appends and the goroutine it was called on.
func TestLibraryThatGivesUpDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	options := inMemory(Options{Dir: t.TempDir()})
	l, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		storageLogger{to: l.logger, failed: l.index.fail}.Fatalf("invariant %d is broken", 7)
		t.Error("it returned")
	}()
	<-ended
	var storage *StorageError
	if _, err := l.Append(t.Context(), "s", Any(), []Proposed{event("1")}); !errors.As(err, &storage) || !strings.Contains(err.Error(), "invariant 7") {
		t.Errorf("got %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if l, err = Open(options); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A new version of the storage library must not change the format of folders by itself.
func TestStorageFormatIsNamed(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{})
	if got := l.index.FormatMajorVersion(); got != storageFormat {
		t.Errorf("the index has format %s, want %s", got, storageFormat)
	}
}

// After a crash the index holds what it had written, and the rest comes from the segments.
func TestIndexCatchesUp(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), newFaultyFiles()
	index := vfs.NewCrashableMem()
	l := openLog(t, Options{Dir: dir, files: files, indexFiles: index, segmentBytes: 3000})
	for i := range 30 {
		mustAppend(t, l, fmt.Sprint("s", i%3), Any(), event(fmt.Sprint(i)))
	}
	if err := l.index.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		mustAppend(t, l, fmt.Sprint("s", i%4), Any(), event(fmt.Sprint(i)))
	}
	if _, err := l.Tombstone(t.Context(), "s1", Any()); err != nil {
		t.Fatal(err)
	}
	want := verify(t, l)
	other := t.TempDir()
	crashed := vfs.NewMem()
	if _, err := vfs.Clone(index.CrashClone(vfs.CrashCloneCfg{}), crashed, dir+"/"+indexFolder, other+"/"+indexFolder); err != nil {
		t.Fatal(err)
	}
	said := &lines{}
	again := openLog(t, Options{Dir: other, files: files.moved(dir, other), indexFiles: crashed, segmentBytes: 3000, Logger: slog.New(said)})
	if got := verify(t, again); got != want {
		t.Errorf("%+v became %+v", want, got)
	}
	if said.count() != 0 {
		t.Errorf("the index was not taken as it was: %q", said.text)
	}
}

// The log verifies itself again and again, and says when.
func TestVerificationInTheBackground(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{verify: &verification{pause: time.Millisecond, bytesPerSecond: math.MaxInt32}})
	mustAppend(t, l, "s", Any(), event("1"))
	wait.Until(t, "three passes over two records", func() bool {
		h := l.Health()
		return h.Passes >= 3 && h.VerifiedPosition == 2 && !h.LastPass.IsZero() && h.Records == 2 && h.Segments == 1 && h.Bytes > 0 && h.Err == nil
	})
}

func TestVerificationInTheBackgroundFindsDamage(t *testing.T) {
	t.Parallel()
	disk := newFaultyFiles()
	l := openLog(t, Options{files: disk, verify: &verification{delay: time.Millisecond, pause: time.Millisecond, bytesPerSecond: math.MaxInt32}})
	for i := range 5 {
		mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
	}
	at := placeOf(t, l, 3)
	disk.mu.Lock()
	disk.names[(*l.segments.Load())[0].path].current[at.offset+30] ^= 4
	disk.mu.Unlock()
	<-l.Failed()
	var damage *CorruptError
	if err := l.Health().Err; !errors.As(err, &damage) || damage.Position != 3 {
		t.Errorf("got %v", err)
	}
}

// A sealed segment is never written again.
func TestSealedSegmentsNeverChange(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), newFaultyFiles()
	options := inMemory(Options{Dir: dir, files: files, segmentBytes: 1500})
	sealed := map[string]string{}
	for range 4 {
		l, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
		}
		segments := *l.segments.Load()
		contents := files.contents(dir)
		for _, s := range segments[:len(segments)-1] {
			if before, known := sealed[s.name()]; known && before != string(contents[s.name()]) {
				t.Errorf("%s has changed", s.name())
			}
			sealed[s.name()] = string(contents[s.name()])
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(sealed) < 4 {
		t.Errorf("%d sealed segments", len(sealed))
	}
}

func TestMetadataKeysAreMatchedExactly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Metadata{
		`{"$maxCount":2}`:                       {MaxCount: 2},
		`{"$MAXCOUNT":2,"$maxcount":3,"$TB":4}`: {},
		`{"$maxAge":5,"$MaxAge":1}`:             {MaxAgeSeconds: 5},
		`{"$tb":-1,"$maxAge":7}`:                {MaxAgeSeconds: 7},
		`{"$tb":"1","$maxAge":7}`:               {},
		`{"$tb":null,"$maxAge":7}`:              {MaxAgeSeconds: 7},
		`null`:                                  {},
		`[1]`:                                   {},
	} {
		if got := parseMetadata([]byte(text)); got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func setMaxAge(t *testing.T, l *Log, stream string, seconds int) {
	t.Helper()
	mustAppend(t, l, MetaStream(stream), Any(), Proposed{ID: uuid.New(), Type: MetadataType, JSON: true, Data: fmt.Appendf(nil, `{"$maxAge":%d}`, seconds)})
}
