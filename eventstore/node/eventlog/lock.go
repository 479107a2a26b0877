package eventlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const lockName = "LOCK"

// lockFolder locks the folder for this process (flock on its file LOCK) and writes the
// process id into the file. The system releases the lock when the process ends; the file
// stays. The error is *FolderInUseError while another process holds the lock.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file of the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer func() { _ = f.Close() }()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock the data folder %s: %w", dir, err)
		}
		return nil, &FolderInUseError{Dir: dir, PID: lockHolder(f)}
	}
	// written before it is truncated, so that the first line is a process id at every moment
	line := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(line), 0); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock file of the data folder: %w", err), f.Close())
	}
	if err := f.Truncate(int64(len(line))); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock file of the data folder: %w", err), f.Close())
	}
	return f, nil
}

// lockHolder returns the process id in the lock file, 0 when there is none.
func lockHolder(f *os.File) int {
	text, _ := io.ReadAll(io.LimitReader(f, 32)) // an unreadable file names no process
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(line)
	return pid
}

// makeFolder makes the folder and the missing ones above it and syncs each parent: a power
// failure would otherwise lose a folder with its contents.
func makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
