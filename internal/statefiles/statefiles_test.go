package statefiles_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"reckon/internal/statefiles"
)

const (
	alice = "0198a1b2-0000-7000-8000-00000000000a"
	bob   = "0198a1b2-0000-7000-8000-00000000000b"

	head = statefiles.HeadBytes
)

// shelf is a folder with a clock of its own.
type shelf struct {
	t      *testing.T
	root   string
	folder *statefiles.Folder
	now    time.Time
	jobs   int
}

func newShelf(t *testing.T, limits statefiles.Limits) *shelf {
	t.Helper()
	s := &shelf{t: t, root: filepath.Join(t.TempDir(), "states"), now: time.Now()}
	var err error
	if s.folder, err = statefiles.Open(s.root, limits, func() time.Time { return s.now }, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return s
}

// stored is a file that was kept.
type stored struct{ account, job, sha string }

// keep stores a file of so many bytes after its head, a second older than the next one.
func (s *shelf) keep(account string, size int) stored {
	s.t.Helper()
	size += head
	s.jobs++
	f := stored{account: account, job: fmt.Sprintf("7c9e6679-7425-50de-944b-%012d", s.jobs)}
	w, err := s.folder.Create(account, f.job, int64(size))
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Discard()
	content := bytes.Repeat([]byte{byte(s.jobs)}, size)
	if _, err := w.Write(content[:size/2]); err != nil {
		s.t.Fatal(err)
	}
	if _, err := w.Write(content[size/2:]); err != nil {
		s.t.Fatal(err)
	}
	if f.sha, err = w.Keep(); err != nil {
		s.t.Fatal(err)
	}
	if sum := sha256.Sum256(content); f.sha != hex.EncodeToString(sum[:]) {
		s.t.Errorf("kept under %s", f.sha)
	}
	at := s.now.Add(time.Duration(s.jobs-1000) * time.Second)
	if err := os.Chtimes(filepath.Join(s.root, account, f.job+"."+f.sha), at, at); err != nil {
		s.t.Fatal(err)
	}
	return f
}

func (s *shelf) has(f stored) bool {
	s.t.Helper()
	file, _, err := s.folder.Read(f.account, f.job, f.sha)
	if errors.Is(err, statefiles.ErrForgotten) {
		return false
	}
	if err != nil {
		s.t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	sum := sha256.Sum256(content)
	if err = errors.Join(err, file.Close()); err != nil || hex.EncodeToString(sum[:]) != f.sha {
		s.t.Errorf("%v: other bytes, %v", f, err)
	}
	return true
}

// TestOldestOfAnAccountGoFirst: an account has its bound to itself; it never costs another's files.
func TestOldestOfAnAccountGoFirst(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 100, TotalBytes: 1000})
	first, second, others := s.keep(alice, 60), s.keep(alice, 40), s.keep(bob, 100)
	third := s.keep(alice, 50)
	if s.has(first) || !s.has(second) || !s.has(third) || !s.has(others) {
		t.Error("not the oldest of the account was forgotten")
	}
	if _, err := s.folder.Create(alice, first.job, head+101); !errors.Is(err, statefiles.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// TestHeadsDoNotCount: two states of half the bound are kept, and one of all of it; a byte more is too much.
func TestHeadsDoNotCount(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 1 << 10, TotalBytes: 2 << 10})
	first, second, his := s.keep(alice, 1<<9), s.keep(alice, 1<<9), s.keep(bob, 1<<10)
	if !s.has(first) || !s.has(second) || !s.has(his) {
		t.Error("states that fill the bounds are not kept")
	}
	if small := s.keep(alice, 1); s.has(first) || !s.has(second) || !s.has(small) || !s.has(his) {
		t.Error("a byte more does not cost her first file, and only it")
	}
	if _, err := s.folder.Create(bob, his.job, s.folder.Largest()+1); !errors.Is(err, statefiles.ErrTooLarge) || s.folder.Largest() != head+1<<10 {
		t.Errorf("%v, %d", err, s.folder.Largest())
	}
}

// TestWhoHasMostLosesFirst: the bound on all files costs the account that has most.
func TestWhoHasMostLosesFirst(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 100, TotalBytes: 150})
	small, one, two := s.keep(bob, 30), s.keep(alice, 50), s.keep(alice, 50)
	more := s.keep(bob, 40)
	if !s.has(small) || s.has(one) || !s.has(two) || !s.has(more) {
		t.Error("the account with few files lost one")
	}
}

// TestFilesAreForgottenWithAge: at once for whoever asks, and on disk by the next sweep.
func TestFilesAreForgottenWithAge(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: 2 * time.Hour, AccountBytes: 100, TotalBytes: 1000})
	old := s.keep(alice, 10)
	s.now = s.now.Add(2 * time.Hour)
	if s.has(old) {
		t.Error("a file past its age was answered")
	}
	s.keep(bob, 10)
	if entries, err := os.ReadDir(filepath.Join(s.root, alice)); !errors.Is(err, os.ErrNotExist) && len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestWhatIsWrittenTakesItsRoom: files that are being written count whole, are never forgotten for others, and several at a time
