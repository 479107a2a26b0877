package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
)

func setMetadata(t testing.TB, l *Log, stream, json string) {
	t.Helper()
	mustAppend(t, l, MetaStream(stream), Any(), Proposed{ID: uuid.New(), Type: MetadataType, JSON: true, Data: []byte(json)})
}

// fillForScavenge writes streams of which a scavenge takes payloads that begin with "gone", and
// leaves those that begin with "kept".
func fillForScavenge(t testing.TB, l *Log) {
	t.Helper()
	setMetadata(t, l, "counted", `{"$maxCount":2}`)
	for i := range 12 {
		mustAppend(t, l, "counted", Any(), event(fmt.Sprintf("gone-counted-%d.", i)))
		mustAppend(t, l, "cut", Any(), event(fmt.Sprintf("gone-cut-%d.", i)))
		deleted := event(fmt.Sprintf("gone-deleted-%d.", i))
		deleted.Metadata = []byte(`{"$correlationId":"c"}`) // for the index stream of the id, which must stay as it is
		mustAppend(t, l, "deleted", Any(), deleted)
		mustAppend(t, l, "ended", Any(), event(fmt.Sprintf("gone-ended-%d.", i)))
		whole := event(fmt.Sprintf("kept-whole-%d.", i))
		whole.Metadata = []byte(`{"$correlationId":"c"}`)
		mustAppend(t, l, "whole", Any(), whole)
	}
	setMetadata(t, l, "cut", `{"$tb":1,"note":"gone-metadata"}`)
	setMetadata(t, l, "cut", `{"$tb":12,"note":"kept-metadata"}`)
	for range 2 {
		mustAppend(t, l, "counted", Any(), event("kept-counted."))
		mustAppend(t, l, "cut", Any(), event("kept-cut."))
	}
	if _, err := l.Delete(t.Context(), "deleted", Any()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Tombstone(t.Context(), "ended", Any()); err != nil {
		t.Fatal(err)
	}
	for range 12 { // so that all of it is in sealed segments
		mustAppend(t, l, "behind", Any(), event("kept-behind."+strings.Repeat("-", 200)))
	}
}

// goneAndKept counts the payloads in the files.
func goneAndKept(contents map[string][]byte) (gone, kept int) {
	for _, b := range contents {
		gone += bytes.Count(b, []byte("gone-"))
		kept += bytes.Count(b, []byte("kept-"))
	}
	return gone, kept
}

// shown is what reads of all streams and of $all show, as text.
func shown(t testing.TB, l *Log) string {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	var out strings.Builder
	for _, name := range []string{"counted", "cut", "deleted", "ended", "whole", "behind", "$$cut", "$$deleted", IdentityStream} {
		info, err := view.Stream(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s: last %d, exists %t, tombstoned %t\n", name, info.Last, info.Exists(), info.Tombstoned)
		if !info.Exists() || info.Tombstoned || info.First > uint64(info.Last) {
			continue
		}
		for _, backwards := range []bool{false, true} {
			records, err := view.ReadStream(t.Context(), name, info.First, uint64(info.Last), backwards, Page{Records: 1000, Bytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			for i := range records {
				fmt.Fprintf(&out, "%d %s %q %q %d\n", records[i].Position, records[i].ID, records[i].Metadata, records[i].Data, records[i].CreatedTicks)
			}
		}
	}
	return out.String()
}

// correlated reads the index stream of a correlation id, two links at a time.
func correlated(t testing.TB, l *Log) (links []string) {
	t.Helper()
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	info, err := view.Stream("$bc-c")
	if err != nil {
		t.Fatal(err)
	}
	for next := uint64(0); ; {
		page, err := view.ReadStream(t.Context(), "$bc-c", next, uint64(info.Last), false, Page{Records: 2, Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return links
		}
		for _, r := range page {
			links = append(links, fmt.Sprintf("%d:%s", r.Revision, r.Data))
			next = r.Revision + 1
		}
	}
}

// What is hidden goes from the files, what is shown stays byte for byte, an anchor made before
// verifies after, and the log is backed up, restored, built again and read by the script.
func TestScavenge(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), newFaultyFiles()
	l := openLog(t, Options{Dir: dir, files: files, segmentBytes: 3000})
	fillForScavenge(t, l)
	before, read, records := verify(t, l), shown(t, l), all(t, l)
	gone, kept := goneAndKept(files.contents(dir))
	if gone != 49 || kept < 20 {
		t.Fatalf("%d payloads to go, %d to stay", gone, kept)
	}
	var steps []ScavengeReport
	report, err := l.Scavenge(t.Context(), func(r ScavengeReport) { steps = append(steps, r) })
	if err != nil || len(steps) != len(*l.segments.Load())-1 || steps[len(steps)-1] != report || report.Freed < 49*16 {
		t.Fatalf("%+v, %v", report, err)
	}
	if stillGone, stillKept := goneAndKept(files.contents(dir)); stillGone != 0 || stillKept != kept {
		t.Errorf("%d payloads were left, %d of %d stayed", stillGone, stillKept, kept)
	}
	if now := shown(t, l); now != read {
		t.Errorf("reads show\n%s\nand showed\n%s", now, read)
	}
	after := verify(t, l)
	if after.Chain != before.Chain || after.Records != before.Records || after.Redacted != report.Removed || before.Bytes-after.Bytes != report.Freed {
		t.Errorf("%+v became %+v, %+v", before, after, report)
	}
	for i, r := range all(t, l) {
		was := records[i]
		if r.Redacted {
			was.Redacted, was.Data, was.Metadata = true, nil, nil
		}
		if !sameRecord(&r, &was) {
			t.Errorf("position %d changed", i+1)
		}
	}
	if again, err := l.Scavenge(t.Context(), nil); err != nil || again.Removed != 0 || again.Rewritten != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	mustAppend(t, l, "whole", Revision(11), event("kept-after"))

	onTheDisk := onDisk(t, files.contents(dir))
	anchor := &Anchor{LogID: before.LogID, Position: before.Records, Link: before.Chain}
	if verified, err := VerifyFolder(t.Context(), onTheDisk, anchor); err != nil || verified.Redacted != report.Removed {
		t.Fatalf("%+v, %v", verified, err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if _, err := CopyFolder(t.Context(), onTheDisk, copied); err != nil {
		t.Fatal(err)
	}
	if reindexed, err := Reindex(t.Context(), Options{Dir: copied}, false); err != nil || reindexed.Redacted != report.Removed {
		t.Fatalf("%+v, %v", reindexed, err)
	}
	rebuilt := openLog(t, Options{Dir: copied, files: diskFiles{}, indexFiles: vfs.Default})
	if now, then := correlated(t, l), correlated(t, rebuilt); len(now) != 12 || !slices.Equal(now, then) {
		t.Errorf("the correlation id has the links %q, and in a new index %q", now, then)
	}
	if python, err := exec.LookPath("python3"); err == nil {
		if said, err := exec.CommandContext(t.Context(), python, filepath.Join("..", "..", "..", "docs", "verify_log.py"), copied).CombinedOutput(); err != nil {
			t.Errorf("the script: %v: %s", err, said)
		}
	}
}

// Metadata that makes visible again what was scavenged shows what is left.
func TestScavengedEventsDoNotComeBack(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{segmentBytes: 1500})
	setMetadata(t, l, "s", `{"$maxCount":3}`)
	for i := range 40 {
		mustAppend(t, l, "s", Any(), event(fmt.Sprint(i)))
	}
	if _, err := l.Scavenge(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	setMetadata(t, l, "s", `{}`)
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	info, err := view.Stream("s")
	base := (*l.segments.Load()).tail().base
	if err != nil || info.First == 0 || info.First > 37 || info.Last != 39 {
		t.Fatalf("%+v, %v; the newest segment begins after %d", info, err, base)
	}
	for _, backwards := range []bool{false, true} {
		records, err := view.ReadStream(t.Context(), "s", 0, 39, backwards, Page{Records: 100, Bytes: 1 << 20})
		if err != nil || len(records) != 40-int(info.First) {
			t.Errorf("%d records, %v; the first is %d", len(records), err, info.First)
		}
		for _, r := range records {
			if r.Redacted || string(r.Data) != fmt.Sprint(r.Revision) {
				t.Errorf("got %+v", r)
			}
		}
	}
	if _, found, err := view.Event("s", info.First-1); found || err != nil {
		t.Errorf("a link shows a scavenged event: %v", err)
	}
	// an append that is repeated is recognised by the ids, which stay
	if _, err := l.Append(t.Context(), "s", NoStream(), []Proposed{event("x")}); err == nil {
		t.Error("the stream begins anew")
	}
}

// Every call of the file system is refused in turn while the log is scavenged, and the power
// fails before it: nothing but payloads is lost, appends go on, and the next scavenge ends it.
func TestScavengeThatIsInterrupted(t *testing.T) {
	t.Parallel()
	dir, original := t.TempDir(), newFaultyFiles()
	options := func(files *faultyFiles, index vfs.FS) Options {
		return inMemory(Options{Dir: dir, files: files, indexFiles: index, segmentBytes: 3000})
	}
	l, err := Open(options(original, nil))
	if err != nil {
		t.Fatal(err)
	}
	fillForScavenge(t, l)
	before, read := verify(t, l), shown(t, l)
	_, kept := goneAndKept(original.contents(dir))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole := original.contents(dir)
	for _, refusal := range []error{errFull, errDisk, errPowerFailed} {
		for call, more := 1, true; more; call++ {
			for round := range uint64(3) {
				random := rand.New(rand.NewPCG(uint64(call), round))
				files, index := filesWith(dir, whole), vfs.NewMem()
				l, err := Open(options(files, index))
				if err != nil {
					t.Fatal(err)
				}
				files.mu.Lock()
				first := files.calls
				crashed := files
				files.refuse = refuseFrom(first+call, false, refusal)
				files.mu.Unlock()
				_, err = l.Scavenge(t.Context(), nil)
				var refused *ScavengeError
				if !errors.Is(refusal, errPowerFailed) && err != nil && !errors.As(err, &refused) {
					t.Fatalf("call %d: got %v", call, err)
				}
				files.mu.Lock()
				calls := files.calls - first
				files.refuse = nil
				files.mu.Unlock()
				if errors.Is(refusal, errPowerFailed) || round > 0 {
					crashed = files.powerFailure(random)
				} else if err != nil {
					if now := shown(t, l); now != read {
						t.Fatalf("call %d: reads show\n%s", call, now)
					}
					mustAppend(t, l, "more", Any(), event("more"))
				}
				if round == 1 {
					index = vfs.NewMem()
				}
				if closed := l.Close(); closed != nil {
					t.Fatalf("call %d: close: %v", call, closed)
				}
				if l, err = Open(options(crashed, index)); err != nil {
					t.Fatalf("call %d: %v", call, err)
				}
				if after := verify(t, l); after.Records < before.Records || after.Chain != before.Chain && after.Records == before.Records || shown(t, l) != read {
					t.Fatalf("call %d: %+v became %+v", call, before, after)
				}
				if _, err := l.Scavenge(t.Context(), nil); err != nil {
					t.Fatalf("call %d: %v", call, err)
				}
				contents := crashed.contents(dir)
				if left, stayed := goneAndKept(contents); left != 0 || stayed != kept || shown(t, l) != read {
					t.Fatalf("call %d: %d payloads are left, %d of %d stayed", call, left, stayed, kept)
				}
				for name := range contents {
					if strings.HasSuffix(name, draftSuffix) {
						t.Errorf("call %d: %s is left", call, name)
					}
				}
				verify(t, l)
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				more = calls >= call
			}
		}
	}
}

// Readers, writers and verifications go on while the log is scavenged, again and again.
func TestScavengeBesideReadersAndWriters(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{Dir: t.TempDir(), segmentBytes: 20_000, files: diskFiles{}})
	setMetadata(t, l, "s", `{"$maxCount":5}`)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	appended := make(chan struct{}, 1<<20)
	others.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := l.Append(t.Context(), "s", Any(), []Proposed{event(strings.Repeat(fmt.Sprint(i%10), 400))}); err != nil {
				t.Error(err)
				return
			}
			appended <- struct{}{}
		}
	})
	others.Go(func() {
		for ctx.Err() == nil {
			if _, err := l.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				view, err := l.View()
				if err != nil {
					t.Error(err)
					return
				}
				info, err := view.Stream("s")
				if err == nil && info.Exists() {
					var records []Record
					records, err = view.ReadStream(t.Context(), "s", 0, uint64(info.Last), false, Page{Records: 64, Bytes: 1 << 20})
					for i := range records {
						if r := &records[i]; r.Redacted || len(r.Data) != 400 {
							t.Errorf("got %+v", r)
						}
					}
				}
				if err == nil {
					_, err = view.ReadAll(t.Context(), view.Head()/3, false, Page{Records: 64, Bytes: 1 << 20})
				}
				if err != nil {
					t.Error(err)
				}
				view.Close()
			}
		})
	}
	removed := uint64(0)
	for rounds := 0; rounds < 6 && !t.Failed(); {
		for range 100 {
			<-appended
		}
		report, err := l.Scavenge(t.Context(), nil)
		if err != nil {
			t.Error(err)
		}
		if removed += report.Removed; report.Removed > 0 {
			rounds++
		}
	}
	cancel()
	others.Wait()
	if report := verify(t, l); report.Redacted != removed {
		t.Errorf("%+v, removed %d", report, removed)
	}
}

// A scavenged segment with many landmarks is read at any place, forwards and backwards.
func TestReadsOfAScavengedSegment(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{segmentBytes: 10 * landmarkBytes})
	random := rand.New(rand.NewPCG(3, 4))
	setMetadata(t, l, "a", `{"$maxCount":1}`)
	for len(*l.segments.Load()) < 3 {
		events := make([]Proposed, 20)
		for i := range events {
			events[i] = event(strings.Repeat("x", random.IntN(900)))
		}
		mustAppend(t, l, []string{"a", "b"}[random.IntN(2)], Any(), events...)
	}
	want := all(t, l)
	if _, err := l.Scavenge(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	view, err := l.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	removed := 0
	for i := range want {
		records, err := view.ReadAll(t.Context(), uint64(i+1), false, Page{Records: 1 + random.IntN(40), Bytes: 1 << 20})
		if err != nil || len(records) == 0 {
			t.Fatal(records, err)
		}
		for j, r := range records {
			was := want[i+j]
			if r.Redacted {
				removed++
				was.Redacted, was.Data, was.Metadata = true, nil, nil
			}
			if !sameRecord(&r, &was) {
				t.Fatalf("position %d: got %+v, want %+v", i+1+j, r, was)
			}
		}
	}
	if known, err := landmarksOf((*l.segments.Load())[0]); err != nil || len(known) < 5 || removed < 100 {
		t.Errorf("%d landmarks, %v; %d reads of removed payloads", len(known), err, removed)
	}
}

func landmarksOf(s *segment) (known []landmark, err error) {
	err = s.use(once, func(o opened) error {
		known, err = o.landmarks()
		return err
	})
	return known, err
}

// Every byte of a scavenged log is changed in turn, and both readers name the place.
func TestDamageOfAScavengedSegment(t *testing.T) {
	t.Parallel()
	dir, disk := t.TempDir(), newFaultyFiles()
	l, err := Open(inMemory(Options{Dir: dir, files: disk, segmentBytes: 1200}))
	if err != nil {
		t.Fatal(err)
	}
	setMetadata(t, l, "s", `{"$maxCount":1}`)
	for range 6 {
		mustAppend(t, l, "s", Any(), event("x"))
	}
	if report, err := l.Scavenge(t.Context(), nil); err != nil || report.Removed < 3 {
		t.Fatalf("%+v, %v", report, err)
	}
	name := (*l.segments.Load())[0].name()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files := disk.contents(dir)
	folder := onDisk(t, files)
	for at := range files[name] {
		changed := cloneFiles(files)
		changed[name] = bytes.Clone(files[name])
		changed[name][at] ^= 1 << (at % 8)
		if err := os.WriteFile(filepath.Join(folder, name), changed[name], 0o600); err != nil {
			t.Fatal(err)
		}
		byNode, byFolder := findDamage(t, folder, changed)
		for reader, err := range map[string]error{"node": byNode, "folder": byFolder} {
			var damage *CorruptError
			if !errors.As(err, &damage) || damage.File != name {
				t.Fatalf("%s: byte %d: got %v", reader, at, err)
			}
		}
	}
}

// A backup of a log whose newest segment is a scavenged one, as after a loss that was given
// up, begins another segment and goes on.
func TestScavengedNewestSegment(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), newFaultyFiles()
	l, err := Open(inMemory(Options{Dir: dir, files: files, segmentBytes: 3000}))
	if err != nil {
		t.Fatal(err)
	}
	fillForScavenge(t, l)
	if _, err := l.Scavenge(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	segments := slices.Clone(*l.segments.Load())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	contents := files.contents(dir)
	for i := 2; i < len(segments); i++ {
		delete(contents, segments[i].name())
	}
	if !segments[1].current().scavenged {
		t.Fatal("the second segment was not scavenged")
	}
	folder := onDisk(t, contents)
	if _, err := Reindex(t.Context(), Options{Dir: folder}, true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l, err := Open(Options{Dir: folder, verify: never})
		if err != nil {
			t.Fatal(err)
		}
		result := mustAppend(t, l, "whole", Any(), event("more"))
		if report := verify(t, l); report.Records != result.Position {
			t.Errorf("%+v", report)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A scavenge stops when it is told to, is alone, and says when the disk has no room.
func TestScavengeLimits(t *testing.T) {
	t.Parallel()
	l := openLog(t, Options{segmentBytes: 3000})
	fillForScavenge(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Scavenge(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_, err := l.Scavenge(t.Context(), func(ScavengeReport) {
		if _, err := l.Scavenge(t.Context(), nil); !errors.Is(err, ErrScavenging) {
			t.Errorf("a second one: %v", err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	l = openLog(t, Options{segmentBytes: 3000, files: noRoom{newFaultyFiles()}})
	fillForScavenge(t, l)
	var room *NoRoomError
	if _, err := l.Scavenge(t.Context(), nil); !errors.As(err, &room) || room.Has != 7 {
		t.Errorf("got %v", err)
	}
	mustAppend(t, l, "s", Any(), event("x"))
}

type noRoom struct{ *faultyFiles }

func (noRoom) free(string) (int64, error) { return 7, nil }
