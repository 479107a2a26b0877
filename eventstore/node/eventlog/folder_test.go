package eventlog

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A head file that is older than the newest segment's end, as after a power failure, and an
// end that is missing: the index proves that more was acknowledged.
func TestIndexProvesALossAtTheEnd(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, appends int, o Options) {
		t.Helper()
		l, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for range appends {
			mustAppend(t, l, "s", Any(), event("x"))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"end missing", "end rewritten"} {
		t.Run(name, func(t *testing.T) {
			files, index := newFaultyFiles(), vfs.NewMem()
			o := inMemory(Options{Dir: t.TempDir(), files: files, indexFiles: index})
			write(t, 5, o)
			before := files.contents(o.Dir)
			write(t, 5, o)
			o.files = filesWith(o.Dir, before)
			if name == "end rewritten" { // other records at the positions of those that were lost
				o.indexFiles = vfs.NewMem()
				write(t, 5, o)
				o.indexFiles = index
			}
			refused := func(err error) {
				t.Helper()
				var damage *CorruptError
				if !errors.As(err, &damage) || damage.File == "" || damage.Position < 6 || !strings.Contains(err.Error(), "reindex --accept-end") || !strings.Contains(err.Error(), "lost") && !strings.Contains(err.Error(), "missing") {
					t.Fatalf("got %v", err)
				}
			}
			for range 2 { // a refusal changes nothing
				_, err := Open(o)
				refused(err)
			}
			// the folder's commands read the disk
			dir := onDisk(t, o.files.(*faultyFiles).contents(o.Dir))
			real := Options{Dir: dir, indexFiles: o.indexFiles, verify: never}
			if _, err := vfs.Clone(index, index, filepath.Join(o.Dir, indexFolder), filepath.Join(dir, indexFolder)); err != nil {
				t.Fatal(err)
			}
			report, err := Reindex(t.Context(), real, false)
			refused(err)
			if state, ok := readIndexState(dir, index); !ok || state.position != 11 {
				t.Errorf("the index reaches %d, %t", state.position, ok)
			}
			if report.Records < 6 {
				t.Errorf("%+v", report)
			}
			if _, err := Reindex(t.Context(), real, true); err != nil {
				t.Fatal(err)
			}
			write(t, 1, real)
		})
	}
}

// Verification, copies and scans see the same in a folder on the disk, and in one that a node
// has verification sees nothing wrong.
func TestVerifyLooksAtTheEndOfTheIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir, verify: never})
	if err != nil {
		t.Fatal(err)
	}
	path := (*l.segments.Load())[0].path
	var early []byte
	for i := range 9 {
		mustAppend(t, l, "s", Any(), event("x"))
		if i == 4 {
			if early, err = os.ReadFile(filepath.Join(dir, headFileName)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.index.Flush(); err != nil {
		t.Fatal(err)
	}
	cut := placeOf(t, l, 8)
	if report, err := VerifyFolder(t.Context(), dir, nil); err != nil || report.Records != 10 {
		t.Errorf("beside the node: %+v, %v", report, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyFolder(t.Context(), dir, nil); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.Truncate(path, cut.offset), os.WriteFile(filepath.Join(dir, headFileName), early, 0o600)); err != nil {
		t.Fatal(err)
	}
	var damage *CorruptError
	if report, err := VerifyFolder(t.Context(), dir, nil); !errors.As(err, &damage) || damage.Position != 8 || report.Records != 7 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := Open(Options{Dir: dir, verify: never}); !errors.As(err, &damage) || damage.Position != 8 {
		t.Errorf("start: %v", err)
	}
	// a backup or an export of such a log would be taken for a whole one
	if report, err := CopyFolder(t.Context(), dir, filepath.Join(t.TempDir(), "copy")); !errors.As(err, &damage) || damage.Position != 8 || report.Records != 7 {
		t.Errorf("copy: %+v, %v", report, err)
	}
	visited := func(*Linked) error {
		t.Error("a record was read of a log whose end is missing")
		return nil
	}
	if _, err := ScanFolder(t.Context(), dir, 0, func(FolderStart) error { return nil }, visited); !errors.As(err, &damage) || damage.Position != 8 {
		t.Errorf("scan: %v", err)
	}
}

// A folder that was left by a power failure is copied with what its head file does not name yet.
func TestCopyAfterAPowerFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := Open(Options{Dir: dir, verify: never})
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "s", Any(), event("x"))
	early, err := os.ReadFile(filepath.Join(dir, headFileName))
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "s", Any(), event("y"), event("z"))
	if held, err := isHeld(dir); err != nil || !held {
		t.Errorf("held: %t, %v", held, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, headFileName), early, 0o600); err != nil {
		t.Fatal(err)
	}
	if report, err := CopyFolder(t.Context(), dir, filepath.Join(t.TempDir(), "copy")); err != nil || report.Records != 4 {
		t.Errorf("%+v, %v", report, err)
	}
}

