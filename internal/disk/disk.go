// Package disk tells whether a file system takes what is written to it.
//
// It promises that a full disk is told from other faults, before a write meets it and after: IsFull alone decides what full is. Only
// TryRoom writes.
package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MinimumRoom is the free space in bytes below which a file system counts as full: less than the largest things that one write stores.
const MinimumRoom = 1 << 20

// FullError is returned by CheckRoom.
type FullError struct {
	Folder string
	Free   uint64 // bytes
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the disk of %s is full: %d bytes are free; make room", e.Folder, e.Free)
}

// CheckRoom returns a *FullError where the file system of a folder has less than MinimumRoom for the user of this process.
func CheckRoom(folder string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return fmt.Errorf("space of %s: %w", folder, err)
	}
	if free := uint64(s.Bavail) * uint64(s.Bsize); free < MinimumRoom { //nolint:unconvert // the types differ between systems
		return &FullError{folder, free}
	}
	return nil
}

// TryRoom returns an error where a folder does not take MinimumRoom. It writes as much and keeps nothing: that a quota is used up is not
// seen otherwise.
func TryRoom(folder string) error {
	if err := CheckRoom(folder); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".room-")
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = f.Write(make([]byte, MinimumRoom))
	return errors.Join(err, f.Sync(), f.Close())
}

// IsFull tells whether an error of a write means that there is no room: the disk is full, or a quota of it is used up.
func IsFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

// Refuses tells whether an error of a write means that the disk takes no more for now: it is full, read-only or failing.
func Refuses(err error) bool {
	return IsFull(err) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EIO)
}
