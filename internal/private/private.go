// Package private keeps an installation's files to the user it runs as.
//
// It promises that only this user and root can enter a folder it has accepted, and replace
// the folder, its files or a folder above them. Every other folder is refused with a
// *FolderError that says what to do. It changes the mode of empty folders only; files and
// folders that are not empty keep theirs.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"reckon/internal/disk"
)

// RestrictUmask sets the umask to 077: files that this process and its children create are
// accessible to their user only, whatever mode they ask for.
func RestrictUmask() { syscall.Umask(0o077) }

// FolderError is returned for a path that cannot hold private files; Why says the reason
// and what to do.
type FolderError struct{ Path, Why string }

func (e *FolderError) Error() string { return fmt.Sprintf("%s %s", e.Path, e.Why) }

const (
	othersAny   = 0o077
	othersWrite = 0o022
	mostLinks   = 40 // as Linux follows
	privateFile = 0o600
)

// MakeFolder creates a folder with mode 0700, and the missing ones above it. An existing
// folder that is empty loses the permissions of other users; an existing folder that
// CheckFolder refuses is refused, and nothing is created.
func MakeFolder(path string, logger *slog.Logger) error {
	if err := CheckFolder(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := disk.MakeFolder(path); err != nil {
		return err
	}
	real, err := resolve(path)
	if err != nil {
		return err
	}
	folder, err := os.OpenFile(real, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return errors.Join(restrictEmpty(folder, real, logger), folder.Close())
}

// restrictEmpty removes other users' permissions from an empty folder. It checks that the
// folder is empty again after the change, when no other user can add a file.
func restrictEmpty(folder *os.File, path string, logger *slog.Logger) error {
	if err := checkOpenFolder(folder, path); err != nil {
		return err
	}
	info, err := folder.Stat()
	if err != nil || info.Mode().Perm()&othersAny == 0 {
		return err
	}
	if err := folder.Chmod(info.Mode() &^ othersAny); err != nil {
		return err
	}
	logger.Warn("other users of this machine could enter the empty folder: it was closed", "folder", path, "mode", info.Mode().String())
	if is, err := empty(folder); err != nil || !is {
		return errors.Join(err, &FolderError{path, "was filled by another user while it was being closed: look at what is in it, or use another folder"})
	}
	return nil
}

// CheckFolder returns a *FolderError for a folder that another user owns or can replace,
// that other users can enter although it is not empty, or that is shared (a home folder,
// one with the sticky bit, the root). It changes nothing.
func CheckFolder(path string) error {
	real, err := resolve(path)
	if err != nil {
		return err
	}
	folder, err := os.Open(real)
	if err != nil {
		return err
	}
	return errors.Join(checkOpenFolder(folder, real), folder.Close())
}

// CheckPrograms returns a *FolderError for a folder whose programs another user than root could change or replace. Others may
// read it, and root may own it. For a missing folder the error is fs.ErrNotExist; those above it were checked.
func CheckPrograms(path string) error {
	real, err := resolve(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &FolderError{real, "is no folder: name a folder"}
	case !ownedByUserOrRoot(info):
		return &FolderError{real, fmt.Sprintf("belongs to user %d, whose programs would run as user %d: use a folder elsewhere", owner(info), os.Geteuid())}
	case writableByOthers(info) != 0:
		return &FolderError{real, fmt.Sprintf("can be written to by other users of this machine (its mode is %04o), whose programs would run as this one: chmod go-w %s", info.Mode().Perm(), quoted(real))}
	}
	return nil
}

func checkOpenFolder(folder *os.File, path string) error {
	info, err := folder.Stat()
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &FolderError{path, "is no folder: name a folder"}
	case path == "/":
		return &FolderError{path, "is the whole machine: give Reckon a folder of its own"}
	case isHome(info):
		return &FolderError{path, "is a home folder: give Reckon a folder of its own in it"}
	case info.Mode()&os.ModeSticky != 0:
		return &FolderError{path, "has the sticky bit, as folders have that many users share: give Reckon a folder of its own"}
	case owner(info) != os.Geteuid():
		return &FolderError{path, fmt.Sprintf("belongs to user %d, and this process runs as user %d: run it as the folder's owner, or give it a folder of its own", owner(info), os.Geteuid())}
	case info.Mode().Perm()&othersAny == 0:
		return nil
	}
	if is, err := empty(folder); err != nil || is {
		return err
	}
	return &FolderError{path, fmt.Sprintf("is not empty, and other users of this machine can enter it (its mode is %04o). "+
		"If it is the folder you mean, and all in it is yours, close it: chmod go-rwx %s", info.Mode().Perm(), quoted(path))}
}

func isHome(folder os.FileInfo) bool {
	homes := []string{os.Getenv("HOME")}
	if user, err := user.Current(); err == nil {
		homes = append(homes, user.HomeDir)
	}
	return slices.ContainsFunc(homes, func(home string) bool {
		info, err := os.Stat(home)
		return err == nil && os.SameFile(info, folder)
	})
}

func empty(folder *os.File) (bool, error) {
	if _, err := folder.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	_, err := folder.ReadDir(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// MakeFile creates a database's file if it is missing. It returns a *FolderError when other
// users can open or replace the file, or create files beside it: SQLite applies a journal
// that it finds beside a database.
func MakeFile(path string) error {
	folder, err := resolve(filepath.Dir(path))
	if err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if err := unreplaceable(path, folder, info); err != nil {
		return err
	}
	if writableByOthers(info) != 0 { // a sticky folder
		return &FolderError{path, fmt.Sprintf("lies in %s, where other users of this machine can put files beside it: use a folder of its own", folder)}
	}
	for _, journal := range []string{"-journal", "-wal", "-shm"} {
		if err := openFile(path+journal, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return openFile(path, os.O_CREATE)
}

// openFile checks that a file is a regular file of this user only. With os.O_CREATE it
// creates a missing one.
func openFile(path string, create int) error {
	if _, err := os.Lstat(path); err == nil {
		if path, err = resolve(path); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|create|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, privateFile)
	if err != nil {
		return err
	}
	return errors.Join(checkOpenFile(file), file.Close())
}

func checkOpenFile(file *os.File) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &FolderError{file.Name(), "is no file"}
	case owner(info) != os.Geteuid():
		return &FolderError{file.Name(), fmt.Sprintf("belongs to user %d, and this process runs as user %d: use a file of its own", owner(info), os.Geteuid())}
	case info.Mode().Perm()&othersAny != 0:
		return &FolderError{file.Name(), fmt.Sprintf("can be opened by other users of this machine (its mode is %04o). If it is the file you mean, close it: chmod go-rwx %s",
			info.Mode().Perm(), quoted(file.Name()))}
	}
	return nil
}

// ReadFile returns the content of a file with a secret, at most most bytes. It returns a *FolderError when the file is longer, or
// other users can read or own it.
func ReadFile(path string, most int64) ([]byte, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	err = checkOpenFile(file)
	var content []byte
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(file, most+1))
	}
	if err == nil && int64(len(content)) > most {
		err = &FolderError{path, fmt.Sprintf("is longer than %d bytes: it is not the file that is meant", most)}
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return content, nil
}

// MakeTemporaryFolder creates a folder in $TMPDIR or /tmp. It returns a *FolderError when
// another user could replace the folder. The caller removes it.
func MakeTemporaryFolder(prefix string) (string, error) {
	place, err := resolve(os.TempDir())
	if err != nil {
		return "", fmt.Errorf("TMPDIR: %w", err)
	}
	info, err := os.Stat(place)
	if err == nil {
		err = unreplaceable(place, place, info)
	}
	if err != nil {
		return "", fmt.Errorf("TMPDIR: %w", err)
	}
	return os.MkdirTemp(place, prefix)
}

// resolve is filepath.EvalSymlinks that returns a *FolderError when another user can replace
// a component of the path: every folder and every link on it must belong to this user or to
// root. For a missing component the error is fs.ErrNotExist; those above it were checked.
func resolve(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, rest, links := "/", pathParts(whole), 0
	for len(rest) > 0 {
		info, err := os.Lstat(real)
		if err != nil {
			return "", err
		}
		if err := unreplaceable(whole, real, info); err != nil {
			return "", err
		}
		next := filepath.Join(real, rest[0]) // ".." of a link's target is that of the resolved folder
		rest = rest[1:]
		if info, err = os.Lstat(next); err != nil {
			return "", err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = next
			continue
		}
		if links++; links > mostLinks {
			return "", &FolderError{whole, "leads through too many links"}
		}
		if !ownedByUserOrRoot(info) {
			return "", &FolderError{whole, fmt.Sprintf("leads through the link %s of user %d, who could let it lead elsewhere: use a folder elsewhere", next, owner(info))}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = append(pathParts(target), rest...)
	}
	return real, nil
}

func pathParts(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(part string) bool { return part == "" || part == "." })
}

// unreplaceable returns a *FolderError when another user can rename or remove this user's
// files in the folder.
func unreplaceable(path, above string, info os.FileInfo) error {
	open := writableByOthers(info)
	switch {
	case !ownedByUserOrRoot(info):
		return &FolderError{path, fmt.Sprintf("lies below %s of user %d, who could put something else in its place: use a folder elsewhere", above, owner(info))}
	case open != 0 && info.Mode()&os.ModeSticky == 0:
		return &FolderError{path, fmt.Sprintf("lies below %s (mode %04o), where other users of this machine could put something else in its place: chmod go-w %s, or use a folder elsewhere",
			above, info.Mode().Perm(), quoted(above))}
	}
	return nil
}

// writableByOthers returns the permission bits that let other users write. The bit of the
// group is left out when the group's number is the owner's: systems that give each user a
// group make folders writable by it.
func writableByOthers(info os.FileInfo) os.FileMode {
	open := info.Mode().Perm() & othersWrite
	if stat := info.Sys().(*syscall.Stat_t); stat.Gid == stat.Uid {
		open &^= 0o020
	}
	return open
}

func ownedByUserOrRoot(info os.FileInfo) bool { return owner(info) == 0 || owner(info) == os.Geteuid() }

func owner(info os.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// quoted quotes a path for a shell.
func quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