// What is damaged in its headers or names is right up to the damage, and every command says so.
func TestHowFarADamagedLogIsRight(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	var names []string
	bases := map[string]uint64{} // of the last record before each segment
	for _, f := range frames {
		if !slices.Contains(names, f.file) {
			names = append(names, f.file)
			bases[f.file] = f.position - 1
		}
	}
	last := frames[len(frames)-1].position
	beyond := filepath.Join(segmentFolder, segmentName(last+100))
	for name, c := range map[string]struct {
		change func(files map[string][]byte)
		right  uint64
	}{
		"an empty segment behind":    {func(f map[string][]byte) { f[filepath.Join(segmentFolder, segmentName(last))] = nil }, last},
		"a segment of zeros behind":  {func(f map[string][]byte) { f[filepath.Join(segmentFolder, segmentName(last))] = make([]byte, 500) }, last},
		"a foreign segment behind":   {func(f map[string][]byte) { f[beyond] = []byte("not a segment") }, last},
		"two segments exchanged":     {func(f map[string][]byte) { f[names[1]], f[names[2]] = f[names[2]], f[names[1]] }, bases[names[1]]},
		"a header changed":           {func(f map[string][]byte) { f[names[2]] = bytes.Clone(f[names[2]]); f[names[2]][30] ^= 1 }, bases[names[2]]},
		"a segment removed":          {func(f map[string][]byte) { delete(f, names[1]) }, bases[names[1]]},
		"the first segment removed":  {func(f map[string][]byte) { delete(f, names[0]) }, 0},
		"a record changed":           {func(f map[string][]byte) { b := bytes.Clone(f[names[0]]); b[frames[1].offset+50] ^= 1; f[names[0]] = b }, 1},
		"the end missing":            {func(f map[string][]byte) { f[names[2]] = f[names[2]][:frames[len(frames)-1].offset] }, last - 1},
		"HEAD removed":               {func(f map[string][]byte) { delete(f, headFileName) }, last},
		"HEAD changed":               {func(f map[string][]byte) { f[headFileName] = make([]byte, headFileBytes) }, last},
		"a record of a sealed one":   {func(f map[string][]byte) { b := bytes.Clone(f[names[1]]); b[len(b)-1] ^= 1; f[names[1]] = b }, bases[names[2]] - 1},
		"a sealed one cut at a gap":  {func(f map[string][]byte) { f[names[0]] = f[names[0]][:frames[2].offset] }, 2},
		"bytes behind a sealed one ": {func(f map[string][]byte) { f[names[0]] = append(bytes.Clone(f[names[0]]), 0) }, bases[names[1]]},
	} {
		t.Run(name, func(t *testing.T) {
			with := cloneFiles(files)
			c.change(with)
			dir, target := onDisk(t, with), filepath.Join(t.TempDir(), "copy")
			var damage *CorruptError
			report, err := VerifyFolder(t.Context(), dir, nil)
			if !errors.As(err, &damage) || report.Records != c.right {
				t.Errorf("verify: right up to %d, want %d: %v", report.Records, c.right, err)
			}
			report, err = CopyFolder(t.Context(), dir, target)
			if !errors.As(err, &damage) || report.Records != c.right || damage.Dir != dir {
				t.Errorf("copy: right up to %d, want %d: %v", report.Records, c.right, err)
			}
			if left, err := os.ReadDir(target); err == nil && len(left) > 0 {
				t.Errorf("the copy leaves %v", left)
			}
			report, err = Reindex(t.Context(), Options{Dir: dir}, false)
			if !errors.As(err, &damage) || report.Records != c.right {
				t.Errorf("reindex: right up to %d, want %d: %v", report.Records, c.right, err)
			}
		})
	}
}

// What lies behind the newest record is said.
func TestVerifySaysWhatLiesBehindTheEnd(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	name := frames[len(frames)-1].file
	for _, behind := range [][]byte{make([]byte, 700), files[name][frames[len(frames)-1].offset:], []byte("RKEV")} {
		with := cloneFiles(files)
		with[name] = slices.Concat(files[name], behind)
		report, err := VerifyFolder(t.Context(), onDisk(t, with), nil)
		if err != nil || report.Unfinished != int64(len(behind)) || report.Records != frames[len(frames)-1].position {
			t.Errorf("%+v, %v", report, err)
		}
	}
}

