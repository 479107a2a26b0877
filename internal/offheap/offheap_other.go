//go:build !unix

package offheap

import "errors"

// Allocate returns zeroed memory of so many bytes from Go's heap.
func Allocate(bytes int) (memory []byte, free func(), err error) {
	if bytes < 0 {
		return nil, nil, errors.New("the size is negative")
	}
	return make([]byte, bytes), func() {}, nil
}
