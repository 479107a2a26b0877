package eventlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// refuseByte makes reads of one byte of a file fail, the given number of times.
func (m *faultyFiles) refuseByte(path string, at int64, times int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuseRead = func(file string, from, to int64) error {
		if file != path || at < from || at >= to || times == 0 {
			return nil
		}
		times--
		return err
	}
}

// readEvery reads every record on its own, in $all, and returns the first error of each position.
func readEvery(t *testing.T, l *Log) map[uint64]error {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	failed := map[uint64]error{}
	for position := uint64(1); position <= view.Head(); position++ {
		records, err := view.ReadAll(t.Context(), position, false, Page{Records: 1, Bytes: 1})
		if err != nil {
			failed[position] = err
		} else if len(records) != 1 || records[0].Position != position {
			t.Fatalf("position %d: %+v", position, records)
		}
	}
	return failed
}

// readThrough reads $all page by page until a read fails; nil at the end.
func readThrough(ctx context.Context, view *View) error {
	for from := uint64(1); from <= view.Head(); {
		records, err := view.ReadAll(ctx, from, false, Page{Records: 100, Bytes: 1 << 20})
		if err != nil {
			return err
		}
		from += uint64(len(records))
	}
	return nil
}

// In the segments of a log, whole and scavenged, the disk refuses to read one byte of each
// record in turn: whoever reads the record is told the position, the file and the byte, the other
// records are served, no more appends are taken, and a start that meets the byte is refused. When
// the disk gives the byte again, all is as it was.
func TestEveryUnreadableRecordIsLocated(t *testing.T) {
	t.Parallel()
	for _, scavenged := range []bool{false, true} {
		files, frames := smallLog(t)
		if scavenged {
			files, frames = scavengedLog(t)
		}
		for _, err := range []error{syscall.EIO, syscall.EBADMSG} {
			for _, f := range frames {
				t.Run(fmt.Sprintf("%v %v %d", scavenged, err, f.position), func(t *testing.T) { unreadableAt(t, files, f, err) })
			}
		}
	}
}

func unreadableAt(t *testing.T, files map[string][]byte, f frameAt, refusal error) {
	dir := t.TempDir()
	disk := filesWith(dir, files)
	options := inMemory(Options{Dir: dir, files: disk, segmentBytes: 1200})
	l, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	path, last := filepath.Join(dir, f.file), f.end()-1
	named := func(err error) bool {
		var damage *CorruptError
		return errors.As(err, &damage) && damage.Position == f.position && damage.File == f.file && damage.Offset == f.offset && strings.Contains(err.Error(), "start again") && errors.Is(err, refusal)
	}
	disk.refuseByte(path, last, -1, refusal)
	failed := readEvery(t, l)
	if err := failed[f.position]; !named(err) {
		t.Errorf("position %d: %v", f.position, err)
	}
	if len(failed) != 1 {
		t.Errorf("other records: %v", failed)
	}
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	records, err := view.ReadAll(t.Context(), 0, false, Page{Records: 100, Bytes: 1 << 20})
	if !named(err) || uint64(len(records)) != f.position-1 { // those before it are given
		t.Errorf("a page with the record: %d, %v", len(records), err)
	}
	if records, err = view.ReadAll(t.Context(), f.position, false, Page{Records: 100, Bytes: 1 << 20}); !named(err) || len(records) > 0 {
		t.Errorf("a page from the record: %d, %v", len(records), err)
	}
	if records, err = view.ReadAll(t.Context(), view.Head()+1, true, Page{Records: 100, Bytes: 1 << 20}); !named(err) || uint64(len(records)) != view.Head()-f.position {
		t.Errorf("a page backwards with the record: %d, %v", len(records), err)
	}
	view.Close()
	if _, err := l.Verify(t.Context()); !named(err) {
		t.Errorf("verify: %v", err)
	}
	if _, err := l.Append(t.Context(), "another", Any(), []Proposed{event("x")}); !named(err) {
		t.Errorf("append: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if l, err := Open(options); !named(err) {
		t.Errorf("open: %v", err)
		if err == nil {
			_ = l.Close()
		}
	}
	disk.refuseByte(path, last, 0, nil)
	if l, err = Open(options); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "another", Any(), event("x"))
	verify(t, l)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// scavengedLog is smallLog after a scavenge: the sealed segments have lost payloads.
func scavengedLog(t *testing.T) (files map[string][]byte, frames []frameAt) {
	t.Helper()
	files, _ = smallLog(t)
	dir := t.TempDir()
	disk := filesWith(dir, files)
	l, err := Open(inMemory(Options{Dir: dir, files: disk, segmentBytes: 1200}))
	if err != nil {
		t.Fatal(err)
	}
	if report, err := l.Scavenge(t.Context(), func(ScavengeReport) {}); err != nil || report.Removed == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, s := range *l.segments.Load() {
		err := s.use(once, func(o opened) error {
			for scan := o.scanner(o.end.Load()); scan.offset < scan.limit; {
				from := scan.offset
				r, _, err := scan.next()
				if err != nil {
					return err
				}
				frames = append(frames, frameAt{s.name(), place{r.Position, from, uint32(scan.offset - from)}})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return disk.contents(dir), frames
}

// What the disk gives when it is asked again proves itself: a page is served, or its reader is
// told to read again, and appends go on.
func TestReadThatMayPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		err     error
		records int // of the page that is read
		times   int
		served  bool
	}{
		{"one refusal of a page", syscall.EIO, 100, 1, true},
		{"one refusal of a record", syscall.EIO, 1, 1, false},
		{"no memory for a while", syscall.ENOMEM, 100, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, disk := t.TempDir(), newFaultyFiles()
			l := openLog(t, Options{Dir: dir, files: disk})
			for i := range 9 {
				mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
			}
			disk.refuseByte((*l.segments.Load())[0].path, placeOf(t, l, 5).offset, c.times, c.err)
			view, err := l.View()
			if err != nil {
				t.Fatal(err)
			}
			defer view.Close()
			_, err = view.ReadAll(t.Context(), 5, false, Page{Records: c.records, Bytes: 1 << 20})
			var refused *StorageError
			if served := err == nil; served != c.served || !served && (!errors.As(err, &refused) || !refused.Reading || !errors.Is(err, c.err)) {
				t.Errorf("read: %v", err)
			}
			if records, err := view.ReadAll(t.Context(), 5, false, Page{Records: c.records, Bytes: 1 << 20}); err != nil || records[0].Position != 5 {
				t.Errorf("read again: %v", err)
			}
			mustAppend(t, l, "s", Any(), event("more"))
		})
	}
}
