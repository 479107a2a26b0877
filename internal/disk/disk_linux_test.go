package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"reckon/internal/disk"
	"reckon/test/need"
)

// TestRoom: a file system is full when less than MinimumRoom is free. A small one is mounted where the test may do that.
func TestRoom(t *testing.T) {
	folder := t.TempDir()
	if err := disk.CheckRoom(folder); err != nil {
		t.Fatal(err)
	}
	if err := disk.CheckRoom(filepath.Join(folder, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	folder = need.SmallDisk(t, 4*disk.MinimumRoom)
	if err := disk.CheckRoom(folder); err != nil {
		t.Fatal(err)
	}
	if err := disk.TryRoom(folder); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
	err := os.WriteFile(filepath.Join(folder, "fill"), make([]byte, 8*disk.MinimumRoom), 0o600)
	if !disk.Refuses(err) || !disk.IsFull(err) {
		t.Errorf("a write to a full disk: %v", err)
	}
	if full := (*disk.FullError)(nil); !errors.As(disk.CheckRoom(folder), &full) || full.Free >= disk.MinimumRoom {
		t.Errorf("%v", disk.CheckRoom(folder))
	}
	if err := disk.TryRoom(folder); err == nil {
		t.Error("there is room on a full disk")
	}
}

// TestAQuotaIsADisk: a quota that is used up is a full disk, though the file system has room.
func TestAQuotaIsADisk(t *testing.T) {
	refused := &os.PathError{Op: "write", Path: "file", Err: syscall.EDQUOT}
	if !disk.IsFull(refused) || !disk.Refuses(refused) {
		t.Error("a quota that is used up is not a full disk")
	}
}

func TestOtherFaultsAreNotTheDisks(t *testing.T) {
	for _, err := range []error{nil, os.ErrNotExist, syscall.EACCES, syscall.EMFILE} {
		if disk.Refuses(err) || disk.IsFull(err) {
			t.Errorf("%v", err)
		}
	}
}
