//go:build unix

package offheap

import "syscall"

// Allocate returns zeroed memory of so many bytes, aligned to a page. Nothing may use it once free has been called, which
// happens once.
func Allocate(bytes int) (memory []byte, free func(), err error) {
	memory, err = syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return memory, func() { _ = syscall.Munmap(memory) }, nil // fails only for memory that is not ours
}
