// Package private keeps an installation's files to the user it runs as.
//
// It promises that a folder it has accepted can be entered, and its files read or
// replaced, by its owner only, and that what it cannot make so is refused with a
// sentence that says what to do. It never follows a link out of a folder.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// Process makes everything this process and its children create readable and
// writable by its user only, whatever mode they ask for.
func Process() { syscall.Umask(0o077) }

// FolderError says why a folder cannot hold what must stay private.
type FolderError struct{ Path, Why string }

func (e *FolderError) Error() string { return fmt.Sprintf("the folder %s %s", e.Path, e.Why) }

const (
	others       = 0o077
	worldWritten = 0o002
)

// Make makes a folder and those above it where they are missing, and is Tighten then.
func Make(path string, logger *slog.Logger) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return Tighten(path, logger)
}

// Tighten takes from everybody else the rights to a folder, and to all in it if
// it was open. A *FolderError names one that belongs to someone else, or that
// someone else could put another in the place of.
func Tighten(path string, logger *slog.Logger) error {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &FolderError{path, "is a file"}
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return &FolderError{path, fmt.Sprintf("belongs to user %d, and this process runs as user %d: run it as the folder's owner, or give it a folder of its own", owner, os.Geteuid())}
	}
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		info, err := os.Stat(above)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&worldWritten != 0 && info.Mode()&os.ModeSticky == 0 {
			return &FolderError{path, fmt.Sprintf("lies below %s, where every user of this machine may put another folder in its place: chmod o-w %[1]s, or use a folder elsewhere", above)}
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	if info.Mode().Perm()&others == 0 {
		return nil
	}
	logger.Warn("other users of this machine could enter the folder: its mode and that of all in it were changed", "folder", path, "mode", info.Mode().Perm().String())
	return tightenAll(path)
}

// tightenAll closes the folder first: what it holds cannot be reached any more while it is walked.
func tightenAll(path string) error {
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&os.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || info.Mode().Perm()&others == 0 {
			return err
		}
		if err := os.Chmod(path, info.Mode().Perm()&^others); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// File makes a file if it is missing, and takes from everybody else the rights to one that is there.
func File(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(0o600), file.Close())
}