// A folder or a file in the place of the other is named with what to do about it; an index
// that is a file is built again.
func TestWrongKindsOfFiles(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	for name, change := range map[string]func(dir string) error{
		"HEAD is a folder": func(dir string) error {
			head := filepath.Join(dir, headFileName)
			return errors.Join(os.Remove(head), os.Mkdir(head, 0o700))
		},
		"a segment is a folder": func(dir string) error {
			return os.Mkdir(filepath.Join(dir, segmentFolder, segmentName(frames[len(frames)-1].position)), 0o700)
		},
		"segments is a file": func(dir string) error {
			folder := filepath.Join(dir, segmentFolder)
			return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600))
		},
	} {
		dir := onDisk(t, files)
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		_, verified := VerifyFolder(t.Context(), dir, nil)
		_, opened := Open(Options{Dir: dir, verify: never})
		for by, err := range map[string]error{"verify": verified, "open": opened} {
			var storage *StorageError
			if !errors.As(err, &storage) || !strings.Contains(err.Error(), "move it out of the folder") {
				t.Errorf("%s: %s: got %v", name, by, err)
			}
		}
	}
	dir := onDisk(t, files)
	if err := os.WriteFile(filepath.Join(dir, indexFolder), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Options{Dir: dir, verify: never})
	if err != nil {
		t.Fatal(err)
	}
	verify(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every refusal of the system has its own next step.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for errno, says := range map[error]string{
		syscall.ENOSPC: "free space", syscall.EDQUOT: "free space", syscall.EMFILE: "ulimit -n", syscall.EROFS: "read-only", syscall.EACCES: "user who runs the node", syscall.EIO: "check the disk", syscall.EISDIR: "move it",
	} {
		for _, err := range []error{&StorageError{Dir: "d", Operation: "write", Err: errno}, &StorageError{Dir: "d", Operation: "open", Err: errno, Opening: true}, &CopyError{Target: "d", Err: errno}} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%v: want %q", err, says)
			}
		}
	}
}

// A segment that was made under another name is named as it is called now.
func TestErrorsNameTheFileAsItIs(t *testing.T) {
	t.Parallel()
	f, err := writeNew(diskFiles{}, filepath.Join(t.TempDir(), "file"), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("y"), 0); err == nil || strings.Contains(err.Error(), draftSuffix) {
		t.Errorf("got %v", err)
	}
}

// A copy goes to no folder of the log; one that fails leaves nothing, and one that was killed
// is made again.
func TestCopiesThatFail(t *testing.T) {
	t.Parallel()
	files, frames := smallLog(t)
	dir := onDisk(t, files)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{filepath.Join(dir, "backup"), filepath.Join(dir, segmentFolder, "backup"), filepath.Join(link, "backup", "of", "today"), dir} {
		var inside *InsideError
		if _, err := CopyFolder(t.Context(), dir, target); !errors.As(err, &inside) {
			t.Errorf("%s: got %v", target, err)
		}
	}
	// the second segment cannot be read
	damaged := cloneFiles(files)
	damaged[frames[len(frames)-1].file] = damaged[frames[len(frames)-1].file][:segmentHeader+3]
	target := filepath.Join(t.TempDir(), "copy")
	if _, err := CopyFolder(t.Context(), onDisk(t, damaged), target); err == nil {
		t.Error("a damaged log was copied")
	}
	// one that was killed
	if err := errors.Join(os.MkdirAll(filepath.Join(target, segmentFolder), 0o700), os.WriteFile(filepath.Join(target, copyingName), nil, 0o600),
		os.WriteFile(filepath.Join(target, segmentFolder, segmentName(0)), files[frames[0].file][:200], 0o600)); err != nil {
		t.Fatal(err)
	}
	var format *FormatError
	if _, err := Open(Options{Dir: target}); !errors.As(err, &format) || !strings.Contains(err.Error(), "again to the same folder") {
		t.Errorf("open: got %v", err)
	}
	if _, err := VerifyFolder(t.Context(), target, nil); !errors.As(err, &format) {
		t.Errorf("verify: got %v", err)
	}
	report, err := CopyFolder(t.Context(), dir, target)
	if err != nil || report.Records != frames[len(frames)-1].position {
		t.Fatalf("%+v, %v", report, err)
	}
	var full *NotEmptyError
	if _, err := CopyFolder(t.Context(), dir, target); !errors.As(err, &full) {
		t.Errorf("a second copy: got %v", err)
	}
	// the target cannot be written
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *CopyError
	if _, err := CopyFolder(t.Context(), dir, filepath.Join(blocked, "copy")); !errors.As(err, &refused) {
		t.Errorf("below a file: got %v", err)
	}
}

// A disk that is full while the index is built again is the one thing that is said, and the
// next start builds the index.
func TestReindexOnAFullDisk(t *testing.T) {
	t.Parallel()
	for after := range 40 {
		disk := &fullDisk{FS: vfs.NewMem()}
		files, frames := smallLog(t)
		o := Options{Dir: onDisk(t, files), indexFiles: disk}
		disk.fullAfter(after)
		_, err := Reindex(t.Context(), o, false)
		ended := disk.full.Load()
		disk.room()
		if !ended {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		var storage *StorageError
		var doubt *IndexError
		if !errors.As(err, &storage) || !storage.Full() || errors.As(err, &doubt) {
			t.Fatalf("write %d: got %v", after, err)
		}
		said := &lines{}
		l, err := Open(Options{Dir: o.Dir, indexFiles: disk, verify: never, Logger: slog.New(said)})
		if err != nil {
			t.Fatalf("write %d: %v", after, err)
		}
		if report := verify(t, l); report.Records != frames[len(frames)-1].position || said.count() > 0 {
			t.Errorf("write %d: %+v, %q", after, report, said.text)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
