package private_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reckon/internal/private"
	"reckon/test/need"
)

const stranger = 65534

var quiet = slog.New(slog.DiscardHandler)

// state is all that a change of modes or owners below a folder would change.
func state(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			fmt.Fprintln(&all, path, info.Mode(), info.Sys().(*syscall.Stat_t).Uid, info.Sys().(*syscall.Stat_t).Ctim)
		}
		return err
	}))
	return all.String()
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	var folder *private.FolderError
	if !errors.As(err, &folder) {
		t.Errorf("%v is no refusal", err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestAnEmptyFolderIsClosed(t *testing.T) {
	for _, mode := range []fs.FileMode{0o777, 0o755, 0o700, 0o775 | fs.ModeSetgid} {
		folder := filepath.Join(t.TempDir(), "data")
		must(t, os.Mkdir(folder, 0o700), os.Chmod(folder, mode))
		must(t, private.CheckFolder(folder), private.MakeFolder(folder, quiet), private.MakeFolder(folder, quiet))
		if info, err := os.Stat(folder); err != nil || info.Mode()&^fs.ModeDir != mode&^0o077 {
			t.Errorf("%v: %v, %v", mode, info.Mode(), err)
		}
	}
}

func TestWhatIsThereIsNeverChanged(t *testing.T) {
	for _, mode := range []fs.FileMode{0o755, 0o777, 0o710, 0o770 | fs.ModeSetgid, 0o777 | fs.ModeSticky} {
		root := t.TempDir()
		folder, outside := filepath.Join(root, "it's mine"), filepath.Join(root, "outside")
		must(t, os.MkdirAll(filepath.Join(folder, "sub"), 0o755), os.WriteFile(outside, nil, 0o644), os.Link(outside, filepath.Join(folder, "hard")),
			os.Symlink(outside, filepath.Join(folder, "soft")), os.WriteFile(filepath.Join(folder, "sub", "holiday.txt"), nil, 0o644),
			os.WriteFile(filepath.Join(folder, "suid"), nil, 0o755), os.Chmod(filepath.Join(folder, "suid"), 0o755|fs.ModeSetuid), os.Chmod(folder, mode))
		before := state(t, root)
		for _, f := range []func() error{func() error { return private.MakeFolder(folder, quiet) }, func() error { return private.CheckFolder(folder) }} {
			if err := f(); mode&fs.ModeSticky != 0 {
				refused(t, err, folder, "sticky")
			} else {
				refused(t, err, folder, fmt.Sprintf("%04o", mode.Perm()), `chmod go-rwx '`+root+`/it'\''s mine'`)
			}
		}
		if after := state(t, root); after != before {
			t.Errorf("before:\n%safter:\n%s", before, after)
		}
		must(t, os.Chmod(folder, 0o700)) // as the sentence says
		before = state(t, root)
		must(t, private.MakeFolder(folder, quiet))
		if after := state(t, root); after != before {
			t.Errorf("before:\n%safter:\n%s", before, after)
		}
	}
}

func TestFoldersForMoreThanAnInstallationAreRefused(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	must(t, os.Chmod(home, 0o700))
	refused(t, private.CheckFolder("/"), "machine") // Check changes nothing, whatever it says
	refused(t, private.CheckFolder(home), "home")
	refused(t, private.MakeFolder(home, quiet), "home")
	shared := filepath.Join(t.TempDir(), "shared")
	must(t, os.Mkdir(shared, 0o700), os.Chmod(shared, 0o777|fs.ModeSticky))
	refused(t, private.MakeFolder(shared, quiet), "sticky")
	file := filepath.Join(home, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	refused(t, private.MakeFolder(file, quiet), "no folder")
}

func TestAFolderOthersCouldReplaceIsRefused(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "a", "data")
	must(t, private.MakeFolder(folder, quiet))
	for _, mode := range []fs.FileMode{0o777, 0o757} {
		must(t, os.Chmod(above, mode))
		refused(t, private.MakeFolder(folder, quiet), "chmod go-w "+above)
		refused(t, private.MakeFolder(filepath.Join(above, "b", "data"), quiet), "chmod go-w "+above)
	}
	if _, err := os.Stat(filepath.Join(above, "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that was refused was made: %v", err)
	}
	must(t, os.Chmod(above, 0o777|fs.ModeSticky), private.MakeFolder(folder, quiet)) // as /tmp is
}

// A folder that its group may write is another user's where the group is not the user's own, by its number.
// TestPrograms: what others may read but not change is accepted, and nothing else.
func TestPrograms(t *testing.T) {
	if os.Geteuid() != 0 {
		need.Root(t)
	}
	folder := filepath.Join(t.TempDir(), "engine")
	if err := private.CheckPrograms(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	must(t, os.Mkdir(folder, 0o755), os.Chmod(folder, 0o755))
	must(t, private.CheckPrograms(folder))
	must(t, os.Chmod(folder, 0o777))
	refused(t, private.CheckPrograms(folder), "0777", "chmod go-w")
	must(t, os.Chmod(folder, 0o755), os.Chown(folder, stranger, stranger))
	refused(t, private.CheckPrograms(folder), "belongs to user 65534")
	below := filepath.Join(folder, "below")
	must(t, os.Mkdir(below, 0o755))
	refused(t, private.CheckPrograms(below), "lies below")
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	refused(t, private.CheckPrograms(file), "is no folder")
}

func TestAGroupsFolder(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "data")
	must(t, os.Chmod(above, 0o775))
	if info, err := os.Stat(above); err == nil && info.Sys().(*syscall.Stat_t).Gid == uint32(os.Geteuid()) {
		must(t, private.MakeFolder(folder, quiet))
	} else {
		refused(t, private.MakeFolder(folder, quiet), "chmod go-w "+above)
	}
	if os.Geteuid() == 0 {
		must(t, os.Chown(above, 0, 65534))
		refused(t, private.MakeFolder(folder, quiet), "chmod go-w "+above)
	}
}

func TestWhatIsAnotherUsersIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		need.Root(t)
	}
	root := t.TempDir()
	must(t, os.Chmod(root, 0o777|fs.ModeSticky))
	theirs, ours, link := filepath.Join(root, "theirs"), filepath.Join(root, "ours"), filepath.Join(root, "link")
	must(t, private.MakeFolder(filepath.Join(theirs, "sub"), quiet), private.MakeFolder(ours, quiet), os.Symlink("ours", link))
	must(t, private.MakeFolder(link, quiet), private.MakeFile(filepath.Join(link, "x.db"))) // our own link
	must(t, os.Lchown(theirs, stranger, stranger), os.Lchown(link, stranger, stranger), os.Chmod(theirs, 0o755))
	refused(t, private.MakeFolder(theirs, quiet), "65534")
	for _, path := range []string{filepath.Join(theirs, "sub"), filepath.Join(theirs, "sub", "new"), link, filepath.Join(link, "new")} {
		refused(t, private.MakeFolder(path, quiet), "65534")
		refused(t, private.MakeFile(filepath.Join(path, "x.db")), "65534")
	}
	refused(t, private.MakeFile(filepath.Join(theirs, "x.db")), "65534")

	for _, planted := range []string{"x.db-wal", "x.db-journal", "x.db"} {
		path := filepath.Join(ours, planted)
		must(t, os.WriteFile(path, nil, 0o600), os.Chown(path, stranger, stranger))
		refused(t, private.MakeFile(filepath.Join(ours, "x.db")), "65534", planted)
		must(t, os.Remove(path))
	}
}

