package httpserver

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// body is a request's, as it arrives. Waiting for it uses up a credit that
// arriving bytes earn back: a token bucket of Stall, filled at Rate. Only time
// spent in Read counts, so that a busy handler is not the client's fault.
//
// Once the end was seen net/http watches the connection for the client's leaving;
// a deadline would then end a long poll, so none is set any more.
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

// Read is io.Reader. A client that is too slow is a net.Error with Timeout.
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

// Close is io.Closer; nobody reads the rest.
func (b *body) Close() error {
	_ = b.stopWaiting()
	return b.ReadCloser.Close()
}

// stopWaiting gives what is left Linger to arrive, once; after a failed read nothing
// more is waited for. It tells whether a read has failed.
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

// setReadDeadline is for the connection; one that has none (a test recorder) cannot be slow.
func (b *body) setReadDeadline(t time.Time) { _ = b.control.SetReadDeadline(t) }

// Discard reads and throws away up to most bytes of a body that is refused,
// while they arrive soon, so that its client reads the answer instead of a reset.
func Discard(r io.Reader, most int64) {
	if b, ok := r.(*body); ok {
		_ = b.stopWaiting()
	}
	_, _ = io.CopyN(io.Discard, r, most) // what does not come is not missed
}
