package eventlog

import (
	"errors"
	"os"
	"syscall"
)

// syncData makes a file's contents and its size durable (fdatasync(2)).
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
