package identity

import "context"

// WindowsOfStrangers is how many windows of one kind there can be.
const WindowsOfStrangers = windowsOfStrangers

// Bounds of the clients that nobody has approved.
const (
	MaxUnapprovedClients = maxUnapprovedClients
	ClientSweepEvery     = clientSweepEvery
)

// WindowKey is the key of a client's or e-mail address.
func (s *Store) WindowKey(ctx context.Context, what, whose string) (string, error) {
	return s.windowKey(ctx, what, whose)
}

// Hasher is what bounds the hashing of passwords.
type Hasher struct{ h hasher }

// NewHasher is an idle one.
func NewHasher() Hasher { return Hasher{newHasher()} }

// Bounds are how many hash at a time, and how many do or wait.
func (h Hasher) Bounds() (slots, queue int) { return cap(h.h.slots), cap(h.h.queue) }

// Occupy takes every core.
func (h Hasher) Occupy() (release func()) {
	for range cap(h.h.slots) {
		h.h.slots <- struct{}{}
	}
	return func() {
		for range cap(h.h.slots) {
			<-h.h.slots
		}
	}
}

// Waiting counts those that hash or wait.
func (h Hasher) Waiting() int { return len(h.h.queue) }

// Derive hashes a password.
func (h Hasher) Derive(ctx context.Context) error {
	_, err := h.h.deriveKey(ctx, "a password", make([]byte, saltBytes))
	return err
}