// stay within the bounds.
func TestWhatIsWrittenTakesItsRoom(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 100, TotalBytes: 100})
	before := s.keep(alice, 50)
	w, err := s.folder.Create(bob, before.job, head+80)
	if err != nil || s.has(before) {
		t.Fatal(err, "the room was not made")
	}
	if _, err := s.folder.Create(alice, before.job, head+30); err == nil {
		t.Error("110 bytes of 100 are being written")
	}
	if _, err := w.Write(make([]byte, head+81)); err == nil {
		t.Error("a file grew past what it was to have")
	}
	if _, err := w.Keep(); err == nil {
		t.Error("a file that is not whole was kept")
	}
	w.Discard()
	s.has(s.keep(alice, 100))

	var together sync.WaitGroup
	for i := range 8 {
		together.Go(func() {
			if w, err := s.folder.Create([]string{alice, bob}[i%2], fmt.Sprintf("7c9e6679-7425-50de-944b-1000000000%02d", i), head+30); err == nil {
				_, _ = w.Write(make([]byte, head+30))
				_, _ = w.Keep()
			}
		})
	}
	together.Wait()
	var total int64
	paths, _ := filepath.Glob(filepath.Join(s.root, "*", "*"))
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size() - head
	}
	if total > 100 || total < 30 || slices.ContainsFunc(paths, func(p string) bool { return filepath.Base(p)[0] == '.' }) {
		t.Errorf("%d bytes in %v", total, paths)
	}
}

// TestNamesAreIDs: nothing outside the folder is reached.
func TestNamesAreIDs(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 100, TotalBytes: 100})
	f := s.keep(alice, 10)
	for _, wrong := range []stored{{"../" + alice, f.job, f.sha}, {alice, "../../x", f.sha}, {alice, f.job, "../" + f.sha}, {bob, f.job, f.sha}} {
		if s.has(wrong) {
			t.Errorf("%v was found", wrong)
		}
	}
	for _, wrong := range [][2]string{{"../" + alice, f.job}, {alice, "../../x"}, {"", f.job}} {
		if _, err := s.folder.Create(wrong[0], wrong[1], 1); err == nil {
			t.Errorf("%v was created", wrong)
		}
	}
}

// TestForget removes an account's files and no other's, and none comes after it: not one that is being written then, and no new one.
func TestForget(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: 100 * time.Hour, AccountBytes: 100, TotalBytes: 1000})
	hers, other, his := s.keep(alice, 10), s.keep(alice, 10), s.keep(bob, 10)
	w, err := s.folder.Create(alice, hers.job, head+20)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.folder.Forget(alice); err != nil {
			t.Fatal(err)
		}
	}
	if s.has(hers) || s.has(other) || !s.has(his) {
		t.Error("a file of hers is there, or his is not")
	}
	if _, err := w.Write(make([]byte, head+20)); err != nil {
		t.Fatal(err)
	}
	if sha, err := w.Keep(); err == nil || s.has(stored{alice, hers.job, sha}) {
		t.Error("what was being written is kept")
	}
	w.Discard()
	for range 2 {
		if _, err := s.folder.Create(alice, hers.job, head+1); !errors.Is(err, statefiles.ErrClosed) {
			t.Errorf("%v", err)
		}
		s.now = s.now.Add(11 * time.Hour)
		s.has(s.keep(bob, 1)) // which sweeps
	}
	path := filepath.Join(s.root, alice)
	if info, err := os.Lstat(path); err != nil || info.Size() > 0 {
		t.Errorf("%v, %v", info, err)
	}
	s.now = s.now.Add(3 * time.Hour)
	s.keep(bob, 1)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("what stands for a closed account stays for ever", err)
	}
	for _, wrong := range []string{"", "..", "../" + bob} {
		if err := s.folder.Forget(wrong); err == nil || !s.has(his) {
			t.Errorf("%q was forgotten", wrong)
		}
	}
}

// TestReasonsNameNoFile: what a user reads of a failure has nothing of this machine's.
func TestReasonsNameNoFile(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 100, TotalBytes: 100})
	_, tooLarge := s.folder.Create(alice, s.keep(alice, 1).job, head+101)
	w, err := s.folder.Create(alice, s.keep(alice, 1).job, head+80)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	_, noRoom := s.folder.Create(bob, s.keep(alice, 1).job, head+80)
	for err, want := range map[error]string{
		tooLarge: statefiles.ErrTooLarge.Error(), statefiles.ErrClosed: "the account is closed", noRoom: statefiles.ErrNoRoom.Error(),
		&os.PathError{Op: "write", Path: s.root, Err: unix.ENOSPC}: "its disk is full", &os.PathError{Op: "write", Path: s.root, Err: unix.EDQUOT}: "its disk is full", &os.PathError{Op: "sync", Path: s.root, Err: unix.EIO}: "its disk failed",
	} {
		if got := statefiles.Reason(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// TestFilesBeyondALoweredBoundAreNoFailure: what is being written cannot be forgotten, and a sweep that finds too much of it goes on.
func TestFilesBeyondALoweredBoundAreNoFailure(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 100, TotalBytes: 100})
	w, err := s.folder.Create(alice, s.keep(bob, 1).job, head+80)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	lowered, err := statefiles.Open(s.root, statefiles.Limits{Age: time.Hour, AccountBytes: 10, TotalBytes: 10}, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := lowered.Run(ended); err != nil {
		t.Error(err)
	}
}

// TestWhatADeadProcessWroteTakesNoRoom: its file is as long as it was to be, and goes when anybody needs room; one that is still being written stays.
func TestWhatADeadProcessWroteTakesNoRoom(t *testing.T) {
	s := newShelf(t, statefiles.Limits{Age: time.Hour, AccountBytes: 100, TotalBytes: 200})
	before := s.keep(alice, 10)
	left := filepath.Join(s.root, alice, ".incoming-1")
	if err := os.WriteFile(left, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := s.folder.Create(alice, before.job, head+80)
	if err != nil || !s.has(before) {
		t.Fatal("no room, or another file was forgotten for it", err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file is still there", err)
	}
	s.keep(bob, 100)
	if _, err := w.Write(make([]byte, head+80)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Keep(); err != nil {
		t.Error("what was being written is gone", err)
	}
}
