package blobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockName is the file under whose lock (flock) a blob is either reused or removed, never both:
// who stores a content that is there already renews its time, under the shared lock; a collector
// looks at the time and removes the blob, under the exclusive one. It is held for microseconds,
// and the system releases it when a process ends.
const lockName = ".lock"

// locked runs f under the folder's lock.
func (f *Folder) locked(how int, do func() error) (err error) {
	file, err := os.OpenFile(filepath.Join(f.root, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }() // which unlocks
	for {
		err := unix.Flock(int(file.Fd()), how)
		if err == nil {
			return do()
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock the blob folder %s: %w", f.root, err)
		}
	}
}
