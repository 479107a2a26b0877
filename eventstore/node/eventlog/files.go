package eventlog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fileSystem is what the log needs of a file system for its segments and the head file.
// Tests put one under it that tears writes, forgets what was not synced and refuses calls.
type fileSystem interface {
	open(path string) (file, error)   // an existing file, for reading and writing
	create(path string) (file, error) // an empty file, in place of one that is there
	list(dir string) ([]string, error)
	makeFolder(dir string) error // with the missing ones above it, durably
	rename(from, to string) error
	remove(path string) error
	syncFolder(dir string) error // makes the names in a folder durable
}

type file interface {
	io.ReaderAt
	io.WriterAt
	truncate(size int64) error
	sync() error // fdatasync(2): the contents and the size
	size() (int64, error)
	Close() error
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

func (diskFiles) makeFolder(dir string) error { return makeFolder(dir) }

func (diskFiles) rename(from, to string) error { return os.Rename(from, to) }

func (diskFiles) remove(path string) error { return os.Remove(path) }

func (diskFiles) syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (f diskFile) truncate(size int64) error { return f.Truncate(size) }

func (f diskFile) sync() error { return syncData(f.File) }

func (f diskFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
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
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

const draftSuffix = ".new"
