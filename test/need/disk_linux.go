package need

import (
	"fmt"
	"syscall"
	"testing"
)

// SmallDisk is the empty folder of a file system of so many bytes, which is there until the test ends.
func SmallDisk(t testing.TB, size int) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		Skip(t, fmt.Sprintf("the right to mount a small disk (%v)", err), "sudo make test")
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}
