package eventlog

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"reckon/internal/disk"
)

// fileSystem is what the log needs of a file system for its segments and the head file.
// Tests put one under it that tears writes, forgets what was not synced and refuses calls.
type fileSystem interface {
	open(path string) (file, error) // an existing file, for reading and writing
	stat(path string) (fileState, error)
	create(path string) (file, error) // an empty file, in place of one that is there
	list(dir string) ([]string, error)
	makeFolder(dir string) error // with the missing ones above it, durably
	rename(from, to string) error
	remove(path string) error
	syncFolder(dir string) error // makes the names in a folder durable
	free(dir string) (bytes int64, err error)
}

type file interface {
	io.ReaderAt
	io.WriterAt
	truncate(size int64) error
	sync() error // fdatasync(2): the contents and the size
	stat() (fileState, error)
	Close() error
}

// fileState is a file's size, and what tells it from another file that has taken its name.
type fileState struct {
	size          int64
	device, inode uint64
}

func (s fileState) isSame(other fileState) bool {
	return s.device == other.device && s.inode == other.inode
}

// diskFiles is the file system of the machine.
type diskFiles struct{}

type diskFile struct{ *os.File }

func (diskFiles) open(path string) (file, error) { return openDisk(path, os.O_RDWR) }

func (diskFiles) create(path string) (file, error) {
	return openDisk(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func openDisk(path string, flags int) (file, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

func (diskFiles) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Name()
	}
	return names, err
}

func (diskFiles) makeFolder(dir string) error { return disk.MakeFolder(dir) }

func (diskFiles) rename(from, to string) error { return os.Rename(from, to) }

func (diskFiles) remove(path string) error { return os.Remove(path) }

func (diskFiles) syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (diskFiles) free(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(min(s.Bavail, math.MaxInt64/uint64(s.Bsize))) * int64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}

func (f diskFile) truncate(size int64) error { return f.Truncate(size) }

func (f diskFile) sync() error { return syncData(f.File) }

func (f diskFile) stat() (fileState, error) {
	var s syscall.Stat_t
	var err error
	if control, rawErr := f.SyscallConn(); rawErr != nil {
		return fileState{}, rawErr
	} else if rawErr = control.Control(func(fd uintptr) { err = syscall.Fstat(int(fd), &s) }); rawErr != nil {
		return fileState{}, rawErr
	}
	return stateOf(&s), wrapStat(f.Name(), err)
}

func (diskFiles) stat(path string) (fileState, error) {
	var s syscall.Stat_t
	err := syscall.Stat(path, &s)
	return stateOf(&s), wrapStat(path, err)
}

func stateOf(s *syscall.Stat_t) fileState {
	return fileState{size: s.Size, device: uint64(s.Dev), inode: s.Ino} //nolint:unconvert // the device is signed on other systems
}

func wrapStat(path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "stat", Path: path, Err: err}
}

// readOnlyFiles is the file system of the machine for a folder that another process may
// have open: nothing can be changed through it.
type readOnlyFiles struct{ diskFiles }

func (readOnlyFiles) open(path string) (file, error) { return openDisk(path, os.O_RDONLY) }

func (readOnlyFiles) create(path string) (file, error) { return nil, readOnly("create", path) }

func (readOnlyFiles) makeFolder(dir string) error { return readOnly("make", dir) }

func (readOnlyFiles) rename(from, _ string) error { return readOnly("rename", from) }

func (readOnlyFiles) remove(path string) error { return readOnly("remove", path) }

func readOnly(operation, path string) error {
	return &fs.PathError{Op: operation, Path: path, Err: fs.ErrPermission}
}

// writeNew makes a file with these contents, or none: under another name first, then
// renamed, each step durable before the next.
func writeNew(files fileSystem, path string, contents []byte) (file, error) {
	draft := path + draftSuffix
	f, err := files.create(draft)
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteAt(contents, 0); err == nil {
		err = f.sync()
	}
	if err == nil {
		err = files.rename(draft, path)
	}
	if err == nil {
		err = files.syncFolder(filepath.Dir(path))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return files.open(path) // so that errors of the file have its name
}

const draftSuffix = ".new"
