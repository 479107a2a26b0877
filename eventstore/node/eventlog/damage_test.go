package eventlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// smallLog returns the folder of a log of three segments that was closed in order, its files
// without the index, and the frame of every record.
func smallLog(t *testing.T) (files map[string][]byte, frames []frameAt) {
	t.Helper()
	dir, disk := t.TempDir(), newFaultyFiles()
	l, err := Open(inMemory(Options{Dir: dir, files: disk, segmentBytes: 1200}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)), event(strings.Repeat("x", 10*i)))
	}
	if _, err := l.Tombstone(context.Background(), "s", Any()); err != nil {
		t.Fatal(err)
	}
	segments := *l.segments.Load()
	if len(segments) != 3 {
		t.Fatalf("%d segments", len(segments))
	}
	_, err = scanSegments(context.Background(), dir, segments, keep, cursor{link: l.genesis}, headOf(t, l), func(r *stored, at place) error {
		frames = append(frames, frameAt{segments.find(r.Position).name(), at})
		return nil
	})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return disk.contents(dir), frames
}

type frameAt struct {
	file string
	place
}

// onDisk writes the files to a folder.
func onDisk(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, segmentFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// findDamage opens and verifies the log as a node does, and verifies it as a folder.
func findDamage(t *testing.T, dir string, files map[string][]byte) (byNode, byFolder error) {
	t.Helper()
	l, err := Open(inMemory(Options{Dir: t.TempDir(), files: filesWith(dir, files).moved(dir, dir), segmentBytes: 1200}.in(dir)))
	if err == nil {
		_, err = l.Verify(context.Background())
		if closeErr := l.Close(); closeErr != nil {
			t.Fatal(closeErr)
		}
	}
	_, folderErr := VerifyFolder(context.Background(), dir, nil)
	return err, folderErr
}

func (o Options) in(dir string) Options {
	o.Dir = dir
	return o
}

// Every byte of every file is changed in turn, and both readers name the place.
func TestEveryFlippedByteIsLocated(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	dir := onDisk(t, files)
	if byNode, byFolder := findDamage(t, dir, files); byNode != nil || byFolder != nil {
		t.Fatal(byNode, byFolder)
	}
	for name, original := range files {
		for at := range original {
			changed := bytes.Clone(original)
			changed[at] ^= 1 << (at % 8)
			if err := os.WriteFile(filepath.Join(dir, name), changed, 0o600); err != nil {
				t.Fatal(err)
			}
			with := cloneFiles(files)
			with[name] = changed
			byNode, byFolder := findDamage(t, dir, with)
			for reader, err := range map[string]error{"node": byNode, "folder": byFolder} {
				var damage *CorruptError
				if !errors.As(err, &damage) || damage.File != name || damage.Dir != dir {
					t.Fatalf("%s: byte %d of %s: got %v", reader, at, name, err)
				}
				for _, f := range frames {
					if f.file == name && f.offset <= int64(at) && int64(at) < f.end() && (damage.Position != f.position || damage.Offset != f.offset) {
						t.Fatalf("%s: byte %d of %s is of position %d: got %v", reader, at, name, f.position, err)
					}
				}
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), original, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func cloneFiles(files map[string][]byte) map[string][]byte {
	clone := map[string][]byte{}
	for name, b := range files {
		clone[name] = b
	}
	return clone
}

// Every record is taken out in turn, and put in place of another; every file is removed
// and cut at every record.
func TestEveryMissingRecordIsLocated(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	expect := func(what string, with map[string][]byte, position uint64) {
		t.Helper()
		dir := onDisk(t, with)
		byNode, byFolder := findDamage(t, dir, with)
		for reader, err := range map[string]error{"node": byNode, "folder": byFolder} {
			var damage *CorruptError
			if !errors.As(err, &damage) || damage.Position != position {
				t.Errorf("%s: %s: got %v, want position %d", reader, what, err, position)
			}
		}
	}
	for _, f := range frames {
		with := cloneFiles(files)
		with[f.file] = slices.Delete(bytes.Clone(files[f.file]), int(f.offset), int(f.end()))
		expect(fmt.Sprintf("position %d removed", f.position), with, f.position)

		with = cloneFiles(files)
		with[f.file] = files[f.file][:f.offset]
		expect(fmt.Sprintf("%s cut before position %d", f.file, f.position), with, f.position)

		with = cloneFiles(files)
		with[f.file] = files[f.file][:f.end()-1]
		expect(fmt.Sprintf("%s cut within position %d", f.file, f.position), with, f.position)

		with = cloneFiles(files)
		with[f.file] = slices.Insert(bytes.Clone(files[f.file]), int(f.end()), files[f.file][f.offset:f.end()]...)
		if f.position < frames[len(frames)-1].position { // behind the last one it is a write that was not finished
			expect(fmt.Sprintf("position %d twice", f.position), with, f.position+1)
		}
	}
	for name := range files {
		with := cloneFiles(files)
		delete(with, name)
		dir := onDisk(t, with)
		byNode, byFolder := findDamage(t, dir, with)
		var damage *CorruptError
		if !errors.As(byNode, &damage) || !errors.As(byFolder, &damage) {
			t.Errorf("%s removed: %v, %v", name, byNode, byFolder)
		}
	}
}

// A record is changed so that its checksum, its payload hash and its own link are right.
func TestForgedRecordsBreakTheChain(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	for _, f := range frames {
		b := bytes.Clone(files[f.file])
		seed := binary.BigEndian.Uint32(b[segmentHeader-4:])
		original, reason := parseFrame(seed, b[f.offset:f.end()])
		if reason != "" {
			t.Fatal(reason)
		}
		if original.Type != "noted" {
			continue
		}
		forged := original.Record
		forged.Type = "nOted"
		previous := linkBefore(t, files, frames, f)
		frame, _ := appendFrame(nil, seed, original.durable, &forged, original.last, [saltBytes]byte{1}, previous)
		copy(b[f.offset:], frame)
		with := cloneFiles(files)
		with[f.file] = b
		byNode, byFolder := findDamage(t, onDisk(t, with), with)
		for reader, err := range map[string]error{"node": byNode, "folder": byFolder} {
			var damage *CorruptError
			if !errors.As(err, &damage) || damage.Position != f.position && damage.Position != f.position+1 {
				t.Errorf("%s: position %d forged: got %v", reader, f.position, err)
			}
		}
	}
}

func linkBefore(t *testing.T, files map[string][]byte, frames []frameAt, f frameAt) hash {
	t.Helper()
	before := frames[f.position-2]
	s, reason := parseFrame(binary.BigEndian.Uint32(files[before.file][segmentHeader-4:]), files[before.file][before.offset:before.end()])
	if reason != "" {
		t.Fatal(reason)
	}
	return s.Link
}

// A running log finds records that were changed on the disk behind its back when it reads
// them: it serves the others, takes no more appends, and closes.
func TestDamageWhileRunning(t *testing.T) {
	t.Parallel()
	dir, disk := t.TempDir(), newFaultyFiles()
	l := openLog(t, Options{Dir: dir, files: disk})
	for i := range 9 {
		mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
	}
	at := placeOf(t, l, 5)
	damaged := disk.names[(*l.segments.Load())[0].path]
	disk.mu.Lock()
	damaged.current[at.offset+40] ^= 1
	disk.mu.Unlock()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for name, read := range map[string]func() error{
		"all": func() error {
			return readThrough(t.Context(), view)
		},
		"stream": func() error {
			_, err := view.ReadStream(t.Context(), "s", 0, 8, true, Page{Records: 100, Bytes: 1 << 20})
			return err
		},
		"verify": func() error {
			_, err := l.Verify(t.Context())
			return err
		},
	} {
		var damage *CorruptError
		if err := read(); !errors.As(err, &damage) || damage.Position != 5 || damage.Offset != at.offset {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if records, err := view.ReadAll(t.Context(), 6, false, Page{Records: 100, Bytes: 1 << 20}); err != nil || len(records) != 5 {
		t.Errorf("the records behind: %d, %v", len(records), err)
	}
	var damage *CorruptError
	if _, err := l.Append(t.Context(), "s", Any(), []Proposed{event("x")}); !errors.As(err, &damage) || damage.Position != 5 {
		t.Errorf("append: got %v", err)
	}
}

func placeOf(t *testing.T, l *Log, position uint64) place {
	t.Helper()
	value, err := l.readValue(l.index, positionKey(position))
	if err != nil {
		t.Fatal(err)
	}
	at, ok := parsePositionPlace(position, value)
	if !ok {
		t.Fatal("no place")
	}
	return at
}

// An index that was changed, with all of its checksums right, is noticed by what it leads
// to: no wrong event is served or written, and the next start builds it again.
func TestWrongIndexIsNoticedAndRebuilt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(l *Log) error
		notice func(l *Log, view *View) error
	}{
		"revision un-indexed": {
			func(l *Log) error { return l.index.Delete(appendRevisionKey(nil, "s", 2), pebble.NoSync) },
			readWhole,
		},
		"position un-indexed": {
			func(l *Log) error { return l.index.Delete(positionKey(4), pebble.NoSync) },
			readAllWhole,
		},
		"last revision un-indexed": {
			func(l *Log) error { return l.index.Delete(appendRevisionKey(nil, "s", 5), pebble.NoSync) },
			verifyWhole,
		},
		"revisions exchanged": {
			func(l *Log) error {
				a, err := l.readValue(l.index, appendRevisionKey(nil, "s", 2))
				return errors.Join(err, l.index.Set(appendRevisionKey(nil, "s", 3), a, pebble.NoSync))
			},
			readWhole,
		},
		"another stream's record": {
			func(l *Log) error {
				a, err := l.readValue(l.index, appendRevisionKey(nil, IdentityStream, 0))
				return errors.Join(err, l.index.Set(appendRevisionKey(nil, "s", 0), a, pebble.NoSync))
			},
			readWhole,
		},
		"head ahead": {
			func(l *Log) error {
				return l.index.Set(headKey("cold"), head{last: 7, position: 8}.encode(), pebble.NoSync)
			},
			appendCold,
		},
		"head behind": {
			func(l *Log) error {
				return l.index.Set(headKey("cold"), head{last: 0, position: 8}.encode(), pebble.NoSync)
			},
			appendCold,
		},
		"head gone": {func(l *Log) error { return l.index.Delete(headKey("cold"), pebble.NoSync) }, appendCold},
		"head ahead, verified": {func(l *Log) error {
			return l.index.Set(headKey("cold"), head{last: 7, position: 8}.encode(), pebble.NoSync)
		}, verifyWhole},
		"head behind, verified": {func(l *Log) error {
			return l.index.Set(headKey("cold"), head{last: 0, position: 8}.encode(), pebble.NoSync)
		}, verifyWhole},
		"head invented": {func(l *Log) error {
			return l.index.Set(headKey("other"), head{last: 0, position: 8}.encode(), pebble.NoSync)
		}, verifyWhole},
		"index stream: entry gone":            {func(l *Log) error { return l.index.Delete(appendIndexKey(nil, "$et-noted", 3), pebble.NoSync) }, readNoted},
		"index stream: entry gone, verified":  {func(l *Log) error { return l.index.Delete(appendIndexKey(nil, "$et-noted", 3), pebble.NoSync) }, verifyWhole},
		"index stream: last entry gone":       {func(l *Log) error { return l.index.Delete(appendIndexKey(nil, "$streams", 1), pebble.NoSync) }, verifyWhole},
		"index stream: last entry gone, read": {func(l *Log) error { return l.index.Delete(appendIndexKey(nil, "$et-noted", 7), pebble.NoSync) }, readNoted},
		"index stream: entries exchanged": {
			func(l *Log) error {
				a, err := l.readValue(l.index, appendIndexKey(nil, "$et-"+IdentityType, 0))
				return errors.Join(err, l.index.Set(appendIndexKey(nil, "$et-noted", 3), a, pebble.NoSync))
			},
			readNoted,
		},
		"index stream: head ahead": {
			func(l *Log) error {
				return l.index.Set(indexHeadKey("$et-noted"), head{last: 9, position: 9}.encode(), pebble.NoSync)
			},
			appendCold,
		},
		"index stream: head behind": {
			func(l *Log) error {
				return l.index.Set(indexHeadKey("$et-noted"), head{last: 6, position: 8}.encode(), pebble.NoSync)
			},
			appendCold,
		},
		"index stream: head gone": {func(l *Log) error { return l.index.Delete(indexHeadKey("$et-noted"), pebble.NoSync) }, appendCold},
		"index stream: invented": {
			func(l *Log) error {
				a, err := l.readValue(l.index, appendIndexKey(nil, "$streams", 0))
				return errors.Join(err, l.index.Set(appendIndexKey(nil, "$et-other", 0), a, pebble.NoSync))
			},
			verifyWhole,
		},
		"head unreadable": {func(l *Log) error { return l.index.Set(headKey("cold"), []byte("x"), pebble.NoSync) }, verifyWhole},
	} {
		t.Run(name, func(t *testing.T) {
			dir, disk, index := t.TempDir(), newFaultyFiles(), vfs.NewMem()
			options := inMemory(Options{Dir: dir, files: disk, indexFiles: index})
			l, err := Open(options)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 6 {
				mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
			}
			mustAppend(t, l, "cold", Any(), event("a"), event("b"))
			before := verify(t, l)
			if err := l.Close(); err != nil { // so that the writer knows no stream
				t.Fatal(err)
			}
			if l, err = Open(options); err != nil {
				t.Fatal(err)
			}
			if err := c.change(l); err != nil {
				t.Fatal(err)
			}
			l.publish(newView(l, headOf(t, l)))
			view, err := l.View()
			if err != nil {
				t.Fatal(err)
			}
			var doubt *IndexError
			if err := c.notice(l, view); !errors.As(err, &doubt) {
				t.Errorf("got %v", err)
			}
			if _, err := l.Append(t.Context(), "s", Any(), []Proposed{event("x")}); !errors.As(err, &doubt) {
				t.Errorf("append: got %v", err)
			}
			view.Close()
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if l, err = Open(options); err != nil {
				t.Fatal(err)
			}
			if after := verify(t, l); after != before {
				t.Errorf("%+v became %+v", before, after)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func readWhole(_ *Log, view *View) error {
	_, err := view.ReadStream(context.Background(), "s", 0, 5, false, Page{Records: 100, Bytes: 1 << 20})
	return err
}

func readAllWhole(_ *Log, view *View) error {
	_, err := view.ReadAll(context.Background(), 1, true, Page{Records: 100, Bytes: 1 << 20})
	if err == nil {
		_, err = view.ReadAll(context.Background(), 1, false, Page{Records: 100, Bytes: 1 << 20})
	}
	return err
}

func verifyWhole(l *Log, _ *View) error {
	_, err := l.Verify(context.Background())
	return err
}

func appendCold(l *Log, _ *View) error {
	_, err := l.Append(context.Background(), "cold", Any(), []Proposed{event("x")})
	return err
}

// The files of an index may be damaged in any way: the log opens, and is whole.
func TestDamagedIndexFilesAreRebuilt(t *testing.T) {
	t.Parallel()
	original := t.TempDir()
	writeOnDisk := func(dir string) {
		l, err := Open(Options{Dir: dir, verify: never})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	writeOnDisk(original)
	build := func() (string, []string) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(dir, indexFolder, "*"))
		if err != nil || len(names) < 4 {
			t.Fatal(names, err)
		}
		return dir, names
	}
	check := func(what, dir string) {
		t.Helper()
		l, err := Open(Options{Dir: dir, verify: never})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		_, err = l.Verify(t.Context()) // a table that is damaged is found when it is read
		if closeErr := l.Close(); closeErr != nil {
			t.Fatal(closeErr)
		}
		var doubt *IndexError
		if errors.As(err, &doubt) {
			if l, err = Open(Options{Dir: dir, verify: never}); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			_, err = l.Verify(t.Context())
			if closeErr := l.Close(); closeErr != nil {
				t.Fatal(closeErr)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, names := build()
	for i := range names {
		for _, damage := range []string{"removed", "emptied", "changed"} {
			dir, names := build()
			b, err := os.ReadFile(names[i])
			if err != nil {
				t.Fatal(err)
			}
			switch damage {
			case "removed":
				err = os.Remove(names[i])
			case "emptied":
				err = os.Truncate(names[i], 0)
			case "changed":
				for at := 0; at < len(b); at += 97 {
					b[at] ^= 0x55
				}
				err = os.WriteFile(names[i], b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			check(filepath.Base(names[i])+" "+damage, dir)
		}
	}
	dir, _ := build()
	if err := os.RemoveAll(filepath.Join(dir, indexFolder)); err != nil {
		t.Fatal(err)
	}
	check("all removed", dir)
	dir, _ = build()
	other := t.TempDir()
	writeOnDisk(other)
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, indexFolder)), os.Rename(filepath.Join(other, indexFolder), filepath.Join(dir, indexFolder))); err != nil {
		t.Fatal(err)
	}
	check("of another log", dir)
}

// A payload that was taken out of a record leaves positions, revisions and the chain as
// they were, for the node, the folder's verification and the script.
func TestRemovedPayloadKeepsTheChain(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	dir := onDisk(t, files)
	before, err := VerifyFolder(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := frames[3]
	b := files[f.file]
	header, reason := parseSegmentHeader(b)
	if reason != "" {
		t.Fatal(reason)
	}
	again := encodeSegmentHeader(scavengedFormat, header.id, header.base, header.link)
	for _, other := range frames {
		if other.file == f.file {
			frame := b[other.offset:other.end()]
			r, reason := parseFrame(header.seed, frame)
			if reason != "" {
				t.Fatal(reason)
			}
			again = appendAgain(again, binary.BigEndian.Uint32(again[segmentHeader-4:]), &r, frame, other == f)
		}
	}
	files[f.file] = again
	if err := os.WriteFile(filepath.Join(dir, f.file), files[f.file], 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := VerifyFolder(t.Context(), dir, &Anchor{LogID: before.LogID, Position: before.Records, Link: before.Chain})
	if err != nil || after.Redacted != 1 || after.Records != before.Records {
		t.Fatalf("%+v, %v", after, err)
	}
	l := openLog(t, Options{Dir: dir, files: filesWith(dir, files)})
	if report := verify(t, l); report.Redacted != 1 || report.Chain != before.Chain {
		t.Errorf("%+v, was %+v", report, before)
	}
	if r := all(t, l)[3]; !r.Redacted || len(r.Data) != 0 || r.Type != "noted" || r.Position != 4 {
		t.Errorf("got %+v", r)
	}
}

func readNoted(_ *Log, view *View) error {
	for next := uint64(0); next < 8; {
		page, err := view.ReadStream(context.Background(), "$et-noted", next, 7, false, Page{Records: 100, Bytes: 1 << 20})
		if err != nil || len(page) == 0 {
			return err
		}
		next = page[len(page)-1].Revision + 1
	}
	return nil
}