func TestAFileIsPrivate(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "db")
	must(t, private.MakeFile(path))
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	must(t, os.Chmod(path, 0o640))
	before := state(t, folder)
	refused(t, private.MakeFile(path), "chmod go-rwx "+path)
	if after := state(t, folder); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
	must(t, os.Chmod(path, 0o600), private.MakeFile(path))
	for _, mode := range []fs.FileMode{0o777, 0o777 | fs.ModeSticky} {
		must(t, os.Chmod(folder, mode))
		refused(t, private.MakeFile(path), folder)
	}
}

func TestASecretIsReadOnlyWhereItIsOne(t *testing.T) {
	folder := t.TempDir()
	secret, open, long := filepath.Join(folder, "secret"), filepath.Join(folder, "open"), filepath.Join(folder, "long")
	must(t, os.WriteFile(secret, []byte("12345"), 0o600), os.WriteFile(open, []byte("12345"), 0o600), os.WriteFile(long, []byte("123456"), 0o600), os.Chmod(open, 0o640))
	if got, err := private.ReadFile(secret, 5); err != nil || string(got) != "12345" {
		t.Errorf("%q %v", got, err)
	}
	for path, words := range map[string]string{open: "chmod go-rwx", long: "longer than 5 bytes", folder: "is no file"} {
		got, err := private.ReadFile(path, 5)
		if got != nil {
			t.Errorf("%s: %q", path, got)
		}
		refused(t, err, words)
	}
	if _, err := private.ReadFile(filepath.Join(folder, "none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestATemporaryFolder(t *testing.T) {
	place := t.TempDir()
	t.Setenv("TMPDIR", place)
	must(t, os.Chmod(place, 0o777|fs.ModeSticky))
	folder, err := private.MakeTemporaryFolder("x-")
	if must(t, err); filepath.Dir(folder) != place {
		t.Errorf("%s", folder)
	}
	must(t, os.Chmod(place, 0o777))
	_, err = private.MakeTemporaryFolder("x-")
	refused(t, err, "TMPDIR", place)
	if os.Geteuid() == 0 {
		must(t, os.Chmod(place, 0o755), os.Chown(place, stranger, stranger))
		_, err = private.MakeTemporaryFolder("x-")
		refused(t, err, "TMPDIR", "65534")
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
