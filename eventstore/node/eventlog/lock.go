package eventlog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const lockName = "LOCK"

// folderLock holds a data folder for this process. It is flock on the folder itself, which a removed LOCK does not open, and on LOCK,
// which has the process id, for file systems that lock no folders (NFS). The system releases both when the process ends.
type folderLock struct {
	folder, file *os.File
}

// lockFolder locks the folder for this process. The error is *FolderInUseError while another process holds the lock.
func lockFolder(dir string) (_ *folderLock, err error) {
	l := &folderLock{}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.folder, err = os.Open(dir); err != nil {
		return nil, &StorageError{Dir: dir, Operation: "open the folder", Err: err, Opening: true}
	}
	held := syscall.Flock(int(l.folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if l.file, err = os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, &StorageError{Dir: dir, Operation: "open the lock file", Err: err, Opening: true}
	}
	if held == nil || errors.Is(held, syscall.EBADF) || errors.Is(held, syscall.ENOTSUP) { // the last two: no locks of folders
		held = syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(held, syscall.EWOULDBLOCK) {
		return nil, &FolderInUseError{Dir: dir, PID: lockHolder(l.file)}
	}
	if held != nil {
		return nil, &StorageError{Dir: dir, Operation: "lock the folder", Err: held, Opening: true}
	}
	// written before it is truncated, so that the first line is a process id at every moment
	line := strconv.Itoa(os.Getpid()) + "\n"
	_, err = l.file.WriteAt([]byte(line), 0)
	if err == nil {
		err = l.file.Truncate(int64(len(line)))
	}
	if err != nil {
		return nil, &StorageError{Dir: dir, Operation: "write the lock file", Err: err, Opening: true}
	}
	return l, nil
}

// isHeld reports whether a process has the folder locked.
func isHeld(dir string) (bool, error) {
	for _, name := range []string{"", lockName} {
		f, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, &StorageError{Dir: dir, Operation: "open the lock", Err: err, Opening: true}
		}
		held := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		_ = unlock(f)
		if errors.Is(held, syscall.EWOULDBLOCK) {
			return true, nil
		}
	}
	return false, nil
}

// Close releases the folder.
func (l *folderLock) Close() error {
	var err error
	for _, f := range []*os.File{l.file, l.folder} {
		if f != nil {
			err = errors.Join(err, unlock(f))
		}
	}
	return err
}

// unlock closes a locked file. Closing alone would leave it locked for as long as a process that is just being started has a copy of the
// descriptor, between fork and exec.
func unlock(f *os.File) error {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // it may not be locked
	return f.Close()
}

// lockHolder returns the process id in the lock file, 0 when there is none.
func lockHolder(f *os.File) int {
	text, _ := io.ReadAll(io.LimitReader(f, 32)) // an unreadable file names no process
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(line)
	return pid
}
