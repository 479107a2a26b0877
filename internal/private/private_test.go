package private_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/internal/private"
)

var quiet = slog.New(slog.DiscardHandler)

func TestAnOpenFolderIsClosed(t *testing.T) {
	root := t.TempDir()
	folder, outside := filepath.Join(root, "data"), filepath.Join(root, "outside")
	must(t, os.MkdirAll(filepath.Join(folder, "keys"), 0o755), os.Chmod(folder, 0o777), os.Chmod(filepath.Join(folder, "keys"), 0o775),
		os.WriteFile(filepath.Join(folder, "keys", "a.pem"), nil, 0o644), os.WriteFile(outside, nil, 0o644), os.Chmod(outside, 0o644),
		os.Symlink(outside, filepath.Join(folder, "link")), os.WriteFile(filepath.Join(folder, "run"), nil, 0o755))
	for range 2 {
		if err := private.Tighten(folder, quiet); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && entry.Type()&os.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(folder, "run")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a program: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a file behind a link: %v, %v", info.Mode(), err)
	}
}

func TestAFolderOthersCouldReplaceIsRefused(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "a", "data")
	must(t, private.Make(folder, quiet), os.Chmod(above, 0o777))
	var refused *private.FolderError
	if err := private.Tighten(folder, quiet); !errors.As(err, &refused) || !strings.Contains(err.Error(), "chmod o-w "+above) {
		t.Errorf("%v", err)
	}
	must(t, os.Chmod(above, 0o777|os.ModeSticky)) // as /tmp is
	if err := private.Tighten(folder, quiet); err != nil {
		t.Errorf("%v", err)
	}
}

func TestAForeignFolderIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	folder := t.TempDir()
	must(t, os.Chown(folder, 65534, 65534))
	var refused *private.FolderError
	if err := private.Make(folder, quiet); !errors.As(err, &refused) || !strings.Contains(err.Error(), "65534") {
		t.Errorf("%v", err)
	}
	if err := private.Make("/dev/null", quiet); err == nil {
		t.Error("a device is a folder")
	}
}

func TestAFileIsMadePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	must(t, os.WriteFile(path, []byte("x"), 0o644), os.Chmod(path, 0o644), private.File(path))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 1 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
