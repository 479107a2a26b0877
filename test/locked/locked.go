// Package locked has a buffer that goroutines share: what a process or a logger under test writes.
package locked

import (
	"strings"
	"sync"
)

// Buffer may be written to and read at the same time.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write is io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
