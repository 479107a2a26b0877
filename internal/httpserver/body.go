package httpserver

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// body reads the body of a request within its limits. Time spent in Read is taken from
// waitBudget, which is at most MaxSilence; each byte that arrives adds the time it takes at
// MinBytesPerSecond. Time that the handler spends outside of Read is not counted.
//
// After the end of the body net/http reads the connection to notice when the client leaves.
// A read deadline would end a long poll then, so none is set after the end.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	limits  Limits

	mu           sync.Mutex
	waitBudget   time.Duration
	ended        bool
	failed       bool
	waitingEnded bool
}

// Read is io.Reader. For a client that is too slow the error is a net.Error whose Timeout is true.
func (b *body) Read(p []byte) (int, error) {
	begun := time.Now()
	b.mu.Lock()
	if !b.waitingEnded && !b.ended {
		b.setReadDeadline(begun.Add(b.waitBudget))
	}
	b.mu.Unlock()

	n, err := b.ReadCloser.Read(p)

	b.mu.Lock()
	defer b.mu.Unlock()
	b.waitBudget = min(b.limits.MaxSilence, b.waitBudget-time.Since(begun)+time.Duration(n)*time.Second/time.Duration(b.limits.MinBytesPerSecond))
	switch {
	case errors.Is(err, io.EOF):
		b.ended = true
	case err != nil:
		b.failed = true
	}
	return n, err
}

// Close is io.Closer.
func (b *body) Close() error {
	_ = b.stopWaiting()
	return b.ReadCloser.Close()
}

// stopWaiting lets the rest of the body arrive for DiscardWait, or not at all after a failed
// read. Only the first call has an effect. It reports whether a read has failed.
func (b *body) stopWaiting() (failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || b.waitingEnded {
		return b.failed
	}
	b.waitingEnded = true
	wait := b.limits.DiscardWait
	if b.failed {
		wait = 0
	}
	b.setReadDeadline(time.Now().Add(wait))
	return b.failed
}

// setReadDeadline sets the connection's read deadline. Test recorders have none and return an error.
func (b *body) setReadDeadline(t time.Time) { _ = b.control.SetReadDeadline(t) }

// drainWait is how long a body that is too large may still arrive: its client has much in flight, and most begin to read only when they have sent it all.
const drainWait = 10 * time.Second

// Discard reads up to most bytes of a refused body for at most drainWait, so that the
// client receives the answer instead of a reset connection.
func Discard(r io.Reader, most int64) {
	if b, ok := r.(*body); ok && !b.stopWaiting() {
		b.setReadDeadline(time.Now().Add(drainWait))
	}
	_, _ = io.CopyN(io.Discard, r, most) // what does not come is not missed
}
