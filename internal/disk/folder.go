package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MakeFolder makes a folder with mode 0700, and the missing ones above it. When it returns, each name that was made is on the disk: a
// folder's name is durable once the folder above it is synced (fsync(2)). One that is there may be of a process that died before it had synced:
// its name is synced too, where the folder above may be read.
func MakeFolder(path string) error {
	above := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		if err := SyncFolder(above); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	}
	if above != path {
		if err := MakeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncFolder(above)
}

// SyncFolder makes the names in a folder durable: files and folders that were made, renamed or removed in it.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", path, err)
	}
	return nil
}
